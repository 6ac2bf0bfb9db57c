//! The stage interface: arguments and results of entry points, and the operations on them.

use naga::{BuiltIn, EarlyDepthTest, ShaderStage};

use super::{Emission, FunctionEmitter, ModuleEmitter, expression::Expr};
use crate::{
    Error, Result, ir,
    reflection::{EntryPointInterface, Stage},
};

/// What a function knows of its stage interface.
#[derive(Debug, Default)]
pub(super) struct IoState {}

/// What an entry point declares besides its function.
#[derive(Debug)]
pub(super) struct EntryRecord {
    /// Its stage.
    pub stage: ShaderStage,
    /// Threads of a group; zeros in other stages.
    pub workgroup_size: [u32; 3],
    /// When a pixel shader's depth test is made.
    pub early_depth_test: Option<EarlyDepthTest>,
}

impl ModuleEmitter<'_> {
    /// What an entry point declares; `None` for a stage that naga lacks: its program becomes a plain function.
    /// `flattened`: the thread group is to be declared as (x*y*z, 1, 1), see [`FunctionEmitter::flattened`].
    ///
    /// # Errors
    /// Names what the target cannot express.
    pub fn entry_record(&mut self, interface: &EntryPointInterface, flattened: bool) -> Result<Option<EntryRecord>> {
        let stage = match interface.stage {
            Stage::Vertex => ShaderStage::Vertex,
            Stage::Pixel => ShaderStage::Fragment,
            Stage::Compute => ShaderStage::Compute,
            _ => return Ok(None),
        };
        let mut workgroup_size = [0; 3];
        if stage == ShaderStage::Compute {
            workgroup_size = interface.facts.thread_group_size.unwrap_or([1; 3]);
            if flattened {
                workgroup_size = [workgroup_size.iter().product(), 1, 1];
            }
        }
        let early_depth_test = interface.facts.early_depth_stencil.then_some(EarlyDepthTest::Force);
        Ok(Some(EntryRecord { stage, workgroup_size, early_depth_test }))
    }
}

impl FunctionEmitter<'_, '_> {
    /// Begins an entry point: its arguments, its result, and locals for its outputs.
    ///
    /// # Errors
    /// Names what the target cannot express.
    pub fn begin_entry(&mut self, _stage: Stage, interface: &EntryPointInterface) -> Result<()> {
        if interface.inputs.is_empty() && interface.outputs.is_empty() {
            return Ok(());
        }
        Err(Error::unsupported("stage interface"))
    }

    /// The entry point's result, composed from its outputs where it returns; `None` if it has none.
    ///
    /// # Errors
    /// Names what the target cannot express.
    pub fn finish_entry(&mut self) -> Result<Option<Expr>> {
        Ok(None)
    }

    /// An operation on the stage interface, `value` of the function; `ty` is its result's type.
    ///
    /// # Errors
    /// Names what has no lowering.
    pub fn io_op(&mut self, _value: ir::Value, _op: &ir::Op, _ty: ir::Type) -> Result<Option<Emission>> {
        Err(Error::unsupported("operation on the stage interface"))
    }

    /// A built-in input of the entry point; its argument is added at the first use. The expression has naga's type of
    /// the built-in, unsigned where it is an integer.
    ///
    /// # Errors
    /// The function is no entry point, or the target lacks the built-in.
    pub fn builtin(&mut self, builtin: BuiltIn) -> Result<Expr> {
        Err(Error::unsupported(format!("built-in input: {builtin:?}")))
    }
}
