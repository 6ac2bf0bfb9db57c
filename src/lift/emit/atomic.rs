//! Atomic operations on buffers and counters: the old value comes back, 0 where the word does not exist.

use naga::{
    AtomicFunction, BinaryOperator, Block, Expression, Handle, MathFunction, Scalar, ScalarKind, Statement, Type,
};

use super::{Emission, FunctionEmitter, expression::Expr, io::scalar32};
use crate::{
    Error, Result,
    ir::{self, AtomicOp, BufferAddress, Value},
};

impl FunctionEmitter<'_, '_> {
    /// An atomic operation whose old value comes back.
    pub(super) fn atomic_function(
        &mut self,
        pointer: Expr,
        fun: AtomicFunction,
        value: Expr,
        kind: ScalarKind,
    ) -> Expr {
        let ty = self.module.numeric(scalar32(kind), 1);
        let result = self.pre(Expression::AtomicResult { ty, comparison: false });
        self.statement(Statement::Atomic { pointer, fun, value, result: Some(result) });
        result
    }

    /// A compare-and-exchange; the structure of the old value and whether it was exchanged.
    fn exchange_if(&mut self, pointer: Expr, compare: Expr, value: Expr, kind: ScalarKind) -> Expr {
        let ty: Handle<Type> = self
            .module
            .module
            .generate_predeclared_type(naga::PredeclaredType::AtomicCompareExchangeWeakResult(scalar32(kind)));
        let result = self.pre(Expression::AtomicResult { ty, comparison: true });
        let fun = AtomicFunction::Exchange { compare: Some(compare) };
        self.statement(Statement::Atomic { pointer, fun, value, result: Some(result) });
        result
    }

    /// [`ir::Op::AtomicBuffer`].
    pub(super) fn atomic_buffer(
        &mut self,
        op: AtomicOp,
        handle: Value,
        address: BufferAddress,
        value: Value,
        compare: Option<Value>,
    ) -> Result<Emission> {
        let ty = self.ir.ty(value);
        if ty != ir::Type::I32 && ty != ir::Type::F32 {
            return Err(Error::unsupported(format!("atomic operation on type: {ty}")));
        }
        let (buffer, array) = self.bound_buffer(handle)?;
        let kind = buffer.atomic.ok_or_else(|| Error::internal("buffer was not declared for atomics"))?;
        let value = self.get_as(value, kind)?;
        let compare = compare.map(|compare| self.get_as(compare, kind)).transpose()?;
        let place = self.atomic_place(buffer, array, address)?;
        let Some((word, inside)) = self.word_at(&place, 0) else { return self.zero_value(ty) };
        let old = self.guarded(inside, scalar32(kind), |emitter| {
            let pointer = emitter.val(Expression::Access { base: array, index: word });
            emitter.atomic_op(op, pointer, value, compare, kind)
        })?;
        let wanted = if ty == ir::Type::F32 { ScalarKind::Float } else { kind };
        Ok(Emission { expr: self.bits_as(old, kind, wanted), kind: wanted })
    }

    /// What `body` gives where the condition holds, 0 elsewhere.
    pub(super) fn guarded(
        &mut self,
        condition: Expr,
        scalar: Scalar,
        body: impl FnOnce(&mut Self) -> Result<Expr>,
    ) -> Result<Expr> {
        let ty = self.module.numeric(scalar, 1);
        let result = self.local(ty, None);
        let zero = self.zero(ty);
        self.store(result, zero);
        let accept = self.nested(|emitter| {
            let value = body(emitter)?;
            emitter.store(result, value);
            Ok::<(), Error>(())
        })?;
        self.statement(Statement::If { condition, accept, reject: Block::new() });
        Ok(self.load(result))
    }

    /// An atomic operation through a pointer to an `atomic` of a kind; gives the old value.
    pub(super) fn atomic_op(
        &mut self,
        op: AtomicOp,
        pointer: Expr,
        value: Expr,
        compare: Option<Expr>,
        kind: ScalarKind,
    ) -> Result<Expr> {
        let ordered = match op {
            AtomicOp::SMin | AtomicOp::SMax => ScalarKind::Sint,
            AtomicOp::UMin | AtomicOp::UMax => ScalarKind::Uint,
            _ => kind,
        };
        let fun = match op {
            AtomicOp::Add => AtomicFunction::Add,
            AtomicOp::And => AtomicFunction::And,
            AtomicOp::Or => AtomicFunction::InclusiveOr,
            AtomicOp::Xor => AtomicFunction::ExclusiveOr,
            AtomicOp::SMin | AtomicOp::UMin => AtomicFunction::Min,
            AtomicOp::SMax | AtomicOp::UMax => AtomicFunction::Max,
            AtomicOp::Exchange => AtomicFunction::Exchange { compare: None },
            AtomicOp::CompareExchange => {
                let compare = compare.ok_or_else(|| Error::internal("compare-and-exchange without comparison"))?;
                let result = self.exchange_if(pointer, compare, value, kind);
                return Ok(self.val(Expression::AccessIndex { base: result, index: 0 }));
            }
        };
        if ordered == kind {
            return Ok(self.atomic_function(pointer, fun, value, kind));
        }
        self.atomic_ordered(fun == AtomicFunction::Min, pointer, value, kind, ordered)
    }

    /// A minimum or maximum in the order of the other sign: tried until no other thread came between.
    fn atomic_ordered(
        &mut self,
        least: bool,
        pointer: Expr,
        value: Expr,
        kind: ScalarKind,
        ordered: ScalarKind,
    ) -> Result<Expr> {
        let ty = self.module.numeric(scalar32(kind), 1);
        let old = self.local(ty, None);
        let first = self.load(pointer);
        self.store(old, first);
        let fun = if least { MathFunction::Min } else { MathFunction::Max };
        let wanted = self.bits_as(value, kind, ordered);
        let body = self.nested(|emitter| {
            let expected = emitter.load(old);
            let seen = emitter.bits_as(expected, kind, ordered);
            let new = emitter.math2(fun, seen, wanted);
            let new = emitter.bits_as(new, ordered, kind);
            let result = emitter.exchange_if(pointer, expected, new, kind);
            let found = emitter.val(Expression::AccessIndex { base: result, index: 0 });
            emitter.store(old, found);
            let done = emitter.binary(BinaryOperator::Equal, found, expected);
            let mut leave = Block::new();
            leave.push(Statement::Break, naga::Span::UNDEFINED);
            emitter.statement(Statement::If { condition: done, accept: leave, reject: Block::new() });
            Ok::<(), Error>(())
        })?;
        self.statement(Statement::Loop { body, continuing: Block::new(), break_if: None });
        Ok(self.load(old))
    }

    /// [`ir::Op::UpdateCounter`].
    pub(super) fn update_counter(&mut self, handle: Value, increment: bool) -> Result<Emission> {
        let bound = self.bound(handle)?;
        let counter = bound.resource.counter.ok_or_else(|| Error::internal("counter was not declared"))?;
        let pointer = self.pre(Expression::GlobalVariable(counter));
        let one = self.u32(1);
        let expr = if increment {
            self.atomic_function(pointer, AtomicFunction::Add, one, ScalarKind::Uint)
        } else {
            let before = self.atomic_function(pointer, AtomicFunction::Subtract, one, ScalarKind::Uint);
            self.binary(BinaryOperator::Subtract, before, one)
        };
        Ok(Emission { expr, kind: ScalarKind::Uint })
    }
}
