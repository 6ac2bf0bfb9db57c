//! Wave and quad operations. Those that no operations on words stand for were loops over the lanes before.

use smallvec::SmallVec;

use super::{Lowering, Pair, combines_words, refuse};
use crate::{
    Error, Result,
    ir::{BinaryOp, CompareOp, Op, ReduceOp, Type, Value, WaveOp},
};

/// Bits of a digit of a sum over lanes: sums of those of 128 lanes and more fit a word.
const DIGIT: u64 = 22;

impl Lowering<'_, '_, '_> {
    /// An operation that gives 64-bit integers.
    pub(super) fn wave(&mut self, op: WaveOp, operands: &[Value], ty: Type) -> Result<Pair> {
        let [a, rest @ ..] = operands else { return Err(Error::internal("a wave operation of nothing")) };
        if !combines_words(op) {
            return Err(refuse("64-bit integers", &Op::Wave(op, SmallVec::from_slice(operands))));
        }
        let a = self.pair(*a)?;
        match op {
            WaveOp::Reduce(ReduceOp::IAdd) | WaveOp::Prefix(ReduceOp::IAdd) => Ok(self.sum(op, a)),
            WaveOp::Reduce(reduce @ (ReduceOp::SMin | ReduceOp::UMin)) => {
                Ok(self.extremum(reduce, ReduceOp::UMin, u64::MAX, a))
            }
            WaveOp::Reduce(reduce @ (ReduceOp::SMax | ReduceOp::UMax)) => {
                Ok(self.extremum(reduce, ReduceOp::UMax, 0, a))
            }
            _ => {
                let of = |word: Value| Op::Wave(op, [word].into_iter().chain(rest.iter().copied()).collect());
                Ok(self.halves(ty, of(a.low), of(a.high)))
            }
        }
    }

    /// [`WaveOp::AllEqual`] and [`WaveOp::Match`]: both words are the same, in the same lanes.
    pub(super) fn wave_predicate(&mut self, op: WaveOp, operands: &[Value], ty: Type) -> Result<Value> {
        let ([a], WaveOp::AllEqual | WaveOp::Match) = (operands, op) else {
            return Err(refuse("64-bit integers", &Op::Wave(op, SmallVec::from_slice(operands))));
        };
        let Pair { low, high } = self.pair(*a)?;
        let mut build = self.build();
        let low = build.push(Op::Wave(op, [low].into_iter().collect()), ty);
        let high = build.push(Op::Wave(op, [high].into_iter().collect()), ty);
        Ok(build.binary(BinaryOp::And, low, high))
    }

    /// The sums of three digits, put together with their carries.
    fn sum(&mut self, op: WaveOp, Pair { low, high }: Pair) -> Pair {
        let words = self.ty(low);
        let [mask, digit, rest, top] =
            [(1 << DIGIT) - 1, DIGIT, 32 - DIGIT, 2 * DIGIT - 32].map(|bits| self.rewrite.splat(words, bits));
        let mut build = self.build();
        let first = build.binary(BinaryOp::And, low, mask);
        let second = build.binary(BinaryOp::LShr, low, digit);
        let moved = build.binary(BinaryOp::Shl, high, rest);
        let second = build.binary(BinaryOp::Or, second, moved);
        let second = build.binary(BinaryOp::And, second, mask);
        let third = build.binary(BinaryOp::LShr, high, top);
        let [first, second, third] =
            [first, second, third].map(|digits| build.push(Op::Wave(op, [digits].into_iter().collect()), words));

        let low = build.binary(BinaryOp::Shl, second, digit);
        let high = build.binary(BinaryOp::LShr, second, rest);
        let third = build.binary(BinaryOp::Shl, third, top);
        let high = build.binary(BinaryOp::IAdd, high, third);
        let zero = build.zero(words);
        self.add(Pair { low, high }, Pair { low: first, high: zero })
    }

    /// The extremum of the high words, and that of the low words among the lanes which have it; `neutral` is for the others.
    fn extremum(&mut self, of_high: ReduceOp, of_low: ReduceOp, neutral: u64, Pair { low, high }: Pair) -> Pair {
        let words = self.ty(low);
        let neutral = self.rewrite.splat(words, neutral);
        let mut build = self.build();
        let reduce = |op: ReduceOp, word: Value| Op::Wave(WaveOp::Reduce(op), [word].into_iter().collect());
        let best = build.push(reduce(of_high, high), words);
        let has_it = build.compare(CompareOp::IEq, high, best);
        let low = build.select(has_it, low, neutral);
        Pair { low: build.push(reduce(of_low, low), words), high: best }
    }
}
