//! Shifts.

use super::{Lowering, Pair};
use crate::{
    Result,
    ir::{BinaryOp, CompareOp, Value},
};

impl Lowering<'_, '_, '_> {
    /// `a` by `count` modulo 64.
    pub(super) fn shift(&mut self, op: BinaryOp, a: Value, count: Value) -> Result<Pair> {
        let (a, Pair { low: count, .. }) = self.both(a, count)?;
        let words = self.ty(a.low);
        let constant = match self.rewrite.function.as_constant(count) {
            Some([first, rest @ ..]) if rest.iter().all(|lane| lane == first) => Some(first & 63),
            _ => None,
        };
        match constant {
            Some(0) => Ok(a),
            Some(count @ 1..32) => {
                let (by, rest) = (self.rewrite.splat(words, count), self.rewrite.splat(words, 32 - count));
                let mut build = self.build();
                // The word that bits move into, and the other, which they come from.
                let (into, from, back) = match op {
                    BinaryOp::Shl => (a.high, a.low, BinaryOp::LShr),
                    _ => (a.low, a.high, BinaryOp::Shl),
                };
                let moved = build.binary(back, from, rest);
                let kept = build.binary(if op == BinaryOp::Shl { op } else { BinaryOp::LShr }, into, by);
                let into = build.binary(BinaryOp::Or, kept, moved);
                let from = build.binary(op, from, by);
                Ok(arrange(op, into, from))
            }
            Some(count) => {
                let by = self.rewrite.splat(words, count - 32);
                let from = if op == BinaryOp::Shl { a.low } else { a.high };
                let into = self.build().binary(op, from, by);
                let fill = self.fill(op, a);
                Ok(arrange(op, into, fill))
            }
            None => {
                let (one, last, whole) =
                    (self.rewrite.splat(words, 1), self.rewrite.splat(words, 31), self.rewrite.splat(words, 32));
                let zero = self.rewrite.splat(words, 0);
                let fill = self.fill(op, a);
                let mut build = self.build();
                let (into, from, back) = match op {
                    BinaryOp::Shl => (a.high, a.low, BinaryOp::LShr),
                    _ => (a.low, a.high, BinaryOp::Shl),
                };
                // By 32 - count, which may be 32, in two steps.
                let rest = build.binary(BinaryOp::Xor, count, last);
                let moved = build.binary(back, from, one);
                let moved = build.binary(back, moved, rest);
                let kept = build.binary(if op == BinaryOp::Shl { op } else { BinaryOp::LShr }, into, count);
                let near = build.binary(BinaryOp::Or, kept, moved);
                let far = build.binary(op, from, count);
                let beyond = build.binary(BinaryOp::And, count, whole);
                let within = build.compare(CompareOp::IEq, beyond, zero);
                let into = build.select(within, near, far);
                let from = build.select(within, far, fill);
                Ok(arrange(op, into, from))
            }
        }
    }

    /// The word that bits of the outside make: zeros or the sign.
    fn fill(&mut self, op: BinaryOp, a: Pair) -> Value {
        let words = self.ty(a.low);
        if op == BinaryOp::AShr {
            let last = self.rewrite.splat(words, 31);
            return self.build().binary(BinaryOp::AShr, a.high, last);
        }
        self.rewrite.splat(words, 0)
    }
}

/// The word that bits moved into is the high one of a shift to the left.
fn arrange(op: BinaryOp, into: Value, from: Value) -> Pair {
    if op == BinaryOp::Shl { Pair { low: from, high: into } } else { Pair { low: into, high: from } }
}
