//! `VERS`: the compiler.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Part;
use crate::Result;

/// The `VERS` part (`DxilCompilerVersion` of DirectXShaderCompiler): two 16-bit and three 32-bit words, then the texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerVersion<'a> {
    /// Major version.
    pub major: u16,
    /// Minor version.
    pub minor: u16,
    /// `DxcVersionInfoFlags`: 1 a debug build, 2 an internal validator.
    pub flags: u32,
    /// Number of commits.
    pub commit_count: u32,
    /// Hash of the commit.
    pub commit: Cow<'a, str>,
    /// Version as its vendor says it.
    pub custom: Cow<'a, str>,
}

impl<'a> CompilerVersion<'a> {
    /// Reads the part.
    ///
    /// # Errors
    /// The texts pass the end of the part.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let texts = part.bytes_at(16, part.size_at(12)?)?;
        let mut texts = texts.split(|&byte| byte == 0).map(String::from_utf8_lossy);
        Ok(Self {
            major: part.u16_at(0)?,
            minor: part.u16_at(2)?,
            flags: part.u32_at(4)?,
            commit_count: part.u32_at(8)?,
            commit: texts.next().unwrap_or_default(),
            custom: texts.next().unwrap_or_default(),
        })
    }
}
