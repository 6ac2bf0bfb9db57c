//! Conversions between types, with Direct3D's results for NaN and values out of range.

use naga::{BinaryOperator, Expression, MathFunction, Scalar, ScalarKind};

use super::{Emission, FunctionEmitter, expression::Expr, function::Shape};
use crate::{
    Error, Result,
    ir::{self, ConvertOp, Type, Value},
};

impl FunctionEmitter<'_, '_> {
    /// A conversion of `a` to the type `ty`.
    ///
    /// # Errors
    /// Names what has no lowering.
    pub fn convert_op(&mut self, value: Value, op: ConvertOp, a: Value, ty: Type) -> Result<Emission> {
        let from = self.ir.ty(a);
        let (Some(source), Some(target)) = (from.scalar(), ty.scalar()) else {
            return Err(Error::unsupported("conversion of a resource"));
        };
        let lanes = ty.lanes();
        match op {
            ConvertOp::FToS | ConvertOp::FToU if !target.is_int() => {
                Err(Error::unsupported(format!("conversion of a float to {target}")))
            }
            ConvertOp::Bitcast => self.bitcast_op(value, a, ty),
            ConvertOp::FToS => {
                let a = self.get_as(a, ScalarKind::Float)?;
                self.float_to_integer(a, from, ty, ScalarKind::Sint)
            }
            ConvertOp::FToU => {
                let a = self.get_as(a, ScalarKind::Float)?;
                self.float_to_integer(a, from, ty, ScalarKind::Uint)
            }
            ConvertOp::SToF | ConvertOp::UToF => {
                let to = self.shape(ty, ScalarKind::Float);
                if source == ir::Scalar::Bool {
                    let condition = self.get_as(a, ScalarKind::Bool)?;
                    let truth = self.splat_float(to, if op == ConvertOp::SToF { -1.0 } else { 1.0 });
                    let zero = self.zero_of(to);
                    return Ok(Emission::float(self.select(condition, truth, zero)));
                }
                let kind = if op == ConvertOp::SToF { ScalarKind::Sint } else { ScalarKind::Uint };
                let a = self.get_as(a, kind)?;
                Ok(Emission::float(self.convert(a, to.scalar)))
            }
            ConvertOp::FToF => {
                let a = self.get_as(a, ScalarKind::Float)?;
                let to = self.shape(ty, ScalarKind::Float);
                Ok(Emission::float(if source == target { a } else { self.convert(a, to.scalar) }))
            }
            ConvertOp::SExt | ConvertOp::ZExt => {
                let signed = op == ConvertOp::SExt;
                if source == ir::Scalar::Bool {
                    let kind = self.kind_of(value);
                    let to = self.shape(ty, kind);
                    let condition = self.get_as(a, ScalarKind::Bool)?;
                    let bits = match (signed, target, kind) {
                        (false, ..) => 1,
                        (true, ir::Scalar::I16, ScalarKind::Uint) => 0xffff,
                        (true, ..) => u64::MAX,
                    };
                    let truth = self.splat_literal(to, bits);
                    let zero = self.zero_of(to);
                    return Ok(Emission { expr: self.select(condition, truth, zero), kind });
                }
                let kind = if signed { ScalarKind::Sint } else { ScalarKind::Uint };
                let a = self.get_as(a, kind)?;
                Ok(Emission { expr: self.resized(a, self.shape(from, kind), self.shape(ty, kind)), kind })
            }
            ConvertOp::Trunc => {
                let Emission { expr, kind } = self.get(a)?;
                if target == ir::Scalar::Bool {
                    let shape = self.shape(from, kind);
                    let one = self.splat_literal(shape, 1);
                    let bit = self.binary(BinaryOperator::And, expr, one);
                    return Ok(Emission::bool(self.binary(BinaryOperator::Equal, bit, one)));
                }
                let expr = self.resized(expr, self.shape(from, kind), self.shape(ty, kind));
                Ok(self.rewrapped(Emission { expr, kind }, ty))
            }
            ConvertOp::F32ToF16Bits => {
                let a = self.get_as(a, ScalarKind::Float)?;
                Ok(Emission::uint(self.pack_halves(a, lanes)))
            }
            ConvertOp::F16BitsToF32 => {
                let a = self.get_as(a, ScalarKind::Uint)?;
                Ok(Emission::float(self.unpack_halves(a, lanes)))
            }
            ConvertOp::IsNan => {
                let a = self.get_as(a, ScalarKind::Float)?;
                Ok(Emission::bool(self.is_nan(a)))
            }
            ConvertOp::IsInf => self.compare_magnitude(a, BinaryOperator::Greater),
            ConvertOp::IsFinite => self.compare_magnitude(a, BinaryOperator::LessEqual),
        }
    }

    /// Integers of another width, extended as their kind says.
    fn resized(&mut self, a: Expr, from: Shape, to: Shape) -> Expr {
        if from.scalar == to.scalar { a } else { self.convert(a, to.scalar) }
    }

    /// The magnitude against the greatest finite number: comparisons with NaN are false.
    fn compare_magnitude(&mut self, a: Value, operator: BinaryOperator) -> Result<Emission> {
        let shape = self.shape(self.ir.ty(a), ScalarKind::Float);
        let a = self.get_as(a, ScalarKind::Float)?;
        let magnitude = self.math(MathFunction::Abs, &[a]);
        let greatest = match shape.scalar.width {
            2 => half::f16::MAX.to_f64(),
            4 => f64::from(f32::MAX),
            _ => f64::MAX,
        };
        let greatest = self.splat_float(shape, greatest);
        Ok(Emission::bool(self.binary(operator, magnitude, greatest)))
    }

    /// Halves of `f32` lanes as bits.
    fn pack_halves(&mut self, a: Expr, lanes: u8) -> Expr {
        let zero = self.f32(0.0);
        self.lanewise(lanes, Scalar::U32, &[a], |emitter, lanes| {
            let pair = emitter.vector_of(Scalar::F32, &[lanes[0], zero]);
            emitter.math(MathFunction::Pack2x16float, &[pair])
        })
    }

    /// Halves in the low 16 bits as `f32` lanes.
    fn unpack_halves(&mut self, a: Expr, lanes: u8) -> Expr {
        self.lanewise(lanes, Scalar::F32, &[a], |emitter, lanes| {
            let pair = emitter.math(MathFunction::Unpack2x16float, lanes);
            emitter.val(Expression::AccessIndex { base: pair, index: 0 })
        })
    }

    /// Truncates; NaN gives 0, what is out of range the nearest.
    fn float_to_integer(&mut self, a: Expr, from: Type, ty: Type, kind: ScalarKind) -> Result<Emission> {
        let mut a = a;
        let mut float = self.shape(from, ScalarKind::Float);
        if float.scalar.width == 2 {
            // The bounds are no halves.
            a = self.convert(a, Scalar::F32);
            float = float.with_scalar(Scalar::F32);
        }
        let to = self.shape(ty, kind);
        let bits = ty.scalar().map_or(32, ir::Scalar::bits);
        let signed = kind == ScalarKind::Sint;
        if bits == 16 {
            let (low, high) = if signed { (-32768.0, 32767.0) } else { (0.0, 65535.0) };
            let low = self.splat_float(float, low);
            let high = self.splat_float(float, high);
            let is_nan = self.is_nan(a);
            let bounded = self.math(MathFunction::Clamp, &[a, low, high]);
            let integer = self.convert(bounded, to.scalar);
            let zero = self.zero_of(to);
            return Ok(Emission { expr: self.select(is_nan, zero, integer), kind });
        }
        let magnitude = bits - u32::from(signed);
        let bound = self.splat_float(float, f64::from(magnitude).exp2());
        let greatest = self.splat_literal(to, u64::MAX >> (64 - magnitude));
        let zero = self.zero_of(to);
        // naga clamps to what the float type holds exactly; that is below the greatest integer.
        let integer = self.convert(a, to.scalar);
        let too_great = self.binary(BinaryOperator::GreaterEqual, a, bound);
        let bounded = self.select(too_great, greatest, integer);
        let is_nan = self.is_nan(a);
        Ok(Emission { expr: self.select(is_nan, zero, bounded), kind })
    }

    /// The same bits as another type.
    fn bitcast_op(&mut self, value: Value, a: Value, ty: Type) -> Result<Emission> {
        let from = self.ir.ty(a);
        let (Some(source), Some(target)) = (from.scalar(), ty.scalar()) else {
            return Err(Error::unsupported("bitcast of a resource"));
        };
        if source == target && from.lanes() == ty.lanes() {
            return self.get(a);
        }
        let is_64 = |scalar: ir::Scalar| scalar.bits() == 64;
        if is_64(source) && !is_64(target) && ty.lanes() == 2 * from.lanes() {
            return self.split_words(a, target);
        }
        if !is_64(source) && is_64(target) && from.lanes() == 2 * ty.lanes() {
            return self.join_words(a, target, ty.lanes());
        }
        if source.bits() != target.bits() || from.lanes() != ty.lanes() || source.bits() == 1 {
            return Err(Error::unsupported(format!("bitcast from {from} to {ty}")));
        }
        match (source, target) {
            (ir::Scalar::F16, ir::Scalar::I16) => {
                let a = self.get_as(a, ScalarKind::Float)?;
                let wide = self.convert(a, Scalar::F32);
                Ok(Emission::uint(self.pack_halves(wide, ty.lanes())))
            }
            (ir::Scalar::I16, ir::Scalar::F16) => {
                let a = self.get_as(a, ScalarKind::Uint)?;
                let wide = self.unpack_halves(a, ty.lanes());
                let to = self.shape(ty, ScalarKind::Float);
                Ok(Emission::float(self.convert(wide, to.scalar)))
            }
            _ => {
                let kind = self.kind_of(value);
                let Emission { expr, .. } = self.get(a)?;
                Ok(Emission { expr: self.bitcast(expr, kind), kind })
            }
        }
    }

    /// 64-bit numbers as pairs of words, the low one first.
    fn split_words(&mut self, a: Value, target: ir::Scalar) -> Result<Emission> {
        let from = self.ir.ty(a);
        let lanes = from.lanes();
        let Emission { expr, kind } = self.get(a)?;
        let bits = match kind {
            ScalarKind::Uint => expr,
            ScalarKind::Sint => self.convert(expr, Scalar::U64),
            _ => self.bitcast(expr, ScalarKind::Uint),
        };
        let mut words = Vec::new();
        for lane in 0..lanes {
            let bits = self.lane(bits, lanes, lane);
            let (low, high) = self.halves(bits, 1);
            words.extend([low, high]);
        }
        let expr = self.vector_of(Scalar::U32, &words);
        Ok(match target {
            ir::Scalar::F32 => Emission::float(self.bitcast(expr, ScalarKind::Float)),
            _ => Emission::uint(expr),
        })
    }

    /// Pairs of words, the low one first, as 64-bit numbers.
    fn join_words(&mut self, a: Value, target: ir::Scalar, lanes: u8) -> Result<Emission> {
        let from = self.ir.ty(a).lanes();
        let Emission { expr, kind } = self.get(a)?;
        let words = match kind {
            ScalarKind::Uint => expr,
            ScalarKind::Sint => self.convert(expr, Scalar::U32),
            _ => self.bitcast(expr, ScalarKind::Uint),
        };
        let numbers: Vec<Expr> = (0..lanes)
            .map(|lane| {
                let low = self.lane(words, from, 2 * lane);
                let high = self.lane(words, from, 2 * lane + 1);
                self.join_halves(low, high, 1)
            })
            .collect();
        let expr = self.vector_of(Scalar::U64, &numbers);
        Ok(match target {
            ir::Scalar::F64 => Emission::float(self.bitcast(expr, ScalarKind::Float)),
            _ => Emission::uint(expr),
        })
    }
}
