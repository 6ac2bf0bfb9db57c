//! What a module has once.

use naga::Handle;

use super::{resources::ResourceState, variables::Storage};
use crate::lift::{EmittedResource, Note, Program, Target};

/// A naga module in the making.
pub(super) struct ModuleEmitter<'a> {
    /// What is emitted.
    pub program: &'a Program,
    /// For which target.
    pub target: &'a Target,
    /// The module so far.
    pub module: naga::Module,
    /// What must be bound to it.
    pub resources: Vec<EmittedResource>,
    /// How its resources are declared.
    pub resource_state: ResourceState,
    /// Functions that are emitted, by [`crate::ir::FunctionId`].
    pub functions: Vec<Option<Handle<naga::Function>>>,
    /// Where the program's variables are, by [`crate::ir::VariableId`].
    pub variables: Vec<Option<Storage>>,
    /// What a user may want to know.
    pub notes: Vec<Note>,
}

impl<'a> ModuleEmitter<'a> {
    /// An empty module.
    pub fn new(program: &'a Program, target: &'a Target) -> Self {
        Self {
            program,
            target,
            module: naga::Module::default(),
            resources: Vec::new(),
            resource_state: ResourceState::default(),
            functions: vec![None; program.ir.functions.len()],
            variables: vec![None; program.ir.variables.len()],
            notes: Vec::new(),
        }
    }

    /// Tells the user something, once.
    pub fn note(&mut self, text: impl Into<String>) {
        let note = Note::new(text);
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
