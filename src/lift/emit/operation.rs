//! One instruction: who lowers which operation, and the lowering of what moves lanes about.

use naga::{Expression, MathFunction, ScalarKind, SwizzleComponent};

use super::{Emission, FunctionEmitter, expression::Expr, types::vector_size};
use crate::{
    Error, Result,
    ir::{Op, Type, Value},
};

impl FunctionEmitter<'_, '_> {
    /// Emits an operation, `value` of the function; `ty` is its result's type. `None` if it has no result.
    ///
    /// # Errors
    /// Names what has no lowering.
    pub fn operation(&mut self, value: Value, op: &Op, ty: Type, precise: bool) -> Result<Option<Emission>> {
        let emission = match op {
            Op::Unary(op, a) => self.unary_op(value, *op, *a, ty)?,
            Op::Binary(op, a, b) => self.binary_op(value, *op, *a, *b, ty)?,
            Op::Compare(op, a, b) => self.compare(*op, *a, *b)?,
            Op::Ternary(op, a, b, c) => self.ternary_op(value, *op, [*a, *b, *c], ty)?,
            Op::BitfieldInsert { width, offset, insert, base } => {
                self.bitfield_insert(value, [*width, *offset, *insert, *base], ty)?
            }
            Op::ChooseHandle { .. } | Op::ChooseRayQuery { .. } => {
                return Err(Error::internal("a choice among resources is left"));
            }
            Op::Select { condition, accept, reject } => {
                let kind = self.kind_of(value);
                let condition = self.get_as(*condition, ScalarKind::Bool)?;
                let accept = self.get_as(*accept, kind)?;
                let reject = self.get_as(*reject, kind)?;
                Emission { expr: self.select(condition, accept, reject), kind }
            }
            Op::Dot(a, b) => self.dot(value, *a, *b, precise)?,
            Op::Convert(op, a) => self.convert_op(value, *op, *a, ty)?,
            Op::Extract(vector, lane) => {
                let Emission { expr, kind } = self.get(*vector)?;
                Emission { expr: self.lane(expr, self.ir.ty(*vector).lanes(), *lane), kind }
            }
            Op::ExtractDynamic(vector, index) => self.extract_dynamic(*vector, *index)?,
            Op::Compose(lanes) => {
                let kind = self.kind_of(value);
                let components: Vec<Expr> = lanes.iter().map(|&lane| self.get_as(lane, kind)).collect::<Result<_>>()?;
                let scalar = self.shape(ty, kind).scalar;
                Emission { expr: self.vector_of(scalar, &components), kind }
            }
            Op::Swizzle(vector, order) => self.swizzle(*vector, order)?,

            Op::LoadInput { .. }
            | Op::EvaluateInput { .. }
            | Op::LoadInputAtVertex { .. }
            | Op::StoreOutput { .. }
            | Op::SystemValue(_) => return self.io_op(op, ty),

            Op::LoadVariable { variable, index, component } => self.load_variable(*variable, *index, *component, ty)?,
            Op::StoreVariable { variable, index, component, value } => {
                self.store_variable(*variable, *index, *component, *value)?;
                return Ok(None);
            }
            Op::AtomicVariable { op, variable, index, value, compare } => {
                self.atomic_variable(*op, *variable, *index, *value, *compare)?
            }

            Op::Handle { .. } => return Ok(None),
            Op::LoadConstant { .. }
            | Op::LoadBuffer { .. }
            | Op::StoreBuffer { .. }
            | Op::AtomicBuffer { .. }
            | Op::UpdateCounter { .. }
            | Op::LoadTexture { .. }
            | Op::StoreTexture { .. }
            | Op::AtomicTexture { .. }
            | Op::Sample(_)
            | Op::Gather(_)
            | Op::CalculateLod { .. }
            | Op::TextureSize { .. }
            | Op::BufferSize { .. }
            | Op::SampleCount(_)
            | Op::SamplePosition { .. } => return self.resource_op(value, op, ty),

            Op::Derivative(axis, precision, a) => self.derivative(*axis, *precision, *a)?,
            Op::Discard(condition) => {
                self.discard(*condition)?;
                return Ok(None);
            }
            Op::IsHelperLane => self.is_helper_lane()?,
            Op::Barrier(barrier) => {
                self.barrier(*barrier);
                return Ok(None);
            }
            Op::Wave(op, operands) => self.wave(value, *op, operands, ty)?,

            Op::RayQuery { op, query, operands } => return self.ray_query(*op, *query, operands),
            Op::LoadRayQuery { query, committed, field, column } => {
                self.load_ray_query(*query, *committed, *field, *column)?
            }
            Op::Call(function, args) => return self.call(*function, args, ty),
            Op::EmitVertex { stream, emit, cut } => {
                self.emit_vertex(*stream, *emit, *cut)?;
                return Ok(None);
            }
            Op::SetMeshOutputCounts { vertices, primitives } => {
                self.set_mesh_output_counts(*vertices, *primitives)?;
                return Ok(None);
            }
            Op::EmitIndices { primitive, indices } => {
                self.emit_indices(*primitive, indices)?;
                return Ok(None);
            }
            Op::DispatchMesh { groups, payload, first, words } => {
                self.dispatch_mesh(*groups, *payload, *first, *words)?;
                return Ok(None);
            }
        };
        Ok(Some(emission))
    }

    fn extract_dynamic(&mut self, vector: Value, index: Value) -> Result<Emission> {
        let lanes = self.ir.ty(vector).lanes();
        let Emission { expr, kind } = self.get(vector)?;
        if lanes == 1 {
            return Ok(Emission { expr, kind });
        }
        if let Some(index) = self.known_splat(index) {
            let lane = index.min(u64::from(lanes) - 1) as u8;
            return Ok(Emission { expr: self.lane(expr, lanes, lane), kind });
        }
        let index = self.get_as(index, ScalarKind::Uint)?;
        let last = self.u32(u32::from(lanes) - 1);
        let index = self.math(MathFunction::Min, &[index, last]);
        Ok(Emission { expr: self.val(Expression::Access { base: expr, index }), kind })
    }

    fn swizzle(&mut self, vector: Value, order: &[u8]) -> Result<Emission> {
        let lanes = self.ir.ty(vector).lanes();
        let Emission { expr, kind } = self.get(vector)?;
        let expr = match order {
            [lane] => self.lane(expr, lanes, *lane),
            _ if lanes == 1 => self.splat_to(expr, order.len() as u8),
            _ => {
                let component = |&lane: &u8| match lane {
                    0 => SwizzleComponent::X,
                    1 => SwizzleComponent::Y,
                    2 => SwizzleComponent::Z,
                    _ => SwizzleComponent::W,
                };
                let mut pattern = [SwizzleComponent::X; 4];
                pattern.iter_mut().zip(order).for_each(|(to, lane)| *to = component(lane));
                self.val(Expression::Swizzle { size: vector_size(order.len() as u8), vector: expr, pattern })
            }
        };
        Ok(Emission { expr, kind })
    }
}
