//! Nodes of work graphs: [`NodeFacts`], and the bindings by which a host runs them.
//!
//! Portable APIs have no work graphs. A node becomes a compute shader that a host dispatches, once for each record of a
//! broadcasting node and once for any number of records of the others. What the runtime of Direct3D keeps for itself is
//! in two buffers, which libraries with nodes list among their [bindings](super::Interface::bindings):
//!
//! * [`NODE_RECORDS`], an unordered-access view of bytes: all records, and what is known of each output.
//! * [`NODE_LAUNCH`], a constant buffer of one launch, in rows of four `uint`s. Row 0:
//!   - x: byte in [`NODE_RECORDS`] of the first input record; the others follow it, [`NodeIo::record_size`] bytes each;
//!   - y: number of input records;
//!   - z: what `GetRemainingRecursionLevels` gives;
//!   - w: byte in [`NODE_RECORDS`] of a word that is 0 at first, if the node calls `FinishedCrossGroupSharing`.
//!
//!   Row 1 + n is of output n ([`NodeFacts::outputs`]):
//!   - x: byte in [`NODE_RECORDS`] of the slot of its first node;
//!   - y: number of its nodes: 1, or that of an array.
//!
//! A slot is four words, the slots of an array follow each other:
//! 1. number of records that were given out, which every launch adds to;
//! 2. number of records that there is room for: no record is given out beyond it, and what is written there is lost;
//! 3. byte in [`NODE_RECORDS`] of the first record;
//! 4. not 0 if the graph has such a node (`IsValid`).
//!
//! Groups to dispatch: of a broadcasting node its grid, or what `SV_DispatchGrid` in the record says; of a coalescing
//! node one for every [`NodeIo::max_records`] input records; of a thread node one for every [`NODE_THREADS`].

use serde::{Deserialize, Serialize};

use super::{
    Binding, BufferLayout, ComponentType, Field, FieldScalar, FieldShape, FieldType, ResourceClass, ResourceKind,
    UavFlags,
};

/// Register space of the bindings by which nodes are run: none that HLSL can name in a root signature of Direct3D.
pub const NODE_SPACE: u32 = 0xfe00;

/// Name of the constant buffer `b0` in [`NODE_SPACE`].
pub const NODE_LAUNCH: &str = "NodeLaunch";

/// Name of the unordered-access view `u0` in [`NODE_SPACE`].
pub const NODE_RECORDS: &str = "NodeRecords";

/// Threads in a group of a thread node's compute shader, each with a record of its own.
pub const NODE_THREADS: u32 = 32;

/// Bytes of an output's slot in [`NODE_RECORDS`].
pub const NODE_SLOT_SIZE: u32 = 16;

/// What a node declares (`[NodeLaunch]` and its like).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// How it is launched.
    pub launch: NodeLaunch,
    /// What other nodes call it: `[NodeID]`, or the function's name and 0.
    pub id: NodeId,
    /// `[NodeIsProgramEntry]`: its input may come from outside of the graph.
    pub is_program_entry: bool,
    /// `[NodeLocalRootArgumentsTableIndex]`; `None` if the runtime chooses it.
    pub local_root_arguments_table_index: Option<u32>,
    /// `[NodeShareInputOf]`: it gets what that node gets.
    pub share_input_of: Option<NodeId>,
    /// `[NodeDispatchGrid]` of broadcasting nodes, in groups.
    pub dispatch_grid: Option<[u32; 3]>,
    /// `[NodeMaxDispatchGrid]` of broadcasting nodes whose records say the grid, in groups.
    pub max_dispatch_grid: Option<[u32; 3]>,
    /// `[NodeMaxRecursionDepth]`.
    pub max_recursion_depth: Option<u32>,
    /// What it reads: one at most.
    pub inputs: Vec<NodeIo>,
    /// What it writes, in the order of its parameters.
    pub outputs: Vec<NodeIo>,
}

/// How a node is launched, numbered as `DXIL::NodeLaunchType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum NodeLaunch {
    /// A grid of groups for each record.
    Broadcasting = 1,
    /// A group for up to as many records as its input declares.
    Coalescing = 2,
    /// A thread for each record.
    Thread = 3,
    /// A grid of groups of a mesh shader for each record: of the preview compiler `1.8.2405-mesh-nodes-preview` alone. The
    /// Shader Models up to 6.10 have no such nodes (hlsl-specs, proposal 0019), and the lift refuses them.
    Mesh = 4,
}

/// What identifies a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NodeId {
    /// Its name.
    pub name: String,
    /// Its number among those of this name.
    pub index: u32,
}

/// An input or output of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeIo {
    /// `DXIL::NodeIOFlags` and `DXIL::NodeIOKind`: see [`NodeIo::is_empty`] and the other tests.
    pub flags: u32,
    /// The node that an output goes to.
    pub id: Option<NodeId>,
    /// Bytes of a record, 0 of an empty one.
    pub record_size: u32,
    /// Bytes at whose multiples records begin; 0 of an empty one.
    pub record_alignment: u32,
    /// Where records have `SV_DispatchGrid`.
    pub dispatch_grid: Option<DispatchGridField>,
    /// `[MaxRecords]`: of an input, records for a group; of an output, records that a group, or a thread of a thread
    /// node, gives out.
    pub max_records: Option<u32>,
    /// `[MaxRecordsSharedWith]`: number of the output whose limit this one shares.
    pub max_records_shared_with: Option<u32>,
    /// Nodes of an array of outputs (`[NodeArraySize]`); `u32::MAX` if it is unbounded, `None` if it is none.
    pub array_size: Option<u32>,
    /// `[AllowSparseNodes]`: the graph may lack the node.
    pub allow_sparse_nodes: bool,
}

impl NodeIo {
    /// Records can be written: outputs, and inputs that are shared.
    pub fn is_writable(&self) -> bool {
        self.flags & 0x4 != 0
    }

    /// It has no records, only their number.
    pub fn is_empty(&self) -> bool {
        self.flags & 0x8 != 0
    }

    /// It is an array of outputs.
    pub fn is_array(&self) -> bool {
        self.flags & 0x10 != 0
    }

    /// `[NodeTrackRWInputSharing]`: the last group to use a record can be told.
    pub fn tracks_sharing(&self) -> bool {
        self.flags & 0x100 != 0
    }

    /// `globallycoherent`.
    pub fn is_globally_coherent(&self) -> bool {
        self.flags & 0x200 != 0
    }
}

/// Where a record has `SV_DispatchGrid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchGridField {
    /// First byte in the record.
    pub offset: u32,
    /// Type of a component.
    pub component: ComponentType,
    /// Number of components, 1 to 3.
    pub components: u8,
}

/// The bindings by which the nodes of a library are run, if the one with the most outputs has so many.
pub fn node_bindings(outputs: u32) -> [Binding; 2] {
    let field = |(name, offset): (&str, u32), shape: FieldShape, elements: Option<u32>| Field {
        name: name.to_owned(),
        offset,
        size: elements.map_or(4, |elements| elements.saturating_mul(16)),
        ty: FieldType { shape, elements, stride: if elements.is_some() { 16 } else { 0 }, name: None },
        default_value: None,
        used: None,
    };
    let words =
        [("first_record", 0), ("record_count", 4), ("remaining_recursion_levels", 8), ("cross_group_sharing", 12)];
    let mut fields: Vec<Field> =
        words.into_iter().map(|place| field(place, FieldShape::Scalar(FieldScalar::U32), None)).collect();
    if outputs > 0 {
        fields.push(field(("outputs", 16), FieldShape::Vector(FieldScalar::U32, 4), Some(outputs)));
    }
    let size = outputs.saturating_add(1).saturating_mul(16);
    let binding = |name: &str, class: ResourceClass, kind: ResourceKind, layout: Option<BufferLayout>| Binding {
        name: Some(name.to_owned()),
        class,
        space: NODE_SPACE,
        register: 0,
        count: Some(1),
        kind,
        layout,
    };
    let records = ResourceKind::RawBuffer { flags: UavFlags { globally_coherent: true, rasterizer_ordered: false } };
    [
        binding(
            NODE_LAUNCH,
            ResourceClass::Cbv,
            ResourceKind::ConstantBuffer { size },
            Some(BufferLayout { size, fields }),
        ),
        binding(NODE_RECORDS, ResourceClass::Uav, records, None),
    ]
}
