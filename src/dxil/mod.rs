//! DXIL: LLVM 3.7 bitcode of Shader Model 6.0 and later, to IR.

use crate::{
    Error, Result,
    container::Container,
    lift::{LiftOptions, Program},
    reflection::Interface,
};

/// Lowers the programs of a container (`DXIL` part). `interface` is what [`crate::reflection::reflect`] read.
///
/// # Errors
/// Names the instruction that has no lowering, or the record that contradicts the format.
pub fn lift(_container: &Container<'_>, _interface: Interface, _options: &LiftOptions) -> Result<Program> {
    Err(Error::unsupported("DXIL"))
}

/// Reads what the metadata of a program tells of it.
///
/// # Errors
/// Names the metadata that contradicts the format.
pub fn reflect(_container: &Container<'_>) -> Result<Interface> {
    Err(Error::unsupported("metadata of DXIL"))
}
