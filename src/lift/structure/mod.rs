//! Structured control flow: the graph of a function as a tree of blocks, choices and loops that naga can say.
//!
//! Three steps, each in a file of its own:
//!
//! 1. `plan` decides where each block stands, by the dominator tree (after Ramsey, *Beyond Relooper*, 2022). A block
//!    with one way in stands where that way leads. One with several is the *merge* of its immediate dominator: it stands
//!    behind it, and all ways to it leave what the dominator heads. Blocks behind a loop stand behind it even if they
//!    are dominated from inside: lanes that leave a loop in different rounds meet again behind it.
//! 2. `shape` follows the graph accordingly, and makes a tree whose exits name the block they go to.
//! 3. `lower` finds out which exits need no statement because control arrives there anyway, which need a `Break`, and
//!    which have to leave several levels and tell the outer ones by a [`Flag`].

mod lower;
mod plan;
mod shape;
#[cfg(test)]
mod tests;
mod tree;

pub use tree::*;

use crate::{
    Error, ErrorKind, Result,
    ir::{Function, Module, passes::flatten},
};

/// Structures a function whose graph is reducible; [`make_reducible`](crate::ir::passes::make_reducible) makes any graph so.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if the tree would be nested deeper than naga's own
/// recursion bears, [`ErrorKind::Internal`] if the graph is irreducible.
pub fn structure(function: &Function) -> Result<Tree> {
    let plan = plan::Plan::new(function);
    if !plan.loops.is_reducible() {
        return Err(Error::internal("the graph is irreducible").in_function(function.name.clone()));
    }
    let shapes = shape::build(&plan).map_err(|error| error.in_function(function.name.clone()))?;
    lower::lower(shapes).map_err(|error| error.in_function(function.name.clone()))
}

/// Flattens functions that would be nested too deeply, so that [`structure`] takes all of a module.
pub fn flatten_deep_functions(module: &mut Module) {
    for function in &mut module.functions {
        if structure(function).is_err_and(|error| error.kind == ErrorKind::Unsupported) {
            flatten(function);
        }
    }
}
