//! Numbers of what has no name, in the order of LLVM's `SlotTracker`.

use std::collections::{HashMap, hash_map};

use super::{Listing, metadata::Node};
use crate::{
    Result,
    dxil::module::{Attribute, AttributeList, Detail, FunctionId, GlobalId, MetadataOperand, Operation},
};

/// Numbers in the whole module.
#[derive(Debug, Default)]
pub(super) struct Slots<'a> {
    /// Of global variables without a name.
    pub(super) globals: HashMap<GlobalId, u32>,
    /// Of functions without a name, counted on from global variables.
    pub(super) functions: HashMap<FunctionId, u32>,
    /// Of nodes.
    pub(super) nodes: HashMap<Node, u32>,
    /// Nodes by number.
    pub(super) node_order: Vec<Node>,
    /// Of sets of attributes of functions and calls.
    pub(super) attributes: HashMap<&'a [Attribute], u32>,
    /// Sets of attributes by number.
    pub(super) attribute_order: Vec<&'a [Attribute]>,
}

impl<'a> Listing<'a> {
    /// Numbers what is there before any function's code.
    pub(super) fn number_module(&mut self) -> Result<()> {
        let module = self.module;
        let globals = (0..).zip(&module.globals).filter(|(_, global)| global.name.is_empty());
        self.slots.globals = globals.map(|(id, _)| GlobalId(id)).zip(0..).collect();
        let first = self.slots.globals.len() as u32;
        let functions = (0..).zip(&module.functions).filter(|(_, function)| function.name.is_empty());
        self.slots.functions = functions.map(|(id, _)| FunctionId(id)).zip(first..).collect();
        for (_, nodes) in &module.named_metadata {
            for &id in nodes {
                if let Some(node) = self.node(id)? {
                    self.number_node(node)?;
                }
            }
        }
        for function in &module.functions {
            self.number_attributes(function.attributes);
        }
        Ok(())
    }

    /// Numbers what the code of the function that is being written refers to in the whole module.
    pub(super) fn number_function(&mut self) -> Result<()> {
        let Some(body) = self.body() else { return Ok(()) };
        for &(_, id) in &body.annotations.function {
            if let Some(node) = self.node(id)? {
                self.number_node(node)?;
            }
        }
        for (number, instruction) in body.instructions.iter().enumerate() {
            let number = number as u32;
            if let Operation::Call { arguments, .. } = &instruction.op {
                for position in 0..arguments.len() as u32 {
                    if let Some(&id) = body.annotations.arguments.get(&(number, position))
                        && let Some(node) = self.node(id)?
                    {
                        self.number_node(node)?;
                    }
                }
            }
            if let Some(&location) = body.annotations.locations.get(&number)
                && location.scope.is_some()
            {
                self.number_node(Node::Location(location))?;
            }
            for (_, id) in self.attachments(number) {
                if let Some(node) = self.node(id)? {
                    self.number_node(node)?;
                }
            }
        }
        for instruction in &body.instructions {
            if let Detail::Call { attributes, .. } = instruction.detail {
                self.number_attributes(attributes);
            }
        }
        Ok(())
    }

    /// Numbers a node, then those that it refers to, each with its own before the next.
    fn number_node(&mut self, node: Node) -> Result<()> {
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            let number = self.slots.node_order.len() as u32;
            let hash_map::Entry::Vacant(slot) = self.slots.nodes.entry(node) else { continue };
            slot.insert(number);
            self.slots.node_order.push(node);
            let start = work.len();
            for member in self.node_members(node)? {
                if let MetadataOperand::Metadata(id) = member {
                    work.extend(self.node(id)?);
                }
            }
            work[start..].reverse();
        }
        Ok(())
    }

    /// Numbers the attributes that a list has for the function as a whole.
    fn number_attributes(&mut self, list: Option<u32>) {
        let attributes = self.function_attributes(list);
        if attributes.is_empty() {
            return;
        }
        if let hash_map::Entry::Vacant(slot) = self.slots.attributes.entry(attributes) {
            slot.insert(self.slots.attribute_order.len() as u32);
            self.slots.attribute_order.push(attributes);
        }
    }

    /// The attributes that a list has for the function as a whole.
    pub(super) fn function_attributes(&self, list: Option<u32>) -> &'a [Attribute] {
        self.attributes(list, AttributeList::FUNCTION)
    }

    /// The attributes that a list has for an index.
    pub(super) fn attributes(&self, list: Option<u32>, index: u32) -> &'a [Attribute] {
        let list = list.and_then(|list| self.module.attributes.get(list as usize));
        list.map_or(&[], |list| list.of(index))
    }
}
