//! Names of local variables, from debug information: calls of `llvm.dbg.value` and `llvm.dbg.declare` say which variable
//! of the HLSL an instruction's result is.
//!
//! dxc strips them from the program and keeps a copy of it with all debug information (`ILDB`, in the container or its PDB
//! file). The copy only gives names: it must have the program's instructions, one by one, apart from such calls.

use std::{collections::HashMap, mem::Discriminant};

use super::module::{Body, Function, Metadata, MetadataId, Module, Operation, ValueDef, ValueId};

/// Codes of the records, `bitc::MetadataCodes`.
const LOCAL_VARIABLE: u32 = 28;
const EXPRESSION: u32 = 29;

/// `DW_OP_bit_piece`: the value is so many bits from a bit on.
const BIT_PIECE: u64 = 0x9d;

/// Longest name that is kept.
const MAX_LENGTH: usize = 256;

/// Names of a module's locals.
#[derive(Debug, Default)]
pub struct LocalNames {
    /// By name of the function.
    functions: HashMap<String, Copy>,
}

/// A function with its names.
#[derive(Debug, Default)]
struct Copy {
    /// Kinds of its instructions, without calls that only debuggers want.
    kinds: Vec<Discriminant<Operation>>,
    names: Names,
}

/// Names in a function.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Of instructions' results, by number of the instruction; in a [`Copy`] by number without those that are left out.
    pub instructions: HashMap<u32, String>,
    /// Of parameters, by number.
    pub parameters: HashMap<u32, String>,
}

impl LocalNames {
    /// Reads the names of all functions.
    pub fn of(module: &Module) -> Self {
        let mut functions = HashMap::new();
        for function in &module.functions {
            let Some(body) = &function.body else { continue };
            let (kinds, numbers) = kinds(module, body);
            let mut names = Names::default();
            for (number, instruction) in (0..).zip(&body.instructions) {
                let Operation::Call { callee, .. } = &instruction.op else { continue };
                let variable = match module.functions.get(callee.index()).map(|callee| callee.name.as_str()) {
                    // Value, offset, variable, expression.
                    Some("llvm.dbg.value") => 2,
                    // Address, variable, expression.
                    Some("llvm.dbg.declare") => 1,
                    _ => continue,
                };
                let Some((value, name)) = named_value(module, body, number, variable) else { continue };
                let index = value.0.checked_sub(body.first).and_then(|index| body.values.get(index as usize));
                match index.map(|value| &value.def) {
                    Some(ValueDef::Instruction(instruction)) => {
                        if let Some(&number) = numbers.get(instruction) {
                            names.instructions.entry(number).or_insert(name);
                        }
                    }
                    Some(ValueDef::Argument(argument)) => {
                        names.parameters.entry(*argument).or_insert(name);
                    }
                    _ => {}
                }
            }
            functions.insert(function.name.clone(), Copy { kinds, names });
        }
        Self { functions }
    }

    /// The names in a function of the program; none if its copy is another.
    pub fn in_function(&self, module: &Module, function: &Function) -> Names {
        let (Some(copy), Some(body)) = (self.functions.get(&function.name), &function.body) else {
            return Names::default();
        };
        if copy.names.instructions.is_empty() && copy.names.parameters.is_empty() {
            return Names::default();
        }
        let (kinds, numbers) = kinds(module, body);
        if kinds != copy.kinds {
            return Names::default();
        }
        let name = |(&number, short): (&u32, &u32)| Some((number, copy.names.instructions.get(short)?.clone()));
        Names { instructions: numbers.iter().filter_map(name).collect(), parameters: copy.names.parameters.clone() }
    }
}

/// Kinds of a body's instructions without calls that only debuggers want, and the number that each of the others has
/// then.
fn kinds(module: &Module, body: &Body) -> (Vec<Discriminant<Operation>>, HashMap<u32, u32>) {
    let mut kinds = Vec::with_capacity(body.instructions.len());
    let mut numbers = HashMap::new();
    for (number, instruction) in (0..).zip(&body.instructions) {
        if let Operation::Call { callee, .. } = &instruction.op
            && module.functions.get(callee.index()).is_some_and(|callee| callee.name.starts_with("llvm.dbg."))
        {
            continue;
        }
        numbers.insert(number, kinds.len() as u32);
        kinds.push(std::mem::discriminant(&instruction.op));
    }
    (kinds, numbers)
}

/// The value that a call describes and its name. `variable` is the position of the variable among the arguments, before
/// that of the expression.
fn named_value(module: &Module, body: &Body, number: u32, variable: u32) -> Option<(ValueId, String)> {
    let argument = |position: u32| {
        let id = body.annotations.arguments.get(&(number, position))?;
        metadata(module, body, *id)
    };
    let Metadata::Value(value) = argument(0)? else { return None };
    let Metadata::Debug(LOCAL_VARIABLE, local) = argument(variable)? else { return None };
    let mut name = string(module, body, *local.get(3)?)?.to_owned();
    if name.is_empty() || name.len() > MAX_LENGTH {
        return None;
    }
    if let Some(Metadata::Debug(EXPRESSION, expression)) = argument(variable + 1)
        && let [_, BIT_PIECE, offset, size] = expression[..]
        && size > 0
    {
        let piece = offset / size;
        let lane = ["_x", "_y", "_z", "_w"].get(piece as usize);
        match lane.filter(|_| local.get(6).is_some_and(|ty| is_vector(module, body, *ty))) {
            Some(lane) => name.push_str(lane),
            None => name.push_str(&format!("_{piece}")),
        }
    }
    Some((*value, name))
}

/// A type is one of HLSL's vectors, by its name: `float3`.
fn is_vector(module: &Module, body: &Body, ty: u64) -> bool {
    let ty = ty.checked_sub(1).and_then(|id| metadata(module, body, MetadataId(u32::try_from(id).ok()?)));
    // Tag and name begin all nodes of types.
    let Some(Metadata::Debug(_, operands)) = ty else { return false };
    let name = operands.get(2).and_then(|name| string(module, body, *name)).unwrap_or_default();
    let scalar = name.strip_suffix(['2', '3', '4']);
    name.starts_with("vector<")
        || scalar.is_some_and(|scalar| !scalar.is_empty() && !scalar.ends_with(['x', '_']) && scalar.is_ascii())
}

/// Metadata as a function sees it: its own follow those of the module.
fn metadata<'a>(module: &'a Module, body: &'a Body, id: MetadataId) -> Option<&'a Metadata> {
    match id.index().checked_sub(module.metadata.len()) {
        None => module.metadata.get(id.index()),
        Some(index) => body.annotations.metadata.get(index),
    }
}

/// The string that a reference of a debug record leads to: its id and 1, or 0.
fn string<'a>(module: &'a Module, body: &'a Body, reference: u64) -> Option<&'a str> {
    match metadata(module, body, MetadataId(u32::try_from(reference.checked_sub(1)?).ok()?))? {
        Metadata::String(string) => Some(string),
        _ => None,
    }
}
