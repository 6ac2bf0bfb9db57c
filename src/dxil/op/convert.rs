//! Conversions.

use smallvec::SmallVec;

use super::Call;
use crate::{
    Error, Result,
    dxil::lower::{FunctionLowering, Lowered},
    ir::{ConvertOp, Op, Scalar, Type},
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// Low word, high word.
pub fn make_double(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let words = call.vector(f, 0, 2, Scalar::I32)?;
    let double = f.build().push(Op::Convert(ConvertOp::Bitcast, words), Type::Scalar(Scalar::F64));
    Ok(Some(Lowered::scalar(double)))
}

/// Low word, high word.
pub fn split_double(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let double = call.typed(f, 0, Scalar::F64)?;
    let words = f.build().push(Op::Convert(ConvertOp::Bitcast, double), Type::Vector(Scalar::I32, 2));
    Ok(Some(f.take_apart(words, f.members_used(call.result), &[])))
}

/// The same bits as the result's type. Minimum-precision halves are floats that have other bits.
pub fn bitcast(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = call.number(f, 0)?;
    let to = call.result_scalar(f)?;
    let from = f.function.ty(value).scalar();
    // BitcastI16toF16, BitcastF16toI16.
    let minimum_precision = matches!(call.number, 124 | 125) && !f.parent.native_16_bit;
    let mut build = f.build();
    let value = match (from, to) {
        (Some(Scalar::F32), Scalar::I32) if minimum_precision => {
            build.convert(ConvertOp::F32ToF16Bits, value, Scalar::I32)
        }
        (Some(Scalar::I32), Scalar::F32) if minimum_precision => {
            build.convert(ConvertOp::F16BitsToF32, value, Scalar::F32)
        }
        (Some(from), to) if from.bits() == to.bits() && from != Scalar::Bool => build.bitcast(value, to),
        _ => return Err(Error::malformed("bitcast between types of different sizes")),
    };
    Ok(Some(Lowered::scalar(value)))
}

pub fn f32_to_f16(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = call.f32(f, 0)?;
    Ok(Some(Lowered::scalar(f.build().convert(ConvertOp::F32ToF16Bits, value, Scalar::I32))))
}

pub fn f16_to_f32(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = call.i32(f, 0)?;
    Ok(Some(Lowered::scalar(f.build().convert(ConvertOp::F16BitsToF32, value, Scalar::F32))))
}

pub fn double_to_float(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = call.typed(f, 0, Scalar::F64)?;
    Ok(Some(Lowered::scalar(f.build().convert(ConvertOp::FToF, value, Scalar::F32))))
}

pub fn double_to_int(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = call.typed(f, 0, Scalar::F64)?;
    // LegacyDoubleToSInt32, else LegacyDoubleToUInt32.
    let op = if call.number == 133 { ConvertOp::FToS } else { ConvertOp::FToU };
    Ok(Some(Lowered::Scalars(SmallVec::from_slice(&[f.build().convert(op, value, Scalar::I32)]))))
}
