//! DirectX containers: header, digest, part table.

use std::fmt;

use crate::{Error, Result};

/// A container: a view of its bytes.
#[derive(Clone, Debug)]
pub struct Container<'a> {
    parts: Vec<Part<'a>>,
}

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

impl<'a> Container<'a> {
    /// Reads the header and the part table.
    ///
    /// # Errors
    /// The bytes are no container, or its header contradicts them.
    pub fn parse(_bytes: &'a [u8]) -> Result<Self> {
        Err(Error::unsupported("containers"))
    }

    /// The parts, in file order.
    pub fn parts(&self) -> impl Iterator<Item = Part<'a>> {
        self.parts.iter().copied()
    }

    /// The first part of that name.
    pub fn part(&self, name: FourCc) -> Option<Part<'a>> {
        self.parts().find(|part| part.name == name)
    }
}

/// Four characters that name a part, or the container itself (`DXBC`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FourCc(pub [u8; 4]);

/// The characters; those that are not printable ASCII as `\xNN`.
impl fmt::Display for FourCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.escape_ascii().fmt(f)
    }
}

impl fmt::Debug for FourCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FourCc({self})")
    }
}
