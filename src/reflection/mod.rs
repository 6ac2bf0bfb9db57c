//! What a container tells of its programs without a lift: [`Interface`].

pub mod class_linkage;
#[cfg(any(feature = "bevy", feature = "cli"))]
pub mod diff;
pub mod draw;
pub mod interface;
pub mod layout;
pub mod library;
pub mod node;
mod read;
pub mod root;
pub mod signature;

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
    let program = ProgramHeader::find(container)?;
    let version = program.version();
    match program {
        ProgramHeader::Tokens(_) => {
            let stage = Stage::from_kind(version.kind)
                .filter(|&stage| stage < Stage::Library)
                .ok_or_else(|| program.part().malformed(0, format!("unknown kind of program: {}", version.kind)))?;
            let mut interface = read::parts_alone(container, &program, stage)?;
            dxbc::declare(container, &mut interface)?;
            interface.root_signature = read::root_signature(container)?;
            root::resolve(&mut interface);
            Ok(interface)
        }
        ProgramHeader::Bitcode(_) => {
            let mut interface = dxil::reflect(container)?;
            read::merge_parts(container, &program, &mut interface)?;
            read::library(container, &mut interface)?;
            interface.root_signature = read::root_signature(container)?;
            root::resolve(&mut interface);
            Ok(interface)
        }
    }
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
