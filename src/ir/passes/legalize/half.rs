//! Halves as `f32`.
//!
//! Each value is a half that is carried as the `f32` of the same value. Products of two halves are exact in 32 bits, and
//! sums, quotients and square roots of halves are rounded there to more than twice the digits, so that rounding them again
//! gives what rounding once would (Figueroa, *When is Double Rounding Innocuous?*, 1995). That is not so of fused
//! multiplication and addition, and of doubles: these have functions of their own.

use super::{
    library::Library,
    rewrite::{Rewrite, retype_constants, retype_values, retype_variables, rewrite},
};
use crate::{
    Result,
    ir::{
        BinaryOp, BufferAddress, ConvertOp, Function, Module, Op, ReduceOp, Scalar, TernaryOp, UnaryOp, Value, WaveOp,
    },
};

/// Guarantees that nothing is an `f16`.
///
/// # Errors
/// A function is missing in the library: a bug.
pub(super) fn lower(module: &mut Module, library: &mut Library) -> Result<()> {
    retype_variables(module, Scalar::F16, Scalar::F32, widened);
    rewrite(module, library, begin, lower_instruction, |_, _| Ok(()))
}

fn widened(bits: u64) -> u64 {
    u64::from(half::f16::from_bits(bits as u16).to_f32().to_bits())
}

/// Instructions that gave or stored halves.
struct State {
    gave: Vec<bool>,
    stored: Vec<bool>,
}

fn begin(function: &mut Function) -> State {
    let is_half = |value: Value| function.ty(value).scalar() == Some(Scalar::F16);
    let values = || (0..function.values.len() as u32).map(Value);
    let state = State {
        gave: values().map(is_half).collect(),
        stored: values()
            .map(|value| matches!(function.op(value), Some(Op::StoreBuffer { value, .. }) if is_half(*value)))
            .collect(),
    };
    retype_constants(function, Scalar::F16, Scalar::F32, widened);
    retype_values(function, Scalar::F16, Scalar::F32);
    state
}

fn lower_instruction(rewrite: &mut Rewrite<'_>, state: &mut State, value: Value, op: Op) -> Result<()> {
    if state.gave.get(value.index()).copied().unwrap_or(false) {
        return lower_result(rewrite, value, op);
    }
    match op {
        // From a half to a float, both of which are floats now.
        Op::Convert(ConvertOp::FToF, a) if rewrite.ty(a) == rewrite.ty(value) => rewrite.replace(value, a),
        Op::Convert(ConvertOp::Bitcast, a) if rewrite.ty(a).scalar() == Some(Scalar::F32) && is_i16(rewrite, value) => {
            let bits = rewrite.call("f16_to_bits", &[a], Scalar::I32)?;
            rewrite.define(value, Op::Convert(ConvertOp::Trunc, bits));
        }
        Op::StoreBuffer { handle, address, value: stored }
            if state.stored[value.index()] && !matches!(address, BufferAddress::Element(_)) =>
        {
            let bits = rewrite.call("f16_to_bits", &[stored], Scalar::I32)?;
            let bits = rewrite.build().convert(ConvertOp::Trunc, bits, Scalar::I16);
            rewrite.define(value, Op::StoreBuffer { handle, address, value: bits });
        }
        op => rewrite.define(value, op),
    }
    Ok(())
}

fn is_i16(rewrite: &Rewrite<'_>, value: Value) -> bool {
    rewrite.ty(value).scalar() == Some(Scalar::I16)
}

/// An instruction that gave halves.
fn lower_result(rewrite: &mut Rewrite<'_>, value: Value, op: Op) -> Result<()> {
    let ty = rewrite.ty(value);
    let result = match op {
        op if gives_halves(&op) => {
            rewrite.define(value, op);
            return Ok(());
        }
        Op::Convert(ConvertOp::FToF, a) if rewrite.ty(a).scalar() == Some(Scalar::F64) => {
            let bits = rewrite.build().bitcast(a, Scalar::I64);
            let bits = rewrite.call("f64_to_f16", &[bits], Scalar::I32)?;
            rewrite.call("f16_from_bits", &[bits], Scalar::F32)?
        }
        Op::Convert(ConvertOp::FToF, a) => rewrite.call("f16_round", &[a], Scalar::F32)?,
        Op::Convert(ConvertOp::Bitcast, a) => {
            if rewrite.ty(a) == ty {
                a
            } else {
                let bits = rewrite.build().convert(ConvertOp::ZExt, a, Scalar::I32);
                rewrite.call("f16_from_bits", &[bits], Scalar::F32)?
            }
        }
        Op::LoadConstant { .. }
        | Op::LoadBuffer { address: BufferAddress::Byte(_) | BufferAddress::Structured(..), .. } => {
            let bits = rewrite.build().push(op, ty.with_scalar(Scalar::I16));
            let bits = rewrite.build().convert(ConvertOp::ZExt, bits, Scalar::I32);
            rewrite.call("f16_from_bits", &[bits], Scalar::F32)?
        }
        Op::Ternary(TernaryOp::FMad, a, b, c) => {
            let product = rewrite.build().binary(BinaryOp::FMul, a, b);
            let product = rewrite.call("f16_round", &[product], Scalar::F32)?;
            let sum = rewrite.build().binary(BinaryOp::FAdd, product, c);
            rewrite.call("f16_round", &[sum], Scalar::F32)?
        }
        Op::Ternary(TernaryOp::FFma, a, b, c) => rewrite.call("f16_fma", &[a, b, c], Scalar::F32)?,
        op => {
            let wide = rewrite.build().push(op, ty);
            rewrite.call("f16_round", &[wide], Scalar::F32)?
        }
    };
    rewrite.replace(value, result);
    Ok(())
}

/// What the operation makes of halves are halves, without rounding.
fn gives_halves(op: &Op) -> bool {
    use UnaryOp::{FAbs, FCeil, FFloor, FNeg, FRoundEven, FSaturate, FTrunc};
    match op {
        Op::Unary(op, _) => matches!(op, FNeg | FAbs | FSaturate | FRoundEven | FFloor | FCeil | FTrunc),
        Op::Binary(op, ..) => matches!(op, BinaryOp::FMin | BinaryOp::FMax),
        Op::Wave(op, _) => match op {
            WaveOp::Reduce(op) | WaveOp::Prefix(op) | WaveOp::MultiPrefix(op) => {
                matches!(op, ReduceOp::FMin | ReduceOp::FMax)
            }
            _ => true,
        },
        Op::Select { .. }
        | Op::Extract(..)
        | Op::ExtractDynamic(..)
        | Op::Compose(_)
        | Op::Swizzle(..)
        | Op::LoadVariable { .. }
        | Op::Call(..) => true,
        _ => false,
    }
}
