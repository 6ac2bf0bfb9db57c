//! Atomic operations on buffers and counters: the old value comes back, 0 where the word does not exist.

use naga::{AtomicFunction, BinaryOperator, Expression, Scalar, ScalarKind, Statement};

use super::{
    Emission, FunctionEmitter, atomic_variable::AtomicMemory, expression::Expr, function::Shape, io::scalar32,
};
use crate::{
    Error, Result,
    ir::{self, AtomicOp, BufferAddress, Value},
};

impl FunctionEmitter<'_, '_> {
    /// An atomic operation of naga's; gives the old value.
    pub(super) fn atomic_function(&mut self, memory: AtomicMemory, fun: AtomicFunction, value: Expr) -> Expr {
        let ty = self.module.numeric(memory.scalar, 1);
        let result = self.pre(Expression::AtomicResult { ty, comparison: false });
        self.statement(Statement::Atomic { pointer: memory.pointer, fun, value, result: Some(result) });
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
        let scalar = scalar32(kind);
        let place = self.atomic_place(buffer, array, address)?;
        let Some((word, inside)) = self.word_at(&place, 0) else { return self.zero_value(ty) };
        let old = self.value_when(inside, Shape { scalar, lanes: 1 }, |emitter| {
            let pointer = emitter.val(Expression::Access { base: array, index: word });
            emitter.atomic(AtomicMemory { pointer, scalar }, op, value, compare)
        })?;
        let wanted = if ty == ir::Type::F32 { ScalarKind::Float } else { kind };
        Ok(Emission { expr: self.bits_as(old, kind, wanted), kind: wanted })
    }

    /// [`ir::Op::UpdateCounter`].
    pub(super) fn update_counter(&mut self, handle: Value, increment: bool) -> Result<Emission> {
        let bound = self.bound(handle)?;
        let counter = bound.resource.counter.ok_or_else(|| Error::internal("counter was not declared"))?;
        let memory = AtomicMemory { pointer: self.buffer_pointer(&bound, counter)?, scalar: Scalar::U32 };
        let one = self.u32(1);
        let expr = if increment {
            self.atomic_function(memory, AtomicFunction::Add, one)
        } else {
            let before = self.atomic_function(memory, AtomicFunction::Subtract, one);
            self.binary(BinaryOperator::Subtract, before, one)
        };
        Ok(Emission::uint(expr))
    }
}
