//! Parts, and checked reads of their bytes.

use std::borrow::Cow;

use super::FourCc;
use crate::{Error, Result};

/// Bytes of the longest text that is read from a part.
pub const MAX_TEXT: usize = 4096;

/// One part of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Its name.
    pub name: FourCc,
    /// Byte offset of `data` in the container.
    pub offset: usize,
    /// Its contents, without the part header.
    pub data: &'a [u8],
}

/// Checked little-endian reads. Offsets count from the beginning of the part's contents and need no alignment.
impl<'a> Part<'a> {
    /// An error that names the part and the offset.
    pub fn malformed(&self, offset: usize, what: impl Into<String>) -> Error {
        Error::malformed(what).in_part(self.name).at_offset(offset)
    }

    /// A run of bytes.
    ///
    /// # Errors
    /// The part ends before the run does.
    pub fn bytes_at(&self, offset: usize, len: usize) -> Result<&'a [u8]> {
        offset.checked_add(len).and_then(|end| self.data.get(offset..end)).ok_or_else(|| {
            self.malformed(offset, format!("the part ends early: {len} bytes wanted of {}", self.data.len()))
        })
    }

    /// A byte.
    ///
    /// # Errors
    /// The part ends before it.
    pub fn u8_at(&self, offset: usize) -> Result<u8> {
        Ok(self.array_at::<1>(offset)?[0])
    }

    /// A 16-bit integer.
    ///
    /// # Errors
    /// The part ends before its end.
    pub fn u16_at(&self, offset: usize) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array_at(offset)?))
    }

    /// A 32-bit integer.
    ///
    /// # Errors
    /// The part ends before its end.
    pub fn u32_at(&self, offset: usize) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array_at(offset)?))
    }

    /// A 32-bit integer that is an offset or a count.
    ///
    /// # Errors
    /// The part ends before its end.
    pub fn size_at(&self, offset: usize) -> Result<usize> {
        Ok(self.u32_at(offset)? as usize)
    }

    /// Text up to a zero byte. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// No zero byte follows within the part and [`MAX_TEXT`] bytes: many records may share one text, so that its length
    /// is a factor of what a small part can make a reader do.
    pub fn text_at(&self, offset: usize) -> Result<Cow<'a, str>> {
        let rest = self.bytes_at(offset, self.data.len().saturating_sub(offset).min(MAX_TEXT))?;
        let len = rest.iter().position(|&byte| byte == 0).ok_or_else(|| self.malformed(offset, "unterminated text"))?;
        Ok(String::from_utf8_lossy(&rest[..len]))
    }

    /// Checks that `count` records of `stride` bytes from `offset` on lie within the part.
    ///
    /// # Errors
    /// They do not.
    pub fn check_records(&self, offset: usize, count: usize, stride: usize) -> Result<()> {
        let end = count.checked_mul(stride).and_then(|len| offset.checked_add(len));
        // An empty table's offset is often 0 or the end of the part, and means nothing.
        if count == 0 || end.is_some_and(|end| end <= self.data.len()) {
            return Ok(());
        }
        Err(self.malformed(offset, format!("a table passes the end of the part: {count} records of {stride} bytes")))
    }

    /// The offsets of `count` records of `stride` bytes from `offset` on.
    ///
    /// # Errors
    /// They do not lie within the part.
    pub fn records(
        &self,
        offset: usize,
        count: usize,
        stride: usize,
    ) -> Result<impl ExactSizeIterator<Item = usize> + Clone + use<>> {
        self.check_records(offset, count, stride)?;
        Ok((0..count).map(move |index| offset + index * stride))
    }

    fn array_at<const N: usize>(&self, offset: usize) -> Result<[u8; N]> {
        let bytes = self.bytes_at(offset, N)?;
        bytes.try_into().map_err(|_| self.malformed(offset, "the part ends early"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Part<'_> = Part { name: FourCc::RDEF, offset: 0, data: b"ab\0cd\xff\0tail" };

    #[test]
    fn reads_are_checked() {
        assert_eq!(PART.u16_at(0).unwrap(), u16::from_le_bytes(*b"ab"));
        assert_eq!(PART.text_at(0).unwrap(), "ab");
        assert_eq!(PART.text_at(3).unwrap(), "cd\u{fffd}");
        assert_eq!(PART.text_at(11).unwrap_err().place.offset, Some(11), "the end of the part is no text");
        assert!(PART.text_at(8).is_err(), "no zero byte");
        assert!(PART.u32_at(8).is_err());
        assert!(PART.bytes_at(usize::MAX, 2).is_err());
    }

    #[test]
    fn tables_are_checked() {
        assert_eq!(PART.records(3, 2, 4).unwrap().collect::<Vec<_>>(), [3, 7]);
        assert!(PART.records(4, 2, 4).is_err());
        assert!(PART.records(0, usize::MAX, 4).is_err());
        assert_eq!(PART.records(usize::MAX, 0, 4).unwrap().len(), 0);
    }
}
