//! Messages to the debug layer: `printf` and `errorf`, which are custom data.

use super::{Listing, literal::LiteralKind, operand::Precision};
use crate::{
    Error, Result,
    dxbc::{operand::Operand, token::Tokens},
};

/// `D3D11_SB_SHADER_MESSAGE_ID_MESSAGE` and `D3D11_SB_SHADER_MESSAGE_ID_ERROR`.
const MESSAGE: u32 = 0x0020_0102;
const ERROR: u32 = 0x0020_0103;

impl Listing {
    /// `D3D11_SB_CUSTOMDATA_SHADER_MESSAGE`: `[id, format, number of characters, number of operands, their length,
    /// operands, characters with a zero behind them]`.
    pub(super) fn shader_message(&mut self, mut tokens: Tokens<'_>) -> Result<()> {
        match tokens.next()? {
            MESSAGE => self.text.push_str("printf"),
            ERROR => self.text.push_str("errorf"),
            id => return Err(Error::unsupported(format!("shader message of an unknown number: {id}"))),
        }
        let _format = tokens.next()?;
        let characters = tokens.next()? as usize;
        let operands = tokens.next()?;
        let len = tokens.next()? as usize;
        let mut arguments = tokens.split(len)?;
        self.text.push_str(" \"");
        let mut left = characters;
        while left > 0 {
            for character in tokens.next()?.to_le_bytes().into_iter().take(left) {
                self.character(character);
            }
            left = left.saturating_sub(4);
        }
        self.text.push('"');
        for _ in 0..operands {
            self.text.push_str(", ");
            let operand = Operand::read(&mut arguments)?;
            let precision = Precision::Of(operand.modifiers.min_precision);
            self.operand(&operand, LiteralKind::Untyped, precision)?;
        }
        Ok(())
    }

    /// A character of a message, in the spelling of fxc's listings, which leave quotes as they are.
    fn character(&mut self, character: u8) {
        match character {
            b'\t' => self.text.push_str("\\t"),
            b'\n' => self.text.push_str("\\n"),
            b'\r' => self.text.push_str("\\r"),
            b'\\' => self.text.push_str("\\\\"),
            b' '..=b'~' => self.text.push(char::from(character)),
            _ => self.text.push('.'),
        }
    }
}
