//! The program header of `DXIL`, `ILDB` and `STAT` parts, and the modules behind them.

use super::module::Module;
use crate::{
    Error, Result,
    container::{Container, FourCc, Part},
};

/// What precedes the bitcode in a part (`DxilProgramHeader` of DirectXShaderCompiler's `DxilContainer.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program<'a> {
    /// Stage, in the numbering of [`Stage`](crate::reflection::Stage).
    pub kind: u16,
    /// Shader Model.
    pub shader_model: (u8, u8),
    /// Version of DXIL.
    pub dxil_version: (u8, u8),
    /// LLVM bitcode.
    pub bitcode: &'a [u8],
    /// Byte offset of the bitcode in the part.
    pub offset: usize,
}

impl<'a> Program<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// The part is too short, or is no DXIL.
    pub fn parse(part: &Part<'a>) -> Result<Self> {
        let data = part.data;
        let word = |at: usize| {
            let bytes = data.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            let bytes = bytes.ok_or_else(|| Error::malformed("part is shorter than its header").at_offset(at));
            bytes.map(u32::from_le_bytes)
        };
        let read = || {
            let version = word(0)?;
            // Size of the part in words at 4: files in the wild have it wrong, and nothing needs it.
            if word(8)? != u32::from_le_bytes(*b"DXIL") {
                return Err(Error::malformed("no DXIL magic").at_offset(8));
            }
            let dxil = word(12)?;
            let start = (word(16)? as usize).checked_add(8);
            let end = start.and_then(|start| start.checked_add(word(20).ok()? as usize));
            let range = start.zip(end).map(|(start, end)| start..end);
            let bitcode = range.clone().and_then(|range| data.get(range));
            let bitcode = bitcode.ok_or_else(|| Error::malformed("bitcode exceeds its part").at_offset(16))?;
            Ok(Self {
                kind: (version >> 16) as u16,
                shader_model: ((version >> 4 & 0xf) as u8, (version & 0xf) as u8),
                dxil_version: ((dxil >> 8) as u8, dxil as u8),
                bitcode,
                offset: range.map_or(0, |range| range.start),
            })
        };
        read().map_err(|error: Error| error.in_part(part.name))
    }

    /// Reads the module.
    ///
    /// # Errors
    /// Names the record that contradicts the format.
    pub fn module(&self, part: FourCc) -> Result<Module> {
        Module::read(self.bitcode).map_err(|mut error| {
            // Offsets count from the beginning of the part.
            error.place.offset = error.place.offset.map(|offset| offset + self.offset);
            error.in_part(part)
        })
    }
}

/// The part that holds the program: `DXIL`, or `ILDB` in files that hold only debug bitcode.
///
/// # Errors
/// [`ErrorKind::NotAProgram`](crate::ErrorKind::NotAProgram) if there is none.
pub fn program_part<'a>(container: &Container<'a>) -> Result<Part<'a>> {
    let part = container.part(FourCc(*b"DXIL")).or_else(|| container.part(FourCc(*b"ILDB")));
    part.ok_or_else(|| Error::new(crate::ErrorKind::NotAProgram, "no DXIL"))
}
