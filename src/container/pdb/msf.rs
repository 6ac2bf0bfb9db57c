//! Multi-stream files (MSF 7.00): the file system within a PDB file.

use std::borrow::Cow;

use crate::{Error, Result};

/// What such a file begins with.
const MAGIC: &[u8; 32] = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0";

/// A multi-stream file: blocks of one size, and a directory that says which of them make each stream.
///
/// Six 32-bit words follow the magic (LLVM's "The MSF File Format"): length of a block, number of the block with the free
/// block map, number of blocks, length of the directory in bytes, nothing, and number of the block that lists the
/// directory's blocks.
#[derive(Clone, Debug)]
pub struct Msf<'a> {
    bytes: &'a [u8],
    block_len: usize,
    /// Length, and the numbers of the blocks.
    streams: Vec<(usize, Vec<u32>)>,
}

fn malformed(offset: usize, what: impl Into<String>) -> Error {
    Error::malformed(what).at_offset(offset)
}

fn word(bytes: &[u8], index: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(4 * index..)?.first_chunk()?))
}

impl<'a> Msf<'a> {
    /// The bytes begin like a multi-stream file.
    pub fn recognizes(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Reads the directory.
    ///
    /// # Errors
    /// The magic is missing, or the directory or a stream is longer than the file.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        if !Self::recognizes(bytes) {
            return Err(malformed(0, "not a multi-stream file"));
        }
        let field = |index: usize| {
            word(bytes, 8 + index).map(|word| word as usize).ok_or_else(|| malformed(32, "the superblock is cut short"))
        };
        let (block_len, directory_len, map) = (field(0)?, field(3)?, field(5)?);
        if !(512..=0x1_0000).contains(&block_len) || !block_len.is_power_of_two() {
            return Err(malformed(32, format!("odd length of blocks: {block_len}")));
        }
        let mut file = Self { bytes, block_len, streams: Vec::new() };
        let count = directory_len.div_ceil(block_len);
        let list = map.checked_mul(block_len).and_then(|start| bytes.get(start..)).unwrap_or_default();
        let blocks = (0..count).map_while(|index| word(list, index)).collect::<Vec<_>>();
        let directory = file.gather(directory_len, &blocks)?;

        let cut_short = || malformed(44, "the directory is cut short");
        let streams = word(&directory, 0).ok_or_else(cut_short)? as usize;
        let mut next = streams.saturating_add(1);
        for index in 0..streams {
            // A stream that was deleted has this length.
            let len = match word(&directory, index + 1).ok_or_else(cut_short)? {
                u32::MAX => 0,
                len => len as usize,
            };
            let count = len.div_ceil(block_len);
            let blocks = (next..).take(count).map_while(|index| word(&directory, index)).collect::<Vec<_>>();
            if blocks.len() < count || len > bytes.len() {
                return Err(malformed(44, format!("a stream is longer than the file: {len} bytes")));
            }
            next += count;
            file.streams.push((len, blocks));
        }
        Ok(file)
    }

    /// Number of streams.
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// It has no streams.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// The contents of a stream: nothing if there is none of that number.
    ///
    /// # Errors
    /// A block is not within the file.
    pub fn stream(&self, index: usize) -> Result<Cow<'a, [u8]>> {
        match self.streams.get(index) {
            Some((len, blocks)) => self.gather(*len, blocks),
            None => Ok(Cow::Borrowed(&[])),
        }
    }

    /// Bytes that blocks hold: borrowed where the blocks follow each other.
    fn gather(&self, len: usize, blocks: &[u32]) -> Result<Cow<'a, [u8]>> {
        if len > self.bytes.len() {
            return Err(malformed(44, format!("a stream is longer than the file: {len} bytes")));
        }
        let at = |block: u32, len: usize| {
            let start = (block as usize).checked_mul(self.block_len)?;
            self.bytes.get(start..start.checked_add(len)?)
        };
        if let Some(&first) = blocks.first()
            && blocks.iter().zip(first..).all(|(&block, expected)| block == expected)
            && blocks.len().checked_mul(self.block_len).is_some_and(|room| room >= len)
            && let Some(bytes) = at(first, len)
        {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut gathered = Vec::with_capacity(len);
        for &block in blocks {
            let bytes = at(block, self.block_len.min(len - gathered.len()));
            let wrong = || malformed(44, format!("a block passes the end of the file: {block}"));
            gathered.extend(bytes.ok_or_else(wrong)?);
        }
        if gathered.len() < len {
            return Err(malformed(44, format!("blocks are missing: {len} bytes wanted")));
        }
        Ok(Cow::Owned(gathered))
    }
}
