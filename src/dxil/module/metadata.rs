//! Metadata of an LLVM module, and a typed way through it.

use super::{Constant, FunctionId, MetadataId, Module, Type, TypeId, ValueDef, ValueId};
use crate::{Error, Result};

/// One metadata.
#[derive(Clone, Debug, PartialEq)]
pub enum Metadata {
    /// A string.
    String(String),
    /// A value: a constant, a global variable, a function.
    Value(ValueId),
    /// A tuple.
    Node {
        /// It differs from all others, whatever its members.
        distinct: bool,
        /// Its members.
        members: Vec<MetadataOperand>,
    },
    /// A record of debug information: its code and operands, not interpreted.
    Debug(u32, Vec<u64>),
}

/// Member of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataOperand {
    /// Nothing.
    Null,
    /// Another metadata.
    Metadata(MetadataId),
    /// A value (in the encoding of LLVM before 3.6).
    Value(ValueId),
}

/// A tuple with its module: reads its members by position, as DXIL's tables want them.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    module: &'a Module,
    members: &'a [MetadataOperand],
}

impl<'a> Node<'a> {
    /// The tuple of an id; `None` if it is something else.
    pub fn new(module: &'a Module, id: MetadataId) -> Option<Self> {
        match module.metadata.get(id.index())? {
            Metadata::Node { members, .. } => Some(Self { module, members }),
            _ => None,
        }
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// It has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// A member is there, and not null.
    pub fn has(&self, index: usize) -> bool {
        !matches!(self.members.get(index), None | Some(MetadataOperand::Null))
    }

    /// A member that is a tuple; `None` if it is null, missing or something else.
    pub fn node(&self, index: usize) -> Option<Node<'a>> {
        match self.members.get(index)? {
            MetadataOperand::Metadata(id) => Node::new(self.module, *id),
            _ => None,
        }
    }

    /// The tuples among the members of a member.
    pub fn nodes(&self, index: usize) -> impl Iterator<Item = Node<'a>> {
        let inner = self.node(index);
        inner.into_iter().flat_map(|inner| (0..inner.len()).filter_map(move |index| inner.node(index)))
    }

    /// A member that is a string.
    pub fn string(&self, index: usize) -> Option<&'a str> {
        match self.members.get(index)? {
            MetadataOperand::Metadata(id) => match self.module.metadata.get(id.index())? {
                Metadata::String(string) => Some(string),
                _ => None,
            },
            _ => None,
        }
    }

    /// A member that is a value.
    pub fn value(&self, index: usize) -> Option<ValueId> {
        match self.members.get(index)? {
            MetadataOperand::Metadata(id) => match self.module.metadata.get(id.index())? {
                Metadata::Value(value) => Some(*value),
                _ => None,
            },
            MetadataOperand::Value(value) => Some(*value),
            MetadataOperand::Null => None,
        }
    }

    /// A member that is an integer constant, sign-extended.
    pub fn integer(&self, index: usize) -> Option<i64> {
        let (_, constant) = self.module.constant(self.value(index)?)?;
        match constant {
            Constant::Integer(value) => Some(*value),
            Constant::Null | Constant::Undefined => Some(0),
            _ => None,
        }
    }

    /// A member that is an integer of 32 bits, whatever its sign.
    ///
    /// # Errors
    /// It is missing or something else.
    pub fn u32(&self, index: usize) -> Result<u32> {
        self.integer(index)
            .map(|value| value as u32)
            .ok_or_else(|| Error::malformed(format!("metadata member is no integer: {index}")))
    }

    /// A member that is a float constant.
    pub fn f32(&self, index: usize) -> Option<f32> {
        let (_, constant) = self.module.constant(self.value(index)?)?;
        match constant {
            Constant::Float(bits) => Some(f32::from_bits(*bits as u32)),
            Constant::Null => Some(0.0),
            _ => None,
        }
    }

    /// A member that is a function.
    pub fn function(&self, index: usize) -> Option<FunctionId> {
        match self.module.values.get(self.value(index)?.index())?.def {
            ValueDef::Function(function) => Some(function),
            _ => None,
        }
    }

    /// Type of a member that is a value: what it points to, if it is a pointer.
    pub fn pointee(&self, index: usize) -> Option<TypeId> {
        let ty = self.module.values.get(self.value(index)?.index())?.ty;
        match self.module.types.get(ty)? {
            Type::Pointer { pointee, .. } => Some(*pointee),
            _ => Some(ty),
        }
    }

    /// The members as pairs of a tag (an integer) and the position of what follows it: DXIL's extensible lists.
    pub fn tags(self) -> impl Iterator<Item = (u32, usize)> {
        (0..self.len() / 2).filter_map(move |pair| Some((self.integer(pair * 2)? as u32, pair * 2 + 1)))
    }
}
