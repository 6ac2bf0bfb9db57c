//! The file itself: header and part table.

use super::{DigestState, FourCc, Part, digest};
use crate::{Error, ErrorKind, Result};

/// Bytes of the header: magic, digest, version, size, number of parts.
pub(super) const HEADER_LEN: usize = 32;

/// A container: a view of its bytes.
#[derive(Clone, Debug)]
pub struct Container<'a> {
    bytes: &'a [u8],
    trailing: &'a [u8],
    parts: Vec<Part<'a>>,
}

impl<'a> Container<'a> {
    /// The bytes begin like a container: enough to tell files apart by content, not that [`Container::parse`] succeeds.
    pub fn recognizes(bytes: &[u8]) -> bool {
        bytes.starts_with(&FourCc::DXBC.0)
    }

    /// Reads the header and the part table.
    ///
    /// Parts may lie anywhere, overlap and repeat. Bytes past the size that the header names are
    /// [kept apart](Container::trailing). The digest is not checked here: see [`Container::digest_state`].
    ///
    /// # Errors
    /// [`ErrorKind::NotAContainer`] if the magic is missing, [`ErrorKind::Malformed`] if the header or an entry of the
    /// table reaches past the bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        if !Self::recognizes(bytes) {
            let what = if bytes.is_empty() { "the file is empty" } else { "it does not begin with DXBC" };
            return Err(Error::new(ErrorKind::NotAContainer, what));
        }
        let u32_at = |offset: usize| {
            bytes.get(offset..offset + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)
        };
        let cut_short = |what: &str, wanted: usize| {
            Error::malformed(format!("{what} is cut short: {wanted} bytes wanted, the file has {}", bytes.len()))
        };
        let (Some(size), Some(count)) = (u32_at(24), u32_at(28)) else {
            return Err(cut_short("the header", HEADER_LEN).at_offset(0));
        };
        let (size, count) = (size as usize, count as usize);
        let Some((bytes, trailing)) = bytes.split_at_checked(size) else {
            return Err(cut_short("the container", size).at_offset(24));
        };
        // The length of the table bounds what is allocated for it.
        if size < HEADER_LEN || count > (size - HEADER_LEN) / 4 {
            return Err(Error::malformed(format!("the part table passes the end of the container: {count} parts"))
                .at_offset(28));
        }
        let mut parts = Vec::with_capacity(count);
        for entry in 0..count {
            let entry = HEADER_LEN + 4 * entry;
            let offset = u32_at(entry).unwrap_or_default() as usize;
            let header = offset.checked_add(8).and_then(|end| bytes.get(offset..end));
            let Some(&[a, b, c, d, s0, s1, s2, s3]) = header else {
                return Err(Error::malformed(format!("a part's header passes the end of the container: {offset:#x}"))
                    .at_offset(entry));
            };
            let name = FourCc([a, b, c, d]);
            let len = u32::from_le_bytes([s0, s1, s2, s3]) as usize;
            let start = offset + 8;
            let Some(data) = start.checked_add(len).and_then(|end| bytes.get(start..end)) else {
                return Err(Error::malformed(format!("the part passes the end of the container: {len} bytes"))
                    .in_part(name)
                    .at_offset(offset + 4));
            };
            parts.push(Part { name, offset: start, data });
        }
        Ok(Self { bytes, trailing, parts })
    }

    /// The bytes of the container, as many as its header says.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// What follows the container in the file: mostly nothing, or padding, or another container.
    pub fn trailing(&self) -> &'a [u8] {
        self.trailing
    }

    /// Version of the container's format, major and minor: always 1.0 so far.
    pub fn version(&self) -> (u16, u16) {
        let word = |at: usize| u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]);
        (word(20), word(22))
    }

    /// The digest as it is stored.
    pub fn digest(&self) -> [u8; 16] {
        let mut stored = [0; 16];
        stored.copy_from_slice(&self.bytes[4..20]);
        stored
    }

    /// Whether the stored digest is that of the contents. Nothing depends on it: compilers without their signer leave
    /// zeros, and tools that edit containers often leave the old one.
    pub fn digest_state(&self) -> DigestState {
        digest::state(self.digest(), &self.bytes[digest::FIRST_BYTE..])
    }

    /// The parts, in the order of the part table.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = Part<'a>> + Clone {
        self.parts.iter().copied()
    }

    /// The first part of that name.
    pub fn part(&self, name: FourCc) -> Option<Part<'a>> {
        self.parts().find(|part| part.name == name)
    }

    /// The first part that has one of these names, the earlier name first.
    pub fn first_part(&self, names: &[FourCc]) -> Option<Part<'a>> {
        names.iter().find_map(|&name| self.part(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A container of parts that lie one after the other, without padding.
    fn build(parts: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut table = Vec::new();
        let mut body = Vec::new();
        for (name, data) in parts {
            table.extend(((HEADER_LEN + 4 * parts.len() + body.len()) as u32).to_le_bytes());
            body.extend(*name);
            body.extend((data.len() as u32).to_le_bytes());
            body.extend(*data);
        }
        let mut bytes = b"DXBC".to_vec();
        bytes.extend([0; 16]);
        bytes.extend([1, 0, 0, 0]);
        bytes.extend(((HEADER_LEN + table.len() + body.len()) as u32).to_le_bytes());
        bytes.extend((parts.len() as u32).to_le_bytes());
        bytes.extend(table);
        bytes.extend(body);
        bytes
    }

    #[test]
    fn unaligned_empty_repeated_and_trailing() {
        let mut bytes = build(&[(b"ISGN", b"odd"), (b"STAT", b""), (b"ISGN", b"again"), (b"PRIV", b"12345")]);
        let size = bytes.len();
        bytes.extend(b"rest");
        let container = Container::parse(&bytes).unwrap();
        let parts = container.parts().map(|part| (part.name.to_string(), part.data)).collect::<Vec<_>>();
        let expected: [(String, &[u8]); 4] =
            [("ISGN".into(), b"odd"), ("STAT".into(), b""), ("ISGN".into(), b"again"), ("PRIV".into(), b"12345")];
        assert_eq!(parts, expected);
        assert_eq!(container.part(FourCc::ISGN).unwrap().data, b"odd");
        assert_eq!(container.bytes().len(), size);
        assert_eq!(container.trailing(), b"rest");
        assert_eq!(container.version(), (1, 0));
    }

    #[test]
    fn errors_name_their_place() {
        assert_eq!(Container::parse(b"").unwrap_err().kind, ErrorKind::NotAContainer);
        assert_eq!(Container::parse(b"float4 main()").unwrap_err().kind, ErrorKind::NotAContainer);

        let bytes = build(&[(b"SHEX", b"0123")]);
        for len in 4..bytes.len() {
            assert_eq!(Container::parse(&bytes[..len]).unwrap_err().kind, ErrorKind::Malformed, "{len} bytes");
        }
        let mut too_many = bytes.clone();
        too_many[28..32].fill(0xff);
        assert_eq!(Container::parse(&too_many).unwrap_err().place.offset, Some(28));
        let mut far_part = bytes.clone();
        far_part[32..36].fill(0xff);
        assert_eq!(Container::parse(&far_part).unwrap_err().place.offset, Some(32));
        let mut long_part = bytes.clone();
        long_part[40] = 5;
        let error = Container::parse(&long_part).unwrap_err();
        assert_eq!((error.place.part, error.place.offset), (Some(FourCc::SHEX), Some(40)));
        let mut small = bytes;
        small[24..28].copy_from_slice(&31u32.to_le_bytes());
        assert!(Container::parse(&small).is_err(), "a size that does not hold the header");
    }
}
