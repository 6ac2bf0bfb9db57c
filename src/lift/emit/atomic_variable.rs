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
        if let Some(fun) = function_of(op, kind) {
            return Ok(self.atomic_function(memory, fun, operand));
        }
        Ok(match op {
            AtomicOp::SMin => self.atomic_extremum(memory, MathFunction::Min, ScalarKind::Sint, operand),
            AtomicOp::SMax => self.atomic_extremum(memory, MathFunction::Max, ScalarKind::Sint, operand),
            AtomicOp::UMin => self.atomic_extremum(memory, MathFunction::Min, ScalarKind::Uint, operand),
            AtomicOp::UMax => self.atomic_extremum(memory, MathFunction::Max, ScalarKind::Uint, operand),
            _ => {
                let compare = compare.ok_or_else(|| Error::internal("exchange without a value to compare with"))?;
                let compare = self.get_as(compare, kind)?;
                self.compare_exchange(memory, compare, operand).0
            }
        })
    }

    /// An atomic operation whose old value nothing wants: some devices have minima and maxima of 64-bit integers only so.
    ///
    /// # Errors
    /// An operand was not emitted: a bug.
    pub fn atomic_effect(
        &mut self,
        memory: AtomicMemory,
        op: AtomicOp,
        value: Value,
        compare: Option<Value>,
    ) -> Result<()> {
        let kind = memory.scalar.kind;
        match function_of(op, kind) {
            // naga wants the old value of an exchange.
            Some(fun) if op != AtomicOp::Exchange => {
                let value = self.get_as(value, kind)?;
                self.statement(Statement::Atomic { pointer: memory.pointer, fun, value, result: None });
            }
            _ => {
                self.atomic(memory, op, value, compare)?;
            }
        }
        Ok(())
    }

    /// An atomic operation of naga's; gives the old value.
    pub(super) fn atomic_function(&mut self, memory: AtomicMemory, fun: AtomicFunction, value: Expr) -> Expr {
        let ty = self.module.numeric(memory.scalar, 1);
        let result = self.pre(Expression::AtomicResult { ty, comparison: false });
        self.statement(Statement::Atomic { pointer: memory.pointer, fun, value, result: Some(result) });
        result
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

    /// The lesser or greater in the order of the other sign.
    fn atomic_extremum(&mut self, memory: AtomicMemory, fun: MathFunction, kind: ScalarKind, operand: Expr) -> Expr {
        let other = Scalar { kind, ..memory.scalar };
        let operand = self.convert(operand, other);
        self.atomic_update(memory, |emitter, old| {
            let ordered = emitter.convert(old, other);
            let new = emitter.math(fun, &[ordered, operand]);
            emitter.convert(new, memory.scalar)
        })
    }

    /// Replaces a value by what `new` makes of it: tries until no other thread came between. Gives the old value.
    pub(super) fn atomic_update(&mut self, memory: AtomicMemory, new: impl FnOnce(&mut Self, Expr) -> Expr) -> Expr {
        let ty = self.module.numeric(memory.scalar, 1);
        let result = self.local(ty, None);
        let body = self.inner_block(|emitter| {
            let old = emitter.load(memory.pointer);
            emitter.store(result, old);
            let new = new(emitter, old);
            let (_, exchanged) = emitter.compare_exchange(memory, old, new);
            emitter.when(exchanged, |emitter| emitter.statement(Statement::Break));
        });
        self.statement(Statement::Loop { body, continuing: Block::new(), break_if: None });
        self.load(result)
    }
}

/// The function of naga's that is an operation on integers of a kind, if there is one.
fn function_of(op: AtomicOp, kind: ScalarKind) -> Option<AtomicFunction> {
    Some(match op {
        AtomicOp::Add => AtomicFunction::Add,
        AtomicOp::And => AtomicFunction::And,
        AtomicOp::Or => AtomicFunction::InclusiveOr,
        AtomicOp::Xor => AtomicFunction::ExclusiveOr,
        AtomicOp::SMin if kind == ScalarKind::Sint => AtomicFunction::Min,
        AtomicOp::SMax if kind == ScalarKind::Sint => AtomicFunction::Max,
        AtomicOp::UMin if kind == ScalarKind::Uint => AtomicFunction::Min,
        AtomicOp::UMax if kind == ScalarKind::Uint => AtomicFunction::Max,
        AtomicOp::Exchange => AtomicFunction::Exchange { compare: None },
        AtomicOp::SMin | AtomicOp::SMax | AtomicOp::UMin | AtomicOp::UMax | AtomicOp::CompareExchange => return None,
    })
}
