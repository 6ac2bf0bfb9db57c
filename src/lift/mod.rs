//! From programs to naga modules: [`lift()`], [`Program`], [`Target`], [`Emitted`].

mod emit;
mod link;
mod program;
pub mod structure;
mod target;

pub use link::{link, pixel_inputs};
pub use program::*;
pub use target::*;

use crate::{
    Result,
    container::Container,
    dxbc, dxil, ir,
    reflection::{self, Format},
};

/// Lifts the program of a container: reads it, reflects it, lowers it to IR and optimizes that.
///
/// # Errors
/// Says where the bytes contradict the format, or which construct has no lowering.
pub fn lift(bytes: &[u8], options: &LiftOptions) -> Result<Program> {
    let container = Container::parse(bytes)?;
    let interface = reflection::reflect(&container)?;
    let mut program = match interface.format {
        Format::Dxbc => dxbc::lift(&container, interface, options)?,
        Format::Dxil => dxil::lift(&container, interface, options)?,
    };
    ir::passes::optimize(&mut program.ir, &program.interface)?;
    structure::flatten_deep_functions(&mut program.ir);
    Ok(program)
}
