//! Instructions.

use super::{Listing, literal::LiteralKind, names, operand::Precision};
use crate::{
    Result,
    dxbc::{
        opcode::{Opcode, Role},
        operand::Operand,
        statement::{Extended, Statement},
        token::bits,
    },
};

/// `D3D10_SB_RESOURCE_DIMENSION` by number.
pub(super) fn dimension(number: u32) -> &'static str {
    names::DIMENSIONS.get(number as usize).copied().unwrap_or("unknown")
}

/// `D3D10_SB_RESOURCE_RETURN_TYPE` by number.
fn return_type(number: u32) -> &'static str {
    names::RETURN_TYPES.get(number as usize).copied().unwrap_or("unknown")
}

/// `(float,float,float,float)`
pub(super) fn return_types(numbers: [u32; 4]) -> String {
    format!("({})", numbers.map(return_type).join(","))
}

impl Listing {
    pub(super) fn instruction(&mut self, statement: Statement<'_>) -> Result<()> {
        let Statement { opcode, token, extended, mut tokens, .. } = statement;
        self.mnemonic(opcode, token, extended)?;
        if opcode == Opcode::InterfaceCall {
            let call = tokens.next()?;
            self.text.push(' ');
            let operand = Operand::read(&mut tokens)?;
            self.register(&operand)?;
            return self.write(format_args!("[{call}]"));
        }
        let mut precision = None;
        for index in 0..opcode.operands().len() {
            let operand = Operand::read(&mut tokens)?;
            self.text.push_str(if index == 0 { " " } else { ", " });
            let own = operand.modifiers.min_precision;
            let written = match opcode.operands()[index] {
                Role::Destination => {
                    precision = precision.or(Some(own));
                    Precision::Of(own)
                }
                Role::Source if converts(opcode, index) => Precision::Converted(own, precision.unwrap_or(own)),
                _ => Precision::Of(own),
            };
            self.operand(&operand, LiteralKind::of(opcode, index), written)?;
        }
        Ok(())
    }

    /// The opcode with what its controls and extended tokens say.
    fn mnemonic(&mut self, opcode: Opcode, token: u32, extended: Extended) -> Result<()> {
        use Opcode as Op;
        self.text.push_str(opcode.name());
        match opcode {
            Op::If | Op::Breakc | Op::Continuec | Op::Retc | Op::Callc | Op::Discard => {
                self.text.push_str(if bits(token, 18, 1) == 1 { "_nz" } else { "_z" });
            }
            Op::Sync => {
                for (_, name) in names::SYNC_FLAGS.into_iter().filter(|(bit, _)| bits(token, *bit, 1) == 1) {
                    self.text.push_str(name);
                }
                return Ok(());
            }
            _ => {}
        }
        if bits(token, 13, 1) == 1 {
            self.text.push_str("_sat");
        }
        if extended.texel_offset.is_some() {
            self.text.push_str("_aoffimmi");
        }
        if extended.dimension.is_some() {
            self.text.push_str("_indexable");
        }
        let precise = bits(token, 19, 4);
        if precise == 0xf {
            self.text.push_str(" [precise]");
        } else if precise != 0 {
            self.text.push_str(" [precise(");
            self.text
                .extend("xyzw".chars().enumerate().filter(|(lane, _)| precise & 1 << lane != 0).map(|(_, name)| name));
            self.text.push_str(")]");
        }
        if let Some([u, v, w]) = extended.texel_offset {
            self.write(format_args!("({u},{v},{w})"))?;
        }
        if let Some((number, stride)) = extended.dimension {
            let name = dimension(number);
            match name {
                "structured_buffer" => self.write(format_args!("({name}, stride={stride})"))?,
                _ => self.write(format_args!("({name})"))?,
            }
        }
        if let Some(numbers) = extended.return_type {
            self.text.push_str(&return_types(numbers));
        }
        // The type that the size is returned as stands at the very end.
        match opcode {
            Op::ResInfo => self.text.push_str(["", "_rcpFloat", "_uint", ""][bits(token, 11, 2) as usize]),
            Op::SampleInfo if bits(token, 11, 1) == 1 => self.text.push_str("_uint"),
            _ => {}
        }
        Ok(())
    }
}

/// A source is converted to the destination's precision. Comparisons, conversions of type, bit fields that are inserted
/// and accesses to resources take their sources as they are, all take conditions, distances and offsets so.
fn converts(opcode: Opcode, index: usize) -> bool {
    use Opcode as Op;
    if matches!(
        (opcode, index),
        (Op::Movc, 1) | (Op::IShl | Op::IShr | Op::UShr | Op::Ubfe | Op::Ibfe | Op::Swapc, 2) | (Op::Bfi, _)
    ) {
        return false;
    }
    let compares =
        matches!(opcode, Op::Eq | Op::Ne | Op::Lt | Op::Ge | Op::IEq | Op::INe | Op::ILt | Op::IGe | Op::ULt | Op::UGe);
    let changes_type = matches!(opcode, Op::FtoI | Op::FtoU | Op::ItoF | Op::UtoF | Op::F32toF16 | Op::F16toF32);
    let of_values = opcode.operands().iter().all(|role| matches!(role, Role::Destination | Role::Source));
    of_values && !compares && !changes_type
}
