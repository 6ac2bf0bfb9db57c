//! Textures whose old values atomic operations give: naga has no such operations on textures, so a storage buffer stands
//! for the texture. [`EmittedType::TexelBuffer`](crate::lift::EmittedType::TexelBuffer) describes its layout.

use naga::{AtomicFunction, BinaryOperator, Expression, GlobalVariable, Handle, Scalar, ScalarKind};

use super::{
    Emission, FunctionEmitter, atomic_variable::AtomicMemory, expression::Expr, function::Shape, io::scalar32,
    resources::Body,
};
use crate::{
    Error, Result,
    ir::{self, AtomicOp, Value},
    lift::TEXEL_BUFFER_HEADER,
    reflection::TextureDimension,
};

/// A buffer of a texture's texels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texels {
    pub global: Handle<GlobalVariable>,
    /// Shape of the texture.
    pub dimension: TextureDimension,
    /// Type of the one integer of a texel, which is an atomic.
    pub scalar: Scalar,
}

impl Texels {
    /// A texel takes two words.
    fn is_wide(&self) -> bool {
        self.scalar.width == 8
    }
}

/// A texel's index in the array, and whether it exists.
#[derive(Clone, Copy, Debug)]
struct TexelElement {
    array: Expr,
    index: Expr,
    inside: Expr,
}

impl FunctionEmitter<'_, '_> {
    /// The buffer of texels behind a handle, and its pointer, if there is one.
    pub(super) fn bound_texels(&mut self, handle: Value) -> Result<Option<(Texels, Expr)>> {
        let bound = self.bound(handle)?;
        let Body::Texels(texels) = bound.resource.body else { return Ok(None) };
        let pointer = self.buffer_pointer(&bound, texels.global)?;
        Ok(Some((texels, pointer)))
    }

    /// A word of the header: width, height, depth or layers, words of a row.
    fn header(&mut self, texels: &Texels, array: Expr, index: u32) -> Expr {
        let wide = texels.is_wide();
        let pointer = self.val(Expression::AccessIndex { base: array, index: if wide { index / 2 } else { index } });
        let value = self.load(pointer);
        let value = self.bits_as(value, texels.scalar.kind, ScalarKind::Uint);
        if wide { self.split(value)[index as usize % 2] } else { value }
    }

    /// Where a texel is.
    fn texel_element(&mut self, texels: &Texels, array: Expr, coordinates: Value) -> Result<TexelElement> {
        let given = self.ir.ty(coordinates).lanes();
        let axes = texels.dimension.coordinates() + u8::from(texels.dimension.is_arrayed());
        if given < axes {
            return Err(Error::malformed(format!("too few coordinates of a texel: {given}")));
        }
        let all = self.get_as(coordinates, ScalarKind::Uint)?;
        let mut position: Vec<Expr> = (0..axes).map(|lane| self.lane(all, given, lane)).collect();
        if texels.dimension == TextureDimension::D1Array {
            let zero = self.u32(0);
            position.insert(1, zero);
        }
        let mut inside = None;
        for (index, &axis) in (0..).zip(&position) {
            let size = self.header(texels, array, index);
            let below = self.binary(BinaryOperator::Less, axis, size);
            inside = self.both(inside, Some(below));
        }
        let mut row = position.get(1).copied();
        if let Some(&slice) = position.get(2) {
            let height = self.header(texels, array, 1);
            let first = self.binary(BinaryOperator::Multiply, slice, height);
            row = Some(match row {
                Some(row) => self.binary(BinaryOperator::Add, first, row),
                None => first,
            });
        }
        let mut index = position[0];
        if let Some(row) = row {
            let words = self.header(texels, array, 3);
            let pitch = if texels.is_wide() { self.shifted_right(words, 1) } else { words };
            let first = self.binary(BinaryOperator::Multiply, row, pitch);
            index = self.binary(BinaryOperator::Add, index, first);
        }
        let index = self.plus(index, TEXEL_BUFFER_HEADER / u32::from(texels.scalar.width));
        let inside = inside.ok_or_else(|| Error::internal("texel without coordinates"))?;
        Ok(TexelElement { array, index, inside })
    }

    /// A texel: red alone is in memory, green and blue are 0, and alpha is 1, out of range too. Of 64 bits, the upper half is
    /// green.
    pub(super) fn load_texels(
        &mut self,
        (texels, array): (Texels, Expr),
        coordinates: Value,
        ty: ir::Type,
    ) -> Result<Emission> {
        let TexelElement { array, index, inside } = self.texel_element(&texels, array, coordinates)?;
        let nothing = self.zero_of(Shape { scalar: texels.scalar, lanes: 1 });
        let first = self.u32(0);
        let index = self.select(inside, index, first);
        let pointer = self.val(Expression::Access { base: array, index });
        let value = self.load(pointer);
        let value = self.select(inside, value, nothing);
        let kind = if texels.is_wide() { ScalarKind::Uint } else { texels.scalar.kind };
        let zero = self.literal(scalar32(kind), 0);
        let [red, green] = if texels.is_wide() {
            let pair = self.bits_as(value, texels.scalar.kind, kind);
            self.split(pair)
        } else {
            [value, zero]
        };
        let alpha = self.one(kind);
        let lanes = [red, green, zero, alpha];
        let value = self.vector_of(scalar32(kind), &lanes[..usize::from(ty.lanes())]);
        self.value_of_register(value, kind, ty)
    }

    /// Writes a texel.
    pub(super) fn store_texels(
        &mut self,
        (texels, array): (Texels, Expr),
        coordinates: Value,
        value: Value,
    ) -> Result<()> {
        let ty = self.ir.ty(value);
        let kind = if texels.is_wide() { ScalarKind::Uint } else { texels.scalar.kind };
        let value = self.lanes_for_register(value, ty, kind)?;
        let value = if texels.is_wide() {
            let pair = self.pair_of(value, ty.lanes());
            self.bits_as(pair, kind, texels.scalar.kind)
        } else {
            self.lane(value, ty.lanes(), 0)
        };
        let TexelElement { array, index, inside } = self.texel_element(&texels, array, coordinates)?;
        self.when(inside, |emitter| {
            let pointer = emitter.val(Expression::Access { base: array, index });
            emitter.store(pointer, value);
        });
        Ok(())
    }

    /// An atomic operation on a texel.
    pub(super) fn atomic_texels(
        &mut self,
        (texels, array): (Texels, Expr),
        op: AtomicOp,
        coordinates: Value,
        value: Value,
        compare: Option<Value>,
    ) -> Result<Emission> {
        let scalar = texels.scalar;
        if self.ir.ty(value).scalar().is_none_or(|operand| operand.bytes() != u32::from(scalar.width)) {
            return Err(Error::unsupported("atomic operations of several widths on a texture"));
        }
        let TexelElement { array, index, inside } = self.texel_element(&texels, array, coordinates)?;
        let old = self.value_when(inside, Shape { scalar, lanes: 1 }, |emitter| {
            let pointer = emitter.val(Expression::Access { base: array, index });
            emitter.atomic(AtomicMemory { pointer, scalar }, op, value, compare)
        })?;
        Ok(Emission { expr: old, kind: scalar.kind })
    }

    /// The 64-bit integer (`u64`) of which a texel's first two lanes are the words.
    pub(super) fn pair_of(&mut self, texel: Expr, lanes: u8) -> Expr {
        let low = self.lane(texel, lanes, 0);
        let high = if lanes > 1 { self.lane(texel, lanes, 1) } else { self.u32(0) };
        self.join(low, high)
    }

    /// [`ir::Op::TextureSize`] of a buffer of texels.
    pub(super) fn texels_size(&mut self, (texels, array): (Texels, Expr)) -> Emission {
        let indices: &[u32] = match texels.dimension {
            TextureDimension::D1 => &[0],
            TextureDimension::D1Array => &[0, 2],
            TextureDimension::D2 => &[0, 1],
            _ => &[0, 1, 2],
        };
        let mut lanes: Vec<Expr> = indices.iter().map(|&index| self.header(&texels, array, index)).collect();
        let zero = self.u32(0);
        lanes.resize(3, zero);
        lanes.push(self.u32(1));
        Emission::uint(self.vector_of(Scalar::U32, &lanes))
    }
}

/// What naga has of an atomic operation on a texture, which gives no old value.
pub(super) fn image_function(op: AtomicOp) -> Option<AtomicFunction> {
    Some(match op {
        AtomicOp::Add => AtomicFunction::Add,
        AtomicOp::And => AtomicFunction::And,
        AtomicOp::Or => AtomicFunction::InclusiveOr,
        AtomicOp::Xor => AtomicFunction::ExclusiveOr,
        AtomicOp::SMin | AtomicOp::UMin => AtomicFunction::Min,
        AtomicOp::SMax | AtomicOp::UMax => AtomicFunction::Max,
        AtomicOp::Exchange | AtomicOp::CompareExchange => return None,
    })
}
