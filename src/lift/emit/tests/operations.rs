//! Every operation on every type and number of lanes.

use naga::valid::Capabilities;
use smallvec::smallvec;

use super::text::{emit_checked, emit_checked_for, program};
use crate::{
    ErrorKind,
    ir::{
        BinaryOp::{self, *},
        BufferAddress, Builder,
        CompareOp::{self, *},
        ConvertOp, EntryPoint, Function, FunctionId, Module, Op, ReduceOp, Scalar, TernaryOp, Type, UnaryOp, Value,
        WaveOp,
    },
    reflection::Stage,
};

/// Emits `f`'s result, stored to the buffer, for targets with and without 16- and 64-bit types; `f` gets a source of operands that are not constant.
fn check(stage: Stage, f: impl FnOnce(&mut Builder<'_>, &mut dyn FnMut(&mut Builder<'_>, Type) -> Value) -> Value) {
    let mut function = Function::new("main", Type::Void);
    let entry = function.entry;
    let mut builder = Builder::new(&mut function, entry);
    let zero = builder.i32(0);
    let handle =
        builder.push(Op::Handle { binding: crate::ir::BindingId(0), index: zero, non_uniform: false }, Type::Handle);
    let mut next = 0;
    let mut operand = |builder: &mut Builder<'_>, ty: Type| {
        next += 32;
        let address = builder.i32(next);
        // `bool`s have no size in memory.
        let stored = if ty.scalar() == Some(Scalar::Bool) { ty.with_scalar(Scalar::I32) } else { ty };
        let loaded = builder.push(Op::LoadBuffer { handle, address: BufferAddress::Byte(address) }, stored);
        if stored == ty {
            return loaded;
        }
        let zero = builder.zero(stored);
        builder.compare(INe, loaded, zero)
    };
    let result = f(&mut builder, &mut operand);
    let ty = builder.ty(result);
    let stored =
        if ty.scalar() == Some(Scalar::Bool) { builder.convert(ConvertOp::ZExt, result, Scalar::I32) } else { result };
    builder.effect(Op::StoreBuffer { handle, address: BufferAddress::Byte(zero), value: stored });
    builder.terminate(crate::ir::Terminator::Return(None));
    let ir = Module {
        functions: vec![function],
        variables: Vec::new(),
        entry_points: vec![EntryPoint { stage, function: FunctionId(0), patch_constant_functions: Vec::new() }],
    };
    let program = program(ir, stage);
    match emit_checked(&program) {
        Ok(_) => {}
        Err(error) if error.kind == ErrorKind::Unsupported && error.what.contains("64-bit operation") => {}
        Err(error) => panic!("{error}\n{}", program.ir),
    }
    let optional = Capabilities::FLOAT64 | Capabilities::SHADER_INT64 | Capabilities::SHADER_FLOAT16;
    // What no front end makes, passes need not take.
    if crate::ir::verify(&program.ir, &program.interface).is_ok() {
        match emit_checked_for(&program, Capabilities::all() - optional) {
            Ok(_) => {}
            Err(error) if error.kind == ErrorKind::Unsupported => {}
            Err(error) => panic!("{error}\n{}", program.ir),
        }
    }
}

const FLOATS: [Scalar; 3] = [Scalar::F16, Scalar::F32, Scalar::F64];
const INTEGERS: [Scalar; 3] = [Scalar::I16, Scalar::I32, Scalar::I64];

#[test]
fn unary() {
    use UnaryOp::*;
    let floats = [
        FNeg, FAbs, FSaturate, FRcp, FSqrt, FRsqrt, FExp2, FLog2, FSin, FCos, FTan, FAsin, FAcos, FAtan, FSinh, FCosh,
        FTanh, FFract, FRoundEven, FFloor, FCeil, FTrunc,
    ];
    let integers = [INeg, Not, ReverseBits, CountBits, FirstBitLow, FirstBitHigh, FirstBitSignedHigh];
    for lanes in 1..=4 {
        for (ops, scalars) in [(&floats[..], FLOATS), (&integers[..], INTEGERS)] {
            for (op, scalar) in ops.iter().flat_map(|op| scalars.map(|scalar| (*op, scalar))) {
                check(Stage::Compute, |builder, operand| {
                    let a = operand(builder, Type::new(scalar, lanes));
                    builder.unary(op, a)
                });
            }
        }
        check(Stage::Compute, |builder, operand| {
            let a = operand(builder, Type::new(Scalar::Bool, lanes));
            builder.unary(Not, a)
        });
    }
}

#[test]
fn binary() {
    let floats = [FAdd, FSub, FMul, FDiv, FRem, FMin, FMax];
    let integers = [
        IAdd,
        ISub,
        IMul,
        SMulHigh,
        UMulHigh,
        SDiv,
        UDiv,
        SRem,
        URem,
        SMin,
        SMax,
        UMin,
        UMax,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Xor,
        Shl,
        LShr,
        AShr,
    ];
    let bools = [BinaryOp::And, BinaryOp::Or, BinaryOp::Xor];
    for lanes in 1..=4 {
        for (ops, scalars) in [(&floats[..], &FLOATS[..]), (&integers, &INTEGERS), (&bools, &[Scalar::Bool])] {
            for (&op, &scalar) in ops.iter().flat_map(|op| scalars.iter().map(move |scalar| (op, scalar))) {
                let ty = Type::new(scalar, lanes);
                check(Stage::Compute, |builder, operand| {
                    let (a, b) = (operand(builder, ty), operand(builder, ty));
                    builder.binary(op, a, b)
                });
                if scalar == Scalar::Bool {
                    continue;
                }
                // With a constant on either side: shifts by too much, divisions by zero.
                for bits in [0, 7, 0xffff_ffff] {
                    check(Stage::Compute, |builder, operand| {
                        let a = operand(builder, ty);
                        let b = builder.function.constant(ty, &[bits; 4][..lanes as usize]);
                        let forth = builder.binary(op, a, b);
                        let back = builder.binary(op, b, forth);
                        builder.compare(if scalar.is_float() { FNe } else { INe }, forth, back)
                    });
                }
            }
        }
    }
}

#[test]
fn compare() {
    let floats = [FEq, FNe, FLt, FLe, FGt, FGe];
    let integers = [IEq, INe, SLt, SLe, SGt, SGe, ULt, ULe, UGt, UGe];
    let bools = [CompareOp::IEq, INe];
    for lanes in 1..=4 {
        for (ops, scalars) in [(&floats[..], &FLOATS[..]), (&integers, &INTEGERS), (&bools, &[Scalar::Bool])] {
            for (&op, &scalar) in ops.iter().flat_map(|op| scalars.iter().map(move |scalar| (op, scalar))) {
                check(Stage::Compute, |builder, operand| {
                    let ty = Type::new(scalar, lanes);
                    let (a, b) = (operand(builder, ty), operand(builder, ty));
                    let condition = builder.compare(op, a, b);
                    builder.select(condition, a, b)
                });
            }
        }
    }
}

#[test]
fn ternary() {
    use TernaryOp::*;
    for lanes in 1..=4 {
        for (ops, scalars) in [
            (&[FMad, FFma][..], &FLOATS[..]),
            (&[IMad], &INTEGERS),
            (&[UBitfieldExtract, SBitfieldExtract, Msad], &[Scalar::I32]),
        ] {
            for (&op, &scalar) in ops.iter().flat_map(|op| scalars.iter().map(move |scalar| (op, scalar))) {
                check(Stage::Compute, |builder, operand| {
                    let [a, b, c] = [(); 3].map(|()| operand(builder, Type::new(scalar, lanes)));
                    builder.ternary(op, a, b, c)
                });
            }
        }
        for (width, offset) in [(0, 0), (8, 0), (8, 24), (8, 30), (40, 33)] {
            for op in [UBitfieldExtract, SBitfieldExtract] {
                check(Stage::Compute, |builder, operand| {
                    let ty = Type::new(Scalar::I32, lanes);
                    let c = operand(builder, ty);
                    let [a, b] =
                        [width, offset].map(|bits| builder.function.constant(ty, &[bits; 4][..lanes as usize]));
                    let field = builder.ternary(op, a, b, c);
                    builder.push(Op::BitfieldInsert { width: a, offset: b, insert: field, base: c }, ty)
                });
            }
        }
        check(Stage::Compute, |builder, operand| {
            let ty = Type::new(Scalar::I32, lanes);
            let [width, offset, insert, base] = [(); 4].map(|()| operand(builder, ty));
            builder.push(Op::BitfieldInsert { width, offset, insert, base }, ty)
        });
        for scalar in [Scalar::F16, Scalar::F32, Scalar::I32] {
            check(Stage::Compute, |builder, operand| {
                let [a, b] = [(); 2].map(|()| operand(builder, Type::new(scalar, lanes)));
                builder.push(Op::Dot(a, b), Type::Scalar(scalar))
            });
        }
    }
}

#[test]
fn convert() {
    use ConvertOp::*;
    let all = [Scalar::Bool, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::F16, Scalar::F32, Scalar::F64];
    let fits = |op: ConvertOp, from: Scalar, to: Scalar| match op {
        FToS | FToU => from.is_float() && to.is_int(),
        SToF | UToF => !from.is_float() && to.is_float(),
        FToF => from.is_float() && to.is_float(),
        SExt | ZExt => !from.is_float() && to.is_int() && from.bits() < to.bits(),
        Trunc => from.is_int() && !to.is_float() && from.bits() > to.bits(),
        F32ToF16Bits => from == Scalar::F32 && to == Scalar::I32,
        F16BitsToF32 => from == Scalar::I32 && to == Scalar::F32,
        IsNan | IsInf | IsFinite => from.is_float() && to == Scalar::Bool,
        Bitcast => from.bits() == to.bits() && from != Scalar::Bool,
    };
    let ops =
        [Bitcast, FToS, FToU, SToF, UToF, FToF, SExt, ZExt, Trunc, F32ToF16Bits, F16BitsToF32, IsNan, IsInf, IsFinite];
    for op in ops {
        for (from, to) in all.iter().flat_map(|from| all.map(|to| (*from, to))).filter(|&(from, to)| fits(op, from, to))
        {
            for lanes in 1..=4 {
                check(Stage::Compute, |builder, operand| {
                    let a = operand(builder, Type::new(from, lanes));
                    builder.push(Op::Convert(op, a), Type::new(to, lanes))
                });
            }
        }
    }
    for wide in [Scalar::I64, Scalar::F64] {
        check(Stage::Compute, |builder, operand| {
            let a = operand(builder, Type::new(Scalar::I32, 2));
            let joined = builder.push(Op::Convert(Bitcast, a), Type::Scalar(wide));
            builder.push(Op::Convert(Bitcast, joined), Type::new(Scalar::I32, 2))
        });
    }
}

#[test]
fn vectors() {
    for scalar in [Scalar::Bool, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::F16, Scalar::F32, Scalar::F64] {
        check(Stage::Compute, |builder, operand| {
            let a = operand(builder, Type::new(scalar, 4));
            let index = operand(builder, Type::I32);
            let chosen = builder.push(Op::ExtractDynamic(a, index), Type::Scalar(scalar));
            let last = builder.extract(a, 3);
            let pair = builder.compose(&[chosen, last]);
            builder.swizzle(pair, &[1, 0, 1])
        });
    }
}

/// Constants that naga has no literals for.
#[test]
fn odd_constants() {
    for (scalar, odd) in [
        (Scalar::F16, [0x7e00_u64, 0x7c00, 0xfc00, 0x8000]),
        (Scalar::F32, [0x7fc0_0001, 0x7f80_0000, 0xff80_0000, 0x8000_0000]),
        (Scalar::F64, [0x7ff8_0000_0000_0000, 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000, 1 << 63]),
        (Scalar::I16, [0xffff, 0x8000, 0, 1]),
        (Scalar::I64, [u64::MAX, 1 << 63, 0, 1]),
    ] {
        check(Stage::Compute, |builder, operand| {
            let ty = Type::new(scalar, 4);
            let constant = builder.function.constant(ty, &odd);
            let a = operand(builder, ty);
            builder.binary(if scalar.is_float() { FMin } else { SMin }, a, constant)
        });
        for bits in odd {
            check(Stage::Compute, |builder, operand| {
                let constant = builder.function.constant(Type::Scalar(scalar), &[bits]);
                let a = operand(builder, Type::Scalar(scalar));
                builder.binary(if scalar.is_float() { FMax } else { SMax }, constant, a)
            });
        }
    }
}

#[test]
fn waves() {
    use ReduceOp as R;
    use WaveOp as W;
    for stage in [Stage::Compute, Stage::Pixel] {
        for op in [W::IsFirstLane, W::LaneIndex, W::LaneCount] {
            let ty = if op == W::IsFirstLane { Type::BOOL } else { Type::I32 };
            check(stage, |builder, _| builder.push(Op::Wave(op, smallvec![]), ty));
        }
        for op in [W::AnyTrue, W::AllTrue, W::QuadAny, W::QuadAll] {
            check(stage, |builder, operand| {
                let a = operand(builder, Type::BOOL);
                builder.push(Op::Wave(op, smallvec![a]), Type::BOOL)
            });
        }
        for op in [W::CountBits, W::PrefixCountBits] {
            check(stage, |builder, operand| {
                let a = operand(builder, Type::BOOL);
                builder.push(Op::Wave(op, smallvec![a]), Type::I32)
            });
        }
        check(stage, |builder, operand| {
            let a = operand(builder, Type::BOOL);
            let mask = builder.push(Op::Wave(W::Ballot, smallvec![a]), Type::new(Scalar::I32, 4));
            builder.push(Op::Wave(W::MultiPrefixCountBits, smallvec![a, mask]), Type::I32)
        });
        for scalar in [Scalar::Bool, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::F16, Scalar::F32, Scalar::F64] {
            for lanes in [1, 3] {
                let ty = Type::new(scalar, lanes);
                for op in [W::ReadLaneFirst, W::QuadReadAcrossX, W::QuadReadAcrossY, W::QuadReadAcrossDiagonal] {
                    check(stage, |builder, operand| {
                        let a = operand(builder, ty);
                        builder.push(Op::Wave(op, smallvec![a]), ty)
                    });
                }
                for op in [W::ReadLaneAt, W::QuadReadLaneAt] {
                    check(stage, |builder, operand| {
                        let (a, lane) = (operand(builder, ty), operand(builder, Type::I32));
                        let two = builder.i32(2);
                        let a = builder.push(Op::Wave(op, smallvec![a, lane]), ty);
                        builder.push(Op::Wave(op, smallvec![a, two]), ty)
                    });
                }
                check(stage, |builder, operand| {
                    let a = operand(builder, ty);
                    builder.push(Op::Wave(W::AllEqual, smallvec![a]), ty.with_scalar(Scalar::Bool))
                });
                check(stage, |builder, operand| {
                    let a = operand(builder, ty);
                    builder.push(Op::Wave(W::Match, smallvec![a]), Type::new(Scalar::I32, 4))
                });
                let reductions: &[R] = match scalar {
                    Scalar::Bool => &[],
                    _ if scalar.is_float() => &[R::FAdd, R::FMul, R::FMin, R::FMax],
                    _ => &[R::IAdd, R::IMul, R::SMin, R::SMax, R::UMin, R::UMax, R::And, R::Or, R::Xor],
                };
                for &reduce in reductions {
                    for op in [W::Reduce(reduce), W::Prefix(reduce)] {
                        check(stage, |builder, operand| {
                            let a = operand(builder, ty);
                            builder.push(Op::Wave(op, smallvec![a]), ty)
                        });
                    }
                    check(stage, |builder, operand| {
                        let (a, mask) = (operand(builder, ty), operand(builder, Type::new(Scalar::I32, 4)));
                        builder.push(Op::Wave(W::MultiPrefix(reduce), smallvec![a, mask]), ty)
                    });
                }
            }
        }
    }
}
