//! What a module has once.

use crate::lift::{Note, Program, Target};

/// A naga module in the making.
pub(super) struct ModuleEmitter<'a> {
    /// What is emitted.
    pub program: &'a Program,
    /// For which target.
    pub target: &'a Target,
    /// The module so far.
    pub module: naga::Module,
    /// What a user may want to know.
    pub notes: Vec<Note>,
}

impl<'a> ModuleEmitter<'a> {
    /// An empty module.
    pub fn new(program: &'a Program, target: &'a Target) -> Self {
        Self { program, target, module: naga::Module::default(), notes: Vec::new() }
    }
}
