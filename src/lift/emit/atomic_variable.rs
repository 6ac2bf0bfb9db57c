//! Atomic operations on memory.

use naga::{AtomicFunction, Block, Expression, MathFunction, PredeclaredType, Scalar, ScalarKind, Statement};

use super::{FunctionEmitter, expression::Expr};
use crate::{
    Error, Result,
    ir::{AtomicOp, Value},
};

/// An atomic integer in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomicMemory {
    /// Pointer to it.
    pub pointer: Expr,
    /// Its type.
    pub scalar: Scalar,
}

impl FunctionEmitter<'_, '_> {
    /// An atomic operation; gives the old value, of the memory's type.
    ///
    /// # Errors
    /// An operand was not emitted: a bug.
    pub fn atomic(&mut self, memory: AtomicMemory, op: AtomicOp, value: Value, compare: Option<Value>) -> Result<Expr> {
        let kind = memory.scalar.kind;
        let operand = self.get_as(value, kind)?;
        let fun = match op {
            AtomicOp::Add => AtomicFunction::Add,
            AtomicOp::And => AtomicFunction::And,
            AtomicOp::Or => AtomicFunction::InclusiveOr,
            AtomicOp::Xor => AtomicFunction::ExclusiveOr,
            AtomicOp::SMin if kind == ScalarKind::Sint => AtomicFunction::Min,
            AtomicOp::SMax if kind == ScalarKind::Sint => AtomicFunction::Max,
            AtomicOp::UMin if kind == ScalarKind::Uint => AtomicFunction::Min,
            AtomicOp::UMax if kind == ScalarKind::Uint => AtomicFunction::Max,
            AtomicOp::SMin => return self.atomic_extremum(memory, MathFunction::Min, ScalarKind::Sint, operand),
            AtomicOp::SMax => return self.atomic_extremum(memory, MathFunction::Max, ScalarKind::Sint, operand),
            AtomicOp::UMin => return self.atomic_extremum(memory, MathFunction::Min, ScalarKind::Uint, operand),
            AtomicOp::UMax => return self.atomic_extremum(memory, MathFunction::Max, ScalarKind::Uint, operand),
            AtomicOp::Exchange => AtomicFunction::Exchange { compare: None },
            AtomicOp::CompareExchange => {
                let compare = compare.ok_or_else(|| Error::internal("exchange without a value to compare with"))?;
                let compare = self.get_as(compare, kind)?;
                let (old, _) = self.compare_exchange(memory, compare, operand);
                return Ok(old);
            }
        };
        let ty = self.module.numeric(memory.scalar, 1);
        let result = self.pre(Expression::AtomicResult { ty, comparison: false });
        self.statement(Statement::Atomic { pointer: memory.pointer, fun, value: operand, result: Some(result) });
        Ok(result)
    }

    /// Stores where the old value is the one compared with; gives the old value, and whether it was.
    fn compare_exchange(&mut self, memory: AtomicMemory, compare: Expr, value: Expr) -> (Expr, Expr) {
        let result_type = PredeclaredType::AtomicCompareExchangeWeakResult(memory.scalar);
        let ty = self.module.module.generate_predeclared_type(result_type);
        let result = self.pre(Expression::AtomicResult { ty, comparison: true });
        let fun = AtomicFunction::Exchange { compare: Some(compare) };
        self.statement(Statement::Atomic { pointer: memory.pointer, fun, value, result: Some(result) });
        let old = self.val(Expression::AccessIndex { base: result, index: 0 });
        let exchanged = self.val(Expression::AccessIndex { base: result, index: 1 });
        (old, exchanged)
    }

    /// The lesser or greater in the order of the other sign: tries until no other thread came between.
    fn atomic_extremum(
        &mut self,
        memory: AtomicMemory,
        fun: MathFunction,
        kind: ScalarKind,
        operand: Expr,
    ) -> Result<Expr> {
        let other = Scalar { kind, ..memory.scalar };
        let ty = self.module.numeric(memory.scalar, 1);
        let result = self.local(ty, None);
        let operand = self.convert(operand, other);
        let body = self.nested(|emitter| {
            let old = emitter.load(memory.pointer);
            emitter.store(result, old);
            let ordered = emitter.convert(old, other);
            let new = emitter.math(fun, &[ordered, operand]);
            let new = emitter.convert(new, memory.scalar);
            let (_, exchanged) = emitter.compare_exchange(memory, old, new);
            emitter.when(exchanged, |emitter| emitter.statement(Statement::Break));
            Ok::<(), Error>(())
        })?;
        self.statement(Statement::Loop { body, continuing: Block::new(), break_if: None });
        Ok(self.load(result))
    }
}
