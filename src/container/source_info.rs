//! `SRCI`: sources, their names, and the compiler's arguments, in PDB files of dxc.

use std::{borrow::Cow, io::Read};

use serde::{Deserialize, Serialize};

use super::Part;
use crate::Result;

/// The `SRCI` part (`DxilSourceInfo` of DirectXShaderCompiler): sections of names, contents and arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceInfo<'a> {
    /// The source files: that with the entry point first, then those that it includes.
    pub sources: Vec<Source<'a>>,
    /// The compiler's arguments: names and values, either of which may be empty.
    pub arguments: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// A source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source<'a> {
    /// Its name, as the compiler was given it.
    pub name: Cow<'a, str>,
    /// Its text, if the part has it.
    pub contents: Option<Cow<'a, str>>,
}

/// How many times its size compressed data may grow: zlib's format does not reach 1032.
const MAX_GROWTH: usize = 1100;

/// Decompresses zlib data that is said to have some length.
///
/// # Errors
/// It is not zlib data, or has another length.
pub(super) fn inflate(part: &Part<'_>, offset: usize, compressed: &[u8], len: usize) -> Result<Vec<u8>> {
    if len / MAX_GROWTH > compressed.len() {
        return Err(part.malformed(offset, format!("compressed data cannot become so long: {len} bytes")));
    }
    let mut data = Vec::with_capacity(len);
    let read = flate2::read::ZlibDecoder::new(compressed).take(len as u64 + 1).read_to_end(&mut data);
    match read {
        Ok(read) if read == len => Ok(data),
        Ok(read) => Err(part.malformed(offset, format!("compressed data is not as long as it says: {read} of {len}"))),
        Err(error) => Err(part.malformed(offset, format!("compressed data is damaged: {error}"))),
    }
}

impl<'a> SourceInfo<'a> {
    /// Reads the part.
    ///
    /// # Errors
    /// A section or an entry passes its end, or compressed contents are damaged.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let (mut names, mut contents, mut arguments) = (Vec::new(), Vec::new(), Vec::new());
        let mut offset = 8;
        for _ in 0..part.u16_at(6)? {
            let len = part.size_at(offset)?;
            if len < 8 {
                return Err(part.malformed(offset, format!("a section is too short: {len} bytes")));
            }
            let section = Part { data: &part.data[..offset + part.bytes_at(offset, len)?.len()], ..part };
            let start = offset + 8;
            match part.u16_at(offset + 6)? {
                0 => contents = read_contents(&section, start)?,
                1 => names = read_names(&section, start)?,
                2 => arguments = read_arguments(&section, start)?,
                // Sections say how long they are so that others can be skipped.
                _ => {}
            }
            offset += len;
        }
        let mut contents = contents.into_iter();
        let mut sources = names.into_iter().map(|name| Source { name, contents: contents.next() }).collect::<Vec<_>>();
        sources.extend(contents.map(|text| Source { name: "".into(), contents: Some(text) }));
        Ok(Self { sources, arguments })
    }
}

/// Entries that begin with their length: where each begins.
fn entries(part: &Part<'_>, mut offset: usize, count: usize, least: usize) -> Result<Vec<usize>> {
    part.check_records(offset, count, least)?;
    let mut offsets = Vec::with_capacity(count);
    for _ in 0..count {
        let len = part.size_at(offset)?;
        if len < least {
            return Err(part.malformed(offset, format!("an entry is too short: {len} bytes")));
        }
        part.bytes_at(offset, len)?;
        offsets.push(offset);
        offset += len;
    }
    Ok(offsets)
}

/// Text that is stored with its terminating zero.
fn terminated(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.strip_suffix(&[0]).unwrap_or(bytes))
}

fn read_names<'a>(part: &Part<'a>, start: usize) -> Result<Vec<Cow<'a, str>>> {
    // Two words, and a 16-bit length of the entries, which overflows, and is padded to 32 bits.
    let name = |offset: usize| Ok(terminated(part.bytes_at(offset + 16, part.size_at(offset + 8)?)?));
    let first = start + 10;
    entries(part, first, part.size_at(start + 4)?, 16)?.into_iter().map(name).collect()
}

fn read_contents<'a>(part: &Part<'a>, start: usize) -> Result<Vec<Cow<'a, str>>> {
    let compression = part.u16_at(start + 6)?;
    let stored = part.bytes_at(start + 20, part.size_at(start + 8)?)?;
    let (len, count) = (part.size_at(start + 12)?, part.size_at(start + 16)?);
    let text = |part: &Part<'_>, offset: usize| -> Result<(usize, usize)> {
        let len = part.size_at(offset + 8)?;
        part.bytes_at(offset + 12, len)?;
        Ok((offset + 12, len))
    };
    match compression {
        0 => {
            let stored = Part { data: stored, ..*part };
            let texts = entries(&stored, 0, count, 12)?.into_iter().map(|offset| {
                let (offset, len) = text(&stored, offset)?;
                Ok(terminated(&stored.data[offset..offset + len]))
            });
            texts.collect()
        }
        1 => {
            let data = inflate(part, start + 20, stored, len)?;
            let inner = Part { data: &data, ..*part };
            let texts = entries(&inner, 0, count, 12)?.into_iter().map(|offset| {
                let (offset, len) = text(&inner, offset)?;
                Ok(Cow::Owned(terminated(&data[offset..offset + len]).into_owned()))
            });
            texts.collect()
        }
        other => Err(part.malformed(start + 6, format!("unknown compression of sources: {other}"))),
    }
}

type Argument<'a> = (Cow<'a, str>, Cow<'a, str>);

fn read_arguments<'a>(part: &Part<'a>, start: usize) -> Result<Vec<Argument<'a>>> {
    let bytes = part.bytes_at(start + 12, part.size_at(start + 4)?)?;
    let count = part.size_at(start + 8)?;
    let mut texts = bytes.split(|&byte| byte == 0).map(String::from_utf8_lossy);
    let mut arguments = Vec::new();
    for _ in 0..count {
        match (texts.next(), texts.next()) {
            (Some(name), Some(value)) => arguments.push((name, value)),
            _ => return Err(part.malformed(start + 8, format!("there are fewer arguments than it says: {count}"))),
        }
    }
    Ok(arguments)
}
