//! Comparisons.

use super::{Lowering, Pair};
use crate::{
    Error, Result,
    ir::{BinaryOp, CompareOp, UnaryOp, Value},
};

impl Lowering<'_, '_, '_> {
    /// A comparison of two integers.
    pub(super) fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Result<Value> {
        let (a, b) = self.both(a, b)?;
        match op {
            CompareOp::IEq | CompareOp::INe => {
                let combine = if op == CompareOp::IEq { BinaryOp::And } else { BinaryOp::Or };
                let mut build = self.build();
                let low = build.compare(op, a.low, b.low);
                let high = build.compare(op, a.high, b.high);
                Ok(build.binary(combine, low, high))
            }
            CompareOp::SLt => Ok(self.less(CompareOp::SLt, a, b)),
            CompareOp::SGt => Ok(self.less(CompareOp::SLt, b, a)),
            CompareOp::ULt => Ok(self.less(CompareOp::ULt, a, b)),
            CompareOp::UGt => Ok(self.less(CompareOp::ULt, b, a)),
            CompareOp::SLe | CompareOp::SGe | CompareOp::ULe | CompareOp::UGe => {
                let (less, swap) = match op {
                    CompareOp::SLe => (CompareOp::SLt, true),
                    CompareOp::SGe => (CompareOp::SLt, false),
                    CompareOp::ULe => (CompareOp::ULt, true),
                    _ => (CompareOp::ULt, false),
                };
                let opposite = if swap { self.less(less, b, a) } else { self.less(less, a, b) };
                Ok(self.build().unary(UnaryOp::Not, opposite))
            }
            _ => Err(Error::unsupported(format!("64-bit comparison: {op:?}"))),
        }
    }

    /// The high words decide by `op`, or, if they are equal, the low words without a sign.
    fn less(&mut self, op: CompareOp, a: Pair, b: Pair) -> Value {
        let mut build = self.build();
        let high = build.compare(op, a.high, b.high);
        let equal = build.compare(CompareOp::IEq, a.high, b.high);
        let low = build.compare(CompareOp::ULt, a.low, b.low);
        let low = build.binary(BinaryOp::And, equal, low);
        build.binary(BinaryOp::Or, high, low)
    }
}
