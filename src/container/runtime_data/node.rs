//! Nodes of work graphs.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{TableKind, reader::Record};
use crate::{
    Result,
    container::{
        DxilComponentType,
        enumeration::{enumeration, flags},
    },
};

/// One node (`NodeShaderInfo`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node<'a> {
    /// How it is launched.
    pub launch: NodeLaunch,
    /// Bytes of group-shared memory.
    pub group_shared_bytes: u32,
    /// Attributes of the function.
    pub attributes: Vec<FunctionAttribute<'a>>,
    /// What it writes.
    pub outputs: Vec<NodeIo<'a>>,
    /// What it reads.
    pub inputs: Vec<NodeIo<'a>>,
}

enumeration! {
    /// `DXIL::NodeLaunchType`.
    NodeLaunch: u32 {
        INVALID = 0 "Invalid",
        BROADCASTING = 1 "Broadcasting",
        COALESCING = 2 "Coalescing",
        THREAD = 3 "Thread",
        MESH = 4 "Mesh",
    }
}

/// What identifies a node: a name, and a number for those that form an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeId<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Number.
    pub index: u32,
}

/// An attribute of a node's function (`NodeShaderFuncAttrib`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FunctionAttribute<'a> {
    /// `[NodeID]`.
    Id(NodeId<'a>),
    /// `[NumThreads]`: x, y, z, those that are left out are 1.
    NumThreads(Vec<u32>),
    /// `[NodeShareInputOf]`.
    ShareInputOf(NodeId<'a>),
    /// `[NodeDispatchGrid]`.
    DispatchGrid(Vec<u32>),
    /// `[NodeMaxRecursionDepth]`.
    MaxRecursionDepth(u32),
    /// `[NodeLocalRootArgumentsTableIndex]`.
    LocalRootArgumentsTableIndex(u32),
    /// `[NodeMaxDispatchGrid]`.
    MaxDispatchGrid(Vec<u32>),
    /// An attribute that is not known, with the word that it holds.
    Unknown(u32, u32),
}

/// An input or output of a node (`IONode`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeIo<'a> {
    /// What it is.
    pub kind: NodeIoKind,
    /// How it is used.
    pub flags: NodeIoFlags,
    /// Its attributes.
    pub attributes: Vec<NodeIoAttribute<'a>>,
}

enumeration! {
    /// `DXIL::NodeIOKind`.
    NodeIoKind: u32 {
        INVALID = 0 "Invalid",
        NODE_OUTPUT = 0x6 "NodeOutput",
        EMPTY_INPUT = 0x9 "EmptyInput",
        EMPTY_OUTPUT = 0xa "EmptyOutput",
        NODE_OUTPUT_ARRAY = 0x16 "NodeOutputArray",
        EMPTY_OUTPUT_ARRAY = 0x1a "EmptyOutputArray",
        THREAD_NODE_INPUT_RECORD = 0x21 "ThreadNodeInputRecord",
        RW_THREAD_NODE_INPUT_RECORD = 0x25 "RWThreadNodeInputRecord",
        THREAD_NODE_OUTPUT_RECORDS = 0x26 "ThreadNodeOutputRecords",
        GROUP_NODE_INPUT_RECORDS = 0x41 "GroupNodeInputRecords",
        RW_GROUP_NODE_INPUT_RECORDS = 0x45 "RWGroupNodeInputRecords",
        GROUP_NODE_OUTPUT_RECORDS = 0x46 "GroupNodeOutputRecords",
        DISPATCH_NODE_INPUT_RECORD = 0x61 "DispatchNodeInputRecord",
        RW_DISPATCH_NODE_INPUT_RECORD = 0x65 "RWDispatchNodeInputRecord",
    }
}

flags! {
    /// Flags of `DXIL::NodeIOFlags` beside the kind.
    NodeIoFlags: u32 {
        TRACK_RW_INPUT_SHARING = 0x100 "TrackRWInputSharing",
        GLOBALLY_COHERENT = 0x200 "GloballyCoherent",
    }
}

/// An attribute of a node's input or output (`NodeShaderIOAttrib`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeIoAttribute<'a> {
    /// The node that the output goes to.
    OutputId(NodeId<'a>),
    /// `[MaxRecords]`.
    MaxRecords(u32),
    /// `[MaxRecordsSharedWith]`: number of another output.
    MaxRecordsSharedWith(u32),
    /// Bytes of a record.
    RecordSize(u32),
    /// Where a record has `SV_DispatchGrid`.
    RecordDispatchGrid(DispatchGridField),
    /// `[NodeArraySize]`; `u32::MAX` for an unbounded array.
    OutputArraySize(u32),
    /// `[AllowSparseNodes]`.
    AllowSparseNodes(bool),
    /// Alignment of a record in bytes.
    RecordAlignment(u32),
    /// An attribute that is not known, with the word that it holds.
    Unknown(u32, u32),
}

/// Where a record has `SV_DispatchGrid` (`RecordDispatchGrid`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchGridField {
    /// Byte offset in the record.
    pub offset: u16,
    /// Number of components, 1 to 3.
    pub components: u8,
    /// Their type.
    pub ty: DxilComponentType,
}

pub(super) fn read<'a>(record: Record<'_, 'a>) -> Result<Node<'a>> {
    Ok(Node {
        launch: NodeLaunch(record.u32(0)?),
        group_shared_bytes: record.u32(4)?,
        attributes: record.records(TableKind::NODE_SHADER_FUNC_ATTRIB, 8, function_attribute)?,
        outputs: record.records(TableKind::IO_NODE, 12, io)?,
        inputs: record.records(TableKind::IO_NODE, 16, io)?,
    })
}

fn id<'a>(record: &Record<'_, 'a>, field: usize) -> Result<Option<NodeId<'a>>> {
    let read = |id: Record<'_, 'a>| Ok(NodeId { name: id.text(0)?, index: id.u32(4)? });
    record.record(TableKind::NODE_ID, field)?.map(read).transpose()
}

fn function_attribute<'a>(record: Record<'_, 'a>) -> Result<FunctionAttribute<'a>> {
    let (kind, value) = (record.u32(0)?, record.u32(4)?);
    let unknown = FunctionAttribute::Unknown(kind, value);
    Ok(match kind {
        1 => id(&record, 4)?.map_or(unknown, FunctionAttribute::Id),
        2 => FunctionAttribute::NumThreads(record.array(4)?),
        3 => id(&record, 4)?.map_or(unknown, FunctionAttribute::ShareInputOf),
        4 => FunctionAttribute::DispatchGrid(record.array(4)?),
        5 => FunctionAttribute::MaxRecursionDepth(value),
        6 => FunctionAttribute::LocalRootArgumentsTableIndex(value),
        7 => FunctionAttribute::MaxDispatchGrid(record.array(4)?),
        _ => unknown,
    })
}

fn io<'a>(record: Record<'_, 'a>) -> Result<NodeIo<'a>> {
    let word = record.u32(0)?;
    Ok(NodeIo {
        kind: NodeIoKind(word & 0x7f),
        flags: NodeIoFlags(word & !0x7f),
        attributes: record.records(TableKind::NODE_SHADER_IO_ATTRIB, 4, io_attribute)?,
    })
}

fn io_attribute<'a>(record: Record<'_, 'a>) -> Result<NodeIoAttribute<'a>> {
    let (kind, value) = (record.u32(0)?, record.u32(4)?);
    let unknown = NodeIoAttribute::Unknown(kind, value);
    Ok(match kind {
        1 => id(&record, 4)?.map_or(unknown, NodeIoAttribute::OutputId),
        2 => NodeIoAttribute::MaxRecords(value),
        3 => NodeIoAttribute::MaxRecordsSharedWith(value),
        4 => NodeIoAttribute::RecordSize(value),
        5 => {
            let components = record.u16(6)?;
            NodeIoAttribute::RecordDispatchGrid(DispatchGridField {
                offset: record.u16(4)?,
                components: (components & 3) as u8,
                ty: DxilComponentType(components >> 2),
            })
        }
        6 => NodeIoAttribute::OutputArraySize(value),
        7 => NodeIoAttribute::AllowSparseNodes(value != 0),
        8 => NodeIoAttribute::RecordAlignment(value),
        _ => unknown,
    })
}
