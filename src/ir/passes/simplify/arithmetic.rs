//! Arithmetic of integers and floats.

use smallvec::SmallVec;

use super::{Keep, Outcome, Same, Simplifier};
use crate::ir::{
    BinaryOp, ConvertOp, Op, Scalar, TernaryOp, UnaryOp, Value,
    passes::{cse::is_commutative, fold},
};

impl Simplifier<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, a: Value) -> Outcome {
        let ty = self.function.ty(a);
        let Some(scalar) = ty.scalar() else { return Keep };
        if let Some(lanes) = self.lanes(a)
            && let Some(lanes) = lanes.iter().map(|a| fold::unary(op, scalar, *a)).collect::<Option<SmallVec<[_; 4]>>>()
        {
            let counts = matches!(
                op,
                UnaryOp::CountBits | UnaryOp::FirstBitLow | UnaryOp::FirstBitHigh | UnaryOp::FirstBitSignedHigh
            );
            return self.constant(if counts { ty.with_scalar(Scalar::I32) } else { ty }, &lanes);
        }
        match (op, self.function.op(a)) {
            (UnaryOp::FNeg, Some(&Op::Unary(UnaryOp::FNeg, inner)))
            | (UnaryOp::INeg, Some(&Op::Unary(UnaryOp::INeg, inner)))
            | (UnaryOp::Not, Some(&Op::Unary(UnaryOp::Not, inner))) => Same(inner),
            (UnaryOp::FAbs, Some(Op::Unary(UnaryOp::FAbs, _)))
            | (UnaryOp::FSaturate, Some(Op::Unary(UnaryOp::FSaturate, _))) => Same(a),
            (UnaryOp::FAbs, Some(&Op::Unary(UnaryOp::FNeg, inner))) => Outcome::Op(Op::Unary(UnaryOp::FAbs, inner)),
            (UnaryOp::INeg, Some(&Op::Binary(BinaryOp::ISub, x, y))) => Outcome::Op(Op::Binary(BinaryOp::ISub, y, x)),
            // -1 and 1 are each other's opposite.
            (UnaryOp::INeg, Some(&Op::Convert(ConvertOp::ZExt, inner))) if self.scalar(inner) == Some(Scalar::Bool) => {
                Outcome::Op(Op::Convert(ConvertOp::SExt, inner))
            }
            (UnaryOp::INeg, Some(&Op::Convert(ConvertOp::SExt, inner))) if self.scalar(inner) == Some(Scalar::Bool) => {
                Outcome::Op(Op::Convert(ConvertOp::ZExt, inner))
            }
            (UnaryOp::Not, _) => self.not(a),
            _ => Keep,
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Outcome {
        let ty = self.function.ty(a);
        let Some(scalar) = ty.scalar() else { return Keep };
        let ones = fold::mask(scalar);
        if let (Some(x), Some(y)) = (self.lanes(a), self.lanes(b)) {
            let lanes: Option<SmallVec<[_; 4]>> =
                x.iter().zip(&y).map(|(x, y)| fold::binary(op, scalar, *x, *y)).collect();
            return lanes.map_or(Keep, |lanes| self.constant(ty, &lanes));
        }
        if self.function.as_constant(a).is_some() && is_commutative(op) {
            return Outcome::Op(Op::Binary(op, b, a));
        }
        let opposite = |value: Value, of: UnaryOp| match self.function.op(value) {
            Some(&Op::Unary(op, inner)) if op == of => Some(inner),
            _ => None,
        };
        match op {
            BinaryOp::FAdd => match (opposite(a, UnaryOp::FNeg), opposite(b, UnaryOp::FNeg)) {
                (_, Some(b)) => Outcome::Op(Op::Binary(BinaryOp::FSub, a, b)),
                (Some(a), None) => Outcome::Op(Op::Binary(BinaryOp::FSub, b, a)),
                _ => Keep,
            },
            BinaryOp::FSub => match opposite(b, UnaryOp::FNeg) {
                Some(b) => Outcome::Op(Op::Binary(BinaryOp::FAdd, a, b)),
                // LLVM's way to write a negation.
                None if self.is(a, 1 << (scalar.bits() - 1)) => Outcome::Op(Op::Unary(UnaryOp::FNeg, b)),
                None => Keep,
            },
            BinaryOp::FMul => match (opposite(a, UnaryOp::FNeg), opposite(b, UnaryOp::FNeg)) {
                (Some(a), Some(b)) => Outcome::Op(Op::Binary(BinaryOp::FMul, a, b)),
                _ => Keep,
            },
            BinaryOp::IAdd => {
                if self.is(b, 0) {
                    return Same(a);
                }
                match (opposite(a, UnaryOp::INeg), opposite(b, UnaryOp::INeg)) {
                    (_, Some(b)) => Outcome::Op(Op::Binary(BinaryOp::ISub, a, b)),
                    (Some(a), None) => Outcome::Op(Op::Binary(BinaryOp::ISub, b, a)),
                    _ => self.associate(op, a, b),
                }
            }
            BinaryOp::ISub => match opposite(b, UnaryOp::INeg) {
                _ if a == b => Same(self.splat(ty, 0)),
                _ if self.is(b, 0) => Same(a),
                _ if self.is(a, 0) => Outcome::Op(Op::Unary(UnaryOp::INeg, b)),
                Some(b) => Outcome::Op(Op::Binary(BinaryOp::IAdd, a, b)),
                None => Keep,
            },
            BinaryOp::IMul if self.is(b, 0) => Same(b),
            BinaryOp::IMul if self.is(b, 1) => Same(a),
            BinaryOp::IMul => self.associate(op, a, b),
            BinaryOp::UDiv | BinaryOp::URem => match self.uniform(b) {
                Some(divisor) if divisor.is_power_of_two() => {
                    let (op, bits) = match op {
                        BinaryOp::UDiv => (BinaryOp::LShr, divisor.trailing_zeros().into()),
                        _ => (BinaryOp::And, divisor - 1),
                    };
                    let b = self.splat(ty, bits);
                    Outcome::Op(Op::Binary(op, a, b))
                }
                _ => Keep,
            },
            BinaryOp::SDiv if self.is(b, 1) => Same(a),
            BinaryOp::SMin | BinaryOp::SMax | BinaryOp::UMin | BinaryOp::UMax if a == b => Same(a),
            BinaryOp::UMin if self.is(b, 0) => Same(b),
            BinaryOp::UMax if self.is(b, 0) => Same(a),
            BinaryOp::UMin if self.is(b, ones) => Same(a),
            BinaryOp::UMax if self.is(b, ones) => Same(b),
            BinaryOp::And if a == b || self.is(b, ones) => Same(a),
            BinaryOp::Or if a == b || self.is(b, 0) => Same(a),
            BinaryOp::And if self.is(b, 0) => Same(b),
            BinaryOp::Or if self.is(b, ones) => Same(b),
            BinaryOp::Xor if a == b => Same(self.splat(ty, 0)),
            BinaryOp::Xor if self.is(b, 0) => Same(a),
            BinaryOp::Xor if self.is(b, ones) => Outcome::Op(Op::Unary(UnaryOp::Not, a)),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => match self.masks(op, a, b) {
                Keep => self.associate(op, a, b),
                outcome => outcome,
            },
            BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr => match self.uniform(b) {
                Some(count) if count & u64::from(scalar.bits() - 1) == 0 => Same(a),
                Some(count) if count >= scalar.bits().into() => {
                    let b = self.splat(ty, count & u64::from(scalar.bits() - 1));
                    Outcome::Op(Op::Binary(op, a, b))
                }
                _ if self.is(a, 0) => Same(a),
                _ => Keep,
            },
            _ => Keep,
        }
    }

    /// `(x op constant) op constant` of an associative integer operation.
    fn associate(&mut self, op: BinaryOp, a: Value, b: Value) -> Outcome {
        let Some(&Op::Binary(inner, x, first)) = self.function.op(a) else { return Keep };
        if inner != op {
            return Keep;
        }
        let ty = self.function.ty(a);
        let (Some(scalar), Some(first), Some(second)) = (ty.scalar(), self.lanes(first), self.lanes(b)) else {
            return Keep;
        };
        let lanes: Option<SmallVec<[_; 4]>> =
            first.iter().zip(&second).map(|(first, second)| fold::binary(op, scalar, *first, *second)).collect();
        match lanes {
            Some(lanes) => {
                let constant = self.function.constant(ty, &lanes);
                Outcome::Op(Op::Binary(op, x, constant))
            }
            None => Keep,
        }
    }

    pub(super) fn ternary(&mut self, op: TernaryOp, a: Value, b: Value, c: Value) -> Outcome {
        let ty = self.function.ty(a);
        let Some(scalar) = ty.scalar() else { return Keep };
        let constants = (self.lanes(a), self.lanes(b), self.lanes(c));
        if let (Some(x), Some(y), Some(z)) = &constants {
            let lanes: Option<SmallVec<[_; 4]>> =
                (0..x.len()).map(|lane| fold::ternary(op, scalar, x[lane], y[lane], z[lane])).collect();
            return lanes.map_or(Keep, |lanes| self.constant(ty, &lanes));
        }
        match op {
            TernaryOp::IMad if constants.0.is_some() && constants.1.is_some() => {
                let Same(product) = self.binary(BinaryOp::IMul, a, b) else { return Keep };
                Outcome::Op(Op::Binary(BinaryOp::IAdd, c, product))
            }
            TernaryOp::IMad if constants.0.is_some() => Outcome::Op(Op::Ternary(op, b, a, c)),
            TernaryOp::IMad if self.is(b, 1) => Outcome::Op(Op::Binary(BinaryOp::IAdd, a, c)),
            TernaryOp::IMad if self.is(b, 0) => Same(c),
            TernaryOp::IMad if self.is(c, 0) => Outcome::Op(Op::Binary(BinaryOp::IMul, a, b)),
            // A product with 1 is exact, fused or not.
            TernaryOp::FMad | TernaryOp::FFma => {
                let one = fold::convert(ConvertOp::UToF, Scalar::I32, scalar, 1);
                match one {
                    Some(one) if self.is(a, one) => Outcome::Op(Op::Binary(BinaryOp::FAdd, b, c)),
                    Some(one) if self.is(b, one) => Outcome::Op(Op::Binary(BinaryOp::FAdd, a, c)),
                    _ => Keep,
                }
            }
            _ => Keep,
        }
    }
}
