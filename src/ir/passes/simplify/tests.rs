//! Rules by example, and random expressions by value.

use std::collections::HashMap;

use proptest::prelude::*;
use smallvec::SmallVec;

use super::simplify;
use crate::ir::{
    BinaryOp, Block, Builder, CompareOp, ConvertOp, Function, Op, Scalar, TernaryOp, Type, UnaryOp, Value, ValueDef,
    VariableId, WaveOp,
    passes::{fold, remove_dead_code, tests::check},
};

/// Simplifies what is stored, twice, and drops the rest.
#[track_caller]
fn stored(before: &str, after: &str) {
    let inputs = "    %0: i32 = wave lane_index\n    %1: bool = wave is_first_lane\n    %2: bool = is_helper_lane\n    \
                  %3: f32 = load_variable variable1, i32(0)\n    %4: f32x4 = load_variable variable2, i32(0)\n";
    let text = |lines: &str| {
        let lines: String = lines.lines().map(|line| format!("    {}\n", line.trim())).collect();
        format!(
            "variable0 \"out\": group_shared i32[1]\nvariable1 \"in\": group_shared f32[1]\n\
             variable2 \"in4\": group_shared f32x4[1]\n\nfunction0 \"main\" -> void, entry block0 {{\nblock0:\n{lines}    \
             return\n}}\n"
        )
    };
    let used = |lines: &str| {
        let used: String = inputs
            .lines()
            .filter(|line| {
                let name = line.trim().split(':').next();
                lines.split(|c: char| c != '%' && !c.is_ascii_digit()).any(|word| Some(word) == name)
            })
            .map(|line| format!("{line}\n"))
            .collect();
        text(&format!("{used}{lines}"))
    };
    check(
        |module| {
            for _ in 0..2 {
                simplify(&mut module.functions[0]);
                remove_dead_code(module);
            }
        },
        &text(&format!("{inputs}{before}")),
        &used(after),
    );
}

#[test]
fn masks_become_booleans() {
    stored(
        "%5: bool = f_lt %3, f32(1.0)
         %6: i32 = s_ext %5
         %7: i32 = s_ext %1
         %8: i32 = and %6, %7
         %9: bool = i_ne %8, i32(0)
         discard %9",
        "%5: bool = f_lt %3, f32(1.0)
         %13: bool = and %5, %1
         discard %13",
    );
    // The float 1.0 under a mask.
    stored(
        "%5: i32 = s_ext %1
         %6: i32 = and i32(1065353216), %5
         %7: f32 = bitcast %6
         store_variable variable1, i32(0), %7",
        "%7: f32 = select %1, f32(1.0), f32(0.0)
         store_variable variable1, i32(0), %7",
    );
    stored(
        "%5: i32 = z_ext %1
         %6: f32 = u_to_f %5
         %7: bool = f_ne %6, f32(0.0)
         discard %7",
        "discard %1",
    );
    stored(
        "%5: i32 = select %1, %0, i32(0)
         %6: bool = i_ne %5, i32(0)
         %7: bool = not %6
         %8: i32 = s_ext %7
         %9: i32 = i_neg %8
         %10: bool = i_eq %9, i32(1)
         discard %10",
        "%14: bool = i_ne %0, i32(0)
         %6: bool = and %1, %14
         %7: bool = not %6
         discard %7",
    );
}

#[test]
fn integers_and_floats() {
    stored(
        "%5: i32 = i_add i32(4), %0
         %6: i32 = i_add %5, i32(-4)
         %7: i32 = i_mad %6, i32(1), i32(0)
         %8: i32 = u_div %7, i32(8)
         %9: i32 = u_rem %8, i32(8)
         store_variable variable0, i32(0), %9",
        "%8: i32 = l_shr %0, i32(3)
         %9: i32 = and %8, i32(7)
         store_variable variable0, i32(0), %9",
    );
    stored(
        "%5: f32 = f_neg %3
         %6: f32 = f_neg %5
         %7: f32 = f_sub f32(-0.0), %6
         %8: f32 = precise f_add %6, %7
         store_variable variable1, i32(0), %8",
        "%8: f32 = precise f_sub %3, %3
         store_variable variable1, i32(0), %8",
    );
    // Nothing that can be noticed: x * 1, x + 0, x - x, !(x < y).
    let kept = "%5: f32 = f_mul %3, f32(1.0)
         %6: f32 = f_add %5, f32(0.0)
         %7: f32 = f_sub %6, %6
         %8: bool = f_lt %7, %6
         %9: bool = not %8
         discard %9";
    stored(kept, kept);
}

#[test]
fn lanes_come_from_where_they_were_made() {
    stored(
        "%5: f32x2 = swizzle %4, zy
         %6: f32 = extract %5, 0
         %7: f32 = extract %5, 1
         %8: f32x3 = compose %6, %7, %7
         store_variable variable1, i32(0), %6
         %9: f32 = dot %8, %8
         store_variable variable1, i32(0), %9",
        "%6: f32 = extract %4, 2
         %13: f32x3 = swizzle %4, zyy
         store_variable variable1, i32(0), %6
         %9: f32 = dot %13, %13
         store_variable variable1, i32(0), %9",
    );
}

#[test]
fn choices_on_constants_are_jumps() {
    let text = |terminator: &str| {
        format!(
            "function0 \"main\" -> void, entry block0 {{\nblock0:\n    %0: bool = wave is_first_lane\n    {terminator}\n\
             block1:\n    return\nblock2:\n    return\n}}\n"
        )
    };
    let becomes = |before: &str, after: &str| {
        check(|module| simplify(&mut module.functions[0]), &text(before), &text(after));
    };
    becomes("branch bool(true), block1, block2", "jump block1");
    becomes("switch i32(7), 3: block1, 7: block2, default: block1", "jump block2");
    becomes("switch i32(8), 3: block1, 7: block1, default: block2", "jump block2");
}

/// Numbers around which operations change what they do.
const NUMBERS: [u32; 12] =
    [0, 1, 2, 31, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x3f80_0000, 0xbf80_0000, 0x7f80_0000, 0x4b00_0001];

/// A random function of integers, floats and booleans that stores all it computes; the inputs come first.
fn random_function(picks: &[(u8, u8, u8, u8)]) -> (Function, usize) {
    let mut function = Function::new("random", Type::Void);
    let mut builder = Builder::new(&mut function, Block(0));
    let mut pools: HashMap<Scalar, Vec<Value>> = HashMap::new();
    for scalar in [Scalar::I32, Scalar::F32, Scalar::Bool] {
        let pool = pools.entry(scalar).or_default();
        for _ in 0..2 {
            pool.push(builder.push(Op::Wave(WaveOp::ReadLaneFirst, SmallVec::new()), Type::Scalar(scalar)));
        }
        for number in NUMBERS {
            let bits = if scalar == Scalar::Bool { number & 1 } else { number };
            pool.push(builder.function.constant(Type::Scalar(scalar), &[bits.into()]));
        }
    }
    let inputs = 6;
    use BinaryOp::*;
    for &(kind, a, b, c) in picks {
        let pick = |scalar: Scalar, number: u8| {
            let pool = &pools[&scalar];
            pool[pool.len() - 1 - number as usize % pool.len()]
        };
        let choose = |list: &[BinaryOp]| list[c as usize % list.len()];
        let int = |number| pick(Scalar::I32, number);
        let float = |number| pick(Scalar::F32, number);
        let bool = |number| pick(Scalar::Bool, number);
        let (scalar, op) = match kind % 16 {
            0..=2 => {
                let ops = [IAdd, ISub, IMul, And, Or, Xor, Shl, LShr, AShr, UDiv, URem, SDiv, SRem, UMin, UMax, SMin];
                (Scalar::I32, Op::Binary(choose(&ops), int(a), int(b)))
            }
            3 => (Scalar::F32, Op::Binary(choose(&[FAdd, FSub, FMul, FMin, FMax]), float(a), float(b))),
            4 => {
                let ops = [UnaryOp::INeg, UnaryOp::Not, UnaryOp::FirstBitSignedHigh, UnaryOp::CountBits];
                (Scalar::I32, Op::Unary(ops[c as usize % 4], int(a)))
            }
            5 => {
                let ops = [UnaryOp::FNeg, UnaryOp::FAbs, UnaryOp::FSaturate, UnaryOp::FFloor];
                (Scalar::F32, Op::Unary(ops[c as usize % 4], float(a)))
            }
            6 => {
                use CompareOp::*;
                let ops = [IEq, INe, SLt, SLe, SGt, SGe, ULt, ULe, UGt, UGe];
                (Scalar::Bool, Op::Compare(ops[c as usize % ops.len()], int(a), int(b)))
            }
            7 => {
                use CompareOp::*;
                let ops = [FEq, FNe, FLt, FLe, FGt, FGe];
                (Scalar::Bool, Op::Compare(ops[c as usize % ops.len()], float(a), float(b)))
            }
            8 => (Scalar::Bool, Op::Binary(choose(&[And, Or, Xor]), bool(a), bool(b))),
            9 => (Scalar::Bool, Op::Unary(UnaryOp::Not, bool(a))),
            10 => (Scalar::I32, Op::Select { condition: bool(a), accept: int(b), reject: int(c) }),
            11 => match c % 3 {
                0 => (Scalar::F32, Op::Select { condition: bool(a), accept: float(b), reject: float(c) }),
                1 => (Scalar::Bool, Op::Select { condition: bool(a), accept: bool(b), reject: bool(c) }),
                _ => (Scalar::Bool, Op::Compare(CompareOp::INe, bool(a), bool(b))),
            },
            12 => (Scalar::I32, Op::Convert([ConvertOp::SExt, ConvertOp::ZExt][c as usize % 2], bool(a))),
            13 => (Scalar::I32, Op::Convert([ConvertOp::Bitcast, ConvertOp::FToS][c as usize % 2], float(a))),
            14 => (Scalar::F32, Op::Convert([ConvertOp::Bitcast, ConvertOp::UToF][c as usize % 2], int(a))),
            _ => {
                let ops = [TernaryOp::IMad, TernaryOp::UBitfieldExtract, TernaryOp::SBitfieldExtract];
                (Scalar::I32, Op::Ternary(ops[c as usize % 3], int(a), int(b), int(c)))
            }
        };
        let value = builder.push(op, Type::Scalar(scalar));
        if let Some(pool) = pools.get_mut(&scalar) {
            pool.push(value);
        }
    }
    let computed: Vec<Value> = builder.function.blocks[0].insts[inputs..].to_vec();
    for value in computed {
        let index = builder.function.i32(0);
        builder.effect(Op::StoreVariable { variable: VariableId(0), index, component: None, value });
    }
    (function, inputs)
}

/// What a function stores, for inputs; `None` where drivers may differ.
fn stores(function: &Function, inputs: &[u32]) -> Vec<Option<u64>> {
    let mut values: HashMap<Value, Option<u64>> = HashMap::new();
    let mut stored = Vec::new();
    let mut inputs = inputs.iter();
    for &value in &function.blocks[0].insts {
        let get = |operand: Value| match &function.values[operand.index()].def {
            ValueDef::Constant(constant) => Some(constant.0[0]),
            _ => values[&operand],
        };
        let scalar = |operand: Value| function.ty(operand).scalar().unwrap();
        let result = match function.op(value).unwrap() {
            Op::Wave(..) => inputs.next().map(|input| match function.ty(value) {
                Type::BOOL => u64::from(input & 1),
                _ => u64::from(*input),
            }),
            &Op::Unary(op, a) => get(a).and_then(|x| fold::unary(op, scalar(a), x)),
            &Op::Binary(op, a, b) => get(a).zip(get(b)).and_then(|(x, y)| fold::binary(op, scalar(a), x, y)),
            &Op::Compare(op, a, b) => {
                get(a).zip(get(b)).and_then(|(x, y)| fold::compare(op, scalar(a), x, y)).map(u64::from)
            }
            &Op::Ternary(op, a, b, c) => {
                get(a).zip(get(b)).zip(get(c)).and_then(|((x, y), z)| fold::ternary(op, scalar(a), x, y, z))
            }
            &Op::Select { condition, accept, reject } => {
                get(condition).and_then(|condition| get(if condition != 0 { accept } else { reject }))
            }
            &Op::Convert(op, a) => get(a).and_then(|x| fold::convert(op, scalar(a), scalar(value), x)),
            &Op::StoreVariable { value, .. } => {
                stored.push(get(value));
                None
            }
            op => panic!("not in these functions: {op:?}"),
        };
        values.insert(value, result);
    }
    stored
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_stay(
        picks in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..24),
        numbers in prop::collection::vec(any::<prop::sample::Index>(), 6),
    ) {
        let (function, _) = random_function(&picks);
        let inputs: Vec<u32> = numbers.iter().map(|number| *number.get(&NUMBERS)).collect();
        let mut simpler = function.clone();
        while simplify(&mut simpler) {}
        let before = stores(&function, &inputs);
        let after = stores(&simpler, &inputs);
        for (before, after) in before.iter().zip(&after) {
            // A condition that drivers may decide either way can matter less afterwards, or more.
            prop_assert!(before.is_none() || after.is_none() || before == after, "{function}\n{simpler}\n{before:?} {after:?}");
        }
    }
}
