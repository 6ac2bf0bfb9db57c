//! From the parts of a container to an [`Interface`](super::Interface).

pub(super) mod bindings;
mod classes;
mod debug_types;
mod functions;
mod layouts;
mod library;
mod merge;
pub(super) mod signatures;

pub(super) use debug_types::layout as debug_layout;
pub(super) use functions::read as functions;
pub(super) use library::read as library;
pub(super) use merge::{merge_parts, parts_alone, root_signature};
