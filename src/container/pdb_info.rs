//! `PDBI`: how a program was compiled, in PDB files of newer compilers.

use std::borrow::Cow;

use serde::{Serialize, ser};

use super::{Part, PdbInfo, RuntimeData, source_info::inflate};
use crate::Result;

/// The `PDBI` part (`DxilShaderPDBInfo`): two 16-bit words (version, compression) and two 32-bit words (length as stored
/// and not compressed), then [runtime data](RuntimeData) with the [tables of such files](PdbInfo).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PdbInfoPart<'a> {
    part: Part<'a>,
    data: Cow<'a, [u8]>,
}

impl<'a> PdbInfoPart<'a> {
    /// Reads the part, and decompresses its data.
    ///
    /// # Errors
    /// The version or compression is not known, or the data are damaged.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let (version, compression) = (part.u16_at(0)?, part.u16_at(2)?);
        if version != 0 {
            return Err(part.malformed(0, format!("unknown version of PDB information: {version}")));
        }
        let stored = part.bytes_at(12, part.size_at(4)?)?;
        let data = match compression {
            0 => stored.into(),
            1 => inflate(&part, 12, stored, part.size_at(8)?)?.into(),
            other => return Err(part.malformed(2, format!("unknown compression of PDB information: {other}"))),
        };
        Ok(Self { part, data })
    }

    /// The tables.
    ///
    /// # Errors
    /// As for [`RuntimeData::parse`]; offsets are those in the data when decompressed.
    pub fn runtime_data(&self) -> Result<RuntimeData<'_>> {
        RuntimeData::parse(Part { data: &self.data, ..self.part })
    }

    /// How the program was compiled, if the tables say so.
    ///
    /// # Errors
    /// As for [`RuntimeData::parse`].
    pub fn info(&self) -> Result<Option<PdbInfo<'_>>> {
        Ok(self.runtime_data()?.pdb_info)
    }
}

/// What it holds: can be read again as [`RuntimeData`].
impl Serialize for PdbInfoPart<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.runtime_data().map_err(ser::Error::custom)?.serialize(serializer)
    }
}
