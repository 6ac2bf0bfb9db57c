//! Turns choices of resources into choices of operations: naga's resources are globals, and elements of arrays of globals.

use std::collections::{BTreeSet, HashMap, HashSet};

use smallvec::SmallVec;

use super::replace::Replacements;
use crate::{
    Error, Result,
    ir::{
        Block, Builder, CompareOp, Edge, Effect, Function, FunctionId, Inst, Module, Op, Terminator, Type, Value,
        ValueDef,
    },
};

/// Operations of a module that choices may become, for files that choose among very many resources.
const MAX_OPERATIONS: usize = 1 << 16;

/// Values that are looked through for the numbers that one may have.
const MAX_STEPS: usize = 4096;

/// The module has choices.
pub fn has_choices(module: &Module) -> bool {
    let mut functions = module.functions.iter();
    functions.any(|function| function.values.iter().any(|value| is_choice(&value.def)))
}

fn is_choice(def: &ValueDef) -> bool {
    matches!(def, ValueDef::Inst(Inst { op: Op::ChooseHandle { .. } | Op::ChooseRayQuery { .. }, .. }))
}

/// Guarantees that no resource and no ray query is chosen at run time ([`Op::ChooseHandle`], [`Op::ChooseRayQuery`]): an
/// operation on one is a switch over operations on each that it may be. Where only one may be, because its number is a constant whichever way control took
/// and whoever called, the operation is on that one.
///
/// Operations that look at other lanes stay where they are, once for each resource, and their results are chosen:
/// lanes that choose differently are still neighbours.
///
/// # Errors
/// Very many operations would come of it.
pub fn resolve_choices(module: &mut Module) -> Result<()> {
    for index in 0..module.functions.len() {
        narrow(module, index);
    }
    let mut made = 0;
    for function in &mut module.functions {
        if function.values.iter().any(|value| is_choice(&value.def)) {
            resolve(function, &mut made).map_err(|error| error.in_function(function.name.clone()))?;
        }
    }
    Ok(())
}

/// Takes out of each choice what it cannot be, and replaces choices among one.
fn narrow(module: &mut Module, index: usize) {
    let choices: Vec<(Value, Value)> = (0..module.functions[index].values.len() as u32)
        .filter_map(|value| match module.functions[index].op(Value(value)) {
            Some(Op::ChooseHandle { which, .. } | Op::ChooseRayQuery { which, .. }) => Some((Value(value), *which)),
            _ => None,
        })
        .collect();
    if choices.is_empty() {
        return;
    }
    let mut flow = Flow::default();
    let known: Vec<Option<BTreeSet<u32>>> =
        choices.iter().map(|&(_, which)| flow.numbers(module, index, which)).collect();
    let function = &mut module.functions[index];
    let mut replacements = Replacements::new(function);
    for ((value, _), known) in choices.into_iter().zip(known) {
        let ValueDef::Inst(Inst { op, .. }) = &mut function.values[value.index()].def else { continue };
        let is_known = |number: u32| known.as_ref().is_none_or(|known| known.contains(&number));
        match op {
            Op::ChooseHandle { choices, .. } => {
                if choices.iter().any(|choice| is_known(choice.0)) {
                    choices.retain(|choice| is_known(choice.0));
                }
                if let [(_, only)] = choices[..] {
                    replacements.set(value, only);
                    function.values[value.index()].def = ValueDef::Removed;
                    for block in &mut function.blocks {
                        block.insts.retain(|&inst| inst != value);
                    }
                }
            }
            Op::ChooseRayQuery { queries, op: chosen, .. } => {
                if queries.iter().any(|&query| is_known(query)) {
                    queries.retain(|query| is_known(*query));
                }
                if let [only] = queries[..] {
                    *op = of_query(chosen, only);
                }
            }
            _ => {}
        }
    }
    replacements.apply(function);
}

/// A call: which function makes it, and the arguments.
type Caller = (usize, Vec<Value>);

/// Where values come from.
#[derive(Default)]
struct Flow {
    /// What edges bring for parameters of blocks, by function.
    brought: HashMap<usize, HashMap<Value, Vec<Value>>>,
    /// Callers of each function, with the arguments.
    calls: Option<HashMap<FunctionId, Vec<Caller>>>,
}

impl Flow {
    /// The numbers that a value may have, if all are constants.
    fn numbers(&mut self, module: &Module, function: usize, value: Value) -> Option<BTreeSet<u32>> {
        let mut numbers = BTreeSet::new();
        let mut seen = HashSet::new();
        let mut work = vec![(function, value)];
        while let Some((index, value)) = work.pop() {
            if !seen.insert((index, value)) {
                continue;
            }
            if seen.len() > MAX_STEPS || work.len() > MAX_STEPS {
                return None;
            }
            let function = &module.functions[index];
            if let Some(number) = function.as_scalar_constant(value) {
                numbers.insert(number as u32);
                continue;
            }
            match &function.values[value.index()].def {
                ValueDef::Inst(Inst { op: Op::Select { accept, reject, .. }, .. }) => {
                    work.extend([(index, *accept), (index, *reject)]);
                }
                ValueDef::Param(block) if *block == function.entry => {
                    let position = function.blocks[block.index()].params.iter().position(|&param| param == value)?;
                    for (caller, args) in self.callers(module, index)? {
                        work.push((*caller, *args.get(position)?));
                    }
                }
                ValueDef::Param(_) => {
                    let brought = self.brought.entry(index).or_insert_with(|| brought(function));
                    work.extend(brought.get(&value)?.iter().map(|&arg| (index, arg)));
                }
                _ => return None,
            }
        }
        Some(numbers)
    }

    fn callers(&mut self, module: &Module, index: usize) -> Option<&Vec<Caller>> {
        let calls = self.calls.get_or_insert_with(|| {
            let mut calls: HashMap<FunctionId, Vec<Caller>> = HashMap::new();
            for (caller, function) in module.functions.iter().enumerate() {
                for op in function.blocks.iter().flat_map(|block| &block.insts).filter_map(|&inst| function.op(inst)) {
                    if let Op::Call(callee, args) = op {
                        calls.entry(*callee).or_default().push((caller, args.to_vec()));
                    }
                }
            }
            calls
        });
        calls.get(&FunctionId(index as u32))
    }
}

/// What edges bring for each parameter of a block.
fn brought(function: &Function) -> HashMap<Value, Vec<Value>> {
    let mut brought: HashMap<Value, Vec<Value>> = HashMap::new();
    for edge in function.blocks.iter().flat_map(|block| block.terminator.edges()) {
        for (&param, &arg) in function.blocks[edge.block.index()].params.iter().zip(&edge.args) {
            brought.entry(param).or_default().push(arg);
        }
    }
    brought
}

/// A choice that an operation makes.
struct Choice {
    /// The number that it is chosen by.
    which: Value,
    /// What is chosen.
    among: Among,
}

enum Among {
    /// An operand, a handle.
    Handles { operand: Value, handles: SmallVec<[(u32, Value); 4]> },
    /// The query that an operation works on.
    Queries { op: Box<Op>, queries: SmallVec<[u32; 4]> },
}

impl Choice {
    /// Numbers, and the operation that each stands for.
    fn operations(&self, op: &Op) -> Vec<(u32, Op)> {
        match &self.among {
            Among::Handles { operand, handles } => {
                handles.iter().map(|&(number, handle)| (number, on(op, *operand, handle))).collect()
            }
            Among::Queries { op, queries } => queries.iter().map(|&query| (query, of_query(op, query))).collect(),
        }
    }
}

/// The first choice that an operation makes.
fn choice_of(function: &Function, op: &Op) -> Option<Choice> {
    let mut found = None;
    match op {
        Op::ChooseHandle { .. } => {}
        Op::ChooseRayQuery { which, queries, op } => {
            found = Some(Choice { which: *which, among: Among::Queries { op: op.clone(), queries: queries.clone() } });
        }
        _ => op.for_each_operand(|operand| {
            if found.is_none()
                && let Some(Op::ChooseHandle { which, choices }) = function.op(operand)
            {
                let among = Among::Handles { operand, handles: choices.clone() };
                found = Some(Choice { which: *which, among });
            }
        }),
    }
    found
}

fn resolve(function: &mut Function, made: &mut usize) -> Result<()> {
    let mut work: Vec<Block> = (0..function.blocks.len() as u32).map(Block).collect();
    while let Some(block) = work.pop() {
        let mut at = 0;
        while let Some(&value) = function.blocks[block.index()].insts.get(at) {
            let op = function.op(value).cloned();
            let Some((op, choice)) = op.and_then(|op| choice_of(function, &op).map(|choice| (op, choice))) else {
                at += 1;
                continue;
            };
            let mut operations = choice.operations(&op);
            *made += operations.len();
            if *made > MAX_OPERATIONS {
                return Err(Error::unsupported("choices among very many resources"));
            }
            match &choice.among {
                _ if operations.len() <= 1 => {
                    let (_, only) = operations.pop().ok_or_else(|| Error::internal("choice among nothing"))?;
                    if let ValueDef::Inst(inst) = &mut function.values[value.index()].def {
                        inst.op = only;
                    }
                }
                // The operations for each stand from here on, and may choose again.
                Among::Handles { operand, handles } if op.effect() == Effect::Convergent => {
                    evaluate_all(function, block, at, value, choice.which, (*operand, handles));
                }
                _ => {
                    work.extend(switch(function, block, at, value, choice.which, operations));
                    break;
                }
            }
        }
    }
    // Nothing uses them now.
    for index in 0..function.values.len() {
        if is_choice(&function.values[index].def) {
            function.values[index].def = ValueDef::Removed;
        }
    }
    let Function { blocks, values, .. } = function;
    for block in blocks {
        block.insts.retain(|inst| values[inst.index()].def != ValueDef::Removed);
    }
    Ok(())
}

/// The operation with one resource for the chosen one.
fn on(op: &Op, operand: Value, handle: Value) -> Op {
    let mut op = op.clone();
    op.for_each_operand_mut(|value| {
        if *value == operand {
            *value = handle;
        }
    });
    op
}

/// The operation on a ray query.
fn of_query(op: &Op, number: u32) -> Op {
    let mut op = op.clone();
    if let Op::RayQuery { query, .. } | Op::LoadRayQuery { query, .. } = &mut op {
        *query = number;
    }
    op
}

/// Splits a block at an operation, and switches there over several in its place. Gives the new blocks.
fn switch(
    function: &mut Function,
    block: Block,
    at: usize,
    value: Value,
    which: Value,
    operations: Vec<(u32, Op)>,
) -> Vec<Block> {
    let ty = function.ty(value);
    let Some(&Inst { precise, origin, .. }) = function.inst(value) else { return Vec::new() };
    let merge = function.add_block();
    let rest = function.blocks[block.index()].insts.split_off(at);
    function.blocks[merge.index()].insts = rest[1..].to_vec();
    function.blocks[merge.index()].terminator =
        std::mem::replace(&mut function.blocks[block.index()].terminator, Terminator::Unreachable);
    if ty == Type::Void {
        function.values[value.index()].def = ValueDef::Removed;
    } else {
        function.values[value.index()].def = ValueDef::Param(merge);
        function.blocks[merge.index()].params.push(value);
    }
    let mut blocks = vec![merge];
    let mut numbers = Vec::with_capacity(operations.len());
    for (number, op) in operations {
        numbers.push(number);
        let arm = function.add_block();
        let def = ValueDef::Inst(Inst { op, precise, origin });
        let result = function.add_value(def, ty);
        function.blocks[arm.index()].insts.push(result);
        let args: &[Value] = if ty == Type::Void { &[] } else { &[result] };
        Builder::new(function, arm).jump(merge, args);
        blocks.push(arm);
    }
    let arms = &blocks[1..];
    let mut build = Builder::new(function, block);
    match *arms {
        [accept, reject] => {
            let condition = equals(&mut build, which, numbers[0]);
            build.branch(condition, accept, reject);
        }
        _ => {
            let numbers = numbers.into_iter().map(u64::from);
            let mut cases: Vec<(u64, Edge)> = numbers.zip(arms.iter().map(|&arm| Edge::new(arm))).collect();
            if let Some((_, default)) = cases.pop() {
                build.terminate(Terminator::Switch { selector: which, cases, default });
            }
        }
    }
    blocks
}

/// Does an operation on each of several resources, and chooses among the results.
fn evaluate_all(
    function: &mut Function,
    block: Block,
    at: usize,
    value: Value,
    which: Value,
    (operand, handles): (Value, &[(u32, Value)]),
) {
    let ty = function.ty(value);
    let ValueDef::Inst(inst) = function.values[value.index()].def.clone() else { return };
    let rest = function.blocks[block.index()].insts.split_off(at);
    let mut build = Builder::new(function, block);
    (build.precise, build.origin) = (inst.precise, inst.origin);
    let mut results: SmallVec<[(Value, Value); 4]> = SmallVec::new();
    for &(number, handle) in handles {
        let is_chosen = equals(&mut build, which, number);
        // The element belongs to the number: what is not chosen may have no such element.
        let handle = match build.function.op(handle) {
            Some(&Op::Handle { binding, index, non_uniform }) if build.function.as_scalar_constant(index).is_none() => {
                let zero = build.i32(0);
                let index = build.select(is_chosen, index, zero);
                build.push(Op::Handle { binding, index, non_uniform }, Type::Handle)
            }
            _ => handle,
        };
        results.push((is_chosen, build.push(on(&inst.op, operand, handle), ty)));
    }
    let [(_, mut chosen), ref middle @ .., (condition, accept)] = results[..] else { return };
    for &(is_chosen, result) in middle {
        chosen = build.select(is_chosen, result, chosen);
    }
    // The last selection keeps the operation's value.
    let op = Op::Select { condition, accept, reject: chosen };
    function.values[value.index()].def = ValueDef::Inst(Inst { op, ..inst });
    let insts = &mut function.blocks[block.index()].insts;
    insts.push(value);
    insts.extend_from_slice(&rest[1..]);
}

/// The number is this one. A selection of two numbers tells by its condition.
fn equals(build: &mut Builder<'_>, which: Value, number: u32) -> Value {
    if let Some(&Op::Select { condition, accept, reject }) = build.function.op(which)
        && build.function.ty(condition) == Type::BOOL
        && let (Some(accept), Some(reject)) =
            (build.function.as_scalar_constant(accept), build.function.as_scalar_constant(reject))
        && accept != reject
    {
        if accept == u64::from(number) {
            return condition;
        }
        if reject == u64::from(number) {
            return build.unary(crate::ir::UnaryOp::Not, condition);
        }
    }
    let number = build.i32(number);
    build.compare(CompareOp::IEq, which, number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::passes::tests::check;

    fn resolved(before: &str, after: &str) {
        check(|module| resolve_choices(module).unwrap(), before, after);
    }

    #[test]
    fn operations_are_chosen() {
        resolved(
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: i32 = wave lane_index
    %1: handle = handle binding0, i32(0)
    %2: handle = handle binding1, i32(0)
    %3: handle = choose_handle %0, 0, %1, 1, %2
    %4: i32 = load_buffer %3, byte: %0
    store_buffer %1, byte: %0, %4
    return
}
"#,
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: i32 = wave lane_index
    %1: handle = handle binding0, i32(0)
    %2: handle = handle binding1, i32(0)
    %9: bool = i_eq %0, i32(0)
    branch %9, block2, block3
block1(%4: i32):
    store_buffer %1, byte: %0, %4
    return
block2:
    %7: i32 = load_buffer %1, byte: %0
    jump block1(%7)
block3:
    %8: i32 = load_buffer %2, byte: %0
    jump block1(%8)
}
"#,
        );
    }

    #[test]
    fn numbers_that_are_known_choose_nothing() {
        resolved(
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    call function1, i32(2), i32(3)
    call function1, i32(2), i32(4)
    return
}

function1 "helper" -> void, entry block0 {
block0(%0: i32, %1: i32):
    %2: handle = handle binding0, %1
    %3: handle = handle binding1, %1
    %4: handle = handle binding2, %1
    %5: handle = choose_handle %0, 0, %2, 1, %3, 2, %4
    store_buffer %5, byte: i32(0), i32(7)
    return
}
"#,
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    call function1, i32(2), i32(3)
    call function1, i32(2), i32(4)
    return
}

function1 "helper" -> void, entry block0 {
block0(%0: i32, %1: i32):
    %2: handle = handle binding0, %1
    %3: handle = handle binding1, %1
    %4: handle = handle binding2, %1
    store_buffer %4, byte: i32(0), i32(7)
    return
}
"#,
        );
    }

    #[test]
    fn queries_are_chosen() {
        resolved(
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: i32 = wave lane_index
    %1: bool = choose_ray_query %0, query0, query1, query2, ray_query, proceed, query0
    %2: i32 = choose_ray_query i32(1), query0, query1, load_ray_query, kind, query0, 0
    return
}
"#,
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: i32 = wave lane_index
    switch %0, 0: block2, 1: block3, default: block4
block1(%1: bool):
    %2: i32 = load_ray_query kind, query1, 0
    return
block2:
    %4: bool = ray_query proceed, query0
    jump block1(%4)
block3:
    %5: bool = ray_query proceed, query1
    jump block1(%5)
block4:
    %6: bool = ray_query proceed, query2
    jump block1(%6)
}
"#,
        );
    }

    #[test]
    fn neighbours_take_part_whatever_they_choose() {
        resolved(
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: i32 = wave lane_index
    %1: handle = handle binding0, i32(0)
    %2: handle = handle binding1, %0
    %3: handle = handle binding2, i32(0)
    %4: handle = choose_handle %0, 0, %1, 1, %2
    %5: f32 = calculate_lod %4, %3, f32x2(0.5, 0.25), clamped
    store_output output, element0, i32(0), 0, %5
    return
}
"#,
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: i32 = wave lane_index
    %1: handle = handle binding0, i32(0)
    %2: handle = handle binding1, %0
    %3: handle = handle binding2, i32(0)
    %9: bool = i_eq %0, i32(0)
    %10: f32 = calculate_lod %1, %3, f32x2(0.5, 0.25), clamped
    %12: bool = i_eq %0, i32(1)
    %13: i32 = select %12, %0, i32(0)
    %14: handle = handle binding1, %13
    %15: f32 = calculate_lod %14, %3, f32x2(0.5, 0.25), clamped
    %5: f32 = select %12, %15, %10
    store_output output, element0, i32(0), 0, %5
    return
}
"#,
        );
    }
}
