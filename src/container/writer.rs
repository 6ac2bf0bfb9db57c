//! Writing containers: from parts, or from a container with parts set, added and removed.

use std::borrow::Cow;

use super::{Container, DigestState, FourCc, Part, digest, digest::FIRST_BYTE, file::HEADER_LEN};
use crate::{Error, Result};

/// Parts to be written as a container.
///
/// Compilers lay parts out one after the other in the order of the table, and pad the contents of each to whole 32-bit
/// words themselves; `PRIV` may have any size and is the last. A part that is set or added here keeps the bytes that it is
/// given, and begins at a multiple of four: where the part before it has an odd size, zeros are put between them.
///
/// A writer that was made [from a container](ContainerWriter::from_container) remembers what lay between its parts and
/// after them, and in which order they lay. As long as nothing is changed, [`ContainerWriter::write`] gives the very bytes
/// that were read, whatever gaps, unaligned parts and trailing bytes they have. Only parts that share bytes with others
/// are taken apart.
///
/// ```
/// # fn main() -> bevy_dxshader::Result<()> {
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/reflection/depth.dxbc"));
/// use bevy_dxshader::container::{Container, ContainerWriter, DigestState, FourCc};
///
/// let container = Container::parse(bytes)?;
/// let mut writer = ContainerWriter::from_container(&container);
/// assert_eq!(writer.write()?, bytes);
///
/// writer.remove(FourCc::RDEF);
/// writer.set(FourCc::PRIV, b"ours");
/// let written = writer.write()?;
/// let written = Container::parse(&written)?;
/// assert!(written.part(FourCc::RDEF).is_none());
/// assert_eq!(written.digest_state(), DigestState::Ok);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ContainerWriter<'a> {
    version: (u16, u16),
    digest: DigestRule,
    /// In the order of the part table.
    parts: Vec<Placed<'a>>,
    /// Between the last part and the end of the container.
    end_gap: &'a [u8],
    /// After the container.
    trailing: Cow<'a, [u8]>,
}

/// What to write as digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DigestRule {
    /// That of the contents.
    #[default]
    Compute,
    /// These bytes, such as a [mark](DigestState) in its place.
    Store([u8; 16]),
}

#[derive(Clone, Debug)]
struct Placed<'a> {
    name: FourCc,
    data: Cow<'a, [u8]>,
    gap: Gap<'a>,
    /// Parts lie in the file in the order of this number, those with the same in the order of the table.
    rank: usize,
}

/// What lies before a part's header.
#[derive(Clone, Copy, Debug)]
enum Gap<'a> {
    /// Zeros up to a multiple of four.
    Align,
    /// These bytes, mostly none.
    Bytes(&'a [u8]),
}

impl Default for ContainerWriter<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> ContainerWriter<'a> {
    /// A container of format version 1.0 without parts, to be signed.
    pub fn new() -> Self {
        Self {
            version: (1, 0),
            digest: DigestRule::Compute,
            parts: Vec::new(),
            end_gap: &[],
            trailing: Cow::Borrowed(&[]),
        }
    }

    /// The parts of a container, and the way it lays them out.
    ///
    /// A digest that is right is computed again; zeros and marks are kept. One that is stale is kept until a part changes.
    pub fn from_container(container: &Container<'a>) -> Self {
        let mut parts = container
            .parts()
            .map(|Part { name, data, .. }| Placed { name, data: Cow::Borrowed(data), gap: Gap::Bytes(&[]), rank: 0 })
            .collect::<Vec<_>>();
        let mut order = container.parts().map(|part| part.offset).enumerate().collect::<Vec<_>>();
        order.sort_by_key(|&(_, offset)| offset);
        let bytes = container.bytes();
        let mut end = HEADER_LEN + 4 * parts.len();
        for (rank, (index, offset)) in order.into_iter().enumerate() {
            let part = &mut parts[index];
            part.rank = rank;
            // A part that begins before the end of the one before it shares its bytes: it gets its own, without a gap.
            if let Some(gap) = bytes.get(end..offset - 8) {
                let aligned = gap.len() == padding(end) && gap.iter().all(|&byte| byte == 0);
                part.gap = if aligned { Gap::Align } else { Gap::Bytes(gap) };
            }
            end = end.max(offset + part.data.len());
        }
        let digest = match container.digest_state() {
            DigestState::Ok => DigestRule::Compute,
            _ => DigestRule::Store(container.digest()),
        };
        Self {
            version: container.version(),
            digest,
            parts,
            end_gap: bytes.get(end..).unwrap_or_default(),
            trailing: Cow::Borrowed(container.trailing()),
        }
    }

    /// The parts, in the order of the part table.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (FourCc, &[u8])> {
        self.parts.iter().map(|part| (part.name, &part.data[..]))
    }

    /// Replaces the contents of the first part of that name, which stays where it is, or adds the part. `PRIV` becomes the
    /// last part.
    pub fn set(&mut self, name: FourCc, data: impl Into<Cow<'a, [u8]>>) -> &mut Self {
        let last = self.parts.len().saturating_sub(1);
        match self.parts.iter_mut().position(|part| part.name == name) {
            Some(index) if name == FourCc::PRIV && index < last => {
                self.parts.remove(index);
                self.push(name, data)
            }
            Some(index) => {
                let part = &mut self.parts[index];
                part.data = data.into();
                part.gap = Gap::Align;
                self.changed();
                self
            }
            None => self.push(name, data),
        }
    }

    /// Adds a part after the others, but before `PRIV`, whether or not there is one of its name.
    pub fn push(&mut self, name: FourCc, data: impl Into<Cow<'a, [u8]>>) -> &mut Self {
        let private = match self.parts.last() {
            Some(part) if part.name == FourCc::PRIV && name != FourCc::PRIV => 1,
            _ => 0,
        };
        let index = self.parts.len() - private;
        // It lies where its entry of the table says: after all that come before it there.
        let rank = self.parts[..index].iter().map(|part| part.rank + 1).max().unwrap_or(0);
        for later in &mut self.parts[index..] {
            later.rank = later.rank.max(rank) + 1;
        }
        self.parts.insert(index, Placed { name, data: data.into(), gap: Gap::Align, rank });
        self.changed();
        self
    }

    /// Removes all parts of that name, and says how many there were.
    pub fn remove(&mut self, name: FourCc) -> usize {
        let before = self.parts.len();
        self.parts.retain(|part| part.name != name);
        let removed = before - self.parts.len();
        if removed > 0 {
            self.changed();
        }
        removed
    }

    /// Sets what to write as digest.
    pub fn digest(&mut self, rule: DigestRule) -> &mut Self {
        self.digest = rule;
        self
    }

    /// Sets what follows the container.
    pub fn trailing(&mut self, bytes: impl Into<Cow<'a, [u8]>>) -> &mut Self {
        self.trailing = bytes.into();
        self
    }

    /// The bytes of the container, and what follows it.
    ///
    /// # Errors
    /// A size or an offset does not fit 32 bits.
    pub fn write(&self) -> Result<Vec<u8>> {
        let mut order = (0..self.parts.len()).collect::<Vec<_>>();
        order.sort_by_key(|&index| self.parts[index].rank);
        let table = HEADER_LEN + 4 * self.parts.len();
        let parts = self.parts.iter().map(|part| part.data.len() + 16).sum::<usize>();
        let mut bytes = Vec::with_capacity(table + parts + self.end_gap.len() + self.trailing.len());
        bytes.extend(FourCc::DXBC.0);
        bytes.resize(FIRST_BYTE, 0);
        bytes.extend(self.version.0.to_le_bytes());
        bytes.extend(self.version.1.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(word(self.parts.len())?);
        bytes.resize(table, 0);
        for index in order {
            let part = &self.parts[index];
            match part.gap {
                Gap::Align => bytes.resize(bytes.len() + padding(bytes.len()), 0),
                Gap::Bytes(gap) => bytes.extend(gap),
            }
            let entry = HEADER_LEN + 4 * index;
            let offset = word(bytes.len())?;
            bytes[entry..entry + 4].copy_from_slice(&offset);
            bytes.extend(part.name.0);
            bytes.extend(word(part.data.len()).map_err(|error| error.in_part(part.name))?);
            bytes.extend(&part.data[..]);
        }
        bytes.extend(self.end_gap);
        let size = word(bytes.len())?;
        bytes[24..28].copy_from_slice(&size);
        let digest = match self.digest {
            DigestRule::Compute => digest(&bytes[FIRST_BYTE..]),
            DigestRule::Store(stored) => stored,
        };
        bytes[4..FIRST_BYTE].copy_from_slice(&digest);
        bytes.extend(&self.trailing[..]);
        Ok(bytes)
    }

    /// A part is no longer what it was: a digest that meant nothing before is made right; a mark stays one.
    fn changed(&mut self) {
        if let DigestRule::Store(stored) = self.digest
            && !DigestState::is_mark(stored)
        {
            self.digest = DigestRule::Compute;
        }
    }
}

/// Bytes from an offset to the next multiple of four.
fn padding(offset: usize) -> usize {
    offset.wrapping_neg() % 4
}

fn word(value: usize) -> Result<[u8; 4]> {
    u32::try_from(value)
        .map(u32::to_le_bytes)
        .map_err(|_| Error::unsupported(format!("a container of 4 GiB or more: {value} bytes")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DEPTH: &[u8] = include_bytes!("../../tests/fixtures/reflection/depth.dxbc");

    fn names(bytes: &[u8]) -> Vec<String> {
        Container::parse(bytes).unwrap().parts().map(|part| part.name.to_string()).collect()
    }

    #[test]
    fn unchanged_is_identical_and_changes_are_signed() {
        let container = Container::parse(DEPTH).unwrap();
        let mut writer = ContainerWriter::from_container(&container);
        assert_eq!(writer.write().unwrap(), DEPTH);
        writer.set(FourCc::PRIV, b"12345").set(FourCc::STAT, b"odd").push(FourCc::HASH, b"");
        let written = writer.write().unwrap();
        assert_eq!(names(&written)[names(&written).len() - 2..], ["HASH", "PRIV"]);
        let read = Container::parse(&written).unwrap();
        assert_eq!(read.digest_state(), DigestState::Ok);
        assert_eq!(read.part(FourCc::STAT).unwrap().data, b"odd");
        assert!(read.parts().all(|part| part.offset % 4 == 0), "what follows an odd part is aligned");
        assert_eq!(writer.remove(FourCc::PRIV), 1);
        assert_eq!(writer.remove(FourCc::PRIV), 0);
    }

    #[test]
    fn marks_stay_and_stale_digests_do_not() {
        for (stored, state) in
            [([0; 16], DigestState::Zero), ([1; 16], DigestState::Bypass), ([2; 16], DigestState::Preview)]
        {
            let mut bytes = DEPTH.to_vec();
            bytes[4..20].copy_from_slice(&stored);
            let mut writer = ContainerWriter::from_container(&Container::parse(&bytes).unwrap());
            assert_eq!(writer.write().unwrap(), bytes);
            let written = writer.set(FourCc::PRIV, b"x").write().unwrap();
            assert_eq!(Container::parse(&written).unwrap().digest_state(), state);
        }
        let mut bytes = DEPTH.to_vec();
        bytes[4] ^= 1;
        let mut writer = ContainerWriter::from_container(&Container::parse(&bytes).unwrap());
        assert_eq!(writer.write().unwrap(), bytes);
        let written = writer.set(FourCc::PRIV, b"x").write().unwrap();
        assert_eq!(Container::parse(&written).unwrap().digest_state(), DigestState::Ok);
    }

    /// A container as no compiler lays it out: parts out of order, gaps with and without zeros, bytes after them.
    #[test]
    fn odd_layouts_are_kept() {
        let mut bytes = b"DXBC".to_vec();
        bytes.extend([7; 16]);
        bytes.extend([2, 0, 3, 0]);
        bytes.extend(81u32.to_le_bytes());
        bytes.extend(3u32.to_le_bytes());
        for offset in [56u32, 44, 68] {
            bytes.extend(offset.to_le_bytes());
        }
        bytes.extend(b"BBBB\x02\0\0\0bb\0\0");
        bytes.extend(b"AAAA\x01\0\0\0agap");
        bytes.extend(b"PRIV\x03\0\0\0prien");
        bytes.extend(b"trailing");
        let container = Container::parse(&bytes).unwrap();
        let mut writer = ContainerWriter::from_container(&container);
        assert_eq!(writer.write().unwrap(), bytes);
        writer.push(FourCc(*b"CCCC"), b"c");
        let written = writer.write().unwrap();
        assert_eq!(names(&written), ["AAAA", "BBBB", "CCCC", "PRIV"]);
        assert_eq!(Container::parse(&written).unwrap().trailing(), b"trailing");
    }

    fn arbitrary_parts() -> impl Strategy<Value = Vec<([u8; 4], Vec<u8>)>> {
        let name = prop_oneof![any::<[u8; 4]>(), Just(*b"DXIL"), Just(*b"STAT")];
        prop::collection::vec((name, prop::collection::vec(any::<u8>(), 0..40)), 0..9)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(parts in arbitrary_parts(), private in prop::option::of(prop::collection::vec(any::<u8>(), 0..9))) {
            let mut writer = ContainerWriter::new();
            let mut expected = Vec::new();
            if let Some(private) = &private {
                writer.push(FourCc::PRIV, &private[..]);
            }
            for (name, data) in parts.iter().filter(|(name, _)| name != b"PRIV") {
                writer.push(FourCc(*name), &data[..]);
                expected.push((FourCc(*name), &data[..]));
            }
            expected.extend(private.as_deref().map(|data| (FourCc::PRIV, data)));
            let bytes = writer.write().unwrap();
            let container = Container::parse(&bytes).unwrap();
            let read = container.parts().map(|part| (part.name, part.data)).collect::<Vec<_>>();
            prop_assert_eq!(read, expected);
            prop_assert_eq!(container.digest_state(), DigestState::Ok);
            prop_assert!(container.parts().all(|part| part.offset % 4 == 0));
            prop_assert_eq!(ContainerWriter::from_container(&container).write().unwrap(), bytes);
        }

        /// Whatever parses: either the same bytes come back, or parts share bytes, and then the parts are the same.
        #[test]
        fn what_is_read_is_written(table in prop::collection::vec(0u32..120, 0..5), body in prop::collection::vec(0u8..12, 60..120)) {
            let mut bytes = b"DXBC".to_vec();
            bytes.extend([9; 16]);
            bytes.extend([1, 0, 0, 0]);
            bytes.extend(((HEADER_LEN + 4 * table.len() + body.len()) as u32).to_le_bytes());
            bytes.extend((table.len() as u32).to_le_bytes());
            bytes.extend(table.iter().flat_map(|offset| (offset + 32 + 4 * table.len() as u32).to_le_bytes()));
            bytes.extend(&body);
            // Sizes: mostly small numbers.
            for start in &table {
                let size = HEADER_LEN + 4 * table.len() + *start as usize + 5;
                if let Some(size) = bytes.get_mut(size..size + 3) {
                    size.fill(0);
                }
            }
            let Ok(container) = Container::parse(&bytes) else { return Ok(()) };
            let written = ContainerWriter::from_container(&container).write().unwrap();
            let mut spans = container.parts().map(|part| (part.offset - 8, part.offset + part.data.len())).collect::<Vec<_>>();
            spans.sort();
            if spans.windows(2).all(|pair| pair[0].1 <= pair[1].0) {
                prop_assert_eq!(&written, &bytes);
            }
            let read = Container::parse(&written).unwrap();
            let parts = |container: &Container<'_>| container.parts().map(|part| (part.name, part.data.to_vec())).collect::<Vec<_>>();
            prop_assert_eq!(parts(&read), parts(&container));
        }
    }
}
