//! Names of parts.

use std::{fmt, str::FromStr};

use crate::Error;

/// Four characters that name a part, or the container itself (`DXBC`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FourCc(pub [u8; 4]);

/// Names that occur in the wild. Those that only newer compilers or other tools write are ordinary data here: a part
/// whose name is not listed is carried along like any other.
impl FourCc {
    /// Magic of a container.
    pub const DXBC: Self = Self(*b"DXBC");
    /// Resource definitions: constant buffers with their fields, and bindings.
    pub const RDEF: Self = Self(*b"RDEF");
    /// Input signature, 24 bytes an element.
    pub const ISGN: Self = Self(*b"ISGN");
    /// Output signature, 24 bytes an element.
    pub const OSGN: Self = Self(*b"OSGN");
    /// Patch-constant signature, 24 bytes an element.
    pub const PCSG: Self = Self(*b"PCSG");
    /// Output signature with streams, 28 bytes an element.
    pub const OSG5: Self = Self(*b"OSG5");
    /// Input signature with streams and minimum precision, 32 bytes an element.
    pub const ISG1: Self = Self(*b"ISG1");
    /// Output signature with streams and minimum precision, 32 bytes an element.
    pub const OSG1: Self = Self(*b"OSG1");
    /// Patch-constant or primitive signature with minimum precision, 32 bytes an element.
    pub const PSG1: Self = Self(*b"PSG1");
    /// Tokenized program of Shader Model 4.0 and 4.1.
    pub const SHDR: Self = Self(*b"SHDR");
    /// Tokenized program of Shader Model 5.0 and 5.1, and of 4.x compute shaders.
    pub const SHEX: Self = Self(*b"SHEX");
    /// LLVM bitcode of Shader Model 6.
    pub const DXIL: Self = Self(*b"DXIL");
    /// The same with debug information.
    pub const ILDB: Self = Self(*b"ILDB");
    /// Name of the file that holds the debug information.
    pub const ILDN: Self = Self(*b"ILDN");
    /// Hash of the bitcode, or of the sources.
    pub const HASH: Self = Self(*b"HASH");
    /// Statistics; in DXIL a copy of the bitcode for reflection.
    pub const STAT: Self = Self(*b"STAT");
    /// Optional features that the program demands, a `u64`.
    pub const SFI0: Self = Self(*b"SFI0");
    /// Pipeline state validation.
    pub const PSV0: Self = Self(*b"PSV0");
    /// Runtime data of a library.
    pub const RDAT: Self = Self(*b"RDAT");
    /// Root signature.
    pub const RTS0: Self = Self(*b"RTS0");
    /// Compiler version.
    pub const VERS: Self = Self(*b"VERS");
    /// Private data of the application.
    pub const PRIV: Self = Self(*b"PRIV");
    /// Sources.
    pub const SRCI: Self = Self(*b"SRCI");
    /// Compilation information in a PDB.
    pub const PDBI: Self = Self(*b"PDBI");
    /// Interfaces of dynamic class linkage.
    pub const IFCE: Self = Self(*b"IFCE");
    /// Level-9 program (Shader Model 2).
    pub const AON9: Self = Self(*b"Aon9");
    /// Level-9 program as some older tools wrote it.
    pub const XNAS: Self = Self(*b"XNAS");
    /// Level-9 program as some older tools wrote it.
    pub const XNAP: Self = Self(*b"XNAP");
    /// Path of a PDB file, as the compiler for Xbox One notes it.
    pub const XPDP: Self = Self(*b"XPDP");
    /// Debug information of Shader Model 4 and 5.
    pub const SDBG: Self = Self(*b"SDBG");
    /// Debug information of Shader Model 4 and 5 in the form of a PDB.
    pub const SPDB: Self = Self(*b"SPDB");
    /// Functions of a `lib_4_0` or `lib_5_0` library, each a container.
    pub const LIBF: Self = Self(*b"LIBF");
    /// Header of such a library.
    pub const LIBH: Self = Self(*b"LIBH");
    /// Parameters of a library function.
    pub const LFS0: Self = Self(*b"LFS0");
    /// Effect of Direct3D 10.
    pub const FX10: Self = Self(*b"FX10");
    /// Literals of an effect's expressions.
    pub const CLI4: Self = Self(*b"CLI4");
    /// Constants of an effect's expressions.
    pub const CTAB: Self = Self(*b"CTAB");
    /// Operations of an effect's expressions.
    pub const FXLC: Self = Self(*b"FXLC");
}

/// The characters; those that are not printable ASCII as `\xNN`.
impl fmt::Display for FourCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.escape_ascii().fmt(f)
    }
}

/// Four characters, or what [`FourCc`] shows of bytes that are none: `\\xNN`.
impl FromStr for FourCc {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::malformed(format!("not a part's name, which has four characters: {text}"));
        let mut name = Vec::new();
        let mut rest = text.as_bytes();
        while let [first, more @ ..] = rest {
            let (byte, more) = match (first, more) {
                (b'\\', [b'x', high, low, more @ ..]) => {
                    let digit = |byte: u8| char::from(byte).to_digit(16);
                    let (Some(high), Some(low)) = (digit(*high), digit(*low)) else { return Err(wrong()) };
                    ((high * 16 + low) as u8, more)
                }
                (b'\\', [escaped, more @ ..]) => {
                    let byte = match escaped {
                        b'n' => b'\n',
                        b'r' => b'\r',
                        b't' => b'\t',
                        &other => other,
                    };
                    (byte, more)
                }
                _ => (*first, more),
            };
            name.push(byte);
            rest = more;
        }
        name.try_into().map(Self).map_err(|_| wrong())
    }
}

impl<'de> serde::Deserialize<'de> for FourCc {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl serde::Serialize for FourCc {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Debug for FourCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FourCc({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_and_read() {
        for name in [*b"DXIL", *b"a\\'\"", [0, 0xff, b'\n', b'x'], *b"x41\t"] {
            assert_eq!(FourCc(name).to_string().parse::<FourCc>().unwrap(), FourCc(name));
        }
        for text in ["", "DXI", "DXIL2", "\\xg0aa", "abc\\"] {
            assert_eq!(text.parse::<FourCc>().is_ok(), text == "abc\\", "{text}");
        }
    }
}
