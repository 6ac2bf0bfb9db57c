//! A typed SSA over basic blocks with Direct3D's operations: what both bytecode formats become, and what naga modules
//! are made from.
//!
//! * A [`Module`] holds functions, variables and entry points; its resources and signatures are those of the
//!   [`Interface`](crate::reflection::Interface) beside it.
//! * A [`Function`] is a list of [`Value`]s and a graph of [`Block`]s. Instead of phis, blocks have parameters and edges
//!   bring arguments.
//! * An [`Op`] means what Direct3D says: where WGSL or SPIR-V would give another value (division by zero, NaN in `min`,
//!   reads out of range), the emitter sees to Direct3D's. Front ends translate, they do not guard.
//! * Integers carry no sign, booleans are not integers, and every value has one [`Type`].

mod builder;
pub(crate) mod cfg;
mod dominators;
mod function;
mod module;
mod op;
pub mod passes;
pub mod ssa;
pub mod text;
mod types;
pub(crate) mod verify;

pub use builder::Builder;
pub use cfg::{Cfg, Loop, Loops};
pub use dominators::Dominators;
pub use function::*;
pub use module::*;
pub use op::*;
pub use types::{Scalar, Type};
pub use verify::verify;
