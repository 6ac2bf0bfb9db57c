//! The emitter: IR to naga modules.
//!
//! [`ModuleEmitter`] owns what a module has once (types, globals), [`FunctionEmitter`] what each function has. Both are
//! spread over files by subject: each file is one `impl` of what it is named for.

mod atomic;
mod bindings;
mod buffer;
mod constant;
mod expression;
mod format;
mod function;
mod input;
mod io;
mod lanes;
mod module;
mod output;
mod resources;
mod sample;
mod system_value;
mod texture;
mod types;
mod usage;
mod variables;
mod words;

use function::{Emission, FunctionEmitter};
use module::ModuleEmitter;

use super::{Emitted, Program, Target};
use crate::{Error, Result};

/// Emits a program for a target.
///
/// # Errors
/// Names what the target cannot express.
pub fn emit(_program: &Program, _target: &Target) -> Result<Emitted> {
    Err(Error::unsupported("emission"))
}
