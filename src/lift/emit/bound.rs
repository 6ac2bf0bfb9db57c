//! The resources behind handles, and the way to every operation on one.

use naga::{BinaryOperator, Expression, GlobalVariable, Handle, ScalarKind};

use super::{
    Emission, FunctionEmitter,
    expression::Expr,
    resources::{Body, Buffer, Elements, Resource, Texture},
    usage,
};
use crate::{
    Error, Result,
    ir::{self, Op, Value},
    lift::Comparison,
};

/// Acceleration structures among which a switch chooses, at most.
const MAX_CHOSEN_STRUCTURES: u32 = 1024;

/// Among how many it chooses if it is not known how many there are.
const UNKNOWN_STRUCTURES: u32 = 64;

/// The acceleration structures that a handle may stand for.
pub(super) enum Structures {
    /// This one.
    One(Expr),
    /// An element of an array, chosen at run time; one beyond the last is taken for the last.
    Chosen {
        /// Which.
        index: Value,
        /// The array.
        base: Expr,
        /// Number of its elements, at least 1.
        count: u32,
    },
}

/// A resource that an operation works on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// Its declaration.
    pub resource: Resource,
    /// Element of the array of bindings.
    pub index: Value,
}

impl FunctionEmitter<'_, '_> {
    /// An operation on a resource, which gives `value` of type `ty`. Handles themselves give nothing:
    /// operations look at the handle's definition.
    ///
    /// The caller has made sure that a helper lane does not get here with an operation that writes.
    ///
    /// # Errors
    /// Names what has no lowering.
    pub fn resource_op(&mut self, value: Value, op: &ir::Op, ty: ir::Type) -> Result<Option<Emission>> {
        match op {
            Op::Handle { .. } => Ok(None),
            &Op::LoadConstant { handle, row, offset } => self.load_constant(handle, row, offset, ty).map(Some),
            &Op::LoadBuffer { handle, address } => self.load_buffer(handle, address, ty).map(Some),
            &Op::StoreBuffer { handle, address, value } => {
                self.store_buffer(handle, address, value)?;
                Ok(None)
            }
            &Op::AtomicBuffer { op, handle, address, value: operand, compare } => {
                self.atomic_buffer(value, op, handle, address, operand, compare)
            }
            &Op::UpdateCounter { handle, increment } => self.update_counter(handle, increment).map(Some),
            &Op::BufferSize { handle } => self.buffer_size(handle).map(Some),
            &Op::LoadTexture { handle, coordinates, level, sample, offset } => {
                self.load_texture(handle, coordinates, level, sample, offset, ty).map(Some)
            }
            &Op::StoreTexture { handle, coordinates, sample, value } => {
                self.store_texture(handle, coordinates, sample, value)?;
                Ok(None)
            }
            &Op::AtomicTexture { op, handle, coordinates, value, compare } => {
                self.atomic_texture(op, handle, coordinates, value, compare).map(Some)
            }
            Op::Sample(sample) => self.sample(sample, ty).map(Some),
            Op::Gather(gather) => self.gather(gather, ty).map(Some),
            &Op::CalculateLod { texture, sampler: _, coordinates, clamped } => {
                self.calculate_lod(texture, coordinates, clamped).map(Some)
            }
            &Op::TextureSize { handle, level } => self.texture_size(handle, level).map(Some),
            &Op::SampleCount(handle) => self.sample_count(handle).map(Some),
            &Op::SamplePosition { handle, sample } => self.sample_position(handle, sample).map(Some),
            _ => Err(Error::internal(format!("no operation on a resource: {op:?}"))),
        }
    }

    /// The resource behind a handle.
    pub(super) fn bound(&self, handle: Value) -> Result<Bound> {
        let (binding, index) = usage::binding_of(self.ir, handle)?;
        let resource = self
            .module
            .resource_state
            .resources
            .get(&binding)
            .copied()
            .ok_or_else(|| Error::internal(format!("resource was not declared: {binding:?}")))?;
        Ok(Bound { resource, index })
    }

    /// The buffer behind a handle, and its pointer.
    pub(super) fn bound_buffer(&mut self, handle: Value) -> Result<(Buffer, Expr)> {
        let bound = self.bound(handle)?;
        let Body::Buffer(buffer) = bound.resource.body else {
            return Err(Error::malformed("buffer operation on another kind of resource"));
        };
        let pointer = self.buffer_pointer(&bound, buffer.global)?;
        Ok((buffer, pointer))
    }

    /// The texture behind a handle, and its expression.
    pub(super) fn bound_texture(&mut self, handle: Value) -> Result<(Texture, Expr)> {
        let bound = self.bound(handle)?;
        let Body::Texture(texture) = bound.resource.body else {
            return Err(Error::malformed("texture operation on another kind of resource"));
        };
        let image = self.binding_element(&bound, texture.global)?;
        Ok((texture, image))
    }

    /// The sampler behind a handle, for a texture.
    pub(super) fn bound_sampler(&mut self, handle: Value, texture: &Texture, compares: bool) -> Result<Expr> {
        let bound = self.bound(handle)?;
        let Body::Sampler { filtering, unfiltered, comparing, .. } = bound.resource.body else {
            return Err(Error::malformed("another kind of resource as sampler"));
        };
        let global = match (compares, texture.unfilterable) {
            (true, _) => comparing,
            (false, true) => unfiltered,
            (false, false) => filtering,
        };
        let global = global.ok_or_else(|| Error::internal("sampler was not declared for its use"))?;
        self.binding_element(&bound, global)
    }

    /// The acceleration structures that a handle may stand for.
    pub(super) fn bound_acceleration_structures(&mut self, handle: Value) -> Result<Structures> {
        let bound = self.bound(handle)?;
        let Body::AccelerationStructure(global) = bound.resource.body else {
            return Err(Error::malformed("another kind of resource as acceleration structure"));
        };
        if bound.resource.elements == Elements::One || self.ir.as_scalar_constant(bound.index).is_some() {
            return Ok(Structures::One(self.binding_element(&bound, global)?));
        }
        // naga's analysis of non-uniform indices knows arrays of images, samplers and buffers, and panics at others: a
        // switch chooses among constant indices.
        let count = match bound.resource.elements {
            Elements::Array(count) if count <= MAX_CHOSEN_STRUCTURES => count,
            Elements::Array(count) => {
                return Err(Error::unsupported(format!("choice among {count} acceleration structures")));
            }
            _ => {
                self.module.note(format!(
                    "array of acceleration structures of unknown size: one beyond the first {UNKNOWN_STRUCTURES} is taken for the last of these"
                ));
                UNKNOWN_STRUCTURES
            }
        };
        let base = self.pre(Expression::GlobalVariable(global));
        Ok(Structures::Chosen { index: bound.index, base, count })
    }

    /// How the sampler behind a handle compares.
    pub(super) fn comparison_of(&self, handle: Value) -> Result<Comparison> {
        match self.bound(handle)?.resource.body {
            Body::Sampler { comparison: Some(comparison), .. } => Ok(comparison),
            _ => Err(Error::unsupported("comparison with a texture of no depth format by a sampler that is not known")),
        }
    }

    /// The global, or the element of the array of bindings that it is. An index out of range is undefined in Direct3D:
    /// here it gives the last element.
    fn binding_element(&mut self, bound: &Bound, global: Handle<GlobalVariable>) -> Result<Expr> {
        let base = self.pre(Expression::GlobalVariable(global));
        let count = match bound.resource.elements {
            Elements::One => return Ok(base),
            Elements::Array(count) => Some(count),
            Elements::Unbounded => None,
        };
        if let Some(index) = self.ir.as_scalar_constant(bound.index) {
            let last = count.map_or(u32::MAX, |count| count - 1);
            return Ok(self.val(Expression::AccessIndex { base, index: (index as u32).min(last) }));
        }
        let mut index = self.get_as(bound.index, ScalarKind::Uint)?;
        if let Some(count) = count {
            let last = self.u32(count - 1);
            index = self.min(index, last);
        }
        Ok(self.val(Expression::Access { base, index }))
    }

    /// Pointer to a buffer's array.
    pub(super) fn buffer_pointer(&mut self, bound: &Bound, global: Handle<GlobalVariable>) -> Result<Expr> {
        let element = self.binding_element(bound, global)?;
        if bound.resource.elements == Elements::One {
            return Ok(element);
        }
        Ok(self.val(Expression::AccessIndex { base: element, index: 0 }))
    }

    /// The smaller of two integers, or of two vectors of them.
    pub(super) fn min(&mut self, left: Expr, right: Expr) -> Expr {
        self.val(Expression::Math {
            fun: naga::MathFunction::Min,
            arg: left,
            arg1: Some(right),
            arg2: None,
            arg3: None,
        })
    }

    /// Both hold; `None` always holds.
    pub(super) fn both(&mut self, left: Option<Expr>, right: Option<Expr>) -> Option<Expr> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.binary(BinaryOperator::LogicalAnd, left, right)),
            (one, None) | (None, one) => one,
        }
    }
}
