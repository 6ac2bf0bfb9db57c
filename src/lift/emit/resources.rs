//! Resources: globals for the bindings that are used, and every operation on a resource.

use super::{Emission, FunctionEmitter, ModuleEmitter};
use crate::{Error, Result, ir};

/// What a module knows of its resources.
#[derive(Debug, Default)]
pub(super) struct ResourceState {}

impl ModuleEmitter<'_> {
    /// Declares the globals for the bindings that functions use.
    ///
    /// # Errors
    /// Names a resource that the target cannot express.
    pub fn declare_resources(&mut self, functions: &[ir::FunctionId]) -> Result<()> {
        let uses_resources = functions.iter().any(|id| {
            let function = &self.program.ir.functions[id.index()];
            let insts = function.blocks.iter().flat_map(|block| &block.insts);
            insts.filter_map(|&value| function.op(value)).any(|op| matches!(op, ir::Op::Handle { .. }))
        });
        if uses_resources { Err(Error::unsupported("resources")) } else { Ok(()) }
    }
}

impl FunctionEmitter<'_, '_> {
    /// An operation on a resource, `value` of the function; `ty` is its result's type. Handles themselves give nothing:
    /// operations look at the handle's definition.
    ///
    /// The caller has made sure that a helper lane does not get here with an operation that writes.
    ///
    /// # Errors
    /// Names what has no lowering.
    pub fn resource_op(&mut self, _value: ir::Value, _op: &ir::Op, _ty: ir::Type) -> Result<Option<Emission>> {
        Err(Error::unsupported("resource operation"))
    }
}
