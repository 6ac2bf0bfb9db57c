//! Ray queries: searches of rays within any shader.
//!
//! DXIL's query is a number that `AllocateRayQuery` gives; it becomes the number of the IR's query in its function, and may be
//! chosen at run time. What was asked for (flags, origin, direction, smallest T) is kept in variables of the thread: naga's
//! queries do not tell.

use smallvec::SmallVec;

use super::Call;
use crate::{
    Error, Result,
    dxil::{
        lower::{FunctionLowering, Lowered},
        module as llvm,
    },
    ir::{
        BinaryOp, CompareOp, MAX_RAY_QUERIES, Op, RayQueryField, RayQueryOp, Scalar, Type, Value, Variable, VariableId,
        VariableSpace,
    },
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// Numbers of the operations.
const ALLOCATE_RAY_QUERY: i64 = 178;
const ALLOCATE_RAY_QUERY2: i64 = 258;

/// Floats that are kept of a query's ray: origin, direction and smallest T.
const RAY: u32 = 7;

/// Where the smallest T is among them.
const T_MIN: u32 = 6;

/// The queries of a function.
#[derive(Clone, Debug)]
pub struct RayQueries {
    /// Instructions that allocate them, with the flags that each search has.
    allocations: Vec<(u32, u32)>,
    /// The flags of the searches: one `i32` each.
    flags: VariableId,
    /// The rays, [`RAY`] `f32`s each.
    rays: VariableId,
}

/// A query of a function.
#[derive(Clone, Copy, Debug)]
pub struct RayQuery {
    /// Its number, `i32`: a constant, or chosen at run time.
    number: Value,
}

impl FunctionLowering<'_, '_> {
    /// The function's queries.
    fn ray_queries(&mut self) -> Result<RayQueries> {
        if let Some(queries) = &self.ray_queries {
            return Ok(queries.clone());
        }
        let mut allocations = Vec::new();
        let module = self.parent.module;
        for (number, instruction) in (0..).zip(&self.body.instructions) {
            if let llvm::Operation::Call { callee, arguments } = &instruction.op
                && module.functions[callee.index()].name.starts_with("dx.op.")
                && let Some(ALLOCATE_RAY_QUERY | ALLOCATE_RAY_QUERY2) =
                    arguments.first().and_then(|&number| self.as_integer(number))
            {
                let flags = arguments.get(1).and_then(|&flags| self.as_integer(flags));
                let flags = flags.ok_or_else(|| Error::unsupported("argument that is not constant: 0"))?;
                allocations.push((number, flags as u32));
            }
        }
        let count = allocations.len() as u32;
        if count == 0 {
            return Err(Error::unsupported("ray query of another function"));
        }
        if count > MAX_RAY_QUERIES {
            return Err(Error::unsupported(format!("more ray queries than {MAX_RAY_QUERIES} in a function")));
        }
        let variables = &mut self.parent.ir.variables;
        let mut variable = |name: &str, element: Type, len: u32| {
            let (name, space) = (format!("ray_query_{name}"), VariableSpace::Thread);
            variables.push(Variable { name, space, element, len, initial: None });
            VariableId(variables.len() as u32 - 1)
        };
        let (flags, rays) = (variable("flags", Type::I32, count), variable("rays", Type::F32, RAY * count));
        Ok(self.ray_queries.insert(RayQueries { allocations, flags, rays }).clone())
    }

    /// The query that the first argument is.
    pub(super) fn ray_query(&mut self, call: &Call<'_>) -> Result<RayQuery> {
        let number = call.i32(self, 0)?;
        let count = self.ray_queries()?.allocations.len() as u64;
        if self.function.as_scalar_constant(number).is_some_and(|number| number >= count) {
            return Err(Error::malformed("ray query that was not allocated"));
        }
        Ok(RayQuery { number })
    }

    /// The flags of a search.
    pub(super) fn ray_flags(&mut self, query: RayQuery) -> Result<Value> {
        let variable = self.ray_queries()?.flags;
        let op = Op::LoadVariable { variable, index: query.number, component: None };
        Ok(self.build().push(op, Type::I32))
    }

    /// The flags that each search with a query has.
    fn own_flags(&mut self, query: RayQuery) -> Result<Value> {
        let allocations = self.ray_queries()?.allocations;
        if let Some(number) = self.function.as_scalar_constant(query.number) {
            return Ok(self.function.i32(allocations[number as usize].1));
        }
        let mut flags = self.function.i32(allocations[0].1);
        for (number, &(_, own)) in (0..).zip(&allocations).skip(1) {
            let mut build = self.build();
            let (number, own) = (build.i32(number), build.i32(own));
            if own != flags {
                let is_here = build.compare(CompareOp::IEq, query.number, number);
                flags = build.select(is_here, own, flags);
            }
        }
        Ok(flags)
    }

    /// Place of a float of a query's ray, and the variable.
    fn ray_place(&mut self, query: RayQuery, index: u32) -> Result<(VariableId, Value)> {
        let variable = self.ray_queries()?.rays;
        let first = self.scale(query.number, RAY);
        let index = self.function.i32(index);
        Ok((variable, self.add(first, index)))
    }

    /// Origin (0 to 2), direction (3 to 5) or smallest T (6) of a search.
    pub(super) fn ray_float(&mut self, query: RayQuery, index: u32) -> Result<Value> {
        let (variable, index) = self.ray_place(query, index)?;
        Ok(self.build().push(Op::LoadVariable { variable, index, component: None }, Type::F32))
    }

    fn store_ray_float(&mut self, query: RayQuery, index: u32, value: Value) -> Result<()> {
        let (variable, index) = self.ray_place(query, index)?;
        self.build().effect(Op::StoreVariable { variable, index, component: None, value });
        Ok(())
    }

    /// Does something with a query; the result.
    fn query_op(&mut self, op: RayQueryOp, query: RayQuery, operands: &[Value], ty: Type) -> Result<Value> {
        let op = Op::RayQuery { op, query: 0, operands: SmallVec::from_slice(operands) };
        self.with_query(query, op, ty)
    }

    /// What a query knows of a hit.
    pub(super) fn load_ray_query(
        &mut self,
        query: RayQuery,
        committed: bool,
        field: RayQueryField,
        column: u8,
    ) -> Result<Value> {
        self.with_query(query, Op::LoadRayQuery { query: 0, committed, field, column }, field.ty())
    }

    /// An operation on a query, of whichever number it has.
    fn with_query(&mut self, RayQuery { number }: RayQuery, mut op: Op, ty: Type) -> Result<Value> {
        let op = match self.function.as_scalar_constant(number) {
            Some(number) => {
                if let Op::RayQuery { query, .. } | Op::LoadRayQuery { query, .. } = &mut op {
                    *query = number as u32;
                }
                op
            }
            None => {
                let queries = (0..self.ray_queries()?.allocations.len() as u32).collect();
                Op::ChooseRayQuery { which: number, queries, op: Box::new(op) }
            }
        };
        Ok(self.build().push(op, ty))
    }
}

/// Flags (and, for Shader Model 6.9, those of the query): the number of the query.
pub fn allocate(f: &mut Lowering<'_, '_>, _: &Call<'_>) -> Result<Option<Lowered>> {
    let instruction = f.origin;
    let number = f.ray_queries()?.allocations.iter().position(|allocation| allocation.0 == instruction);
    let number = number.ok_or_else(|| Error::internal("ray query that no instruction allocates"))?;
    Ok(Some(Lowered::scalar(f.function.i32(number as u32))))
}

/// Query, acceleration structure, flags, instance mask, origin, smallest T, direction, largest T.
pub fn trace(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let query = f.ray_query(call)?;
    let structure = f.handle_argument(call, 1)?.value;
    let (flags, mask) = (call.i32(f, 2)?, call.i32(f, 3)?);
    let (t_min, t_max) = (call.f32(f, 7)?, call.f32(f, 11)?);
    for (index, argument) in (0..).zip([4, 5, 6, 8, 9, 10, 7]) {
        let value = call.f32(f, argument)?;
        f.store_ray_float(query, index, value)?;
    }
    let (origin, direction) = (call.vector(f, 4, 3, Scalar::F32)?, call.vector(f, 8, 3, Scalar::F32)?);
    let own = f.own_flags(query)?;
    let variable = f.ray_queries()?.flags;
    let mut build = f.build();
    let flags = build.binary(BinaryOp::Or, flags, own);
    build.effect(Op::StoreVariable { variable, index: query.number, component: None, value: flags });
    let operands = [structure, flags, mask, origin, t_min, direction, t_max];
    f.query_op(RayQueryOp::Trace, query, &operands, Type::Void)?;
    Ok(None)
}

/// Query: there is a candidate.
pub fn proceed(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let query = f.ray_query(call)?;
    f.query_op(RayQueryOp::Proceed, query, &[], Type::BOOL).map(|value| Some(Lowered::scalar(value)))
}

/// Query: its candidate, a procedural primitive, is not opaque.
pub fn is_non_opaque(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let query = f.ray_query(call)?;
    f.query_op(RayQueryOp::IsNonOpaque, query, &[], Type::BOOL).map(|value| Some(Lowered::scalar(value)))
}

/// Query.
pub fn abort(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let query = f.ray_query(call)?;
    f.query_op(RayQueryOp::Abort, query, &[], Type::Void)?;
    Ok(None)
}

/// Query.
pub fn commit_triangle(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let query = f.ray_query(call)?;
    f.query_op(RayQueryOp::CommitTriangle, query, &[], Type::Void)?;
    Ok(None)
}

/// Query, T.
pub fn commit_procedural(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let query = f.ray_query(call)?;
    let t = call.f32(f, 1)?;
    f.query_op(RayQueryOp::CommitProcedural, query, &[t], Type::Void)?;
    Ok(None)
}

/// Query, and the row and column of a matrix or the component of a vector: a number that the query knows of a hit.
pub fn hit_field(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    use RayQueryField::*;
    let query = f.ray_query(call)?;
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
    let value = f.load_ray_query(query, committed, field, column as u8)?;
    Ok(Some(Lowered::scalar(if field.ty().lanes() > 1 { f.build().extract(value, lane as u8) } else { value })))
}

/// Query, and the component of a vector: what was asked for.
pub fn ray(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let query = f.ray_query(call)?;
    let index = match call.number {
        195 => return f.ray_flags(query).map(|flags| Some(Lowered::scalar(flags))),
        196 => component(f, call)?,
        197 => 3 + component(f, call)?,
        198 => T_MIN,
        _ => return Err(Error::internal("no part of a ray")),
    };
    f.ray_float(query, index).map(|float| Some(Lowered::scalar(float)))
}

/// Query, and the component of a vector: the ray as the instance sees it.
pub fn object_ray(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let query = f.ray_query(call)?;
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
        let vector = f.load_ray_query(query, committed, RayQueryField::WorldToObject, column)?;
        let mut term = f.build().extract(vector, row);
        if column < 3 {
            let first = if is_origin { 0 } else { 3 };
            let coordinate = f.ray_float(query, first + u32::from(column))?;
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
