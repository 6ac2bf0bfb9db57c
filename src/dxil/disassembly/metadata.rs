//! Named metadata, nodes, and metadata as operands.

use super::{
    Listing, debug_info,
    names::{escaped, metadata_identifier},
};
use crate::{
    Error, Result,
    dxil::module::{FunctionId, Location, Metadata, MetadataId, MetadataOperand},
};

/// What has a number of its own among a module's metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// A node of the module.
    Module(MetadataId),
    /// A node of a function's own.
    Local(FunctionId, MetadataId),
    /// A debug location: of an instruction, or a node that is not distinct. Equal ones are one node.
    Location(Location),
}

impl<'a> Listing<'a> {
    /// The node of an id; `None` if it is a string or a value.
    pub(super) fn node(&self, id: MetadataId) -> Result<Option<Node>> {
        Ok(match self.metadata_of(id)? {
            Metadata::String(_) | Metadata::Value(_) => None,
            Metadata::Debug(debug_info::LOCATION, operands) if operands.first() == Some(&0) => {
                Some(Node::Location(debug_info::location(operands)?))
            }
            Metadata::Node { .. } | Metadata::Debug(..) => Some(match &self.function {
                Some(function) if id.index() >= self.module.metadata.len() => Node::Local(function.number, id),
                _ => Node::Module(id),
            }),
        })
    }

    /// What a node refers to, in the order of LLVM's operands.
    pub(super) fn node_members(&self, node: Node) -> Result<Vec<MetadataOperand>> {
        let (Node::Module(id) | Node::Local(_, id)) = node else {
            return Ok(match node {
                Node::Location(location) => [location.scope, location.inlined_at]
                    .map(|id| id.map_or(MetadataOperand::Null, MetadataOperand::Metadata))
                    .into(),
                _ => Vec::new(),
            });
        };
        match self.metadata_of(id)? {
            Metadata::Node { members, .. } => Ok(members.clone()),
            Metadata::Debug(code, operands) => debug_info::members(*code, operands),
            Metadata::String(_) | Metadata::Value(_) => Ok(Vec::new()),
        }
    }

    /// `!name = !{!0, !1}`.
    pub(super) fn named_metadata(&mut self, name: &str, nodes: &[MetadataId]) -> Result<()> {
        self.push("!");
        metadata_identifier(&mut self.text, name);
        self.push(" = !{");
        for (index, &id) in nodes.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.metadata(id)?;
        }
        self.push("}\n");
        Ok(())
    }

    /// All nodes, by number.
    pub(super) fn nodes(&mut self) -> Result<()> {
        let nodes = std::mem::take(&mut self.slots.node_order);
        if !nodes.is_empty() {
            self.push("\n");
        }
        for (number, &node) in nodes.iter().enumerate() {
            self.write(format_args!("!{number} = "))?;
            self.node_body(node)?;
            self.push("\n");
            self.check_len()?;
        }
        Ok(())
    }

    fn node_body(&mut self, node: Node) -> Result<()> {
        let id = match node {
            Node::Location(location) => return self.location(location),
            Node::Module(id) => id,
            Node::Local(function, id) => {
                self.enter(function)?;
                id
            }
        };
        match self.metadata_of(id)? {
            Metadata::Node { distinct, members } => {
                self.push(if *distinct { "distinct !{" } else { "!{" });
                for (index, &member) in members.iter().enumerate() {
                    if index > 0 {
                        self.push(", ");
                    }
                    match member {
                        MetadataOperand::Null => self.push("null"),
                        MetadataOperand::Metadata(id) => self.metadata(id)?,
                        MetadataOperand::Value(id) => self.typed_operand(id)?,
                    }
                }
                self.push("}");
            }
            Metadata::Debug(code, operands) => self.debug_node(*code, operands)?,
            Metadata::String(_) | Metadata::Value(_) => return Err(Error::internal("metadata is no node")),
        }
        self.function = None;
        Ok(())
    }

    /// Metadata as an operand: the number of a node, a string, a value with its type.
    pub(super) fn metadata(&mut self, id: MetadataId) -> Result<()> {
        if let Some(node) = self.node(id)? {
            return self.node_reference(node);
        }
        match self.metadata_of(id)? {
            Metadata::String(string) => {
                self.push("!\"");
                escaped(&mut self.text, string);
                self.push("\"");
                Ok(())
            }
            Metadata::Value(value) => self.typed_operand(*value),
            Metadata::Node { .. } | Metadata::Debug(..) => Err(Error::internal("metadata is no operand")),
        }
    }

    /// The number of a node.
    pub(super) fn node_reference(&mut self, node: Node) -> Result<()> {
        let number = self.slots.nodes.get(&node).copied();
        let number = number.ok_or_else(|| Error::internal("a node has no number"))?;
        self.write(format_args!("!{number}"))
    }

    /// What is attached to an instruction, its debug location aside, in the order of the kinds' numbers.
    pub(super) fn attachments(&self, instruction: u32) -> Vec<(u32, MetadataId)> {
        let attached = self.body().and_then(|body| body.annotations.attachments.get(&instruction));
        let mut attached = attached.cloned().unwrap_or_default();
        attached.sort_by_key(|(kind, _)| *kind);
        attached
    }

    /// An attachment: `!kind !0`.
    pub(super) fn attachment(&mut self, kind: u32, id: MetadataId) -> Result<()> {
        let name = self.module.metadata_kinds.get(&kind);
        let name = name.ok_or_else(|| Error::malformed(format!("unknown kind of metadata: {kind}")))?;
        self.push("!");
        metadata_identifier(&mut self.text, name);
        self.push(" ");
        self.metadata(id)
    }
}
