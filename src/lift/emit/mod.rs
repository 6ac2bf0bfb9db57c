//! The emitter: IR to naga modules.
//!
//! [`ModuleEmitter`] owns what a module has once (types, globals), [`FunctionEmitter`] what each function has. Both are
//! spread over files by subject: each file is one `impl` of what it is named for.

mod expression;
mod function;
mod input;
mod io;
mod lanes;
mod module;
mod output;
mod resources;
mod system_value;
mod types;
mod variables;

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
