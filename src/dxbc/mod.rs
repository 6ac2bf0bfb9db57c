//! DXBC: tokenized programs of Shader Model 4.0 to 5.1, to IR.
//!
//! * [`decode()`] reads tokens into typed declarations and instructions; nothing is interpreted there.
//! * [`declare()`] completes an [`Interface`] with what the declarations tell: with or without the reflection parts.
//! * [`lift()`] lowers the instructions: registers become SSA values, structured flow becomes blocks.
//!
//! The format is that of `d3d11TokenizedProgramFormat.hpp` (Windows SDK); what instructions mean is in the Direct3D
//! 11.3 functional specification, section 22.

mod coverage;
pub mod declaration;
mod declare;
pub mod decode;
mod disassembly;
mod lower;
pub mod opcode;
pub mod operand;
mod statement;
mod token;

#[cfg(test)]
pub(crate) use coverage::markdown as coverage_markdown;
pub use declare::declare;
pub use decode::decode;
pub use disassembly::disassemble;

use crate::{
    Error, Result,
    container::{Container, FourCc, Part},
    lift::{LiftOptions, Program},
    reflection::Interface,
};

/// The part that holds the tokens, and its program.
///
/// # Errors
/// [`ErrorKind::NotAProgram`](crate::ErrorKind::NotAProgram) if there is no such part.
fn program_part<'a>(container: &Container<'a>) -> Result<Part<'a>> {
    let part = container.part(FourCc(*b"SHEX")).or_else(|| container.part(FourCc(*b"SHDR")));
    part.ok_or_else(|| Error::new(crate::ErrorKind::NotAProgram, "a container without tokens (SHEX or SHDR part)"))
}

/// Lowers the program of a container (`SHEX` or `SHDR` part). `interface` is what [`crate::reflection::reflect`] read.
///
/// # Errors
/// Names the instruction that has no lowering, or the token that contradicts the format.
pub fn lift(container: &Container<'_>, interface: Interface, _options: &LiftOptions) -> Result<Program> {
    let part = program_part(container)?;
    let program = decode(part.data).map_err(|error| error.in_part(part.name))?;
    let (ir, notes) = lower::lower(&program, &interface).map_err(|error| error.in_part(part.name))?;
    Ok(Program { ir, interface, notes })
}
