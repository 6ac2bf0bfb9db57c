//! Types for untyped bits. What is certainly read as a float is one; all else is kept as an integer, which no driver
//! flushes or quiets on its way.

use super::{Instruction, Opcode};
use crate::{
    dxbc::operand::{Operand, RegisterFile},
    ir::Scalar,
};

/// Type that an instruction reads or writes its operands as, if it has one.
pub(super) fn operand_scalar(opcode: Opcode, operand: usize) -> Option<Scalar> {
    use Opcode::*;
    Some(match opcode {
        Add | DerivRtx | DerivRty | DerivRtxCoarse | DerivRtxFine | DerivRtyCoarse | DerivRtyFine | Div | Dp2 | Dp3
        | Dp4 | Exp | Frc | Log | Mad | Min | Max | Mul | RoundNe | RoundNi | RoundPi | RoundZ | Rsq | Sqrt
        | SinCos | Rcp | Lod => Scalar::F32,
        Sample | SampleC | SampleCLz | SampleL | SampleD | SampleB | Gather4 | Gather4C => {
            return (operand > 0).then_some(Scalar::F32);
        }
        IAdd | IMad | IMax | IMin | IMul | INeg | IShl | IShr | UDiv | UMul | UMad | UMax | UMin | UShr | Ubfe
        | Ibfe | Bfi | BfRev | CountBits | FirstBitHi | FirstBitLo | FirstBitShi | UAddc | USubb | Msad | Switch => {
            Scalar::I32
        }
        IEq | IGe | ILt | INe | ULt | UGe => Scalar::I32,
        Eq | Ge | Lt | Ne => {
            if operand == 0 {
                Scalar::I32
            } else {
                Scalar::F32
            }
        }
        FtoI | FtoU | F32toF16 => {
            if operand == 0 {
                Scalar::I32
            } else {
                Scalar::F32
            }
        }
        ItoF | UtoF | F16toF32 => {
            if operand == 0 {
                Scalar::F32
            } else {
                Scalar::I32
            }
        }
        Ld | LdMs | LdUavTyped | LdRaw => return (operand == 1).then_some(Scalar::I32),
        LdStructured | StoreStructured => return matches!(operand, 1 | 2).then_some(Scalar::I32),
        StoreRaw | StoreUavTyped => return (operand == 1).then_some(Scalar::I32),
        And | Or | Xor | Not => Scalar::I32,
        _ => return None,
    })
}

/// Type that an instruction uses an operand as, or that the bits of an immediate value which it copies suggest.
pub(super) fn evidence(instruction: &Instruction, operand: usize) -> Option<Scalar> {
    operand_scalar(instruction.opcode, operand).or_else(|| {
        let immediates = instruction.operands.iter().filter(|operand| operand.file == RegisterFile::Immediate32);
        let mut words = immediates.flat_map(|operand| operand.immediate).filter(|bits| *bits != 0).peekable();
        words.peek()?;
        Some(if words.all(looks_float) { Scalar::F32 } else { Scalar::I32 })
    })
}

/// The bits make a more likely float than integer: magnitudes from 2^-64 to 2^64.
pub(super) fn looks_float(bits: u32) -> bool {
    let exponent = bits >> 23 & 0xff;
    (127 - 64..=127 + 64).contains(&exponent)
}

/// Type of an immediate constant buffer.
pub(super) fn rows_scalar(rows: &[[u32; 4]]) -> Scalar {
    if rows.iter().flatten().all(|&bits| fits_float(bits)) { Scalar::F32 } else { Scalar::I32 }
}

/// The bits can be kept as a float without looking odd or being flushed: zero, or what [`looks_float`].
pub(super) fn fits_float(bits: u32) -> bool {
    bits & 0x7fff_ffff == 0 || looks_float(bits)
}

/// Type of the first instruction behind `position` that reads a component of a temporary register.
pub(super) fn first_use(instructions: &[Instruction], position: usize, register: u32, component: u8) -> Option<Scalar> {
    // Loads stand close to their uses.
    const REACH: usize = 48;
    let is_register = |operand: &Operand| operand.file == RegisterFile::Temp && operand.register() == Some(register);
    for instruction in instructions.iter().skip(position + 1).take(REACH) {
        let roles = instruction.opcode.operands();
        let is_destination = |index: usize| roles.get(index) == Some(&crate::dxbc::opcode::Role::Destination);
        let written =
            instruction.operands.first().filter(|_| is_destination(0)).map_or(0xf, |operand| operand.selection.mask());
        for (index, operand) in instruction.operands.iter().enumerate() {
            if !is_destination(index)
                && is_register(operand)
                && (0..4).any(|lane| written >> lane & 1 != 0 && operand.selection.source(lane) == component)
                && let Some(scalar) = operand_scalar(instruction.opcode, index)
            {
                return Some(scalar);
            }
        }
        for (index, operand) in instruction.operands.iter().enumerate() {
            if is_destination(index) && is_register(operand) && operand.selection.mask() >> component & 1 != 0 {
                return None;
            }
        }
    }
    None
}
