//! The library against the host's numbers, and lowered functions against what constants fold to.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::{super::fold, NumberTypes, legalize};
use crate::{
    ir::{
        BinaryOp, Block, Builder, CompareOp, ConvertOp, Function, FunctionId, Module, Op, Scalar, Terminator, Type,
        UnaryOp, Value, ValueDef, text, verify::tests::interface,
    },
    odd_numbers::{Random, nearest_half, nearest_odd},
};

type Lanes = SmallVec<[u64; 4]>;

/// What a function gives for arguments. It works on numbers alone.
fn evaluate(functions: &[Function], id: FunctionId, args: &[Lanes]) -> Lanes {
    let function = &functions[id.index()];
    let mut values = vec![Lanes::new(); function.values.len()];
    let mut block = function.entry;
    let mut incoming = args.to_vec();
    loop {
        let data = &function.blocks[block.index()];
        assert_eq!(data.params.len(), incoming.len());
        for (&param, arg) in data.params.iter().zip(incoming) {
            values[param.index()] = arg;
        }
        for &value in &data.insts {
            let result = operation(functions, function, &values, value);
            values[value.index()] = result;
        }
        let get = |value: Value| read(function, &values, value);
        let edge = match &data.terminator {
            Terminator::Jump(edge) => edge,
            Terminator::Branch { condition, accept, reject } => {
                if get(*condition)[0] != 0 {
                    accept
                } else {
                    reject
                }
            }
            Terminator::Switch { selector, cases, default } => {
                let selector = get(*selector)[0];
                cases.iter().find(|(case, _)| *case == selector).map_or(default, |(_, edge)| edge)
            }
            Terminator::Return(value) => return value.map_or_else(Lanes::new, get),
            Terminator::Unreachable => panic!("unreachable"),
        };
        incoming = edge.args.iter().map(|&arg| get(arg)).collect();
        block = edge.block;
    }
}

fn read(function: &Function, values: &[Lanes], value: Value) -> Lanes {
    match &function.values[value.index()].def {
        ValueDef::Constant(constant) => constant.0.clone(),
        _ => values[value.index()].clone(),
    }
}

fn operation(functions: &[Function], function: &Function, values: &[Lanes], value: Value) -> Lanes {
    let get = |value: Value| read(function, values, value);
    let scalar = |value: Value| function.ty(value).scalar().unwrap();
    match function.op(value).unwrap() {
        &Op::Unary(op, a) => get(a).iter().map(|&a_| fold::unary(op, scalar(a), a_).unwrap()).collect(),
        &Op::Binary(op, a, b) => get(a)
            .iter()
            .zip(get(b))
            .map(|(&a_, b_)| match scalar(a) {
                Scalar::F32 => {
                    let (a_, b_) = (f32::from_bits(a_ as u32), f32::from_bits(b_ as u32));
                    u64::from(
                        match op {
                            BinaryOp::FAdd => a_ + b_,
                            BinaryOp::FSub => a_ - b_,
                            BinaryOp::FMul => a_ * b_,
                            BinaryOp::FDiv => a_ / b_,
                            _ => panic!("{op:?}"),
                        }
                        .to_bits(),
                    )
                }
                scalar => fold::binary(op, scalar, a_, b_).unwrap(),
            })
            .collect(),
        &Op::Compare(op, a, b) => get(a)
            .iter()
            .zip(get(b))
            .map(|(&a_, b_)| match scalar(a) {
                Scalar::F32 => {
                    let (a_, b_) = (f32::from_bits(a_ as u32), f32::from_bits(b_ as u32));
                    u64::from(match op {
                        CompareOp::FEq => a_ == b_,
                        CompareOp::FNe => a_ != b_,
                        CompareOp::FLt => a_ < b_,
                        CompareOp::FGt => a_ > b_,
                        _ => panic!("{op:?}"),
                    })
                }
                scalar => fold::compare(op, scalar, a_, b_).unwrap().into(),
            })
            .collect(),
        &Op::Convert(ConvertOp::Bitcast, a) if function.ty(a).lanes() != function.ty(value).lanes() => {
            match get(a).as_slice() {
                &[low, high] => SmallVec::from_elem(low | high << 32, 1),
                &[whole] => SmallVec::from_slice(&[whole & 0xffff_ffff, whole >> 32]),
                lanes => panic!("{lanes:?}"),
            }
        }
        &Op::Convert(ConvertOp::UToF, a) => get(a).iter().map(|&a| u64::from((a as u32 as f32).to_bits())).collect(),
        &Op::Convert(op, a) => {
            get(a).iter().map(|&a_| fold::convert(op, scalar(a), scalar(value), a_).unwrap()).collect()
        }
        &Op::Select { condition, accept, reject } => {
            let (condition, accept, reject) = (get(condition), get(accept), get(reject));
            (0..accept.len())
                .map(|lane| if condition[lane % condition.len()] != 0 { accept[lane] } else { reject[lane] })
                .collect()
        }
        Op::Compose(lanes) => lanes.iter().map(|&lane| get(lane)[0]).collect(),
        &Op::Extract(vector, lane) => SmallVec::from_elem(get(vector)[lane as usize], 1),
        Op::Swizzle(vector, order) => {
            let from = get(*vector);
            order.iter().map(|&lane| from[lane as usize]).collect()
        }
        Op::Call(callee, args) => {
            let args: Vec<Lanes> = args.iter().map(|&arg| get(arg)).collect();
            evaluate(functions, *callee, &args)
        }
        op => panic!("{op:?}"),
    }
}

/// One of the library's files.
fn library(text: &str) -> HashMap<String, Function> {
    let module = text::parse(text).unwrap();
    crate::ir::verify(&module, &interface()).unwrap();
    module.functions.into_iter().map(|function| (function.name.clone(), function)).collect()
}

/// Calls functions of the library.
struct Library(HashMap<String, Function>);

impl Library {
    fn call(&self, name: &str, args: &[u64]) -> u64 {
        let args: Vec<Lanes> = args.iter().map(|&arg| SmallVec::from_elem(arg, 1)).collect();
        evaluate(std::slice::from_ref(&self.0[name]), FunctionId(0), &args)[0]
    }
}

#[track_caller]
fn assert_double(found: u64, expected: f64, what: impl Fn() -> String) {
    let found = f64::from_bits(found);
    let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
    assert!(same, "{}: {found:e} ({:#x}), expected {expected:e} ({:#x})", what(), found.to_bits(), expected.to_bits());
}

#[test]
fn doubles_are_those_of_the_host() {
    let library = Library(library(include_str!("library/double.ir")));
    let mut random = Random(1);
    for _ in 0..500 {
        let (a, b, c) = (random.double(), random.double(), random.double());
        let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
        let say = |name: &str| format!("{name} {x:e} {y:e} {z:e} ({a:#x} {b:#x} {c:#x})");
        let double = |name: &str, args: &[u64], expected: f64| {
            assert_double(library.call(name, args), expected, || say(name));
        };
        double("f64_add", &[a, b], x + y);
        double("f64_mul", &[a, b], x * y);
        double("f64_div", &[a, b], x / y);
        double("f64_fma", &[a, b, c], x.mul_add(y, z));
        // Sums that nearly cancel.
        let near = (-(x * y)).to_bits().wrapping_add(random.next() % 3).wrapping_sub(1);
        double("f64_fma", &[a, b, near], x.mul_add(y, f64::from_bits(near)));
        let near = a.wrapping_add(random.next() % 5) ^ 1 << 63;
        double("f64_add", &[a, near], x + f64::from_bits(near));
        double("f64_rem", &[a, b], x % y);
        let single = f32::from_bits(a as u32);
        double("f64_from_f32", &[u64::from(a as u32)], f64::from(single));
        let integer = random.integer();
        double("f64_from_u64", &[integer], integer as f64);
        double("f64_from_s64", &[integer], integer as i64 as f64);

        let bits = |name: &str, args: &[u64], expected: u64| {
            assert_eq!(library.call(name, args), expected, "{}", say(name));
        };
        bits("f64_equal", &[a, b], (x == y).into());
        bits("f64_less", &[a, b], (x < y).into());
        bits("f64_less_equal", &[a, b], (x <= y).into());
        bits("f64_to_u64", &[a], x as u64);
        bits("f64_to_s64", &[a], x as i64 as u64);
        bits("f64_to_u32", &[a], (x as u32).into());
        bits("f64_to_s32", &[a], (x as i32 as u32).into());
        bits("f64_to_u16", &[a], (x as u16).into());
        bits("f64_to_s16", &[a], u64::from(x as i16 as u32));
        if !x.is_nan() {
            bits("f64_to_f32", &[a], (x as f32).to_bits().into());
            bits("f64_to_f16", &[a], nearest_half(x).to_bits().into());
            bits("f64_saturate", &[a], if x > 0.0 { x.min(1.0).to_bits() } else { 0 });
        }
        let expected = |better: bool| if y.is_nan() || better { a } else { b };
        bits("f64_min", &[a, b], expected(x < y));
        bits("f64_max", &[a, b], expected(x > y));
    }
}

#[test]
fn integers_are_those_of_the_host() {
    let library = Library(library(include_str!("library/integer64.ir")));
    let mut random = Random(2);
    for _ in 0..500 {
        let (a, b) = (random.integer(), random.integer());
        let bits = |name: &str, args: &[u64], expected: u64| {
            assert_eq!(library.call(name, args), expected, "{name} {a:#x} {b:#x}");
        };
        bits("u_div64", &[a, b], a.checked_div(b).unwrap_or(u64::MAX));
        bits("u_rem64", &[a, b], a.checked_rem(b).unwrap_or(u64::MAX));
        let (signed_a, signed_b) = (a as i64, b as i64);
        let by = |f: fn(i64, i64) -> i64| if b == 0 { u64::MAX } else { f(signed_a, signed_b) as u64 };
        bits("s_div64", &[a, b], by(i64::wrapping_div));
        bits("s_rem64", &[a, b], by(i64::wrapping_rem));
        bits("u_mul_high64", &[a, b], ((u128::from(a) * u128::from(b)) >> 64) as u64);
        bits("s_mul_high64", &[a, b], ((i128::from(signed_a) * i128::from(signed_b)) >> 64) as u64);
        bits("u64_to_f32", &[a], (a as f32).to_bits().into());
        bits("s64_to_f32", &[a], (signed_a as f32).to_bits().into());
        let float = f32::from_bits(random.next() as u32);
        let near = a as f32 * if b & 1 == 0 { 1.0 } else { -1.0 };
        for float in [float, near] {
            bits("f32_to_u64", &[float.to_bits().into()], float as u64);
            bits("f32_to_s64", &[float.to_bits().into()], float as i64 as u64);
        }
    }
}

#[test]
fn halves_are_those_of_the_host() {
    let library = Library(library(include_str!("library/half.ir")));
    let bits_of = |number: f32| u64::from(number.to_bits());
    let number = |bits: u64| f32::from_bits(bits as u32);
    let mut random = Random(3);
    for bits in (0..=u16::MAX).step_by(11) {
        let half = half::f16::from_bits(bits);
        if half.is_nan() {
            assert!(number(library.call("f16_from_bits", &[bits.into()])).is_nan());
            let back = library.call("f16_to_bits", &[bits_of(half.to_f32())]);
            assert!(half::f16::from_bits(back as u16).is_nan());
            continue;
        }
        assert_eq!(library.call("f16_from_bits", &[bits.into()]), bits_of(half.to_f32()), "{bits:#x}");
        assert_eq!(library.call("f16_to_bits", &[bits_of(half.to_f32())]), u64::from(bits), "{bits:#x}");
        // The half-way point to the next one, and its neighbours.
        if half.is_finite() {
            for step in [0x0fff, 0x1000, 0x1001] {
                let float = f32::from_bits(half.to_f32().to_bits() + step);
                let expected = half::f16::from_f32(float).to_f32();
                assert_eq!(library.call("f16_round", &[bits_of(float)]), bits_of(expected), "{float:e}");
            }
        }
    }
    for _ in 0..500 {
        let float = f32::from_bits(random.next() as u32);
        if !float.is_nan() {
            let expected = half::f16::from_f32(float).to_f32();
            assert_eq!(library.call("f16_round", &[bits_of(float)]), bits_of(expected), "{float:e}");
        }
        let [a, b, c] = [0, 16, 32].map(|shift| half::f16::from_bits((random.next() >> shift) as u16).to_f32());
        let found = number(library.call("f16_fma", &[bits_of(a), bits_of(b), bits_of(c)]));
        let expected = if a.is_finite() && b.is_finite() && c.is_finite() {
            // In multiples of 2^-48.
            let integer = |number: f32| (f64::from(number) * 24_f64.exp2()) as i128;
            nearest_half(nearest_odd(integer(a) * integer(b) + (integer(c) << 24)) * (-48_f64).exp2()).to_f32()
        } else {
            a.mul_add(b, c)
        };
        assert!(found == expected || (found.is_nan() && expected.is_nan()), "{a:e} * {b:e} + {c:e}: {found:e}");
    }
}

/// A module of one function of two parameters.
fn function(params: [Type; 2], result: Type, body: impl FnOnce(&mut Builder<'_>, Value, Value) -> Value) -> Module {
    let mut function = Function::new("f", result);
    let [a, b] = params.map(|ty| function.add_param(Block(0), ty));
    let mut build = Builder::new(&mut function, Block(0));
    let value = body(&mut build, a, b);
    build.terminate(Terminator::Return(Some(value)));
    Module { functions: vec![function], ..Module::default() }
}

const NONE: NumberTypes = NumberTypes { float16: false, float64: false, int64: false };

/// The words of 64-bit lanes: all low ones, all high ones.
fn words(lanes: &[u64]) -> [Lanes; 2] {
    [lanes.iter().map(|lane| lane & 0xffff_ffff).collect(), lanes.iter().map(|lane| lane >> 32).collect()]
}

/// Lowers a function of 64-bit integers, and compares what it gives.
#[track_caller]
fn compare(module: &Module, cases: &[([u64; 2], [u64; 2])]) {
    let mut lowered = module.clone();
    legalize(&mut lowered, &interface(), NONE).unwrap();
    for &(a, b) in cases {
        let expected = evaluate(&module.functions, FunctionId(0), &[words_of(a), words_of(b)]);
        let [a_low, a_high] = words(&a);
        let [b_low, b_high] = words(&b);
        let mut found = evaluate(&lowered.functions, FunctionId(0), &[a_low, a_high, b_low, b_high]);
        if module.functions[0].result.scalar() == Some(Scalar::I64) {
            found = found.chunks(2).map(|pair| pair[0] | pair[1] << 32).collect();
        }
        assert_eq!(found, expected, "{a:#x?} {b:#x?} in\n{module}\n{lowered}");
    }
}

fn words_of(lanes: [u64; 2]) -> Lanes {
    SmallVec::from_slice(&lanes)
}

#[test]
fn pairs_are_like_integers() {
    let wide = Type::Vector(Scalar::I64, 2);
    let mut random = Random(4);
    let cases: Vec<_> =
        (0..300).map(|_| ([random.integer(), random.integer()], [random.integer(), random.integer()])).collect();
    use BinaryOp::{
        AShr, And, IAdd, IMul, ISub, LShr, Or, SDiv, SMax, SMin, SMulHigh, SRem, Shl, UDiv, UMax, UMin, UMulHigh, URem,
        Xor,
    };
    let arithmetic = [IAdd, ISub, IMul, SMulHigh, UMulHigh, SDiv, UDiv, SRem, URem];
    for op in arithmetic.into_iter().chain([SMin, SMax, UMin, UMax, And, Or, Xor, Shl, LShr, AShr]) {
        compare(&function([wide; 2], wide, |build, a, b| build.binary(op, a, b)), &cases);
    }
    for op in [UnaryOp::INeg, UnaryOp::Not, UnaryOp::ReverseBits] {
        compare(&function([wide; 2], wide, |build, a, _| build.unary(op, a)), &cases);
    }
    for op in [UnaryOp::CountBits, UnaryOp::FirstBitLow, UnaryOp::FirstBitHigh, UnaryOp::FirstBitSignedHigh] {
        let result = wide.with_scalar(Scalar::I32);
        compare(&function([wide; 2], result, |build, a, _| build.unary(op, a)), &cases);
    }
    use CompareOp::{IEq, INe, SGe, SGt, SLe, SLt, UGe, UGt, ULe, ULt};
    for op in [IEq, INe, SGe, SGt, SLe, SLt, UGe, UGt, ULe, ULt] {
        let result = wide.with_scalar(Scalar::Bool);
        compare(&function([wide; 2], result, |build, a, b| build.compare(op, a, b)), &cases);
    }
    for op in [Shl, LShr, AShr] {
        for count in [0, 1, 17, 31, 32, 33, 63, 64, 65, u64::MAX] {
            let shift = |build: &mut Builder<'_>, a: Value, _: Value| {
                let count = build.function.constant(wide, &[count; 2]);
                build.binary(op, a, count)
            };
            compare(&function([wide; 2], wide, shift), &cases[..50]);
        }
    }
    let select = |build: &mut Builder<'_>, a: Value, b: Value| {
        let less = build.compare(CompareOp::SLt, a, b);
        build.select(less, a, b)
    };
    compare(&function([wide; 2], wide, select), &cases);
    for scalar in [Scalar::I16, Scalar::I32] {
        for op in [ConvertOp::SExt, ConvertOp::ZExt] {
            let there_and_back = |build: &mut Builder<'_>, a: Value, _: Value| {
                let narrow = build.convert(ConvertOp::Trunc, a, scalar);
                build.convert(op, narrow, Scalar::I64)
            };
            compare(&function([wide; 2], wide, there_and_back), &cases);
        }
    }
    let shuffled = |build: &mut Builder<'_>, a: Value, b: Value| {
        let (a, b) = (build.extract(a, 1), build.extract(b, 0));
        let words = build.push(Op::Convert(ConvertOp::Bitcast, a), Type::Vector(Scalar::I32, 2));
        let words = build.swizzle(words, &[1, 0]);
        let a = build.push(Op::Convert(ConvertOp::Bitcast, words), Type::Scalar(Scalar::I64));
        let both = build.compose(&[b, a]);
        build.swizzle(both, &[1, 1])
    };
    compare(&function([wide; 2], wide, shuffled), &cases);
}
