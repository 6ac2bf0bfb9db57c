//! The tree that a graph becomes.

use smallvec::SmallVec;

use crate::ir::{Block, Value};

/// A structured function.
///
/// Every reachable block stands in it once. A value is computed before it is used, but its block can stand in a list that
/// was left by then: behind a loop, and in what a guarding [`Flag`] leads to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// What is done, in order. Every path ends in [`Node::Return`] or [`Node::Unreachable`].
    pub body: Vec<Node>,
    /// Number of [`Flag`]s, all false at the beginning.
    pub flags: u32,
}

/// A `bool` that remembers where to go on after an inner loop or breakable was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flag(pub u32);

/// What a choice depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A `bool` value of the function.
    Value(Value),
    /// A flag.
    Flag(Flag),
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// The instructions of a block, without its terminator.
    Block(Block),
    /// Gives the parameters of `block` their arguments, all at once: the arguments may be parameters of the same block.
    Assign {
        /// Whose parameters.
        block: Block,
        /// The arguments.
        args: SmallVec<[Value; 4]>,
    },
    /// Sets a flag.
    SetFlag(Flag, bool),
    /// A choice.
    If {
        /// What it depends on.
        condition: Condition,
        /// If true.
        accept: Vec<Node>,
        /// If false.
        reject: Vec<Node>,
    },
    /// A choice among several. `Break` leaves it; cases do not fall through.
    Switch {
        /// An integer value of the function.
        selector: Value,
        /// Values of the selector (each in one case only), and what is done then.
        cases: Vec<(Vec<u64>, Vec<Node>)>,
        /// What is done otherwise.
        default: Vec<Node>,
    },
    /// Repeats its body until it is left: a body that reaches its end begins again.
    Loop(Vec<Node>),
    /// Carries out its body once; `Break` leaves it.
    Breakable(Vec<Node>),
    /// Leaves the innermost `Loop`, `Switch` or `Breakable`.
    Break,
    /// Begins the innermost `Loop` again, whatever `Switch` or `Breakable` lies between.
    Continue,
    /// Leaves the function.
    Return(Option<Value>),
    /// Never reached.
    Unreachable,
}
