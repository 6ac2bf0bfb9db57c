//! Tables, strings and arrays of `RDAT`, and how records refer to them.

use std::{borrow::Cow, cell::Cell, collections::BTreeMap};

use super::TableKind;
use crate::{
    Result,
    container::{HexBytes, Part},
};

/// A reference to nothing.
const NONE: u32 = u32::MAX;

/// What the tables of a part hold. Records refer to strings, arrays and other records by offset or number.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub part: Part<'a>,
    pub version: u32,
    tables: BTreeMap<TableKind, Table>,
    /// In file order.
    pub kinds: Vec<(TableKind, usize)>,
    strings: &'a [u8],
    indices: &'a [[u8; 4]],
    bytes: &'a [u8],
    /// Many records may refer to one text or array, so that a small part can describe a lot: this is what may still be
    /// read.
    budget: Cell<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Table {
    offset: usize,
    count: usize,
    stride: usize,
}

/// A record of a table, or a structure within one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'r, 'a> {
    reader: &'r Reader<'a>,
    offset: usize,
    len: usize,
}

impl<'a> Reader<'a> {
    pub fn new(part: Part<'a>) -> Result<Self> {
        let mut reader = Self {
            part,
            version: part.u32_at(0)?,
            tables: BTreeMap::new(),
            kinds: Vec::new(),
            strings: &[],
            indices: &[],
            bytes: &[],
            budget: Cell::new(part.data.len().saturating_mul(64)),
        };
        match reader.version {
            0x10 => reader.read_tables()?,
            // Before the first version the number of tables came first.
            count @ 0..0x10 => reader.read_prerelease(count as usize)?,
            other => return Err(part.malformed(0, format!("unknown version of runtime data: {other:#x}"))),
        }
        Ok(reader)
    }

    /// The tables of a prerelease: kind, length and offset of each, in another numbering, and records without a header.
    fn read_prerelease(&mut self, count: usize) -> Result<()> {
        let part = self.part;
        self.version = 0;
        for entry in part.records(4, count, 12)? {
            let (len, offset) = (part.size_at(entry + 4)?, part.size_at(entry + 8)?);
            let data = part.bytes_at(offset, len)?;
            let (kind, stride) = match part.u32_at(entry)? {
                1 => (TableKind::STRING_BUFFER, 1),
                2 => (TableKind::FUNCTION, 44),
                3 => (TableKind::RESOURCE, 32),
                4 => (TableKind::INDEX_ARRAYS, 1),
                other => return Err(part.malformed(entry, format!("unknown table of runtime data: {other}"))),
            };
            match kind {
                TableKind::STRING_BUFFER => self.strings = data,
                TableKind::INDEX_ARRAYS => self.indices = data.as_chunks::<4>().0,
                _ => {
                    self.tables.insert(kind, Table { offset, count: len / stride, stride });
                }
            }
            self.kinds.push((kind, len / stride));
        }
        Ok(())
    }

    fn read_tables(&mut self) -> Result<()> {
        let part = self.part;
        for entry in part.records(8, part.size_at(4)?, 4)? {
            let offset = part.size_at(entry)?;
            let (kind, len) = (TableKind(part.u32_at(offset)?), part.size_at(offset.saturating_add(4))?);
            let data = part.bytes_at(offset + 8, len)?;
            match kind {
                TableKind::STRING_BUFFER => self.strings = data,
                TableKind::INDEX_ARRAYS => self.indices = data.as_chunks::<4>().0,
                TableKind::RAW_BYTES => self.bytes = data,
                _ if kind.name().is_some() => {
                    let table = Table {
                        count: part.size_at(offset + 8)?,
                        stride: part.size_at(offset + 12)?,
                        offset: offset + 16,
                    };
                    let fits = table.count.checked_mul(table.stride).is_some_and(|size| size + 8 <= len);
                    if !fits {
                        let what = format!("a table is longer than its part: {} records", table.count);
                        return Err(part.malformed(offset + 8, what));
                    }
                    self.kinds.push((kind, table.count));
                    self.tables.insert(kind, table);
                    continue;
                }
                _ => {}
            }
            self.kinds.push((kind, len));
        }
        Ok(())
    }

    /// All records of a table.
    pub fn records(&self, kind: TableKind) -> impl Iterator<Item = Record<'_, 'a>> {
        let table = self.tables.get(&kind).copied();
        // A table of nothing has nothing that bounds its count.
        let count = table.filter(|table| table.stride > 0).map_or(0, |table| table.count);
        (0..count).filter_map(move |index| self.row(table?, index))
    }

    fn row(&self, table: Table, index: usize) -> Option<Record<'_, 'a>> {
        let offset = table.offset + index * table.stride;
        (index < table.count).then_some(Record { reader: self, offset, len: table.stride })
    }

    fn spend(&self, cost: usize, offset: usize) -> Result<()> {
        let left = self.budget.get().checked_sub(cost + 1);
        left.map(|left| self.budget.set(left)).ok_or_else(|| self.part.malformed(offset, "records share too much"))
    }

    fn record(&self, kind: TableKind, index: u32, from: usize) -> Result<Option<Record<'_, 'a>>> {
        if index == NONE {
            return Ok(None);
        }
        let row = self.tables.get(&kind).and_then(|&table| self.row(table, index as usize));
        let wrong = || self.part.malformed(from, format!("there is no record of that number in {kind}: {index}"));
        row.map(Some).ok_or_else(wrong)
    }

    fn array(&self, row: u32, from: usize) -> Result<Vec<u32>> {
        if row == NONE {
            return Ok(Vec::new());
        }
        let values = self.indices.get(row as usize..).and_then(|rest| {
            let (count, rest) = rest.split_first()?;
            rest.get(..u32::from_le_bytes(*count) as usize)
        });
        let values = values
            .ok_or_else(|| self.part.malformed(from, format!("an array passes the end of the index arrays: {row}")))?;
        self.spend(values.len(), from)?;
        Ok(values.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect())
    }

    fn text(&self, offset: u32, from: usize) -> Result<Cow<'a, str>> {
        if offset == NONE {
            return Ok("".into());
        }
        let text = self.strings.get(offset as usize..).and_then(|rest| {
            let len = rest.iter().position(|&byte| byte == 0)?;
            rest.get(..len)
        });
        let text =
            text.ok_or_else(|| self.part.malformed(from, format!("a text is not in the string buffer: {offset}")))?;
        self.spend(text.len(), from)?;
        Ok(String::from_utf8_lossy(text))
    }
}

/// Fields by their byte offset in the record. Records grew with the format: a field past the end of one is 0 or nothing.
impl<'r, 'a> Record<'r, 'a> {
    /// A record of `len` bytes has its fields up to there.
    pub fn has(&self, len: usize) -> bool {
        self.len >= len
    }

    /// The part has a table of that kind.
    pub fn has_table(&self, kind: TableKind) -> bool {
        self.reader.tables.contains_key(&kind)
    }

    /// A structure within the record.
    pub fn inner(&self, field: usize) -> Self {
        let field = field.min(self.len);
        Self { offset: self.offset + field, len: self.len - field, ..*self }
    }

    fn within<T: Default>(
        &self,
        field: usize,
        len: usize,
        read: impl FnOnce(&Part<'a>, usize) -> Result<T>,
    ) -> Result<T> {
        if self.has(field + len) { read(&self.reader.part, self.offset + field) } else { Ok(T::default()) }
    }

    pub fn u8(&self, field: usize) -> Result<u8> {
        self.within(field, 1, Part::u8_at)
    }

    pub fn u16(&self, field: usize) -> Result<u16> {
        self.within(field, 2, Part::u16_at)
    }

    pub fn u32(&self, field: usize) -> Result<u32> {
        self.within(field, 4, Part::u32_at)
    }

    /// A reference: to nothing if the record does not have it.
    fn reference(&self, field: usize) -> Result<u32> {
        if self.has(field + 4) { self.u32(field) } else { Ok(NONE) }
    }

    pub fn text(&self, field: usize) -> Result<Cow<'a, str>> {
        self.reader.text(self.reference(field)?, self.offset + field)
    }

    pub fn array(&self, field: usize) -> Result<Vec<u32>> {
        self.reader.array(self.reference(field)?, self.offset + field)
    }

    pub fn texts(&self, field: usize) -> Result<Vec<Cow<'a, str>>> {
        let texts = self.array(field)?.into_iter().map(|offset| self.reader.text(offset, self.offset + field));
        texts.collect()
    }

    pub fn bytes(&self, field: usize) -> Result<HexBytes<'a>> {
        let (start, len) = (self.u32(field)? as usize, self.u32(field + 4)? as usize);
        if len == 0 {
            return Ok(HexBytes::default());
        }
        let bytes = start.checked_add(len).and_then(|end| self.reader.bytes.get(start..end));
        let wrong =
            || self.reader.part.malformed(self.offset + field, format!("bytes pass the end of the raw bytes: {len}"));
        bytes.map(HexBytes::from).ok_or_else(wrong)
    }

    /// The record of another table that the field names.
    pub fn record(&self, kind: TableKind, field: usize) -> Result<Option<Self>> {
        self.reader.record(kind, self.reference(field)?, self.offset + field)
    }

    /// The records of another table that the field's array names, each read by `read`.
    pub fn records<T>(&self, kind: TableKind, field: usize, read: impl Fn(Self) -> Result<T>) -> Result<Vec<T>> {
        let from = self.offset + field;
        let read = |index| {
            let record = self.reader.record(kind, index, from)?;
            read(record.ok_or_else(|| self.reader.part.malformed(from, "an array of records names none"))?)
        };
        self.array(field)?.into_iter().map(read).collect()
    }
}
