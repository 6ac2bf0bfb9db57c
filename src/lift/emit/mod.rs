//! The emitter: IR to naga modules.
//!
//! [`ModuleEmitter`] owns what a module has once (types, globals), [`FunctionEmitter`] what each function has. Both are
//! spread over files by subject: each file is one `impl` of what it is named for.
//!
//! A function goes through three steps: the structurer makes a tree of its graph, [`plan::Plan`] decides the sign of
//! every integer and which values need a local variable, and [`control`] walks the tree and emits one instruction after
//! another through [`operation`].

mod arithmetic;
mod atomic;
mod atomic_variable;
mod bindings;
mod buffer;
mod comparison;
mod constant;
mod control;
mod convert;
mod derivative;
mod discard;
mod expression;
mod format;
mod function;
mod input;
mod integer;
mod io;
mod lanes;
mod literal;
mod mesh;
mod module;
mod operation;
mod output;
mod plan;
mod ray_query;
mod resources;
mod sample;
mod sign;
mod stage_state;
mod system_value;
mod texels;
mod texture;
mod types;
mod usage;
mod variables;
mod wave;
mod words;

#[cfg(test)]
mod tests;

use function::{Emission, FunctionEmitter};
use module::ModuleEmitter;

use super::{Emitted, Program, Target};
use crate::Result;

/// Emits a program for a target.
///
/// # Errors
/// Names what the target cannot express.
pub fn emit(program: &Program, target: &Target) -> Result<Emitted> {
    ModuleEmitter::new(program, target).emit()
}
