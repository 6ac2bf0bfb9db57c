//! `RDAT`: what the runtime needs of a library: resources, functions, subobjects, nodes of work graphs.

mod function;
mod node;
mod pdb_info;
mod reader;
mod resource;
mod stage;
mod subobject;

use serde::{Deserialize, Serialize};

use self::reader::Reader;
use super::{Part, enumeration::enumeration};
use crate::Result;

pub use function::{LibraryShader, ShaderFlags, StageMask};
pub use node::{
    DispatchGridField, FunctionAttribute, Node, NodeId, NodeIo, NodeIoAttribute, NodeIoFlags, NodeIoKind, NodeLaunch,
};
pub use pdb_info::{PdbInfo, PdbLibrary, PdbSource};
pub use resource::{DxilResourceClass, LibraryResource, LibraryResourceFlags};
pub use stage::{RuntimeElement, StageInfo};
pub use subobject::{HitGroupType, RaytracingPipelineFlags, StateObjectFlags, Subobject, SubobjectKind};

/// The `RDAT` part.
///
/// The header is two 32-bit words, version (0x10) and number of tables, then the offset of each. A table begins with its
/// kind and length; most hold records of one length, to which newer versions append fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeData<'a> {
    /// Version of the format: 0x10, or 0 for a prerelease.
    pub version: u32,
    /// The tables in file order, with the number of their records, or bytes of strings, indices and raw bytes.
    pub tables: Vec<(TableKind, usize)>,
    /// Resources of all functions.
    pub resources: Vec<LibraryResource<'a>>,
    /// Entry points and exported functions.
    pub functions: Vec<LibraryShader<'a>>,
    /// Subobjects of state objects.
    pub subobjects: Vec<Subobject<'a>>,
    /// In a `PDBI` part: how the program was compiled.
    pub pdb_info: Option<PdbInfo<'a>>,
}

enumeration! {
    /// `RuntimeDataPartType`. Those from 13 on are experimental.
    TableKind: u32 {
        STRING_BUFFER = 1 "StringBuffer",
        INDEX_ARRAYS = 2 "IndexArrays",
        RESOURCE = 3 "ResourceTable",
        FUNCTION = 4 "FunctionTable",
        RAW_BYTES = 5 "RawBytes",
        SUBOBJECT = 6 "SubobjectTable",
        NODE_ID = 7 "NodeIDTable",
        NODE_SHADER_IO_ATTRIB = 8 "NodeShaderIOAttribTable",
        NODE_SHADER_FUNC_ATTRIB = 9 "NodeShaderFuncAttribTable",
        IO_NODE = 10 "IONodeTable",
        NODE_SHADER_INFO = 11 "NodeShaderInfoTable",
        MESH_NODES_PREVIEW_INFO = 12 "MeshNodesPreviewInfoTable",
        SIGNATURE_ELEMENT = 13 "SignatureElementTable",
        VS_INFO = 14 "VSInfoTable",
        PS_INFO = 15 "PSInfoTable",
        HS_INFO = 16 "HSInfoTable",
        DS_INFO = 17 "DSInfoTable",
        GS_INFO = 18 "GSInfoTable",
        CS_INFO = 19 "CSInfoTable",
        MS_INFO = 20 "MSInfoTable",
        AS_INFO = 21 "ASInfoTable",
        PDB_INFO = 0x1_0001 "DxilPdbInfoTable",
        PDB_INFO_SOURCE = 0x1_0002 "DxilPdbInfoSourceTable",
        PDB_INFO_LIBRARY = 0x1_0003 "DxilPdbInfoLibraryTable",
    }
}

impl<'a> RuntimeData<'a> {
    /// Reads the part.
    ///
    /// # Errors
    /// The version is not known, a table passes the end of the part, or a record refers to what is not there.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let reader = Reader::new(part)?;
        Ok(Self {
            version: reader.version,
            tables: reader.kinds.clone(),
            resources: reader.records(TableKind::RESOURCE).map(resource::read).collect::<Result<_>>()?,
            functions: reader.records(TableKind::FUNCTION).map(function::read).collect::<Result<_>>()?,
            subobjects: reader.records(TableKind::SUBOBJECT).map(subobject::read).collect::<Result<_>>()?,
            pdb_info: reader.records(TableKind::PDB_INFO).next().map(pdb_info::read).transpose()?,
        })
    }
}
