//! Reading 32-bit tokens of a part, with their places.

use crate::{Error, Result};

/// A cursor over little-endian tokens of a part.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    part: &'a [u8],
    /// Byte offset of the next token.
    position: usize,
    /// Byte offset of the end; at most the part's length.
    end: usize,
}

impl<'a> Tokens<'a> {
    /// All whole tokens of a part; bytes of a last, incomplete one are left out.
    pub fn new(part: &'a [u8]) -> Self {
        Self { part, position: 0, end: part.len() & !3 }
    }

    /// Byte offset of the next token in the part.
    pub fn offset(&self) -> usize {
        self.position
    }

    /// Number of tokens that are left.
    pub fn remaining(&self) -> usize {
        (self.end - self.position) / 4
    }

    /// No token is left.
    pub fn is_empty(&self) -> bool {
        self.position >= self.end
    }

    /// The next token.
    pub fn next(&mut self) -> Result<u32> {
        if self.is_empty() {
            return Err(Error::malformed("tokens end within an instruction").at_offset(self.position));
        }
        let bytes = &self.part[self.position..self.position + 4];
        self.position += 4;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// The next `count` tokens as a cursor of their own; this one goes on behind them.
    pub fn split(&mut self, count: usize) -> Result<Tokens<'a>> {
        if count > self.remaining() {
            return Err(Error::malformed("an instruction is longer than the program").at_offset(self.position));
        }
        let end = self.position + count * 4;
        let tokens = Self { part: self.part, position: self.position, end };
        self.position = end;
        Ok(tokens)
    }
}

/// `width` bits of a token from bit `low` up.
pub fn bits(token: u32, low: u32, width: u32) -> u32 {
    (token >> low) & ((1 << width) - 1)
}
