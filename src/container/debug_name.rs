//! `ILDN`: name of the file with the debug information.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Container, FourCc, Part};
use crate::Result;

/// The `ILDN` part (`DxilShaderDebugName` of DirectXShaderCompiler): two 16-bit words, flags and length of the name, then
/// the name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DebugName<'a> {
    /// Reserved: 0.
    pub flags: u16,
    /// Name of the file, mostly the [hash](super::ShaderHash) in hexadecimal with the extension `pdb`.
    pub name: Cow<'a, str>,
}

impl<'a> DebugName<'a> {
    /// Reads the part.
    ///
    /// # Errors
    /// The name passes the end of the part.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let name = part.bytes_at(4, part.u16_at(2)?.into())?;
        Ok(Self { flags: part.u16_at(0)?, name: String::from_utf8_lossy(name) })
    }
}

/// Name of the file with the debug information, if the container has one.
///
/// # Errors
/// As for [`DebugName::parse`].
pub fn debug_name<'a>(container: &Container<'a>) -> Result<Option<Cow<'a, str>>> {
    Ok(container.part(FourCc::ILDN).map(DebugName::parse).transpose()?.map(|name| name.name))
}
