//! From the parts of a container to an [`Interface`](super::Interface).

mod bindings;
mod classes;
mod layouts;
mod merge;
mod signatures;

pub(super) use merge::{merge_parts, parts_alone};
