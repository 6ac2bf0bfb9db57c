//! What identifies a program: `HASH` and `ILDN`.

use std::borrow::Cow;

use super::{Container, FourCc};
use crate::Result;

/// The `HASH` part (`DxilShaderHash` of DirectXShaderCompiler).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaderHash {
    /// It is the hash of the sources too, not of the bitcode alone (`-Zss`).
    pub includes_source: bool,
    /// An MD5 digest.
    pub digest: [u8; 16],
}

/// The hash of a DXIL program, if the container has one.
///
/// # Errors
/// The part is shorter than its 20 bytes.
pub fn shader_hash(container: &Container<'_>) -> Result<Option<ShaderHash>> {
    let Some(part) = container.part(FourCc::HASH) else { return Ok(None) };
    let mut digest = [0; 16];
    digest.copy_from_slice(part.bytes_at(4, 16)?);
    Ok(Some(ShaderHash { includes_source: part.u32_at(0)? & 1 != 0, digest }))
}

/// Name of the file with the debug information, if the container has one (`DxilShaderDebugName`: two 16-bit words, flags
/// and length of the name, then the name).
///
/// # Errors
/// The name passes the end of the part.
pub fn debug_name<'a>(container: &Container<'a>) -> Result<Option<Cow<'a, str>>> {
    let Some(part) = container.part(FourCc::ILDN) else { return Ok(None) };
    let name = part.bytes_at(4, part.u16_at(2)?.into())?;
    Ok(Some(String::from_utf8_lossy(name)))
}
