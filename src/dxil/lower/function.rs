//! One function.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use super::{
    Lowered, ModuleLowering, Pointer, RecordPointer, llvm,
    memory::{SHARED_SPACE, Storage},
    record::RECORD_SPACE,
};
use crate::{
    Error, Result,
    dxil::{
        names::Names,
        op::{HitDecision, RayQueries, Signatures},
    },
    ir::{self, Block, Builder, Op, Scalar, Type, Value},
    reflection::{EntryPointInterface, Stage},
};

/// What a variable's lanes add to its name.
const LANES: [&str; 4] = ["_x", "_y", "_z", "_w"];

/// Lowers one function.
pub struct FunctionLowering<'m, 'a> {
    /// The module.
    pub parent: &'m mut ModuleLowering<'a>,
    /// What is lowered.
    pub body: &'a llvm::Body,
    /// What it becomes.
    pub function: ir::Function,
    /// Which function of the module.
    pub(super) id: llvm::FunctionId,
    /// Entry point that the function belongs to.
    owner: Option<usize>,
    /// The block that is written.
    pub block: Block,
    /// Number of the instruction that is lowered.
    pub origin: u32,
    /// The instruction may not be refactored.
    pub precise: bool,
    /// Values of the function, by their position in the body.
    pub(super) values: Vec<Option<Lowered>>,
    /// Blocks that the entry reaches.
    pub(super) blocks: Vec<Option<Block>>,
    /// Variables of allocas, by instruction.
    pub(super) storages: HashMap<u32, Storage>,
    /// Variables of what the parameters point to, by number.
    pub(super) parameters: HashMap<u32, Storage>,
    /// The function ends where control would leave the block: LLVM says that it never does.
    pub(super) ended: HashSet<Block>,
    /// For each value of the body, the scalars that are taken out of it; all if it is used as a whole.
    members_used: Vec<u64>,
    /// Stage inputs and outputs.
    pub signatures: Signatures,
    /// Names from debug information.
    names: Names,
    /// The function's ray queries, once they are asked for.
    pub ray_queries: Option<RayQueries>,
}

impl<'m, 'a> FunctionLowering<'m, 'a> {
    pub(super) fn new(
        parent: &'m mut ModuleLowering<'a>,
        id: llvm::FunctionId,
        body: &'a llvm::Body,
        function: ir::Function,
        owner: Option<usize>,
        names: Names,
    ) -> Self {
        let block = function.entry;
        Self {
            members_used: members_used(parent.module, body),
            parent,
            id,
            body,
            function,
            owner,
            block,
            origin: 0,
            precise: false,
            values: vec![None; body.values.len()],
            blocks: vec![None; body.blocks.len()],
            storages: HashMap::new(),
            parameters: HashMap::new(),
            ended: HashSet::new(),
            signatures: Signatures::default(),
            names,
            ray_queries: None,
        }
    }

    /// Lowers the function.
    pub(super) fn lower(mut self, data: &llvm::Function) -> Result<ir::Function> {
        let Some(llvm::Type::Function { params, .. }) = self.parent.module.types.get(data.ty) else {
            return Err(Error::internal("function of no function type"));
        };
        let stage = self.entry().map_or(None, |entry| Some(entry.stage));
        let names = stage.map_or(&[] as &[&str], super::parameters);
        for (index, &param) in params.iter().enumerate() {
            if let (Some(name), &llvm::Type::Pointer { pointee, .. }) = (names.get(index), self.llvm_type(param)?) {
                self.values[index] = Some(self.parameter(index as u32, name, pointee)?);
                self.parent.note("payloads, attributes and parameters of shaders are private variables");
                continue;
            }
            if stage.is_some() {
                return Err(Error::unsupported(format!("parameter of an entry point: {index}")));
            }
            let entry = self.function.entry;
            if let &llvm::Type::Pointer { pointee, space } = self.llvm_type(param)? {
                self.values[index] = Some(match space {
                    RECORD_SPACE => {
                        let byte = self.function.add_param(entry, Type::I32);
                        Lowered::Record(RecordPointer { byte, pointee })
                    }
                    SHARED_SPACE => self.shared_parameter(index as u32, pointee)?,
                    _ => {
                        let storage = self.parent.parameter_storage(self.id, index as u32, param)?;
                        self.parameters.insert(index as u32, storage);
                        Lowered::Pointer(Pointer { storage, index: self.function.i32(0), pointee })
                    }
                });
                continue;
            }
            let scalars = self.parent.value_types(param)?;
            let values = scalars.into_iter().map(|scalar| self.function.add_param(entry, Type::Scalar(scalar)));
            let values: SmallVec<[Value; 4]> = values.collect();
            if let Some(name) = self.names.parameters.get(&(index as u32)).cloned() {
                self.name(&values, &name);
            }
            self.values[index] = Some(self.of_scalars(param, values));
        }
        if stage == Some(Stage::AnyHit) {
            self.decide_hit(HitDecision::Accept);
        }
        self.lower_blocks()?;
        self.name_vectors();
        Ok(self.function)
    }

    /// The name of the variable that an instruction's result is, where debug information tells it.
    pub(super) fn name_of(&self, instruction: u32) -> Option<&str> {
        self.names.instructions.get(&instruction).map(String::as_str)
    }

    /// Names the numbers of a variable, unless they are constants or have names.
    pub(super) fn name(&mut self, values: &[Value], name: &str) {
        for (lane, &value) in values.iter().enumerate().take(LANES.len()) {
            if self.function.as_constant(value).is_none() {
                let suffix = if values.len() == 1 { "" } else { LANES[lane] };
                self.function.names.entry(value).or_insert_with(|| format!("{name}{suffix}"));
            }
        }
    }

    /// Gives a vector the name that its lanes have in common, instead of them.
    fn name_vectors(&mut self) {
        let mut vectors = Vec::new();
        for (&value, name) in &self.function.names {
            if let Some(&Op::Extract(vector, lane)) = self.function.op(value)
                && let Some(base) = LANES.get(lane as usize).and_then(|suffix| name.strip_suffix(suffix))
            {
                vectors.push((vector, value, base.to_owned()));
            }
        }
        // The order of the map is none.
        vectors.sort();
        for (vector, lane, name) in vectors {
            if *self.function.names.entry(vector).or_insert_with(|| name.clone()) == name {
                self.function.names.remove(&lane);
            }
        }
    }

    /// The function returns at the end of this block, where LLVM says that control never comes.
    pub fn end_here(&mut self) {
        self.ended.insert(self.block);
    }

    /// A builder at the end of the block.
    pub fn build(&mut self) -> Builder<'_> {
        Builder { function: &mut self.function, block: self.block, precise: self.precise, origin: self.origin }
    }

    /// The entry point that the function belongs to.
    ///
    /// # Errors
    /// It is a helper function, which has no inputs and outputs.
    pub fn entry(&self) -> Result<&'a EntryPointInterface> {
        let owner = self.owner.and_then(|owner| self.parent.interface.entry_points.get(owner));
        owner.ok_or_else(|| Error::unsupported("inputs and outputs in a function that is no entry point"))
    }

    /// A value.
    ///
    /// # Errors
    /// It has no lowering, or comes later than its use.
    pub fn value(&mut self, id: llvm::ValueId) -> Result<Lowered> {
        let module = self.parent.module;
        let data = module.value(Some(self.body), id).ok_or_else(|| Error::malformed("unknown value"))?;
        match &data.def {
            llvm::ValueDef::Constant(constant) => self.constant(data.ty, constant, 0),
            llvm::ValueDef::Global(global) => self.global(*global),
            llvm::ValueDef::Argument(_) | llvm::ValueDef::Instruction(_) => {
                let value = id.0.checked_sub(self.body.first).and_then(|index| self.values.get(index as usize));
                let value = value.and_then(Option::as_ref).cloned();
                value.ok_or_else(|| Error::malformed("value is used before its definition"))
            }
            llvm::ValueDef::Function(_) => Err(Error::unsupported("function as an operand")),
            llvm::ValueDef::Alias => Err(Error::unsupported("alias as an operand")),
        }
    }

    /// A value of one scalar.
    pub fn scalar(&mut self, id: llvm::ValueId) -> Result<Value> {
        self.value(id)?.one()
    }

    /// Type of a value.
    pub fn type_of(&self, id: llvm::ValueId) -> Result<llvm::TypeId> {
        let value = self.parent.module.value(Some(self.body), id);
        value.map(|value| value.ty).ok_or_else(|| Error::malformed("unknown value"))
    }

    /// LLVM's type.
    pub fn llvm_type(&self, id: llvm::TypeId) -> Result<&'a llvm::Type> {
        self.parent.module.types.get(id).ok_or_else(|| Error::malformed("unknown type"))
    }

    /// The constant that a value is.
    pub fn as_constant(&self, id: llvm::ValueId) -> Option<&'a llvm::Constant> {
        match &self.parent.module.value(Some(self.body), id)?.def {
            llvm::ValueDef::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    /// The integer constant that a value is.
    pub fn as_integer(&self, id: llvm::ValueId) -> Option<i64> {
        match self.as_constant(id)? {
            llvm::Constant::Integer(value) => Some(*value),
            llvm::Constant::Null => Some(0),
            _ => None,
        }
    }

    /// Any value will do.
    pub fn is_undefined(&self, id: llvm::ValueId) -> bool {
        matches!(self.as_constant(id), Some(llvm::Constant::Undefined))
    }

    /// Which scalars of an instruction's result are used; bit 63 stands for all from there on.
    pub fn members_used(&self, result: Option<llvm::ValueId>) -> u64 {
        let index = result.and_then(|id| id.0.checked_sub(self.body.first));
        index.and_then(|index| self.members_used.get(index as usize)).copied().unwrap_or(0)
    }

    /// A result whose scalars are the lanes of `vector` and then `rest`. Lanes that nothing uses are not taken out.
    pub fn take_apart(&mut self, vector: Value, used: u64, rest: &[Value]) -> Lowered {
        let ty = self.function.ty(vector);
        let unused = Type::Scalar(ty.scalar().unwrap_or(Scalar::I32));
        let mut scalars: SmallVec<[Value; 4]> = SmallVec::new();
        for lane in 0..ty.lanes() {
            let value = match used >> lane & 1 {
                1 => self.build().extract(vector, lane),
                _ => self.function.zero(unused),
            };
            scalars.push(value);
        }
        scalars.extend_from_slice(rest);
        Lowered::Scalars(scalars)
    }

    /// Sum of two `i32`s, folded.
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        match (self.function.as_scalar_constant(a), self.function.as_scalar_constant(b)) {
            (Some(a), Some(b)) => self.function.i32((a as u32).wrapping_add(b as u32)),
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => self.push_plain(Op::Binary(ir::BinaryOp::IAdd, a, b), Type::I32),
        }
    }

    /// Product of an `i32` and a number, folded.
    pub fn scale(&mut self, a: Value, factor: u32) -> Value {
        match (self.function.as_scalar_constant(a), factor) {
            (Some(a), _) => self.function.i32((a as u32).wrapping_mul(factor)),
            (_, 1) => a,
            _ => {
                let factor = self.function.i32(factor);
                self.push_plain(Op::Binary(ir::BinaryOp::IMul, a, factor), Type::I32)
            }
        }
    }

    /// Appends an instruction that is nobody's to be precise.
    fn push_plain(&mut self, op: Op, ty: Type) -> Value {
        self.build().push(op, ty)
    }
}

/// For each value of a body, the scalars that `extractvalue` takes out of it. Bit 63 stands for all from there on.
fn members_used(module: &llvm::Module, body: &llvm::Body) -> Vec<u64> {
    let mut used = vec![0u64; body.values.len()];
    let mut mark = |id: llvm::ValueId, members: u64| {
        if let Some(used) = id.0.checked_sub(body.first).and_then(|index| used.get_mut(index as usize)) {
            *used |= members;
        }
    };
    for instruction in &body.instructions {
        if let llvm::Operation::ExtractValue(aggregate, indices) = &instruction.op
            && let [index] = indices.as_slice()
            && let Some(value) = module.value(Some(body), *aggregate)
            && let Some(llvm::Type::Struct { fields, .. }) = module.types.get(value.ty)
        {
            let before = fields.iter().take(*index as usize).map(|field| module.types.scalars(*field));
            let before = before.fold(0u64, u64::saturating_add);
            let count = fields.get(*index as usize).map_or(1, |field| module.types.scalars(*field));
            for member in before..before.saturating_add(count.min(64)) {
                mark(*aggregate, 1 << member.min(63));
            }
            continue;
        }
        instruction.op.for_each_operand(|operand| mark(operand, u64::MAX));
    }
    used
}
