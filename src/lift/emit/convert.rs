//! Conversions between types, with Direct3D's results for NaN and values out of range.

use naga::{BinaryOperator, Expression, MathFunction, Scalar, ScalarKind, UnaryOperator};

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
            ConvertOp::FToS => self.float_to_integer(a, ty, ScalarKind::Sint),
            ConvertOp::FToU => self.float_to_integer(a, ty, ScalarKind::Uint),
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
                let to = self.shape(ty, ScalarKind::Float);
                let a = match (source, target) {
                    (ir::Scalar::F16, ir::Scalar::F32 | ir::Scalar::F64) => self.widened_halves(a)?,
                    (ir::Scalar::F32, ir::Scalar::F64) => self.widened_floats(a)?,
                    _ => self.get_as(a, ScalarKind::Float)?,
                };
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
                let rounded = self.may_be_rounded(a, 0);
                let a = self.get_as(a, ScalarKind::Uint)?;
                let floats = if rounded { self.rounded_halves(a, lanes) } else { self.unpack_halves(a, lanes) };
                Ok(Emission::float(floats))
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

    /// Native halves as `f32` lanes.
    pub(super) fn widened_halves(&mut self, value: Value) -> Result<Expr> {
        let a = self.get_as(value, ScalarKind::Float)?;
        let wide = self.convert(a, Scalar::F32);
        if !self.may_be_rounded(value, 0) {
            return Ok(wide);
        }
        let lanes = self.ir.ty(value).lanes();
        let bits = self.pack_halves(wide, lanes);
        Ok(self.rounded_halves(bits, lanes))
    }

    /// `f32` lanes as `f64` lanes; the sign is turned twice for the reason that [`Self::rounded_halves`] gives, in ways
    /// that do not cancel before the compiler's last steps.
    fn widened_floats(&mut self, value: Value) -> Result<Expr> {
        let mut a = self.get_as(value, ScalarKind::Float)?;
        if self.may_be_rounded(value, 0) {
            let bits = self.shape(self.ir.ty(value), ScalarKind::Uint);
            let sign = self.splat_literal(bits, 1 << 31);
            a = self.bits_as(a, ScalarKind::Float, ScalarKind::Uint);
            a = self.binary(BinaryOperator::Add, a, sign);
            a = self.binary(BinaryOperator::ExclusiveOr, a, sign);
            a = self.bits_as(a, ScalarKind::Uint, ScalarKind::Float);
        }
        Ok(self.convert(a, Scalar::F64))
    }

    /// Halves in the low 16 bits as `f32` lanes, where they were packed from floats.
    ///
    /// The sign is turned among the bits, and again in the float, so that compilers keep the rounding. Mesa's take a number that is
    /// rounded and made as wide as before for the number itself: an inexact rewrite, which only `NoContraction` would stop, and
    /// naga does not write that.
    fn rounded_halves(&mut self, bits: Expr, lanes: u8) -> Expr {
        let sign = self.splat_literal(Shape { scalar: Scalar::U32, lanes }, 0x8000);
        let bits = self.binary(BinaryOperator::ExclusiveOr, bits, sign);
        let floats = self.unpack_halves(bits, lanes);
        self.unary(UnaryOperator::Negate, floats)
    }

    /// Whether a float, or the bits of one, may be a wider number that was rounded and then only moved, masked, chosen or given
    /// another sign, as far as compilers look through that.
    fn may_be_rounded(&self, value: Value, depth: u32) -> bool {
        use ir::{BinaryOp, Op, TernaryOp, UnaryOp};

        let operand = |value: &Value| self.may_be_rounded(*value, depth + 1);
        // Parameters of blocks, and what is deeper than one cares to look, may be anything.
        let Some(op) = self.ir.op(value).filter(|_| depth < 8) else { return true };
        match op {
            Op::Convert(ConvertOp::FToF | ConvertOp::SToF | ConvertOp::UToF | ConvertOp::F32ToF16Bits, _)
            | Op::LoadVariable { .. } => true,
            Op::Convert(ConvertOp::Bitcast | ConvertOp::ZExt | ConvertOp::SExt | ConvertOp::Trunc, a)
            | Op::Unary(UnaryOp::FNeg | UnaryOp::FAbs | UnaryOp::FSaturate, a)
            | Op::Extract(a, _)
            | Op::ExtractDynamic(a, _)
            | Op::Swizzle(a, _) => operand(a),
            Op::Ternary(TernaryOp::UBitfieldExtract | TernaryOp::SBitfieldExtract, _, _, a) => operand(a),
            Op::BitfieldInsert { insert, base, .. } => operand(insert) || operand(base),
            Op::Binary(
                BinaryOp::FMin
                | BinaryOp::FMax
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::IAdd
                | BinaryOp::Shl
                | BinaryOp::LShr
                | BinaryOp::AShr,
                a,
                b,
            ) => operand(a) || operand(b),
            Op::Select { accept, reject, .. } => operand(accept) || operand(reject),
            Op::Compose(lanes) => lanes.iter().any(operand),
            _ => false,
        }
    }

    /// Truncates; NaN gives 0, what is out of range the nearest.
    fn float_to_integer(&mut self, value: Value, ty: Type, kind: ScalarKind) -> Result<Emission> {
        let mut float = self.shape(self.ir.ty(value), ScalarKind::Float);
        let a = if float.scalar.width == 2 {
            // The bounds are no halves.
            float = float.with_scalar(Scalar::F32);
            self.widened_halves(value)?
        } else {
            self.get_as(value, ScalarKind::Float)?
        };
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
