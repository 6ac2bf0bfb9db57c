//! The verifier: what every module must be like, between passes as well as at the end.

mod ops;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashSet;

use super::{
    Block, Cfg, Constant, Dominators, Edge, Function, FunctionId, Module, Op, Scalar, Terminator, Type, Value,
    ValueDef, VariableSpace,
};
use crate::{
    Error, Result,
    reflection::{EntryPointInterface, Interface},
};

/// Verifies a module against its interface.
///
/// * Every number that names something is in range, and variables' initial values fit.
/// * Every value is defined once, before its uses: a use in another block is dominated by the definition. Nothing that
///   is reached uses a removed value.
/// * Nothing leads to the entry block, edges bring one argument of the right type for each parameter, and switches'
///   cases differ.
/// * Operands and results have the types that [`Op`] documents, and resources the kind that the operation takes.
///   Only [`Op::Handle`] and [`Op::ChooseHandle`] make handles.
///
/// Blocks that the entry does not reach are checked for their numbers alone.
///
/// # Errors
/// [`ErrorKind::Internal`](crate::ErrorKind::Internal): names function, block, value and rule.
pub fn verify(module: &Module, interface: &Interface) -> Result<()> {
    for variable in &module.variables {
        let fault = |rule: &str| Err(Error::internal(format!("variable {}: {rule}", variable.name)));
        if variable.element.scalar().is_none() {
            return fault("elements are numbers or vectors");
        }
        if variable.len == 0 {
            return fault("a variable has at least one element");
        }
        if let Some(initial) = &variable.initial {
            if initial.len() != variable.len as usize {
                return fault("as many initial values as elements");
            }
            if !initial.iter().all(|constant| constant_fits(constant, variable.element)) {
                return fault("initial values have the type of the elements");
            }
        }
    }
    for entry in &module.entry_points {
        for &id in [entry.function].iter().chain(&entry.patch_constant_functions) {
            let Some(function) = module.functions.get(id.index()) else {
                return Err(Error::internal(format!("entry point of a missing function: {id:?}")));
            };
            if function.result != Type::Void || function.blocks.get(function.entry.index()).is_none_or(has_params) {
                return Err(Error::internal("an entry point has neither parameters nor a result")
                    .in_function(function.name.clone()));
            }
        }
    }
    let entry_points = entry_points_of_functions(module, interface)?;
    for (function, entry_points) in module.functions.iter().zip(entry_points) {
        let verifier = Verifier { module, interface, entry_points, function };
        verifier.function().map_err(|error| error.in_function(function.name.clone()))?;
    }
    Ok(())
}

fn has_params(block: &super::BlockData) -> bool {
    !block.params.is_empty()
}

/// Lanes and bits are those of the type.
fn constant_fits(constant: &Constant, ty: Type) -> bool {
    let Some(scalar) = ty.scalar() else { return false };
    constant.0.len() == ty.lanes() as usize
        && constant.0.iter().all(|&bits| scalar.bits() == 64 || bits >> scalar.bits() == 0)
}

/// The entry points that run each function, so that elements of signatures can be looked up.
fn entry_points_of_functions<'a>(
    module: &Module,
    interface: &'a Interface,
) -> Result<Vec<Vec<&'a EntryPointInterface>>> {
    let mut callees: Vec<HashSet<FunctionId>> = vec![HashSet::new(); module.functions.len()];
    for (function, callees) in module.functions.iter().zip(&mut callees) {
        for value in function.blocks.iter().flat_map(|block| &block.insts) {
            if let Some(ValueDef::Inst(inst)) = function.values.get(value.index()).map(|data| &data.def)
                && let Op::Call(callee, _) = inst.op
            {
                if callee.index() >= module.functions.len() {
                    return Err(Error::internal(format!("call of a missing function: {callee:?}"))
                        .in_function(function.name.clone()));
                }
                callees.insert(callee);
            }
        }
    }
    let mut found = vec![Vec::new(); module.functions.len()];
    for (entry, described) in module.entry_points.iter().zip(&interface.entry_points) {
        let mut seen = HashSet::new();
        let mut work = vec![entry.function];
        work.extend(&entry.patch_constant_functions);
        while let Some(function) = work.pop() {
            if seen.insert(function) {
                found[function.index()].push(described);
                work.extend(&callees[function.index()]);
            }
        }
    }
    Ok(found)
}

/// Verifies one function.
struct Verifier<'a> {
    module: &'a Module,
    interface: &'a Interface,
    /// The entry points that run the function.
    entry_points: Vec<&'a EntryPointInterface>,
    function: &'a Function,
}

impl Verifier<'_> {
    fn function(&self) -> Result<()> {
        let function = self.function;
        if function.entry.index() >= function.blocks.len() {
            return Err(Error::internal("the entry block exists"));
        }
        self.numbers()?;
        let places = self.places()?;
        let cfg = Cfg::new(function);
        if !cfg.predecessors(function.entry).is_empty() {
            return Err(Error::internal(format!("no edge leads to the entry {}", name(function.entry))));
        }
        let dominators = Dominators::new(function, &cfg);
        for &block in cfg.reverse_post_order() {
            let data = &function.blocks[block.index()];
            for &param in &data.params {
                self.require(self.ty(param).scalar().is_some(), block, param, "parameters are numbers or vectors")?;
            }
            // A use at `at` (counted as instructions; the terminator's is past the last) sees what was defined before.
            let defined = |value: Value, at: usize| match function.values[value.index()].def {
                ValueDef::Constant(_) => true,
                ValueDef::Removed => false,
                ValueDef::Param(_) | ValueDef::Inst(_) => match places[value.index()] {
                    Some((other, place)) if other == block => place < at as i64,
                    Some((other, _)) => dominators.dominates(other, block),
                    None => false,
                },
            };
            for (at, &value) in data.insts.iter().enumerate() {
                let Some(inst) = function.inst(value) else {
                    return self.require(false, block, value, "blocks list instructions");
                };
                let mut undefined = None;
                inst.op.for_each_operand(|operand| {
                    if !defined(operand, at) {
                        undefined = Some(operand);
                    }
                });
                let check = match undefined {
                    Some(operand) => {
                        let rule = format!("an operand is defined before its use: %{}", operand.0);
                        self.require(false, block, value, &rule)
                    }
                    None => self.op(value, &inst.op).or_else(|rule| self.require(false, block, value, &rule)),
                };
                check.map_err(|error| error.at_instruction(inst.origin))?;
            }
            let end = data.insts.len();
            let mut undefined = None;
            data.terminator.for_each_operand(|operand| {
                if !defined(operand, end) {
                    undefined = Some(operand);
                }
            });
            if let Some(operand) = undefined {
                return self.require(false, block, operand, "what a terminator uses is defined before");
            }
            self.terminator(block, &data.terminator)?;
        }
        Ok(())
    }

    /// Every number that names a value or a block is in range.
    fn numbers(&self) -> Result<()> {
        let function = self.function;
        let values = function.values.len();
        for (index, data) in function.blocks.iter().enumerate() {
            let block = Block(index as u32);
            let mut wrong = None;
            let mut check = |value: Value| {
                if value.index() >= values {
                    wrong = Some(value);
                }
            };
            data.params.iter().chain(&data.insts).copied().for_each(&mut check);
            data.terminator.for_each_operand(&mut check);
            if let Some(value) = wrong {
                return self.require(false, block, value, "values exist");
            }
            for &value in &data.insts {
                if let Some(op) = function.op(value) {
                    op.for_each_operand(|operand| {
                        if operand.index() >= values {
                            wrong = Some(operand);
                        }
                    });
                }
                self.require(wrong.is_none(), block, value, "operands exist")?;
            }
            for edge in data.terminator.edges() {
                if edge.block.index() >= function.blocks.len() {
                    return Err(Error::internal(format!("{}: edges lead to blocks that exist: {edge:?}", name(block))));
                }
            }
        }
        for (index, data) in function.values.iter().enumerate() {
            if let ValueDef::Constant(constant) = &data.def
                && !constant_fits(constant, data.ty)
            {
                return Err(Error::internal(format!("constants have the lanes and bits of their type: %{index}")));
            }
        }
        Ok(())
    }

    /// Where each value is defined: its block, and its place in it; parameters come before the first instruction.
    fn places(&self) -> Result<Vec<Option<(Block, i64)>>> {
        let mut places = vec![None; self.function.values.len()];
        for (index, data) in self.function.blocks.iter().enumerate() {
            let block = Block(index as u32);
            for &param in &data.params {
                let is_param = self.function.values[param.index()].def == ValueDef::Param(block);
                self.require(is_param, block, param, "a block's parameters know it")?;
                let once = places[param.index()].replace((block, -1)).is_none();
                self.require(once, block, param, "a value is defined once")?;
            }
            for (at, &value) in data.insts.iter().enumerate() {
                let once = places[value.index()].replace((block, at as i64)).is_none();
                self.require(once, block, value, "a value is defined once")?;
            }
        }
        Ok(places)
    }

    fn terminator(&self, block: Block, terminator: &Terminator) -> Result<()> {
        let function = self.function;
        match terminator {
            Terminator::Jump(_) | Terminator::Unreachable => {}
            Terminator::Branch { condition, .. } => {
                self.require(self.ty(*condition) == Type::BOOL, block, *condition, "a condition is bool")?;
            }
            Terminator::Switch { selector, cases, .. } => {
                let scalar = match self.ty(*selector) {
                    Type::Scalar(scalar) if scalar.is_int() => scalar,
                    _ => return self.require(false, block, *selector, "a selector is an integer"),
                };
                let mut seen = HashSet::new();
                for (value, _) in cases {
                    let fits = scalar == Scalar::I64 || value >> scalar.bits() == 0;
                    self.require(fits, block, *selector, "cases fit the selector's type")?;
                    self.require(seen.insert(value), block, *selector, "cases differ")?;
                }
            }
            Terminator::Return(value) => {
                let ty = value.map_or(Type::Void, |value| self.ty(value));
                if ty != function.result {
                    return Err(Error::internal(format!(
                        "{}: a function returns its result's type: {ty} for {}",
                        name(block),
                        function.result
                    )));
                }
            }
        }
        terminator.edges().try_for_each(|edge| self.edge(block, edge))
    }

    fn edge(&self, block: Block, edge: &Edge) -> Result<()> {
        let params = &self.function.blocks[edge.block.index()].params;
        if params.len() != edge.args.len() {
            return Err(Error::internal(format!(
                "{}: an edge brings an argument for each parameter: {} for the {} of {}",
                name(block),
                edge.args.len(),
                params.len(),
                name(edge.block)
            )));
        }
        for (&param, &arg) in params.iter().zip(&edge.args) {
            self.require(self.ty(param) == self.ty(arg), block, arg, "an argument has its parameter's type")?;
        }
        Ok(())
    }

    fn ty(&self, value: Value) -> Type {
        self.function.values[value.index()].ty
    }

    /// An error that names the rule, unless it holds.
    fn require(&self, holds: bool, block: Block, value: Value, rule: &str) -> Result<()> {
        if holds {
            return Ok(());
        }
        let data = self.function.values.get(value.index());
        let data = data.map_or_else(|| "missing".to_owned(), |data| format!("{} = {:?}", data.ty, data.def));
        Err(Error::internal(format!("{rule}: {}, %{} ({data})", name(block), value.0)))
    }
}

/// A block as the text form writes it.
fn name(block: Block) -> String {
    format!("block{}", block.0)
}

/// Elements can be addressed where the variable lives.
fn is_writable(space: VariableSpace) -> bool {
    !matches!(space, VariableSpace::Constant | VariableSpace::Payload)
}
