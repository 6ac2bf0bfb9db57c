//! Doubles, halves and 64-bit integers on a device, its own and lowered ones, against the host's: thousands of random and
//! odd operands in one dispatch each. `tests/fixtures/numbers` has the shaders; their operations are here in the same order.

use std::{fmt::Write, path::Path};

use super::{
    format::Case,
    runner::{NumberTypes, Runner},
};
use crate::{
    cases::Outcome,
    odd_numbers::{Random, nearest_half},
};

/// Threads of a case.
const COUNT: usize = 1504;

/// Lanes of a wave, where waves matter.
const LANES: usize = 8;

/// What one operation gives.
enum Results {
    Double(Vec<f64>),
    /// Of which the sign of zeros may differ.
    Extremum(Vec<f64>),
    /// In the lower words.
    Single(Vec<f32>),
    Half(Vec<f32>),
    Bits(Vec<u64>),
}

/// The results of an operation for all operands.
fn doubles<T: Copy>(operands: &[T], f: impl Fn(T) -> f64) -> Results {
    Results::Double(operands.iter().map(|&operands| f(operands)).collect())
}

fn halves<T: Copy>(operands: &[T], f: impl Fn(T) -> half::f16) -> Results {
    Results::Half(operands.iter().map(|&operands| f(operands).to_f32()).collect())
}

fn bits<T: Copy>(operands: &[T], f: impl Fn(T) -> u64) -> Results {
    Results::Bits(operands.iter().map(|&operands| f(operands)).collect())
}

/// A case over operands of so many bits, of which it expects the results of operations, and says what goes wrong.
fn run(file: &str, width: u32, operands: &[u64], expected: &[Results], types: NumberTypes) -> Result<(), String> {
    let list = |values: &[u64]| values.iter().map(|value| format!("{value:#x},")).collect::<String>();
    let mut expect = String::new();
    for (operation, results) in expected.iter().enumerate() {
        let floats = |values: &[f32]| values.iter().map(|value| float(f64::from(*value))).collect::<String>();
        let (ty, rule, values) = match results {
            Results::Double(values) => ("F64", "Exact", values.iter().map(|value| float(*value)).collect()),
            Results::Extremum(values) => ("F64", "Ulp(0)", values.iter().map(|value| float(*value)).collect()),
            Results::Single(values) => ("F32", "Exact", floats(values).replace(',', ",0,")),
            Results::Half(values) => ("F16", "Exact", floats(values)),
            Results::Bits(values) => (if width == 16 { "U16" } else { "U64" }, "Exact", list(values)),
        };
        let from = operation * COUNT * if ty == "F32" { 2 } else { 1 };
        writeln!(expect, "(of: \"Output\", from: {from}, as: {ty}, rule: {rule}, values: [{values}]),").unwrap();
    }
    let size = expected.len() * COUNT;
    let groups = COUNT.div_ceil(64);
    let operands = list(operands);
    let wave =
        if file.starts_with("wave") { format!("requires: [\"SUBGROUP\"], wave: {LANES},") } else { String::new() };
    let text = format!(
        "(
            shaders: [(stage: Compute, file: \"{file}\")],
            buffers: {{
                \"Input\": (type: U{width}, data: [{operands}]),
                \"Counts\": (type: U32, data: [{COUNT}, 0, 0, 0]),
                \"Output\": (type: U{width}, fill: 0, count: {size}),
            }},
            bindings: [
                (class: Srv, register: 0, view: Raw, of: [\"Input\"]),
                (class: Uav, register: 0, view: Raw, of: [\"Output\"]),
                (class: Cbv, register: 0, view: Constant, of: [\"Counts\"]),
            ],
            {wave}
            run: Dispatch({groups}, 1, 1),
            expect: [{expect}],
        )"
    );
    let case = Case::parse(&text).map_err(|error| error.to_string())?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/numbers");
    let Ok(mut runner) = Runner::new() else { return Ok(()) };
    let (outcome, optional_types) = runner.run_once(&case, &folder, types);
    match outcome {
        Outcome::Passed => {
            assert!(optional_types, "{file} has no types that could be lowered");
            Ok(())
        }
        Outcome::Skipped { reason } => {
            println!("skipped {file}: {reason}");
            Ok(())
        }
        Outcome::Failed { reason, mismatches } => {
            let mut text = format!("{file}, {types:?}: {reason}");
            for mismatch in mismatches {
                let (operation, thread) = (mismatch.element / COUNT, mismatch.element % COUNT);
                let (got, expected) = (mismatch.got_bits, mismatch.expected_bits);
                write!(text, "\noperation {operation} of thread {thread}: {got}, expected {expected}").unwrap();
            }
            Err(text)
        }
    }
}

/// As RON reads it.
fn float(value: f64) -> String {
    match value {
        value if value.is_nan() => "NaN,".into(),
        value if value.is_infinite() => if value > 0.0 { "inf," } else { "-inf," }.into(),
        value => format!("{value:e},"),
    }
}

/// Comparisons, from bit 0 on: `<`, `<=`, `==`, `!=`, `>`, `>=`.
fn comparisons(a: f64, b: f64) -> u64 {
    let bits = [a < b, a <= b, a == b, a != b, a > b, a >= b];
    bits.into_iter().enumerate().map(|(place, bit)| u64::from(bit) << place).sum()
}

#[test]
fn doubles_on_a_device() {
    let mut random = Random(10);
    let operands: Vec<[u64; 3]> = (0..COUNT)
        .map(|_| {
            let (a, b) = (random.double(), random.double());
            // Some sums nearly cancel.
            let c = if random.next().is_multiple_of(3) {
                (-(f64::from_bits(a) * f64::from_bits(b))).to_bits() ^ (random.next() % 2)
            } else {
                random.double()
            };
            [a, b, c]
        })
        .collect();
    let of = |[a, b, c]: [u64; 3]| (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
    let unary = |f: fn(f64) -> f64| doubles(&operands, move |operands| f(of(operands).0));
    let binary = |f: fn(f64, f64) -> f64| doubles(&operands, move |operands| f(of(operands).0, of(operands).1));
    // If one is NaN, the other.
    let extremum = |better: fn(f64, f64) -> bool| {
        let choose = |(a, b, _)| if better(a, b) || f64::is_nan(b) { a } else { b };
        Results::Extremum(operands.iter().map(|&operands| choose(of(operands))).collect())
    };
    let mut expected = vec![
        binary(|a, b| a + b),
        binary(|a, b| a - b),
        binary(|a, b| a * b),
        binary(|a, b| a / b),
        unary(|a| 1.0 / a),
        extremum(|a, b| a < b),
        extremum(|a, b| a > b),
        unary(|a| -a),
        unary(f64::abs),
        unary(|a| if a > 0.0 { a.min(1.0) } else { 0.0 }),
        doubles(&operands, |operands| if of(operands).0 < of(operands).1 { of(operands).0 } else { of(operands).2 }),
        doubles(&operands, |[a, ..]| f32::from_bits(a as u32).into()),
        doubles(&operands, |[a, ..]| (a as i32).into()),
        doubles(&operands, |[a, ..]| (a as u32).into()),
        bits(&operands, |operands| comparisons(of(operands).0, of(operands).1)),
        Results::Single(operands.iter().map(|&operands| of(operands).0 as f32).collect()),
        bits(&operands, |operands| (of(operands).0 as i32 as u32).into()),
        bits(&operands, |operands| (of(operands).0 as u32).into()),
    ];
    let input: Vec<u64> = operands.iter().flatten().copied().collect();
    for file in ["double.dxbc", "double.dxil"] {
        run(file, 64, &input, &expected, NumberTypes::Native).unwrap();
    }
    expected.push(doubles(&operands, |operands| {
        let (a, b, c) = of(operands);
        a.mul_add(b, c)
    }));
    for file in ["double.dxbc", "double.dxil"] {
        run(file, 64, &input, &expected, NumberTypes::Lowered).unwrap();
    }
}

#[test]
fn integers_of_64_bits_on_a_device() {
    let mut random = Random(11);
    let operands: Vec<[u64; 2]> = (0..COUNT).map(|_| [random.integer(), random.integer()]).collect();
    let both = |f: fn(u64, u64) -> u64| bits(&operands, move |[a, b]| f(a, b));
    let signed = |f: fn(i64, i64) -> i64| bits(&operands, move |[a, b]| f(a as i64, b as i64) as u64);
    let of_float = |f: fn(f32) -> u64| bits(&operands, move |[a, _]| f(f32::from_bits(a as u32)));
    let of_double = |f: fn(f64) -> u64| bits(&operands, move |[a, _]| f(f64::from_bits(a)));
    let first_high = |a: u64| if a == 0 { u64::from(u32::MAX) } else { 63 - u64::from(a.leading_zeros()) };
    let expected = vec![
        both(u64::wrapping_add),
        both(u64::wrapping_sub),
        both(u64::wrapping_mul),
        both(|a, b| a.checked_div(b).unwrap_or(u64::MAX)),
        both(|a, b| a.checked_rem(b).unwrap_or(u64::MAX)),
        signed(|a, b| if b == 0 { -1 } else { a.wrapping_div(b) }),
        signed(|a, b| if b == 0 { -1 } else { a.wrapping_rem(b) }),
        both(|a, b| a << (b & 63)),
        both(|a, b| a >> (b & 63)),
        signed(|a, b| a >> (b & 63)),
        both(u64::min),
        both(u64::max),
        signed(i64::min),
        signed(i64::max),
        both(|a, _| !a),
        both(|a, _| a.wrapping_neg()),
        both(|a, b| (a & b) ^ (a | b)),
        both(|a, b| {
            let (c, d) = (a as i64, b as i64);
            let bits = [a < b, a <= b, a == b, c < d, c > d, c >= d];
            bits.into_iter().enumerate().map(|(place, bit)| u64::from(bit) << place).sum()
        }),
        both(|a, _| a.count_ones().into()),
        both(|a, _| a.reverse_bits()),
        bits(&operands, |[a, _]| first_high(a)),
        bits(&operands, |[a, _]| first_high(if a >> 63 == 1 { !a } else { a })),
        both(|a, _| if a == 0 { u32::MAX.into() } else { a.trailing_zeros().into() }),
        both(|a, _| (a as f32).to_bits().into()),
        both(|a, _| (a as i64 as f32).to_bits().into()),
        of_float(|a| a as u64),
        of_float(|a| a as i64 as u64),
        both(|a, _| (a as f64).to_bits()),
        both(|a, _| (a as i64 as f64).to_bits()),
        of_double(|a| a as u64),
        of_double(|a| a as i64 as u64),
    ];
    let input: Vec<u64> = operands.iter().flatten().copied().collect();
    for types in [NumberTypes::Native, NumberTypes::Lowered] {
        run("integer64.dxil", 64, &input, &expected, types).unwrap();
    }
}

#[test]
fn halves_on_a_device() {
    type Operands = [half::f16; 4];
    let mut random = Random(12);
    let operands: Vec<Operands> =
        (0..COUNT).map(|_| [random.half(), random.half(), random.half(), random.half()]).collect();
    let round = |number: f32| half::f16::from_f32(number);
    let binary = |f: fn(f32, f32) -> f32| halves(&operands, move |[a, b, ..]| round(f(a.to_f32(), b.to_f32())));
    let unary = |f: fn(f32) -> f32| halves(&operands, move |[a, ..]| round(f(a.to_f32())));
    let extremum = |a: f32, b: f32, better: bool| if better || b.is_nan() { a } else { b };
    let wide = |[a, b, ..]: Operands| u32::from(a.to_bits()) | u32::from(b.to_bits()) << 16;
    let high = |[_, _, c, d]: Operands| u64::from(c.to_bits()) | u64::from(d.to_bits()) << 16;
    let signed = |f: fn(i16, i16) -> i16| {
        bits(&operands, move |[a, b, ..]| u64::from(f(a.to_bits() as i16, b.to_bits() as i16) as u16))
    };
    let unsigned = |f: fn(u16, u16) -> u16| bits(&operands, move |[a, b, ..]| f(a.to_bits(), b.to_bits()).into());
    let expected = vec![
        binary(|a, b| a + b),
        binary(|a, b| a - b),
        binary(|a, b| a * b),
        binary(|a, b| a / b),
        halves(&operands, |[a, b, c, _]| round(round(a.to_f32() * b.to_f32()).to_f32() + c.to_f32())),
        unary(f32::sqrt),
        halves(&operands, |[a, b, ..]| round(extremum(a.to_f32(), b.to_f32(), a < b))),
        halves(&operands, |[a, b, ..]| round(extremum(a.to_f32(), b.to_f32(), a > b))),
        unary(|a| -a),
        unary(f32::abs),
        unary(|a| if a > 0.0 { a.min(1.0) } else { 0.0 }),
        unary(f32::floor),
        unary(f32::round_ties_even),
        halves(&operands, |[a, b, c, _]| if a < b { a } else { c }),
        halves(&operands, |operands| round(f32::from_bits(wide(operands)))),
        halves(&operands, |operands| round((wide(operands) >> 8) as f32)),
        halves(&operands, |[a, ..]| round(f32::from(a.to_bits() as i16))),
        halves(&operands, |[a, ..]| round(f32::from(a.to_bits()))),
        halves(&operands, |operands| nearest_half(f64::from_bits(u64::from(wide(operands)) | high(operands) << 32))),
        bits(&operands, |[a, b, ..]| comparisons(a.to_f64(), b.to_f64())),
        bits(&operands, |[a, ..]| u64::from(a.to_f32() as i16 as u16)),
        bits(&operands, |[a, ..]| (a.to_f32() as u16).into()),
        signed(i16::wrapping_add),
        signed(i16::wrapping_mul),
        signed(|a, b| if b == 0 { -1 } else { a.wrapping_div(b) }),
        signed(|a, b| if b == 0 { -1 } else { a.wrapping_rem(b) }),
        unsigned(|a, b| a.checked_div(b).unwrap_or(u16::MAX)),
        unsigned(|a, b| a.checked_rem(b).unwrap_or(u16::MAX)),
        unsigned(|a, b| a << (b & 15)),
        unsigned(|a, b| a >> (b & 15)),
        signed(|a, b| a >> (b & 15)),
        signed(i16::max),
        unsigned(u16::max),
    ];
    let input: Vec<u64> = operands.iter().flatten().map(|half| half.to_bits().into()).collect();
    for types in [NumberTypes::Native, NumberTypes::Lowered] {
        run("half.dxil", 16, &input, &expected, types).unwrap();
    }
}

#[test]
fn waves_of_64_bits_on_a_device() {
    let mut random = Random(13);
    let operands: &[[u64; 2]] = &(0..COUNT).map(|_| [random.integer(), random.integer()]).collect::<Vec<_>>();
    // Of each thread that takes part: the threads of its wave that do, and that have the same parity.
    let takes_part = |thread: usize| !(thread % LANES).is_multiple_of(3);
    let active = |thread: usize| {
        let first = thread / LANES * LANES;
        (first..first + LANES).filter(move |&other| takes_part(other))
    };
    let alike = |thread: usize| active(thread).filter(move |&other| operands[other][1] % 2 == operands[thread][1] % 2);
    let in_wave = |thread: usize, lane: usize| thread / LANES * LANES + lane;
    let a = |thread: usize| operands[thread][0];
    let d = |thread: usize| (a(thread) % 1000) as f64 - 300.0;
    let small = |thread: usize| if a(thread).is_multiple_of(3) { 2.0 } else { 1.0 };

    let integer = |f: &dyn Fn(usize) -> u64| {
        Results::Bits((0..COUNT).map(|thread| if takes_part(thread) { f(thread) } else { 0 }).collect())
    };
    let double = |f: &dyn Fn(usize) -> f64| {
        Results::Double((0..COUNT).map(|thread| if takes_part(thread) { f(thread) } else { 0.0 }).collect())
    };
    let mask = |lanes: &dyn Fn(usize) -> Vec<usize>| {
        integer(&|thread| lanes(thread).into_iter().map(|other| 1 << (other % LANES)).sum())
    };
    let reduced = |f: fn(u64, u64) -> u64| integer(&|thread| active(thread).map(a).reduce(f).unwrap());
    let reduced_signed = |f: fn(i64, i64) -> i64| {
        integer(&|thread| active(thread).map(|other| a(other) as i64).reduce(f).unwrap() as u64)
    };
    let prefix = |neutral: u64, f: fn(u64, u64) -> u64| {
        integer(&|thread| active(thread).filter(|&other| other < thread).map(a).fold(neutral, f))
    };
    let multi_prefix = |neutral: u64, f: fn(u64, u64) -> u64| {
        integer(&|thread| alike(thread).filter(|&other| other < thread).map(a).fold(neutral, f))
    };
    let expected = vec![
        mask(&|thread| alike(thread).collect()),
        integer(&|thread| {
            let equal = |f: fn(u64) -> u64| u64::from(active(thread).all(|other| f(a(other)) == f(a(thread))));
            equal(|a| a) | equal(|a| a >> 63) << 32
        }),
        reduced(u64::wrapping_add),
        reduced(u64::wrapping_mul),
        reduced(u64::min),
        reduced(u64::max),
        reduced_signed(i64::min),
        reduced_signed(i64::max),
        reduced(|a, b| a & b),
        reduced(|a, b| a | b),
        reduced(|a, b| a ^ b),
        prefix(0, u64::wrapping_add),
        prefix(1, u64::wrapping_mul),
        integer(&|thread| a(in_wave(thread, 1))),
        integer(&|thread| a(in_wave(thread, if thread % LANES < 4 { 2 } else { 7 }))),
        multi_prefix(0, u64::wrapping_add),
        multi_prefix(1, u64::wrapping_mul),
        multi_prefix(u64::MAX, |a, b| a & b),
        multi_prefix(0, |a, b| a | b),
        multi_prefix(0, |a, b| a ^ b),
        double(&|thread| active(thread).map(d).sum()),
        double(&|thread| active(thread).map(d).fold(f64::INFINITY, f64::min)),
        double(&|thread| active(thread).map(d).fold(f64::NEG_INFINITY, f64::max)),
        double(&|thread| active(thread).filter(|&other| other < thread).map(d).fold(0.0, |a, b| a + b)),
        double(&|thread| d(in_wave(thread, 5))),
        double(&|thread| active(thread).map(small).product()),
        double(&|thread| active(thread).filter(|&other| other < thread).map(small).product()),
        double(&|thread| alike(thread).filter(|&other| other < thread).map(d).fold(0.0, |a, b| a + b)),
        double(&|thread| alike(thread).filter(|&other| other < thread).map(small).product()),
    ];
    let input: Vec<u64> = operands.iter().flatten().copied().collect();
    for types in [NumberTypes::Native, NumberTypes::Lowered] {
        run("wave.dxil", 64, &input, &expected, types).unwrap();
    }
}
