//! The emitter: IR to naga modules.

use super::{Emitted, Program, Target};
use crate::{Error, Result};

/// Emits a program for a target.
pub fn emit(_program: &Program, _target: &Target) -> Result<Emitted> {
    Err(Error::unsupported("emission"))
}
