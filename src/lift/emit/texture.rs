//! Texels without filtering, and what textures tell of themselves.

use naga::{
    BinaryOperator, Expression, ImageClass, ImageQuery, MathFunction, RelationalFunction, Scalar, ScalarKind,
    Statement, StorageFormat,
};

use super::{Emission, FunctionEmitter, expression::Expr, io::scalar32, resources::Texture, texels::image_function};
use crate::{
    Error, Result,
    ir::{self, AtomicOp, Value},
    lift::UNKNOWN_SAMPLES,
    reflection::TextureDimension,
};

/// Coordinates of a texel in naga's terms, and whether there is such a texel.
#[derive(Clone, Copy, Debug)]
struct TexelPlace {
    /// `vec2<i32>` or `vec3<i32>`.
    coordinate: Expr,
    /// `i32`.
    layer: Option<Expr>,
    /// `i32`.
    level: Option<Expr>,
    /// `i32`.
    sample: Option<Expr>,
    /// The texel exists.
    inside: Expr,
}

/// Positions of samples in the patterns of 1, 2, 4, 8 and 16 samples one after another: a byte each, x in the low and y
/// in the high four bits, in sixteenths of a pixel, plus 8 (Direct3D 11.3 functional specification, 19.2.4).
const SAMPLE_POSITIONS: [(i8, i8); 31] = [
    (0, 0),
    (4, 4),
    (-4, -4),
    (-2, -6),
    (6, -2),
    (-6, 2),
    (2, 6),
    (1, -3),
    (-1, 3),
    (5, 1),
    (-3, -5),
    (-5, 5),
    (-7, -1),
    (3, 7),
    (7, -7),
    (1, 1),
    (-1, -3),
    (-3, 2),
    (4, -1),
    (-5, -2),
    (2, 5),
    (5, 3),
    (3, -5),
    (-2, 6),
    (0, -7),
    (-4, -6),
    (-6, 4),
    (-8, 0),
    (7, -4),
    (6, 7),
    (-7, -8),
];

/// Four sample positions from `first`, a byte each.
fn packed_positions(first: usize) -> u32 {
    SAMPLE_POSITIONS.iter().skip(first).take(4).enumerate().fold(0, |word, (index, &(x, y))| {
        let byte = (x + 8) as u32 | ((y + 8) as u32) << 4;
        word | byte << (8 * index)
    })
}

impl FunctionEmitter<'_, '_> {
    /// The texel that an operation is on, and the guard for it.
    fn texel(
        &mut self,
        texture: &Texture,
        image: Expr,
        coordinates: Value,
        level: Option<Value>,
        sample: Option<Value>,
        offset: Option<Value>,
    ) -> Result<TexelPlace> {
        if matches!(texture.dimension, TextureDimension::Cube | TextureDimension::CubeArray) {
            return Err(Error::unsupported("texel of a cube without filtering"));
        }
        let given = self.ir.ty(coordinates).lanes();
        let axes = texture.dimension.coordinates();
        let arrayed = texture.dimension.is_arrayed();
        if given < axes + u8::from(arrayed) {
            return Err(Error::malformed(format!("too few coordinates of a texel: {given}")));
        }
        let all = self.get_as(coordinates, ScalarKind::Sint)?;
        let mut position = self.lanes_from(all, given, 0, axes);
        if let Some(offset) = offset {
            let lanes = self.ir.ty(offset).lanes();
            if lanes < axes {
                return Err(Error::malformed(format!("too few offsets of a texel: {lanes}")));
            }
            let offset = self.get_as(offset, ScalarKind::Sint)?;
            let offset = self.lanes_from(offset, lanes, 0, axes);
            position = self.binary(BinaryOperator::Add, position, offset);
        }
        if texture.is_flat() {
            let zero = self.i32(0);
            position = self.vector_of(Scalar::I32, &[position, zero]);
        }
        let mut layer = arrayed.then(|| self.lane(all, given, axes));

        let mipmapped = texture.class.is_mipmapped();
        let mut inside = None;
        let level = match level.filter(|_| mipmapped) {
            Some(level) if self.ir.as_scalar_constant(level) != Some(0) => {
                let level = self.get_as(level, ScalarKind::Sint)?;
                let levels = self.query(image, ImageQuery::NumLevels);
                let valid = self.below(level, levels);
                inside = Some(valid);
                let zero = self.i32(0);
                Some(self.select(valid, level, zero))
            }
            _ => mipmapped.then(|| self.i32(0)),
        };
        let size = self.query(image, ImageQuery::Size { level });
        let unsigned = self.bits_as(position, ScalarKind::Sint, ScalarKind::Uint);
        let within = self.binary(BinaryOperator::Less, unsigned, size);
        let within = self.val(Expression::Relational { fun: RelationalFunction::All, argument: within });
        inside = self.both(inside, Some(within));
        // naga asks for the layers of storage and multisampled textures in a way that is not valid SPIR-V: there the
        // driver's own robustness must do, which leaves alpha alone open.
        if let Some(layer) = layer.filter(|_| mipmapped) {
            let layers = self.query(image, ImageQuery::NumLayers);
            let valid = self.below(layer, layers);
            inside = self.both(inside, Some(valid));
        }
        let sample = match (sample, texture.class.is_multisampled()) {
            (sample, false) if texture.samples > 0 => {
                let sample = match sample {
                    Some(sample) => self.get_as(sample, ScalarKind::Sint)?,
                    None => self.i32(0),
                };
                if texture.samples != UNKNOWN_SAMPLES {
                    let samples = self.u32(texture.samples);
                    let valid = self.below(sample, samples);
                    inside = self.both(inside, Some(valid));
                }
                layer = Some(match layer {
                    Some(layer) => {
                        let samples = self.i32(texture.samples as i32);
                        let first = self.binary(BinaryOperator::Multiply, layer, samples);
                        self.binary(BinaryOperator::Add, first, sample)
                    }
                    None => sample,
                });
                None
            }
            (Some(sample), true) => {
                let sample = self.get_as(sample, ScalarKind::Sint)?;
                let samples = self.query(image, ImageQuery::NumSamples);
                let valid = self.below(sample, samples);
                inside = self.both(inside, Some(valid));
                Some(sample)
            }
            (None, true) => Some(self.i32(0)),
            (_, false) => None,
        };
        let inside = inside.unwrap_or(within);
        Ok(TexelPlace { coordinate: position, layer, level, sample, inside })
    }

    /// `value < count`, both taken as unsigned; `value` is an `i32`, `count` a `u32`.
    fn below(&mut self, value: Expr, count: Expr) -> Expr {
        let value = self.bits_as(value, ScalarKind::Sint, ScalarKind::Uint);
        self.binary(BinaryOperator::Less, value, count)
    }

    /// A question to a texture.
    pub(super) fn query(&mut self, image: Expr, query: ImageQuery) -> Expr {
        self.val(Expression::ImageQuery { image, query })
    }

    /// The same place, or the first texel where there is none.
    fn confined(&mut self, texture: &Texture, place: &TexelPlace) -> TexelPlace {
        let lanes = texture.lanes();
        let ty = self.module.numeric(Scalar::I32, lanes);
        let zeros = self.zero(ty);
        let wide = self.splat_to(place.inside, lanes);
        let coordinate = self.select(wide, place.coordinate, zeros);
        let zero = self.i32(0);
        let mut confine = |index: Option<Expr>| index.map(|index| self.select(place.inside, index, zero));
        TexelPlace {
            coordinate,
            layer: confine(place.layer),
            level: place.level,
            sample: confine(place.sample),
            inside: place.inside,
        }
    }

    /// [`ir::Op::LoadTexture`].
    pub(super) fn load_texture(
        &mut self,
        handle: Value,
        coordinates: Value,
        level: Option<Value>,
        sample: Option<Value>,
        offset: Option<Value>,
        ty: ir::Type,
    ) -> Result<Emission> {
        if let Some(texels) = self.bound_texels(handle)? {
            return self.load_texels(texels, coordinates, ty);
        }
        let (texture, image) = self.bound_texture(handle)?;
        let place = self.texel(&texture, image, coordinates, level, sample, offset)?;
        let place = self.confined(&texture, &place);
        let value = self.val(Expression::ImageLoad {
            image,
            coordinate: place.coordinate,
            array_index: place.layer,
            sample: place.sample,
            level: place.level,
        });
        let value = self.four_components(&texture, value);
        let lanes = ty.lanes();
        let value = self.lanes_from(value, 4, 0, lanes);
        let outside = self.outside(&texture, lanes);
        let inside = self.splat_to(place.inside, lanes);
        let value = self.select(inside, value, outside);
        self.value_of_register(value, texture.kind(), ty)
    }

    /// What a load out of range gives: zeros, but the default of an alpha that the format does not have.
    fn outside(&mut self, texture: &Texture, lanes: u8) -> Expr {
        let scalar = scalar32(texture.kind());
        if lanes < 4 || !texture.without_alpha {
            let ty = self.module.numeric(scalar, lanes);
            return self.zero(ty);
        }
        let (zero, one) = (self.literal(scalar, 0), self.one(texture.kind()));
        self.vector_of(scalar, &[zero, zero, zero, one])
    }

    /// What naga reads from a texture as four components: depth textures have one, and read as red. Integers of 64 bits are
    /// red and green.
    pub(super) fn four_components(&mut self, texture: &Texture, value: Expr) -> Expr {
        if texture.is_wide() {
            let pair = self.lane(value, 4, 0);
            let [low, high] = self.split(pair);
            let (zero, one) = (self.u32(0), self.u32(1));
            return self.vector_of(Scalar::U32, &[low, high, zero, one]);
        }
        if !texture.is_depth() {
            return value;
        }
        let (zero, one) = (self.f32(0.0), self.f32(1.0));
        self.vector_of(Scalar::F32, &[value, zero, zero, one])
    }

    /// [`ir::Op::StoreTexture`].
    pub(super) fn store_texture(
        &mut self,
        handle: Value,
        coordinates: Value,
        sample: Option<Value>,
        value: Value,
    ) -> Result<()> {
        if let Some(texels) = self.bound_texels(handle)? {
            return self.store_texels(texels, coordinates, value);
        }
        let (texture, image) = self.bound_texture(handle)?;
        if !matches!(texture.class, ImageClass::Storage { .. }) {
            return Err(Error::malformed("store to a texture that is only read"));
        }
        let ty = self.ir.ty(value);
        let kind = texture.kind();
        let value = self.lanes_for_register(value, ty, kind)?;
        let value = if texture.is_wide() {
            let pair = self.pair_of(value, ty.lanes());
            self.splat_to(pair, 4)
        } else if ty.lanes() == 4 {
            value
        } else {
            let mut lanes = self.lanes(value, ty.lanes());
            let scalar = self.module.numeric(scalar32(kind), 1);
            let zero = self.zero(scalar);
            lanes.resize(4, zero);
            self.vector_of(scalar32(kind), &lanes)
        };
        let place = self.texel(&texture, image, coordinates, None, sample, None)?;
        self.when(place.inside, |emitter| {
            emitter.statement(Statement::ImageStore {
                image,
                coordinate: place.coordinate,
                array_index: place.layer,
                value,
            });
        });
        Ok(())
    }

    /// [`ir::Op::AtomicTexture`].
    pub(super) fn atomic_texture(
        &mut self,
        op: AtomicOp,
        handle: Value,
        coordinates: Value,
        value: Value,
        compare: Option<Value>,
    ) -> Result<Emission> {
        if let Some(texels) = self.bound_texels(handle)? {
            return self.atomic_texels(texels, op, coordinates, value, compare);
        }
        let (texture, image) = self.bound_texture(handle)?;
        let width = match texture.class {
            ImageClass::Storage { format: StorageFormat::R32Uint | StorageFormat::R32Sint, .. } => 4,
            ImageClass::Storage { format: StorageFormat::R64Uint, .. } => 8,
            _ => return Err(Error::unsupported(format!("atomic operation on a texture: {:?}", texture.class))),
        };
        if self.ir.ty(value).scalar().is_none_or(|operand| operand.bytes() != width) {
            return Err(Error::unsupported(format!("atomic operation of another width: {:?}", texture.class)));
        }
        let kind = texture.kind();
        let ordered = match op {
            AtomicOp::SMin | AtomicOp::SMax => ScalarKind::Sint,
            AtomicOp::UMin | AtomicOp::UMax => ScalarKind::Uint,
            _ => kind,
        };
        if ordered != kind {
            return Err(Error::unsupported("atomic minimum or maximum on a texture of the other sign"));
        }
        let ty = self.ir.ty(value);
        let value = self.get_as(value, kind)?;
        let place = self.texel(&texture, image, coordinates, None, None, None)?;
        self.when(place.inside, |emitter| {
            let (coordinate, array_index) = (place.coordinate, place.layer);
            let statement = match image_function(op) {
                Some(fun) => Statement::ImageAtomic { image, coordinate, array_index, fun, value },
                // An exchange whose old value nobody wants is a store.
                None => {
                    let value = emitter.splat_to(value, 4);
                    Statement::ImageStore { image, coordinate, array_index, value }
                }
            };
            emitter.statement(statement);
        });
        self.zero_value(ty)
    }

    /// [`ir::Op::TextureSize`].
    pub(super) fn texture_size(&mut self, handle: Value, level: Option<Value>) -> Result<Emission> {
        if let Some(texels) = self.bound_texels(handle)? {
            return Ok(self.texels_size(texels));
        }
        let (texture, image) = self.bound_texture(handle)?;
        let mipmapped = texture.class.is_mipmapped();
        let levels = if mipmapped { self.query(image, ImageQuery::NumLevels) } else { self.u32(1) };
        let mut valid = None;
        let level = match level.filter(|_| mipmapped) {
            Some(level) if self.ir.as_scalar_constant(level) != Some(0) => {
                let level = self.get_as(level, ScalarKind::Sint)?;
                let inside = self.below(level, levels);
                valid = Some(inside);
                let zero = self.i32(0);
                Some(self.select(inside, level, zero))
            }
            _ => mipmapped.then(|| self.i32(0)),
        };
        let size = self.query(image, ImageQuery::Size { level });
        let zero = self.u32(0);
        let count = if texture.dimension == TextureDimension::D3 { 3 } else { 2 };
        let mut lanes = self.lanes(size, count);
        lanes.truncate(usize::from(if texture.is_flat() { 1 } else { count }));
        if texture.dimension.is_arrayed() {
            // See above on how naga asks for the layers: at least not where nothing wants them.
            let wanted = texture.size_lanes & 1 << lanes.len() != 0;
            let layers = if wanted || mipmapped { self.query(image, ImageQuery::NumLayers) } else { zero };
            lanes.push(match texture.samples {
                0 => layers,
                samples => {
                    let samples = self.u32(samples);
                    self.binary(BinaryOperator::Divide, layers, samples)
                }
            });
        }
        if let Some(valid) = valid {
            for lane in &mut lanes {
                *lane = self.select(valid, *lane, zero);
            }
        }
        lanes.resize(3, zero);
        lanes.push(levels);
        Ok(Emission { expr: self.vector_of(Scalar::U32, &lanes), kind: ScalarKind::Uint })
    }

    /// [`ir::Op::SampleCount`].
    pub(super) fn sample_count(&mut self, handle: Option<Value>) -> Result<Emission> {
        let Some(handle) = handle else {
            return Ok(Emission::uint(self.u32(self.module.target.samples)));
        };
        let (texture, image) = self.bound_texture(handle)?;
        let expr = match texture.samples {
            _ if texture.class.is_multisampled() => self.query(image, ImageQuery::NumSamples),
            0 => self.u32(1),
            UNKNOWN_SAMPLES => self.query(image, ImageQuery::NumLayers),
            samples => self.u32(samples),
        };
        Ok(Emission { expr, kind: ScalarKind::Uint })
    }

    /// [`ir::Op::SamplePosition`].
    pub(super) fn sample_position(&mut self, handle: Option<Value>, sample: Value) -> Result<Emission> {
        let count = self.sample_count(handle)?.expr;
        let position = self.standard_position(count, sample)?;
        Ok(Emission::float(self.vector_of(Scalar::F32, &position)))
    }

    /// Position of a sample from the pixel's centre, in pixels: the standard patterns, which Direct3D prescribes. A
    /// sample that does not exist is in the centre.
    pub(super) fn standard_position(&mut self, count: Expr, sample: Value) -> Result<[Expr; 2]> {
        let sample = self.get_as(sample, ScalarKind::Uint)?;
        let valid = self.binary(BinaryOperator::Less, sample, count);
        // Patterns of 1, 2, 4, .. samples begin at 0, 1, 3, ..
        let one = self.u32(1);
        let first = self.binary(BinaryOperator::Subtract, count, one);
        let index = self.binary(BinaryOperator::Add, first, sample);
        let word = self.shifted_right(index, 2);
        let mut packed = self.u32(packed_positions(0));
        for number in 1..SAMPLE_POSITIONS.len().div_ceil(4) {
            let this = self.u32(number as u32);
            let matches = self.binary(BinaryOperator::Equal, word, this);
            let positions = self.u32(packed_positions(number * 4));
            packed = self.select(matches, positions, packed);
        }
        let three = self.u32(3);
        let byte = self.binary(BinaryOperator::And, index, three);
        let shift = self.times(byte, 8);
        let four = self.u32(4);
        let shifts = [shift, self.plus(shift, 4)];
        Ok(shifts.map(|shift| {
            let nibble = self.math(MathFunction::ExtractBits, &[packed, shift, four]);
            let value = self.convert(nibble, Scalar::F32);
            let sixteenth = self.f32(1.0 / 16.0);
            let value = self.binary(BinaryOperator::Multiply, value, sixteenth);
            let half = self.f32(0.5);
            let value = self.binary(BinaryOperator::Subtract, value, half);
            let zero = self.f32(0.0);
            self.select(valid, value, zero)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_patterns_begin_where_the_index_says() {
        // The third of 4 samples: index 4 - 1 + 2 = 5, (-6, 2).
        let byte = packed_positions(4) >> 8 & 0xff;
        assert_eq!((byte & 15, byte >> 4), (2, 10));
        // The last of 16 is in the last word, and nothing comes after it.
        let last = packed_positions(28);
        assert_eq!(last >> 24, 0);
        assert_eq!((last >> 16 & 15, last >> 20 & 15), (1, 0));
    }
}
