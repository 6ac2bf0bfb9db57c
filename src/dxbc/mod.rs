//! DXBC: tokenized programs of Shader Model 4.0 to 5.1, to IR.
//!
//! * [`decode()`] reads tokens into typed declarations and instructions; nothing is interpreted there.
//! * [`declare()`] completes an [`Interface`] with what the declarations tell: with or without the reflection parts.
//! * [`lift()`] lowers the instructions: registers become SSA values, structured flow becomes blocks.
//!
//! The format is that of `d3d11TokenizedProgramFormat.hpp` (Windows SDK); what instructions mean is in the Direct3D
//! 11.3 functional specification, section 22.

mod assembler;
#[cfg(test)]
mod coverage;
pub mod declaration;
mod declare;
pub mod decode;
mod disassembly;
mod linkage;
mod lower;
pub mod opcode;
pub mod operand;
mod statement;
mod token;

pub use assembler::assemble;
#[cfg(test)]
pub(crate) use coverage::markdown as coverage_markdown;
pub use declare::{complete, declare};
pub use decode::{decode, decode_interface};
pub use disassembly::disassemble;
use linkage::Linkage;

use crate::{
    Error, Result,
    container::{Container, FourCc, Part},
    ir,
    lift::{LiftOptions, Note, Program},
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
pub fn lift(container: &Container<'_>, mut interface: Interface, options: &LiftOptions) -> Result<Program> {
    let part = program_part(container)?;
    let (ir, notes) = lift_part(part.data, &mut interface, options).map_err(|error| error.in_part(part.name))?;
    Ok(Program { ir, interface, notes })
}

/// Lowers tokens. Resources of class instances that the program does not declare are added to `interface`.
fn lift_part(part: &[u8], interface: &mut Interface, options: &LiftOptions) -> Result<(ir::Module, Vec<Note>)> {
    let mut program = decode(part)?;
    let linkage = Linkage::new(&program, &interface.class_linkage, &options.classes)?;
    let undeclared = linkage.undeclared(&program)?;
    if !undeclared.is_empty() {
        program.phases[0].declarations.extend(undeclared);
        declare::complete(&program, interface);
    }
    let (ir, mut notes) = lower::lower(&program, interface, &linkage)?;
    let chosen = |name: &str| options.classes.keys().any(|key| key.split('[').next() == Some(name));
    for slots in interface.class_linkage.interfaces.iter().filter(|slots| !chosen(&slots.name)) {
        let class =
            slots.implementations.first().and_then(|first| interface.class_linkage.classes.get(first.class as usize));
        let class = class.map_or("?", |class| class.name.as_str());
        notes.push(Note::new(format!("interface {} is filled by its first class, {class}", slots.name)));
    }
    Ok((ir, notes))
}
