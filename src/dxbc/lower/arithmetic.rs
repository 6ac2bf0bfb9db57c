//! Moves, arithmetic, comparisons, bit operations and conversions.

use super::{
    FunctionLowering, Instruction, Opcode,
    registers::{Lanes, components},
    typing,
};
use crate::{
    Result,
    dxbc::operand::Operand,
    ir::{Axis, BinaryOp, CompareOp, ConvertOp, DerivativePrecision, Op, Scalar, TernaryOp, Type, UnaryOp, Value},
};

/// Float operations of one operand.
fn float_unary(opcode: Opcode) -> Option<UnaryOp> {
    Some(match opcode {
        Opcode::Exp => UnaryOp::FExp2,
        Opcode::Frc => UnaryOp::FFract,
        Opcode::Log => UnaryOp::FLog2,
        Opcode::Rcp => UnaryOp::FRcp,
        Opcode::RoundNe => UnaryOp::FRoundEven,
        Opcode::RoundNi => UnaryOp::FFloor,
        Opcode::RoundPi => UnaryOp::FCeil,
        Opcode::RoundZ => UnaryOp::FTrunc,
        Opcode::Rsq => UnaryOp::FRsqrt,
        Opcode::Sqrt => UnaryOp::FSqrt,
        _ => return None,
    })
}

/// Operations of two operands, and the type of these.
fn binary(opcode: Opcode) -> Option<(BinaryOp, Scalar)> {
    Some(match opcode {
        Opcode::Add => (BinaryOp::FAdd, Scalar::F32),
        Opcode::Div => (BinaryOp::FDiv, Scalar::F32),
        Opcode::Max => (BinaryOp::FMax, Scalar::F32),
        Opcode::Min => (BinaryOp::FMin, Scalar::F32),
        Opcode::Mul => (BinaryOp::FMul, Scalar::F32),
        Opcode::IAdd => (BinaryOp::IAdd, Scalar::I32),
        Opcode::IMax => (BinaryOp::SMax, Scalar::I32),
        Opcode::IMin => (BinaryOp::SMin, Scalar::I32),
        Opcode::IShl => (BinaryOp::Shl, Scalar::I32),
        Opcode::IShr => (BinaryOp::AShr, Scalar::I32),
        Opcode::UMax => (BinaryOp::UMax, Scalar::I32),
        Opcode::UMin => (BinaryOp::UMin, Scalar::I32),
        Opcode::UShr => (BinaryOp::LShr, Scalar::I32),
        _ => return None,
    })
}

/// Comparisons, and the type of their operands.
fn comparison(opcode: Opcode) -> Option<(CompareOp, Scalar)> {
    Some(match opcode {
        Opcode::Eq => (CompareOp::FEq, Scalar::F32),
        Opcode::Ge => (CompareOp::FGe, Scalar::F32),
        Opcode::Lt => (CompareOp::FLt, Scalar::F32),
        Opcode::Ne => (CompareOp::FNe, Scalar::F32),
        Opcode::IGe => (CompareOp::SGe, Scalar::I32),
        Opcode::ILt => (CompareOp::SLt, Scalar::I32),
        Opcode::UGe => (CompareOp::UGe, Scalar::I32),
        Opcode::ULt => (CompareOp::ULt, Scalar::I32),
        _ => return None,
    })
}

impl FunctionLowering<'_, '_> {
    /// Lowers an instruction of this file; tells whether it is one.
    pub(super) fn arithmetic(&mut self, instruction: &Instruction) -> Result<bool> {
        let operands = &instruction.operands;
        let opcode = instruction.opcode;
        if let Some(op) = float_unary(opcode) {
            let a = self.read_for(instruction, 1, Scalar::F32)?;
            let value = self.build().unary(op, a);
            self.write(&operands[0], value)?;
            return Ok(true);
        }
        if let Some((op, scalar)) = binary(opcode) {
            let a = self.read_for(instruction, 1, scalar)?;
            let b = self.read_for(instruction, 2, scalar)?;
            let value = self.build().binary(op, a, b);
            self.write(&operands[0], value)?;
            return Ok(true);
        }
        if let Some((op, scalar)) = comparison(opcode) {
            let a = self.read_for(instruction, 1, scalar)?;
            let b = self.read_for(instruction, 2, scalar)?;
            let value = self.build().compare(op, a, b);
            self.write(&operands[0], value)?;
            return Ok(true);
        }
        match opcode {
            Opcode::Mov => {
                let lanes = self.copied(instruction, 1)?;
                self.write_copied(instruction, &lanes)?;
            }
            Opcode::Movc => {
                let condition = self.read_for(instruction, 1, Scalar::Bool)?;
                let accept = self.copied(instruction, 2)?;
                let reject = self.copied(instruction, 3)?;
                let lanes = self.choose(condition, &accept, &reject);
                self.write_copied(instruction, &lanes)?;
            }
            Opcode::Swapc => {
                // Both destinations get what was there before.
                let first: Lanes = self.swapped(instruction, 0)?;
                let second: Lanes = self.swapped(instruction, 1)?;
                self.write_lanes(&operands[0], &first)?;
                self.write_lanes(&operands[1], &second)?;
            }
            Opcode::And | Opcode::Or | Opcode::Xor => self.bitwise(instruction)?,
            Opcode::Not => {
                let lanes = self.lanes_for(instruction, 1, None)?;
                let scalar = if self.are_masks(&lanes) { Scalar::Bool } else { Scalar::I32 };
                let a = self.combine(&lanes, scalar);
                let value = self.invert(a);
                self.write(&operands[0], value)?;
            }
            Opcode::IEq | Opcode::INe => self.equal(instruction)?,
            Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 => {
                let count = match opcode {
                    Opcode::Dp2 => 2,
                    Opcode::Dp3 => 3,
                    _ => 4,
                };
                let read = &[0, 1, 2, 3][..count];
                let a = self.source(&operands[1], read, Scalar::F32)?;
                let b = self.source(&operands[2], read, Scalar::F32)?;
                let value = self.push(Op::Dot(a, b), Type::F32);
                self.write(&operands[0], value)?;
            }
            Opcode::Mad => self.ternary(instruction, TernaryOp::FMad, Scalar::F32)?,
            Opcode::IMad | Opcode::UMad => self.ternary(instruction, TernaryOp::IMad, Scalar::I32)?,
            Opcode::Ubfe => self.ternary(instruction, TernaryOp::UBitfieldExtract, Scalar::I32)?,
            Opcode::Ibfe => self.ternary(instruction, TernaryOp::SBitfieldExtract, Scalar::I32)?,
            Opcode::Msad => self.ternary(instruction, TernaryOp::Msad, Scalar::I32)?,
            Opcode::Bfi => {
                let width = self.read_for(instruction, 1, Scalar::I32)?;
                let offset = self.read_for(instruction, 2, Scalar::I32)?;
                let insert = self.read_for(instruction, 3, Scalar::I32)?;
                let base = self.read_for(instruction, 4, Scalar::I32)?;
                let ty = self.function.ty(base);
                let value = self.push(Op::BitfieldInsert { width, offset, insert, base }, ty);
                self.write(&operands[0], value)?;
            }
            Opcode::INeg | Opcode::BfRev | Opcode::CountBits | Opcode::FirstBitLo => {
                let op = match opcode {
                    Opcode::INeg => UnaryOp::INeg,
                    Opcode::BfRev => UnaryOp::ReverseBits,
                    Opcode::CountBits => UnaryOp::CountBits,
                    _ => UnaryOp::FirstBitLow,
                };
                let a = self.read_for(instruction, 1, Scalar::I32)?;
                let value = self.build().unary(op, a);
                self.write(&operands[0], value)?;
            }
            Opcode::FirstBitHi | Opcode::FirstBitShi => self.first_bit_high(instruction)?,
            Opcode::FtoI | Opcode::FtoU | Opcode::ItoF | Opcode::UtoF | Opcode::F32toF16 | Opcode::F16toF32 => {
                let (op, from, to) = match opcode {
                    Opcode::FtoI => (ConvertOp::FToS, Scalar::F32, Scalar::I32),
                    Opcode::FtoU => (ConvertOp::FToU, Scalar::F32, Scalar::I32),
                    Opcode::ItoF => (ConvertOp::SToF, Scalar::I32, Scalar::F32),
                    Opcode::UtoF => (ConvertOp::UToF, Scalar::I32, Scalar::F32),
                    Opcode::F32toF16 => (ConvertOp::F32ToF16Bits, Scalar::F32, Scalar::I32),
                    _ => (ConvertOp::F16BitsToF32, Scalar::I32, Scalar::F32),
                };
                let a = self.read_for(instruction, 1, from)?;
                let value = self.build().convert(op, a, to);
                self.write(&operands[0], value)?;
            }
            Opcode::DerivRtx
            | Opcode::DerivRty
            | Opcode::DerivRtxCoarse
            | Opcode::DerivRtyCoarse
            | Opcode::DerivRtxFine
            | Opcode::DerivRtyFine => {
                let axis = match opcode {
                    Opcode::DerivRtx | Opcode::DerivRtxCoarse | Opcode::DerivRtxFine => Axis::X,
                    _ => Axis::Y,
                };
                let precision = match opcode {
                    Opcode::DerivRtxFine | Opcode::DerivRtyFine => DerivativePrecision::Fine,
                    _ => DerivativePrecision::Coarse,
                };
                let a = self.read_for(instruction, 1, Scalar::F32)?;
                let ty = self.function.ty(a);
                let value = self.push(Op::Derivative(axis, precision, a), ty);
                self.write(&operands[0], value)?;
            }
            Opcode::SinCos | Opcode::IMul | Opcode::UMul | Opcode::UDiv | Opcode::UAddc | Opcode::USubb => {
                self.two_results(instruction)?
            }
            Opcode::CheckAccessFullyMapped => {
                let status = self.read_for(instruction, 1, Scalar::Bool)?;
                self.write(&operands[0], status)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A source as wide as the first destination.
    pub(super) fn read_for(&mut self, instruction: &Instruction, operand: usize, scalar: Scalar) -> Result<Value> {
        let written = components(instruction.operands[0].selection.mask());
        self.source_of_mask(&instruction.operands[operand], &written, scalar)
    }

    /// A source for the components of a mask. A destination `null` has none: what is computed then does not matter.
    fn source_of_mask(&mut self, operand: &Operand, written: &[u8], scalar: Scalar) -> Result<Value> {
        self.source(operand, if written.is_empty() { &[0] } else { written }, scalar)
    }

    /// Lanes of a source as wide as the first destination, without modifiers.
    fn lanes_for(&mut self, instruction: &Instruction, operand: usize, wanted: Option<Scalar>) -> Result<Lanes> {
        let written = components(instruction.operands[0].selection.mask());
        let written = if written.is_empty() { &[0][..] } else { &written };
        self.lanes(&instruction.operands[operand], written, wanted)
    }

    /// Lanes of a source that is copied: of whichever types they are, but floats if there are modifiers.
    fn copied(&mut self, instruction: &Instruction, operand: usize) -> Result<Lanes> {
        let source = &instruction.operands[operand];
        if !source.modifiers.absolute && !source.modifiers.negate {
            return self.lanes_for(instruction, operand, None);
        }
        let value = self.read_for(instruction, operand, Scalar::F32)?;
        Ok(self.split(value))
    }

    fn split(&mut self, value: Value) -> Lanes {
        let mut builder = self.build();
        (0..builder.ty(value).lanes()).map(|lane| builder.extract(value, lane)).collect()
    }

    /// Writes copied lanes; saturation makes them floats.
    fn write_copied(&mut self, instruction: &Instruction, lanes: &[Value]) -> Result<()> {
        if instruction.saturate {
            let value = self.combine(lanes, Scalar::F32);
            return self.write(&instruction.operands[0], value);
        }
        self.write_lanes(&instruction.operands[0], lanes)
    }

    /// `condition ? accept : reject`, lane by lane, in a type that all of the lanes can have.
    pub(super) fn choose(&mut self, condition: Value, accept: &[Value], reject: &[Value]) -> Lanes {
        if accept == reject {
            return accept.into();
        }
        let all: Lanes = accept.iter().chain(reject).copied().collect();
        let scalar = self.common_scalar(&all);
        let accept = self.combine(accept, scalar);
        let reject = self.combine(reject, scalar);
        let value = match self.function.as_constant(condition) {
            Some(lanes) if lanes.iter().all(|lane| *lane == 0) => reject,
            Some(lanes) if lanes.iter().all(|lane| *lane != 0) => accept,
            _ => self.build().select(condition, accept, reject),
        };
        self.split(value)
    }

    /// One result of `swapc`: operand 3 if the condition holds for the second, operand 4 for the first.
    fn swapped(&mut self, instruction: &Instruction, destination: usize) -> Result<Lanes> {
        let operands = &instruction.operands;
        let written = components(operands[destination].selection.mask());
        let written = if written.is_empty() { &[0][..] } else { &written };
        let condition = self.source(&operands[2], written, Scalar::Bool)?;
        let mut pair = [Lanes::new(), Lanes::new()];
        for (lanes, operand) in pair.iter_mut().zip(&operands[3..5]) {
            *lanes = if operand.modifiers.absolute || operand.modifiers.negate {
                let value = self.source(operand, written, Scalar::F32)?;
                self.split(value)
            } else {
                self.lanes(operand, written, None)?
            };
        }
        let [first, second] = pair;
        Ok(if destination == 0 {
            self.choose(condition, &second, &first)
        } else {
            self.choose(condition, &first, &second)
        })
    }

    /// Type in which lanes of any types are put together.
    pub(super) fn common_scalar(&self, lanes: &[Value]) -> Scalar {
        if self.are_masks(lanes) {
            return Scalar::Bool;
        }
        // Integers may not travel as floats: their bits would be denormals.
        let mut some_number = false;
        let all_float = lanes.iter().all(|lane| match self.function.as_scalar_constant(*lane) {
            Some(bits) => {
                some_number |= bits != 0;
                typing::fits_float(bits as u32)
            }
            None => {
                some_number = true;
                self.function.ty(*lane) == Type::F32
            }
        });
        if all_float && some_number { Scalar::F32 } else { Scalar::I32 }
    }

    /// The lanes are `bool`, or constants that a mask can be; at least one is `bool`.
    fn are_masks(&self, lanes: &[Value]) -> bool {
        let is_bool = |lane: &Value| self.function.ty(*lane) == Type::BOOL;
        let could_be =
            |lane: &Value| is_bool(lane) || matches!(self.function.as_scalar_constant(*lane), Some(0 | 0xffff_ffff));
        lanes.iter().any(is_bool) && lanes.iter().all(could_be)
    }

    /// `and`, `or`, `xor`: of masks where they are, a choice where a mask cuts out a value.
    fn bitwise(&mut self, instruction: &Instruction) -> Result<()> {
        let operands = &instruction.operands;
        let (a, b) = (self.lanes_for(instruction, 1, None)?, self.lanes_for(instruction, 2, None)?);
        let all: Lanes = a.iter().chain(&b).copied().collect();
        let op = match instruction.opcode {
            Opcode::And => BinaryOp::And,
            Opcode::Or => BinaryOp::Or,
            _ => BinaryOp::Xor,
        };
        let modified = operands[1..].iter().any(|operand| operand.modifiers.negate || operand.modifiers.absolute);
        let is_bool = |lane: &Value| self.function.ty(*lane) == Type::BOOL;
        if self.are_masks(&all) && !modified {
            let (a, b) = (self.combine(&a, Scalar::Bool), self.combine(&b, Scalar::Bool));
            let value = self.build().binary(op, a, b);
            return self.write(&operands[0], value);
        }
        let masks = if a.iter().all(is_bool) {
            Some((&a, &b))
        } else if b.iter().all(is_bool) {
            Some((&b, &a))
        } else {
            None
        };
        if let (BinaryOp::And, Some((mask, kept)), false) = (op, masks, modified) {
            let scalar = self.common_scalar(kept);
            let condition = self.combine(mask, Scalar::Bool);
            let accept = self.combine(kept, scalar);
            let reject = self.function.zero(self.function.ty(accept));
            let value = self.build().select(condition, accept, reject);
            return self.write(&operands[0], value);
        }
        let mut value = self.combine(&a, Scalar::I32);
        value = self.modified(&operands[1], value);
        let mut other = self.combine(&b, Scalar::I32);
        other = self.modified(&operands[2], other);
        let value = self.build().binary(op, value, other);
        self.write(&operands[0], value)
    }

    /// `ieq`, `ine`: of masks where they are.
    fn equal(&mut self, instruction: &Instruction) -> Result<()> {
        let operands = &instruction.operands;
        let (a, b) = (self.lanes_for(instruction, 1, None)?, self.lanes_for(instruction, 2, None)?);
        let all: Lanes = a.iter().chain(&b).copied().collect();
        let op = if instruction.opcode == Opcode::IEq { CompareOp::IEq } else { CompareOp::INe };
        let modified = operands[1..].iter().any(|operand| operand.modifiers.negate || operand.modifiers.absolute);
        if self.are_masks(&all) && !modified {
            let (a, b) = (self.combine(&a, Scalar::Bool), self.combine(&b, Scalar::Bool));
            let constant = |value: Value| {
                let lanes = self.function.as_constant(value)?;
                lanes.iter().all(|lane| *lane == lanes[0]).then_some(lanes[0] != 0)
            };
            // Equal to true or unlike false is the mask itself.
            let value = match (constant(a), constant(b)) {
                (None, Some(known)) if known == (op == CompareOp::IEq) => a,
                (None, Some(_)) => self.invert(a),
                (Some(known), None) if known == (op == CompareOp::IEq) => b,
                (Some(_), None) => self.invert(b),
                _ => self.build().compare(op, a, b),
            };
            return self.write(&operands[0], value);
        }
        let value = self.combine(&a, Scalar::I32);
        let value = self.modified(&operands[1], value);
        let other = self.combine(&b, Scalar::I32);
        let other = self.modified(&operands[2], other);
        let value = self.build().compare(op, value, other);
        self.write(&operands[0], value)
    }

    /// Every bit inverted.
    pub(super) fn invert(&mut self, value: Value) -> Value {
        if let Some(&Op::Unary(UnaryOp::Not, inner)) = self.function.op(value) {
            return inner;
        }
        if let Some(lanes) = self.function.as_constant(value) {
            let lanes: smallvec::SmallVec<[u64; 4]> = lanes.iter().map(|lane| !lane).collect();
            let ty = self.function.ty(value);
            return self.function.constant(ty, &lanes);
        }
        self.build().unary(UnaryOp::Not, value)
    }

    fn ternary(&mut self, instruction: &Instruction, op: TernaryOp, scalar: Scalar) -> Result<()> {
        let a = self.read_for(instruction, 1, scalar)?;
        let b = self.read_for(instruction, 2, scalar)?;
        let c = self.read_for(instruction, 3, scalar)?;
        let value = self.build().ternary(op, a, b, c);
        self.write(&instruction.operands[0], value)
    }

    /// `firstbit_hi`, `firstbit_shi`: counted from the top, all ones if there is none.
    fn first_bit_high(&mut self, instruction: &Instruction) -> Result<()> {
        let a = self.read_for(instruction, 1, Scalar::I32)?;
        let op = match instruction.opcode {
            Opcode::FirstBitHi => UnaryOp::FirstBitHigh,
            _ => UnaryOp::FirstBitSignedHigh,
        };
        let mut builder = self.build();
        let from_bottom = builder.unary(op, a);
        let lanes = builder.ty(from_bottom).lanes();
        let (none, top) = (builder.i32(u32::MAX), builder.i32(31));
        let (none, top) = (builder.splat(none, lanes), builder.splat(top, lanes));
        let from_top = builder.binary(BinaryOp::ISub, top, from_bottom);
        let is_none = builder.compare(CompareOp::IEq, from_bottom, none);
        let value = builder.select(is_none, none, from_top);
        self.write(&instruction.operands[0], value)
    }

    /// Instructions of two destinations: both results are there before either is written.
    fn two_results(&mut self, instruction: &Instruction) -> Result<()> {
        let operands = &instruction.operands;
        let mut results = [None, None];
        for (index, result) in results.iter_mut().enumerate() {
            let written = components(operands[index].selection.mask());
            if written.is_empty() {
                continue;
            }
            if instruction.opcode == Opcode::SinCos {
                let a = self.source(&operands[2], &written, Scalar::F32)?;
                let op = if index == 0 { UnaryOp::FSin } else { UnaryOp::FCos };
                *result = Some(self.build().unary(op, a));
                continue;
            }
            let a = self.source(&operands[2], &written, Scalar::I32)?;
            let b = self.source(&operands[3], &written, Scalar::I32)?;
            let mut builder = self.build();
            *result = Some(match (instruction.opcode, index) {
                (Opcode::IMul, 0) => builder.binary(BinaryOp::SMulHigh, a, b),
                (Opcode::UMul, 0) => builder.binary(BinaryOp::UMulHigh, a, b),
                (Opcode::IMul | Opcode::UMul, _) => builder.binary(BinaryOp::IMul, a, b),
                (Opcode::UDiv, 0) => builder.binary(BinaryOp::UDiv, a, b),
                (Opcode::UDiv, _) => builder.binary(BinaryOp::URem, a, b),
                (Opcode::UAddc, 0) => builder.binary(BinaryOp::IAdd, a, b),
                (Opcode::UAddc, _) => {
                    let sum = builder.binary(BinaryOp::IAdd, a, b);
                    let carry = builder.compare(CompareOp::ULt, sum, a);
                    builder.convert(ConvertOp::ZExt, carry, Scalar::I32)
                }
                (_, 0) => builder.binary(BinaryOp::ISub, a, b),
                _ => {
                    let borrow = builder.compare(CompareOp::ULt, a, b);
                    builder.convert(ConvertOp::ZExt, borrow, Scalar::I32)
                }
            });
        }
        for (operand, result) in operands.iter().zip(results) {
            if let Some(value) = result {
                self.write(operand, value)?;
            }
        }
        Ok(())
    }
}
