//! DXBC: tokenized programs of Shader Model 4.0 to 5.1, to IR.

use crate::{
    Error, Result,
    container::Container,
    lift::{LiftOptions, Program},
    reflection::Interface,
};

/// Lowers the program of a container (`SHEX` or `SHDR` part). `interface` is what [`crate::reflection::reflect`] read.
///
/// # Errors
/// Names the instruction that has no lowering, or the token that contradicts the format.
pub fn lift(_container: &Container<'_>, _interface: Interface, _options: &LiftOptions) -> Result<Program> {
    Err(Error::unsupported("DXBC"))
}

/// Completes and corrects what the parts say with what the program's tokens declare.
///
/// # Errors
/// Names the token that contradicts the format.
pub fn declare(_container: &Container<'_>, _interface: &mut Interface) -> Result<()> {
    Ok(())
}
