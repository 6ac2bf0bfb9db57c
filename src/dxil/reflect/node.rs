//! Nodes of work graphs: the properties of their entry points.

use crate::{
    Error, Result,
    dxil::module::Node,
    reflection::{DispatchGridField, NodeFacts, NodeId, NodeIo, NodeLaunch},
};

/// Tags of an entry point's properties.
mod tag {
    pub const LAUNCH_TYPE: u32 = 13;
    pub const IS_PROGRAM_ENTRY: u32 = 14;
    pub const ID: u32 = 15;
    pub const LOCAL_ROOT_ARGUMENTS_TABLE_INDEX: u32 = 16;
    pub const SHARE_INPUT_OF: u32 = 17;
    pub const DISPATCH_GRID: u32 = 18;
    pub const MAX_RECURSION_DEPTH: u32 = 19;
    pub const INPUTS: u32 = 20;
    pub const OUTPUTS: u32 = 21;
    pub const MAX_DISPATCH_GRID: u32 = 22;
}

/// Tags of an input's or output's properties.
mod io_tag {
    pub const OUTPUT_ID: u32 = 0;
    pub const FLAGS: u32 = 1;
    pub const RECORD_TYPE: u32 = 2;
    pub const MAX_RECORDS: u32 = 3;
    pub const MAX_RECORDS_SHARED_WITH: u32 = 4;
    pub const OUTPUT_ARRAY_SIZE: u32 = 5;
    pub const ALLOW_SPARSE_NODES: u32 = 6;
}

/// Tags of a record's properties.
mod record_tag {
    pub const SIZE: u32 = 0;
    pub const DISPATCH_GRID: u32 = 1;
    pub const ALIGNMENT: u32 = 2;
}

/// Inputs and outputs of a node, at most: far more than Direct3D's limit of records can serve.
const MAX_IO: usize = 1024;

/// Reads what a node declares, from the properties of its entry point.
pub(super) fn facts(properties: &Node<'_>, name: &str) -> Result<NodeFacts> {
    let mut facts = NodeFacts {
        launch: NodeLaunch::Broadcasting,
        id: NodeId { name: name.to_owned(), index: 0 },
        is_program_entry: false,
        local_root_arguments_table_index: None,
        share_input_of: None,
        dispatch_grid: None,
        max_dispatch_grid: None,
        max_recursion_depth: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
    };
    for (tag, at) in properties.tags() {
        match tag {
            tag::LAUNCH_TYPE => {
                facts.launch = match properties.u32(at)? {
                    1 => NodeLaunch::Broadcasting,
                    2 => NodeLaunch::Coalescing,
                    3 => NodeLaunch::Thread,
                    4 => NodeLaunch::Mesh,
                    launch => return Err(malformed(format!("unknown launch of a node: {launch}"))),
                }
            }
            tag::IS_PROGRAM_ENTRY => facts.is_program_entry = properties.integer(at).is_some_and(|entry| entry != 0),
            tag::ID => facts.id = id(properties, at)?,
            tag::LOCAL_ROOT_ARGUMENTS_TABLE_INDEX => {
                facts.local_root_arguments_table_index = Some(properties.u32(at)?).filter(|&index| index != u32::MAX);
            }
            tag::SHARE_INPUT_OF => facts.share_input_of = Some(id(properties, at)?),
            tag::DISPATCH_GRID => facts.dispatch_grid = super::entry::three(properties.node(at))?,
            tag::MAX_DISPATCH_GRID => facts.max_dispatch_grid = super::entry::three(properties.node(at))?,
            tag::MAX_RECURSION_DEPTH => facts.max_recursion_depth = Some(properties.u32(at)?),
            tag::INPUTS => facts.inputs = all(properties, at)?,
            tag::OUTPUTS => facts.outputs = all(properties, at)?,
            _ => {}
        }
    }
    Ok(facts)
}

fn malformed(what: impl std::fmt::Display) -> Error {
    Error::malformed(format!("dx.entryPoints: {what}"))
}

fn id(node: &Node<'_>, at: usize) -> Result<NodeId> {
    let id = node.node(at).ok_or_else(|| malformed("id of a node is no tuple"))?;
    let name = id.string(0).ok_or_else(|| malformed("id of a node has no name"))?.to_owned();
    Ok(NodeId { name, index: id.u32(1)? })
}

fn all(properties: &Node<'_>, at: usize) -> Result<Vec<NodeIo>> {
    let list: Vec<Node<'_>> = properties.nodes(at).take(MAX_IO + 1).collect();
    if list.len() > MAX_IO {
        return Err(malformed("node of very many inputs or outputs"));
    }
    list.iter().map(io).collect()
}

fn io(node: &Node<'_>) -> Result<NodeIo> {
    let mut io = NodeIo {
        flags: 0,
        id: None,
        record_size: 0,
        record_alignment: 0,
        dispatch_grid: None,
        max_records: None,
        max_records_shared_with: None,
        array_size: None,
        allow_sparse_nodes: false,
    };
    for (tag, at) in node.tags() {
        match tag {
            io_tag::OUTPUT_ID => io.id = Some(id(node, at)?),
            io_tag::FLAGS => io.flags = node.u32(at)?,
            io_tag::RECORD_TYPE => record(node, at, &mut io)?,
            io_tag::MAX_RECORDS => io.max_records = Some(node.u32(at)?),
            io_tag::MAX_RECORDS_SHARED_WITH => io.max_records_shared_with = Some(node.u32(at)?),
            io_tag::OUTPUT_ARRAY_SIZE => io.array_size = Some(node.u32(at)?),
            io_tag::ALLOW_SPARSE_NODES => io.allow_sparse_nodes = node.integer(at).is_some_and(|allow| allow != 0),
            _ => {}
        }
    }
    Ok(io)
}

fn record(node: &Node<'_>, at: usize, io: &mut NodeIo) -> Result<()> {
    let record = node.node(at).ok_or_else(|| malformed("record of a node is no tuple"))?;
    for (tag, at) in record.tags() {
        match tag {
            record_tag::SIZE => io.record_size = record.u32(at)?,
            record_tag::ALIGNMENT => io.record_alignment = record.u32(at)?,
            record_tag::DISPATCH_GRID => {
                let grid = record.node(at).ok_or_else(|| malformed("dispatch grid of a record is no tuple"))?;
                let components = grid.u32(2)?;
                if !(1..=3).contains(&components) {
                    return Err(malformed(format!("components of a dispatch grid: {components}")));
                }
                io.dispatch_grid = Some(DispatchGridField {
                    offset: grid.u32(0)?,
                    component: super::resources::component(grid.u32(1)?),
                    components: components as u8,
                });
            }
            _ => {}
        }
    }
    Ok(())
}
