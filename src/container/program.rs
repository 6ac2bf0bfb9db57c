//! Headers of program parts: `SHDR`, `SHEX`, `DXIL`, `ILDB`.

use super::{Container, FourCc, Part};
use crate::{Error, ErrorKind, Result};

/// The version token that begins every program: `VerTok` of the tokenized format, `ProgramVersion` of DXIL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProgramVersion {
    /// `D3D10_SB_TOKENIZED_PROGRAM_TYPE` or `DXIL::ShaderKind`, which agree where both have a number.
    pub kind: u16,
    /// Major version of the Shader Model.
    pub major: u8,
    /// Minor version of the Shader Model.
    pub minor: u8,
}

impl ProgramVersion {
    /// Kind of a function of a `lib_4_0` or `lib_5_0` library.
    pub const LIBRARY_FUNCTION: u16 = 0xfff0;

    fn from_token(token: u32) -> Self {
        Self { kind: (token >> 16) as u16, major: (token >> 4 & 0xf) as u8, minor: (token & 0xf) as u8 }
    }
}

/// The program of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramHeader<'a> {
    /// `SHDR` or `SHEX`.
    Tokens(TokenProgram<'a>),
    /// `DXIL`, or `ILDB` where there is no `DXIL`.
    Bitcode(Bitcode<'a>),
}

impl<'a> ProgramHeader<'a> {
    /// Finds the program of a container and reads its header.
    ///
    /// # Errors
    /// [`ErrorKind::NotAProgram`] if there is none, naming what there is instead; [`ErrorKind::Malformed`] if the header
    /// contradicts the part.
    pub fn find(container: &Container<'a>) -> Result<Self> {
        if let Some(part) = container.first_part(&[FourCc::DXIL, FourCc::ILDB]) {
            let program = Bitcode::parse(part)?;
            // Compilers for consoles can leave this in place of the bitcode, beside the machine code.
            if program.bytes == b"NOBC" {
                return Err(Error::new(ErrorKind::NotAProgram, "the container's bitcode was left out: NOBC"));
            }
            return Ok(Self::Bitcode(program));
        }
        if let Some(part) = container.first_part(&[FourCc::SHEX, FourCc::SHDR]) {
            let program = TokenProgram::parse(part)?;
            // Made to be linked into others' programs: it has parameters, not inputs and outputs.
            if program.version.kind == ProgramVersion::LIBRARY_FUNCTION {
                return Err(Error::new(ErrorKind::NotAProgram, "the container holds a function of a library: LFS0"));
            }
            return Ok(Self::Tokens(program));
        }
        Err(Error::new(ErrorKind::NotAProgram, contents(container)))
    }

    /// Kind and Shader Model.
    pub fn version(&self) -> ProgramVersion {
        match self {
            Self::Tokens(program) => program.version,
            Self::Bitcode(program) => program.version,
        }
    }

    /// The part that holds it.
    pub fn part(&self) -> Part<'a> {
        match self {
            Self::Tokens(program) => program.part,
            Self::Bitcode(program) => program.part,
        }
    }
}

/// What a container without a program is, for people.
fn contents(container: &Container<'_>) -> String {
    let has = |name| container.part(name).is_some();
    let what = if has(FourCc::FX10) {
        "the container holds an effect"
    } else if has(FourCc::LIBF) || has(FourCc::LIBH) || has(FourCc::LFS0) {
        "the container holds a function library of Shader Model 4 or 5"
    } else if has(FourCc::AON9) || has(FourCc::XNAS) || has(FourCc::XNAP) {
        "the container holds a level-9 program only"
    } else if has(FourCc::CTAB) || has(FourCc::FXLC) {
        "the container holds an effect's expression"
    } else if has(FourCc::RTS0) {
        "the container holds a root signature"
    } else if has(FourCc::SPDB) || has(FourCc::SDBG) || has(FourCc::ILDN) {
        "the container holds debug information"
    } else if [FourCc::ISGN, FourCc::ISG1, FourCc::OSGN, FourCc::OSG1, FourCc::OSG5].into_iter().any(has) {
        "the container holds signatures"
    } else {
        "the container holds none of the parts that carry a program"
    };
    let names = container.parts().map(|part| part.name.to_string()).collect::<Vec<_>>();
    format!("{what}: {}", if names.is_empty() { "no parts".to_owned() } else { names.join(" ") })
}

/// A tokenized program (`SHDR`, `SHEX`): a version token, its length, then instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenProgram<'a> {
    /// The part.
    pub part: Part<'a>,
    /// Kind and Shader Model.
    pub version: ProgramVersion,
    /// The tokens after the two of the header: whole 32-bit little-endian words, not necessarily aligned. The first is at
    /// offset 8 of the part.
    pub tokens: &'a [u8],
}

impl<'a> TokenProgram<'a> {
    /// Byte offset of the first instruction in the part.
    pub const FIRST_TOKEN: usize = 8;

    /// Reads the header of a `SHDR` or `SHEX` part.
    ///
    /// # Errors
    /// The part is shorter than the program's length says, or than the header.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let version = ProgramVersion::from_token(part.u32_at(0)?);
        let length = part.size_at(4)?;
        let Some(tokens) = length.checked_sub(2).and_then(|rest| rest.checked_mul(4)) else {
            return Err(part.malformed(4, format!("the program's length does not hold its header: {length} tokens")));
        };
        let tokens = part
            .bytes_at(Self::FIRST_TOKEN, tokens)
            .map_err(|_| part.malformed(4, format!("the program passes the end of the part: {length} tokens")))?;
        Ok(Self { part, version, tokens })
    }
}

/// A DXIL program (`DXIL`, `ILDB`): two headers, then LLVM 3.7 bitcode.
///
/// The layout is `DxilProgramHeader` of DirectXShaderCompiler: version token, length of the part in 32-bit words, then
/// `DxilBitcodeHeader`: magic `DXIL`, DXIL version, offset of the bitcode from that magic, length of the bitcode in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitcode<'a> {
    /// The part.
    pub part: Part<'a>,
    /// Kind and Shader Model.
    pub version: ProgramVersion,
    /// Version of DXIL, major and minor.
    pub dxil_version: (u8, u8),
    /// Byte offset of `bytes` in the part.
    pub offset: usize,
    /// The bitcode, from its own magic (`BC 0xC0DE`, or the wrapper) on.
    pub bytes: &'a [u8],
}

impl<'a> Bitcode<'a> {
    /// Where the bitcode header begins in the part.
    const BITCODE_HEADER: usize = 8;

    /// Bytes that begin as LLVM bitcode does, by itself or in the wrapper of some tools.
    pub fn recognizes(bytes: &[u8]) -> bool {
        bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(&[0xde, 0xc0, 0x17, 0x0b])
    }

    /// Bytes that begin as the data of a `DXIL` or `ILDB` part does.
    pub fn recognizes_part(bytes: &[u8]) -> bool {
        bytes.get(Self::BITCODE_HEADER..).is_some_and(|header| header.starts_with(&FourCc::DXIL.0))
    }

    /// Reads the headers of a `DXIL` or `ILDB` part. The length in words is not relied on: the bitcode's own is.
    ///
    /// # Errors
    /// The inner magic is missing, or the bitcode reaches past the part.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let version = ProgramVersion::from_token(part.u32_at(0)?);
        let header = part.bytes_at(Self::BITCODE_HEADER, 16)?;
        if !header.starts_with(&FourCc::DXIL.0) {
            return Err(part.malformed(Self::BITCODE_HEADER, "the bitcode header does not begin with DXIL"));
        }
        let (minor, major) = (header[4], header[5]);
        let offset = part.size_at(Self::BITCODE_HEADER + 8)?.saturating_add(Self::BITCODE_HEADER);
        let len = part.size_at(Self::BITCODE_HEADER + 12)?;
        let bytes = part
            .bytes_at(offset, len)
            .map_err(|_| part.malformed(offset, format!("the bitcode passes the end of the part: {len} bytes")))?;
        Ok(Self { part, version, dxil_version: (major, minor), offset, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: FourCc, data: &[u8]) -> Part<'_> {
        Part { name, offset: 0, data }
    }

    #[test]
    fn token_program() {
        let mut data = [0x50, 0, 1, 0, 3, 0, 0, 0, 0x3e, 0, 0, 1].to_vec();
        data.extend(*b"padding");
        let program = TokenProgram::parse(part(FourCc::SHEX, &data)).unwrap();
        assert_eq!(program.version, ProgramVersion { kind: 1, major: 5, minor: 0 });
        assert_eq!(program.tokens, &[0x3e, 0, 0, 1]);
        data[4] = 6;
        assert_eq!(TokenProgram::parse(part(FourCc::SHEX, &data)).unwrap_err().place.offset, Some(4));
        data[4] = 1;
        assert!(TokenProgram::parse(part(FourCc::SHEX, &data)).is_err());
    }

    #[test]
    fn bitcode() {
        let mut data = [0x62, 0, 0, 0, 8, 0, 0, 0].to_vec();
        data.extend(*b"DXIL");
        data.extend([2, 1, 0, 0, 16, 0, 0, 0, 4, 0, 0, 0]);
        data.extend(*b"BC\xc0\xde");
        let program = Bitcode::parse(part(FourCc::DXIL, &data)).unwrap();
        assert_eq!(program.version, ProgramVersion { kind: 0, major: 6, minor: 2 });
        assert_eq!(program.dxil_version, (1, 2));
        assert_eq!((program.offset, program.bytes), (24, &b"BC\xc0\xde"[..]));
        data[20] = 5;
        assert!(Bitcode::parse(part(FourCc::DXIL, &data)).is_err());
        data[8] = b'd';
        assert_eq!(Bitcode::parse(part(FourCc::DXIL, &data)).unwrap_err().place.offset, Some(8));
    }
}
