//! Atomic operations on buffers and counters: the old value comes back, 0 where the word does not exist.

use naga::{AtomicFunction, BinaryOperator, Block, Scalar, Statement};

use super::{Emission, FunctionEmitter, atomic_variable::AtomicMemory, buffer_word::Limit, function::Shape};
use crate::{
    Error, Result,
    ir::{self, AtomicOp, BufferAddress, Value},
};

impl FunctionEmitter<'_, '_> {
    /// [`ir::Op::AtomicBuffer`]; nothing comes back if nothing wants the old value.
    pub(super) fn atomic_buffer(
        &mut self,
        result: Value,
        op: AtomicOp,
        handle: Value,
        address: BufferAddress,
        value: Value,
        compare: Option<Value>,
    ) -> Result<Option<Emission>> {
        let ty = self.ir.ty(value);
        let (buffer, array) = self.bound_buffer(handle)?;
        let place = self.atomic_place(buffer, array, address)?;
        let width = match ty {
            ir::Type::Scalar(ir::Scalar::I32) => 4,
            ir::Type::Scalar(ir::Scalar::I64) => 8,
            _ => return Err(Error::unsupported(format!("atomic operation on type: {ty}"))),
        };
        let Some((word, mut inside)) = self.word_at(&place, 0) else { return self.zero_value(ty).map(Some) };
        // The first word of two is even, and all of its element is in the array: but not always in the structure.
        if width == 8 && matches!(place.limit, Some(Limit::Words(_) | Limit::Computed(..))) {
            let Some((_, last)) = self.word_at(&place, 1) else { return self.zero_value(ty).map(Some) };
            if last != inside {
                inside = self.binary(BinaryOperator::LogicalAnd, inside, last);
            }
        }
        if !self.plan.is_used(result) {
            let accept = self.nested(|emitter| emitter.atomic_word_effect(&place, word, op, value, compare))?;
            self.statement(Statement::If { condition: inside, accept, reject: Block::new() });
            return Ok(None);
        }
        let scalar = Scalar { kind: place.kind_of(width), width };
        let old = self.value_when(inside, Shape { scalar, lanes: 1 }, |emitter| {
            emitter.atomic_word(&place, word, op, value, compare)
        })?;
        Ok(Some(Emission { expr: old, kind: scalar.kind }))
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
