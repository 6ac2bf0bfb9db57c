//! Wave and quad operations.

use smallvec::SmallVec;

use super::Call;
use crate::{
    Error, Result,
    dxil::lower::{FunctionLowering, Lowered},
    ir::{Op, ReduceOp, Scalar, Type, Value, WaveOp},
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// An operation on the arguments as they are.
pub fn simple(f: &mut Lowering<'_, '_>, call: &Call<'_>, op: WaveOp) -> Result<Lowered> {
    let mut operands: SmallVec<[Value; 2]> = SmallVec::new();
    for index in 0..call.len() {
        operands.push(call.number(f, index)?);
    }
    let expected = match op {
        WaveOp::IsFirstLane | WaveOp::LaneIndex | WaveOp::LaneCount => 0,
        WaveOp::ReadLaneAt | WaveOp::QuadReadLaneAt => 2,
        _ => 1,
    };
    if operands.len() != expected {
        return Err(Error::malformed("number of arguments"));
    }
    let bool_operand =
        matches!(op, WaveOp::AnyTrue | WaveOp::AllTrue | WaveOp::Ballot | WaveOp::CountBits | WaveOp::PrefixCountBits);
    if bool_operand && f.function.ty(operands[0]) != Type::BOOL {
        return Err(Error::malformed("operand is no bool"));
    }
    if operands.get(1).is_some_and(|&lane| f.function.ty(lane) != Type::I32) {
        return Err(Error::malformed("lane is no i32"));
    }
    match op {
        WaveOp::Ballot | WaveOp::Match => {
            let mask = f.build().push(Op::Wave(op, operands), Type::Vector(Scalar::I32, 4));
            Ok(f.take_apart(mask, f.members_used(call.result), &[]))
        }
        _ => {
            let ty = Type::Scalar(call.result_scalar(f)?);
            Ok(Lowered::scalar(f.build().push(Op::Wave(op, operands), ty)))
        }
    }
}

fn wave(f: &mut Lowering<'_, '_>, op: WaveOp, operands: &[Value]) -> Option<Lowered> {
    let ty = f.function.ty(operands[0]);
    Some(Lowered::scalar(f.build().push(Op::Wave(op, SmallVec::from_slice(operands)), ty)))
}

/// `DXIL::WaveOpKind` and `DXIL::SignedOpKind` for a type.
fn reduction(f: &Lowering<'_, '_>, value: Value, kind: u32, unsigned: bool) -> Result<ReduceOp> {
    let float = f.function.ty(value).scalar().is_some_and(Scalar::is_float);
    Ok(match (kind, float, unsigned) {
        (0, true, _) => ReduceOp::FAdd,
        (1, true, _) => ReduceOp::FMul,
        (2, true, _) => ReduceOp::FMin,
        (3, true, _) => ReduceOp::FMax,
        (0, false, _) => ReduceOp::IAdd,
        (1, false, _) => ReduceOp::IMul,
        (2, false, false) => ReduceOp::SMin,
        (2, false, true) => ReduceOp::UMin,
        (3, false, false) => ReduceOp::SMax,
        (3, false, true) => ReduceOp::UMax,
        _ => return Err(Error::malformed(format!("unknown kind of reduction: {kind}"))),
    })
}

/// Value, kind, sign.
pub fn active(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = call.number(f, 0)?;
    let op = reduction(f, value, call.constant(f, 1)?, call.constant(f, 2)? == 1)?;
    Ok(wave(f, WaveOp::Reduce(op), &[value]))
}

/// Value, kind, sign.
pub fn prefix(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = call.number(f, 0)?;
    let op = reduction(f, value, call.constant(f, 1)?, call.constant(f, 2)? == 1)?;
    Ok(wave(f, WaveOp::Prefix(op), &[value]))
}

/// Value, `DXIL::WaveBitOpKind`.
pub fn active_bit(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = call.number(f, 0)?;
    let op = match call.constant(f, 1)? {
        0 => ReduceOp::And,
        1 => ReduceOp::Or,
        2 => ReduceOp::Xor,
        kind => return Err(Error::malformed(format!("unknown kind of reduction: {kind}"))),
    };
    Ok(wave(f, WaveOp::Reduce(op), &[value]))
}

/// Four words of a mask, from an argument on.
fn mask(f: &mut Lowering<'_, '_>, call: &Call<'_>, start: usize) -> Result<Value> {
    call.vector(f, start, 4, Scalar::I32)
}

/// Value, mask, `DXIL::WaveMultiPrefixOpKind`, sign.
pub fn multi_prefix(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = call.number(f, 0)?;
    let mask = mask(f, call, 1)?;
    let float = f.function.ty(value).scalar().is_some_and(Scalar::is_float);
    let op = match (call.constant(f, 5)?, float) {
        (0, true) => ReduceOp::FAdd,
        (4, true) => ReduceOp::FMul,
        (0, false) => ReduceOp::IAdd,
        (1, false) => ReduceOp::And,
        (2, false) => ReduceOp::Or,
        (3, false) => ReduceOp::Xor,
        (4, false) => ReduceOp::IMul,
        (kind, _) => return Err(Error::malformed(format!("unknown kind of reduction: {kind}"))),
    };
    Ok(wave(f, WaveOp::MultiPrefix(op), &[value, mask]))
}

/// `bool`, mask.
pub fn multi_prefix_bit_count(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = call.typed(f, 0, Scalar::Bool)?;
    let mask = mask(f, call, 1)?;
    let operands = SmallVec::from_slice(&[value, mask]);
    let count = f.build().push(Op::Wave(WaveOp::MultiPrefixCountBits, operands), Type::I32);
    Ok(Some(Lowered::scalar(count)))
}

/// Value, `DXIL::QuadOpKind`.
pub fn quad(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = call.number(f, 0)?;
    let op = match call.constant(f, 1)? {
        0 => WaveOp::QuadReadAcrossX,
        1 => WaveOp::QuadReadAcrossY,
        2 => WaveOp::QuadReadAcrossDiagonal,
        kind => return Err(Error::malformed(format!("unknown quad operation: {kind}"))),
    };
    Ok(wave(f, op, &[value]))
}

/// `bool`, `DXIL::QuadVoteOpKind`.
pub fn quad_vote(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = call.typed(f, 0, Scalar::Bool)?;
    let op = if call.constant(f, 1)? == 1 { WaveOp::QuadAll } else { WaveOp::QuadAny };
    Ok(wave(f, op, &[value]))
}
