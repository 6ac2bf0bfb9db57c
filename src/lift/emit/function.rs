//! What each function has.

use naga::{Block, Function, ScalarKind};

use super::{ModuleEmitter, expression::Expr, io::IoState};
use crate::{
    Error, Result,
    ir::{self, Value},
    reflection::EntryPointInterface,
};

/// A naga function in the making.
pub(super) struct FunctionEmitter<'m, 'a> {
    /// The module it is for.
    pub module: &'m mut ModuleEmitter<'a>,
    /// What is emitted.
    pub ir: &'a ir::Function,
    /// The function so far.
    pub function: Function,
    /// The innermost block, to which statements are appended.
    pub block: Block,
    /// Values that were emitted and are in scope, by [`Value`].
    pub values: Vec<Option<Emission>>,
    /// The entry point that the function is, if it is one.
    pub entry: Option<&'a EntryPointInterface>,
    /// Its stage interface.
    pub io: IoState,
    /// The entry point's thread group is declared as (x*y*z, 1, 1): naga has the lane index in flat groups only. Thread
    /// ids then come from the index within the group.
    pub flattened: bool,
}

/// A value of the IR as an expression. The kind tells the sign that an integer was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Emission {
    /// The expression.
    pub expr: Expr,
    /// Kind of its scalars.
    pub kind: ScalarKind,
}

impl<'a> FunctionEmitter<'_, 'a> {
    /// A value, as whatever kind it has.
    ///
    /// # Errors
    /// It was not emitted: a bug.
    pub fn get(&mut self, value: Value) -> Result<Emission> {
        self.values[value.index()]
            .ok_or_else(|| Error::internal(format!("value used before its definition: {value:?}")))
    }

    /// A value as a kind: integers are cast to the other sign, bit by bit.
    ///
    /// # Errors
    /// As for [`FunctionEmitter::get`].
    pub fn get_as(&mut self, value: Value, kind: ScalarKind) -> Result<Expr> {
        let emission = self.get(value)?;
        if emission.kind == kind {
            return Ok(emission.expr);
        }
        Ok(self.val(naga::Expression::As { expr: emission.expr, kind, convert: None }))
    }
}
