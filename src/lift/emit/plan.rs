//! What is decided on a function's values before it is emitted: signs, and which values need a local variable.
//!
//! An expression that is emitted in an inner block of naga's is out of scope after it. A value that is used where its
//! definition is not in scope is stored to a local variable at its definition, and loaded where it is used.

use std::collections::HashMap;

use naga::ScalarKind;

use super::sign::choose_kinds;
use crate::{
    ir::{BinaryOp, Function, Op, Scalar, TernaryOp, Value},
    lift::structure::{Condition, Node, Tree},
};

/// What was decided on a function's values.
#[derive(Debug)]
pub(super) struct Plan {
    /// Kind of each value's scalars, by [`Value`].
    pub kinds: Vec<ScalarKind>,
    /// Number of uses of each value.
    pub uses: Vec<u32>,
    /// Each value is used where its definition is out of scope.
    pub escapes: Vec<bool>,
    /// Scalars that were copied into the lanes of a vector only to multiply another vector: naga multiplies by the
    /// scalar itself, and the copy is never made. By the copy.
    pub factors: HashMap<Value, Value>,
}

impl Plan {
    /// Decides for a function and its tree.
    pub fn new(function: &Function, tree: &Tree) -> Self {
        let count = function.values.len();
        let mut scan = Scan {
            function,
            plan: Self {
                kinds: choose_kinds(function),
                uses: vec![0; count],
                escapes: vec![false; count],
                factors: scalar_factors(function),
            },
            defined: vec![None; count],
            open: vec![true],
            current: 0,
        };
        for &param in &function.blocks[function.entry.index()].params {
            scan.defined[param.index()] = Some(0);
        }
        scan.nodes(&tree.body);
        scan.plan
    }

    /// A value is used.
    pub fn is_used(&self, value: Value) -> bool {
        self.uses[value.index()] > 0
    }
}

/// A walk over a tree in the order of emission.
struct Scan<'a> {
    function: &'a Function,
    plan: Plan,
    /// Number of the naga block in which each value was last defined.
    defined: Vec<Option<usize>>,
    /// Each naga block, by number: the walk is within it.
    open: Vec<bool>,
    /// The innermost naga block.
    current: usize,
}

impl Scan<'_> {
    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Block(block) => {
                    let block = &self.function.blocks[block.index()];
                    block.params.iter().for_each(|&param| self.define(param));
                    for &value in &block.insts {
                        let Some(op) = self.function.op(value) else { continue };
                        // Handles are evaluated where they are used, and so are factors.
                        if !matches!(op, Op::Handle { .. }) && !self.plan.factors.contains_key(&value) {
                            op.for_each_operand(|operand| self.use_value(operand));
                        }
                        self.define(value);
                    }
                }
                Node::Assign { args, .. } => args.iter().for_each(|&arg| self.use_value(arg)),
                Node::SetFlag(..) | Node::Break | Node::Continue | Node::Unreachable => {}
                Node::If { condition, accept, reject } => {
                    if let Condition::Value(value) = condition {
                        self.use_value(*value);
                    }
                    self.inner(accept);
                    self.inner(reject);
                }
                Node::Switch { selector, cases, default } => {
                    self.use_value(*selector);
                    for (_, body) in cases {
                        self.inner(body);
                    }
                    self.inner(default);
                }
                Node::Loop(body) | Node::Breakable(body) => self.inner(body),
                Node::Return(value) => value.iter().for_each(|&value| self.use_value(value)),
            }
        }
    }

    fn inner(&mut self, nodes: &[Node]) {
        let outer = self.current;
        self.current = self.open.len();
        self.open.push(true);
        self.nodes(nodes);
        self.open[self.current] = false;
        self.current = outer;
    }

    fn define(&mut self, value: Value) {
        self.defined[value.index()] = Some(self.current);
    }

    fn use_value(&mut self, value: Value) {
        if let Some(&Op::Handle { index, .. }) = self.function.op(value) {
            self.use_value(index);
        }
        if let Some(&factor) = self.plan.factors.get(&value) {
            self.use_value(factor);
            return;
        }
        self.plan.uses[value.index()] += 1;
        if self.function.as_constant(value).is_none()
            && !self.defined[value.index()].is_some_and(|scope| self.open[scope])
        {
            self.plan.escapes[value.index()] = true;
        }
    }
}

/// Copies of floats into the lanes of vectors whose every use multiplies a vector that is no such copy itself.
fn scalar_factors(function: &Function) -> HashMap<Value, Value> {
    let copied = |value: Value| match function.op(value) {
        Some(&Op::Swizzle(scalar, _))
            if function.ty(scalar).lanes() == 1 && function.ty(scalar).scalar().is_some_and(Scalar::is_float) =>
        {
            Some(scalar)
        }
        _ => None,
    };
    let mut factors = HashMap::new();
    let mut others = Vec::new();
    for block in &function.blocks {
        for &value in &block.insts {
            let Some(op) = function.op(value) else { continue };
            let product = match *op {
                Op::Binary(BinaryOp::FMul, a, b) | Op::Ternary(TernaryOp::FMad, a, b, _) => Some([a, b]),
                _ => None,
            };
            for [factor, other] in product.into_iter().flat_map(|[a, b]| [[a, b], [b, a]]) {
                match copied(factor) {
                    Some(scalar) if copied(other).is_none() && function.as_constant(other).is_none() => {
                        factors.insert(factor, scalar);
                    }
                    _ => others.push(factor),
                }
            }
            match *op {
                Op::Binary(BinaryOp::FMul, ..) => {}
                Op::Ternary(TernaryOp::FMad, _, _, c) => others.push(c),
                _ => op.for_each_operand(|operand| others.push(operand)),
            }
        }
        block.terminator.for_each_operand(|operand| others.push(operand));
    }
    for other in others {
        factors.remove(&other);
    }
    factors
}
