//! Wave and quad operations that work on each word by itself. Those that do not were loops over lanes before.

use smallvec::SmallVec;

use super::{Lowering, Pair, refuse};
use crate::{
    Error, Result,
    ir::{BinaryOp, Op, ReduceOp, Type, Value, WaveOp},
};

impl Lowering<'_, '_, '_> {
    /// An operation that gives 64-bit integers.
    pub(super) fn wave(&mut self, op: WaveOp, operands: &[Value], ty: Type) -> Result<Pair> {
        let by_word = match op {
            WaveOp::Reduce(reduce) | WaveOp::Prefix(reduce) | WaveOp::MultiPrefix(reduce) => {
                matches!(reduce, ReduceOp::And | ReduceOp::Or | ReduceOp::Xor)
            }
            _ => true,
        };
        let [a, rest @ ..] = operands else { return Err(Error::internal("a wave operation of nothing")) };
        if !by_word {
            return Err(refuse("64-bit integers", &Op::Wave(op, SmallVec::from_slice(operands))));
        }
        let Pair { low, high } = self.pair(*a)?;
        let of = |word: Value| Op::Wave(op, [word].into_iter().chain(rest.iter().copied()).collect());
        Ok(self.halves(ty, of(low), of(high)))
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
}
