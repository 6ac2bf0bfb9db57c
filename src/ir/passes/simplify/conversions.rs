//! Conversions.

use smallvec::SmallVec;

use super::{Keep, Outcome, Same, Simplifier};
use crate::ir::{BinaryOp, ConvertOp, Op, Scalar, Type, UnaryOp, Value, passes::fold};

impl Simplifier<'_> {
    pub(super) fn convert(&mut self, op: ConvertOp, a: Value, to: Type) -> Outcome {
        let from = self.function.ty(a);
        let (Some(from_scalar), Some(to_scalar)) = (from.scalar(), to.scalar()) else { return Keep };
        if from.lanes() != to.lanes() {
            return self.repack(a, to);
        }
        if op == ConvertOp::Bitcast && from == to {
            return Same(a);
        }
        if let Some(constant) = self.converted(op, a, to) {
            return Same(constant);
        }
        match (op, self.function.op(a)) {
            (ConvertOp::Bitcast, Some(&Op::Convert(ConvertOp::Bitcast, inner))) => {
                if self.function.ty(inner) == to {
                    Same(inner)
                } else if can_bitcast(self.function.ty(inner), to) {
                    Outcome::Op(Op::Convert(op, inner))
                } else {
                    Keep
                }
            }
            // Signs of floats, said on their bits.
            (ConvertOp::Bitcast, Some(&Op::Binary(bits, masked, mask))) if to_scalar.is_float() => {
                self.sign(bits, masked, mask, to)
            }
            (_, Some(&Op::Select { condition, accept, reject })) => {
                match (self.converted(op, accept, to), self.converted(op, reject, to)) {
                    (Some(accept), Some(reject)) => Outcome::Op(Op::Select { condition, accept, reject }),
                    _ => Keep,
                }
            }
            // `bool` to a float by way of an integer.
            (
                ConvertOp::SToF | ConvertOp::UToF,
                Some(&Op::Convert(by @ (ConvertOp::SExt | ConvertOp::ZExt), condition)),
            ) if self.scalar(condition) == Some(Scalar::Bool) => {
                let one = if by == ConvertOp::SExt { fold::mask(from_scalar) } else { 1 };
                match fold::convert(op, from_scalar, to_scalar, one) {
                    Some(one) => {
                        let (accept, reject) = (self.splat(to, one), self.splat(to, 0));
                        Outcome::Op(Op::Select { condition, accept, reject })
                    }
                    None => Keep,
                }
            }
            (ConvertOp::Trunc, Some(&Op::Convert(by @ (ConvertOp::SExt | ConvertOp::ZExt), inner))) => {
                match self.scalar(inner) {
                    Some(scalar) if scalar == to_scalar => Same(inner),
                    Some(scalar) if scalar.bits() < to_scalar.bits() => Outcome::Op(Op::Convert(by, inner)),
                    Some(_) => Outcome::Op(Op::Convert(op, inner)),
                    None => Keep,
                }
            }
            (ConvertOp::Trunc, Some(&Op::Convert(ConvertOp::Trunc, inner)))
            | (ConvertOp::SExt, Some(&Op::Convert(ConvertOp::SExt, inner)))
            | (ConvertOp::ZExt, Some(&Op::Convert(ConvertOp::ZExt, inner))) => Outcome::Op(Op::Convert(op, inner)),
            // Zeros stand above already.
            (ConvertOp::SExt, Some(&Op::Convert(ConvertOp::ZExt, inner))) => {
                Outcome::Op(Op::Convert(ConvertOp::ZExt, inner))
            }
            // There and back again by way of a wider type.
            (ConvertOp::FToF, Some(&Op::Convert(ConvertOp::FToF, inner)))
                if self.function.ty(inner) == to && to_scalar.bits() < from_scalar.bits() =>
            {
                Same(inner)
            }
            _ => Keep,
        }
    }

    /// The bits of a float of type `to`, and a mask that touches its sign alone.
    fn sign(&mut self, op: BinaryOp, masked: Value, mask: Value, to: Type) -> Outcome {
        let Some(bits) = to.scalar().map(Scalar::bits) else { return Keep };
        let sign = 1 << (bits - 1);
        let float = match self.function.op(masked) {
            Some(&Op::Convert(ConvertOp::Bitcast, inner)) if self.function.ty(inner) == to => inner,
            _ => return Keep,
        };
        match op {
            BinaryOp::And if self.is(mask, sign - 1) => Outcome::Op(Op::Unary(UnaryOp::FAbs, float)),
            BinaryOp::Xor if self.is(mask, sign) => Outcome::Op(Op::Unary(UnaryOp::FNeg, float)),
            BinaryOp::Or if self.is(mask, sign) => {
                let magnitude = self.build().unary(UnaryOp::FAbs, float);
                Outcome::Op(Op::Unary(UnaryOp::FNeg, magnitude))
            }
            _ => Keep,
        }
    }

    /// A converted constant.
    fn converted(&mut self, op: ConvertOp, a: Value, to: Type) -> Option<Value> {
        let from = self.scalar(a)?;
        let scalar = to.scalar()?;
        let lanes: Option<SmallVec<[_; 4]>> =
            self.function.as_constant(a)?.iter().map(|bits| fold::convert(op, from, scalar, *bits)).collect();
        Some(self.function.constant(to, &lanes?))
    }

    /// One 64-bit number from or to two words.
    fn repack(&mut self, a: Value, to: Type) -> Outcome {
        match self.function.as_constant(a) {
            Some(&[low, high]) if to.lanes() == 1 => return self.constant(to, &[low | high << 32]),
            Some(&[bits]) if to.lanes() == 2 => return self.constant(to, &[bits & 0xffff_ffff, bits >> 32]),
            _ => {}
        }
        match self.function.op(a) {
            Some(&Op::Convert(ConvertOp::Bitcast, inner)) => {
                let ty = self.function.ty(inner);
                if ty == to {
                    Same(inner)
                } else if can_bitcast(ty, to) {
                    // Another 64-bit type on the way.
                    Outcome::Op(Op::Convert(ConvertOp::Bitcast, inner))
                } else {
                    Keep
                }
            }
            _ => Keep,
        }
    }
}

/// There is a bitcast between the types: lane by lane, or between a 64-bit number and its words as integers.
fn can_bitcast(from: Type, to: Type) -> bool {
    let (Some(from_scalar), Some(to_scalar)) = (from.scalar(), to.scalar()) else { return false };
    let words = Type::Vector(Scalar::I32, 2);
    from.lanes() == to.lanes() && from_scalar.bits() == to_scalar.bits()
        || from == words && to.lanes() == 1 && to_scalar.bits() == 64
        || to == words && from.lanes() == 1 && from_scalar.bits() == 64
}
