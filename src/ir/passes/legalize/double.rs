//! Doubles as their bits in 64-bit integers.

use super::{
    library::Library,
    rewrite::{Rewrite, refuse, retype_constants, retype_values, retype_variables, rewrite},
};
use crate::{
    Error, Result,
    ir::{BinaryOp, CompareOp, ConvertOp, Function, Module, Op, Scalar, TernaryOp, Type, UnaryOp, Value},
};

const SIGN: u64 = 1 << 63;
const INFINITE: u64 = 0x7ff << 52;
const ONE: u64 = 1023 << 52;

/// Guarantees that nothing is an `f64`.
///
/// # Errors
/// Names operations that Direct3D does not have for doubles.
pub(super) fn lower(module: &mut Module, library: &mut Library) -> Result<()> {
    retype_variables(module, Scalar::F64, Scalar::I64, |bits| bits);
    rewrite(module, library, begin, |rewrite, (), value, op| lower_instruction(rewrite, value, op), |_, ()| Ok(()))
}

fn begin(function: &mut Function) {
    retype_constants(function, Scalar::F64, Scalar::I64, |bits| bits);
    retype_values(function, Scalar::F64, Scalar::I64);
}

/// Operations of floats that are 64-bit integers now were of doubles.
fn lower_instruction(rewrite: &mut Rewrite<'_>, value: Value, op: Op) -> Result<()> {
    let ty = rewrite.ty(value);
    let is_double = ty.scalar() == Some(Scalar::I64);
    let takes_double = |rewrite: &Rewrite<'_>, a: Value| rewrite.ty(a).scalar() == Some(Scalar::I64);
    let result = match op {
        Op::Unary(op, a) if is_double && is_float_unary(op) => unary(rewrite, op, a, ty)?,
        Op::Binary(op, a, b) if is_double && is_float_binary(op) => binary(rewrite, op, a, b)?,
        Op::Ternary(TernaryOp::FFma, a, b, c) if is_double => rewrite.call("f64_fma", &[a, b, c], Scalar::I64)?,
        Op::Ternary(TernaryOp::FMad, a, b, c) if is_double => {
            let product = rewrite.call("f64_mul", &[a, b], Scalar::I64)?;
            rewrite.call("f64_add", &[product, c], Scalar::I64)?
        }
        Op::Compare(op, a, b) if takes_double(rewrite, a) => match op {
            CompareOp::FEq => rewrite.call("f64_equal", &[a, b], Scalar::Bool)?,
            CompareOp::FNe => {
                let equal = rewrite.call("f64_equal", &[a, b], Scalar::Bool)?;
                rewrite.build().unary(UnaryOp::Not, equal)
            }
            CompareOp::FLt => rewrite.call("f64_less", &[a, b], Scalar::Bool)?,
            CompareOp::FGt => rewrite.call("f64_less", &[b, a], Scalar::Bool)?,
            CompareOp::FLe => rewrite.call("f64_less_equal", &[a, b], Scalar::Bool)?,
            CompareOp::FGe => rewrite.call("f64_less_equal", &[b, a], Scalar::Bool)?,
            _ => {
                rewrite.define(value, Op::Compare(op, a, b));
                return Ok(());
            }
        },
        Op::Dot(a, b) if takes_double(rewrite, a) => {
            let products = rewrite.call("f64_mul", &[a, b], Scalar::I64)?;
            let mut sum = rewrite.build().extract(products, 0);
            for lane in 1..rewrite.ty(products).lanes() {
                let product = rewrite.build().extract(products, lane);
                sum = rewrite.call("f64_add", &[sum, product], Scalar::I64)?;
            }
            sum
        }
        Op::Convert(op, a) if is_double || takes_double(rewrite, a) => match convert(rewrite, op, a, ty)? {
            Some(result) => result,
            None => {
                rewrite.define(value, Op::Convert(op, a));
                return Ok(());
            }
        },
        Op::Derivative(..) | Op::Sample(_) | Op::Gather(_) | Op::LoadInput { .. } | Op::EvaluateInput { .. }
            if is_double =>
        {
            return Err(refuse("64-bit floats", &op));
        }
        op => {
            rewrite.define(value, op);
            return Ok(());
        }
    };
    rewrite.replace(value, result);
    Ok(())
}

fn is_float_unary(op: UnaryOp) -> bool {
    use UnaryOp::{CountBits, FirstBitHigh, FirstBitLow, FirstBitSignedHigh, INeg, Not, ReverseBits};
    !matches!(op, INeg | Not | ReverseBits | CountBits | FirstBitLow | FirstBitHigh | FirstBitSignedHigh)
}

fn is_float_binary(op: BinaryOp) -> bool {
    use BinaryOp::{FAdd, FDiv, FMax, FMin, FMul, FRem, FSub};
    matches!(op, FAdd | FSub | FMul | FDiv | FRem | FMin | FMax)
}

fn unary(rewrite: &mut Rewrite<'_>, op: UnaryOp, a: Value, ty: Type) -> Result<Value> {
    match op {
        UnaryOp::FNeg => {
            let sign = rewrite.splat(ty, SIGN);
            Ok(rewrite.build().binary(BinaryOp::Xor, a, sign))
        }
        UnaryOp::FAbs => {
            let rest = rewrite.splat(ty, !SIGN);
            Ok(rewrite.build().binary(BinaryOp::And, a, rest))
        }
        UnaryOp::FSaturate => rewrite.call("f64_saturate", &[a], Scalar::I64),
        UnaryOp::FRcp => {
            let one = rewrite.splat(ty, ONE);
            rewrite.call("f64_div", &[one, a], Scalar::I64)
        }
        _ => Err(Error::unsupported(format!("64-bit operation: {op:?}"))),
    }
}

fn binary(rewrite: &mut Rewrite<'_>, op: BinaryOp, a: Value, b: Value) -> Result<Value> {
    let name = match op {
        BinaryOp::FSub => {
            let ty = rewrite.ty(b);
            let b = unary(rewrite, UnaryOp::FNeg, b, ty)?;
            return rewrite.call("f64_add", &[a, b], Scalar::I64);
        }
        BinaryOp::FAdd => "f64_add",
        BinaryOp::FMul => "f64_mul",
        BinaryOp::FDiv => "f64_div",
        BinaryOp::FRem => "f64_rem",
        BinaryOp::FMin => "f64_min",
        BinaryOp::FMax => "f64_max",
        _ => return Err(Error::unsupported(format!("64-bit operation: {op:?}"))),
    };
    rewrite.call(name, &[a, b], Scalar::I64)
}

/// A conversion from or to doubles; nothing if it is one of integers.
fn convert(rewrite: &mut Rewrite<'_>, op: ConvertOp, a: Value, ty: Type) -> Result<Option<Value>> {
    let from = rewrite.ty(a).scalar().unwrap_or(Scalar::I64);
    let to = ty.scalar().unwrap_or(Scalar::I64);
    let result = match op {
        ConvertOp::Bitcast if rewrite.ty(a) == ty => a,
        ConvertOp::FToF if to == Scalar::I64 => {
            let a = if from == Scalar::F16 { rewrite.build().convert(ConvertOp::FToF, a, Scalar::F32) } else { a };
            rewrite.call("f64_from_f32", &[a], Scalar::I64)?
        }
        ConvertOp::FToF if to == Scalar::F16 => {
            let bits = rewrite.call("f64_to_f16", &[a], Scalar::I32)?;
            let bits = rewrite.build().convert(ConvertOp::Trunc, bits, Scalar::I16);
            rewrite.build().bitcast(bits, Scalar::F16)
        }
        ConvertOp::FToF => rewrite.call("f64_to_f32", &[a], Scalar::F32)?,
        ConvertOp::SToF | ConvertOp::UToF if to == Scalar::I64 => {
            let signed = op == ConvertOp::SToF;
            let extend = if signed { ConvertOp::SExt } else { ConvertOp::ZExt };
            let a = if from == Scalar::I64 { a } else { rewrite.build().convert(extend, a, Scalar::I64) };
            rewrite.call(if signed { "f64_from_s64" } else { "f64_from_u64" }, &[a], Scalar::I64)?
        }
        ConvertOp::FToS | ConvertOp::FToU if from == Scalar::I64 => {
            let signed = op == ConvertOp::FToS;
            let (name, result) = match (to, signed) {
                (Scalar::I64, true) => ("f64_to_s64", Scalar::I64),
                (Scalar::I64, false) => ("f64_to_u64", Scalar::I64),
                (Scalar::I16, true) => ("f64_to_s16", Scalar::I32),
                (Scalar::I16, false) => ("f64_to_u16", Scalar::I32),
                (_, true) => ("f64_to_s32", Scalar::I32),
                (_, false) => ("f64_to_u32", Scalar::I32),
            };
            let integer = rewrite.call(name, &[a], result)?;
            if result == to { integer } else { rewrite.build().convert(ConvertOp::Trunc, integer, to) }
        }
        ConvertOp::IsNan | ConvertOp::IsInf | ConvertOp::IsFinite => {
            let ty = rewrite.ty(a);
            let magnitude = unary(rewrite, UnaryOp::FAbs, a, ty)?;
            let infinite = rewrite.splat(ty, INFINITE);
            let op = match op {
                ConvertOp::IsNan => CompareOp::UGt,
                ConvertOp::IsInf => CompareOp::IEq,
                _ => CompareOp::ULt,
            };
            rewrite.build().compare(op, magnitude, infinite)
        }
        _ => return Ok(None),
    };
    Ok(Some(result))
}
