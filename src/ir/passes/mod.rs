//! Transformations of modules. Each pass is one file, says what it guarantees, and leaves a module that verifies.

mod reducible;

pub use reducible::make_reducible;

use super::{Module, verify};
use crate::{Result, reflection::Interface};

/// Brings a module as front ends make it into the form that the emitter takes.
///
/// # Errors
/// [`ErrorKind::Internal`](crate::ErrorKind::Internal) in debug builds, if a pass leaves a module that does not verify.
pub fn optimize(module: &mut Module, interface: &Interface) -> Result<()> {
    for function in &mut module.functions {
        make_reducible(function);
    }
    check(module, interface)
}

/// Verifies, in debug builds.
fn check(module: &Module, interface: &Interface) -> Result<()> {
    if cfg!(debug_assertions) { verify(module, interface) } else { Ok(()) }
}
