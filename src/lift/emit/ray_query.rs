//! Ray queries: searches of rays within a shader. A query is a local variable of naga's own type.
//!
//! naga tells what it knows of the closest hit only after the search has ended, that is once proceeding gave false; before,
//! it knows none.

use naga::{
    BinaryOperator, Expression, RayQueryFunction, RayQueryIntersection, ScalarKind, Statement, SwitchCase, SwitchValue,
    TypeInner,
};

use super::{Emission, FunctionEmitter, expression::Expr, resources::Structures};
use crate::{
    Error, Result,
    ir::{RayQueryField, RayQueryOp, Value},
};

impl FunctionEmitter<'_, '_> {
    /// Pointer to a query.
    fn ray_query_pointer(&mut self, query: u32) -> Expr {
        if let Some(&pointer) = self.ray_queries.get(&query) {
            return pointer;
        }
        let ty = self.module.ty(TypeInner::RayQuery { vertex_return: false });
        let pointer = self.local(ty, Some(format!("ray_query{query}")));
        self.ray_queries.insert(query, pointer);
        pointer
    }

    /// [`Op::RayQuery`](crate::ir::Op::RayQuery).
    ///
    /// # Errors
    /// An operand was not emitted, or the target has no ray queries.
    pub fn ray_query(&mut self, op: RayQueryOp, query: u32, operands: &[Value]) -> Result<Option<Emission>> {
        if !self.module.target.capabilities.contains(naga::valid::Capabilities::RAY_QUERY) {
            return Err(Error::unsupported("ray queries, which the target lacks"));
        }
        let query = self.ray_query_pointer(query);
        let mut result = None;
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
                self.begin_search(query, structures, descriptor)?;
                return Ok(None);
            }
            (RayQueryOp::Proceed, []) => {
                let expr = self.pre(Expression::RayQueryProceedResult);
                result = Some(Emission::bool(expr));
                RayQueryFunction::Proceed { result: expr }
            }
            (RayQueryOp::CommitTriangle, []) => RayQueryFunction::ConfirmIntersection,
            (RayQueryOp::CommitProcedural, &[t]) => {
                RayQueryFunction::GenerateIntersection { hit_t: self.get_as(t, ScalarKind::Float)? }
            }
            _ => return Err(Error::internal(format!("operands of a ray query: {op:?}"))),
        };
        self.statement(Statement::RayQuery { query, fun });
        Ok(result)
    }

    /// Begins a search in an acceleration structure.
    fn begin_search(&mut self, query: Expr, structures: Structures, descriptor: Expr) -> Result<()> {
        let begin = |acceleration_structure: Expr| {
            let fun = RayQueryFunction::Initialize { acceleration_structure, descriptor };
            Statement::RayQuery { query, fun }
        };
        match structures {
            Structures::One(structure) => self.statement(begin(structure)),
            Structures::Chosen { index, base, count } => {
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
                self.statement(Statement::Switch { selector: index, cases });
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
        let query = self.ray_query_pointer(query);
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
