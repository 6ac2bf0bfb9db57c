//! Transformations of modules. Each pass is one file, says what it guarantees, and leaves a module that verifies.

use super::Module;
use crate::{Result, reflection::Interface};

/// Brings a module as front ends make it into the form that the emitter takes.
///
/// # Errors
/// [`ErrorKind::Internal`](crate::ErrorKind::Internal) in debug builds, if a pass leaves a module that does not verify.
pub fn optimize(_module: &mut Module, _interface: &Interface) -> Result<()> {
    Ok(())
}
