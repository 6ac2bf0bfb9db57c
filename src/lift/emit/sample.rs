//! Filtered reads of textures.

use naga::{
    BinaryOperator, DerivativeControl, Expression, ImageClass, ImageQuery, Literal, MathFunction, SampleLevel, Scalar,
    ScalarKind, valid::Capabilities,
};

use super::{Emission, FunctionEmitter, expression::Expr, function::Shape, lanes::LANES, resources::Texture};
use crate::{
    Error, Result,
    ir::{self, Axis, Value},
    reflection::{Stage, TextureDimension},
};

/// A sample in naga's terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coordinates {
    /// `vec2<f32>` or `vec3<f32>`.
    pub position: Expr,
    /// `i32`.
    pub layer: Option<Expr>,
    /// A constant.
    pub offset: Option<Expr>,
}

impl FunctionEmitter<'_, '_> {
    /// The pipeline itself takes derivatives: of a pixel shader, and of the functions of libraries, which are made for those.
    fn has_implicit_levels(&self) -> bool {
        matches!(self.stage, Stage::Pixel | Stage::Library)
    }

    /// Derivatives can be taken, if only from the neighbours in the wave.
    fn has_derivatives(&self) -> bool {
        match self.stage {
            Stage::Pixel | Stage::Library => true,
            Stage::Compute | Stage::Mesh | Stage::Amplification => {
                self.module.target.capabilities.contains(Capabilities::SUBGROUP)
            }
            _ => false,
        }
    }

    /// Coordinates of a sample, with the offset left out.
    fn sample_coordinates(&mut self, texture: &Texture, coordinates: Value) -> Result<Coordinates> {
        let given = self.ir.ty(coordinates).lanes();
        let axes = texture.dimension.coordinates();
        let arrayed = texture.dimension.is_arrayed();
        if given < axes + u8::from(arrayed) {
            return Err(Error::malformed(format!("too few coordinates of a sample: {given}")));
        }
        let all = self.get_as(coordinates, ScalarKind::Float)?;
        let position = self.lanes_from(all, given, 0, axes);
        let position = if texture.is_flat() {
            // The middle of the one row.
            let middle = self.f32(0.5);
            self.vector_of(Scalar::F32, &[position, middle])
        } else {
            position
        };
        let layer = arrayed.then(|| {
            let layer = self.lane(all, given, axes);
            let layer = self.math(MathFunction::Round, &[layer]);
            self.convert(layer, Scalar::I32)
        });
        Ok(Coordinates { position, layer, offset: None })
    }

    /// Adds an offset in texels: as naga's, if it is a constant that it takes, else to the coordinates. `level` is the
    /// level whose texels are meant.
    fn add_offset(
        &mut self,
        texture: &Texture,
        image: Expr,
        coordinates: &mut Coordinates,
        offset: Value,
        level: Option<Expr>,
    ) -> Result<()> {
        let axes = texture.dimension.coordinates();
        let given = self.ir.ty(offset).lanes();
        if given < axes {
            return Err(Error::malformed(format!("too few offsets of a sample: {given}")));
        }
        if let Some(constants) = self.ir.as_constant(offset) {
            let constants: Vec<i32> = constants[..usize::from(axes)].iter().map(|&bits| bits as i32).collect();
            if constants.iter().all(|constant| *constant == 0) {
                return Ok(());
            }
            if constants.iter().all(|constant| (-8..8).contains(constant)) {
                let mut components: Vec<Expr> = constants.into_iter().map(|constant| self.i32(constant)).collect();
                if texture.is_flat() {
                    components.push(self.pre(Expression::Literal(Literal::I32(0))));
                }
                coordinates.offset = Some(self.vector_of(Scalar::I32, &components));
                return Ok(());
            }
        }
        if matches!(texture.dimension, TextureDimension::Cube | TextureDimension::CubeArray) {
            return Err(Error::malformed("offset of a sample from a cube"));
        }
        let offset = self.get_as(offset, ScalarKind::Sint)?;
        let mut offset = self.lanes_from(offset, given, 0, axes);
        if texture.is_flat() {
            let zero = self.i32(0);
            offset = self.vector_of(Scalar::I32, &[offset, zero]);
        }
        let offset = self.convert(offset, Scalar::F32);
        let size = self.size_of_level(texture, image, level);
        let step = self.binary(BinaryOperator::Divide, offset, size);
        coordinates.position = self.binary(BinaryOperator::Add, coordinates.position, step);
        Ok(())
    }

    /// Size of a level (`i32`; the largest if `None`) as floats.
    pub(super) fn size_of_level(&mut self, texture: &Texture, image: Expr, level: Option<Expr>) -> Expr {
        let level = level.filter(|_| texture.class.is_mipmapped());
        let size = self.query(image, ImageQuery::Size { level });
        self.convert(size, Scalar::F32)
    }

    /// [`ir::Op::Sample`].
    pub(super) fn sample(&mut self, sample: &ir::Sample, ty: ir::Type) -> Result<Emission> {
        let (texture, image) = self.bound_texture(sample.texture)?;
        let mut coordinates = self.sample_coordinates(&texture, sample.coordinates)?;
        match texture.class {
            ImageClass::Sampled { kind: ScalarKind::Float, multi: false } | ImageClass::Depth { multi: false } => {}
            ImageClass::Sampled { kind: ScalarKind::Sint | ScalarKind::Uint, multi: false } => {
                return self.sample_integers(&texture, image, sample, coordinates, ty);
            }
            _ => return Err(Error::malformed("sample of a texture that cannot be sampled")),
        }
        if let Some(reference) = sample.compare
            && asks_for_a_level(self.ir, sample)
            && self.comparison_of(sample.sampler).is_ok()
        {
            let level = self.whole_level(&texture, image, sample, &coordinates)?;
            if let Some(offset) = sample.offset {
                self.add_offset(&texture, image, &mut coordinates, offset, Some(level))?;
            }
            let value = self.compare_at_level(&texture, image, sample.sampler, &coordinates, level, reference)?;
            let value = self.splat_to(value, ty.lanes());
            return self.value_of_register(value, ScalarKind::Float, ty);
        }
        if let Some(reference) = sample.compare
            && !texture.is_depth()
        {
            if let Some(offset) = sample.offset {
                let level = self.i32(0);
                self.add_offset(&texture, image, &mut coordinates, offset, Some(level))?;
            }
            self.comparison_level(sample);
            let value = self.compare_by_hand(&texture, image, sample.sampler, &coordinates, reference)?;
            let value = self.splat_to(value, ty.lanes());
            return self.value_of_register(value, ScalarKind::Float, ty);
        }
        let sampler = self.bound_sampler(sample.sampler, &texture, sample.compare.is_some())?;
        let level = self.sample_level(&texture, image, sample, &coordinates)?;
        if let Some(offset) = sample.offset {
            // Where the level is not known, the texels of the largest are meant: others have larger ones.
            let of_level = match level {
                SampleLevel::Exact(level) if !texture.is_depth() => {
                    let nearest = self.math(MathFunction::Round, &[level]);
                    let nearest = self.convert(nearest, Scalar::I32);
                    Some(nearest)
                }
                _ => None,
            };
            self.add_offset(&texture, image, &mut coordinates, offset, of_level)?;
        }
        let depth_ref = sample.compare.map(|compare| self.get_as(compare, ScalarKind::Float)).transpose()?;
        let value = self.val(Expression::ImageSample {
            image,
            sampler,
            gather: None,
            coordinate: coordinates.position,
            array_index: coordinates.layer,
            offset: coordinates.offset,
            level,
            depth_ref,
            clamp_to_edge: false,
        });
        let value = if depth_ref.is_some() {
            self.splat_to(value, ty.lanes())
        } else {
            let value = self.four_components(&texture, value);
            self.lanes_from(value, 4, 0, ty.lanes())
        };
        self.value_of_register(value, ScalarKind::Float, ty)
    }

    /// How naga finds the level.
    fn sample_level(
        &mut self,
        texture: &Texture,
        image: Expr,
        sample: &ir::Sample,
        coordinates: &Coordinates,
    ) -> Result<SampleLevel> {
        if sample.compare.is_some() {
            return Ok(self.comparison_level(sample));
        }
        let min_lod = sample.min_lod.filter(|_| is_bounded(self.ir, sample));
        let depth = texture.is_depth();
        match sample.level {
            ir::SampleLevel::Zero if min_lod.is_none() => Ok(SampleLevel::Zero),
            ir::SampleLevel::Level(level) if min_lod.is_none() && self.ir.as_scalar_constant(level) == Some(0) => {
                Ok(SampleLevel::Zero)
            }
            ir::SampleLevel::Zero | ir::SampleLevel::Level(_) => {
                let mut level = match sample.level {
                    ir::SampleLevel::Level(level) => self.get_as(level, ScalarKind::Float)?,
                    _ => self.f32(0.0),
                };
                if let Some(min_lod) = min_lod {
                    let min_lod = self.get_as(min_lod, ScalarKind::Float)?;
                    level = self.math(MathFunction::Max, &[level, min_lod]);
                }
                if depth { self.depth_level(texture, image, level) } else { Ok(SampleLevel::Exact(level)) }
            }
            ir::SampleLevel::Implicit | ir::SampleLevel::Bias(_) if !self.has_derivatives() => {
                self.module.note("sample with an implicit level where there are no derivatives: taken from level 0");
                Ok(SampleLevel::Zero)
            }
            ir::SampleLevel::Implicit if min_lod.is_none() && self.has_implicit_levels() => Ok(SampleLevel::Auto),
            ir::SampleLevel::Bias(bias) if min_lod.is_none() && !depth && self.has_implicit_levels() => {
                Ok(SampleLevel::Bias(self.get_as(bias, ScalarKind::Float)?))
            }
            ir::SampleLevel::Implicit | ir::SampleLevel::Bias(_) => {
                let mut gradient = self.derivatives(texture, coordinates.position)?;
                if let ir::SampleLevel::Bias(bias) = sample.level {
                    let bias = self.get_as(bias, ScalarKind::Float)?;
                    gradient = self.scaled_gradient(texture, gradient, bias);
                }
                let gradient = self.limited_gradient(texture, image, gradient, min_lod)?;
                Ok(SampleLevel::Gradient { x: gradient[0], y: gradient[1] })
            }
            ir::SampleLevel::Gradient(x, y) => {
                let gradient = [self.gradient(texture, x)?, self.gradient(texture, y)?];
                let gradient = self.limited_gradient(texture, image, gradient, min_lod)?;
                Ok(SampleLevel::Gradient { x: gradient[0], y: gradient[1] })
            }
        }
    }

    /// The level that a sample asks for, confined to those that there are, and whole: `i32`.
    fn whole_level(
        &mut self,
        texture: &Texture,
        image: Expr,
        sample: &ir::Sample,
        coordinates: &Coordinates,
    ) -> Result<Expr> {
        let level = match sample.level {
            ir::SampleLevel::Level(level) => self.get_as(level, ScalarKind::Float)?,
            ir::SampleLevel::Gradient(x, y) => {
                let gradient = [self.gradient(texture, x)?, self.gradient(texture, y)?];
                self.level_of_gradient(texture, image, gradient, Some(coordinates.position))
            }
            ir::SampleLevel::Implicit | ir::SampleLevel::Bias(_) => {
                let level = if self.has_derivatives() {
                    let gradient = self.derivatives(texture, coordinates.position)?;
                    self.level_of_gradient(texture, image, gradient, Some(coordinates.position))
                } else {
                    self.f32(0.0)
                };
                match sample.level {
                    ir::SampleLevel::Bias(bias) => {
                        let bias = self.get_as(bias, ScalarKind::Float)?;
                        self.binary(BinaryOperator::Add, level, bias)
                    }
                    _ => level,
                }
            }
            ir::SampleLevel::Zero => self.f32(0.0),
        };
        let lowest = match sample.min_lod {
            Some(min_lod) => self.get_as(min_lod, ScalarKind::Float)?,
            None => self.f32(0.0),
        };
        let level = self.math(MathFunction::Max, &[level, lowest]);
        let levels = self.query(image, ImageQuery::NumLevels);
        let one = self.u32(1);
        let last = self.binary(BinaryOperator::Subtract, levels, one);
        let last = self.convert(last, Scalar::F32);
        let level = self.math(MathFunction::Min, &[level, last]);
        let nearest = self.math(MathFunction::Round, &[level]);
        Ok(self.convert(nearest, Scalar::I32))
    }

    /// The level of a comparison: naga takes level 0 or the implicit one. Others are compared by hand if the sampler's
    /// comparison is known.
    fn comparison_level(&mut self, sample: &ir::Sample) -> SampleLevel {
        if is_bounded(self.ir, sample) {
            self.module.note("comparison with a lower bound of the level: the bound is left out");
        }
        match sample.level {
            ir::SampleLevel::Zero => SampleLevel::Zero,
            ir::SampleLevel::Level(level) if self.ir.as_scalar_constant(level) == Some(0) => SampleLevel::Zero,
            ir::SampleLevel::Implicit if self.has_implicit_levels() => SampleLevel::Auto,
            ir::SampleLevel::Bias(_) if self.has_implicit_levels() => {
                self.module.note("comparison with a bias: the bias is left out");
                SampleLevel::Auto
            }
            _ => {
                self.module.note("comparison at another level than 0: taken from level 0");
                SampleLevel::Zero
            }
        }
    }

    /// A level that need not be whole, of a depth texture: naga takes whole ones, or gradients.
    fn depth_level(&mut self, texture: &Texture, image: Expr, level: Expr) -> Result<SampleLevel> {
        if texture.dimension.coordinates() == 3 {
            let nearest = self.math(MathFunction::Round, &[level]);
            return Ok(SampleLevel::Exact(self.convert(nearest, Scalar::I32)));
        }
        // A footprint of 2^level texels of the largest level.
        let size = self.size_of_level(texture, image, None);
        let texels = self.math(MathFunction::Exp2, &[level]);
        let zero = self.f32(0.0);
        let [x, y] = [0, 1].map(|axis| {
            let side = self.lane(size, 2, axis);
            let step = self.binary(BinaryOperator::Divide, texels, side);
            let lanes = if axis == 0 { [step, zero] } else { [zero, step] };
            self.vector_of(Scalar::F32, &lanes)
        });
        Ok(SampleLevel::Gradient { x, y })
    }

    /// An explicit derivative.
    fn gradient(&mut self, texture: &Texture, gradient: Value) -> Result<Expr> {
        let axes = texture.dimension.coordinates();
        let given = self.ir.ty(gradient).lanes();
        if given < axes {
            return Err(Error::malformed(format!("too few lanes of a gradient: {given}")));
        }
        let value = self.get_as(gradient, ScalarKind::Float)?;
        let value = self.lanes_from(value, given, 0, axes);
        if !texture.is_flat() {
            return Ok(value);
        }
        let zero = self.f32(0.0);
        Ok(self.vector_of(Scalar::F32, &[value, zero]))
    }

    /// The derivatives that an implicit level is found from.
    fn derivatives(&mut self, texture: &Texture, position: Expr) -> Result<[Expr; 2]> {
        let shape = Shape { scalar: Scalar::F32, lanes: texture.lanes() };
        let x = self.difference(Axis::X, DerivativeControl::None, position, shape)?;
        let y = self.difference(Axis::Y, DerivativeControl::None, position, shape)?;
        Ok([x, y])
    }

    /// Derivatives that give a level `steps` higher.
    fn scaled_gradient(&mut self, texture: &Texture, gradient: [Expr; 2], steps: Expr) -> [Expr; 2] {
        let scale = self.math(MathFunction::Exp2, &[steps]);
        let scale = self.splat_to(scale, texture.lanes());
        gradient.map(|derivative| self.binary(BinaryOperator::Multiply, derivative, scale))
    }

    /// Derivatives that give no level below `min_lod`.
    fn limited_gradient(
        &mut self,
        texture: &Texture,
        image: Expr,
        gradient: [Expr; 2],
        min_lod: Option<Value>,
    ) -> Result<[Expr; 2]> {
        let Some(min_lod) = min_lod else { return Ok(gradient) };
        let min_lod = self.get_as(min_lod, ScalarKind::Float)?;
        let level = self.level_of_gradient(texture, image, gradient, None);
        let missing = self.binary(BinaryOperator::Subtract, min_lod, level);
        let zero = self.f32(0.0);
        let missing = self.math(MathFunction::Max, &[missing, zero]);
        Ok(self.scaled_gradient(texture, gradient, missing))
    }

    /// Level that derivatives give: the logarithm of the longer one in texels. Of a cube the derivatives are those of
    /// the coordinates `direction`, projected to a face.
    fn level_of_gradient(
        &mut self,
        texture: &Texture,
        image: Expr,
        gradient: [Expr; 2],
        direction: Option<Expr>,
    ) -> Expr {
        let size = self.size_of_level(texture, image, None);
        let cube = matches!(texture.dimension, TextureDimension::Cube | TextureDimension::CubeArray);
        let size = if cube {
            // A face spans -1 to 1.
            let side = self.lane(size, 2, 0);
            let half = self.f32(0.5);
            let side = self.binary(BinaryOperator::Multiply, side, half);
            let side = match direction {
                Some(direction) => {
                    let absolute = self.math(MathFunction::Abs, &[direction]);
                    let [x, y, z] = [0, 1, 2].map(|lane| self.lane(absolute, 3, lane));
                    let major = self.math(MathFunction::Max, &[x, y]);
                    let major = self.math(MathFunction::Max, &[major, z]);
                    self.binary(BinaryOperator::Divide, side, major)
                }
                None => side,
            };
            self.splat_to(side, 3)
        } else {
            size
        };
        let [x, y] = gradient.map(|derivative| {
            let texels = self.binary(BinaryOperator::Multiply, derivative, size);
            self.math(MathFunction::Dot, &[texels, texels])
        });
        let longer = self.math(MathFunction::Max, &[x, y]);
        let level = self.math(MathFunction::Log2, &[longer]);
        let half = self.f32(0.5);
        self.binary(BinaryOperator::Multiply, level, half)
    }

    /// [`ir::Op::CalculateLod`].
    pub(super) fn calculate_lod(&mut self, texture: Value, coordinates: Value, clamped: bool) -> Result<Emission> {
        if !self.has_derivatives() {
            return Err(Error::unsupported("level of detail where there are no derivatives"));
        }
        let (texture, image) = self.bound_texture(texture)?;
        let axes = texture.dimension.coordinates();
        let given = self.ir.ty(coordinates).lanes();
        if given < axes {
            return Err(Error::malformed(format!("too few coordinates of a level of detail: {given}")));
        }
        let position = self.get_as(coordinates, ScalarKind::Float)?;
        let mut position = self.lanes_from(position, given, 0, axes);
        if texture.is_flat() {
            let middle = self.f32(0.5);
            position = self.vector_of(Scalar::F32, &[position, middle]);
        }
        let gradient = self.derivatives(&texture, position)?;
        let mut level = self.level_of_gradient(&texture, image, gradient, Some(position));
        if clamped {
            let levels = self.query(image, ImageQuery::NumLevels);
            let one = self.u32(1);
            let last = self.binary(BinaryOperator::Subtract, levels, one);
            let last = self.convert(last, Scalar::F32);
            let zero = self.f32(0.0);
            level = self.math(MathFunction::Max, &[level, zero]);
            level = self.math(MathFunction::Min, &[level, last]);
        }
        Ok(Emission { expr: level, kind: ScalarKind::Float })
    }

    /// A sample of a texture of integers: the nearest texel, confined to the texture. naga samples floats only.
    fn sample_integers(
        &mut self,
        texture: &Texture,
        image: Expr,
        sample: &ir::Sample,
        mut coordinates: Coordinates,
        ty: ir::Type,
    ) -> Result<Emission> {
        if texture.dimension.coordinates() == 3 && texture.dimension != TextureDimension::D3 {
            return Err(Error::unsupported("sample of a cube of integers"));
        }
        self.module.note("sample of integers: the nearest texel, with coordinates confined to the texture");
        let level = match sample.level {
            ir::SampleLevel::Level(level) => {
                let level = self.get_as(level, ScalarKind::Float)?;
                let level = self.math(MathFunction::Round, &[level]);
                let level = self.convert(level, Scalar::I32);
                let levels = self.query(image, ImageQuery::NumLevels);
                let levels = self.bits_as(levels, ScalarKind::Uint, ScalarKind::Sint);
                let (zero, one) = (self.i32(0), self.i32(1));
                let last = self.binary(BinaryOperator::Subtract, levels, one);
                let level = self.math(MathFunction::Max, &[level, zero]);
                self.min(level, last)
            }
            _ => self.i32(0),
        };
        if let Some(offset) = sample.offset {
            self.add_offset(texture, image, &mut coordinates, offset, Some(level))?;
        }
        let lanes = texture.lanes();
        let size = self.size_of_level(texture, image, Some(level));
        let texel = self.binary(BinaryOperator::Multiply, coordinates.position, size);
        let texel = self.math(MathFunction::Floor, &[texel]);
        let mut texel = self.convert(texel, Scalar::I32);
        if let Some(offset) = coordinates.offset {
            texel = self.binary(BinaryOperator::Add, texel, offset);
        }
        let signed = self.convert(size, Scalar::I32);
        let one = self.i32(1);
        let ones = self.splat_to(one, lanes);
        let last = self.binary(BinaryOperator::Subtract, signed, ones);
        let ty_zero = self.module.numeric(Scalar::I32, lanes);
        let zeros = self.zero(ty_zero);
        let texel = self.math(MathFunction::Max, &[texel, zeros]);
        let texel = self.min(texel, last);
        let layer = coordinates.layer.map(|layer| {
            let layers = self.query(image, ImageQuery::NumLayers);
            let layers = self.bits_as(layers, ScalarKind::Uint, ScalarKind::Sint);
            let last = self.binary(BinaryOperator::Subtract, layers, one);
            let zero = self.i32(0);
            let layer = self.math(MathFunction::Max, &[layer, zero]);
            self.min(layer, last)
        });
        let value = self.val(Expression::ImageLoad {
            image,
            coordinate: texel,
            array_index: layer,
            sample: None,
            level: Some(level),
        });
        let value = self.lanes_from(value, 4, 0, ty.lanes());
        self.value_of_register(value, texture.kind(), ty)
    }

    /// [`ir::Op::Gather`].
    pub(super) fn gather(&mut self, gather: &ir::Gather, ty: ir::Type) -> Result<Emission> {
        let (texture, image) = self.bound_texture(gather.texture)?;
        match texture.class {
            ImageClass::Sampled { multi: false, .. } | ImageClass::Depth { multi: false } => {}
            _ => return Err(Error::malformed("gather from a texture that cannot be sampled")),
        }
        if texture.dimension == TextureDimension::D3 {
            return Err(Error::malformed("gather from a 3D texture"));
        }
        if texture.is_depth() && gather.component != 0 {
            // Depth reads as red: green and blue are missing, alpha is 1.
            let value = self.f32(if gather.component == 3 { 1.0 } else { 0.0 });
            let value = self.splat_to(value, ty.lanes());
            return self.value_of_register(value, ScalarKind::Float, ty);
        }
        let mut coordinates = self.sample_coordinates(&texture, gather.coordinates)?;
        if let Some(offset) = gather.offset {
            let level = self.i32(0);
            self.add_offset(&texture, image, &mut coordinates, offset, Some(level))?;
        }
        if let Some(reference) = gather.compare
            && !texture.is_depth()
        {
            let comparison = self.comparison_of(gather.sampler)?;
            let texels =
                self.compared_texels((&texture, image), gather.sampler, &coordinates, comparison, reference)?;
            let value = self.lanes_from(texels, 4, 0, ty.lanes());
            return self.value_of_register(value, ScalarKind::Float, ty);
        }
        let sampler = self.bound_sampler(gather.sampler, &texture, gather.compare.is_some())?;
        let depth_ref = gather.compare.map(|compare| self.get_as(compare, ScalarKind::Float)).transpose()?;
        let component = LANES
            .get(usize::from(gather.component))
            .copied()
            .ok_or_else(|| Error::malformed(format!("component of a gather: {}", gather.component)))?;
        let value = self.val(Expression::ImageSample {
            image,
            sampler,
            gather: Some(component),
            coordinate: coordinates.position,
            array_index: coordinates.layer,
            offset: coordinates.offset,
            level: SampleLevel::Zero,
            depth_ref,
            clamp_to_edge: false,
        });
        let value = self.lanes_from(value, 4, 0, ty.lanes());
        self.value_of_register(value, texture.kind(), ty)
    }
}

/// The sample has a lower bound of the level, other than 0.
fn is_bounded(function: &ir::Function, sample: &ir::Sample) -> bool {
    sample.min_lod.is_some_and(|min_lod| function.as_scalar_constant(min_lod) != Some(0))
}

/// The sample asks for another level than the largest or the implicit one.
pub(super) fn asks_for_a_level(function: &ir::Function, sample: &ir::Sample) -> bool {
    if is_bounded(function, sample) {
        return true;
    }
    match sample.level {
        ir::SampleLevel::Level(level) => function.as_scalar_constant(level) != Some(0),
        ir::SampleLevel::Bias(_) | ir::SampleLevel::Gradient(..) => true,
        ir::SampleLevel::Zero | ir::SampleLevel::Implicit => false,
    }
}
