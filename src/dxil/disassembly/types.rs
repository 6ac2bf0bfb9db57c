//! Types: how they are spelled, and the definitions of structures.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::{Listing, metadata::Node, names::identifier};
use crate::{
    Error, Result,
    dxil::module::{
        Constant, Expression, Metadata, MetadataId, MetadataOperand, Operation, Type, TypeId, ValueDef, ValueId,
    },
};

/// Longest spelling of a type. Structures without a name that contain one another can be very long.
const MAX_LEN: usize = 1 << 16;

/// Deepest nesting of pointers and structures without a name.
const MAX_DEPTH: u32 = 128;

/// How types are spelled.
#[derive(Debug, Default)]
pub(super) struct TypeNames {
    /// Structures that are defined: first those with a number, then those with a name.
    defined: Vec<TypeId>,
    /// Numbers of structures that have an identity but no name.
    numbers: HashMap<TypeId, usize>,
    /// Spellings so far.
    spelled: HashMap<TypeId, Rc<str>>,
}

/// What has been seen in search of structures.
#[derive(Default)]
struct Search {
    types: HashSet<TypeId>,
    /// Constants of the module.
    values: HashSet<ValueId>,
    /// Constants of the function.
    local_values: HashSet<ValueId>,
    nodes: HashSet<Node>,
    /// Structures in the order they were found in.
    found: Vec<TypeId>,
}

/// What is still to be searched.
enum Item {
    Value(ValueId),
    Node(Node),
}

impl<'a> Listing<'a> {
    /// Finds the structures of the module that need definitions, in the order that LLVM's `TypeFinder` has.
    pub(super) fn name_types(&mut self) -> Result<()> {
        let module = self.module;
        let mut search = Search::default();
        for value in &module.values {
            if let ValueDef::Global(global) = value.def {
                self.search_type(&mut search, value.ty);
                if let Some(initializer) = module.globals[global.index()].initializer {
                    self.search(&mut search, Item::Value(initializer))?;
                }
            }
        }
        for value in &module.values {
            let ValueDef::Function(function) = value.def else { continue };
            self.search_type(&mut search, value.ty);
            if module.functions[function.index()].body.is_some() {
                self.enter(function)?;
                self.search_body(&mut search)?;
                // The numbers of a function's constants mean others in the next.
                search.local_values.clear();
                self.function = None;
            }
        }
        for (_, nodes) in &module.named_metadata {
            for &id in nodes {
                if let Some(node) = self.node(id)? {
                    self.search(&mut search, Item::Node(node))?;
                }
            }
        }
        let is_named = |id: &TypeId| {
            matches!(module.types.get(*id), Some(Type::Struct { name: Some(name), .. } | Type::Opaque { name })
                if !name.is_empty())
        };
        let (named, numbered): (Vec<_>, Vec<_>) = search.found.into_iter().partition(is_named);
        self.types.numbers = numbered.iter().enumerate().map(|(number, &id)| (id, number)).collect();
        self.types.defined = numbered.into_iter().chain(named).collect();
        Ok(())
    }

    fn search_body(&mut self, search: &mut Search) -> Result<()> {
        let Some(body) = self.body() else { return Ok(()) };
        let mut operands = Vec::new();
        for (number, instruction) in body.instructions.iter().enumerate() {
            let number = number as u32;
            self.search_type(search, instruction.ty);
            if let Operation::Call { arguments, .. } = &instruction.op {
                for (position, &argument) in arguments.iter().enumerate() {
                    if argument != ValueId::NONE {
                        self.search(search, Item::Value(argument))?;
                        continue;
                    }
                    let id = body.annotations.arguments.get(&(number, position as u32));
                    let id = *id.ok_or_else(|| Error::malformed("metadata of a call is missing"))?;
                    match (self.node(id)?, self.metadata_of(id)?) {
                        (Some(node), _) => self.search(search, Item::Node(node))?,
                        (None, Metadata::Value(value)) => self.search(search, Item::Value(*value))?,
                        _ => {}
                    }
                }
            } else {
                operands.clear();
                instruction.op.for_each_operand(|operand| operands.push(operand));
                for &operand in &operands {
                    self.search(search, Item::Value(operand))?;
                }
            }
            for (_, id) in self.attachments(number) {
                if let Some(node) = self.node(id)? {
                    self.search(search, Item::Node(node))?;
                }
            }
        }
        Ok(())
    }

    /// Searches a type, and what it is made of.
    fn search_type(&self, search: &mut Search, ty: TypeId) {
        let types = &self.module.types;
        let mut work = Vec::new();
        let visit = |search: &mut Search, work: &mut Vec<TypeId>, id: TypeId| {
            let id = types.canonical(id);
            if search.types.insert(id) {
                work.push(id);
            }
        };
        visit(search, &mut work, ty);
        while let Some(id) = work.pop() {
            match types.get(id) {
                Some(Type::Struct { name, fields, .. }) => {
                    // Those that are their fields and nothing else need no definition.
                    if name.is_some() {
                        search.found.push(id);
                    }
                    fields.iter().rev().for_each(|&field| visit(search, &mut work, field));
                }
                Some(Type::Opaque { .. }) => search.found.push(id),
                Some(Type::Pointer { pointee, .. }) => visit(search, &mut work, *pointee),
                Some(Type::Array { element, .. } | Type::Vector { element, .. }) => {
                    visit(search, &mut work, *element);
                }
                Some(Type::Function { result, params, .. }) => {
                    params.iter().rev().for_each(|&param| visit(search, &mut work, param));
                    visit(search, &mut work, *result);
                }
                _ => {}
            }
        }
    }

    /// Searches a value, if it is a constant, or a node, and what they are made of.
    fn search(&self, search: &mut Search, item: Item) -> Result<()> {
        let mut work = vec![item];
        while let Some(item) = work.pop() {
            let start = work.len();
            match item {
                Item::Value(id) => {
                    let value = self.value_of(id)?;
                    let ValueDef::Constant(constant) = &value.def else { continue };
                    let is_local = id.index() >= self.module.values.len();
                    let seen = if is_local { &mut search.local_values } else { &mut search.values };
                    if seen.insert(id) {
                        self.search_type(search, value.ty);
                        for_each_part(constant, |part| work.push(Item::Value(part)));
                    }
                }
                Item::Node(node) => {
                    if search.nodes.insert(node) {
                        self.for_each_member(node, |member| work.extend(member))?;
                    }
                }
            }
            work[start..].reverse();
        }
        Ok(())
    }

    /// Calls `f` on the members of a node that types can hide in.
    fn for_each_member(&self, node: Node, mut f: impl FnMut(Option<Item>)) -> Result<()> {
        for id in self.node_members(node)? {
            match id {
                MetadataOperand::Metadata(id) => match self.node(id)? {
                    Some(node) => f(Some(Item::Node(node))),
                    None => f(self.metadata_value(id)?.map(Item::Value)),
                },
                MetadataOperand::Value(value) => f(Some(Item::Value(value))),
                MetadataOperand::Null => {}
            }
        }
        Ok(())
    }

    /// The value that metadata wraps.
    fn metadata_value(&self, id: MetadataId) -> Result<Option<ValueId>> {
        Ok(match self.metadata_of(id)? {
            Metadata::Value(value) => Some(*value),
            _ => None,
        })
    }

    /// Definitions of structures.
    pub(super) fn type_definitions(&mut self) -> Result<()> {
        let defined = std::mem::take(&mut self.types.defined);
        if !defined.is_empty() {
            self.push("\n");
        }
        for &id in &defined {
            self.ty(id)?;
            self.push(" = type ");
            let mut body = String::new();
            match self.module.types.get(id) {
                Some(Type::Struct { fields, packed, .. }) => self.structure(&mut body, fields, *packed, 0)?,
                _ => body.push_str("opaque"),
            }
            self.push(&body);
            self.push("\n");
            self.check_len()?;
        }
        Ok(())
    }

    /// A type.
    pub(super) fn ty(&mut self, id: TypeId) -> Result<()> {
        let spelled = self.spelled(id, 0)?;
        self.push(&spelled);
        Ok(())
    }

    fn spelled(&mut self, id: TypeId, depth: u32) -> Result<Rc<str>> {
        if let Some(spelled) = self.types.spelled.get(&id) {
            return Ok(spelled.clone());
        }
        if depth > MAX_DEPTH {
            return Err(Error::malformed("types are nested too deep"));
        }
        let ty = self.module.types.get(id).ok_or_else(|| Error::malformed(format!("unknown type: {}", id.0)))?;
        let mut text = String::new();
        match ty {
            Type::Void => text.push_str("void"),
            Type::Half => text.push_str("half"),
            Type::Float => text.push_str("float"),
            Type::Double => text.push_str("double"),
            Type::Integer(bits) => text = format!("i{bits}"),
            Type::Label => text.push_str("label"),
            Type::Metadata => text.push_str("metadata"),
            Type::Foreign(name) => text.push_str(name),
            Type::Pointer { pointee, space } => {
                text.push_str(&self.spelled(*pointee, depth + 1)?);
                if *space != 0 {
                    text.push_str(&format!(" addrspace({space})"));
                }
                text.push('*');
            }
            Type::Array { element, len } => text = format!("[{len} x {}]", self.spelled(*element, depth + 1)?),
            Type::Vector { element, len } => text = format!("<{len} x {}>", self.spelled(*element, depth + 1)?),
            Type::Struct { name: Some(name), .. } | Type::Opaque { name } => {
                text.push('%');
                match self.types.numbers.get(&self.module.types.canonical(id)) {
                    Some(number) => text.push_str(&number.to_string()),
                    None if name.is_empty() => return Err(Error::internal("a structure has no number")),
                    None => identifier(&mut text, name),
                }
            }
            Type::Struct { name: None, packed, fields } => self.structure(&mut text, fields, *packed, depth)?,
            Type::Function { result, params, variadic } => {
                text.push_str(&self.spelled(*result, depth + 1)?);
                text.push_str(" (");
                self.list(&mut text, params, depth)?;
                if *variadic {
                    text.push_str(if params.is_empty() { "..." } else { ", ..." });
                }
                text.push(')');
            }
        }
        if text.len() > MAX_LEN {
            return Err(Error::unsupported("type of very many parts"));
        }
        let spelled: Rc<str> = text.into();
        self.types.spelled.insert(id, spelled.clone());
        Ok(spelled)
    }

    /// The body of a structure.
    fn structure(&mut self, text: &mut String, fields: &[TypeId], packed: bool, depth: u32) -> Result<()> {
        if packed {
            text.push('<');
        }
        if fields.is_empty() {
            text.push_str("{}");
        } else {
            text.push_str("{ ");
            self.list(text, fields, depth)?;
            text.push_str(" }");
        }
        if packed {
            text.push('>');
        }
        Ok(())
    }

    fn list(&mut self, text: &mut String, types: &[TypeId], depth: u32) -> Result<()> {
        for (index, &id) in types.iter().enumerate() {
            if index > 0 {
                text.push_str(", ");
            }
            text.push_str(&self.spelled(id, depth + 1)?);
            if text.len() > MAX_LEN {
                return Err(Error::unsupported("type of very many parts"));
            }
        }
        Ok(())
    }
}

/// Calls `f` on the values that a constant is made of.
fn for_each_part(constant: &Constant, mut f: impl FnMut(ValueId)) {
    match constant {
        Constant::Aggregate(parts) => parts.iter().copied().for_each(f),
        Constant::Expression(expression) => match expression {
            Expression::Binary { a, b, .. } | Expression::Compare(_, a, b) => {
                f(*a);
                f(*b);
            }
            Expression::Cast(_, value) => f(*value),
            Expression::ElementPointer { base, indices, .. } => {
                f(*base);
                indices.iter().copied().for_each(f);
            }
            Expression::Select(condition, accept, reject) => {
                f(*condition);
                f(*accept);
                f(*reject);
            }
            Expression::Other(_) => {}
        },
        Constant::Undefined | Constant::Null | Constant::Integer(_) | Constant::Float(_) | Constant::Data(_) => {}
    }
}
