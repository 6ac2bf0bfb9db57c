//! What a container tells of its programs without a lift: [`Interface`].

pub mod interface;
pub mod layout;
pub mod signature;

pub use interface::*;
pub use layout::*;
pub use signature::*;

use crate::{Error, Result, container::Container, ir::BindingId};

/// Reads what a container tells of its programs, from whichever sources are there.
///
/// # Errors
/// [`ErrorKind::NotAProgram`](crate::ErrorKind::NotAProgram) if it holds none; else names the part and offset that
/// contradict the format.
pub fn reflect(_container: &Container<'_>) -> Result<Interface> {
    Err(Error::unsupported("reflection"))
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
