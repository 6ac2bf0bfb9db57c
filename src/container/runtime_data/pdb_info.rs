//! How a program was compiled: the tables of `PDBI`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{TableKind, reader::Record};
use crate::{Result, container::HexBytes};

/// How a program was compiled (`DxilPdbInfo`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PdbInfo<'a> {
    /// The source files: that with the entry point first.
    pub sources: Vec<PdbSource<'a>>,
    /// The libraries that were linked.
    pub libraries: Vec<PdbLibrary<'a>>,
    /// The compiler's arguments: names and values in turn.
    pub arguments: Vec<Cow<'a, str>>,
    /// The hash of the program, as in `HASH`.
    pub hash: HexBytes<'a>,
    /// Name of the PDB file.
    pub name: Cow<'a, str>,
    /// Identifies a compiler that is not Microsoft's.
    pub toolchain_id: u32,
    /// Data of that compiler.
    pub toolchain_data: HexBytes<'a>,
    /// The whole container, if it is within.
    pub whole_dxil: HexBytes<'a>,
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PdbSource<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Text.
    pub contents: Cow<'a, str>,
}

/// A library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PdbLibrary<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Its container.
    pub data: HexBytes<'a>,
}

pub(super) fn read<'a>(record: Record<'_, 'a>) -> Result<PdbInfo<'a>> {
    let source = |record: Record<'_, 'a>| Ok(PdbSource { name: record.text(0)?, contents: record.text(4)? });
    let library = |record: Record<'_, 'a>| Ok(PdbLibrary { name: record.text(0)?, data: record.bytes(4)? });
    Ok(PdbInfo {
        sources: record.records(TableKind::PDB_INFO_SOURCE, 0, source)?,
        libraries: record.records(TableKind::PDB_INFO_LIBRARY, 4, library)?,
        arguments: record.texts(8)?,
        hash: record.bytes(12)?,
        name: record.text(20)?,
        toolchain_id: record.u32(24)?,
        toolchain_data: record.bytes(28)?,
        whole_dxil: record.bytes(36)?,
    })
}
