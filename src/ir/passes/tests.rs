//! What tests of passes share, and a test of all of them: random functions store the same before and after.

use std::collections::HashMap;

use proptest::prelude::*;
use smallvec::SmallVec;

use super::fold;
use crate::ir::{
    BinaryOp, Block, Builder, Cfg, CompareOp, Constant, ConvertOp, Dominators, Edge, EntryPoint, Function, FunctionId,
    Module, Op, Scalar, Terminator, Type, Value, ValueDef, Variable, VariableId, VariableSpace, WaveOp, text, verify,
    verify::tests::interface,
};

/// Applies a pass to a module in the text form, and compares.
#[track_caller]
pub(super) fn check<R>(pass: impl FnOnce(&mut Module) -> R, before: &str, after: &str) {
    let mut module = text::parse(before).unwrap();
    pass(&mut module);
    let found = module.to_string();
    assert!(found == after, "found:\n{found}\nexpected:\n{after}");
}

/// Applies a pass to the only function of a module.
#[track_caller]
pub(super) fn check_function<R>(pass: impl FnOnce(&mut Function) -> R, before: &str, after: &str) {
    check(|module| pass(&mut module.functions[0]), before, after);
}

/// Stores after which a run is cut off.
const STORES: usize = 100;

/// The stored results of a run of a module's first function. Choices that lanes make are random, but the same between
/// the same stores, so that what passes remove and merge does not change them.
fn run(module: &Module, seed: u64) -> Vec<SmallVec<[u64; 4]>> {
    let function = &module.functions[0];
    let mut values: HashMap<Value, SmallVec<[u64; 4]>> = HashMap::new();
    let mut variable: Vec<SmallVec<[u64; 4]>> = vec![SmallVec::from_elem(0, 1); 2];
    let mut stores = Vec::new();
    let mut block = function.entry;
    // Steps are counted too: passes may leave endless loops that do nothing.
    for _ in 0..STORES * 20 {
        for &value in &function.blocks[block.index()].insts {
            let get = |value: Value| match &function.values[value.index()].def {
                ValueDef::Constant(constant) => constant.0.clone(),
                _ => values[&value].clone(),
            };
            let random = seed.wrapping_add(stores.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            let lanes = |a: Value, b: Value, f: &dyn Fn(Scalar, u64, u64) -> u64| {
                let scalar = function.ty(a).scalar().unwrap();
                get(a).iter().zip(&get(b)).map(|(a, b)| f(scalar, *a, *b)).collect()
            };
            let result = match function.op(value).unwrap() {
                Op::IsHelperLane => SmallVec::from_elem(random & 1, 1),
                Op::Wave(WaveOp::LaneIndex, _) => SmallVec::from_elem(random >> 1 & 3, 1),
                &Op::Binary(op, a, b) => lanes(a, b, &|scalar, a, b| fold::binary(op, scalar, a, b).unwrap()),
                &Op::Compare(op, a, b) => lanes(a, b, &|scalar, a, b| fold::compare(op, scalar, a, b).unwrap().into()),
                &Op::Unary(op, a) => {
                    let scalar = function.ty(a).scalar().unwrap();
                    get(a).iter().map(|a| fold::unary(op, scalar, *a).unwrap()).collect()
                }
                &Op::Convert(op, a) => {
                    let (from, to) = (function.ty(a).scalar().unwrap(), function.ty(value).scalar().unwrap());
                    get(a).iter().map(|a| fold::convert(op, from, to, *a).unwrap()).collect()
                }
                &Op::Select { condition, accept, reject } => get(if get(condition)[0] != 0 { accept } else { reject }),
                Op::Compose(lanes) => lanes.iter().map(|lane| get(*lane)[0]).collect(),
                &Op::Extract(vector, lane) => SmallVec::from_elem(get(vector)[lane as usize], 1),
                Op::Swizzle(vector, order) => {
                    let from = get(*vector);
                    order.iter().map(|lane| from[*lane as usize]).collect()
                }
                &Op::LoadVariable { index, .. } => variable[get(index)[0] as usize].clone(),
                &Op::StoreVariable { variable: VariableId(1), index, value, .. } => {
                    variable[get(index)[0] as usize] = get(value);
                    SmallVec::new()
                }
                &Op::StoreVariable { value, .. } => {
                    stores.push(get(value));
                    if stores.len() == STORES {
                        return stores;
                    }
                    SmallVec::new()
                }
                op => panic!("not in these functions: {op:?}"),
            };
            values.insert(value, result);
        }
        let get = |value: Value| match &function.values[value.index()].def {
            ValueDef::Constant(constant) => constant.0[0],
            _ => values[&value][0],
        };
        let edge = match &function.blocks[block.index()].terminator {
            Terminator::Jump(edge) => edge,
            Terminator::Branch { condition, accept, reject } => {
                if get(*condition) != 0 {
                    accept
                } else {
                    reject
                }
            }
            Terminator::Switch { selector, cases, default } => {
                cases.iter().find(|case| case.0 == get(*selector)).map_or(default, |case| &case.1)
            }
            Terminator::Return(_) => return stores,
            Terminator::Unreachable => panic!("reached the unreachable"),
        };
        let args: Vec<_> = edge
            .args
            .iter()
            .map(|arg| match &function.values[arg.index()].def {
                ValueDef::Constant(Constant(lanes)) => lanes.clone(),
                _ => values[arg].clone(),
            })
            .collect();
        values.extend(function.blocks[edge.block.index()].params.iter().copied().zip(args));
        block = edge.block;
    }
    stores
}

/// A random module of one function: `blocks` gives each block's terminator, targets and picks of operands.
fn random_module(blocks: &[(u8, [u8; 4], [u8; 32])]) -> Module {
    let count = blocks.len();
    let mut function = Function::new("random", Type::Void);
    for (_, targets, _) in &blocks[1..] {
        let block = function.add_block();
        for _ in 0..targets[3] % 4 {
            function.add_param(block, Type::I32);
        }
    }
    let mut made: Vec<Vec<Value>> = vec![Vec::new(); count];
    for (index, (kind, targets, _)) in blocks.iter().enumerate() {
        let mut builder = Builder::new(&mut function, Block(index as u32));
        let condition = builder.push(Op::IsHelperLane, Type::BOOL);
        let selector = builder.push(Op::Wave(WaveOp::LaneIndex, SmallVec::new()), Type::I32);
        made[index].push(selector);
        let to = |target: u8| Edge::new(Block(1 + u32::from(target) % (count as u32 - 1).max(1)));
        builder.terminate(match kind % 8 {
            _ if count == 1 => Terminator::Return(None),
            0 => Terminator::Return(None),
            1 | 2 => Terminator::Jump(to(targets[0])),
            3..=6 => Terminator::Branch { condition, accept: to(targets[0]), reject: to(targets[1]) },
            _ => Terminator::Switch {
                selector,
                cases: vec![(0, to(targets[0])), (2, to(targets[1]))],
                default: to(targets[2]),
            },
        });
    }
    let cfg = Cfg::new(&function);
    let dominators = Dominators::new(&function, &cfg);
    let constants = [0, 1, 7, u32::MAX].map(|number| function.i32(number));
    let lane = made[0][0];
    for block in dominators.preorder(function.entry) {
        let mut seen = constants.to_vec();
        seen.extend([lane, lane]);
        let mut at = Some(block);
        while let Some(above) = at {
            seen.extend(&function.blocks[above.index()].params);
            seen.extend(&made[above.index()]);
            at = dominators.immediate(above);
        }
        let (kind, _, picks) = &blocks[block.index()];
        let kind = *kind;
        let mut picks = picks.iter().cycle().map(|pick| *pick as usize);
        // What is near is picked more often, and what all have: so that blocks compute the same.
        let mut pick = |seen: &[Value]| {
            let number = picks.next().unwrap_or(0);
            match number % 4 {
                0 => seen[seen.len() - 1 - number / 4 % seen.len().min(4)],
                1 | 2 => seen[number / 4 % seen.len().min(6)],
                _ => seen[number / 4 % seen.len()],
            }
        };
        let mut terminator = std::mem::replace(&mut function.blocks[block.index()].terminator, Terminator::Unreachable);
        let mut builder = Builder::new(&mut function, block);
        let (variable, zero) = (VariableId(1), constants[0]);
        let params = builder.function.blocks[block.index()].params.clone();
        let mut vector = None;
        for step in 0..3 {
            let (mut a, mut b, c) = (pick(&seen), pick(&seen), pick(&seen));
            let value = match (kind / 8 + step * (kind >> 6)) % 6 {
                0 => builder.binary(BinaryOp::IMul, a, b),
                1 => {
                    let less = builder.compare(CompareOp::SLt, a, b);
                    let mask = builder.convert(ConvertOp::SExt, less, Scalar::I32);
                    builder.binary(BinaryOp::And, mask, c)
                }
                2 => {
                    if let [first, second, ..] = params[..] {
                        (a, b) = (first, second);
                    }
                    let (x, y) = (builder.compose(&[a, b]), builder.compose(&[b, c]));
                    let sum = builder.binary(BinaryOp::IAdd, x, y);
                    let (first, second) = (builder.extract(sum, 0), builder.extract(sum, 1));
                    vector = Some([first, second]);
                    seen.push(second);
                    first
                }
                3 => {
                    builder.effect(Op::StoreVariable { variable, index: zero, component: None, value: a });
                    builder.binary(BinaryOp::Xor, b, c)
                }
                4 => builder.push(Op::LoadVariable { variable, index: zero, component: None }, Type::I32),
                _ => {
                    let equal = builder.compare(CompareOp::IEq, a, b);
                    builder.select(equal, c, a)
                }
            };
            seen.push(value);
            made[block.index()].push(value);
        }
        let value = pick(&seen);
        builder.effect(Op::StoreVariable { variable: VariableId(0), index: zero, component: None, value });
        if let Terminator::Branch { condition, .. } = &mut terminator
            && kind & 64 != 0
        {
            let (a, b) = (pick(&seen), pick(&seen));
            *condition = builder.compare(CompareOp::INe, a, b);
        }
        for edge in terminator.edges_mut() {
            let count = builder.function.blocks[edge.block.index()].params.len();
            edge.args = (0..count).map(|_| pick(&seen)).collect();
            // Often vectors travel in order.
            if count > 1 && pick(&seen) != constants[0] {
                let lanes = vector.unwrap_or(if let [first, second, ..] = params[..] {
                    [first, second]
                } else {
                    [constants[1], constants[2]]
                });
                edge.args[..2].copy_from_slice(&lanes);
            }
        }
        builder.terminate(terminator);
    }
    let variable = |name: &str, space| Variable { name: name.into(), space, element: Type::I32, len: 1, initial: None };
    Module {
        functions: vec![function],
        variables: vec![variable("out", VariableSpace::GroupShared), variable("local", VariableSpace::Thread)],
        entry_points: vec![EntryPoint {
            stage: crate::reflection::Stage::Compute,
            function: FunctionId(0),
            patch_constant_functions: Vec::new(),
        }],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn functions_store_the_same(
        blocks in prop::collection::vec(any::<(u8, [u8; 4], [u8; 32])>(), 1..10),
        seed in any::<u64>(),
    ) {
        let before = random_module(&blocks);
        verify(&before, &interface()).unwrap();
        let mut after = before.clone();
        super::optimize(&mut after, &interface()).unwrap();
        for seed in [seed, !seed, seed ^ 1] {
            prop_assert_eq!(run(&before, seed), run(&after, seed), "{}\n{}", before, after);
        }
        super::flatten(&mut after.functions[0]);
        verify(&after, &interface()).unwrap();
        prop_assert_eq!(run(&before, seed), run(&after, seed), "{}\n{}", before, after);
    }
}
