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
    /// Kind of the one component of a texel.
    pub kind: ScalarKind,
}

/// A texel's word, and whether it exists.
#[derive(Clone, Copy, Debug)]
struct TexelWord {
    array: Expr,
    word: Expr,
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
        let pointer = self.val(Expression::AccessIndex { base: array, index });
        let value = self.load(pointer);
        self.bits_as(value, texels.kind, ScalarKind::Uint)
    }

    /// The word of a texel.
    fn texel_word(&mut self, texels: &Texels, array: Expr, coordinates: Value) -> Result<TexelWord> {
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
        let mut word = position[0];
        if let Some(row) = row {
            let pitch = self.header(texels, array, 3);
            let first = self.binary(BinaryOperator::Multiply, row, pitch);
            word = self.binary(BinaryOperator::Add, word, first);
        }
        let word = self.plus(word, TEXEL_BUFFER_HEADER / 4);
        let inside = inside.ok_or_else(|| Error::internal("texel without coordinates"))?;
        Ok(TexelWord { array, word, inside })
    }

    /// A texel: red alone is in memory, green and blue are 0, and alpha is 1, out of range too.
    pub(super) fn load_texels(
        &mut self,
        (texels, array): (Texels, Expr),
        coordinates: Value,
        ty: ir::Type,
    ) -> Result<Emission> {
        let TexelWord { array, word, inside } = self.texel_word(&texels, array, coordinates)?;
        let shape = Shape { scalar: scalar32(texels.kind), lanes: 1 };
        let zero = self.zero_of(shape);
        let first = self.u32(0);
        let index = self.select(inside, word, first);
        let pointer = self.val(Expression::Access { base: array, index });
        let value = self.load(pointer);
        let red = self.select(inside, value, zero);
        let alpha = self.one(texels.kind);
        let lanes = [red, zero, zero, alpha];
        let value = self.vector_of(shape.scalar, &lanes[..usize::from(ty.lanes())]);
        self.value_of_register(value, texels.kind, ty)
    }

    /// Writes a texel.
    pub(super) fn store_texels(
        &mut self,
        (texels, array): (Texels, Expr),
        coordinates: Value,
        value: Value,
    ) -> Result<()> {
        let ty = self.ir.ty(value);
        let value = self.lanes_for_register(value, ty, texels.kind)?;
        let red = self.lane(value, ty.lanes(), 0);
        let TexelWord { array, word, inside } = self.texel_word(&texels, array, coordinates)?;
        self.when(inside, |emitter| {
            let pointer = emitter.val(Expression::Access { base: array, index: word });
            emitter.store(pointer, red);
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
        let scalar = scalar32(texels.kind);
        let TexelWord { array, word, inside } = self.texel_word(&texels, array, coordinates)?;
        let old = self.value_when(inside, Shape { scalar, lanes: 1 }, |emitter| {
            let pointer = emitter.val(Expression::Access { base: array, index: word });
            emitter.atomic(AtomicMemory { pointer, scalar }, op, value, compare)
        })?;
        Ok(Emission { expr: old, kind: texels.kind })
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
