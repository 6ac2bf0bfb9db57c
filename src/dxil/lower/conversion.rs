//! Conversions of LLVM: between numbers, and of addresses to addresses of other types.

use smallvec::SmallVec;

use super::{FunctionLowering, Lowered, llvm, number::Narrow};
use crate::{
    Error, Result,
    ir::{BinaryOp, Builder, CompareOp, ConvertOp, Op, Scalar, Type, Value},
};

impl FunctionLowering<'_, '_> {
    /// A conversion.
    pub(super) fn cast(
        &mut self,
        op: llvm::CastOperation,
        value: Lowered,
        from: llvm::TypeId,
        to: llvm::TypeId,
    ) -> Result<Lowered> {
        use llvm::CastOperation as Cast;
        match (op, value) {
            (Cast::Bitcast | Cast::AddressSpaceCast, Lowered::Pointer(mut pointer)) => {
                let pointee = self.parent.module.types.pointee(to);
                pointer.pointee = pointee.ok_or_else(|| Error::malformed("conversion of an address to a number"))?;
                Ok(Lowered::Pointer(pointer))
            }
            (Cast::Bitcast | Cast::AddressSpaceCast, Lowered::ChosenPointer(mut pointer)) => {
                let pointee = self.parent.module.types.pointee(to);
                pointer.pointee = pointee.ok_or_else(|| Error::malformed("conversion of an address to a number"))?;
                Ok(Lowered::ChosenPointer(pointer))
            }
            (Cast::Bitcast, Lowered::Record(mut pointer)) => {
                let pointee = self.parent.module.types.pointee(to);
                pointer.pointee = pointee.ok_or_else(|| Error::malformed("conversion of an address to a number"))?;
                Ok(Lowered::Record(pointer))
            }
            (
                Cast::Bitcast | Cast::AddressSpaceCast,
                resource @ (Lowered::Resource { .. } | Lowered::Descriptor(_)),
            ) => Ok(resource),
            (Cast::PtrToInt | Cast::IntToPtr | Cast::AddressSpaceCast, _) => {
                Err(Error::unsupported("conversion between addresses and integers"))
            }
            (Cast::Bitcast, value) => self.bitcast(value.scalars()?, from, to),
            (op, value) => {
                let (from, to) = (self.element_type(from)?, self.element_type(to)?);
                let mut scalars = SmallVec::new();
                for &value in value.scalars()? {
                    scalars.push(self.convert(op, value, from, to)?);
                }
                Ok(Lowered::Scalars(scalars))
            }
        }
    }

    /// The same bits as numbers of another type.
    fn bitcast(&mut self, values: &[Value], from: llvm::TypeId, to: llvm::TypeId) -> Result<Lowered> {
        let (narrow_from, narrow_to) = (self.narrow(self.element_type(from)?), self.narrow(self.element_type(to)?));
        let types = self.parent.scalar_types(to)?;
        let mut build = self.build();
        let convert = |op: ConvertOp, build: &mut Builder<'_>, to: Scalar| {
            values.iter().map(|&value| build.convert(op, value, to)).collect()
        };
        let scalars: SmallVec<[Value; 4]> = match (narrow_from, narrow_to) {
            (Narrow::Half, Narrow::Minimum) => convert(ConvertOp::F32ToF16Bits, &mut build, Scalar::I32),
            (Narrow::Minimum, Narrow::Half) => convert(ConvertOp::F16BitsToF32, &mut build, Scalar::F32),
            _ => match (values, types.as_slice()) {
                (values, types) if values.len() == types.len() => {
                    let mut scalars = SmallVec::new();
                    for (&value, &to) in values.iter().zip(types) {
                        let from = build.ty(value).scalar();
                        if from.is_none_or(|from| from.bits() != to.bits()) {
                            return Err(Error::malformed("bitcast between types of different sizes"));
                        }
                        scalars.push(build.bitcast(value, to));
                    }
                    scalars
                }
                ([low, high], [to]) if to.bits() == 64 && build.ty(*low) == build.ty(*high) => {
                    if build.ty(*low).scalar().is_none_or(|scalar| scalar.bits() != 32) {
                        return Err(Error::malformed("bitcast between types of different sizes"));
                    }
                    let words = [build.bitcast(*low, Scalar::I32), build.bitcast(*high, Scalar::I32)];
                    let pair = build.compose(&words);
                    SmallVec::from_slice(&[build.push(Op::Convert(ConvertOp::Bitcast, pair), Type::Scalar(*to))])
                }
                ([whole], [to, other]) if to == other && to.bits() == 32 => {
                    if build.ty(*whole).scalar().is_none_or(|scalar| scalar.bits() != 64) {
                        return Err(Error::malformed("bitcast between types of different sizes"));
                    }
                    let pair = build.push(Op::Convert(ConvertOp::Bitcast, *whole), Type::Vector(Scalar::I32, 2));
                    (0..2)
                        .map(|lane| {
                            let word = build.extract(pair, lane);
                            build.bitcast(word, *to)
                        })
                        .collect()
                }
                _ => return Err(Error::unsupported("bitcast between vectors of different lengths")),
            },
        };
        Ok(Lowered::Scalars(scalars))
    }

    fn convert(
        &mut self,
        op: llvm::CastOperation,
        value: Value,
        from: llvm::TypeId,
        to: llvm::TypeId,
    ) -> Result<Value> {
        use llvm::CastOperation as Cast;
        let (narrow_from, narrow_to) = (self.narrow(from), self.narrow(to));
        let width = |ty: llvm::TypeId| match self.parent.module.types.get(ty) {
            Some(llvm::Type::Integer(width)) => *width,
            _ => 0,
        };
        let resizes = match op {
            Cast::Trunc => width(from) > width(to),
            Cast::ZExt | Cast::SExt => width(from) < width(to),
            _ => true,
        };
        let (from, to) = (self.parent.scalar(from)?, self.parent.scalar(to)?);
        if self.function.ty(value) != Type::Scalar(from) {
            return Err(Error::malformed("operand of another type than the conversion's"));
        }
        let (integers, floats) = match op {
            Cast::Trunc | Cast::ZExt | Cast::SExt => (!from.is_float() && !to.is_float(), true),
            Cast::FpToUi | Cast::FpToSi => (!to.is_float(), from.is_float()),
            Cast::UiToFp | Cast::SiToFp => (!from.is_float(), to.is_float()),
            _ => (true, from.is_float() && to.is_float()),
        };
        if !integers || !floats || !resizes {
            return Err(Error::malformed("conversion between other types than its own"));
        }
        let value = match op {
            Cast::ZExt | Cast::UiToFp => self.zero_extended(value, narrow_from),
            Cast::SExt | Cast::SiToFp => self.sign_extended(value, narrow_from),
            _ => value,
        };
        let mut build = self.build();
        let resize = |op: ConvertOp, build: &mut Builder<'_>, value: Value| {
            if from == to { value } else { build.convert(op, value, to) }
        };
        // Integers of one bit are the IR's bool.
        let to_bool = |build: &mut Builder<'_>, value: Value| {
            let zero = build.zero(build.ty(value));
            build.compare(CompareOp::INe, value, zero)
        };
        let from_bool = |build: &mut Builder<'_>, value: Value, one: f64| {
            let bits = match to {
                Scalar::F16 => u64::from(half::f16::from_f64(one).to_bits()),
                Scalar::F64 => one.to_bits(),
                _ => u64::from((one as f32).to_bits()),
            };
            let one = build.function.constant(Type::Scalar(to), &[bits]);
            let zero = build.zero(Type::Scalar(to));
            build.select(value, one, zero)
        };
        let value = match op {
            Cast::Trunc if to == Scalar::Bool => {
                let one = build.function.constant(Type::Scalar(from), &[1]);
                let bit = build.binary(BinaryOp::And, value, one);
                to_bool(&mut build, bit)
            }
            Cast::Trunc => resize(ConvertOp::Trunc, &mut build, value),
            Cast::ZExt => resize(ConvertOp::ZExt, &mut build, value),
            Cast::SExt => resize(ConvertOp::SExt, &mut build, value),
            Cast::FpToUi | Cast::FpToSi if to == Scalar::Bool => {
                let integer = build.convert(ConvertOp::FToS, value, Scalar::I32);
                to_bool(&mut build, integer)
            }
            Cast::FpToUi => build.convert(ConvertOp::FToU, value, to),
            Cast::FpToSi => build.convert(ConvertOp::FToS, value, to),
            Cast::UiToFp if from == Scalar::Bool => from_bool(&mut build, value, 1.0),
            Cast::SiToFp if from == Scalar::Bool => from_bool(&mut build, value, -1.0),
            Cast::UiToFp => build.convert(ConvertOp::UToF, value, to),
            Cast::SiToFp => build.convert(ConvertOp::SToF, value, to),
            Cast::FpTrunc | Cast::FpExt => resize(ConvertOp::FToF, &mut build, value),
            Cast::PtrToInt | Cast::IntToPtr | Cast::Bitcast | Cast::AddressSpaceCast => {
                return Err(Error::internal("conversion that is none of numbers"));
            }
        };
        if narrow_to == Narrow::Byte && !matches!(op, Cast::ZExt | Cast::SExt) {
            let mask = build.i32(0xff);
            return Ok(build.binary(BinaryOp::And, value, mask));
        }
        Ok(value)
    }
}
