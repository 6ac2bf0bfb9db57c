//! Ray queries: searches of rays within any shader.
//!
//! DXIL's query is a number that `AllocateRayQuery` gives; it becomes the number of the IR's query in its function. What
//! was asked for (flags, origin, direction, smallest T) is kept in variables of the thread: naga's queries do not tell.

use smallvec::SmallVec;

use super::Call;
use crate::{
    Error, Result,
    dxil::lower::{FunctionLowering, Lowered},
    ir::{
        BinaryOp, MAX_RAY_QUERIES, Op, RayQueryField, RayQueryOp, Scalar, Type, Value, Variable, VariableId,
        VariableSpace,
    },
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// Where a query keeps the smallest T among its floats, after origin and direction.
const T_MIN: u32 = 6;

/// A query.
#[derive(Clone, Copy, Debug)]
pub struct RayQuery {
    /// Flags that each search with it has.
    flags: u32,
    /// The flags of the search: one `i32`.
    all_flags: VariableId,
    /// Origin, direction and smallest T of the ray: seven `f32`s.
    ray: VariableId,
}

impl FunctionLowering<'_, '_> {
    /// The query that the first argument is.
    pub(super) fn ray_query(&mut self, call: &Call<'_>) -> Result<(u32, RayQuery)> {
        let query = call.i32(self, 0)?;
        let number = self.function.as_scalar_constant(query);
        let number = number.ok_or_else(|| Error::unsupported("ray query that is chosen at run time"))?;
        let query = self.ray_queries.get(number as usize).copied();
        query.map(|query| (number as u32, query)).ok_or_else(|| Error::malformed("ray query that was not allocated"))
    }

    /// The flags of a search.
    pub(super) fn ray_flags(&mut self, query: RayQuery) -> Value {
        let mut build = self.build();
        let index = build.i32(0);
        build.push(Op::LoadVariable { variable: query.all_flags, index, component: None }, Type::I32)
    }

    /// Origin (0 to 2), direction (3 to 5) or smallest T (6) of a search.
    pub(super) fn ray_float(&mut self, query: RayQuery, index: u32) -> Value {
        self.load_float(query.ray, index)
    }

    fn query_op(&mut self, op: RayQueryOp, query: u32, operands: &[Value]) -> Op {
        Op::RayQuery { op, query, operands: SmallVec::from_slice(operands) }
    }

    fn store_float(&mut self, variable: VariableId, index: u32, value: Value) {
        let mut build = self.build();
        let index = build.i32(index);
        build.effect(Op::StoreVariable { variable, index, component: None, value });
    }

    fn load_float(&mut self, variable: VariableId, index: u32) -> Value {
        let mut build = self.build();
        let index = build.i32(index);
        build.push(Op::LoadVariable { variable, index, component: None }, Type::F32)
    }
}

/// Flags (and, for Shader Model 6.9, those of the query): the number of the query.
pub fn allocate(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let flags = call.constant(f, 0)?;
    let number = f.ray_queries.len() as u32;
    if number >= MAX_RAY_QUERIES {
        return Err(Error::unsupported(format!("more ray queries than {MAX_RAY_QUERIES} in a function")));
    }
    let variables = &mut f.parent.ir.variables;
    let mut variable = |name: &str, element: Type, len: u32| {
        let (name, space) = (format!("ray_query{number}_{name}"), VariableSpace::Thread);
        variables.push(Variable { name, space, element, len, initial: None });
        VariableId(variables.len() as u32 - 1)
    };
    let query =
        RayQuery { flags, all_flags: variable("flags", Type::I32, 1), ray: variable("ray", Type::F32, T_MIN + 1) };
    f.ray_queries.push(query);
    Ok(Some(Lowered::scalar(f.function.i32(number))))
}

/// Query, acceleration structure, flags, instance mask, origin, smallest T, direction, largest T.
pub fn trace(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (number, query) = f.ray_query(call)?;
    let structure = f.handle_argument(call, 1)?.value;
    let (flags, mask) = (call.i32(f, 2)?, call.i32(f, 3)?);
    let (t_min, t_max) = (call.f32(f, 7)?, call.f32(f, 11)?);
    for (index, argument) in (0..).zip([4, 5, 6, 8, 9, 10, 7]) {
        let value = call.f32(f, argument)?;
        f.store_float(query.ray, index, value);
    }
    let (origin, direction) = (call.vector(f, 4, 3, Scalar::F32)?, call.vector(f, 8, 3, Scalar::F32)?);
    let own = f.function.i32(query.flags);
    let mut build = f.build();
    let flags = build.binary(BinaryOp::Or, flags, own);
    let zero = build.i32(0);
    build.effect(Op::StoreVariable { variable: query.all_flags, index: zero, component: None, value: flags });
    let op = f.query_op(RayQueryOp::Trace, number, &[structure, flags, mask, origin, t_min, direction, t_max]);
    f.build().effect(op);
    Ok(None)
}

/// Query: there is a candidate.
pub fn proceed(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (number, _) = f.ray_query(call)?;
    let op = f.query_op(RayQueryOp::Proceed, number, &[]);
    Ok(Some(Lowered::scalar(f.build().push(op, Type::BOOL))))
}

/// Query: its candidate, a procedural primitive, is not opaque.
pub fn is_non_opaque(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (number, _) = f.ray_query(call)?;
    let op = f.query_op(RayQueryOp::IsNonOpaque, number, &[]);
    Ok(Some(Lowered::scalar(f.build().push(op, Type::BOOL))))
}

/// Query.
pub fn abort(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (number, _) = f.ray_query(call)?;
    let op = f.query_op(RayQueryOp::Abort, number, &[]);
    f.build().effect(op);
    Ok(None)
}

/// Query.
pub fn commit_triangle(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (number, _) = f.ray_query(call)?;
    let op = f.query_op(RayQueryOp::CommitTriangle, number, &[]);
    f.build().effect(op);
    Ok(None)
}

/// Query, T.
pub fn commit_procedural(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (number, _) = f.ray_query(call)?;
    let t = call.f32(f, 1)?;
    let op = f.query_op(RayQueryOp::CommitProcedural, number, &[t]);
    f.build().effect(op);
    Ok(None)
}

/// Query, and the row and column of a matrix or the component of a vector: a number that the query knows of a hit.
pub fn hit_field(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    use RayQueryField::*;
    let (query, _) = f.ray_query(call)?;
    let (field, committed) = match call.number {
        184 => (Kind, true),
        185 => (Kind, false),
        186 => (ObjectToWorld, false),
        187 => (WorldToObject, false),
        188 => (ObjectToWorld, true),
        189 => (WorldToObject, true),
        191 => (FrontFace, false),
        192 => (FrontFace, true),
        193 => (Barycentrics, false),
        194 => (Barycentrics, true),
        199 => (T, false),
        200 => (T, true),
        201 => (InstanceIndex, false),
        202 => (InstanceId, false),
        203 => (GeometryIndex, false),
        204 => (PrimitiveIndex, false),
        207 => (InstanceIndex, true),
        208 => (InstanceId, true),
        209 => (GeometryIndex, true),
        210 => (PrimitiveIndex, true),
        214 => (HitGroupOffset, false),
        215 => (HitGroupOffset, true),
        _ => return Err(Error::internal("no field of a hit")),
    };
    let matrix = field.columns() > 1;
    let column = if matrix { call.constant(f, 2)? } else { 0 };
    let lane = if field.ty().lanes() > 1 { call.constant(f, 1)? } else { 0 };
    if column >= u32::from(field.columns()) || lane >= u32::from(field.ty().lanes()) {
        return Err(Error::malformed(format!("no such component: {lane}, {column}")));
    }
    let op = Op::LoadRayQuery { query, committed, field, column: column as u8 };
    let mut build = f.build();
    let value = build.push(op, field.ty());
    Ok(Some(Lowered::scalar(if field.ty().lanes() > 1 { build.extract(value, lane as u8) } else { value })))
}

/// Query, and the component of a vector: what was asked for.
pub fn ray(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (_, query) = f.ray_query(call)?;
    let index = match call.number {
        195 => return Ok(Some(Lowered::scalar(f.ray_flags(query)))),
        196 => component(f, call)?,
        197 => 3 + component(f, call)?,
        198 => T_MIN,
        _ => return Err(Error::internal("no part of a ray")),
    };
    Ok(Some(Lowered::scalar(f.ray_float(query, index))))
}

/// Query, and the component of a vector: the ray as the instance sees it.
pub fn object_ray(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (number, query) = f.ray_query(call)?;
    let (committed, is_origin) = match call.number {
        205 => (false, true),
        206 => (false, false),
        211 => (true, true),
        212 => (true, false),
        _ => return Err(Error::internal("no ray of an instance")),
    };
    let row = component(f, call)? as u8;
    let mut sum = None;
    for column in 0..if is_origin { 4 } else { 3 } {
        let field = RayQueryField::WorldToObject;
        let op = Op::LoadRayQuery { query: number, committed, field, column };
        let mut build = f.build();
        let vector = build.push(op, field.ty());
        let mut term = build.extract(vector, row);
        if column < 3 {
            let first = if is_origin { 0 } else { 3 };
            let coordinate = f.load_float(query.ray, first + u32::from(column));
            term = f.build().binary(BinaryOp::FMul, term, coordinate);
        }
        sum = Some(match sum {
            Some(sum) => f.build().binary(BinaryOp::FAdd, sum, term),
            None => term,
        });
    }
    sum.map(|sum| Some(Lowered::scalar(sum))).ok_or_else(|| Error::internal("matrix without columns"))
}

/// The component of a vector of three, which the second argument is.
fn component(f: &Lowering<'_, '_>, call: &Call<'_>) -> Result<u32> {
    match call.constant(f, 1)? {
        component @ 0..3 => Ok(component),
        component => Err(Error::malformed(format!("no such component: {component}"))),
    }
}
