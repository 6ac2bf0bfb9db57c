//! Double precision: a double is a pair of components, low word first; `.xy` is the first and `.zw` the second.

use smallvec::SmallVec;

use super::{FunctionLowering, Instruction, Opcode, registers::Lanes};
use crate::{
    Result,
    dxbc::operand::Operand,
    ir::{BinaryOp, CompareOp, ConvertOp, Op, Scalar, TernaryOp, Type, UnaryOp, Value},
};

const F64: Type = Type::Scalar(Scalar::F64);

impl FunctionLowering<'_, '_> {
    /// Lowers an instruction of doubles; tells whether it is one.
    pub(super) fn double(&mut self, instruction: &Instruction) -> Result<bool> {
        let operands = &instruction.operands;
        let mask = operands.first().map_or(0, |operand| operand.selection.mask());
        match instruction.opcode {
            Opcode::DAdd | Opcode::DMul | Opcode::DMax | Opcode::DMin | Opcode::DDiv => {
                let op = match instruction.opcode {
                    Opcode::DAdd => BinaryOp::FAdd,
                    Opcode::DMul => BinaryOp::FMul,
                    Opcode::DMax => BinaryOp::FMax,
                    Opcode::DMin => BinaryOp::FMin,
                    _ => BinaryOp::FDiv,
                };
                let mut results = SmallVec::new();
                for pair in pairs(mask) {
                    let a = self.read_double(&operands[1], pair)?;
                    let b = self.read_double(&operands[2], pair)?;
                    results.push(self.build().binary(op, a, b));
                }
                self.write_doubles(&operands[0], &results)?;
            }
            Opcode::DFma => {
                let mut results = SmallVec::new();
                for pair in pairs(mask) {
                    let a = self.read_double(&operands[1], pair)?;
                    let b = self.read_double(&operands[2], pair)?;
                    let c = self.read_double(&operands[3], pair)?;
                    results.push(self.build().ternary(TernaryOp::FFma, a, b, c));
                }
                self.write_doubles(&operands[0], &results)?;
            }
            Opcode::DRcp => {
                let mut results = SmallVec::new();
                for pair in pairs(mask) {
                    let a = self.read_double(&operands[1], pair)?;
                    results.push(self.build().unary(UnaryOp::FRcp, a));
                }
                self.write_doubles(&operands[0], &results)?;
            }
            Opcode::DMov => {
                let mut results = SmallVec::new();
                for pair in pairs(mask) {
                    results.push(self.read_double(&operands[1], pair)?);
                }
                self.write_doubles(&operands[0], &results)?;
            }
            Opcode::DMovc => {
                let mut results = SmallVec::new();
                for (number, pair) in pairs(mask).into_iter().enumerate() {
                    // One component decides for each double, in their order.
                    let condition = self.source(&operands[1], &[number as u8], Scalar::Bool)?;
                    let accept = self.read_double(&operands[2], pair)?;
                    let reject = self.read_double(&operands[3], pair)?;
                    results.push(self.build().select(condition, accept, reject));
                }
                self.write_doubles(&operands[0], &results)?;
            }
            Opcode::DEq | Opcode::DGe | Opcode::DLt | Opcode::DNe => {
                let op = match instruction.opcode {
                    Opcode::DEq => CompareOp::FEq,
                    Opcode::DGe => CompareOp::FGe,
                    Opcode::DLt => CompareOp::FLt,
                    _ => CompareOp::FNe,
                };
                let mut results = Lanes::new();
                for number in 0..mask.count_ones().min(2) as u8 {
                    let a = self.read_double(&operands[1], number * 2)?;
                    let b = self.read_double(&operands[2], number * 2)?;
                    results.push(self.build().compare(op, a, b));
                }
                self.write_lanes(&operands[0], &results)?;
            }
            Opcode::DtoF | Opcode::DtoI | Opcode::DtoU => {
                let (op, to) = match instruction.opcode {
                    Opcode::DtoF => (ConvertOp::FToF, Scalar::F32),
                    Opcode::DtoI => (ConvertOp::FToS, Scalar::I32),
                    _ => (ConvertOp::FToU, Scalar::I32),
                };
                let mut results = Lanes::new();
                for number in 0..mask.count_ones().min(2) as u8 {
                    let a = self.read_double(&operands[1], number * 2)?;
                    results.push(self.build().convert(op, a, to));
                }
                let value = self.combine(&results, to);
                self.write(&operands[0], value)?;
            }
            Opcode::FtoD | Opcode::ItoD | Opcode::UtoD => {
                let (op, from) = match instruction.opcode {
                    Opcode::FtoD => (ConvertOp::FToF, Scalar::F32),
                    Opcode::ItoD => (ConvertOp::SToF, Scalar::I32),
                    _ => (ConvertOp::UToF, Scalar::I32),
                };
                let mut results = SmallVec::new();
                for number in 0..pairs(mask).len() as u8 {
                    let a = self.source(&operands[1], &[number], from)?;
                    results.push(self.build().convert(op, a, Scalar::F64));
                }
                self.write_doubles(&operands[0], &results)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The double in two components of a source, with its modifiers.
    fn read_double(&mut self, operand: &Operand, first: u8) -> Result<Value> {
        let words = self.lanes(operand, &[first, first + 1], Some(Scalar::I32))?;
        let words = self.combine(&words, Scalar::I32);
        let value = match self.function.op(words) {
            // Its words were taken from a double just before.
            Some(&Op::Convert(ConvertOp::Bitcast, double)) if self.function.ty(double) == F64 => double,
            _ => self.push(Op::Convert(ConvertOp::Bitcast, words), F64),
        };
        Ok(self.modified(operand, value))
    }

    /// Writes doubles to the pairs of a destination's mask.
    fn write_doubles(&mut self, operand: &Operand, doubles: &SmallVec<[Value; 2]>) -> Result<()> {
        let mut words = Lanes::new();
        for double in doubles {
            let double =
                if self.instruction().saturate { self.build().unary(UnaryOp::FSaturate, *double) } else { *double };
            let pair = self.push(Op::Convert(ConvertOp::Bitcast, double), Type::new(Scalar::I32, 2));
            let mut builder = self.build();
            words.push(builder.extract(pair, 0));
            words.push(builder.extract(pair, 1));
        }
        self.write_lanes(operand, &words)
    }
}

/// First components of the doubles that a mask covers.
fn pairs(mask: u8) -> SmallVec<[u8; 2]> {
    [0, 2].into_iter().filter(|first| mask >> first & 3 == 3).collect()
}
