//! Arithmetic and bits.

use smallvec::SmallVec;

use super::Call;
use crate::{
    Error, Result,
    dxil::lower::{FunctionLowering, Lowered},
    ir::{BinaryOp, CompareOp, ConvertOp, Op, Scalar, Type, UnaryOp, Value},
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// A result of one number.
fn one(value: Value) -> Result<Option<Lowered>> {
    Ok(Some(Lowered::scalar(value)))
}

/// A result of two numbers.
fn two(a: Value, b: Value) -> Result<Option<Lowered>> {
    Ok(Some(Lowered::Scalars(SmallVec::from_slice(&[a, b]))))
}

pub fn reverse_bits(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let a = call.integer(f, 0)?;
    one(f.build().unary(UnaryOp::ReverseBits, a))
}

pub fn count_bits(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let a = call.integer(f, 0)?;
    one(f.build().unary(UnaryOp::CountBits, a))
}

pub fn first_bit_low(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let a = call.integer(f, 0)?;
    one(f.build().unary(UnaryOp::FirstBitLow, a))
}

pub fn first_bit_high(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    first_bit_from_top(f, call, UnaryOp::FirstBitHigh)
}

pub fn first_bit_signed_high(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    first_bit_from_top(f, call, UnaryOp::FirstBitSignedHigh)
}

/// DXIL counts from the most significant bit, the IR from bit 0.
fn first_bit_from_top(f: &mut Lowering<'_, '_>, call: &Call<'_>, op: UnaryOp) -> Result<Option<Lowered>> {
    let a = call.integer(f, 0)?;
    let bits = f.function.ty(a).scalar().map_or(32, Scalar::bits);
    let mut build = f.build();
    let from_bottom = build.unary(op, a);
    let top = build.i32(bits - 1);
    let from_top = build.binary(BinaryOp::ISub, top, from_bottom);
    let none = build.i32(u32::MAX);
    let is_none = build.compare(CompareOp::IEq, from_bottom, none);
    one(build.select(is_none, none, from_top))
}

/// Finite, and neither zero nor denormal.
pub fn is_normal(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let a = call.float(f, 0)?;
    let ty = f.function.ty(a);
    let smallest = match ty.scalar() {
        Some(Scalar::F16) => 0x0400,
        Some(Scalar::F64) => f64::MIN_POSITIVE.to_bits(),
        _ => u64::from(f32::MIN_POSITIVE.to_bits()),
    };
    let smallest = f.function.constant(ty, &[smallest]);
    let mut build = f.build();
    let finite = build.convert(ConvertOp::IsFinite, a, Scalar::Bool);
    let magnitude = build.unary(UnaryOp::FAbs, a);
    let large = build.compare(CompareOp::FGe, magnitude, smallest);
    one(build.binary(BinaryOp::And, finite, large))
}

pub fn wide_multiply_signed(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    wide_multiply(f, call, BinaryOp::SMulHigh)
}

pub fn wide_multiply_unsigned(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    wide_multiply(f, call, BinaryOp::UMulHigh)
}

/// High half, low half.
fn wide_multiply(f: &mut Lowering<'_, '_>, call: &Call<'_>, high: BinaryOp) -> Result<Option<Lowered>> {
    let (a, b) = (call.i32(f, 0)?, call.i32(f, 1)?);
    let high = f.build().binary(high, a, b);
    let low = f.build().binary(BinaryOp::IMul, a, b);
    two(high, low)
}

/// Quotient, remainder.
pub fn divide(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (a, b) = (call.integer(f, 0)?, call.integer(f, 1)?);
    call.same(f, &[a, b])?;
    let quotient = f.build().binary(BinaryOp::UDiv, a, b);
    let remainder = f.build().binary(BinaryOp::URem, a, b);
    two(quotient, remainder)
}

/// Sum, carry.
pub fn add_with_carry(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (a, b) = (call.integer(f, 0)?, call.integer(f, 1)?);
    call.same(f, &[a, b])?;
    let sum = f.build().binary(BinaryOp::IAdd, a, b);
    let carry = f.build().compare(CompareOp::ULt, sum, a);
    two(sum, carry)
}

/// Difference, borrow.
pub fn subtract_with_borrow(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (a, b) = (call.integer(f, 0)?, call.integer(f, 1)?);
    call.same(f, &[a, b])?;
    let difference = f.build().binary(BinaryOp::ISub, a, b);
    let borrow = f.build().compare(CompareOp::ULt, a, b);
    two(difference, borrow)
}

/// Width, offset, what is inserted, what stays.
pub fn bitfield_insert(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let [width, offset, insert, base] = [call.i32(f, 0)?, call.i32(f, 1)?, call.i32(f, 2)?, call.i32(f, 3)?];
    one(f.build().push(Op::BitfieldInsert { width, offset, insert, base }, Type::I32))
}

/// The lanes of both vectors one after the other.
pub fn dot(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let scalar = call.result_scalar(f)?;
    if !scalar.is_float() {
        return Err(Error::malformed("operand of another type than the operation's"));
    }
    // Dot2, Dot3, Dot4.
    let lanes = (call.number - 52) as u8;
    let a = call.vector(f, 0, lanes, scalar)?;
    let b = call.vector(f, lanes as usize, lanes, scalar)?;
    one(f.build().push(Op::Dot(a, b), Type::Scalar(scalar)))
}

/// All elements of a vector combined.
pub fn vector_reduce(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    // VectorReduceAnd, else VectorReduceOr.
    let op = if call.number == 309 { BinaryOp::And } else { BinaryOp::Or };
    let lowered = f.value(call.argument(0)?)?;
    let mut elements = lowered.scalars()?.iter().copied();
    let mut sum = elements.next().ok_or_else(|| Error::malformed("vector of nothing"))?;
    if f.function.ty(sum).scalar().is_none_or(Scalar::is_float) {
        return Err(Error::malformed("operand of another type than the operation's"));
    }
    for element in elements {
        sum = f.build().binary(op, sum, element);
    }
    one(sum)
}

/// Two vectors of any length.
pub fn vector_dot(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (a, b) = (f.value(call.argument(0)?)?, f.value(call.argument(1)?)?);
    let (a, b) = (a.scalars()?, b.scalars()?);
    let is_float = |value: &Value| f.function.ty(*value).scalar().is_some_and(Scalar::is_float);
    if a.is_empty() || a.len() != b.len() || !a.iter().chain(b).all(is_float) {
        return Err(Error::malformed("operand of another type than the operation's"));
    }
    call.same(f, a)?;
    call.same(f, b)?;
    call.same(f, &[a[0], b[0]])?;
    let scalar = f.function.ty(a[0]);
    let mut sum: Option<Value> = None;
    for (a, b) in a.chunks(4).zip(b.chunks(4)) {
        let mut build = f.build();
        let part = match (a, b) {
            ([a], [b]) => build.binary(BinaryOp::FMul, *a, *b),
            (a, b) => {
                let (a, b) = (build.compose(a), build.compose(b));
                build.push(Op::Dot(a, b), scalar)
            }
        };
        sum = Some(match sum {
            Some(sum) => build.binary(BinaryOp::FAdd, sum, part),
            None => part,
        });
    }
    one(sum.ok_or_else(|| Error::internal("vectors have elements"))?)
}
