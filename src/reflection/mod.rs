//! What a container tells of its programs without a lift: [`Interface`].

mod check;
pub mod class_linkage;
#[cfg(any(feature = "bevy", feature = "cli"))]
pub mod diff;
pub mod draw;
pub mod interface;
pub mod layout;
pub mod library;
mod names;
pub mod node;
mod read;
pub mod root;
pub mod signature;
pub mod stage_state;

pub use check::{Claim, Disagreement, Reflection, reflect_checked};
pub use class_linkage::*;
#[cfg(any(feature = "bevy", feature = "cli"))]
pub use diff::{Change, changes};
pub use draw::*;
pub use interface::*;
pub use layout::*;
pub use library::*;
pub use node::*;
pub use root::*;
pub use signature::*;
pub use stage_state::*;

use crate::{
    Result,
    container::{Container, ProgramHeader},
    dxbc, dxil,
    ir::BindingId,
};

/// Reads what a container tells of its programs, from whichever sources are there.
///
/// # Errors
/// [`ErrorKind::NotAProgram`](crate::ErrorKind::NotAProgram) if it holds none; else names the part and offset that
/// contradict the format.
pub fn reflect(container: &Container<'_>) -> Result<Interface> {
    if let Some(functions) = read::functions(container)? {
        return Ok(functions);
    }
    let program = ProgramHeader::find(container)?;
    let interface = match program {
        ProgramHeader::Tokens(_) => {
            let mut interface = tokens_parts(container, &program)?;
            dxbc::declare(container, &mut interface)?;
            interface
        }
        ProgramHeader::Bitcode(_) => bitcode_parts(container, &program, dxil::reflect(container)?)?,
    };
    with_root_signature(container, interface)
}

/// What the parts beside a program of tokens tell.
fn tokens_parts(container: &Container<'_>, program: &ProgramHeader<'_>) -> Result<Interface> {
    let kind = program.version().kind;
    let stage = Stage::from_kind(kind)
        .filter(|&stage| stage < Stage::Library)
        .ok_or_else(|| program.part().malformed(0, format!("unknown kind of program: {kind}")))?;
    read::parts_alone(container, program, stage)
}

/// What the parts beside a program of bitcode add to its metadata.
fn bitcode_parts(
    container: &Container<'_>,
    program: &ProgramHeader<'_>,
    mut interface: Interface,
) -> Result<Interface> {
    read::merge_parts(container, program, &mut interface)?;
    read::library(container, &mut interface)?;
    Ok(interface)
}

/// Adds the root signature, and resolves the bindings against it and those of a library.
fn with_root_signature(container: &Container<'_>, mut interface: Interface) -> Result<Interface> {
    interface.root_signature = read::root_signature(container)?;
    root::resolve(&mut interface);
    Ok(interface)
}

impl Interface {
    /// The binding that covers a register.
    pub fn binding_at(&self, class: ResourceClass, space: u32, register: u32) -> Option<BindingId> {
        let covers = |binding: &Binding| {
            binding.class == class
                && binding.space == space
                && register >= binding.register
                && binding.count.is_none_or(|count| register - binding.register < count)
        };
        self.bindings.iter().position(covers).map(|index| BindingId(index as u32))
    }
}
