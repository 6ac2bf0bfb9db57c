//! DXIL: LLVM 3.7 bitcode of Shader Model 6.0 and later, to IR.
//!
//! bytes -> [`bitcode`] (blocks and records) -> [`module`] (types, values, functions, metadata) -> [`mod@reflect`]
//! (the [`Interface`]) and [`lower`] (the IR), which takes the operations of [`op`].

pub mod bitcode;
mod lower;
pub mod module;
mod modules;
mod op;
mod reflect;

use crate::{
    Error, ErrorKind, Result,
    container::Container,
    lift::{LiftOptions, Program},
    reflection::{Interface, Stage},
};

/// Reads what a container tells of its DXIL programs: stage, signatures, bindings, layouts.
///
/// # Errors
/// [`ErrorKind::NotAProgram`](crate::ErrorKind::NotAProgram) if there is no DXIL; else names the record or metadata
/// that contradicts the format.
pub fn reflect(container: &Container<'_>) -> Result<Interface> {
    let (bitcode, module) = modules::program(container)?;
    let names = modules::reflection(container)?;
    reflect::interface(&bitcode, &module, names.as_ref()).map_err(|error| error.in_part(bitcode.part.name))
}

/// Lowers the programs of a container (`DXIL` part). `interface` is what [`crate::reflection::reflect`] read.
///
/// # Errors
/// Names the instruction that has no lowering, or the record that contradicts the format.
pub fn lift(container: &Container<'_>, mut interface: Interface, options: &LiftOptions) -> Result<Program> {
    let (bitcode, module) = modules::program(container)?;
    if let Some(entry) = &options.entry
        && interface.stage == Stage::Library
    {
        interface.entry_points.retain(|described| described.name == *entry);
        if interface.entry_points.is_empty() {
            return Err(Error::new(ErrorKind::Mismatch, format!("the library has no such entry point: {entry}")));
        }
    }
    if interface.entry_points.is_empty() {
        return Err(Error::new(ErrorKind::NotAProgram, "the library has no entry points"));
    }
    let ir = lower::lower(&module, &interface, interface.stage).map_err(|error| error.in_part(bitcode.part.name))?;
    Ok(Program { ir, interface, notes: Vec::new() })
}
