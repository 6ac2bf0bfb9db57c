//! Arithmetic and comparisons of LLVM, element by element, and the numbers that are narrower in the module than in the IR.

use smallvec::SmallVec;

use super::{FunctionLowering, Lowered, llvm};
use crate::{
    Error, Result,
    ir::{BinaryOp, Builder, CompareOp, ConvertOp, Scalar, Type, UnaryOp, Value},
};

/// Types of numbers that the IR does not tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Narrow {
    /// The IR's type has the same width.
    No,
    /// 8-bit integer in an `i32`, zero-extended.
    Byte,
    /// Minimum-precision integer in an `i32`, whose upper half may hold anything.
    Minimum,
    /// Minimum-precision float in an `f32`.
    Half,
}

impl FunctionLowering<'_, '_> {
    /// Type of a scalar, or of the elements of a vector.
    pub(super) fn element_type(&self, ty: llvm::TypeId) -> Result<llvm::TypeId> {
        Ok(match self.llvm_type(ty)? {
            llvm::Type::Vector { element, .. } => *element,
            _ => ty,
        })
    }

    pub(super) fn narrow(&self, ty: llvm::TypeId) -> Narrow {
        match self.parent.module.types.get(ty) {
            Some(llvm::Type::Integer(8)) => Narrow::Byte,
            Some(llvm::Type::Integer(16)) if !self.parent.native_16_bit => Narrow::Minimum,
            Some(llvm::Type::Half) if !self.parent.native_16_bit => Narrow::Half,
            _ => Narrow::No,
        }
    }

    /// The low bits of a narrow integer, the others 0.
    pub(super) fn zero_extended(&mut self, value: Value, narrow: Narrow) -> Value {
        if narrow != Narrow::Minimum {
            return value;
        }
        let mut build = self.build();
        let mask = build.i32(0xffff);
        build.binary(BinaryOp::And, value, mask)
    }

    /// The low bits of a narrow integer, the others as its sign.
    pub(super) fn sign_extended(&mut self, value: Value, narrow: Narrow) -> Value {
        let bits = match narrow {
            Narrow::Byte => 24,
            Narrow::Minimum => 16,
            Narrow::No | Narrow::Half => return value,
        };
        let mut build = self.build();
        let count = build.i32(bits);
        let high = build.binary(BinaryOp::Shl, value, count);
        build.binary(BinaryOp::AShr, high, count)
    }

    /// What an operation makes of each pair of elements. It sees only pairs of one type.
    fn element_by_element(
        &mut self,
        a: &Lowered,
        b: &Lowered,
        mut operation: impl FnMut(&mut Self, Value, Value) -> Result<Value>,
    ) -> Result<Lowered> {
        let (a, b) = (a.scalars()?, b.scalars()?);
        if a.len() != b.len() {
            return Err(Error::malformed("operands of different types"));
        }
        let mut scalars = SmallVec::new();
        for (&a, &b) in a.iter().zip(b) {
            if self.function.ty(a) != self.function.ty(b) {
                return Err(Error::malformed("operands of different types"));
            }
            scalars.push(operation(self, a, b)?);
        }
        Ok(Lowered::Scalars(scalars))
    }

    /// A binary operation, element by element.
    pub(super) fn binary(
        &mut self,
        op: llvm::BinaryOperation,
        ty: llvm::TypeId,
        a: &Lowered,
        b: &Lowered,
        fast: bool,
    ) -> Result<Lowered> {
        let narrow = self.narrow(self.element_type(ty)?);
        self.element_by_element(a, b, |this, a, b| this.binary_scalar(op, narrow, a, b, fast))
    }

    fn binary_scalar(
        &mut self,
        op: llvm::BinaryOperation,
        narrow: Narrow,
        a: Value,
        b: Value,
        fast: bool,
    ) -> Result<Value> {
        use llvm::BinaryOperation as Llvm;
        let scalar = self.function.ty(a).scalar().ok_or_else(|| Error::malformed("operand is no number"))?;
        let float = matches!(op, Llvm::FAdd | Llvm::FSub | Llvm::FMul | Llvm::FDiv | Llvm::FRem);
        if float != scalar.is_float() {
            return Err(Error::malformed("operands of another type than the operation's"));
        }
        if scalar == Scalar::Bool {
            let op = match op {
                Llvm::And | Llvm::Mul => BinaryOp::And,
                Llvm::Or => BinaryOp::Or,
                Llvm::Xor | Llvm::Add | Llvm::Sub => BinaryOp::Xor,
                _ => return Err(Error::unsupported(format!("operation on bool: {op:?}"))),
            };
            if op == BinaryOp::Xor && self.function.as_scalar_constant(b) == Some(1) {
                return Ok(self.build().unary(UnaryOp::Not, a));
            }
            return Ok(self.build().binary(op, a, b));
        }
        if narrow == Narrow::Byte {
            return Ok(self.binary_byte(op, a, b));
        }
        let (a, b) = match op {
            // Bits above the sixteenth would come in.
            Llvm::UDiv | Llvm::URem | Llvm::LShr => (self.zero_extended(a, narrow), self.zero_extended(b, narrow)),
            Llvm::SDiv | Llvm::SRem | Llvm::AShr => (self.sign_extended(a, narrow), self.sign_extended(b, narrow)),
            _ => (a, b),
        };
        let constant = |value: Value| self.function.as_scalar_constant(value);
        let ones = match scalar.bits() {
            64 => u64::MAX,
            bits => (1 << bits) - 1,
        };
        let sign = 1u64 << (scalar.bits() - 1);
        match op {
            Llvm::Sub if constant(a) == Some(0) => return Ok(self.build().unary(UnaryOp::INeg, b)),
            Llvm::Xor if constant(b) == Some(ones) => return Ok(self.build().unary(UnaryOp::Not, a)),
            // -0 - x is the negation; 0 - x too where the sign of zero does not matter.
            Llvm::FSub if constant(a) == Some(sign) || (fast && constant(a) == Some(0)) => {
                return Ok(self.build().unary(UnaryOp::FNeg, b));
            }
            _ => {}
        }
        Ok(self.build().binary(binary_op(op), a, b))
    }

    /// An operation on 8-bit integers, whose result has no bits above the eighth.
    fn binary_byte(&mut self, op: llvm::BinaryOperation, a: Value, b: Value) -> Value {
        use llvm::BinaryOperation as Llvm;
        let (a, b) = match op {
            Llvm::SDiv | Llvm::SRem | Llvm::AShr => {
                (self.sign_extended(a, Narrow::Byte), self.sign_extended(b, Narrow::Byte))
            }
            _ => (a, b),
        };
        let mut build = self.build();
        let value = build.binary(binary_op(op), a, b);
        let mask = build.i32(0xff);
        build.binary(BinaryOp::And, value, mask)
    }

    /// A comparison, element by element.
    pub(super) fn compare(
        &mut self,
        predicate: llvm::Predicate,
        operands: llvm::TypeId,
        a: &Lowered,
        b: &Lowered,
    ) -> Result<Lowered> {
        let narrow = self.narrow(self.element_type(operands)?);
        self.element_by_element(a, b, |this, a, b| this.compare_scalar(predicate, narrow, a, b))
    }

    fn compare_scalar(&mut self, predicate: llvm::Predicate, narrow: Narrow, a: Value, b: Value) -> Result<Value> {
        use llvm::Predicate as Llvm;
        let scalar = self.function.ty(a).scalar().ok_or_else(|| Error::malformed("operand is no number"))?;
        if matches!(predicate, Llvm::Float(_)) != scalar.is_float() {
            return Err(Error::malformed("operands of another type than the comparison's"));
        }
        if scalar == Scalar::Bool {
            return self.compare_bool(predicate, a, b);
        }
        let (a, b) = match predicate {
            Llvm::SGt | Llvm::SGe | Llvm::SLt | Llvm::SLe => {
                (self.sign_extended(a, narrow), self.sign_extended(b, narrow))
            }
            Llvm::Float(_) => (a, b),
            _ => (self.zero_extended(a, narrow), self.zero_extended(b, narrow)),
        };
        let mut build = self.build();
        let op = match predicate {
            Llvm::Float(relations) => return Ok(float_compare(&mut build, relations, a, b)),
            Llvm::Eq => CompareOp::IEq,
            Llvm::Ne => CompareOp::INe,
            Llvm::UGt => CompareOp::UGt,
            Llvm::UGe => CompareOp::UGe,
            Llvm::ULt => CompareOp::ULt,
            Llvm::ULe => CompareOp::ULe,
            Llvm::SGt => CompareOp::SGt,
            Llvm::SGe => CompareOp::SGe,
            Llvm::SLt => CompareOp::SLt,
            Llvm::SLe => CompareOp::SLe,
        };
        Ok(build.compare(op, a, b))
    }

    /// `bool`s compare as integers of one bit: unsigned 0 and 1, signed 0 and -1.
    fn compare_bool(&mut self, predicate: llvm::Predicate, a: Value, b: Value) -> Result<Value> {
        use llvm::Predicate as Llvm;
        let mut build = self.build();
        let (greater, or_equal) = match predicate {
            Llvm::Eq => return Ok(build.compare(CompareOp::IEq, a, b)),
            Llvm::Ne => return Ok(build.compare(CompareOp::INe, a, b)),
            Llvm::UGt | Llvm::SLt => ((a, b), false),
            Llvm::ULt | Llvm::SGt => ((b, a), false),
            Llvm::UGe | Llvm::SLe => ((a, b), true),
            Llvm::ULe | Llvm::SGe => ((b, a), true),
            Llvm::Float(_) => return Err(Error::malformed("operands of another type than the comparison's")),
        };
        let not = build.unary(UnaryOp::Not, greater.1);
        Ok(build.binary(if or_equal { BinaryOp::Or } else { BinaryOp::And }, greater.0, not))
    }
}

/// A comparison of floats: true if the operands are in one of the relations (bit 0 equal, 1 greater, 2 less, 3
/// unordered).
fn float_compare(build: &mut Builder<'_>, relations: u8, a: Value, b: Value) -> Value {
    let ordered = |build: &mut Builder<'_>, relations: u8| match relations {
        0b001 => build.compare(CompareOp::FEq, a, b),
        0b010 => build.compare(CompareOp::FGt, a, b),
        0b011 => build.compare(CompareOp::FGe, a, b),
        0b100 => build.compare(CompareOp::FLt, a, b),
        0b101 => build.compare(CompareOp::FLe, a, b),
        0b110 => {
            let less = build.compare(CompareOp::FLt, a, b);
            let greater = build.compare(CompareOp::FGt, a, b);
            build.binary(BinaryOp::Or, less, greater)
        }
        0b111 => {
            let nan = unordered(build, a, b);
            build.unary(UnaryOp::Not, nan)
        }
        _ => build.function.constant(Type::BOOL, &[0]),
    };
    match relations {
        0b1000 => unordered(build, a, b),
        // FNe is true for NaN already.
        0b1110 => build.compare(CompareOp::FNe, a, b),
        0b1111 => build.function.constant(Type::BOOL, &[1]),
        0b0000..=0b0111 => ordered(build, relations),
        // Unordered or some relations: not the other relations.
        _ => {
            let others = ordered(build, !relations & 0b111);
            build.unary(UnaryOp::Not, others)
        }
    }
}

/// One of two floats is NaN.
fn unordered(build: &mut Builder<'_>, a: Value, b: Value) -> Value {
    let is_nan = |build: &mut Builder<'_>, value: Value| build.convert(ConvertOp::IsNan, value, Scalar::Bool);
    let first = is_nan(build, a);
    if a == b {
        return first;
    }
    let second = is_nan(build, b);
    build.binary(BinaryOp::Or, first, second)
}

/// The IR's operation that is LLVM's where the types are as wide.
fn binary_op(op: llvm::BinaryOperation) -> BinaryOp {
    use llvm::BinaryOperation as Llvm;
    match op {
        Llvm::Add => BinaryOp::IAdd,
        Llvm::Sub => BinaryOp::ISub,
        Llvm::Mul => BinaryOp::IMul,
        Llvm::UDiv => BinaryOp::UDiv,
        Llvm::SDiv => BinaryOp::SDiv,
        Llvm::URem => BinaryOp::URem,
        Llvm::SRem => BinaryOp::SRem,
        Llvm::Shl => BinaryOp::Shl,
        Llvm::LShr => BinaryOp::LShr,
        Llvm::AShr => BinaryOp::AShr,
        Llvm::And => BinaryOp::And,
        Llvm::Or => BinaryOp::Or,
        Llvm::Xor => BinaryOp::Xor,
        Llvm::FAdd => BinaryOp::FAdd,
        Llvm::FSub => BinaryOp::FSub,
        Llvm::FMul => BinaryOp::FMul,
        Llvm::FDiv => BinaryOp::FDiv,
        Llvm::FRem => BinaryOp::FRem,
    }
}
