//! Arithmetic and bits.

use super::{Lowering, Pair};
use crate::{
    Error, Result,
    ir::{BinaryOp, CompareOp, ConvertOp, Scalar, TernaryOp, UnaryOp, Value},
};

impl Lowering<'_, '_, '_> {
    /// An operation of one integer that gives one.
    pub(super) fn unary(&mut self, op: UnaryOp, a: Value) -> Result<Pair> {
        let a = self.pair(a)?;
        match op {
            UnaryOp::INeg => {
                let zero = self.zero_like(a);
                Ok(self.subtract(zero, a))
            }
            UnaryOp::Not | UnaryOp::ReverseBits => {
                let mut build = self.build();
                let (low, high) = (build.unary(op, a.low), build.unary(op, a.high));
                Ok(if op == UnaryOp::Not { Pair { low, high } } else { Pair { low: high, high: low } })
            }
            _ => Err(Error::unsupported(format!("64-bit operation: {op:?}"))),
        }
    }

    /// An operation of one integer that gives the number of a bit, or a number of bits, as `i32`.
    pub(super) fn count(&mut self, op: UnaryOp, a: Value) -> Result<Value> {
        let Pair { low, high } = self.pair(a)?;
        let words = self.ty(low);
        let (zero, whole) = (self.rewrite.splat(words, 0), self.rewrite.splat(words, 32));
        let mut build = self.build();
        match op {
            UnaryOp::CountBits => {
                let (low, high) = (build.unary(op, low), build.unary(op, high));
                Ok(build.binary(BinaryOp::IAdd, low, high))
            }
            // All ones, where there is no bit, are not changed by the 32 of the high word's place.
            UnaryOp::FirstBitLow => {
                let in_high = build.unary(op, high);
                let in_high = build.binary(BinaryOp::Or, in_high, whole);
                let in_low = build.unary(op, low);
                let none = build.compare(CompareOp::IEq, low, zero);
                Ok(build.select(none, in_high, in_low))
            }
            UnaryOp::FirstBitHigh | UnaryOp::FirstBitSignedHigh => {
                let (mut low, mut high) = (low, high);
                if op == UnaryOp::FirstBitSignedHigh {
                    let last = build.function.constant(words, &[31; 4][..usize::from(words.lanes())]);
                    let sign = build.binary(BinaryOp::AShr, high, last);
                    low = build.binary(BinaryOp::Xor, low, sign);
                    high = build.binary(BinaryOp::Xor, high, sign);
                }
                let in_high = build.unary(UnaryOp::FirstBitHigh, high);
                let in_high = build.binary(BinaryOp::Or, in_high, whole);
                let in_low = build.unary(UnaryOp::FirstBitHigh, low);
                let none = build.compare(CompareOp::IEq, high, zero);
                Ok(build.select(none, in_low, in_high))
            }
            _ => Err(Error::unsupported(format!("64-bit operation: {op:?}"))),
        }
    }

    /// An operation of two integers.
    pub(super) fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Result<Pair> {
        let smaller = |op| if matches!(op, BinaryOp::SMin | BinaryOp::SMax) { CompareOp::SLt } else { CompareOp::ULt };
        match op {
            BinaryOp::SMin | BinaryOp::UMin | BinaryOp::SMax | BinaryOp::UMax => {
                let is_less = self.compare(smaller(op), a, b)?;
                let (a, b) = self.both(a, b)?;
                let (lesser, greater) = (self.select(is_less, a, b), |this: &mut Self| this.select(is_less, b, a));
                return Ok(if matches!(op, BinaryOp::SMin | BinaryOp::UMin) { lesser } else { greater(self) });
            }
            BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr => return self.shift(op, a, b),
            _ => {}
        }
        let (a, b) = self.both(a, b)?;
        match op {
            BinaryOp::IAdd => Ok(self.add(a, b)),
            BinaryOp::ISub => Ok(self.subtract(a, b)),
            BinaryOp::IMul => Ok(self.multiply(a, b)),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                let mut build = self.build();
                Ok(Pair { low: build.binary(op, a.low, b.low), high: build.binary(op, a.high, b.high) })
            }
            BinaryOp::UMulHigh => self.call("u_mul_high64", &[a, b]),
            BinaryOp::SMulHigh => self.call("s_mul_high64", &[a, b]),
            BinaryOp::UDiv => self.call("u_div64", &[a, b]),
            BinaryOp::SDiv => self.call("s_div64", &[a, b]),
            BinaryOp::URem => self.call("u_rem64", &[a, b]),
            BinaryOp::SRem => self.call("s_rem64", &[a, b]),
            _ => Err(Error::unsupported(format!("64-bit operation: {op:?}"))),
        }
    }

    /// An operation of three integers.
    pub(super) fn ternary(&mut self, op: TernaryOp, operands: [Value; 3]) -> Result<Pair> {
        let [a, b, c] = operands;
        match op {
            TernaryOp::IMad => {
                let (a, b) = self.both(a, b)?;
                let product = self.multiply(a, b);
                let c = self.pair(c)?;
                Ok(self.add(product, c))
            }
            _ => Err(Error::unsupported(format!("64-bit operation: {op:?}"))),
        }
    }

    pub(super) fn zero_like(&mut self, pair: Pair) -> Pair {
        let words = self.ty(pair.low);
        let zero = self.build().zero(words);
        Pair { low: zero, high: zero }
    }

    pub(super) fn add(&mut self, a: Pair, b: Pair) -> Pair {
        let mut build = self.build();
        let low = build.binary(BinaryOp::IAdd, a.low, b.low);
        let carry = build.compare(CompareOp::ULt, low, a.low);
        let carry = build.convert(ConvertOp::ZExt, carry, Scalar::I32);
        let high = build.binary(BinaryOp::IAdd, a.high, b.high);
        Pair { low, high: build.binary(BinaryOp::IAdd, high, carry) }
    }

    pub(super) fn subtract(&mut self, a: Pair, b: Pair) -> Pair {
        let mut build = self.build();
        let low = build.binary(BinaryOp::ISub, a.low, b.low);
        let borrow = build.compare(CompareOp::ULt, a.low, b.low);
        let borrow = build.convert(ConvertOp::ZExt, borrow, Scalar::I32);
        let high = build.binary(BinaryOp::ISub, a.high, b.high);
        Pair { low, high: build.binary(BinaryOp::ISub, high, borrow) }
    }

    fn multiply(&mut self, a: Pair, b: Pair) -> Pair {
        let mut build = self.build();
        let low = build.binary(BinaryOp::IMul, a.low, b.low);
        let mut high = build.binary(BinaryOp::UMulHigh, a.low, b.low);
        for (a, b) in [(a.low, b.high), (a.high, b.low)] {
            // Most factors that were widened from words have no high word.
            let is_zero =
                |value| build.function.as_constant(value).is_some_and(|lanes| lanes.iter().all(|&lane| lane == 0));
            if !is_zero(a) && !is_zero(b) {
                let product = build.binary(BinaryOp::IMul, a, b);
                high = build.binary(BinaryOp::IAdd, high, product);
            }
        }
        Pair { low, high }
    }
}
