//! Floating-point arithmetic, with Direct3D's results for NaN, and the choice between float and integer lowerings.

use naga::{BinaryOperator, MathFunction, ScalarKind, UnaryOperator};

use super::{Emission, FunctionEmitter, expression::Expr, function::Shape};
use crate::{
    Error, Result,
    ir::{BinaryOp, CompareOp, ConvertOp, Op, Scalar, TernaryOp, Type, UnaryOp, Value},
};

/// How far back operands are followed to see that a value is never NaN.
const NAN_DEPTH: u32 = 4;

impl FunctionEmitter<'_, '_> {
    /// An operation of one operand.
    ///
    /// # Errors
    /// Names what has no lowering.
    pub fn unary_op(&mut self, value: Value, op: UnaryOp, a: Value, ty: Type) -> Result<Emission> {
        let fun = match op {
            UnaryOp::FNeg => {
                let a = self.get_as(a, ScalarKind::Float)?;
                return Ok(Emission::float(self.unary(UnaryOperator::Negate, a)));
            }
            UnaryOp::FSaturate => {
                let a = self.get_as(a, ScalarKind::Float)?;
                let shape = self.shape(ty, ScalarKind::Float);
                return Ok(Emission::float(self.saturate(a, shape)));
            }
            UnaryOp::FRcp => {
                let a = self.get_as(a, ScalarKind::Float)?;
                let shape = self.shape(ty, ScalarKind::Float);
                let one = self.splat_float(shape, 1.0);
                return Ok(Emission::float(self.binary(BinaryOperator::Divide, one, a)));
            }
            UnaryOp::FAbs => MathFunction::Abs,
            UnaryOp::FSqrt => MathFunction::Sqrt,
            UnaryOp::FRsqrt => MathFunction::InverseSqrt,
            UnaryOp::FExp2 => MathFunction::Exp2,
            UnaryOp::FLog2 => MathFunction::Log2,
            UnaryOp::FSin => MathFunction::Sin,
            UnaryOp::FCos => MathFunction::Cos,
            UnaryOp::FTan => MathFunction::Tan,
            UnaryOp::FAsin => MathFunction::Asin,
            UnaryOp::FAcos => MathFunction::Acos,
            UnaryOp::FAtan => MathFunction::Atan,
            UnaryOp::FSinh => MathFunction::Sinh,
            UnaryOp::FCosh => MathFunction::Cosh,
            UnaryOp::FTanh => MathFunction::Tanh,
            UnaryOp::FFract => MathFunction::Fract,
            UnaryOp::FRoundEven => MathFunction::Round,
            UnaryOp::FFloor => MathFunction::Floor,
            UnaryOp::FCeil => MathFunction::Ceil,
            UnaryOp::FTrunc => MathFunction::Trunc,
            UnaryOp::INeg
            | UnaryOp::Not
            | UnaryOp::ReverseBits
            | UnaryOp::CountBits
            | UnaryOp::FirstBitLow
            | UnaryOp::FirstBitHigh
            | UnaryOp::FirstBitSignedHigh => return self.integer_unary(value, op, a),
        };
        // SPIR-V's extended instructions take 64 bits in these alone.
        let takes_f64 = matches!(
            op,
            UnaryOp::FAbs
                | UnaryOp::FSqrt
                | UnaryOp::FRsqrt
                | UnaryOp::FFract
                | UnaryOp::FRoundEven
                | UnaryOp::FFloor
                | UnaryOp::FCeil
                | UnaryOp::FTrunc
        );
        if ty.scalar() == Some(Scalar::F64) && !takes_f64 {
            return Err(Error::unsupported(format!("64-bit operation: {op:?}")));
        }
        let a = self.get_as(a, ScalarKind::Float)?;
        let result = self.math(fun, &[a]);
        if op == UnaryOp::FAtan {
            // Drivers bring the argument into a range by comparisons, in which a NaN is lost.
            let is_number = self.binary(BinaryOperator::Equal, a, a);
            return Ok(Emission::float(self.select(is_number, result, a)));
        }
        Ok(Emission::float(result))
    }

    /// Clamps to 0..1; NaN gives 0.
    fn saturate(&mut self, a: Expr, shape: Shape) -> Expr {
        let zero = self.splat_float(shape, 0.0);
        let one = self.splat_float(shape, 1.0);
        let positive = self.binary(BinaryOperator::Greater, a, zero);
        let bounded = self.math(MathFunction::Min, &[a, one]);
        self.select(positive, bounded, zero)
    }

    /// An operation of two operands.
    ///
    /// # Errors
    /// Names what has no lowering.
    pub fn binary_op(&mut self, value: Value, op: BinaryOp, a: Value, b: Value, ty: Type) -> Result<Emission> {
        let operator = match op {
            BinaryOp::FAdd => BinaryOperator::Add,
            BinaryOp::FSub => BinaryOperator::Subtract,
            BinaryOp::FMul => return Ok(Emission::float(self.product(a, b)?)),
            BinaryOp::FDiv => BinaryOperator::Divide,
            BinaryOp::FRem => BinaryOperator::Modulo,
            BinaryOp::FMin => return self.float_extremum(BinaryOperator::Less, a, b),
            BinaryOp::FMax => return self.float_extremum(BinaryOperator::Greater, a, b),
            _ => return self.integer_binary(value, op, a, b, ty),
        };
        let a = self.get_as(a, ScalarKind::Float)?;
        let b = self.get_as(b, ScalarKind::Float)?;
        Ok(Emission::float(self.binary(operator, a, b)))
    }

    /// A product; a vector is multiplied by a scalar where every lane's factor is that.
    fn product(&mut self, a: Value, b: Value) -> Result<Expr> {
        let left = self.factor(a, b)?;
        let right = self.factor(b, a)?;
        Ok(self.binary(BinaryOperator::Multiply, left, right))
    }

    /// A factor of a product with `other`: a scalar if that is what each of its lanes is, and `other` is a vector.
    fn factor(&mut self, value: Value, other: Value) -> Result<Expr> {
        if let Some(&scalar) = self.plan.factors.get(&value) {
            return self.get_as(scalar, ScalarKind::Float);
        }
        let is_vector = |value: Value| self.known(value).is_none() && !self.plan.factors.contains_key(&value);
        if let Some(bits) = self.known_splat(value)
            && is_vector(other)
        {
            let scalar = self.shape(self.ir.ty(value), ScalarKind::Float).scalar;
            return Ok(self.literal(scalar, bits));
        }
        self.get_as(value, ScalarKind::Float)
    }

    /// The lesser or greater, as `better` says; if one operand is NaN, the other.
    fn float_extremum(&mut self, better: BinaryOperator, a: Value, b: Value) -> Result<Emission> {
        // What is never NaN stands second: where the first is, the comparison fails and the second is taken.
        let (a, b) = if self.is_never_nan(a, NAN_DEPTH) { (b, a) } else { (a, b) };
        let second_is_number = self.is_never_nan(b, NAN_DEPTH);
        let a = self.get_as(a, ScalarKind::Float)?;
        let b = self.get_as(b, ScalarKind::Float)?;
        let mut first = self.binary(better, a, b);
        if !second_is_number {
            let is_nan = self.is_nan(b);
            first = self.binary(BinaryOperator::InclusiveOr, first, is_nan);
        }
        Ok(Emission::float(self.select(first, a, b)))
    }

    /// A float is no NaN, whatever the operands are.
    fn is_never_nan(&self, value: Value, depth: u32) -> bool {
        if self.is_known_not_nan(value) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.ir.op(value) {
            Some(Op::Unary(UnaryOp::FSaturate, _) | Op::Convert(ConvertOp::SToF | ConvertOp::UToF, _)) => true,
            Some(Op::Unary(UnaryOp::FNeg | UnaryOp::FAbs | UnaryOp::FFloor | UnaryOp::FCeil | UnaryOp::FTrunc, a)) => {
                self.is_never_nan(*a, depth)
            }
            Some(Op::Extract(a, _) | Op::Swizzle(a, _)) => self.is_never_nan(*a, depth),
            Some(Op::Binary(BinaryOp::FMin | BinaryOp::FMax, a, b)) => {
                self.is_never_nan(*a, depth) || self.is_never_nan(*b, depth)
            }
            Some(Op::Select { accept, reject, .. }) => {
                self.is_never_nan(*accept, depth) && self.is_never_nan(*reject, depth)
            }
            Some(Op::Compose(lanes)) => lanes.iter().all(|&lane| self.is_never_nan(lane, depth)),
            _ => false,
        }
    }

    /// A float is NaN, lane by lane.
    pub fn is_nan(&mut self, a: Expr) -> Expr {
        let is_number = self.binary(BinaryOperator::Equal, a, a);
        self.unary(UnaryOperator::LogicalNot, is_number)
    }

    /// A comparison.
    ///
    /// # Errors
    /// An operand was not emitted: a bug.
    pub fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Result<Emission> {
        let (kind, operator) = match op {
            CompareOp::FEq | CompareOp::FNe => (Some(ScalarKind::Float), BinaryOperator::Equal),
            CompareOp::FLt => (Some(ScalarKind::Float), BinaryOperator::Less),
            CompareOp::FLe => (Some(ScalarKind::Float), BinaryOperator::LessEqual),
            CompareOp::FGt => (Some(ScalarKind::Float), BinaryOperator::Greater),
            CompareOp::FGe => (Some(ScalarKind::Float), BinaryOperator::GreaterEqual),
            CompareOp::IEq => (None, BinaryOperator::Equal),
            CompareOp::INe => (None, BinaryOperator::NotEqual),
            CompareOp::SLt => (Some(ScalarKind::Sint), BinaryOperator::Less),
            CompareOp::SLe => (Some(ScalarKind::Sint), BinaryOperator::LessEqual),
            CompareOp::SGt => (Some(ScalarKind::Sint), BinaryOperator::Greater),
            CompareOp::SGe => (Some(ScalarKind::Sint), BinaryOperator::GreaterEqual),
            CompareOp::ULt => (Some(ScalarKind::Uint), BinaryOperator::Less),
            CompareOp::ULe => (Some(ScalarKind::Uint), BinaryOperator::LessEqual),
            CompareOp::UGt => (Some(ScalarKind::Uint), BinaryOperator::Greater),
            CompareOp::UGe => (Some(ScalarKind::Uint), BinaryOperator::GreaterEqual),
        };
        // Equality needs no sign: that of an operand which has one already.
        let kind = match kind {
            Some(kind) => kind,
            None if self.known(a).is_some() => self.get(b)?.kind,
            None => self.get(a)?.kind,
        };
        let a = self.get_as(a, kind)?;
        let b = self.get_as(b, kind)?;
        let mut expr = self.binary(operator, a, b);
        if op == CompareOp::FNe {
            // Not naga's inequality: that is false for NaN.
            expr = self.unary(UnaryOperator::LogicalNot, expr);
        }
        Ok(Emission::bool(expr))
    }

    /// An operation of three operands.
    ///
    /// # Errors
    /// Names what has no lowering.
    pub fn ternary_op(&mut self, value: Value, op: TernaryOp, operands: [Value; 3], ty: Type) -> Result<Emission> {
        let [a, b, c] = operands;
        match op {
            TernaryOp::FMad => {
                let product = self.product(a, b)?;
                let c = self.get_as(c, ScalarKind::Float)?;
                Ok(Emission::float(self.binary(BinaryOperator::Add, product, c)))
            }
            TernaryOp::FFma => {
                let a = self.get_as(a, ScalarKind::Float)?;
                let b = self.get_as(b, ScalarKind::Float)?;
                let c = self.get_as(c, ScalarKind::Float)?;
                Ok(Emission::float(self.math(MathFunction::Fma, &[a, b, c])))
            }
            TernaryOp::IMad => {
                let kind = self.kind_of(value);
                let a = self.get_as(a, kind)?;
                let b = self.get_as(b, kind)?;
                let c = self.get_as(c, kind)?;
                let product = self.binary(BinaryOperator::Multiply, a, b);
                let sum = self.binary(BinaryOperator::Add, product, c);
                Ok(self.rewrapped(Emission { expr: sum, kind }, ty))
            }
            TernaryOp::UBitfieldExtract => self.bitfield_extract(ScalarKind::Uint, [a, b, c], ty),
            TernaryOp::SBitfieldExtract => self.bitfield_extract(ScalarKind::Sint, [a, b, c], ty),
            TernaryOp::Msad => self.masked_differences([a, b, c], ty),
        }
    }

    /// Sum of the products of lanes.
    ///
    /// # Errors
    /// An operand was not emitted: a bug.
    pub fn dot(&mut self, value: Value, a: Value, b: Value, precise: bool) -> Result<Emission> {
        let ty = self.ir.ty(a);
        let kind = self.kind_of(value);
        let a = self.get_as(a, kind)?;
        let b = self.get_as(b, kind)?;
        let lanes = ty.lanes();
        if lanes > 1 && kind == ScalarKind::Float && !precise {
            return Ok(Emission { expr: self.math(MathFunction::Dot, &[a, b]), kind });
        }
        let products = self.binary(BinaryOperator::Multiply, a, b);
        let mut sum = self.lane(products, lanes, 0);
        for lane in 1..lanes {
            let product = self.lane(products, lanes, lane);
            sum = self.binary(BinaryOperator::Add, sum, product);
        }
        Ok(Emission { expr: sum, kind })
    }
}
