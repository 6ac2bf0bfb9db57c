//! Conversions.

use super::{Lowering, Pair};
use crate::{
    Error, Result,
    ir::{BinaryOp, ConvertOp, Scalar, Type, Value},
};

impl Lowering<'_, '_, '_> {
    /// A conversion to 64-bit integers.
    pub(super) fn widened(&mut self, op: ConvertOp, a: Value, ty: Type) -> Result<Pair> {
        if self.is_wide(a) {
            return self.pair(a);
        }
        let from = self.ty(a).scalar();
        let words = ty.with_scalar(Scalar::I32);
        match op {
            ConvertOp::Bitcast if self.ty(a) == Type::Vector(Scalar::I32, 2) => Ok(self.unpack(a, 1)),
            ConvertOp::SExt | ConvertOp::ZExt => {
                let low = if from == Some(Scalar::I32) { a } else { self.build().convert(op, a, Scalar::I32) };
                if op == ConvertOp::ZExt {
                    let high = self.build().zero(words);
                    return Ok(Pair { low, high });
                }
                let last = self.rewrite.splat(words, 31);
                let high = self.build().binary(BinaryOp::AShr, low, last);
                Ok(Pair { low, high })
            }
            ConvertOp::FToS | ConvertOp::FToU => {
                let name = if op == ConvertOp::FToS { "f32_to_s64" } else { "f32_to_u64" };
                let a = match from {
                    Some(Scalar::F16) => self.build().convert(ConvertOp::FToF, a, Scalar::F32),
                    _ => a,
                };
                let id = self.rewrite.library(name)?;
                let mut lanes = Vec::new();
                for lane in 0..ty.lanes() {
                    let mut build = self.build();
                    let a = build.extract(a, lane);
                    let args = [a].into_iter().collect();
                    let packed = build.push(crate::ir::Op::Call(id, args), Type::Vector(Scalar::I32, 2));
                    lanes.push(self.unpack(packed, 1));
                }
                Ok(self.join(&lanes))
            }
            _ => Err(Error::unsupported(format!("64-bit conversion: {op:?} of {}", self.ty(a)))),
        }
    }

    /// A conversion of 64-bit integers to something else.
    pub(super) fn narrowed(&mut self, op: ConvertOp, a: Value, ty: Type) -> Result<Value> {
        let pair = self.pair(a)?;
        match (op, ty.scalar()) {
            (ConvertOp::Bitcast, Some(Scalar::I32)) => Ok(self.pack(pair)),
            (ConvertOp::Trunc, Some(Scalar::I32)) => Ok(pair.low),
            (ConvertOp::Trunc, Some(narrow)) => Ok(self.build().convert(ConvertOp::Trunc, pair.low, narrow)),
            (ConvertOp::SToF | ConvertOp::UToF, Some(float)) => {
                let name = if op == ConvertOp::SToF { "s64_to_f32" } else { "u64_to_f32" };
                let id = self.rewrite.library(name)?;
                let mut build = self.build();
                let lanes: Vec<Value> = (0..ty.lanes())
                    .map(|lane| {
                        let words = [build.extract(pair.low, lane), build.extract(pair.high, lane)];
                        build.push(crate::ir::Op::Call(id, words.into_iter().collect()), Type::F32)
                    })
                    .collect();
                let result = build.compose(&lanes);
                // What 24 digits do not hold is beyond the greatest half.
                Ok(if float == Scalar::F32 { result } else { build.convert(ConvertOp::FToF, result, float) })
            }
            _ => Err(Error::unsupported(format!("64-bit conversion: {op:?} to {ty}"))),
        }
    }
}
