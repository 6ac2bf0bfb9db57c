//! Ray queries: searches of rays within a shader. A query is a local variable of naga's own type.
//!
//! naga tells what it knows of the closest hit only after the search has ended, that is once proceeding gave false; before,
//! it knows none. `Abort` therefore cannot leave the search where it is: it goes on to its end, and takes none of the
//! candidates that come. (naga's own `Terminate` is of no use: its SPIR-V writer keeps the function for it where it looks
//! for that of `Proceed`, and modules with both are not valid.) Direct3D leaves the order of a search open, so that opaque
//! triangles which it finds then may as well have been found before; only one that is closer than a candidate which the
//! shader was shown tells that it was not so.

use naga::{
    BinaryOperator, Block, Expression, RayQueryFunction, RayQueryIntersection, Scalar, ScalarKind, Span, Statement,
    SwitchCase, SwitchValue, TypeInner, UnaryOperator,
};

use super::{
    Emission, FunctionEmitter,
    bound::Structures,
    expression::Expr,
    ray_opacity::{SecondQuery, is_asked},
};
use crate::{
    Error, Result,
    ir::{Function, Op, RayQueryField, RayQueryOp, Value},
};

/// Pointers to the local variables of a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct RayQueryLocals {
    /// naga's query.
    query: Expr,
    /// Where the function aborts it: the search has ended, by a `bool`. A search must not go on after its end.
    ended: Option<Expr>,
    /// Where the function asks whether candidates are opaque.
    second: Option<SecondQuery>,
}

/// The function aborts a query.
fn is_aborted(function: &Function, number: u32) -> bool {
    let mut ops = function.blocks.iter().flat_map(|block| &block.insts).filter_map(|&inst| function.op(inst));
    ops.any(|op| matches!(op, Op::RayQuery { op: RayQueryOp::Abort, query, .. } if *query == number))
}

impl FunctionEmitter<'_, '_> {
    /// The variables of a query.
    fn ray_query_locals(&mut self, query: u32) -> RayQueryLocals {
        if let Some(&locals) = self.ray_queries.get(&query) {
            return locals;
        }
        let ty = self.module.ty(TypeInner::RayQuery { vertex_return: false });
        let pointer = self.local(ty, Some(format!("ray_query{query}")));
        let ended = is_aborted(self.ir, query).then(|| {
            let ty = self.module.numeric(Scalar::BOOL, 1);
            self.local(ty, Some(format!("ray_query{query}_ended")))
        });
        let second = is_asked(self.ir, query).then(|| self.second_query(query));
        let locals = RayQueryLocals { query: pointer, ended, second };
        self.ray_queries.insert(query, locals);
        locals
    }

    /// Steps to the next candidate of naga's query: whether there is one.
    pub(super) fn step(&mut self, query: Expr) -> Expr {
        let result = self.pre(Expression::RayQueryProceedResult);
        let fun = RayQueryFunction::Proceed { result };
        self.statement(Statement::RayQuery { query, fun });
        result
    }

    /// Steps to the next candidate, unless the search was aborted: whether there is one.
    fn proceed(&mut self, locals: RayQueryLocals) -> Expr {
        let Some(ended) = locals.ended else { return self.step(locals.query) };
        let before = self.load(ended);
        let goes_on = self.unary(UnaryOperator::LogicalNot, before);
        self.when(goes_on, |emitter| {
            let found = emitter.step(locals.query);
            let none = emitter.unary(UnaryOperator::LogicalNot, found);
            emitter.store(ended, none);
        });
        let after = self.load(ended);
        self.unary(UnaryOperator::LogicalNot, after)
    }

    /// Goes on to the end of a search, without any of its candidates.
    fn abort(&mut self, locals: RayQueryLocals) -> Result<()> {
        self.module.note("ray queries: after Abort, opaque triangles that the search had not met yet may still become the closest hit");
        let body = self.nested(|emitter| {
            let found = emitter.proceed(locals);
            let none = emitter.unary(UnaryOperator::LogicalNot, found);
            let mut accept = Block::new();
            accept.push(Statement::Break, Span::UNDEFINED);
            emitter.statement(Statement::If { condition: none, accept, reject: Block::new() });
            Ok::<(), Error>(())
        })?;
        self.statement(Statement::Loop { body, continuing: Block::new(), break_if: None });
        Ok(())
    }

    /// [`Op::RayQuery`](crate::ir::Op::RayQuery).
    ///
    /// # Errors
    /// An operand was not emitted, or the target has no ray queries.
    pub fn ray_query(&mut self, op: RayQueryOp, query: u32, operands: &[Value]) -> Result<Option<Emission>> {
        if !self.module.target.capabilities.contains(naga::valid::Capabilities::RAY_QUERY) {
            return Err(Error::unsupported("ray queries, which the target lacks"));
        }
        let number = query;
        let locals = self.ray_query_locals(number);
        let query = locals.query;
        let fun = match (op, operands) {
            (RayQueryOp::Trace, &[structure, flags, mask, origin, t_min, direction, t_max]) => {
                let structures = self.bound_acceleration_structures(structure)?;
                let ty = self.module.module.generate_ray_desc_type();
                // The members of naga's `RayDesc`.
                let mut components = Vec::with_capacity(6);
                for (operand, kind) in [
                    (flags, ScalarKind::Uint),
                    (mask, ScalarKind::Uint),
                    (t_min, ScalarKind::Float),
                    (t_max, ScalarKind::Float),
                    (origin, ScalarKind::Float),
                    (direction, ScalarKind::Float),
                ] {
                    components.push(self.get_as(operand, kind)?);
                }
                let descriptor = self.val(Expression::Compose { ty, components });
                if let Some(ended) = locals.ended {
                    let no = self.literal(Scalar::BOOL, 0);
                    self.store(ended, no);
                }
                let element = match structures {
                    Structures::Chosen { index, .. } => Some(self.get_as(index, ScalarKind::Uint)?),
                    Structures::One(_) => None,
                };
                if let Some(second) = locals.second {
                    self.keep_search(second, number, structure, element, descriptor);
                }
                self.begin_search(query, &structures, element, descriptor)?;
                return Ok(None);
            }
            (RayQueryOp::Proceed, []) => {
                return Ok(Some(Emission::bool(self.proceed(locals))));
            }
            (RayQueryOp::Abort, []) => {
                self.abort(locals)?;
                return Ok(None);
            }
            (RayQueryOp::IsNonOpaque, []) => {
                let second = locals.second.ok_or_else(|| Error::internal("ray query without a second"))?;
                return Ok(Some(Emission::bool(self.is_non_opaque(query, second, number)?)));
            }
            (RayQueryOp::CommitTriangle, []) => RayQueryFunction::ConfirmIntersection,
            (RayQueryOp::CommitProcedural, &[t]) => {
                RayQueryFunction::GenerateIntersection { hit_t: self.get_as(t, ScalarKind::Float)? }
            }
            _ => return Err(Error::internal(format!("operands of a ray query: {op:?}"))),
        };
        self.statement(Statement::RayQuery { query, fun });
        Ok(None)
    }

    /// Begins a search in an acceleration structure, or in the element (`u32`) of an array.
    pub(super) fn begin_search(
        &mut self,
        query: Expr,
        structures: &Structures,
        element: Option<Expr>,
        descriptor: Expr,
    ) -> Result<()> {
        let begin = |acceleration_structure: Expr| {
            let fun = RayQueryFunction::Initialize { acceleration_structure, descriptor };
            Statement::RayQuery { query, fun }
        };
        match *structures {
            Structures::One(structure) => self.statement(begin(structure)),
            Structures::Chosen { base, count, .. } => {
                let selector = element.ok_or_else(|| Error::internal("search in no element of an array"))?;
                let cases = (0..count).map(|number| -> Result<SwitchCase> {
                    let body = self.nested(|emitter| {
                        let structure = emitter.val(Expression::AccessIndex { base, index: number });
                        emitter.statement(begin(structure));
                        Ok::<(), Error>(())
                    })?;
                    let value = match number + 1 < count {
                        true => SwitchValue::U32(number),
                        false => SwitchValue::Default,
                    };
                    Ok(SwitchCase { value, body, fall_through: false })
                });
                let cases = cases.collect::<Result<_>>()?;
                self.statement(Statement::Switch { selector, cases });
            }
        }
        Ok(())
    }

    /// [`Op::LoadRayQuery`](crate::ir::Op::LoadRayQuery).
    ///
    /// # Errors
    /// The target has no ray queries.
    pub fn load_ray_query(
        &mut self,
        query: u32,
        committed: bool,
        field: RayQueryField,
        column: u8,
    ) -> Result<Emission> {
        if !self.module.target.capabilities.contains(naga::valid::Capabilities::RAY_QUERY) {
            return Err(Error::unsupported("ray queries, which the target lacks"));
        }
        if committed {
            self.module.note("ray queries: the closest hit is known only after Proceed has returned false");
        }
        let query = self.ray_query_locals(query).query;
        self.module.module.generate_ray_intersection_type();
        let hit = self.val(Expression::RayQueryGetIntersection { query, committed });
        // The members of naga's `RayIntersection`.
        let (index, kind) = match field {
            RayQueryField::Kind => (0, ScalarKind::Uint),
            RayQueryField::T => (1, ScalarKind::Float),
            RayQueryField::InstanceId => (2, ScalarKind::Uint),
            RayQueryField::InstanceIndex => (3, ScalarKind::Uint),
            RayQueryField::HitGroupOffset => (4, ScalarKind::Uint),
            RayQueryField::GeometryIndex => (5, ScalarKind::Uint),
            RayQueryField::PrimitiveIndex => (6, ScalarKind::Uint),
            RayQueryField::Barycentrics => (7, ScalarKind::Float),
            RayQueryField::FrontFace => (8, ScalarKind::Bool),
            RayQueryField::ObjectToWorld => (9, ScalarKind::Float),
            RayQueryField::WorldToObject => (10, ScalarKind::Float),
        };
        let mut expr = self.val(Expression::AccessIndex { base: hit, index });
        match field {
            RayQueryField::ObjectToWorld | RayQueryField::WorldToObject => {
                expr = self.val(Expression::AccessIndex { base: expr, index: u32::from(column) });
            }
            // Direct3D's kinds of candidates are 0 and 1; those of the closest hit are naga's.
            RayQueryField::Kind if !committed => {
                let procedural = self.u32(RayQueryIntersection::Aabb as u32);
                let procedural = self.binary(BinaryOperator::Equal, expr, procedural);
                let (one, zero) = (self.u32(1), self.u32(0));
                expr = self.select(procedural, one, zero);
            }
            _ => {}
        }
        Ok(Emission { expr, kind })
    }
}
