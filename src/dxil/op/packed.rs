//! Packed 8-bit integers and halves (Shader Models 6.4 and 6.6).

use smallvec::SmallVec;

use super::Call;
use crate::{
    Error, Result,
    dxil::lower::{FunctionLowering, Lowered},
    ir::{BinaryOp, ConvertOp, Scalar, TernaryOp, Value},
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// Byte of a word, extended to 32 bits.
fn byte(f: &mut Lowering<'_, '_>, word: Value, index: u32, signed: bool) -> Value {
    let op = if signed { TernaryOp::SBitfieldExtract } else { TernaryOp::UBitfieldExtract };
    let mut build = f.build();
    let (width, offset) = (build.i32(8), build.i32(8 * index));
    build.ternary(op, width, offset, word)
}

/// Mode (signed or not), word: four integers.
pub fn unpack(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let signed = call.constant(f, 0)? == 1;
    let word = call.i32(f, 1)?;
    let to = call.result_scalar(f)?;
    let mut scalars = SmallVec::new();
    for index in 0..4 {
        let value = byte(f, word, index, signed);
        scalars.push(match to {
            Scalar::I32 => value,
            Scalar::I16 => f.build().convert(ConvertOp::Trunc, value, Scalar::I16),
            to => return Err(Error::malformed(format!("result is no 16-bit or 32-bit integer: {to}"))),
        });
    }
    Ok(Some(Lowered::Scalars(scalars)))
}

/// Mode (0 truncates, 1 clamps to 0..255, 2 clamps to -128..127), four integers: a word.
pub fn pack(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let mode = call.constant(f, 0)?;
    let mut word = None;
    for index in 0..4 {
        let value = call.integer(f, 1 + index)?;
        let mut build = f.build();
        let scalar = build.ty(value).scalar();
        let mut value = match scalar {
            Some(Scalar::I16) => build.convert(ConvertOp::SExt, value, Scalar::I32),
            Some(Scalar::I32) => value,
            _ => return Err(Error::malformed("operand is no 16-bit or 32-bit integer")),
        };
        if let Some((low, high)) = [(1, (0, 255)), (2, (-128, 127))].iter().find(|entry| entry.0 == mode).map(|e| e.1) {
            let (low, high) = (build.i32(low as u32), build.i32(high as u32));
            value = build.binary(BinaryOp::SMax, value, low);
            value = build.binary(BinaryOp::SMin, value, high);
        }
        let mask = build.i32(0xff);
        let byte = build.binary(BinaryOp::And, value, mask);
        word = Some(match word {
            None => byte,
            Some(word) => {
                let count = build.i32(8 * index as u32);
                let place = build.binary(BinaryOp::Shl, byte, count);
                build.binary(BinaryOp::Or, word, place)
            }
        });
    }
    let word = word.ok_or_else(|| Error::internal("four bytes make a word"))?;
    Ok(Some(Lowered::scalar(word)))
}

/// Accumulator (`f32`), two lanes of each vector (halves); products and sums in `f32`.
pub fn dot2_add(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let mut sum = call.f32(f, 0)?;
    for lane in 0..2 {
        let mut lanes = [call.float(f, 1 + lane)?, call.float(f, 3 + lane)?];
        for lane in &mut lanes {
            if f.function.ty(*lane).scalar() != Some(Scalar::F32) {
                *lane = f.build().convert(ConvertOp::FToF, *lane, Scalar::F32);
            }
        }
        let mut build = f.build();
        let product = build.binary(BinaryOp::FMul, lanes[0], lanes[1]);
        sum = build.binary(BinaryOp::FAdd, sum, product);
    }
    Ok(Some(Lowered::scalar(sum)))
}

/// Accumulator, two words of four bytes.
pub fn dot4_add(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    // Dot4AddI8Packed, else Dot4AddU8Packed.
    let signed = call.number == 163;
    let [mut sum, a, b] = [call.i32(f, 0)?, call.i32(f, 1)?, call.i32(f, 2)?];
    for index in 0..4 {
        let (a, b) = (byte(f, a, index, signed), byte(f, b, index, signed));
        sum = f.build().ternary(TernaryOp::IMad, a, b, sum);
    }
    Ok(Some(Lowered::scalar(sum)))
}
