//! Booleans, masks, comparisons and selections.

use super::{Keep, Outcome, Same, Simplifier};
use crate::ir::{BinaryOp, CompareOp, ConvertOp, Op, Scalar, Type, UnaryOp, Value, passes::fold};

impl Simplifier<'_> {
    /// The opposite of a `bool`, or of an integer's bits.
    pub(super) fn not(&mut self, a: Value) -> Outcome {
        match self.function.op(a) {
            // With a NaN, the opposite of an ordered comparison is none.
            Some(&Op::Compare(op, x, y)) => match opposite(op) {
                Some(op) => Outcome::Op(Op::Compare(op, x, y)),
                None => Keep,
            },
            Some(&Op::Convert(ConvertOp::SExt, inner)) if self.scalar(inner) == Some(Scalar::Bool) => {
                let not = self.build().unary(UnaryOp::Not, inner);
                Outcome::Op(Op::Convert(ConvertOp::SExt, not))
            }
            _ => Keep,
        }
    }

    /// Bitwise operations of which an operand is a widened `bool`.
    pub(super) fn masks(&mut self, op: BinaryOp, a: Value, b: Value) -> Outcome {
        let ty = self.function.ty(a);
        for by in [ConvertOp::SExt, ConvertOp::ZExt] {
            if let (Some(x), Some(y)) = (self.widened(a, by), self.widened(b, by)) {
                let both = self.build().binary(op, x, y);
                return Outcome::Op(Op::Convert(by, both));
            }
        }
        for (mask, other) in [(a, b), (b, a)] {
            if let Some(condition) = self.widened(mask, ConvertOp::SExt) {
                match op {
                    BinaryOp::And => {
                        let reject = self.splat(ty, 0);
                        return Outcome::Op(Op::Select { condition, accept: other, reject });
                    }
                    BinaryOp::Or => {
                        let accept = self.splat(ty, u64::MAX);
                        return Outcome::Op(Op::Select { condition, accept, reject: other });
                    }
                    _ => {}
                }
            }
            if op == BinaryOp::And && self.widened(mask, ConvertOp::ZExt).is_some() && self.is(other, 1) {
                return Same(mask);
            }
        }
        // x and not x.
        let opposites =
            |x: Value, y: Value| matches!(self.function.op(x), Some(Op::Unary(UnaryOp::Not, of)) if *of == y);
        if opposites(a, b) || opposites(b, a) {
            let bits = if op == BinaryOp::And { 0 } else { u64::MAX };
            return Same(self.splat(ty, bits));
        }
        Keep
    }

    pub(super) fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Outcome {
        let ty = self.function.ty(a);
        let Some(scalar) = ty.scalar() else { return Keep };
        let bool = ty.with_scalar(Scalar::Bool);
        let Some(y) = self.lanes(b) else {
            if self.function.as_constant(a).is_some() {
                return Outcome::Op(Op::Compare(mirrored(op), b, a));
            }
            return match op {
                CompareOp::IEq | CompareOp::SLe | CompareOp::SGe | CompareOp::ULe | CompareOp::UGe if a == b => {
                    Same(self.splat(bool, 1))
                }
                CompareOp::INe | CompareOp::SLt | CompareOp::SGt | CompareOp::ULt | CompareOp::UGt if a == b => {
                    Same(self.splat(bool, 0))
                }
                _ => Keep,
            };
        };
        if let Some(x) = self.lanes(a) {
            let lanes: Option<Vec<u64>> =
                x.iter().zip(&y).map(|(x, y)| fold::compare(op, scalar, *x, *y).map(u64::from)).collect();
            return lanes.map_or(Keep, |lanes| self.constant(bool, &lanes));
        }
        // What the comparison gives if the left side is this constant in every lane.
        let given = |x: u64| {
            let mut lanes = y.iter().map(|y| fold::compare(op, scalar, x, *y));
            let first = lanes.next()??;
            lanes.all(|lane| lane == Some(first)).then_some(first)
        };
        let choice = match self.function.op(a) {
            Some(&Op::Select { condition, accept, reject }) => {
                match (self.uniform(accept).and_then(given), self.uniform(reject).and_then(given)) {
                    (Some(accept), Some(reject)) => Some((condition, accept, reject)),
                    _ => None,
                }
            }
            Some(&Op::Convert(by @ (ConvertOp::SExt | ConvertOp::ZExt), condition))
                if self.scalar(condition) == Some(Scalar::Bool) =>
            {
                let one = if by == ConvertOp::SExt { fold::mask(scalar) } else { 1 };
                match (given(one), given(0)) {
                    (Some(accept), Some(reject)) => Some((condition, accept, reject)),
                    _ => None,
                }
            }
            _ if scalar == Scalar::Bool => match (given(1), given(0)) {
                (Some(accept), Some(reject)) => Some((a, accept, reject)),
                _ => None,
            },
            _ => None,
        };
        if let Some((condition, accept, reject)) = choice
            && (accept == reject || self.function.ty(condition) == bool)
        {
            return match (accept, reject) {
                (true, false) => Same(condition),
                (false, true) => Outcome::Op(Op::Unary(UnaryOp::Not, condition)),
                (all, _) => Same(self.splat(bool, all.into())),
            };
        }
        match op {
            CompareOp::ULt if self.is(b, 0) => Same(self.splat(bool, 0)),
            CompareOp::UGe if self.is(b, 0) => Same(self.splat(bool, 1)),
            CompareOp::UGt if self.is(b, 0) => Outcome::Op(Op::Compare(CompareOp::INe, a, b)),
            CompareOp::ULe if self.is(b, 0) => Outcome::Op(Op::Compare(CompareOp::IEq, a, b)),
            // A mask was applied to something that is compared with 0: `c && x != 0`.
            CompareOp::INe if self.is(b, 0) && bool == Type::BOOL => match self.function.op(a) {
                Some(&Op::Select { condition, accept, reject }) if self.is(reject, 0) => {
                    let other = self.build().compare(CompareOp::INe, accept, b);
                    Outcome::Op(Op::Binary(BinaryOp::And, condition, other))
                }
                _ => Keep,
            },
            _ => Keep,
        }
    }

    pub(super) fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Outcome {
        let ty = self.function.ty(accept);
        if accept == reject {
            return Same(accept);
        }
        match self.uniform(condition) {
            Some(0) => return Same(reject),
            Some(_) => return Same(accept),
            None => {}
        }
        let lanewise = self.function.ty(condition) == ty.with_scalar(Scalar::Bool);
        match self.function.op(condition) {
            Some(&Op::Unary(UnaryOp::Not, opposite)) => {
                return Outcome::Op(Op::Select { condition: opposite, accept: reject, reject: accept });
            }
            // The same `bool` in every lane.
            Some(Op::Swizzle(scalar, _)) if self.function.ty(*scalar) == Type::BOOL => {
                return Outcome::Op(Op::Select { condition: *scalar, accept, reject });
            }
            _ => {}
        }
        for (arm, accepts) in [(accept, true), (reject, false)] {
            if let Some(&Op::Select { condition: inner, accept: yes, reject: no }) = self.function.op(arm)
                && inner == condition
            {
                return Outcome::Op(match accepts {
                    true => Op::Select { condition, accept: yes, reject },
                    false => Op::Select { condition, accept, reject: no },
                });
            }
        }
        if !lanewise {
            return Keep;
        }
        match ty.scalar() {
            Some(Scalar::Bool) => match (self.uniform(accept), self.uniform(reject)) {
                (Some(1), Some(0)) => Same(condition),
                (Some(0), Some(1)) => Outcome::Op(Op::Unary(UnaryOp::Not, condition)),
                (_, Some(0)) => Outcome::Op(Op::Binary(BinaryOp::And, condition, accept)),
                (Some(1), _) => Outcome::Op(Op::Binary(BinaryOp::Or, condition, reject)),
                _ => Keep,
            },
            Some(scalar) if scalar.is_int() && self.is(reject, 0) => {
                if self.is(accept, fold::mask(scalar)) {
                    Outcome::Op(Op::Convert(ConvertOp::SExt, condition))
                } else if self.is(accept, 1) {
                    Outcome::Op(Op::Convert(ConvertOp::ZExt, condition))
                } else {
                    Keep
                }
            }
            _ => Keep,
        }
    }
}

/// The comparison that is true where this one is false, if there is one.
fn opposite(op: CompareOp) -> Option<CompareOp> {
    Some(match op {
        CompareOp::FEq => CompareOp::FNe,
        CompareOp::FNe => CompareOp::FEq,
        CompareOp::FLt | CompareOp::FLe | CompareOp::FGt | CompareOp::FGe => return None,
        CompareOp::IEq => CompareOp::INe,
        CompareOp::INe => CompareOp::IEq,
        CompareOp::SLt => CompareOp::SGe,
        CompareOp::SLe => CompareOp::SGt,
        CompareOp::SGt => CompareOp::SLe,
        CompareOp::SGe => CompareOp::SLt,
        CompareOp::ULt => CompareOp::UGe,
        CompareOp::ULe => CompareOp::UGt,
        CompareOp::UGt => CompareOp::ULe,
        CompareOp::UGe => CompareOp::ULt,
    })
}

/// The comparison that is true where this one is with its operands in the other order.
fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::FLt => CompareOp::FGt,
        CompareOp::FLe => CompareOp::FGe,
        CompareOp::FGt => CompareOp::FLt,
        CompareOp::FGe => CompareOp::FLe,
        CompareOp::SLt => CompareOp::SGt,
        CompareOp::SLe => CompareOp::SGe,
        CompareOp::SGt => CompareOp::SLt,
        CompareOp::SGe => CompareOp::SLe,
        CompareOp::ULt => CompareOp::UGt,
        CompareOp::ULe => CompareOp::UGe,
        CompareOp::UGt => CompareOp::ULt,
        CompareOp::UGe => CompareOp::ULe,
        CompareOp::FEq | CompareOp::FNe | CompareOp::IEq | CompareOp::INe => op,
    }
}
