//! Which operations and LLVM instructions the value cases hold, by type: every one that a driver can run must be in one.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    census,
    container::Container,
    dxil::{
        module::{Body, FunctionId, Module, Operation, Predicate, Type, TypeId, ValueId},
        modules,
        reflect::{self, EntryRecord},
    },
    reflection::Stage,
};

/// Numbers of cases by type: `f32`; `min f16` without native 16-bit types, `f32 vector` of long vectors, and `""` of what has no type.
pub type Counts = BTreeMap<String, usize>;

/// What the cases hold.
#[derive(Default)]
pub struct Census {
    /// Operations, by number.
    pub operations: BTreeMap<u32, Counts>,
    /// LLVM instructions, by name.
    pub instructions: BTreeMap<String, Counts>,
}

/// Something that a case holds, and its type.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Operation(u32, String),
    Instruction(String, String),
}

impl Census {
    /// Counts the project's cases.
    pub fn take() -> Self {
        let mut census = Self::default();
        for shader in census::shaders("dxil") {
            let container = Container::parse(&shader.bytes);
            let module = container.and_then(|container| modules::program(&container));
            let (_, module) = module.unwrap_or_else(|error| panic!("{}: {error}", shader.path.display()));
            let mut held = BTreeSet::new();
            for function in reached(&module, shader.entry.as_deref()) {
                if let Some(body) = &module.functions[function.index()].body {
                    hold(&module, body, &mut held);
                }
            }
            for held in held {
                let (counts, ty) = match held {
                    Held::Operation(number, ty) => (census.operations.entry(number).or_default(), ty),
                    Held::Instruction(name, ty) => (census.instructions.entry(name).or_default(), ty),
                };
                *counts.entry(ty).or_default() += shader.cases;
            }
        }
        census
    }
}

/// The functions that an entry point runs; all if it has no name.
fn reached(module: &Module, entry: Option<&str>) -> BTreeSet<FunctionId> {
    let records = EntryRecord::all(module, Stage::Library).unwrap();
    let named = records.iter().filter(|record| entry.is_none_or(|entry| record.name == entry));
    let mut found = BTreeSet::new();
    let mut open =
        named.flat_map(|record| [Some(record.function), record.patch_constant_function]).flatten().collect::<Vec<_>>();
    while let Some(function) = open.pop() {
        if found.insert(function)
            && let Some(body) = &module.functions[function.index()].body
        {
            open.extend(body.instructions.iter().filter_map(|instruction| match instruction.op {
                Operation::Call { callee, .. } => Some(callee),
                _ => None,
            }));
        }
    }
    found
}

/// Adds what a function holds.
fn hold(module: &Module, body: &Body, held: &mut BTreeSet<Held>) {
    let native = reflect::is_native_16_bit(module);
    let name = |ty: TypeId| {
        let name = type_name(module, ty);
        if native || !name.contains("16") { name } else { format!("min {name}") }
    };
    let type_of = |value: ValueId| module.value(Some(body), value).map_or_else(String::new, |value| name(value.ty));
    let space = |pointer: ValueId| match module.value(Some(body), pointer).and_then(|value| module.types.get(value.ty))
    {
        Some(Type::Pointer { space: 3, .. }) => " groupshared",
        _ => "",
    };
    for instruction in &body.instructions {
        let result = || name(instruction.ty);
        let (name, ty) = match &instruction.op {
            Operation::Call { callee, arguments } => {
                let callee = &module.functions[callee.index()];
                let number = arguments.first().and_then(|number| integer(module, body, *number));
                match (callee.name.strip_prefix("dx.op."), number) {
                    (Some(name), Some(number)) => {
                        held.insert(Held::Operation(number, overload(name, native)));
                        continue;
                    }
                    _ => ("call".into(), String::new()),
                }
            }
            Operation::Binary { op, .. } => (format!("{op:?}").to_lowercase(), result()),
            Operation::Cast(op, value) => {
                (format!("{op:?}").to_lowercase(), format!("{} to {}", type_of(*value), result()))
            }
            Operation::Compare(Predicate::Float(bits), a, _) => {
                const NAMES: [&str; 16] = [
                    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "uno", "ueq", "ugt", "uge", "ult", "ule",
                    "une", "true",
                ];
                (format!("fcmp {}", NAMES[*bits as usize & 15]), type_of(*a))
            }
            Operation::Compare(predicate, a, _) => (format!("icmp {predicate:?}").to_lowercase(), type_of(*a)),
            Operation::Select { .. } => ("select".into(), result()),
            Operation::Phi(_) => ("phi".into(), result()),
            Operation::ExtractElement(..) => ("extractelement".into(), result()),
            Operation::InsertElement(..) => ("insertelement".into(), result()),
            Operation::ShuffleVector(..) => ("shufflevector".into(), result()),
            Operation::ExtractValue(..) => ("extractvalue".into(), result()),
            Operation::InsertValue(..) => ("insertvalue".into(), result()),
            Operation::Load(pointer) => (format!("load{}", space(*pointer)), result()),
            Operation::Store { pointer, value } => (format!("store{}", space(*pointer)), type_of(*value)),
            Operation::AtomicReadModifyWrite { op, value, .. } => {
                (format!("atomicrmw {op:?}").to_lowercase(), type_of(*value))
            }
            Operation::CompareExchange { value, .. } => ("cmpxchg".into(), type_of(*value)),
            Operation::Allocate { .. } => ("alloca".into(), String::new()),
            Operation::ElementPointer { .. } => ("getelementptr".into(), String::new()),
            Operation::Fence => ("fence".into(), String::new()),
            Operation::Return(_) => ("ret".into(), String::new()),
            Operation::Jump(_) | Operation::Branch { .. } => ("br".into(), String::new()),
            Operation::Switch { .. } => ("switch".into(), String::new()),
            Operation::Unreachable => ("unreachable".into(), String::new()),
        };
        held.insert(Held::Instruction(name, ty));
    }
}

/// The constant that a value is.
fn integer(module: &Module, body: &Body, value: ValueId) -> Option<u32> {
    match &module.value(Some(body), value)?.def {
        crate::dxil::module::ValueDef::Constant(crate::dxil::module::Constant::Integer(number)) => {
            u32::try_from(*number).ok()
        }
        _ => None,
    }
}

/// The type in the name of an operation's function: `f32` of `unary.f32`; nothing of `createHandle`.
fn overload(name: &str, native: bool) -> String {
    let (_, ty) = name.split_once('.').unwrap_or((name, ""));
    let (vector, scalar) = match ty.strip_prefix('v').and_then(|ty| ty.find(['f', 'i']).map(|at| ty.split_at(at))) {
        Some((lanes, scalar)) if lanes.parse::<u32>().is_ok() => (" vector", scalar),
        _ => ("", ty),
    };
    let scalar = match scalar.split_once('.') {
        Some((kind, _)) => kind,
        None => scalar,
    };
    let min = if scalar.ends_with("16") && !native { "min " } else { "" };
    format!("{min}{scalar}{vector}")
}

fn type_name(module: &Module, ty: TypeId) -> String {
    match module.types.get(ty) {
        Some(Type::Half) => "f16".into(),
        Some(Type::Float) => "f32".into(),
        Some(Type::Double) => "f64".into(),
        Some(Type::Integer(width)) => format!("i{width}"),
        Some(Type::Vector { element, .. }) => format!("{} vector", type_name(module, *element)),
        _ => String::new(),
    }
}
