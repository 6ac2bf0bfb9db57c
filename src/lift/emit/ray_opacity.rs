//! Whether a procedural candidate of a ray query is opaque: naga does not tell, but opaque candidates can be culled. A second
//! query searches for what the first one searched for, without what is opaque: the candidate is opaque if it does not come.

use naga::{
    BinaryOperator, Block, Expression, RayQueryIntersection, Scalar, Statement, SwitchCase, SwitchValue, TypeInner,
};

use super::{FunctionEmitter, bound::Structures, expression::Expr};
use crate::{
    Result,
    ir::{Function, Op, RayQueryOp, Value},
};

/// `RAY_FLAG_FORCE_OPAQUE` and `RAY_FLAG_CULL_NON_OPAQUE`: each candidate is opaque.
const ALL_OPAQUE: u32 = 0x81;

/// `RAY_FLAG_FORCE_NON_OPAQUE` and `RAY_FLAG_CULL_OPAQUE`: none is.
const NONE_OPAQUE: u32 = 0x42;

/// `RAY_FLAG_CULL_OPAQUE`.
const CULL_OPAQUE: u32 = 0x40;

/// Members of naga's `RayDesc`, and those of its `RayIntersection` that say which primitive it is of.
const DESCRIPTOR_FLAGS: u32 = 0;
const DESCRIPTOR_MEMBERS: u32 = 6;
const INTERSECTION_KIND: u32 = 0;
const INTERSECTION_IDS: [u32; 3] = [3, 5, 6];

/// Pointers to the local variables of the second query.
#[derive(Clone, Copy, Debug)]
pub(super) struct SecondQuery {
    /// naga's query.
    query: Expr,
    /// What the first one searches for.
    descriptor: Expr,
    /// In which of [`structures_of`] it does.
    place: Expr,
    /// Which element of an array of these is the one.
    element: Expr,
}

/// The function asks whether candidates of a query are opaque.
pub(super) fn is_asked(function: &Function, number: u32) -> bool {
    let mut ops = function.blocks.iter().flat_map(|block| &block.insts).filter_map(|&inst| function.op(inst));
    ops.any(|op| matches!(op, Op::RayQuery { op: RayQueryOp::IsNonOpaque, query, .. } if *query == number))
}

/// Handles of the acceleration structures in which a query searches.
fn structures_of(function: &Function, number: u32) -> Vec<Value> {
    let mut structures = Vec::new();
    for op in function.blocks.iter().flat_map(|block| &block.insts).filter_map(|&inst| function.op(inst)) {
        if let Op::RayQuery { op: RayQueryOp::Trace, query, operands } = op
            && *query == number
            && let Some(&structure) = operands.first()
            && !structures.contains(&structure)
        {
            structures.push(structure);
        }
    }
    structures
}

impl FunctionEmitter<'_, '_> {
    /// The variables of a second query.
    pub(super) fn second_query(&mut self, number: u32) -> SecondQuery {
        let name = |what: &str| Some(format!("ray_query{number}_{what}"));
        let query = self.module.ty(TypeInner::RayQuery { vertex_return: false });
        let descriptor = self.module.module.generate_ray_desc_type();
        let word = self.module.numeric(Scalar::U32, 1);
        SecondQuery {
            query: self.local(query, name("of_what_is_not_opaque")),
            descriptor: self.local(descriptor, name("descriptor")),
            place: self.local(word, name("structure")),
            element: self.local(word, name("element")),
        }
    }

    /// Keeps what the first query searches for, and where.
    pub(super) fn keep_search(
        &mut self,
        second: SecondQuery,
        number: u32,
        structure: Value,
        element: Option<Expr>,
        descriptor: Expr,
    ) {
        self.store(second.descriptor, descriptor);
        let place = structures_of(self.ir, number).iter().position(|other| *other == structure).unwrap_or(0);
        let place = self.u32(place as u32);
        self.store(second.place, place);
        if let Some(element) = element {
            self.store(second.element, element);
        }
    }

    /// Whether the candidate of a query, a procedural primitive, is not opaque.
    ///
    /// # Errors
    /// An acceleration structure is not declared: a bug.
    pub(super) fn is_non_opaque(&mut self, first: Expr, second: SecondQuery, number: u32) -> Result<Expr> {
        let bool = self.module.numeric(Scalar::BOOL, 1);
        let result = self.local(bool, None);
        let members: Vec<Expr> = (0..DESCRIPTOR_MEMBERS)
            .map(|index| {
                let member = self.val(Expression::AccessIndex { base: second.descriptor, index });
                self.load(member)
            })
            .collect();
        let flags = members[DESCRIPTOR_FLAGS as usize];
        let zero = self.u32(0);
        let has = |emitter: &mut Self, mask: u32| {
            let mask = emitter.u32(mask);
            let common = emitter.binary(BinaryOperator::And, flags, mask);
            emitter.binary(BinaryOperator::NotEqual, common, zero)
        };
        let none_opaque = has(self, NONE_OPAQUE);
        self.store(result, none_opaque);
        let known = has(self, ALL_OPAQUE | NONE_OPAQUE);
        let search = self.nested(|emitter| {
            let cull = emitter.u32(CULL_OPAQUE);
            let flags = emitter.binary(BinaryOperator::InclusiveOr, flags, cull);
            let mut components = members.clone();
            components[DESCRIPTOR_FLAGS as usize] = flags;
            let ty = emitter.module.module.generate_ray_desc_type();
            let descriptor = emitter.val(Expression::Compose { ty, components });
            emitter.begin_second_search(second, number, descriptor)?;
            let candidate = emitter.candidate(first);
            let body = emitter.inner_block(|emitter| {
                let found = emitter.step(second.query);
                let accept = emitter.inner_block(|emitter| {
                    let other = emitter.candidate(second.query);
                    let mut same = emitter.is_procedural(other);
                    for index in INTERSECTION_IDS {
                        let [a, b] =
                            [candidate, other].map(|base| emitter.val(Expression::AccessIndex { base, index }));
                        let equal = emitter.binary(BinaryOperator::Equal, a, b);
                        same = emitter.binary(BinaryOperator::LogicalAnd, same, equal);
                    }
                    emitter.when(same, |emitter| {
                        emitter.store(result, same);
                        emitter.statement(Statement::Break);
                    });
                });
                let reject = emitter.inner_block(|emitter| emitter.statement(Statement::Break));
                emitter.statement(Statement::If { condition: found, accept, reject });
            });
            emitter.statement(Statement::Loop { body, continuing: Block::new(), break_if: None });
            Ok::<(), crate::Error>(())
        })?;
        self.statement(Statement::If { condition: known, accept: Block::new(), reject: search });
        Ok(self.load(result))
    }

    /// What naga tells of a query's candidate.
    fn candidate(&mut self, query: Expr) -> Expr {
        self.module.module.generate_ray_intersection_type();
        self.val(Expression::RayQueryGetIntersection { query, committed: false })
    }

    /// A candidate is a procedural primitive.
    fn is_procedural(&mut self, candidate: Expr) -> Expr {
        let kind = self.val(Expression::AccessIndex { base: candidate, index: INTERSECTION_KIND });
        let procedural = self.u32(RayQueryIntersection::Aabb as u32);
        self.binary(BinaryOperator::Equal, kind, procedural)
    }

    /// Begins the second search where the first one did.
    fn begin_second_search(&mut self, second: SecondQuery, number: u32, descriptor: Expr) -> Result<()> {
        let mut blocks = Vec::new();
        for structure in structures_of(self.ir, number) {
            blocks.push(self.nested(|emitter| {
                let structures = emitter.bound_acceleration_structures(structure)?;
                let chosen = matches!(structures, Structures::Chosen { .. });
                let element = chosen.then(|| emitter.load(second.element));
                emitter.begin_search(second.query, &structures, element, descriptor)
            })?);
        }
        if blocks.len() == 1 {
            blocks.into_iter().for_each(|block| self.block.extend_block(block));
            return Ok(());
        }
        let selector = self.load(second.place);
        let last = blocks.len().saturating_sub(1);
        let cases = blocks.into_iter().enumerate().map(|(number, body)| {
            let value = if number < last { SwitchValue::U32(number as u32) } else { SwitchValue::Default };
            SwitchCase { value, body, fall_through: false }
        });
        let cases: Vec<_> = cases.collect();
        if !cases.is_empty() {
            self.statement(Statement::Switch { selector, cases });
        }
        Ok(())
    }
}
