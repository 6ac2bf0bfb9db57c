//! What a function's body carries beside its code: names, debug locations, attached metadata.

use std::collections::HashMap;

use super::{BlockId, Metadata, MetadataId, ValueId};

/// What a body carries beside its code. Only listings need it.
#[derive(Clone, Debug, Default)]
pub struct Annotations {
    /// Names of arguments and instructions.
    pub names: HashMap<ValueId, String>,
    /// Names of blocks.
    pub block_names: HashMap<BlockId, String>,
    /// Metadata of the function; their ids follow those of the module.
    pub metadata: Vec<Metadata>,
    /// Arguments of calls that are metadata, by number of the instruction and of the argument.
    pub arguments: HashMap<(u32, u32), MetadataId>,
    /// Debug locations by number of the instruction.
    pub locations: HashMap<u32, Location>,
    /// Metadata attached to instructions, by their number: kind and node.
    pub attachments: HashMap<u32, Vec<(u32, MetadataId)>>,
    /// Metadata attached to the function: kind and node.
    pub function: Vec<(u32, MetadataId)>,
    /// In which order the uses of blocks stood in the writer's memory: for each use, in the order of reading, its
    /// position there.
    pub block_uses: HashMap<BlockId, Vec<u32>>,
}

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// Line, from 1 on.
    pub line: u32,
    /// Column, from 1 on; 0 if unknown.
    pub column: u32,
    /// Scope, a debug node.
    pub scope: Option<MetadataId>,
    /// Location that the code was inlined at.
    pub inlined_at: Option<MetadataId>,
}
