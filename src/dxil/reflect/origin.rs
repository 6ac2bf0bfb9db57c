//! Where resource handles come from: which calls and globals a value may stand for, whichever way control took.

use std::collections::HashSet;

use crate::dxil::module::{Body, Constant, Expression, GlobalId, Module, Operation, ValueDef, ValueId};

/// Numbers of the operations.
const CREATE_HANDLE: i64 = 57;
const CREATE_HANDLE_FOR_LIB: i64 = 160;
const ANNOTATE_HANDLE: i64 = 216;
const CREATE_HANDLE_FROM_BINDING: i64 = 217;
const CREATE_HANDLE_FROM_HEAP: i64 = 218;

/// Most values between a handle and its origins, for files whose handles make long chains.
const MAX_STEPS: usize = 4096;

/// Where a handle comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// `dx.op.createHandle`: number of the instruction.
    Range(u32),
    /// `dx.op.createHandleFromBinding`: number of the instruction.
    Binding(u32),
    /// A descriptor heap.
    Heap,
    /// A library's global variable.
    Global(GlobalId),
    /// Memory, a parameter, or a function's result.
    Unknown,
}

/// The number of the operation that an instruction calls.
fn operation(module: &Module, body: &Body, op: &Operation) -> Option<i64> {
    let Operation::Call { callee, arguments } = op else { return None };
    if !module.functions.get(callee.index())?.name.starts_with("dx.op.") {
        return None;
    }
    match module.value(Some(body), *arguments.first()?).map(|value| &value.def) {
        Some(ValueDef::Constant(Constant::Integer(number))) => Some(*number),
        _ => None,
    }
}

/// The value that an instruction says the kind of, and what it says: `dx.op.annotateHandle`.
pub fn annotation(module: &Module, body: &Body, op: &Operation) -> Option<(ValueId, ValueId)> {
    match op {
        Operation::Call { arguments, .. } if operation(module, body, op) == Some(ANNOTATE_HANDLE) => {
            Some((*arguments.get(1)?, *arguments.get(2)?))
        }
        _ => None,
    }
}

/// Where a handle, a resource, or the address of one may come from, each once.
pub fn origins(module: &Module, body: &Body, value: ValueId) -> Vec<Origin> {
    let mut origins = Vec::new();
    let mut seen = HashSet::new();
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        if seen.len() > MAX_STEPS || work.len() > MAX_STEPS {
            return vec![Origin::Unknown];
        }
        let origin = match module.value(Some(body), value).map(|value| &value.def) {
            Some(ValueDef::Constant(constant)) => {
                match constant {
                    Constant::Expression(Expression::ElementPointer { base, .. } | Expression::Cast(_, base)) => {
                        work.push(*base);
                    }
                    Constant::Expression(Expression::Select(_, accept, reject)) => work.extend([*accept, *reject]),
                    // Any resource will do.
                    _ => {}
                }
                continue;
            }
            Some(ValueDef::Global(global)) => Origin::Global(*global),
            Some(ValueDef::Instruction(number)) => {
                let Some(instruction) = body.instructions.get(*number as usize) else { continue };
                match &instruction.op {
                    Operation::Phi(incoming) => {
                        work.extend(incoming.iter().map(|(value, _)| *value));
                        continue;
                    }
                    Operation::Select { accept, reject, .. } => {
                        work.extend([*accept, *reject]);
                        continue;
                    }
                    Operation::Cast(_, inner)
                    | Operation::Load(inner)
                    | Operation::ElementPointer { base: inner, .. } => {
                        work.push(*inner);
                        continue;
                    }
                    op @ Operation::Call { arguments, .. } => match operation(module, body, op) {
                        Some(CREATE_HANDLE) => Origin::Range(*number),
                        Some(CREATE_HANDLE_FROM_BINDING) => Origin::Binding(*number),
                        Some(CREATE_HANDLE_FROM_HEAP) => Origin::Heap,
                        Some(CREATE_HANDLE_FOR_LIB | ANNOTATE_HANDLE) => {
                            work.extend(arguments.get(1));
                            continue;
                        }
                        _ => Origin::Unknown,
                    },
                    _ => Origin::Unknown,
                }
            }
            _ => Origin::Unknown,
        };
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    origins
}
