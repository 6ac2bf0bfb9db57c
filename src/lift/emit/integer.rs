//! Integer arithmetic: division by zero, masked shifts, high halves of products, bit fields, and integers of 16 and 64
//! bits, for which naga lacks types or functions.

use naga::{BinaryOperator, MathFunction, Scalar, ScalarKind, UnaryOperator, valid::Capabilities};

use super::{Emission, FunctionEmitter, expression::Expr, function::Shape};
use crate::{
    Error, Result,
    ir::{self, BinaryOp, Op, Type, UnaryOp, Value},
};

impl FunctionEmitter<'_, '_> {
    /// A 16-bit integer in 32 bits whose upper half may be anything, extended as its kind is to be.
    pub fn wrap16(&mut self, emission: Emission, lanes: u8, kind: ScalarKind) -> Expr {
        let shape = Shape { scalar: Scalar { kind, width: 4 }, lanes };
        let expr = if emission.kind == kind { emission.expr } else { self.convert(emission.expr, shape.scalar) };
        if kind == ScalarKind::Uint {
            let mask = self.splat_literal(shape, 0xffff);
            return self.binary(BinaryOperator::And, expr, mask);
        }
        let count = self.splat_literal(shape.with_scalar(Scalar::U32), 16);
        let high = self.binary(BinaryOperator::ShiftLeft, expr, count);
        self.binary(BinaryOperator::ShiftRight, high, count)
    }

    /// A result of arithmetic in 32 bits, brought back into 16 if its type is that.
    pub fn rewrapped(&mut self, emission: Emission, ty: Type) -> Emission {
        if ty.scalar() != Some(ir::Scalar::I16) {
            return emission;
        }
        Emission { expr: self.wrap16(emission, ty.lanes(), emission.kind), kind: emission.kind }
    }

    /// An integer operation of one operand.
    ///
    /// # Errors
    /// An operand was not emitted: a bug.
    pub fn integer_unary(&mut self, value: Value, op: UnaryOp, a: Value) -> Result<Emission> {
        let ty = self.ir.ty(a);
        let scalar = ty.scalar().unwrap_or(ir::Scalar::I32);
        match op {
            UnaryOp::INeg => {
                let kind = self.kind_of(value);
                let a = self.get_as(a, kind)?;
                let expr = if kind == ScalarKind::Sint {
                    self.unary(UnaryOperator::Negate, a)
                } else {
                    let zero = self.zero_of(self.shape(ty, kind));
                    self.binary(BinaryOperator::Subtract, zero, a)
                };
                Ok(self.rewrapped(Emission { expr, kind }, ty))
            }
            UnaryOp::Not => {
                let Emission { expr, kind } = self.get(a)?;
                if kind == ScalarKind::Bool {
                    return Ok(Emission::bool(self.unary(UnaryOperator::LogicalNot, expr)));
                }
                let expr = self.unary(UnaryOperator::BitwiseNot, expr);
                Ok(self.rewrapped(Emission { expr, kind }, ty))
            }
            UnaryOp::ReverseBits => {
                let a = self.get_as(a, ScalarKind::Uint)?;
                let expr = match scalar {
                    ir::Scalar::I64 => {
                        let (low, high) = self.halves(a, ty.lanes());
                        let low = self.math(MathFunction::ReverseBits, &[low]);
                        let high = self.math(MathFunction::ReverseBits, &[high]);
                        self.join_halves(high, low, ty.lanes())
                    }
                    ir::Scalar::I16 => {
                        let reversed = self.math(MathFunction::ReverseBits, &[a]);
                        let count = self.splat_literal(self.shape(ty, ScalarKind::Uint), 16);
                        self.binary(BinaryOperator::ShiftRight, reversed, count)
                    }
                    _ => self.math(MathFunction::ReverseBits, &[a]),
                };
                Ok(Emission::uint(expr))
            }
            UnaryOp::CountBits => {
                let a = self.get_as(a, ScalarKind::Uint)?;
                let expr = if scalar == ir::Scalar::I64 {
                    let (low, high) = self.halves(a, ty.lanes());
                    let low = self.math(MathFunction::CountOneBits, &[low]);
                    let high = self.math(MathFunction::CountOneBits, &[high]);
                    self.binary(BinaryOperator::Add, low, high)
                } else {
                    self.math(MathFunction::CountOneBits, &[a])
                };
                Ok(Emission::uint(expr))
            }
            UnaryOp::FirstBitLow => {
                let a = self.get_as(a, ScalarKind::Uint)?;
                let expr = if scalar == ir::Scalar::I64 {
                    let (low, high) = self.halves(a, ty.lanes());
                    let in_high = self.first_bit_of_high(MathFunction::FirstTrailingBit, high, ty.lanes());
                    let in_low = self.math(MathFunction::FirstTrailingBit, &[low]);
                    let zero = self.zero_of(Shape { scalar: Scalar::U32, lanes: ty.lanes() });
                    let none = self.binary(BinaryOperator::Equal, low, zero);
                    self.select(none, in_high, in_low)
                } else {
                    self.math(MathFunction::FirstTrailingBit, &[a])
                };
                Ok(Emission::uint(expr))
            }
            UnaryOp::FirstBitHigh => {
                let a = self.get_as(a, ScalarKind::Uint)?;
                Ok(Emission::uint(self.first_bit_high(a, ty)))
            }
            UnaryOp::FirstBitSignedHigh => {
                let a = self.get_as(a, ScalarKind::Sint)?;
                if scalar != ir::Scalar::I64 {
                    return Ok(Emission::sint(self.math(MathFunction::FirstLeadingBit, &[a])));
                }
                let zero = self.zero_of(self.shape(ty, ScalarKind::Sint));
                let negative = self.binary(BinaryOperator::Less, a, zero);
                let inverted = self.unary(UnaryOperator::BitwiseNot, a);
                let magnitude = self.select(negative, inverted, a);
                let magnitude = self.convert(magnitude, Scalar::U64);
                Ok(Emission::uint(self.first_bit_high(magnitude, ty)))
            }
            _ => Err(Error::internal(format!("no integer operation: {op:?}"))),
        }
    }

    /// Highest set bit of an unsigned integer; all ones if none.
    fn first_bit_high(&mut self, a: Expr, ty: Type) -> Expr {
        if ty.scalar() != Some(ir::Scalar::I64) {
            return self.math(MathFunction::FirstLeadingBit, &[a]);
        }
        let (low, high) = self.halves(a, ty.lanes());
        let in_high = self.first_bit_of_high(MathFunction::FirstLeadingBit, high, ty.lanes());
        let in_low = self.math(MathFunction::FirstLeadingBit, &[low]);
        let zero = self.zero_of(Shape { scalar: Scalar::U32, lanes: ty.lanes() });
        let none = self.binary(BinaryOperator::Equal, high, zero);
        self.select(none, in_low, in_high)
    }

    /// A bit's number in the high word of 64 bits; all ones if there is none.
    fn first_bit_of_high(&mut self, fun: MathFunction, high: Expr, lanes: u8) -> Expr {
        let shape = Shape { scalar: Scalar::U32, lanes };
        let bit = self.math(fun, &[high]);
        let offset = self.splat_literal(shape, 32);
        // All ones stay all ones; else the lower five bits are free of the 32.
        self.binary(BinaryOperator::InclusiveOr, bit, offset)
    }

    /// Low and high words of 64-bit integers.
    pub fn halves(&mut self, a: Expr, lanes: u8) -> (Expr, Expr) {
        let low = self.convert(a, Scalar::U32);
        let count = self.splat_literal(Shape { scalar: Scalar::U32, lanes }, 32);
        let high = self.binary(BinaryOperator::ShiftRight, a, count);
        let high = self.convert(high, Scalar::U32);
        (low, high)
    }

    /// 64-bit integers of low and high words.
    pub fn join_halves(&mut self, low: Expr, high: Expr, lanes: u8) -> Expr {
        let low = self.convert(low, Scalar::U64);
        let high = self.convert(high, Scalar::U64);
        let count = self.splat_literal(Shape { scalar: Scalar::U32, lanes }, 32);
        let high = self.binary(BinaryOperator::ShiftLeft, high, count);
        self.binary(BinaryOperator::InclusiveOr, low, high)
    }

    /// An operation of two integers, or of two `bool`s.
    ///
    /// # Errors
    /// An operand was not emitted: a bug.
    pub fn integer_binary(&mut self, value: Value, op: BinaryOp, a: Value, b: Value, ty: Type) -> Result<Emission> {
        let neutral = self.kind_of(value);
        let (kind, operator) = match op {
            BinaryOp::IAdd => (neutral, BinaryOperator::Add),
            BinaryOp::ISub => (neutral, BinaryOperator::Subtract),
            BinaryOp::IMul => (neutral, BinaryOperator::Multiply),
            BinaryOp::And => (neutral, BinaryOperator::And),
            BinaryOp::Or => (neutral, BinaryOperator::InclusiveOr),
            BinaryOp::Xor if neutral == ScalarKind::Bool => (neutral, BinaryOperator::NotEqual),
            BinaryOp::Xor => (neutral, BinaryOperator::ExclusiveOr),
            BinaryOp::SMulHigh => return self.multiply_high(ScalarKind::Sint, a, b, ty),
            BinaryOp::UMulHigh => return self.multiply_high(ScalarKind::Uint, a, b, ty),
            BinaryOp::SDiv => return self.divide(ScalarKind::Sint, BinaryOperator::Divide, a, b, ty),
            BinaryOp::UDiv => return self.divide(ScalarKind::Uint, BinaryOperator::Divide, a, b, ty),
            BinaryOp::SRem => return self.divide(ScalarKind::Sint, BinaryOperator::Modulo, a, b, ty),
            BinaryOp::URem => return self.divide(ScalarKind::Uint, BinaryOperator::Modulo, a, b, ty),
            BinaryOp::SMin => return self.integer_extremum(ScalarKind::Sint, MathFunction::Min, a, b),
            BinaryOp::SMax => return self.integer_extremum(ScalarKind::Sint, MathFunction::Max, a, b),
            BinaryOp::UMin => return self.integer_extremum(ScalarKind::Uint, MathFunction::Min, a, b),
            BinaryOp::UMax => return self.integer_extremum(ScalarKind::Uint, MathFunction::Max, a, b),
            BinaryOp::Shl => return self.shift(neutral, BinaryOperator::ShiftLeft, a, b, ty),
            BinaryOp::LShr => return self.shift(ScalarKind::Uint, BinaryOperator::ShiftRight, a, b, ty),
            BinaryOp::AShr => return self.shift(ScalarKind::Sint, BinaryOperator::ShiftRight, a, b, ty),
            _ => return Err(Error::internal(format!("no integer operation: {op:?}"))),
        };
        let a = self.get_as(a, kind)?;
        let b = self.get_as(b, kind)?;
        let expr = self.binary(operator, a, b);
        Ok(match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => Emission { expr, kind },
            _ => self.rewrapped(Emission { expr, kind }, ty),
        })
    }

    fn integer_extremum(&mut self, kind: ScalarKind, fun: MathFunction, a: Value, b: Value) -> Result<Emission> {
        let a = self.get_as(a, kind)?;
        let b = self.get_as(b, kind)?;
        Ok(Emission { expr: self.math(fun, &[a, b]), kind })
    }

    /// Quotient or remainder; by 0: all ones. naga sees to the smallest integer by -1.
    fn divide(&mut self, kind: ScalarKind, operator: BinaryOperator, a: Value, b: Value, ty: Type) -> Result<Emission> {
        let known = self.is_known_nonzero(b);
        let a = self.get_as(a, kind)?;
        let b = self.get_as(b, kind)?;
        if known {
            let expr = self.binary(operator, a, b);
            return Ok(self.rewrapped(Emission { expr, kind }, ty));
        }
        let shape = self.shape(ty, kind);
        let zero = self.zero_of(shape);
        let one = self.splat_literal(shape, 1);
        let ones = self.splat_literal(shape, u64::MAX);
        let by_zero = self.binary(BinaryOperator::Equal, b, zero);
        // Drivers fold a choice around an unsafe division away: the divisor itself must be safe.
        let divisor = self.select(by_zero, one, b);
        let quotient = self.binary(operator, a, divisor);
        let expr = self.select(by_zero, ones, quotient);
        Ok(self.rewrapped(Emission { expr, kind }, ty))
    }

    fn shift(&mut self, kind: ScalarKind, operator: BinaryOperator, a: Value, b: Value, ty: Type) -> Result<Emission> {
        let a = self.get_as(a, kind)?;
        let count = self.shift_count(b, ty)?;
        let expr = self.binary(operator, a, count);
        if operator == BinaryOperator::ShiftLeft {
            return Ok(self.rewrapped(Emission { expr, kind }, ty));
        }
        Ok(Emission { expr, kind })
    }

    /// A shift's count modulo the width, as `u32` lanes.
    fn shift_count(&mut self, count: Value, ty: Type) -> Result<Expr> {
        let mask = u64::from(ty.scalar().map_or(32, ir::Scalar::bits)) - 1;
        let shape = Shape { scalar: Scalar::U32, lanes: ty.lanes() };
        if let Some(lanes) = self.known(count) {
            let lanes: Vec<u64> = lanes.iter().map(|bits| bits & mask).collect();
            return Ok(self.constant_lanes(shape, &lanes));
        }
        let is_masked = match self.ir.op(count) {
            Some(&Op::Binary(BinaryOp::And, a, b)) => [a, b]
                .into_iter()
                .any(|operand| self.known(operand).is_some_and(|lanes| lanes.iter().all(|bits| bits & !mask == 0))),
            _ => false,
        };
        let mut expr = self.get_as(count, ScalarKind::Uint)?;
        if self.ir.ty(count).scalar() == Some(ir::Scalar::I64) {
            expr = self.convert(expr, Scalar::U32);
        }
        if !is_masked {
            let mask = self.splat_literal(shape, mask);
            expr = self.binary(BinaryOperator::And, expr, mask);
        }
        Ok(expr)
    }

    /// High half of a product.
    fn multiply_high(&mut self, kind: ScalarKind, a: Value, b: Value, ty: Type) -> Result<Emission> {
        let a = self.get_as(a, kind)?;
        let b = self.get_as(b, kind)?;
        let shape = self.shape(ty, kind);
        let bits = ty.scalar().map_or(32, ir::Scalar::bits);
        let wide = match bits {
            16 => Some(Scalar { kind, width: 4 }),
            32 if self.module.target.capabilities.contains(Capabilities::SHADER_INT64) => {
                Some(Scalar { kind, width: 8 })
            }
            _ => None,
        };
        if let Some(wide) = wide {
            let (a, b) = match bits {
                16 => (a, b),
                _ => (self.convert(a, wide), self.convert(b, wide)),
            };
            let product = self.binary(BinaryOperator::Multiply, a, b);
            let count = self.splat_literal(shape.with_scalar(Scalar::U32), u64::from(bits));
            let high = self.binary(BinaryOperator::ShiftRight, product, count);
            let expr = if bits == 16 { high } else { self.convert(high, shape.scalar) };
            return Ok(Emission { expr, kind });
        }
        if kind == ScalarKind::Uint {
            return Ok(Emission::uint(self.multiply_high_by_pieces(a, b, shape)));
        }
        // The unsigned high half takes a negative operand for one that is 2^bits greater.
        let unsigned = shape.with_scalar(Scalar { kind: ScalarKind::Uint, ..shape.scalar });
        let (ua, ub) = (self.convert(a, unsigned.scalar), self.convert(b, unsigned.scalar));
        let mut high = self.multiply_high_by_pieces(ua, ub, unsigned);
        let zero = self.zero_of(shape);
        let none = self.zero_of(unsigned);
        for (operand, other) in [(a, ub), (b, ua)] {
            let negative = self.binary(BinaryOperator::Less, operand, zero);
            let excess = self.select(negative, other, none);
            high = self.binary(BinaryOperator::Subtract, high, excess);
        }
        Ok(Emission::uint(high))
    }

    /// High half of an unsigned product from the four products of the operands' halves.
    fn multiply_high_by_pieces(&mut self, a: Expr, b: Expr, shape: Shape) -> Expr {
        let half = u64::from(shape.scalar.width) * 4;
        let mask = self.splat_literal(shape, (1 << half) - 1);
        let count = self.splat_literal(shape.with_scalar(Scalar::U32), half);
        let low = |emitter: &mut Self, value| emitter.binary(BinaryOperator::And, value, mask);
        let high = |emitter: &mut Self, value| emitter.binary(BinaryOperator::ShiftRight, value, count);
        let (al, ah, bl, bh) = (low(self, a), high(self, a), low(self, b), high(self, b));
        let ll = self.binary(BinaryOperator::Multiply, al, bl);
        let lh = self.binary(BinaryOperator::Multiply, al, bh);
        let hl = self.binary(BinaryOperator::Multiply, ah, bl);
        let hh = self.binary(BinaryOperator::Multiply, ah, bh);
        // No sum overflows: (2^n-1)^2 + 2*(2^n-1) = 2^2n - 1.
        let carry = high(self, ll);
        let middle = self.binary(BinaryOperator::Add, hl, carry);
        let (middle_low, middle_high) = (low(self, middle), high(self, middle));
        let middle = self.binary(BinaryOperator::Add, lh, middle_low);
        let carry = high(self, middle);
        let sum = self.binary(BinaryOperator::Add, hh, middle_high);
        self.binary(BinaryOperator::Add, sum, carry)
    }

    /// A field: width, offset, and the integer it is in.
    ///
    /// # Errors
    /// An operand was not emitted: a bug.
    pub fn bitfield_extract(&mut self, kind: ScalarKind, operands: [Value; 3], ty: Type) -> Result<Emission> {
        let [width, offset, base] = operands;
        let shape = self.shape(ty, kind);
        let base = self.get_as(base, kind)?;
        if let (Some(width), Some(offset)) = (self.known_splat(width), self.known_splat(offset)) {
            let (width, offset) = (width as u32 & 31, offset as u32 & 31);
            let expr = if kind == ScalarKind::Uint && offset == 0 {
                let mask = self.splat_literal(shape, (1 << width) - 1);
                self.binary(BinaryOperator::And, base, mask)
            } else if width != 0 && width + offset >= 32 {
                let count = self.splat_literal(shape.with_scalar(Scalar::U32), u64::from(offset));
                self.binary(BinaryOperator::ShiftRight, base, count)
            } else {
                let (offset, width) = (self.u32(offset), self.u32(width));
                self.math(MathFunction::ExtractBits, &[base, offset, width])
            };
            return Ok(Emission { expr, kind });
        }
        let width = self.field_operand(width)?;
        let offset = self.field_operand(offset)?;
        let expr = self.lanewise(ty.lanes(), shape.scalar, &[base, offset, width], |emitter, lanes| {
            emitter.math(MathFunction::ExtractBits, lanes)
        });
        Ok(Emission { expr, kind })
    }

    /// A field's width or offset modulo 32.
    fn field_operand(&mut self, value: Value) -> Result<Expr> {
        self.shift_count(value, self.ir.ty(value).with_scalar(ir::Scalar::I32))
    }

    /// Replaces a field: width, offset, its new bits, and the integer it is in.
    ///
    /// # Errors
    /// An operand was not emitted: a bug.
    pub fn bitfield_insert(&mut self, value: Value, operands: [Value; 4], ty: Type) -> Result<Emission> {
        let [width, offset, insert, base] = operands;
        let kind = self.kind_of(value);
        let shape = self.shape(ty, kind);
        let insert = self.get_as(insert, kind)?;
        let base = self.get_as(base, kind)?;
        if let (Some(width), Some(offset)) = (self.known_splat(width), self.known_splat(offset)) {
            let (offset, width) = (self.u32(offset as u32 & 31), self.u32(width as u32 & 31));
            return Ok(Emission { expr: self.math(MathFunction::InsertBits, &[base, insert, offset, width]), kind });
        }
        let width = self.field_operand(width)?;
        let offset = self.field_operand(offset)?;
        let expr = self.lanewise(ty.lanes(), shape.scalar, &[base, insert, offset, width], |emitter, lanes| {
            emitter.math(MathFunction::InsertBits, lanes)
        });
        Ok(Emission { expr, kind })
    }

    /// Masked sum of absolute differences of four bytes (`msad`): reference, source, accumulator. Bytes of the reference
    /// that are 0 do not count.
    ///
    /// # Errors
    /// An operand was not emitted: a bug.
    pub fn masked_differences(&mut self, operands: [Value; 3], ty: Type) -> Result<Emission> {
        let [reference, source, sum] = operands;
        let reference = self.get_as(reference, ScalarKind::Uint)?;
        let source = self.get_as(source, ScalarKind::Uint)?;
        let mut sum = self.get_as(sum, ScalarKind::Uint)?;
        let shape = self.shape(ty, ScalarKind::Uint);
        let zero = self.zero_of(shape);
        let width = self.u32(8);
        for byte in 0..4 {
            let offset = self.u32(byte * 8);
            let a = self.math(MathFunction::ExtractBits, &[reference, offset, width]);
            let b = self.math(MathFunction::ExtractBits, &[source, offset, width]);
            let greater = self.math(MathFunction::Max, &[a, b]);
            let lesser = self.math(MathFunction::Min, &[a, b]);
            let difference = self.binary(BinaryOperator::Subtract, greater, lesser);
            let is_masked = self.binary(BinaryOperator::Equal, a, zero);
            let difference = self.select(is_masked, zero, difference);
            sum = self.binary(BinaryOperator::Add, sum, difference);
        }
        Ok(Emission::uint(sum))
    }
}
