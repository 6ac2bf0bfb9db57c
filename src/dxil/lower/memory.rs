//! Variables and addresses: allocas, group-shared and constant globals become arrays of scalars.
//!
//! An address is a variable and an index into it. Nested arrays, structures and vectors are laid out scalar by scalar;
//! memory that holds scalars of several types, or is accessed as another type than it was declared with, is laid out in
//! 32-bit words, of which a 64-bit scalar takes two and every other one.

use std::collections::HashSet;

use smallvec::SmallVec;

use super::{FunctionLowering, Lowered, MAX_SCALARS, ModuleLowering, llvm};
use crate::{
    Error, Result,
    dxil::{module::Expression, reflect},
    ir::{
        AtomicOp, BinaryOp, CompareOp, Constant, ConvertOp, Op, Scalar, Type, Value, Variable, VariableId,
        VariableSpace,
    },
};

/// Most elements of a variable: group-shared memory ends at 32 KiB, constant tables far below this.
const MAX_ELEMENTS: u64 = 1 << 20;

/// Most elements of all variables together, for files that declare many.
const MAX_TOTAL: u64 = 1 << 22;

/// Most values between an address and its roots, for files whose addresses make long chains.
const MAX_STEPS: usize = 1024;

/// Most words of a payload: 16 KiB, where 16-bit numbers take a word each.
const MAX_PAYLOAD: u64 = 8192;

/// Where an address leads to in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// A global variable.
    Global(llvm::GlobalId),
    /// An alloca: function and number of the instruction.
    Alloca(llvm::FunctionId, u32),
    /// A parameter of an entry point: payload or attributes of a ray tracing stage.
    Parameter(llvm::FunctionId, u32),
    /// What a function returns.
    Result(llvm::FunctionId),
}

/// The variable that some memory became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    variable: VariableId,
    /// Type of an element.
    scalar: Scalar,
    /// Elements are 32-bit words, else scalars.
    words: bool,
}

/// An address.
#[derive(Clone, Copy, Debug)]
pub struct Pointer {
    /// The variable.
    pub storage: Storage,
    /// The first element, `i32`.
    pub index: Value,
    /// Type of what is there.
    pub pointee: llvm::TypeId,
}

/// The roots of all memory that is accessed as another type than it was declared with.
pub fn reinterpreted(module: &llvm::Module) -> HashSet<Root> {
    let mut roots = HashSet::new();
    let differs = |from: llvm::TypeId, to: llvm::TypeId| {
        let leaf = |pointer: llvm::TypeId| match module.types.leaf(module.types.pointee(pointer)?) {
            llvm::Leaf::Uniform(leaf) => module.types.get(leaf),
            _ => None,
        };
        // Lifetime markers take bytes.
        let bytes = leaf(to) == Some(&llvm::Type::Integer(8));
        !bytes && leaf(from) != leaf(to)
    };
    let mut check = |body: Option<&llvm::Body>, function: llvm::FunctionId, value: llvm::ValueId, to: llvm::TypeId| {
        let from = module.value(body, value).map(|value| value.ty);
        if from.is_some_and(|from| module.types.pointee(from).is_some() && differs(from, to)) {
            roots.extend(roots_of(module, body, function, value));
        }
    };
    let mut payloads = Vec::new();
    let none = llvm::FunctionId(u32::MAX);
    for value in &module.values {
        if let llvm::ValueDef::Constant(llvm::Constant::Expression(Expression::Cast(_, operand))) = &value.def {
            check(None, none, *operand, value.ty);
        }
    }
    for (index, function) in module.functions.iter().enumerate() {
        let id = llvm::FunctionId(index as u32);
        let Some(body) = &function.body else { continue };
        for value in &body.values {
            if let llvm::ValueDef::Constant(llvm::Constant::Expression(Expression::Cast(_, operand))) = &value.def {
                check(Some(body), id, *operand, value.ty);
            }
        }
        for instruction in &body.instructions {
            match &instruction.op {
                llvm::Operation::Cast(_, operand) => check(Some(body), id, *operand, instruction.ty),
                // A mesh shader finds the payload in words.
                llvm::Operation::Call { callee, arguments }
                    if module.functions[callee.index()].name.starts_with("dx.op.dispatchMesh") =>
                {
                    payloads.extend(arguments.last().map(|payload| (body, id, *payload)));
                }
                _ => {}
            }
        }
    }
    for (body, function, payload) in payloads {
        roots.extend(roots_of(module, Some(body), function, payload));
    }
    roots
}

/// What an address can lead to.
fn roots_of(
    module: &llvm::Module,
    body: Option<&llvm::Body>,
    function: llvm::FunctionId,
    value: llvm::ValueId,
) -> Vec<Root> {
    let mut roots = Vec::new();
    let mut seen = HashSet::new();
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        if seen.len() > MAX_STEPS || work.len() > MAX_STEPS {
            // Whoever asks for the one root finds none, and refuses.
            return Vec::new();
        }
        match module.value(body, value).map(|value| &value.def) {
            Some(llvm::ValueDef::Global(global)) => roots.push(Root::Global(*global)),
            Some(llvm::ValueDef::Argument(number)) => roots.push(Root::Parameter(function, *number)),
            Some(llvm::ValueDef::Constant(llvm::Constant::Expression(expression))) => match expression {
                Expression::ElementPointer { base, .. } | Expression::Cast(_, base) => work.push(*base),
                Expression::Select(_, accept, reject) => work.extend([*accept, *reject]),
                _ => {}
            },
            Some(llvm::ValueDef::Instruction(number)) => {
                match body.and_then(|body| body.instructions.get(*number as usize)).map(|instruction| &instruction.op) {
                    Some(llvm::Operation::Allocate { .. }) => roots.push(Root::Alloca(function, *number)),
                    Some(llvm::Operation::ElementPointer { base, .. } | llvm::Operation::Cast(_, base)) => {
                        work.push(*base);
                    }
                    Some(llvm::Operation::Select { accept, reject, .. }) => work.extend([*accept, *reject]),
                    Some(llvm::Operation::Phi(incoming)) => work.extend(incoming.iter().map(|(value, _)| *value)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    roots
}

impl Storage {
    /// Elements that a value of a type takes.
    fn size(&self, types: &llvm::Types, ty: llvm::TypeId) -> u64 {
        if self.words { types.words(ty) } else { types.scalars(ty) }
    }
}

impl ModuleLowering<'_> {
    /// Makes the variable for some memory.
    fn allocate(
        &mut self,
        root: Root,
        name: String,
        space: VariableSpace,
        ty: llvm::TypeId,
        count: u64,
        initial: Option<Vec<(Scalar, u64)>>,
    ) -> Result<Storage> {
        let (scalar, words) = match self.module.types.leaf(ty) {
            llvm::Leaf::None => return Err(Error::unsupported("variable without contents")),
            // Whoever shares it knows its layout.
            _ if space == VariableSpace::Interface => (Scalar::I32, true),
            llvm::Leaf::Uniform(leaf) if !self.reinterpreted.contains(&root) => match self.scalar(leaf)? {
                Scalar::Bool => (Scalar::I32, true),
                scalar => (scalar, false),
            },
            _ => (Scalar::I32, true),
        };
        let variable = VariableId(self.ir.variables.len() as u32);
        let storage = Storage { variable, scalar, words };
        let len = storage.size(&self.module.types, ty).saturating_mul(count);
        if len == 0 || len > MAX_ELEMENTS || self.elements + len > MAX_TOTAL {
            return Err(Error::unsupported(format!("size of a variable: {len} elements")));
        }
        self.elements += len;
        let initial = initial.map(|scalars| {
            let mut elements = Vec::with_capacity(len as usize);
            for (scalar, bits) in scalars {
                if words && scalar.bits() == 64 {
                    elements.push(element(bits & 0xffff_ffff));
                    elements.push(element(bits >> 32));
                } else {
                    elements.push(element(mask(bits, scalar)));
                }
            }
            elements
        });
        if initial.as_ref().is_some_and(|initial| initial.len() as u64 != len) {
            return Err(Error::malformed("initial value of another size than its variable"));
        }
        let element = Type::Scalar(scalar);
        self.ir.variables.push(Variable { name, space, element, len: len as u32, initial });
        Ok(storage)
    }

    /// A variable of `i32`s that all functions share with whoever runs their stage, of so many elements at least.
    pub fn interface_variable(&mut self, name: &'static str, len: u32) -> VariableId {
        if let Some(&id) = self.interface_variables.get(name) {
            let variable = &mut self.ir.variables[id.index()];
            variable.len = variable.len.max(len);
            return id;
        }
        let id = VariableId(self.ir.variables.len() as u32);
        let (space, element) = (VariableSpace::Interface, Type::I32);
        self.ir.variables.push(Variable { name: name.to_owned(), space, element, len, initial: None });
        self.interface_variables.insert(name, id);
        id
    }

    /// A variable of `i32`s that functions share, of a name of the lift's own.
    pub fn named_variable(&mut self, name: &str, space: VariableSpace, len: u32) -> VariableId {
        if let Some(&id) = self.named_variables.get(name) {
            return id;
        }
        let id = VariableId(self.ir.variables.len() as u32);
        self.ir.variables.push(Variable { name: name.to_owned(), space, element: Type::I32, len, initial: None });
        self.named_variables.insert(name.to_owned(), id);
        id
    }

    /// The variable of what a helper function's parameter points to. HLSL's `inout` and `out` are copies in and out: who
    /// calls the function writes the variable before and reads it after. Functions do not call themselves.
    pub(super) fn parameter_storage(
        &mut self,
        function: llvm::FunctionId,
        number: u32,
        ty: llvm::TypeId,
    ) -> Result<Storage> {
        if let Some(&storage) = self.parameter_storages.get(&(function, number)) {
            return Ok(storage);
        }
        let pointee = match self.module.types.get(ty) {
            Some(&llvm::Type::Pointer { pointee, space: 0 }) => pointee,
            Some(llvm::Type::Pointer { space, .. }) => {
                return Err(Error::unsupported(format!("parameter of a function in address space: {space}")));
            }
            _ => return Err(Error::malformed("argument of another type than its parameter")),
        };
        let name = reflect::undecorated(&self.module.functions[function.index()].name);
        let name = format!("{name}_parameter{number}");
        let root = Root::Parameter(function, number);
        let storage = self.allocate(root, name, VariableSpace::Thread, pointee, 1, None)?;
        self.parameter_storages.insert((function, number), storage);
        Ok(storage)
    }

    /// The variable of what a function returns that is no number or vector: it writes it, and who called it reads it.
    pub(super) fn result_storage(&mut self, function: llvm::FunctionId, ty: llvm::TypeId) -> Result<Storage> {
        if let Some(&storage) = self.result_storages.get(&function) {
            return Ok(storage);
        }
        let name = format!("{}_result", reflect::undecorated(&self.module.functions[function.index()].name));
        let storage = self.allocate(Root::Result(function), name, VariableSpace::Thread, ty, 1, None)?;
        self.result_storages.insert(function, storage);
        Ok(storage)
    }

    /// The variable of a global variable.
    fn global_storage(&mut self, id: llvm::GlobalId) -> Result<Storage> {
        if let Some(&storage) = self.storages.get(&id) {
            return Ok(storage);
        }
        let module = self.module;
        let global = module.globals.get(id.index()).ok_or_else(|| Error::malformed("unknown global variable"))?;
        let space = match (global.space, global.constant) {
            (3, _) => VariableSpace::GroupShared,
            (0, true) => VariableSpace::Constant,
            (0, false) => VariableSpace::Thread,
            (space, _) => return Err(Error::unsupported(format!("global variable in address space: {space}"))),
        };
        let initial = match global.initializer.and_then(|initializer| module.constant(initializer)) {
            Some((_, llvm::Constant::Undefined | llvm::Constant::Null)) => None,
            Some((ty, constant)) if space != VariableSpace::GroupShared => {
                if module.types.get(ty) != module.types.get(global.ty) {
                    return Err(Error::malformed("initial value of another type than its variable"));
                }
                if module.types.scalars(ty) > MAX_ELEMENTS {
                    return Err(Error::unsupported(format!("size of a variable: {}", module.types.scalars(ty))));
                }
                let mut scalars = Vec::new();
                self.flatten(None, ty, constant, 0, &mut scalars)?;
                Some(scalars)
            }
            Some(_) => None,
            None if space == VariableSpace::Constant => {
                return Err(Error::unsupported(format!("external constant: {}", global.name)));
            }
            None => None,
        };
        let name = reflect::undecorated(&global.name).to_owned();
        let storage = self.allocate(Root::Global(id), name, space, global.ty, 1, initial)?;
        self.storages.insert(id, storage);
        Ok(storage)
    }
}

/// Bits that a scalar keeps.
fn mask(bits: u64, scalar: Scalar) -> u64 {
    match scalar.bits() {
        64 => bits,
        width => bits & ((1 << width) - 1),
    }
}

fn element(bits: u64) -> Constant {
    Constant(SmallVec::from_slice(&[bits]))
}

impl FunctionLowering<'_, '_> {
    /// Address of a global variable, or the resource that it stands for.
    pub(super) fn global(&mut self, id: llvm::GlobalId) -> Result<Lowered> {
        if let Some(&binding) = self.parent.resources.get(&id) {
            let index = self.function.i32(0);
            return Ok(Lowered::Resource { binding, descriptor: self.descriptor(binding, index, false) });
        }
        let storage = self.parent.global_storage(id)?;
        let pointee = self.parent.module.globals[id.index()].ty;
        Ok(Lowered::Pointer(Pointer { storage, index: self.function.i32(0), pointee }))
    }

    /// Memory of the thread.
    pub(super) fn alloca(&mut self, number: u32, ty: llvm::TypeId, count: llvm::ValueId) -> Result<Lowered> {
        let storage = self.alloca_storage(number, ty, count)?;
        Ok(Lowered::Pointer(Pointer { storage, index: self.function.i32(0), pointee: ty }))
    }

    fn alloca_storage(&mut self, number: u32, ty: llvm::TypeId, count: llvm::ValueId) -> Result<Storage> {
        if let Some(&storage) = self.storages.get(&number) {
            return Ok(storage);
        }
        let count = self.as_integer(count).filter(|count| *count > 0);
        let count = count.ok_or_else(|| Error::unsupported("alloca of a number that is not constant"))?;
        let root = Root::Alloca(self.id, number);
        let name = self.name_of(number).map_or_else(|| format!("local{number}"), str::to_owned);
        let storage = self.parent.allocate(root, name, VariableSpace::Thread, ty, count as u64, None)?;
        self.storages.insert(number, storage);
        Ok(storage)
    }

    /// What a parameter of a ray tracing stage points to: a variable that is shared with whoever calls the stage.
    pub(super) fn parameter(&mut self, number: u32, name: &str, pointee: llvm::TypeId) -> Result<Lowered> {
        let root = Root::Parameter(self.id, number);
        let name = format!("{}_{name}", self.function.name);
        let storage = self.parent.allocate(root, name, VariableSpace::Interface, pointee, 1, None)?;
        self.parameters.insert(number, storage);
        Ok(Lowered::Pointer(Pointer { storage, index: self.function.i32(0), pointee }))
    }

    /// Copies what an address leads to into a variable of words that is shared with the callee, and gives the
    /// address there. The variable is as long as its longest content.
    pub fn share(&mut self, pointer: Pointer, name: &'static str) -> Result<Pointer> {
        let words = self.parent.module.types.words(pointer.pointee).clamp(1, MAX_SCALARS) as u32;
        let variable = self.parent.interface_variable(name, words);
        let shared = self.words_at(variable, pointer.pointee);
        self.copy(pointer, shared)?;
        Ok(shared)
    }

    /// The beginning of a variable of words, as an address of some type.
    pub fn words_at(&mut self, variable: VariableId, pointee: llvm::TypeId) -> Pointer {
        let storage = Storage { variable, scalar: Scalar::I32, words: true };
        Pointer { storage, index: self.function.i32(0), pointee }
    }

    /// What an address leads to, in words: each number takes one, one of 64 bits two.
    ///
    /// # Errors
    /// It has more than `most`.
    pub fn words(&mut self, pointer: Pointer, most: u32) -> Result<Vec<Value>> {
        let count = self.parent.module.types.words(pointer.pointee);
        if count > u64::from(most) {
            return Err(Error::unsupported(format!("attributes of {count} words")));
        }
        let variable = self.parent.named_variable("words", VariableSpace::Thread, most);
        let words = self.words_at(variable, pointer.pointee);
        self.copy(pointer, words)?;
        let load = |index: u32| {
            let mut build = self.build();
            let index = build.i32(index);
            build.push(Op::LoadVariable { variable, index, component: None }, Type::I32)
        };
        Ok((0..count as u32).map(load).collect())
    }

    /// Copies what one address leads to into what another does, which has the same type.
    pub fn copy(&mut self, from: Pointer, to: Pointer) -> Result<()> {
        let value = self.load(from, from.pointee)?;
        self.store(to, value.scalars()?)
    }

    /// Address of the payload that a mesh shader reads: words, in one variable of the module.
    pub fn mesh_payload(&mut self, pointee: llvm::TypeId) -> Result<Pointer> {
        let words = self.parent.module.types.words(pointee);
        if words == 0 || words > MAX_PAYLOAD {
            return Err(Error::unsupported(format!("size of a payload: {words} words")));
        }
        let variables = &mut self.parent.ir.variables;
        let known = variables.iter().position(|variable| variable.space == VariableSpace::Payload);
        let index = known.unwrap_or(variables.len());
        if known.is_none() {
            let element = Type::I32;
            let space = VariableSpace::Payload;
            variables.push(Variable { name: "payload".into(), space, element, len: words as u32, initial: None });
        }
        if u64::from(variables[index].len) != words {
            return Err(Error::malformed("payloads of different sizes"));
        }
        let storage = Storage { variable: VariableId(index as u32), scalar: Scalar::I32, words: true };
        Ok(Pointer { storage, index: self.function.i32(0), pointee })
    }

    /// The variable, first element and number of words of the payload that an amplification shader hands on.
    pub fn sent_payload(&self, pointer: Pointer) -> Result<(VariableId, Value, u32)> {
        let Pointer { storage, index, pointee } = pointer;
        let words = self.parent.module.types.words(pointee);
        let variable = &self.parent.ir.variables[storage.variable.index()];
        if !matches!(variable.space, VariableSpace::GroupShared | VariableSpace::Thread) {
            return Err(Error::unsupported(format!("payload in a variable of another kind: {:?}", variable.space)));
        }
        if !storage.words || words > u64::from(variable.len) {
            return Err(Error::internal("payload that is not laid out in words"));
        }
        if words > MAX_PAYLOAD {
            return Err(Error::unsupported(format!("size of a payload: {words} words")));
        }
        Ok((storage.variable, index, words as u32))
    }

    /// Address of what a function returns.
    pub(super) fn result_pointer(&mut self, function: llvm::FunctionId, ty: llvm::TypeId) -> Result<Pointer> {
        let storage = self.parent.result_storage(function, ty)?;
        Ok(Pointer { storage, index: self.function.i32(0), pointee: ty })
    }

    /// The one variable that an address leads into, whichever way control took.
    pub(super) fn storage_of(&mut self, value: llvm::ValueId) -> Result<Storage> {
        match roots_of(self.parent.module, Some(self.body), self.id, value).as_slice() {
            [Root::Global(id)] if !self.parent.resources.contains_key(id) => self.parent.global_storage(*id),
            [Root::Alloca(_, number)] => {
                let number = *number;
                match self.body.instructions[number as usize].op {
                    llvm::Operation::Allocate { ty, count } => self.alloca_storage(number, ty, count),
                    _ => Err(Error::internal("root of an address is no alloca")),
                }
            }
            [Root::Parameter(_, number)] if self.parameters.contains_key(number) => Ok(self.parameters[number]),
            _ => Err(Error::unsupported("address that may lead to several variables")),
        }
    }

    /// An index of LLVM as an `i32`.
    pub(super) fn index(&mut self, id: llvm::ValueId) -> Result<Value> {
        if let Some(constant) = self.as_integer(id) {
            return Ok(self.function.i32(constant as u32));
        }
        let index = self.scalar(id)?;
        match self.function.ty(index).scalar() {
            Some(Scalar::I32) => Ok(index),
            Some(Scalar::I64) => Ok(self.build().convert(ConvertOp::Trunc, index, Scalar::I32)),
            Some(Scalar::I16) => Ok(self.build().convert(ConvertOp::SExt, index, Scalar::I32)),
            _ => Err(Error::malformed("index is no integer")),
        }
    }

    /// Address of a part.
    pub(super) fn element_pointer(&mut self, base: Lowered, indices: &[llvm::ValueId]) -> Result<Lowered> {
        let types = &self.parent.module.types;
        match base {
            Lowered::Resource { binding, descriptor } => {
                let descriptor = self.element_descriptor(descriptor, indices)?;
                Ok(Lowered::Resource { binding, descriptor })
            }
            Lowered::Descriptor(descriptor) => self.element_descriptor(descriptor, indices).map(Lowered::Descriptor),
            Lowered::Record(pointer) => self.record_part(pointer, indices),
            Lowered::Pointer(Pointer { storage, mut index, mut pointee }) => {
                for (position, &step) in indices.iter().enumerate() {
                    let (unit, offset) = if position == 0 {
                        (storage.size(types, pointee), 0)
                    } else {
                        match self.llvm_type(pointee)? {
                            llvm::Type::Array { element, .. } | llvm::Type::Vector { element, .. } => {
                                pointee = *element;
                                (storage.size(types, pointee), 0)
                            }
                            llvm::Type::Struct { fields, .. } => {
                                let field = self.as_integer(step).and_then(|field| usize::try_from(field).ok());
                                let field = field.filter(|field| *field < fields.len());
                                let field = field.ok_or_else(|| Error::malformed("no such field"))?;
                                let before = fields[..field].iter().map(|field| storage.size(types, *field));
                                pointee = fields[field];
                                (0, before.fold(0u64, u64::saturating_add))
                            }
                            _ => return Err(Error::malformed("address of a part of a number")),
                        }
                    };
                    let too_large = |_| Error::unsupported("address beyond 32 bits");
                    let unit = u32::try_from(unit).map_err(too_large)?;
                    let offset = u32::try_from(offset).map_err(too_large)?;
                    if unit != 0 {
                        let step = self.index(step)?;
                        let step = self.scale(step, unit);
                        index = self.add(index, step);
                    }
                    let offset = self.function.i32(offset);
                    index = self.add(index, offset);
                }
                Ok(Lowered::Pointer(Pointer { storage, index, pointee }))
            }
            _ => Err(Error::malformed("address of a part of no address")),
        }
    }

    /// Reads a value of type `ty`.
    pub(super) fn load(&mut self, pointer: Pointer, ty: llvm::TypeId) -> Result<Lowered> {
        let scalars = self.parent.scalar_types(ty)?;
        let mut values = SmallVec::new();
        let mut offset = 0;
        for scalar in scalars {
            let step = self.function.i32(offset);
            let index = self.add(pointer.index, step);
            values.push(self.load_scalar(pointer.storage, index, scalar)?);
            offset += words(pointer.storage, scalar);
        }
        Ok(Lowered::Scalars(values))
    }

    /// Writes a value.
    pub(super) fn store(&mut self, pointer: Pointer, values: &[Value]) -> Result<()> {
        let mut offset = 0;
        for &value in values {
            let scalar = self.function.ty(value).scalar().ok_or_else(|| Error::internal("store of no number"))?;
            let step = self.function.i32(offset);
            let index = self.add(pointer.index, step);
            self.store_scalar(pointer.storage, index, value, scalar)?;
            offset += words(pointer.storage, scalar);
        }
        Ok(())
    }

    fn load_scalar(&mut self, storage: Storage, index: Value, scalar: Scalar) -> Result<Value> {
        let Storage { variable, scalar: element, words } = storage;
        let load = |this: &mut Self, index: Value| {
            this.build().push(Op::LoadVariable { variable, index, component: None }, Type::Scalar(element))
        };
        let value = load(self, index);
        if scalar == element {
            return Ok(value);
        }
        if words && scalar.bits() == 64 {
            let one = self.function.i32(1);
            let next = self.add(index, one);
            let high = load(self, next);
            let mut build = self.build();
            let pair = build.compose(&[value, high]);
            return Ok(build.push(Op::Convert(ConvertOp::Bitcast, pair), Type::Scalar(scalar)));
        }
        let mut build = self.build();
        match scalar {
            Scalar::Bool if words => {
                let zero = build.i32(0);
                Ok(build.compare(CompareOp::INe, value, zero))
            }
            Scalar::I16 | Scalar::F16 if words => {
                let low = build.convert(ConvertOp::Trunc, value, Scalar::I16);
                Ok(build.bitcast(low, scalar))
            }
            _ if scalar.bits() == element.bits() => Ok(build.bitcast(value, scalar)),
            _ => Err(Error::unsupported("memory read as another type than it was declared with")),
        }
    }

    fn store_scalar(&mut self, storage: Storage, index: Value, value: Value, scalar: Scalar) -> Result<()> {
        let Storage { variable, scalar: element, words } = storage;
        let store = |this: &mut Self, index: Value, value: Value| {
            this.build().effect(Op::StoreVariable { variable, index, component: None, value });
        };
        if scalar == element {
            store(self, index, value);
            return Ok(());
        }
        if words && scalar.bits() == 64 {
            let pair = self.build().push(Op::Convert(ConvertOp::Bitcast, value), Type::Vector(Scalar::I32, 2));
            let low = self.build().extract(pair, 0);
            store(self, index, low);
            let high = self.build().extract(pair, 1);
            let one = self.function.i32(1);
            let next = self.add(index, one);
            store(self, next, high);
            return Ok(());
        }
        let mut build = self.build();
        let word = match scalar {
            Scalar::Bool if words => build.convert(ConvertOp::ZExt, value, Scalar::I32),
            Scalar::I16 | Scalar::F16 if words => {
                let bits = build.bitcast(value, Scalar::I16);
                build.convert(ConvertOp::ZExt, bits, Scalar::I32)
            }
            _ if scalar.bits() == element.bits() => build.bitcast(value, element),
            _ => return Err(Error::unsupported("memory written as another type than it was declared with")),
        };
        store(self, index, word);
        Ok(())
    }

    /// Atomic operation on group-shared memory or a record; the old value.
    pub(super) fn atomic(&mut self, place: &Lowered, op: llvm::AtomicOperation, value: Value) -> Result<Value> {
        let (op, value) = match op {
            llvm::AtomicOperation::Sub => (AtomicOp::Add, self.build().unary(crate::ir::UnaryOp::INeg, value)),
            llvm::AtomicOperation::Nand => return Err(Error::unsupported("atomic nand")),
            llvm::AtomicOperation::Exchange => (AtomicOp::Exchange, value),
            llvm::AtomicOperation::Add => (AtomicOp::Add, value),
            llvm::AtomicOperation::And => (AtomicOp::And, value),
            llvm::AtomicOperation::Or => (AtomicOp::Or, value),
            llvm::AtomicOperation::Xor => (AtomicOp::Xor, value),
            llvm::AtomicOperation::Max => (AtomicOp::SMax, value),
            llvm::AtomicOperation::Min => (AtomicOp::SMin, value),
            llvm::AtomicOperation::UMax => (AtomicOp::UMax, value),
            llvm::AtomicOperation::UMin => (AtomicOp::UMin, value),
        };
        self.atomic_at(place, op, value, None)
    }

    /// Atomic exchange where memory equals `compare`: the old value, and whether it was equal.
    pub(super) fn compare_exchange(&mut self, place: &Lowered, compare: Value, value: Value) -> Result<Lowered> {
        let old = self.atomic_at(place, AtomicOp::CompareExchange, value, Some(compare))?;
        let equal = self.build().compare(CompareOp::IEq, old, compare);
        Ok(Lowered::Scalars(SmallVec::from_slice(&[old, equal])))
    }

    /// Atomic operation at an address; the old value.
    fn atomic_at(&mut self, place: &Lowered, op: AtomicOp, value: Value, compare: Option<Value>) -> Result<Value> {
        match place {
            Lowered::Pointer(pointer) => self.atomic_variable(*pointer, op, value, compare),
            Lowered::Record(pointer) => self.atomic_record(*pointer, op, value, compare),
            _ => Err(Error::malformed("atomic operation on no address")),
        }
    }

    fn atomic_variable(
        &mut self,
        pointer: Pointer,
        op: AtomicOp,
        value: Value,
        compare: Option<Value>,
    ) -> Result<Value> {
        let Storage { variable, scalar, .. } = pointer.storage;
        if self.parent.ir.variables[variable.index()].space != VariableSpace::GroupShared {
            return self.plain_atomic(pointer, op, value, compare);
        }
        let ty = self.function.ty(value);
        if ty != Type::Scalar(scalar) || !scalar.is_int() {
            return Err(Error::unsupported("atomic operation on group-shared memory of another type"));
        }
        let index = pointer.index;
        Ok(self.build().push(Op::AtomicVariable { op, variable, index, value, compare }, ty))
    }

    /// An atomic operation on memory of the thread, where nobody else is.
    fn plain_atomic(&mut self, pointer: Pointer, op: AtomicOp, value: Value, compare: Option<Value>) -> Result<Value> {
        let scalar = self.function.ty(value).scalar().ok_or_else(|| Error::internal("atomic on no number"))?;
        let old = self.load_scalar(pointer.storage, pointer.index, scalar)?;
        let mut build = self.build();
        let binary = match op {
            AtomicOp::Add => Some(BinaryOp::IAdd),
            AtomicOp::And => Some(BinaryOp::And),
            AtomicOp::Or => Some(BinaryOp::Or),
            AtomicOp::Xor => Some(BinaryOp::Xor),
            AtomicOp::SMin => Some(BinaryOp::SMin),
            AtomicOp::SMax => Some(BinaryOp::SMax),
            AtomicOp::UMin => Some(BinaryOp::UMin),
            AtomicOp::UMax => Some(BinaryOp::UMax),
            AtomicOp::Exchange | AtomicOp::CompareExchange => None,
        };
        let new = match (binary, compare) {
            (Some(binary), _) => build.binary(binary, old, value),
            (None, Some(compare)) => {
                let equal = build.compare(CompareOp::IEq, old, compare);
                build.select(equal, value, old)
            }
            (None, None) => value,
        };
        self.store_scalar(pointer.storage, pointer.index, new, scalar)?;
        Ok(old)
    }
}

/// Elements that a scalar takes.
fn words(storage: Storage, scalar: Scalar) -> u32 {
    if storage.words && scalar.bits() == 64 { 2 } else { 1 }
}
