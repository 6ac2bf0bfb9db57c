//! Values in memory: 32-bit words and halves of them, to the IR's values and back.

use naga::{BinaryOperator, Expression, MathFunction, Scalar, ScalarKind};

use super::{Emission, FunctionEmitter, expression::Expr};
use crate::{
    Error, Result,
    ir::{self, Value},
};

/// How a type lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pieces {
    /// Two bytes a lane.
    Halves,
    /// One word a lane.
    Words,
    /// Two words a lane, low word first.
    Pairs,
}

/// How a type lies in memory.
///
/// # Errors
/// It has no size in memory.
pub(super) fn pieces_of(ty: ir::Type) -> Result<Pieces> {
    match ty.scalar() {
        Some(ir::Scalar::I16 | ir::Scalar::F16) => Ok(Pieces::Halves),
        Some(ir::Scalar::I32 | ir::Scalar::F32) => Ok(Pieces::Words),
        Some(ir::Scalar::I64 | ir::Scalar::F64) => Ok(Pieces::Pairs),
        Some(ir::Scalar::Bool) | None => Err(Error::malformed(format!("type in memory: {ty}"))),
    }
}

impl FunctionEmitter<'_, '_> {
    /// A value of words (`u32`): one for each lane, or two for each lane of 64 bits.
    pub(super) fn value_of_words(&mut self, words: &[Expr], ty: ir::Type) -> Result<Emission> {
        match ty.scalar() {
            Some(ir::Scalar::I32) => Ok(Emission { expr: self.vector_of(Scalar::U32, words), kind: ScalarKind::Uint }),
            Some(ir::Scalar::F32) => {
                let bits = self.vector_of(Scalar::U32, words);
                Ok(Emission { expr: self.bits_as(bits, ScalarKind::Uint, ScalarKind::Float), kind: ScalarKind::Float })
            }
            Some(ir::Scalar::I64 | ir::Scalar::F64) => {
                let pairs: Vec<Expr> = words.chunks_exact(2).map(|pair| self.join(pair[0], pair[1])).collect();
                self.value_of_pairs(&pairs, ty)
            }
            _ => Err(Error::internal(format!("type not of words: {ty}"))),
        }
    }

    /// A value of 64-bit lanes, which are given as `u64`.
    pub(super) fn value_of_pairs(&mut self, pairs: &[Expr], ty: ir::Type) -> Result<Emission> {
        let kind = match ty.scalar() {
            Some(ir::Scalar::I64) => ScalarKind::Uint,
            Some(ir::Scalar::F64) => ScalarKind::Float,
            _ => return Err(Error::internal(format!("type not of pairs: {ty}"))),
        };
        let bits = self.vector_of(Scalar::U64, pairs);
        Ok(Emission { expr: self.bits_as(bits, ScalarKind::Uint, kind), kind })
    }

    /// A value of halves (`u32`, the upper bits zero), one for each lane.
    pub(super) fn value_of_halves(&mut self, halves: &[Expr], ty: ir::Type) -> Result<Emission> {
        match ty.scalar() {
            Some(ir::Scalar::I16) => Ok(Emission { expr: self.vector_of(Scalar::U32, halves), kind: ScalarKind::Uint }),
            Some(ir::Scalar::F16) => {
                let lanes: Vec<Expr> = halves
                    .iter()
                    .map(|&half| {
                        let value = self.half_to_float(half);
                        self.val(Expression::As { expr: value, kind: ScalarKind::Float, convert: Some(2) })
                    })
                    .collect();
                Ok(Emission { expr: self.vector_of(Scalar::F16, &lanes), kind: ScalarKind::Float })
            }
            _ => Err(Error::internal(format!("type not of halves: {ty}"))),
        }
    }

    /// The words (`u32`) of a value: one for each lane, or two for each lane of 64 bits.
    pub(super) fn words_of(&mut self, value: Value) -> Result<Vec<Expr>> {
        let ty = self.ir.ty(value);
        match pieces_of(ty)? {
            Pieces::Words => {
                let bits = self.get_as(value, ScalarKind::Uint)?;
                Ok(self.lanes(bits, ty.lanes()))
            }
            Pieces::Pairs => {
                let pairs = self.pairs_of(value)?;
                Ok(pairs.into_iter().flat_map(|pair| self.split(pair)).collect())
            }
            Pieces::Halves => Err(Error::internal(format!("type not of words: {ty}"))),
        }
    }

    /// The lanes of a value of 64-bit lanes, as `u64`.
    pub(super) fn pairs_of(&mut self, value: Value) -> Result<Vec<Expr>> {
        let bits = self.get_as(value, ScalarKind::Uint)?;
        Ok(self.lanes(bits, self.ir.ty(value).lanes()))
    }

    /// The halves (`u32`, the upper bits zero) of a value, one for each lane.
    pub(super) fn halves_of(&mut self, value: Value) -> Result<Vec<Expr>> {
        let ty = self.ir.ty(value);
        let mask = self.u32(0xffff);
        let lanes = match ty.scalar() {
            Some(ir::Scalar::I16) => {
                let bits = self.get_as(value, ScalarKind::Uint)?;
                self.lanes(bits, ty.lanes())
            }
            Some(ir::Scalar::F16) => {
                let value = self.get(value)?.expr;
                let value = self.val(Expression::As { expr: value, kind: ScalarKind::Float, convert: Some(4) });
                let lanes = self.lanes(value, ty.lanes());
                lanes.into_iter().map(|lane| self.float_to_half(lane)).collect()
            }
            _ => return Err(Error::internal(format!("type not of halves: {ty}"))),
        };
        Ok(lanes.into_iter().map(|lane| self.binary(BinaryOperator::And, lane, mask)).collect())
    }

    /// The low 16 bits of a `u32` as a half, as `f32`.
    pub(super) fn half_to_float(&mut self, half: Expr) -> Expr {
        let pair = self.math(MathFunction::Unpack2x16float, &[half]);
        self.lane(pair, 2, 0)
    }

    /// An `f32` as a half in the low 16 bits of a `u32`, the upper bits zero.
    pub(super) fn float_to_half(&mut self, value: Expr) -> Expr {
        let zero = self.f32(0.0);
        let pair = self.vector_of(Scalar::F32, &[value, zero]);
        self.math(MathFunction::Pack2x16float, &[pair])
    }

    /// A `u64` of two words.
    pub(super) fn join(&mut self, low: Expr, high: Expr) -> Expr {
        let low = self.val(Expression::As { expr: low, kind: ScalarKind::Uint, convert: Some(8) });
        let high = self.val(Expression::As { expr: high, kind: ScalarKind::Uint, convert: Some(8) });
        let count = self.u32(32);
        let high = self.binary(BinaryOperator::ShiftLeft, high, count);
        self.binary(BinaryOperator::InclusiveOr, low, high)
    }

    /// Two words of a `u64`.
    pub(super) fn split(&mut self, value: Expr) -> [Expr; 2] {
        let low = self.val(Expression::As { expr: value, kind: ScalarKind::Uint, convert: Some(4) });
        let count = self.u32(32);
        let high = self.binary(BinaryOperator::ShiftRight, value, count);
        let high = self.val(Expression::As { expr: high, kind: ScalarKind::Uint, convert: Some(4) });
        [low, high]
    }
}
