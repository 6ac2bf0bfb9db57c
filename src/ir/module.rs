//! Modules: functions, variables and entry points of one container.

use super::{Constant, Function, Type, function::index};
use crate::reflection::Stage;

index!(
    /// A function of a module.
    FunctionId
);
index!(
    /// A variable of a module.
    VariableId
);
index!(
    /// A binding: index into [`Interface::bindings`](crate::reflection::Interface::bindings).
    BindingId
);
index!(
    /// An element of a signature: index into the list of its
    /// [`EntryPointInterface`](crate::reflection::EntryPointInterface).
    ElementId
);

/// The programs of one container. Bindings and signature elements are those of its
/// [`Interface`](crate::reflection::Interface), which stands beside it in every [`Program`](crate::lift::Program).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// All functions, by [`FunctionId`].
    pub functions: Vec<Function>,
    /// All variables, by [`VariableId`].
    pub variables: Vec<Variable>,
    /// Entry points, in the order of [`Interface::entry_points`](crate::reflection::Interface::entry_points).
    pub entry_points: Vec<EntryPoint>,
}

/// One entry point.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryPoint {
    /// Its stage.
    pub stage: Stage,
    /// What it runs: a function without parameters and result.
    pub function: FunctionId,
    /// A hull shader's patch-constant phases, run once after all control points, in this order.
    pub patch_constant_functions: Vec<FunctionId>,
}

/// An array of numbers or vectors that instructions address by index.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name: `x0`, `g0`, `icb`, or the HLSL's.
    pub name: String,
    /// Where it lives.
    pub space: VariableSpace,
    /// Type of an element.
    pub element: Type,
    /// Number of elements.
    pub len: u32,
    /// First values of the elements, if they are given: `len` constants of the element's type. Without them a
    /// variable begins as zeros.
    pub initial: Option<Vec<Constant>>,
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableSpace {
    /// One for each thread (indexable temporaries, allocas, static globals).
    Thread,
    /// One for each thread, shared with whoever calls the entry point's function, in 32-bit words: payloads, values of
    /// the pipeline and operands of calls, in ray tracing stages. Never becomes a local.
    Interface,
    /// One for each thread group (`groupshared`).
    GroupShared,
    /// Never written (immediate constant buffers, constant globals).
    Constant,
    /// What an amplification shader's group hands to the mesh shader's groups that it starts; read there, never written.
    Payload,
}
