//! From programs to naga modules: [`lift()`], [`Program`], [`Target`], [`Emitted`]; and the samplers of root signatures.

mod class_choice;
mod emit;
mod link;
mod program;
mod sampler;
pub mod structure;
mod target;

pub use class_choice::ClassChoice;
pub use link::{link, pixel_inputs};
pub use program::*;
pub use sampler::{SamplerAddress, SamplerBorder, SamplerState};
pub use target::*;

use crate::{
    Error, ErrorKind, Result,
    container::Container,
    dxbc, dxil, ir,
    reflection::{self, Format},
};

/// Lifts the program of a container: reads it, reflects it, lowers it to IR and optimizes that.
///
/// # Errors
/// Says where the bytes contradict the format, which construct has no lowering, or which class cannot fill an interface.
pub fn lift(bytes: &[u8], options: &LiftOptions) -> Result<Program> {
    let container = Container::parse(bytes)?;
    let interface = reflection::reflect(&container)?;
    if let Some(name) = options.classes.keys().find(|name| interface.class_linkage.interface(name).is_none()) {
        return Err(Error::new(
            ErrorKind::Mismatch,
            format!("a class for an interface that the program lacks: {name}"),
        ));
    }
    let mut program = match interface.format {
        Format::Dxbc => dxbc::lift(&container, interface, options)?,
        Format::Dxil => dxil::lift(&container, interface, options)?,
    };
    program.interface.bindings.extend(reflection::stage_binding(&program.interface));
    ir::passes::optimize(&mut program.ir, &program.interface)?;
    structure::flatten_deep_functions(&mut program.ir);
    Ok(program)
}
