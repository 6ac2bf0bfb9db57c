//! Blocks and records of a bitstream.

use std::{collections::HashMap, rc::Rc};

use super::Cursor;
use crate::{Error, Result};

/// Blocks nest deeper in no module that LLVM writes: the deepest is a constants block in a function in a module.
const MAX_DEPTH: usize = 16;

/// Operands of an abbreviation. LLVM's own have at most a dozen; the limit bounds what one record of few bits can cost.
const MAX_ABBREVIATION_OPERANDS: usize = 64;

/// The block that carries abbreviations for other blocks.
const BLOCKINFO: u32 = 0;
/// `BLOCKINFO_CODE_SETBID`.
const SET_BLOCK_ID: u32 = 1;

/// Abbreviation numbers that every block knows.
const END_BLOCK: u64 = 0;
const ENTER_SUBBLOCK: u64 = 1;
const DEFINE_ABBREVIATION: u64 = 2;
const UNABBREVIATED_RECORD: u64 = 3;
const FIRST_APPLICATION_ABBREVIATION: u64 = 4;

/// One record: a code and operands. Reused from record to record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// What the record says, in the numbering of its block.
    pub code: u32,
    /// Its operands; the characters or elements of an array follow the others one by one.
    pub operands: Vec<u64>,
    /// Bytes of a blob, if the abbreviation ends in one.
    pub blob: Vec<u8>,
    /// Byte offset in the bitstream.
    pub offset: usize,
}

impl Record {
    /// An operand.
    ///
    /// # Errors
    /// The record is too short.
    pub fn operand(&self, index: usize) -> Result<u64> {
        self.operands.get(index).copied().ok_or_else(|| self.malformed("record has too few operands"))
    }

    /// An operand that is a number of 32 bits: an index, a count.
    ///
    /// # Errors
    /// The record is too short, or the number too large.
    pub fn index(&self, index: usize) -> Result<u32> {
        u32::try_from(self.operand(index)?).map_err(|_| self.malformed("operand exceeds 32 bits"))
    }

    /// The operands from `start` on as characters, one byte each.
    pub fn text(&self, start: usize) -> String {
        let bytes = self.operands.iter().skip(start).map(|&character| character as u8).collect();
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// An error in this record.
    pub fn malformed(&self, what: &str) -> Error {
        Error::malformed(format!("{what}: code {}", self.code)).at_offset(self.offset)
    }
}

/// What comes next in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A nested block of this id: [`Reader::enter`] or [`Reader::skip`] it.
    Block(u32),
    /// A record.
    Record,
    /// The end of the block, which has been left.
    End,
}

/// How one operand of an abbreviated record is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Literal(u64),
    Fixed(u32),
    Vbr(u32),
    Char6,
    /// The rest of the record: a count and elements in the next encoding.
    Array,
    /// The rest of the record: a count and bytes.
    Blob,
}

/// Abbreviations of a block, in the order of their numbers. Blocks share those that all of their id begin with, until one
/// defines another.
type Abbreviations = Rc<Vec<Box<[Encoding]>>>;

/// A block that is being read.
#[derive(Clone, Debug)]
struct Scope {
    /// Bits of an abbreviation number.
    width: u32,
    abbreviations: Abbreviations,
}

/// Reads a bitstream block by block, record by record.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    cursor: Cursor<'a>,
    scopes: Vec<Scope>,
    /// Abbreviations that blocks of an id begin with.
    block_info: HashMap<u32, Abbreviations>,
    /// Header of the nested block that [`Entry::Block`] announced: id, width of abbreviation numbers, length in words.
    pending: Option<(u32, u32, usize)>,
}

impl<'a> Reader<'a> {
    /// A reader at the first block of LLVM bitcode: after the magic `BC C0 DE`, and after the wrapper that some
    /// writers put around it.
    ///
    /// # Errors
    /// The bytes are no bitcode.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let bitcode = match word(0) {
            // The wrapper of LLVM's Darwin targets: magic, version, offset, size, CPU type.
            Some(0x0b17_c0de) => {
                let range = word(8).zip(word(12)).and_then(|(offset, size)| {
                    let offset = offset as usize;
                    Some(offset..offset.checked_add(size as usize)?)
                });
                let wrapped = range.and_then(|range| bytes.get(range));
                wrapped.ok_or_else(|| Error::malformed("bitcode wrapper exceeds its part"))?
            }
            _ => bytes,
        };
        let mut cursor = Cursor::new(bitcode);
        if cursor.fixed(32)? != 0xdec0_4342 {
            return Err(Error::malformed("no LLVM bitcode magic").at_offset(0));
        }
        let top = Scope { width: 2, abbreviations: Abbreviations::default() };
        Ok(Self { cursor, scopes: vec![top], block_info: HashMap::new(), pending: None })
    }

    /// The next entry of the block; a record is put into `record`. Blocks of abbreviations are taken in on the way.
    ///
    /// # Errors
    /// The bits contradict the format.
    pub fn next(&mut self, record: &mut Record) -> Result<Entry> {
        if self.pending.is_some() {
            self.skip()?;
        }
        loop {
            let width = self.scope().width;
            record.offset = self.cursor.position() / 8;
            match self.cursor.fixed(width)? {
                END_BLOCK => {
                    if self.scopes.len() == 1 {
                        return Err(self.cursor.malformed("end of a block outside of blocks"));
                    }
                    self.cursor.align();
                    self.scopes.pop();
                    return Ok(Entry::End);
                }
                ENTER_SUBBLOCK => {
                    let id = self.cursor.vbr(8)?;
                    let id = u32::try_from(id).map_err(|_| self.cursor.malformed("block id exceeds 32 bits"))?;
                    let width = self.cursor.vbr(4)?;
                    if !(2..=32).contains(&width) {
                        return Err(self.cursor.malformed("width of abbreviation numbers"));
                    }
                    self.cursor.align();
                    let words = self.cursor.fixed(32)? as usize;
                    self.pending = Some((id, width as u32, words));
                    if id != BLOCKINFO {
                        return Ok(Entry::Block(id));
                    }
                    self.enter()?;
                    self.read_block_info()?;
                }
                DEFINE_ABBREVIATION => {
                    let abbreviation = self.read_abbreviation()?;
                    Rc::make_mut(&mut self.scope_mut().abbreviations).push(abbreviation);
                }
                UNABBREVIATED_RECORD => {
                    self.read_unabbreviated(record)?;
                    return Ok(Entry::Record);
                }
                number => {
                    let index = (number - FIRST_APPLICATION_ABBREVIATION) as usize;
                    let abbreviations = Rc::clone(&self.scope().abbreviations);
                    let Some(abbreviation) = abbreviations.get(index) else {
                        return Err(self.cursor.malformed(format!("unknown abbreviation: {number}")));
                    };
                    self.read_abbreviated(abbreviation, record)?;
                    return Ok(Entry::Record);
                }
            }
        }
    }

    /// Enters the block that was announced.
    ///
    /// # Errors
    /// It is longer than the stream, or nested too deep.
    pub fn enter(&mut self) -> Result<()> {
        let Some((id, width, words)) = self.pending.take() else {
            return Err(Error::internal("no block to enter"));
        };
        if self.scopes.len() >= MAX_DEPTH {
            return Err(self.cursor.malformed("blocks are nested too deep"));
        }
        if words.checked_mul(32).is_none_or(|bits| bits > self.cursor.remaining()) {
            return Err(self.cursor.malformed("block is longer than the bitstream"));
        }
        let abbreviations = self.block_info.get(&id).cloned().unwrap_or_default();
        self.scopes.push(Scope { width, abbreviations });
        Ok(())
    }

    /// Skips the block that was announced.
    ///
    /// # Errors
    /// It is longer than the stream.
    pub fn skip(&mut self) -> Result<()> {
        match self.pending.take() {
            Some((_, _, words)) => self.cursor.skip_words(words),
            None => Ok(()),
        }
    }

    fn scope(&self) -> &Scope {
        self.scopes.last().expect("the stream itself is a scope that is never popped")
    }

    fn scope_mut(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the stream itself is a scope that is never popped")
    }

    /// Takes in the block of abbreviations for other blocks, which has been entered.
    fn read_block_info(&mut self) -> Result<()> {
        let mut record = Record::default();
        let mut block = None;
        loop {
            let width = self.scope().width;
            match self.cursor.fixed(width)? {
                END_BLOCK => {
                    self.cursor.align();
                    self.scopes.pop();
                    return Ok(());
                }
                DEFINE_ABBREVIATION => {
                    let abbreviation = self.read_abbreviation()?;
                    let block = block.ok_or_else(|| self.cursor.malformed("abbreviation for no block"))?;
                    Rc::make_mut(self.block_info.entry(block).or_default()).push(abbreviation);
                }
                UNABBREVIATED_RECORD => {
                    self.read_unabbreviated(&mut record)?;
                    if record.code == SET_BLOCK_ID {
                        block = Some(record.index(0)?);
                    }
                }
                _ => return Err(self.cursor.malformed("block of abbreviations holds something else")),
            }
        }
    }

    fn read_abbreviation(&mut self) -> Result<Box<[Encoding]>> {
        let count = self.cursor.vbr(5)? as usize;
        if count == 0 || count > MAX_ABBREVIATION_OPERANDS {
            return Err(self.cursor.malformed(format!("number of operands of an abbreviation: {count}")));
        }
        let mut encodings = Vec::with_capacity(count);
        for index in 0..count {
            if self.cursor.fixed(1)? == 1 {
                encodings.push(Encoding::Literal(self.cursor.vbr(8)?));
                continue;
            }
            let encoding = match self.cursor.fixed(3)? {
                1 => match self.cursor.vbr(5)? {
                    // LLVM's writer makes fields of no bits for empty enumerations.
                    0 => Encoding::Literal(0),
                    width @ 1..=64 => Encoding::Fixed(width as u32),
                    width => return Err(self.cursor.malformed(format!("width of an abbreviated operand: {width}"))),
                },
                2 => match self.cursor.vbr(5)? {
                    0 => Encoding::Literal(0),
                    width @ 2..=32 => Encoding::Vbr(width as u32),
                    width => return Err(self.cursor.malformed(format!("width of an abbreviated operand: {width}"))),
                },
                3 if index + 2 == count => Encoding::Array,
                4 => Encoding::Char6,
                5 if index + 1 == count => Encoding::Blob,
                encoding => return Err(self.cursor.malformed(format!("encoding of an abbreviation: {encoding}"))),
            };
            encodings.push(encoding);
        }
        if let [.., Encoding::Array, Encoding::Blob] = encodings.as_slice() {
            return Err(self.cursor.malformed("array of blobs"));
        }
        Ok(encodings.into())
    }

    fn read_unabbreviated(&mut self, record: &mut Record) -> Result<()> {
        let code = self.cursor.vbr(6)?;
        record.code = u32::try_from(code).map_err(|_| self.cursor.malformed("record code exceeds 32 bits"))?;
        record.operands.clear();
        record.blob.clear();
        let count = self.cursor.vbr(6)?;
        self.check_count(count)?;
        for _ in 0..count {
            record.operands.push(self.cursor.vbr(6)?);
        }
        Ok(())
    }

    fn read_abbreviated(&mut self, abbreviation: &[Encoding], record: &mut Record) -> Result<()> {
        record.operands.clear();
        record.blob.clear();
        let mut encodings = abbreviation.iter();
        let code = match encodings.next() {
            Some(Encoding::Array | Encoding::Blob) | None => {
                return Err(self.cursor.malformed("abbreviation without a record code"));
            }
            Some(encoding) => self.read_scalar(*encoding)?,
        };
        record.code = u32::try_from(code).map_err(|_| self.cursor.malformed("record code exceeds 32 bits"))?;
        while let Some(encoding) = encodings.next() {
            match encoding {
                Encoding::Array => {
                    let element = encodings.next().ok_or_else(|| self.cursor.malformed("array of nothing"))?;
                    let count = self.cursor.vbr(6)?;
                    self.check_count(count)?;
                    self.read_array(*element, count, &mut record.operands)?;
                }
                Encoding::Blob => {
                    let len = self.cursor.vbr(6)?;
                    self.check_count(len)?;
                    self.cursor.align();
                    record.blob.extend_from_slice(self.cursor.bytes(len as usize)?);
                    self.cursor.align();
                }
                encoding => record.operands.push(self.read_scalar(*encoding)?),
            }
        }
        Ok(())
    }

    /// Rejects counts that the rest of the stream cannot hold, even of elements that take no bits.
    fn check_count(&self, count: u64) -> Result<()> {
        if count > self.cursor.remaining() as u64 {
            return Err(self.cursor.malformed("count exceeds the bitstream"));
        }
        Ok(())
    }

    /// Elements of an array, whose encoding is looked at once.
    fn read_array(&mut self, element: Encoding, count: u64, elements: &mut Vec<u64>) -> Result<()> {
        match element {
            Encoding::Fixed(width) => {
                for _ in 0..count {
                    elements.push(self.cursor.fixed(width)?);
                }
            }
            Encoding::Vbr(width) => {
                for _ in 0..count {
                    elements.push(self.cursor.vbr(width)?);
                }
            }
            element => {
                for _ in 0..count {
                    elements.push(self.read_scalar(element)?);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn read_scalar(&mut self, encoding: Encoding) -> Result<u64> {
        match encoding {
            Encoding::Literal(value) => Ok(value),
            Encoding::Fixed(width) => self.cursor.fixed(width),
            Encoding::Vbr(width) => self.cursor.vbr(width),
            Encoding::Char6 => {
                let characters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
                Ok(u64::from(characters[self.cursor.fixed(6)? as usize]))
            }
            Encoding::Array | Encoding::Blob => Err(self.cursor.malformed("array within an array")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes bitstreams for the tests.
    #[derive(Default)]
    struct Writer {
        bytes: Vec<u8>,
        bits: usize,
    }

    impl Writer {
        fn new() -> Self {
            let mut writer = Self::default();
            writer.fixed(0xdec0_4342, 32);
            writer
        }

        fn fixed(&mut self, value: u64, width: u32) {
            for bit in 0..width {
                if self.bits.is_multiple_of(8) {
                    self.bytes.push(0);
                }
                *self.bytes.last_mut().unwrap() |= ((value >> bit & 1) as u8) << (self.bits % 8);
                self.bits += 1;
            }
        }

        fn vbr(&mut self, mut value: u64, width: u32) {
            let more = 1 << (width - 1);
            while value >= more {
                self.fixed(value & (more - 1) | more, width);
                value >>= width - 1;
            }
            self.fixed(value, width);
        }

        fn align(&mut self) {
            while !self.bits.is_multiple_of(32) {
                self.fixed(0, 1);
            }
        }

        /// Enters a block; its length is `words`.
        fn enter(&mut self, outer_width: u32, id: u64, width: u64, words: u64) {
            self.fixed(ENTER_SUBBLOCK, outer_width);
            self.vbr(id, 8);
            self.vbr(width, 4);
            self.align();
            self.fixed(words, 32);
        }

        fn end(&mut self, width: u32) {
            self.fixed(END_BLOCK, width);
            self.align();
        }
    }

    #[test]
    fn records_of_every_encoding() {
        let mut writer = Writer::new();
        writer.enter(2, 8, 3, 0);
        // Abbreviation 4: code 7, a literal 5, fixed 4, vbr 6, array of char6.
        writer.fixed(DEFINE_ABBREVIATION, 3);
        writer.vbr(6, 5);
        for literal in [7, 5] {
            writer.fixed(1, 1);
            writer.vbr(literal, 8);
        }
        for (encoding, width) in [(1, Some(4)), (2, Some(6)), (3, None), (4, None)] {
            writer.fixed(0, 1);
            writer.fixed(encoding, 3);
            if let Some(width) = width {
                writer.vbr(width, 5);
            }
        }
        writer.fixed(4, 3);
        writer.fixed(9, 4);
        writer.vbr(1000, 6);
        writer.vbr(3, 6);
        for character in [0, 27, 63] {
            writer.fixed(character, 6);
        }
        // The same without an abbreviation.
        writer.fixed(UNABBREVIATED_RECORD, 3);
        writer.vbr(7, 6);
        writer.vbr(2, 6);
        writer.vbr(u64::MAX, 6);
        writer.vbr(1, 6);
        writer.end(3);

        let mut reader = Reader::new(&writer.bytes).unwrap();
        let mut record = Record::default();
        assert_eq!(reader.next(&mut record).unwrap(), Entry::Block(8));
        reader.enter().unwrap();
        assert_eq!(reader.next(&mut record).unwrap(), Entry::Record);
        assert_eq!(record.code, 7);
        assert_eq!(record.operands, [5, 9, 1000, u64::from(b'a'), u64::from(b'B'), u64::from(b'_')]);
        assert_eq!(record.text(3), "aB_");
        assert_eq!(reader.next(&mut record).unwrap(), Entry::Record);
        assert_eq!(record.operands, [u64::MAX, 1]);
        assert!(record.index(0).is_err());
        assert!(record.operand(2).is_err());
        assert_eq!(reader.next(&mut record).unwrap(), Entry::End);
    }

    #[test]
    fn block_info_gives_abbreviations_to_blocks() {
        let mut writer = Writer::new();
        writer.enter(2, 0, 2, 2);
        writer.fixed(UNABBREVIATED_RECORD, 2);
        writer.vbr(u64::from(SET_BLOCK_ID), 6);
        writer.vbr(1, 6);
        writer.vbr(17, 6);
        writer.fixed(DEFINE_ABBREVIATION, 2);
        writer.vbr(1, 5);
        writer.fixed(1, 1);
        writer.vbr(42, 8);
        writer.end(2);
        writer.enter(2, 17, 3, 1);
        writer.fixed(4, 3);
        writer.end(3);

        let mut reader = Reader::new(&writer.bytes).unwrap();
        let mut record = Record::default();
        assert_eq!(reader.next(&mut record).unwrap(), Entry::Block(17));
        reader.enter().unwrap();
        assert_eq!(reader.next(&mut record).unwrap(), Entry::Record);
        assert_eq!((record.code, record.operands.len()), (42, 0));
        assert_eq!(reader.next(&mut record).unwrap(), Entry::End);
    }

    #[test]
    fn counts_are_bounded_by_the_stream() {
        let mut writer = Writer::new();
        writer.enter(2, 8, 3, 0);
        writer.fixed(UNABBREVIATED_RECORD, 3);
        writer.vbr(1, 6);
        writer.vbr(1 << 40, 6);
        let mut reader = Reader::new(&writer.bytes).unwrap();
        let mut record = Record::default();
        assert_eq!(reader.next(&mut record).unwrap(), Entry::Block(8));
        reader.enter().unwrap();
        let error = reader.next(&mut record).unwrap_err();
        assert_eq!(error.what, "count exceeds the bitstream");
    }

    #[test]
    fn nesting_is_bounded() {
        let mut writer = Writer::new();
        writer.enter(2, 8, 2, 0);
        for _ in 0..1000 {
            writer.enter(2, 8, 2, 0);
        }
        let mut reader = Reader::new(&writer.bytes).unwrap();
        let mut record = Record::default();
        let error = loop {
            match reader.next(&mut record).and_then(|_| reader.enter()) {
                Ok(()) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(error.what, "blocks are nested too deep");
    }

    #[test]
    fn blocks_are_skipped_by_their_length() {
        let mut writer = Writer::new();
        writer.enter(2, 9, 3, 2);
        writer.fixed(u64::MAX, 64);
        writer.enter(2, 10, 3, 1);
        writer.end(3);
        let mut reader = Reader::new(&writer.bytes).unwrap();
        let mut record = Record::default();
        assert_eq!(reader.next(&mut record).unwrap(), Entry::Block(9));
        assert_eq!(reader.next(&mut record).unwrap(), Entry::Block(10));
        reader.enter().unwrap();
        assert_eq!(reader.next(&mut record).unwrap(), Entry::End);
        assert!(Reader::new(b"BC").is_err());
        assert!(Reader::new(b"ABCDEFGH").is_err());
    }
}
