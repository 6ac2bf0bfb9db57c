//! Bits of a bitstream, in order.

use crate::{Error, Result};

/// A position in a bitstream. Bits are numbered from the least significant of the first byte.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    /// Position, in bits.
    position: usize,
}

impl<'a> Cursor<'a> {
    /// The beginning of a stream.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Position, in bits.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Number of bits from here to the end.
    pub fn remaining(&self) -> usize {
        // Slices are shorter than isize::MAX bytes, but their bits may be more than usize can say on 32-bit machines.
        self.bytes.len().saturating_mul(8).saturating_sub(self.position)
    }

    /// An error at this position.
    pub fn malformed(&self, what: impl Into<String>) -> Error {
        Error::malformed(what).at_offset(self.position / 8)
    }

    /// A number of `width` bits, at most 64.
    #[inline]
    pub fn fixed(&mut self, width: u32) -> Result<u64> {
        debug_assert!(width <= 64);
        // Eight bytes hold at least 57 bits from any bit of the first on.
        if width <= 57
            && let Some(&word) = self.bytes.get(self.position / 8..).and_then(|rest| rest.first_chunk::<8>())
        {
            let bits = u64::from_le_bytes(word) >> (self.position % 8);
            self.position += width as usize;
            return Ok(bits & ((1 << width) - 1));
        }
        self.fixed_by_bytes(width)
    }

    /// [`Self::fixed`] where the stream ends soon, or the number is long.
    #[cold]
    fn fixed_by_bytes(&mut self, width: u32) -> Result<u64> {
        if self.remaining() < width as usize {
            return Err(self.malformed("bitstream ends within a record"));
        }
        let mut value = 0u64;
        let mut filled = 0;
        while filled < width {
            let byte = u64::from(self.bytes[self.position / 8]);
            let skipped = (self.position % 8) as u32;
            let taken = (8 - skipped).min(width - filled);
            let bits = (byte >> skipped) & ((1 << taken) - 1);
            value |= bits << filled;
            filled += taken;
            self.position += taken as usize;
        }
        Ok(value)
    }

    /// A number in chunks of `width` bits (2 to 32), the highest bit of each telling whether another follows.
    #[inline]
    pub fn vbr(&mut self, width: u32) -> Result<u64> {
        debug_assert!((2..=32).contains(&width));
        // Most numbers are a single chunk.
        let chunk = self.fixed(width)?;
        if chunk >> (width - 1) == 0 { Ok(chunk) } else { self.vbr_after(chunk, width) }
    }

    /// The rest of [`Self::vbr`] after a first chunk that another one follows.
    fn vbr_after(&mut self, first: u64, width: u32) -> Result<u64> {
        let more = 1u64 << (width - 1);
        let mut value = first & (more - 1);
        let mut shift = width - 1;
        loop {
            let chunk = self.fixed(width)?;
            let payload = chunk & (more - 1);
            if payload != 0 {
                if shift >= 64 || (payload << shift) >> shift != payload {
                    return Err(self.malformed("variable-width number exceeds 64 bits"));
                }
                value |= payload << shift;
            }
            if chunk & more == 0 {
                return Ok(value);
            }
            shift += width - 1;
        }
    }

    /// Goes on to the next multiple of 32 bits. (At the end of a stream that is no multiple of 32: to the end.)
    pub fn align(&mut self) {
        self.position = self.position.next_multiple_of(32).min(self.bytes.len().saturating_mul(8));
    }

    /// Skips whole 32-bit words.
    pub fn skip_words(&mut self, words: usize) -> Result<()> {
        match words.checked_mul(32) {
            Some(bits) if bits <= self.remaining() => {
                self.position += bits;
                Ok(())
            }
            _ => Err(self.malformed("block is longer than the bitstream")),
        }
    }

    /// Bytes from here on, which is a multiple of 32 bits.
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let start = self.position / 8;
        let bytes = start.checked_add(len).and_then(|end| self.bytes.get(start..end));
        let bytes = bytes.ok_or_else(|| self.malformed("blob is longer than the bitstream"))?;
        self.position += len * 8;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_widths_cross_bytes() {
        let mut cursor = Cursor::new(&[0b1010_0101, 0b1100_0011, 0xff]);
        assert_eq!(cursor.fixed(3).unwrap(), 0b101);
        assert_eq!(cursor.fixed(9).unwrap(), 0b0011_10100);
        assert_eq!(cursor.fixed(0).unwrap(), 0);
        assert_eq!(cursor.fixed(12).unwrap(), 0xffc);
        assert_eq!(cursor.remaining(), 0);
        assert!(cursor.fixed(1).is_err());
    }

    #[test]
    fn vbr_takes_chunks() {
        // 0x16 = 0b1_0110 in VBR4: low chunk 0b110 with the flag, then 0b010.
        let mut cursor = Cursor::new(&[0b0010_1110]);
        assert_eq!(cursor.vbr(4).unwrap(), 0b01_0110);
        // Flags without an end.
        assert!(Cursor::new(&[0xff; 4]).vbr(8).is_err());
    }

    #[test]
    fn vbr_reaches_64_bits_and_no_further() {
        // u64::MAX in VBR6: twelve chunks of 5 bits, then one of 4.
        let mut bits = vec![0b111111u8; 12];
        bits.push(0b001111);
        let pack = |chunks: &[u8]| {
            let mut bytes = vec![0u8; 12];
            for (index, chunk) in chunks.iter().enumerate() {
                for bit in 0..6 {
                    let at = index * 6 + bit;
                    bytes[at / 8] |= (chunk >> bit & 1) << (at % 8);
                }
            }
            bytes
        };
        assert_eq!(Cursor::new(&pack(&bits)).vbr(6).unwrap(), u64::MAX);
        bits[12] = 0b011111;
        assert!(Cursor::new(&pack(&bits)).vbr(6).is_err());
    }
}
