//! Constant buffers: rows of four words, and 0 beyond the last.

use naga::{BinaryOperator, Expression, ScalarKind};

use super::{
    Emission, FunctionEmitter,
    buffer_word::Place,
    expression::Expr,
    io::scalar32,
    resources::{Body, BufferView},
    words::{Pieces, pieces_of},
};
use crate::{
    Error, Result,
    ir::{self, Value},
};

/// A row of four scalars that was loaded, or that is known to be out of range.
struct Row {
    /// The row's pointer.
    pointer: Expr,
    /// Kind of its scalars.
    kind: ScalarKind,
    /// The row exists; `None` if it does in any case.
    inside: Option<Expr>,
}

impl FunctionEmitter<'_, '_> {
    /// [`ir::Op::LoadConstant`].
    pub(super) fn load_constant(&mut self, handle: Value, row: Value, offset: u8, ty: ir::Type) -> Result<Emission> {
        let bound = self.bound(handle)?;
        let pieces = pieces_of(ty)?;
        let size = ty.scalar().map_or(4, ir::Scalar::bytes);
        if u32::from(offset) + u32::from(ty.lanes()) * size > 16 || !u32::from(offset).is_multiple_of(size) {
            return Err(Error::malformed(format!("constants across the end of a row: byte {offset}")));
        }
        match bound.resource.body {
            Body::Constant { global, rows, kind } => {
                let pointer = self.buffer_pointer(&bound, global)?;
                match self.row(pointer, row, rows, kind)? {
                    Some(row) => self.load_row(&row, offset, pieces, ty),
                    None => self.zero_value(ty),
                }
            }
            // A texture buffer: the same rows, in a storage buffer.
            Body::Buffer(buffer) if matches!(buffer.view, BufferView::Typed(_)) => {
                let (_, pointer) = self.bound_buffer(handle)?;
                let row = self.get_as(row, ScalarKind::Uint)?;
                let limit = self.u32(1 << 28);
                let valid = self.binary(BinaryOperator::Less, row, limit);
                let four = self.u32(4);
                let first = self.binary(BinaryOperator::Multiply, row, four);
                let first = self.plus(first, u32::from(offset) / 4);
                let (array, atomic) = (pointer, buffer.atomic);
                let place = Place { array, atomic, word: first, aligned: false, limit: None, valid: Some(valid) };
                self.load_pieces_at(&place, u32::from(offset) % 4 / 2, pieces, ty)
            }
            _ => Err(Error::malformed("constants of another kind of resource")),
        }
    }

    /// A row of a constant buffer; `None` if it is known to be out of range.
    fn row(&mut self, array: Expr, row: Value, rows: u32, kind: ScalarKind) -> Result<Option<Row>> {
        if let Some(row) = self.ir.as_scalar_constant(row) {
            if row >= u64::from(rows) {
                return Ok(None);
            }
            let pointer = self.val(Expression::AccessIndex { base: array, index: row as u32 });
            return Ok(Some(Row { pointer, kind, inside: None }));
        }
        let row = self.get_as(row, ScalarKind::Uint)?;
        let (count, last) = (self.u32(rows), self.u32(rows - 1));
        let inside = self.binary(BinaryOperator::Less, row, count);
        let index = self.min(row, last);
        let pointer = self.val(Expression::Access { base: array, index });
        Ok(Some(Row { pointer, kind, inside: Some(inside) }))
    }

    /// Part of a row.
    fn load_row(&mut self, row: &Row, offset: u8, pieces: Pieces, ty: ir::Type) -> Result<Emission> {
        let first = offset / 4;
        let words = match pieces {
            Pieces::Words => ty.lanes(),
            Pieces::Pairs => ty.lanes() * 2,
            Pieces::Halves => (offset % 4 / 2 + ty.lanes()).div_ceil(2),
        };
        let mut value = if words == 1 {
            let pointer = self.val(Expression::AccessIndex { base: row.pointer, index: u32::from(first) });
            self.load(pointer)
        } else {
            let whole = self.load(row.pointer);
            self.lanes_from(whole, 4, first, words)
        };
        if let Some(inside) = row.inside {
            let ty = self.module.numeric(scalar32(row.kind), words);
            let zero = self.zero(ty);
            let inside = self.splat_to(inside, words);
            value = self.select(inside, value, zero);
        }
        if pieces == Pieces::Words {
            // Whichever kind the row has: users cast as they need.
            let kind = if ty.scalar() == Some(ir::Scalar::F32) { ScalarKind::Float } else { ScalarKind::Uint };
            return Ok(Emission { expr: self.bits_as(value, row.kind, kind), kind });
        }
        let bits = self.bits_as(value, row.kind, ScalarKind::Uint);
        let bits = self.lanes(bits, words);
        match pieces {
            Pieces::Halves => {
                let halves = self.split_halves(&bits);
                let first = usize::from(offset % 4 / 2);
                self.value_of_halves(&halves[first..first + usize::from(ty.lanes())], ty)
            }
            _ => self.value_of_words(&bits, ty),
        }
    }

    /// Both halves of each word, low half first.
    pub(super) fn split_halves(&mut self, words: &[Expr]) -> Vec<Expr> {
        let (mask, count) = (self.u32(0xffff), self.u32(16));
        words
            .iter()
            .flat_map(|&word| {
                let low = self.binary(BinaryOperator::And, word, mask);
                let high = self.binary(BinaryOperator::ShiftRight, word, count);
                [low, high]
            })
            .collect()
    }

    /// Zero in every lane.
    pub(super) fn zero_value(&mut self, ty: ir::Type) -> Result<Emission> {
        let kind = match ty.scalar() {
            Some(ir::Scalar::Bool) => ScalarKind::Bool,
            Some(scalar) if scalar.is_float() => ScalarKind::Float,
            Some(_) => ScalarKind::Uint,
            None => return Err(Error::internal(format!("zero of a type without lanes: {ty}"))),
        };
        let shape = self.shape(ty, kind);
        Ok(Emission { expr: self.zero_of(shape), kind })
    }
}
