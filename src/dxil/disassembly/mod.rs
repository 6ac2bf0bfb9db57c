//! DXIL as LLVM assembly: the text of `dxc -dumpbin`, from `target datalayout` on, with the comments that dxc adds to
//! calls of operations.
//!
//! The text is that of LLVM 3.7's assembly writer ("LLVM Language Reference Manual" of that version). [`names`] spells
//! identifiers, [`types`] types, [`constant`] constants, [`metadata`] and [`debug_info`] nodes, [`instruction`] and
//! [`function`] code, [`preamble`](mod@preamble) the comments in front; [`slots`] numbers what has no name, in the order of LLVM's writer.

mod attribute;
mod comment;
mod constant;
mod debug_info;
mod dwarf;
mod function;
mod instruction;
mod metadata;
mod names;
mod preamble;
mod resource;
mod slots;
mod symbol;
mod types;

use std::fmt::{self, Write};

use super::module::{Body, FunctionId, GlobalId, Metadata, MetadataId, Module, TypeId, Value, ValueDef, ValueId};
use crate::{Error, Result};

pub use preamble::preamble;

use function::FunctionScope;
use slots::Slots;
use types::TypeNames;

/// Longest listing that is written. Aggregates that share their parts can say a lot in a few bytes.
const MAX_LEN: usize = 1 << 28;

/// A module as LLVM assembly.
///
/// # Errors
/// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if something refers to what is not there;
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for constructs that no DXIL has.
pub fn disassemble(module: &Module) -> Result<String> {
    let mut listing =
        Listing { module, text: String::new(), types: TypeNames::default(), slots: Slots::default(), function: None };
    listing.number_module()?;
    listing.name_types()?;
    listing.module()?;
    Ok(listing.text)
}

/// The text so far, and what names things in it.
struct Listing<'a> {
    module: &'a Module,
    text: String,
    types: TypeNames,
    slots: Slots<'a>,
    /// The function that is being written.
    function: Option<FunctionScope<'a>>,
}

impl<'a> Listing<'a> {
    fn module(&mut self) -> Result<()> {
        let module = self.module;
        if !module.data_layout.is_empty() {
            self.write(format_args!("target datalayout = \"{}\"\n", module.data_layout))?;
        }
        if !module.triple.is_empty() {
            self.write(format_args!("target triple = \"{}\"\n", module.triple))?;
        }
        self.type_definitions()?;
        if !module.globals.is_empty() {
            self.push("\n");
        }
        for (id, global) in (0..).zip(&module.globals) {
            self.global(GlobalId(id), global)?;
        }
        if module.values.iter().any(|value| matches!(value.def, ValueDef::Alias)) {
            return Err(Error::unsupported("assembly of an alias"));
        }
        for (id, function) in (0..).zip(&module.functions) {
            let written = self.function(FunctionId(id));
            written.map_err(|error| error.in_function(function.name.clone()))?;
        }
        self.attribute_groups()?;
        if !module.named_metadata.is_empty() {
            self.push("\n");
        }
        for (name, nodes) in &module.named_metadata {
            self.named_metadata(name, nodes)?;
        }
        self.nodes()
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes formatted text.
    fn write(&mut self, arguments: fmt::Arguments<'_>) -> Result<()> {
        self.text.write_fmt(arguments).map_err(|_| Error::internal("a listing cannot be written"))
    }

    /// Fails if the listing has become too long to be that of a shader.
    fn check_len(&self) -> Result<()> {
        match self.text.len() {
            0..=MAX_LEN => Ok(()),
            _ => Err(Error::unsupported("listing of very many characters")),
        }
    }

    /// Code of the function that is being written.
    fn body(&self) -> Option<&'a Body> {
        self.function.as_ref().map(|function| function.body)
    }

    /// A value of the module or the function that is being written.
    fn value_of(&self, id: ValueId) -> Result<&'a Value> {
        let value = self.module.value(self.body(), id);
        value.ok_or_else(|| Error::malformed(format!("unknown value: {}", id.0)))
    }

    fn type_of(&self, id: ValueId) -> Result<TypeId> {
        Ok(self.value_of(id)?.ty)
    }

    /// Metadata of the module or the function that is being written.
    fn metadata_of(&self, id: MetadataId) -> Result<&'a Metadata> {
        let module = &self.module.metadata;
        let metadata = match id.index().checked_sub(module.len()) {
            None => module.get(id.index()),
            Some(local) => self.body().and_then(|body| body.annotations.metadata.get(local)),
        };
        metadata.ok_or_else(|| Error::malformed(format!("unknown metadata: {}", id.0)))
    }

    /// A value with its type in front.
    fn typed_operand(&mut self, id: ValueId) -> Result<()> {
        let ty = self.type_of(id)?;
        self.ty(ty)?;
        self.push(" ");
        self.operand(id)
    }

    /// A value: its name, its number, or what it is if it is a constant.
    fn operand(&mut self, id: ValueId) -> Result<()> {
        let value = self.value_of(id)?;
        match &value.def {
            ValueDef::Global(global) => self.global_name(*global),
            ValueDef::Function(function) => self.function_name(*function),
            ValueDef::Alias => Err(Error::unsupported("assembly of an alias")),
            ValueDef::Constant(constant) => self.constant(value.ty, constant, 0),
            ValueDef::Argument(_) | ValueDef::Instruction(_) => self.local_name(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::{Bitcode, Container, FourCc};

    fn listing(bytes: &[u8]) -> String {
        let container = Container::parse(bytes).unwrap();
        let bitcode = Bitcode::parse(container.part(FourCc::DXIL).unwrap()).unwrap();
        disassemble(&Module::read(bitcode.bytes).unwrap()).unwrap()
    }

    #[test]
    fn a_module_from_its_target_to_its_metadata() {
        let text = listing(include_bytes!("../../../tests/fixtures/dxil/functions.dxil"));
        assert!(text.starts_with("target datalayout = \"e-m:e-p:32:32"), "{text}");
        assert!(text.contains("\ntarget triple = \"dxil-ms-dx\"\n"));
        assert!(text.contains("\n%dx.types.Handle = type { i8* }\n"));
        assert!(text.contains("\ndefine void @main() {\n"));
        assert!(text.contains("(i32 96)  ; FlattenedThreadIdInGroup()\n"));
        assert!(text.contains("\n  ret void\n}\n"));
        assert!(text.contains("\n!dx.entryPoints = !{!"));
        assert!(text.contains("!{void ()* @main, !\"main\", null, !"));
    }
}
