//! What operations give for constants.

use std::cmp::Ordering;

use crate::ir::{BinaryOp, CompareOp, ConvertOp, Scalar, TernaryOp, UnaryOp};

/// Bits of a lane, zero-extended.
pub(super) type Bits = u64;

/// The ones of a type's width.
pub(super) fn mask(scalar: Scalar) -> Bits {
    if scalar.bits() == 64 { u64::MAX } else { (1 << scalar.bits()) - 1 }
}

/// A lane as a signed integer.
fn signed(scalar: Scalar, bits: Bits) -> i64 {
    let unused = 64 - scalar.bits();
    (bits << unused) as i64 >> unused
}

/// A lane of a float type, exactly.
fn float(scalar: Scalar, bits: Bits) -> Option<f64> {
    match scalar {
        Scalar::F16 => Some(half::f16::from_bits(bits as u16).to_f64()),
        Scalar::F32 => Some(f32::from_bits(bits as u32).into()),
        Scalar::F64 => Some(f64::from_bits(bits)),
        Scalar::Bool | Scalar::I16 | Scalar::I32 | Scalar::I64 => None,
    }
}

/// A lane of a float type that arithmetic takes as it is: `f32` denormals, which it flushes, are none.
fn normal(scalar: Scalar, bits: Bits) -> Option<f64> {
    float(scalar, bits).filter(|_| scalar != Scalar::F32 || !f32::from_bits(bits as u32).is_subnormal())
}

/// A number as a lane of a float type, if it is one exactly.
fn exact(scalar: Scalar, number: f64) -> Option<Bits> {
    let bits = match scalar {
        Scalar::F16 => half::f16::from_f64(number).to_bits().into(),
        Scalar::F32 => (number as f32).to_bits().into(),
        Scalar::F64 => number.to_bits(),
        Scalar::Bool | Scalar::I16 | Scalar::I32 | Scalar::I64 => return None,
    };
    (normal(scalar, bits)?.to_bits() == number.to_bits() && !number.is_nan()).then_some(bits)
}

/// Result of an arithmetic operation in its own width, unless it is one that drivers may give otherwise.
fn arithmetic(scalar: Scalar, a: Bits, b: Bits, f32: fn(f32, f32) -> f32, f64: fn(f64, f64) -> f64) -> Option<Bits> {
    match scalar {
        Scalar::F32 => {
            normal(scalar, a)?;
            normal(scalar, b)?;
            let result = f32(f32::from_bits(a as u32), f32::from_bits(b as u32));
            (!result.is_nan() && !result.is_subnormal()).then_some(result.to_bits().into())
        }
        Scalar::F64 => {
            let result = f64(f64::from_bits(a), f64::from_bits(b));
            (!result.is_nan()).then_some(result.to_bits())
        }
        _ => None,
    }
}

/// One lane of [`Op::Unary`](crate::ir::Op::Unary), if Direct3D leaves no choice.
pub(super) fn unary(op: UnaryOp, scalar: Scalar, a: Bits) -> Option<Bits> {
    let ones = mask(scalar);
    let sign = 1 << (scalar.bits() - 1);
    let zeros_above = (a << (64 - scalar.bits())).leading_zeros();
    Some(match op {
        UnaryOp::FNeg => a ^ sign,
        UnaryOp::FAbs => a & !sign,
        UnaryOp::FSaturate => {
            let number = float(scalar, a)?;
            if number > 0.0 && number < 1.0 { exact(scalar, number)? } else { exact(scalar, f64::from(number >= 1.0))? }
        }
        UnaryOp::FRoundEven => exact(scalar, normal(scalar, a)?.round_ties_even())?,
        UnaryOp::FFloor => exact(scalar, normal(scalar, a)?.floor())?,
        UnaryOp::FCeil => exact(scalar, normal(scalar, a)?.ceil())?,
        UnaryOp::FTrunc => exact(scalar, normal(scalar, a)?.trunc())?,
        UnaryOp::FFract => {
            let number = normal(scalar, a)?;
            exact(scalar, number - number.floor())?
        }
        // Others are of limited precision: the driver's results stay the driver's.
        UnaryOp::FRcp
        | UnaryOp::FSqrt
        | UnaryOp::FRsqrt
        | UnaryOp::FExp2
        | UnaryOp::FLog2
        | UnaryOp::FSin
        | UnaryOp::FCos
        | UnaryOp::FTan
        | UnaryOp::FAsin
        | UnaryOp::FAcos
        | UnaryOp::FAtan
        | UnaryOp::FSinh
        | UnaryOp::FCosh
        | UnaryOp::FTanh => return None,
        UnaryOp::INeg => a.wrapping_neg() & ones,
        UnaryOp::Not => !a & ones,
        UnaryOp::ReverseBits => a.reverse_bits() >> (64 - scalar.bits()),
        UnaryOp::CountBits => a.count_ones().into(),
        UnaryOp::FirstBitLow if a == 0 => mask(Scalar::I32),
        UnaryOp::FirstBitLow => a.trailing_zeros().into(),
        UnaryOp::FirstBitHigh if a == 0 => mask(Scalar::I32),
        UnaryOp::FirstBitHigh => (scalar.bits() - 1 - zeros_above).into(),
        UnaryOp::FirstBitSignedHigh => {
            let differs = if a & sign != 0 { !a & ones } else { a };
            unary(UnaryOp::FirstBitHigh, scalar, differs)?
        }
    })
}

/// One lane of [`Op::Binary`](crate::ir::Op::Binary), if Direct3D leaves no choice.
pub(super) fn binary(op: BinaryOp, scalar: Scalar, a: Bits, b: Bits) -> Option<Bits> {
    let ones = mask(scalar);
    let bits = scalar.bits();
    let (x, y) = (signed(scalar, a), signed(scalar, b));
    // Of widths that are powers of two.
    let count = (b & u64::from(bits - 1)) as u32;
    let result = match op {
        BinaryOp::FAdd => return arithmetic(scalar, a, b, |a, b| a + b, |a, b| a + b),
        BinaryOp::FSub => return arithmetic(scalar, a, b, |a, b| a - b, |a, b| a - b),
        BinaryOp::FMul => return arithmetic(scalar, a, b, |a, b| a * b, |a, b| a * b),
        BinaryOp::FDiv | BinaryOp::FRem => return None,
        BinaryOp::FMin | BinaryOp::FMax => {
            let (x, y) = (normal(scalar, a)?, normal(scalar, b)?);
            let first = if x.is_nan() || y.is_nan() {
                y.is_nan()
            } else {
                // Of zeros of two signs, either may be given.
                match x.partial_cmp(&y)? {
                    Ordering::Less => op == BinaryOp::FMin,
                    Ordering::Greater => op == BinaryOp::FMax,
                    Ordering::Equal => true,
                }
            };
            if first { a } else { b }
        }
        BinaryOp::IAdd => a.wrapping_add(b),
        BinaryOp::ISub => a.wrapping_sub(b),
        BinaryOp::IMul => a.wrapping_mul(b),
        BinaryOp::SMulHigh => ((i128::from(x) * i128::from(y)) >> bits) as u64,
        BinaryOp::UMulHigh => ((u128::from(a) * u128::from(b)) >> bits) as u64,
        BinaryOp::SDiv | BinaryOp::SRem | BinaryOp::UDiv | BinaryOp::URem if b == 0 => u64::MAX,
        BinaryOp::SDiv => x.wrapping_div(y) as u64,
        BinaryOp::SRem => x.wrapping_rem(y) as u64,
        BinaryOp::UDiv => a / b,
        BinaryOp::URem => a % b,
        BinaryOp::SMin => x.min(y) as u64,
        BinaryOp::SMax => x.max(y) as u64,
        BinaryOp::UMin => a.min(b),
        BinaryOp::UMax => a.max(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => a << count,
        BinaryOp::LShr => a >> count,
        BinaryOp::AShr => (x >> count) as u64,
    };
    Some(result & ones)
}

/// One lane of [`Op::Compare`](crate::ir::Op::Compare), if Direct3D leaves no choice.
pub(super) fn compare(op: CompareOp, scalar: Scalar, a: Bits, b: Bits) -> Option<bool> {
    let floats = || Some((normal(scalar, a)?, normal(scalar, b)?));
    let (x, y) = (signed(scalar, a), signed(scalar, b));
    Some(match op {
        CompareOp::FEq => floats().map(|(x, y)| x == y)?,
        CompareOp::FNe => floats().map(|(x, y)| x != y)?,
        CompareOp::FLt => floats().map(|(x, y)| x < y)?,
        CompareOp::FLe => floats().map(|(x, y)| x <= y)?,
        CompareOp::FGt => floats().map(|(x, y)| x > y)?,
        CompareOp::FGe => floats().map(|(x, y)| x >= y)?,
        CompareOp::IEq => a == b,
        CompareOp::INe => a != b,
        CompareOp::SLt => x < y,
        CompareOp::SLe => x <= y,
        CompareOp::SGt => x > y,
        CompareOp::SGe => x >= y,
        CompareOp::ULt => a < b,
        CompareOp::ULe => a <= b,
        CompareOp::UGt => a > b,
        CompareOp::UGe => a >= b,
    })
}

/// One lane of [`Op::Ternary`](crate::ir::Op::Ternary), if Direct3D leaves no choice.
pub(super) fn ternary(op: TernaryOp, scalar: Scalar, a: Bits, b: Bits, c: Bits) -> Option<Bits> {
    let field = |high: fn(u32, u32) -> u32| {
        let (width, offset, base) = (a as u32 & 31, b as u32 & 31, c as u32);
        if width == 0 {
            0
        } else if width + offset < 32 {
            high(base << (32 - width - offset), 32 - width).into()
        } else {
            high(base, offset).into()
        }
    };
    match op {
        TernaryOp::FMad => {
            // Where fused and unfused agree.
            let product = binary(BinaryOp::FMul, scalar, a, b)?;
            let sum = binary(BinaryOp::FAdd, scalar, product, c)?;
            (ternary(TernaryOp::FFma, scalar, a, b, c)? == sum).then_some(sum)
        }
        TernaryOp::FFma => {
            let (x, y, z) = (normal(scalar, a)?, normal(scalar, b)?, normal(scalar, c)?);
            match scalar {
                Scalar::F32 => {
                    let result = (x as f32).mul_add(y as f32, z as f32);
                    (!result.is_nan() && !result.is_subnormal()).then_some(result.to_bits().into())
                }
                Scalar::F64 => Some(x.mul_add(y, z)).filter(|result| !result.is_nan()).map(f64::to_bits),
                _ => None,
            }
        }
        TernaryOp::IMad => Some(a.wrapping_mul(b).wrapping_add(c) & mask(scalar)),
        TernaryOp::UBitfieldExtract if scalar == Scalar::I32 => Some(field(|value, count| value >> count)),
        TernaryOp::SBitfieldExtract if scalar == Scalar::I32 => {
            Some(field(|value, count| (value as i32 >> count) as u32))
        }
        TernaryOp::UBitfieldExtract | TernaryOp::SBitfieldExtract | TernaryOp::Msad => None,
    }
}

/// [`Op::BitfieldInsert`](crate::ir::Op::BitfieldInsert) of 32 bits.
pub(super) fn bitfield_insert(width: Bits, offset: Bits, insert: Bits, base: Bits) -> Bits {
    let (width, offset) = (width & 31, offset & 31);
    let field = (((1u64 << width) - 1) << offset) & mask(Scalar::I32);
    (insert << offset) & field | base & !field
}

/// One lane of [`Op::Convert`](crate::ir::Op::Convert) that keeps the number of lanes, if Direct3D leaves no choice.
pub(super) fn convert(op: ConvertOp, from: Scalar, to: Scalar, a: Bits) -> Option<Bits> {
    let ones = mask(to);
    Some(match op {
        ConvertOp::Bitcast => a,
        ConvertOp::FToS => {
            let number = float(from, a)?;
            // Rust's conversion gives 0 for NaN and saturates; the narrower widths are clamped.
            let limit = (ones >> 1) as i64;
            (number as i64).clamp(-limit - 1, limit) as u64 & ones
        }
        ConvertOp::FToU => (float(from, a)? as u64).min(ones),
        ConvertOp::SToF => match to {
            Scalar::F32 => (signed(from, a) as f32).to_bits().into(),
            Scalar::F64 => (signed(from, a) as f64).to_bits(),
            _ => exact(to, signed(from, a) as f64).filter(|_| from.bits() <= 32)?,
        },
        ConvertOp::UToF => match to {
            Scalar::F32 => (a as f32).to_bits().into(),
            Scalar::F64 => (a as f64).to_bits(),
            _ => exact(to, a as f64).filter(|_| from.bits() <= 32)?,
        },
        // Only what needs no rounding.
        ConvertOp::FToF => exact(to, normal(from, a)?)?,
        ConvertOp::SExt => signed(from, a) as u64 & ones,
        ConvertOp::ZExt => a,
        ConvertOp::Trunc => a & ones,
        ConvertOp::F32ToF16Bits => {
            let number = normal(Scalar::F32, a)?;
            let half = half::f16::from_f64(number);
            (half.is_normal() || number == 0.0 || number.is_infinite()).then(|| exact(Scalar::F16, number)).flatten()?
        }
        ConvertOp::F16BitsToF32 => {
            let half = half::f16::from_bits(a as u16);
            (!half.is_nan()).then(|| u64::from(half.to_f32().to_bits()))?
        }
        ConvertOp::IsNan => float(from, a)?.is_nan().into(),
        ConvertOp::IsInf => float(from, a)?.is_infinite().into(),
        ConvertOp::IsFinite => float(from, a)?.is_finite().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f(number: f32) -> Bits {
        number.to_bits().into()
    }

    #[test]
    fn integers_give_direct3d_results() {
        let i32 = |op, a: i32, b: i32| binary(op, Scalar::I32, a as u32 as u64, b as u32 as u64).unwrap() as u32 as i32;
        assert_eq!(i32(BinaryOp::UDiv, 7, 0), -1);
        assert_eq!(i32(BinaryOp::SRem, 7, 0), -1);
        assert_eq!(i32(BinaryOp::SDiv, i32::MIN, -1), i32::MIN);
        assert_eq!(i32(BinaryOp::SRem, i32::MIN, -1), 0);
        assert_eq!(i32(BinaryOp::SRem, -7, 4), -3);
        assert_eq!(i32(BinaryOp::Shl, 1, 33), 2);
        assert_eq!(i32(BinaryOp::AShr, -8, 33), -4);
        assert_eq!(i32(BinaryOp::LShr, -8, 1), 0x7fff_fffc);
        assert_eq!(i32(BinaryOp::SMulHigh, -1, 1), -1);
        assert_eq!(i32(BinaryOp::UMulHigh, -1, -1), -2);
        assert_eq!(i32(BinaryOp::SMin, -1, 1), -1);
        assert_eq!(i32(BinaryOp::UMin, -1, 1), 1);
    }

    #[test]
    fn bits_give_direct3d_results() {
        let first = |op, a: u32| unary(op, Scalar::I32, a.into()).unwrap() as u32 as i32;
        assert_eq!(first(UnaryOp::FirstBitLow, 0), -1);
        assert_eq!(first(UnaryOp::FirstBitLow, 8), 3);
        assert_eq!(first(UnaryOp::FirstBitHigh, 0), -1);
        assert_eq!(first(UnaryOp::FirstBitHigh, 9), 3);
        assert_eq!(first(UnaryOp::FirstBitSignedHigh, u32::MAX), -1);
        assert_eq!(first(UnaryOp::FirstBitSignedHigh, !9), 3);
        assert_eq!(unary(UnaryOp::ReverseBits, Scalar::I16, 1), Some(0x8000));
        let field = |op, width, offset, base| ternary(op, Scalar::I32, width, offset, base).unwrap() as u32;
        assert_eq!(field(TernaryOp::UBitfieldExtract, 8, 4, 0xabcd), 0xbc);
        assert_eq!(field(TernaryOp::SBitfieldExtract, 8, 4, 0xabcd), 0xffff_ffbc);
        assert_eq!(field(TernaryOp::UBitfieldExtract, 0, 4, 0xabcd), 0);
        assert_eq!(field(TernaryOp::UBitfieldExtract, 32, 4, 0xabcd), 0);
        assert_eq!(field(TernaryOp::SBitfieldExtract, 31, 4, 0x8000_0000), 0xf800_0000);
        assert_eq!(bitfield_insert(8, 4, 0xfff, 0), 0xff0);
        assert_eq!(bitfield_insert(8, 28, 0xff, 1), 0xf000_0001);
    }

    #[test]
    fn conversions_saturate() {
        let to = |op, number: f32| convert(op, Scalar::F32, Scalar::I32, f(number)).unwrap() as u32;
        assert_eq!(to(ConvertOp::FToS, f32::NAN), 0);
        assert_eq!(to(ConvertOp::FToS, 3e9), 0x7fff_ffff);
        assert_eq!(to(ConvertOp::FToS, -3e9), 0x8000_0000);
        assert_eq!(to(ConvertOp::FToS, -1.9), 0xffff_ffff);
        assert_eq!(to(ConvertOp::FToU, -1.9), 0);
        assert_eq!(to(ConvertOp::FToU, 5e9), 0xffff_ffff);
        assert_eq!(convert(ConvertOp::SExt, Scalar::Bool, Scalar::I32, 1), Some(0xffff_ffff));
        assert_eq!(convert(ConvertOp::UToF, Scalar::I32, Scalar::F32, 0xffff_ffff), Some(f(4294967296.0)));
        assert_eq!(convert(ConvertOp::FToF, Scalar::F32, Scalar::F16, f(0.5)), Some(0x3800));
        assert_eq!(convert(ConvertOp::FToF, Scalar::F32, Scalar::F16, f(0.1)), None);
        assert_eq!(convert(ConvertOp::F16BitsToF32, Scalar::I32, Scalar::F32, 0x1234_3800), Some(f(0.5)));
    }

    #[test]
    fn floats_fold_where_there_is_no_choice() {
        assert_eq!(binary(BinaryOp::FAdd, Scalar::F32, f(1.0), f(2.5)), Some(f(3.5)));
        assert_eq!(binary(BinaryOp::FMul, Scalar::F32, f(f32::MIN_POSITIVE), f(0.5)), None, "denormal result");
        assert_eq!(binary(BinaryOp::FAdd, Scalar::F32, 1, f(1.0)), None, "denormal operand");
        assert_eq!(binary(BinaryOp::FMin, Scalar::F32, f(f32::NAN), f(1.0)), Some(f(1.0)));
        assert_eq!(binary(BinaryOp::FMax, Scalar::F32, f(1.0), f(f32::NAN)), Some(f(1.0)));
        assert_eq!(unary(UnaryOp::FSaturate, Scalar::F32, f(f32::NAN)), Some(0));
        assert_eq!(unary(UnaryOp::FSaturate, Scalar::F32, f(7.0)), Some(f(1.0)));
        assert_eq!(unary(UnaryOp::FNeg, Scalar::F32, f(f32::NAN)), Some(f(-f32::NAN)));
        assert_eq!(compare(CompareOp::FNe, Scalar::F32, f(f32::NAN), f(f32::NAN)), Some(true));
        assert_eq!(ternary(TernaryOp::FMad, Scalar::F32, f(2.0), f(3.0), f(1.0)), Some(f(7.0)));
        assert_eq!(ternary(TernaryOp::FMad, Scalar::F32, f(0.1), f(10.0), f(-1.0)), None, "fused differs");
    }
}
