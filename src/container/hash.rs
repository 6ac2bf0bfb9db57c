//! `HASH`: what identifies a DXIL program.

use serde::{Deserialize, Serialize};

use super::{Bitcode, Container, FourCc, Part, digest::md5, enumeration::hex};
use crate::Result;

/// The `HASH` part (`DxilShaderHash` of DirectXShaderCompiler): a 32-bit word of flags, then 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShaderHash {
    /// It is the hash of the bitcode with its debug information, and so of the sources too (`-Zss`), not that of the
    /// stripped bitcode.
    pub includes_source: bool,
    /// An MD5 digest.
    #[serde(with = "hex")]
    pub digest: [u8; 16],
}

/// How a program's stored hash relates to its bitcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HashState {
    /// It is that of the bitcode.
    Ok,
    /// It is not: the bitcode was changed, or signed by another rule (games' own tools do that).
    Stale,
    /// What it is the hash of is not in the container.
    Unknown,
}

impl HashState {
    /// A word for people and tools.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Stale => "stale",
            Self::Unknown => "unknown",
        }
    }
}

impl ShaderHash {
    /// Reads the part.
    ///
    /// # Errors
    /// The part is shorter than its 20 bytes.
    pub fn parse(part: Part<'_>) -> Result<Self> {
        let mut digest = [0; 16];
        digest.copy_from_slice(part.bytes_at(4, 16)?);
        Ok(Self { includes_source: part.u32_at(0)? & 1 != 0, digest })
    }

    /// The hash that a program has. A hash of the sources is that of its form with debug information.
    pub fn of(program: &Bitcode<'_>) -> Self {
        Self { includes_source: program.part.name == FourCc::ILDB, digest: md5(program.bytes) }
    }

    /// Relates the hash to the bitcode of its container.
    ///
    /// # Errors
    /// The header of the program contradicts the format.
    pub fn state(&self, container: &Container<'_>) -> Result<HashState> {
        let name = if self.includes_source { FourCc::ILDB } else { FourCc::DXIL };
        let Some(part) = container.part(name) else { return Ok(HashState::Unknown) };
        let actual = Self::of(&Bitcode::parse(part)?);
        Ok(if actual.digest == self.digest { HashState::Ok } else { HashState::Stale })
    }
}

/// The hash of a DXIL program, if the container has one.
///
/// # Errors
/// As for [`ShaderHash::parse`].
pub fn shader_hash(container: &Container<'_>) -> Result<Option<ShaderHash>> {
    container.part(FourCc::HASH).map(ShaderHash::parse).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_of_the_bitcode() {
        let mut bytes = include_bytes!("../../tests/fixtures/reflection/depth.dxil").to_vec();
        let state = |bytes: &[u8]| {
            let container = Container::parse(bytes).unwrap();
            shader_hash(&container).unwrap().unwrap().state(&container).unwrap()
        };
        assert_eq!(state(&bytes), HashState::Ok);
        let offset = Container::parse(&bytes).unwrap().part(FourCc::DXIL).unwrap().offset;
        bytes[offset + 40] ^= 1;
        assert_eq!(state(&bytes), HashState::Stale);
        bytes[offset - 8] = b'X';
        assert_eq!(state(&bytes), HashState::Unknown);
    }
}
