//! Walks a function's instructions, and writes others in their places.

use std::mem;

use smallvec::SmallVec;

use super::library::Library;
use crate::{
    Error, Result,
    ir::passes::replace::Replacements,
    ir::{Block, Builder, Constant, Function, FunctionId, Inst, Module, Op, Scalar, Type, Value, ValueDef},
};

/// One function of a module while its instructions are replaced.
///
/// An instruction's value keeps its number: what is made of it last defines it again ([`Rewrite::define`]), or another
/// value stands for it from then on ([`Rewrite::replace`]).
pub(super) struct Rewrite<'a> {
    /// The function, which the module lacks meanwhile.
    pub function: Function,
    /// The block that is written.
    pub block: Block,
    /// The instruction that is replaced is precise.
    precise: bool,
    /// Where it came from.
    origin: u32,
    replacements: Replacements,
    /// The module's functions.
    functions: &'a mut Vec<Function>,
    library: &'a mut Library,
}

/// Replaces the instructions of all functions, also of those that are added meanwhile, one after another.
///
/// `begin` is called for each function first, `lower` for each instruction, with its value and what it did, and `finish`
/// at last.
///
/// # Errors
/// Those of `lower` and `finish`, with the function's name.
pub(super) fn rewrite<T>(
    module: &mut Module,
    library: &mut Library,
    mut begin: impl FnMut(&mut Function) -> T,
    mut lower: impl FnMut(&mut Rewrite<'_>, &mut T, Value, Op) -> Result<()>,
    mut finish: impl FnMut(&mut Rewrite<'_>, &mut T) -> Result<()>,
) -> Result<()> {
    let mut index = 0;
    while index < module.functions.len() {
        let mut function = mem::replace(&mut module.functions[index], Function::new("", Type::Void));
        let mut state = begin(&mut function);
        let replacements = Replacements::new(&function);
        let functions = &mut module.functions;
        let mut rewrite =
            Rewrite { function, block: Block(0), precise: false, origin: 0, replacements, functions, library };
        for block in 0..rewrite.function.blocks.len() {
            rewrite.block = Block(block as u32);
            for value in mem::take(&mut rewrite.function.blocks[block].insts) {
                let ValueDef::Inst(Inst { op, precise, origin }) = rewrite.function.values[value.index()].def.clone()
                else {
                    continue;
                };
                (rewrite.precise, rewrite.origin) = (precise, origin);
                lower(&mut rewrite, &mut state, value, op)
                    .map_err(|error| error.in_function(&*rewrite.function.name))?;
            }
        }
        finish(&mut rewrite, &mut state).map_err(|error| error.in_function(&*rewrite.function.name))?;
        let Rewrite { mut function, mut replacements, .. } = rewrite;
        replacements.apply(&mut function);
        module.functions[index] = function;
        index += 1;
    }
    Ok(())
}

impl Rewrite<'_> {
    /// Appends instructions, which are like the one that they stand for.
    pub fn build(&mut self) -> Builder<'_> {
        let mut builder = Builder::new(&mut self.function, self.block);
        (builder.precise, builder.origin) = (self.precise, self.origin);
        builder
    }

    /// Type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// The value is what this operation gives, as the block's last instruction so far.
    pub fn define(&mut self, value: Value, op: Op) {
        self.function.values[value.index()].def =
            ValueDef::Inst(Inst { op, precise: self.precise, origin: self.origin });
        self.function.blocks[self.block.index()].insts.push(value);
    }

    /// Another value stands for this one everywhere.
    pub fn replace(&mut self, value: Value, by: Value) {
        self.function.values[value.index()].def = ValueDef::Removed;
        self.replacements.set(value, by);
    }

    /// What stands for a value.
    pub fn current(&mut self, value: Value) -> Value {
        self.replacements.get(value)
    }

    /// A function of the library.
    ///
    /// # Errors
    /// There is no such function: a bug.
    pub fn library(&mut self, name: &'static str) -> Result<FunctionId> {
        self.library.function(self.functions, name)
    }

    /// Calls a function of the library for each lane.
    ///
    /// # Errors
    /// There is no such function: a bug.
    pub fn call(&mut self, name: &'static str, operands: &[Value], result: Scalar) -> Result<Value> {
        let id = self.library(name)?;
        let operands: SmallVec<[Value; 3]> = operands.iter().map(|&operand| self.current(operand)).collect();
        let count = operands.first().map_or(1, |&operand| self.ty(operand).lanes());
        let mut build = self.build();
        let lanes: SmallVec<[Value; 4]> = (0..count)
            .map(|lane| {
                let operands = operands.iter().map(|&operand| build.extract(operand, lane)).collect();
                build.push(Op::Call(id, operands), Type::Scalar(result))
            })
            .collect();
        Ok(build.compose(&lanes))
    }

    /// The same constant in each lane of a type.
    pub fn splat(&mut self, ty: Type, bits: u64) -> Value {
        self.function.constant(ty, &[bits; 4][..usize::from(ty.lanes())])
    }
}

/// Makes all constants of one scalar type constants of another, whose bits are given.
pub(super) fn retype_constants(function: &mut Function, from: Scalar, to: Scalar, bits: impl Fn(u64) -> u64) {
    let mut replacements = Replacements::new(function);
    for index in 0..function.values.len() {
        let ty = function.values[index].ty;
        let ValueDef::Constant(Constant(lanes)) = &function.values[index].def else { continue };
        if ty.scalar() == Some(from) {
            let lanes: SmallVec<[u64; 4]> = lanes.iter().map(|&lane| bits(lane)).collect();
            let constant = function.constant(ty.with_scalar(to), &lanes);
            replacements.set(Value(index as u32), constant);
        }
    }
    replacements.apply(function);
}

/// Makes all other values of one scalar type, the result and the variables values of another.
pub(super) fn retype_values(function: &mut Function, from: Scalar, to: Scalar) {
    let convert = |ty: &mut Type| {
        if ty.scalar() == Some(from) {
            *ty = ty.with_scalar(to);
        }
    };
    convert(&mut function.result);
    for value in &mut function.values {
        if !matches!(value.def, ValueDef::Constant(_)) {
            convert(&mut value.ty);
        }
    }
}

/// Makes all variables of one scalar type variables of another.
pub(super) fn retype_variables(module: &mut Module, from: Scalar, to: Scalar, bits: impl Fn(u64) -> u64) {
    for variable in module.variables.iter_mut().filter(|variable| variable.element.scalar() == Some(from)) {
        variable.element = variable.element.with_scalar(to);
        for lane in variable.initial.iter_mut().flatten().flat_map(|constant| &mut constant.0) {
            *lane = bits(*lane);
        }
    }
}

/// An operation has no lowering for a type.
pub(super) fn refuse(what: &str, op: &Op) -> Error {
    let name = format!("{op:?}");
    let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    Error::unsupported(format!("{what} that the target lacks: {name}"))
}
