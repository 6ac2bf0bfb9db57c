//! Which operations and LLVM instructions the value cases hold, by type: every one that a driver can run must be in one.

use std::collections::{BTreeMap, BTreeSet};

use super::{coverage, opcode};
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

/// The types that finished modules use an operation with: those that `DxilOperations.cpp` of DirectXShaderCompiler allows, without those that no HLSL
/// gives (8-bit integers, comparisons of textures in halves, bools as reductions' operands).
fn overloads(number: u32) -> &'static [&'static str] {
    match number {
        6 | 7 | 35 | 36 | 46 => &["f16", "f32", "f64"],
        8..=29 | 54..=56 | 60..=63 | 74 | 83..=89 => &["f16", "f32"],
        30..=34 | 37..=40 | 48 | 49 | 120 => &["i16", "i32", "i64"],
        41..=45 | 50..=53 => &["i32"],
        47 | 101 | 102 => &["f64"],
        4 | 5 | 66..=69 | 73 | 171 | 172 => &["f16", "f32", "i16", "i32"],
        59 | 119 | 121 | 123 | 139 | 140 | 165 | 166 => &["f16", "f32", "f64", "i16", "i32", "i64"],
        64 | 65 | 224 | 254 | 255 => &["f32"],
        // 64-bit words of buffers have no lowering yet: naga's arrays of atomics have one width.
        78 | 79 => &["i32"],
        115 | 117 | 118 => &["f16", "f32", "f64", "i1", "i16", "i32", "i64"],
        122 => &["f16", "f32", "f64", "i16", "i32", "i64"],
        219 | 220 => &["i16", "i32"],
        303 | 304 => &["f16 vector", "f32 vector", "f64 vector", "i16 vector", "i32 vector", "i64 vector"],
        309 | 310 => &["i1 vector"],
        311 => &["f16 vector", "f32 vector"],
        _ => &[],
    }
}

/// Why no driver that the project is tested with (lavapipe 25, SwiftShader) can run an operation that is lifted.
pub fn not_run(number: u32) -> Option<&'static str> {
    Some(match number {
        92 | 137 => "lavapipe has no barycentrics",
        99 => "dxc writes an emission and a cut instead",
        141..=159 | 161 | 213 => "wgpu has no ray tracing pipelines",
        183 | 190 => "wgpu builds no acceleration structures of boxes",
        262..=289 => "wgpu has no ray tracing pipelines, of which hit objects are part",
        _ => return None,
    })
}

/// LLVM instructions and the types that HLSL makes them of.
pub const INSTRUCTIONS: &[(&str, &[&str])] = &[
    ("fadd", FLOATS),
    ("fsub", FLOATS),
    ("fmul", FLOATS),
    ("fdiv", FLOATS),
    ("frem", &["f16", "f32"]),
    ("add", INTEGERS),
    ("sub", INTEGERS),
    ("mul", INTEGERS),
    ("sdiv", INTEGERS),
    ("udiv", INTEGERS),
    ("srem", INTEGERS),
    ("urem", INTEGERS),
    ("shl", INTEGERS),
    ("lshr", INTEGERS),
    ("ashr", INTEGERS),
    ("and", INTEGERS_AND_BOOL),
    ("or", INTEGERS_AND_BOOL),
    ("xor", INTEGERS_AND_BOOL),
    ("icmp eq", INTEGERS),
    ("icmp ne", INTEGERS),
    ("icmp sgt", INTEGERS),
    ("icmp sge", INTEGERS),
    ("icmp slt", INTEGERS),
    ("icmp sle", INTEGERS),
    ("icmp ugt", INTEGERS),
    ("icmp uge", INTEGERS),
    ("icmp ult", INTEGERS),
    ("icmp ule", INTEGERS),
    ("fcmp oeq", FLOATS),
    ("fcmp une", FLOATS),
    ("fcmp olt", FLOATS),
    ("fcmp ole", FLOATS),
    ("fcmp ogt", FLOATS),
    ("fcmp oge", FLOATS),
    ("fcmp ult", FLOATS),
    ("fcmp ule", FLOATS),
    ("fcmp ugt", FLOATS),
    ("fcmp uge", FLOATS),
    ("trunc", &["i32 to i16", "i64 to i16", "i64 to i32"]),
    ("zext", &["i1 to i16", "i1 to i32", "i1 to i64", "i16 to i32", "i16 to i64", "i32 to i64"]),
    ("sext", &["i16 to i32", "i16 to i64", "i32 to i64"]),
    ("fptosi", TO_INTEGERS),
    ("fptoui", TO_INTEGERS),
    ("sitofp", FROM_INTEGERS),
    ("uitofp", FROM_INTEGERS),
    ("fptrunc", &["f32 to f16", "f64 to f16", "f64 to f32"]),
    ("fpext", &["f16 to f32", "f16 to f64", "f32 to f64"]),
    ("select", ALL),
    ("phi", ALL),
    ("load", &["f16", "f32", "f64", "i16", "i32", "i64"]),
    ("store", &["f16", "f32", "f64", "i16", "i32", "i64"]),
    ("load groupshared", &["f16", "f32", "f64", "i16", "i32", "i64"]),
    ("store groupshared", &["f16", "f32", "f64", "i16", "i32", "i64"]),
    ("atomicrmw exchange", &["i32", "i64"]),
    ("atomicrmw add", &["i32", "i64"]),
    ("atomicrmw and", &["i32", "i64"]),
    ("atomicrmw or", &["i32", "i64"]),
    ("atomicrmw xor", &["i32", "i64"]),
    ("atomicrmw max", &["i32", "i64"]),
    ("atomicrmw min", &["i32", "i64"]),
    ("atomicrmw umax", &["i32", "i64"]),
    ("atomicrmw umin", &["i32", "i64"]),
    ("cmpxchg", &["i32", "i64"]),
    ("switch", &[]),
    ("br", &[]),
    ("call", &[]),
    ("alloca", &[]),
    ("getelementptr", &[]),
    ("extractelement", &[]),
    ("insertelement", &[]),
    ("shufflevector", &[]),
];

const FLOATS: &[&str] = &["f16", "f32", "f64"];
const INTEGERS: &[&str] = &["i16", "i32", "i64"];
const INTEGERS_AND_BOOL: &[&str] = &["i1", "i16", "i32", "i64"];
const ALL: &[&str] = &["f16", "f32", "f64", "i1", "i16", "i32", "i64"];
const TO_INTEGERS: &[&str] = &[
    "f16 to i16",
    "f16 to i32",
    "f16 to i64",
    "f32 to i16",
    "f32 to i32",
    "f32 to i64",
    "f64 to i16",
    "f64 to i32",
    "f64 to i64",
];
const FROM_INTEGERS: &[&str] = &[
    "i16 to f16",
    "i16 to f32",
    "i16 to f64",
    "i32 to f16",
    "i32 to f32",
    "i32 to f64",
    "i64 to f16",
    "i64 to f32",
    "i64 to f64",
];

#[test]
fn what_can_run_has_a_case() {
    let census = Census::take();
    let mut missing = String::new();
    for number in 0..=311 {
        if !coverage::is_lifted(number) {
            continue;
        }
        let counts = census.operations.get(&number);
        let types = match overloads(number) {
            [] => &[""],
            types => types,
        };
        for ty in types {
            let holds = counts.is_some_and(|counts| ty.is_empty() || counts.contains_key(*ty));
            match not_run(number) {
                None if !holds => missing += &format!("{number} {} {ty}\n", opcode(number).unwrap().name),
                Some(_) if holds => missing += &format!("{number} has a case after all: `not_run` says otherwise\n"),
                _ => {}
            }
        }
    }
    for (name, types) in INSTRUCTIONS {
        let counts = census.instructions.get(*name);
        let types = if types.is_empty() { &[""][..] } else { types };
        for ty in types {
            if !counts.is_some_and(|counts| ty.is_empty() || counts.contains_key(*ty)) {
                missing += &format!("{name} {ty}\n");
            }
        }
    }
    assert!(missing.is_empty(), "no case holds:\n{missing}");
}
