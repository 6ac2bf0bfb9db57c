//! Comparisons with textures that have no depth format: naga knows them of depth textures alone, so four texels are
//! gathered, compared one by one, and the results mixed. And comparisons at other levels than the largest, which naga has not: of
//! these the texels are sampled one by one.

use naga::{BinaryOperator, Expression, MathFunction, Scalar, ScalarKind, SwizzleComponent};

use super::{FunctionEmitter, expression::Expr, resources::Texture, sample::Coordinates};
use crate::{
    Result,
    ir::Value,
    lift::{CompareFunction, Comparison},
    reflection::TextureDimension,
};

impl FunctionEmitter<'_, '_> {
    /// The result of a comparison at the largest level, filtered as the sampler does.
    pub(super) fn compare_by_hand(
        &mut self,
        texture: &Texture,
        image: Expr,
        sampler: Value,
        coordinates: &Coordinates,
        reference: Value,
    ) -> Result<Expr> {
        let comparison = self.comparison_of(sampler)?;
        let texels = self.compared_texels((texture, image), sampler, coordinates, comparison, reference)?;
        let size = self.size_of_level(texture, image, None);
        let cube = matches!(texture.dimension, TextureDimension::Cube | TextureDimension::CubeArray);
        let position = if cube { self.face_position(coordinates.position) } else { coordinates.position };
        let texel = self.binary(BinaryOperator::Multiply, position, size);
        let half = self.f32(0.5);
        let half = self.splat_to(half, 2);
        let from_centre = self.binary(BinaryOperator::Subtract, texel, half);
        let weights = self.math(MathFunction::Fract, &[from_centre]);
        let [mut x, mut y] = [0, 1].map(|lane| self.lane(weights, 2, lane));
        if !comparison.linear {
            // The nearer of two.
            [x, y] = [x, y].map(|weight| {
                let (half, zero, one) = (self.f32(0.5), self.f32(0.0), self.f32(1.0));
                let far = self.binary(BinaryOperator::GreaterEqual, weight, half);
                self.select(far, one, zero)
            });
        }
        // A gather goes round: left and right of the lower row, right and left of the upper.
        let [lower_left, lower_right, upper_right, upper_left] = [0, 1, 2, 3].map(|lane| self.lane(texels, 4, lane));
        let upper = self.math(MathFunction::Mix, &[upper_left, upper_right, x]);
        let lower = self.math(MathFunction::Mix, &[lower_left, lower_right, x]);
        Ok(self.math(MathFunction::Mix, &[upper, lower, y]))
    }

    /// Results of the comparison with each of the four texels, 0 or 1.
    pub(super) fn compared_texels(
        &mut self,
        (texture, image): (&Texture, Expr),
        sampler: Value,
        coordinates: &Coordinates,
        comparison: Comparison,
        reference: Value,
    ) -> Result<Expr> {
        let sampler = self.bound_sampler(sampler, texture, false)?;
        let reference = self.get_as(reference, ScalarKind::Float)?;
        let texels = self.val(Expression::ImageSample {
            image,
            sampler,
            gather: Some(SwizzleComponent::X),
            coordinate: coordinates.position,
            array_index: coordinates.layer,
            offset: coordinates.offset,
            level: naga::SampleLevel::Zero,
            depth_ref: None,
            clamp_to_edge: false,
        });
        Ok(self.compared(comparison.function, reference, texels, 4))
    }

    /// The result of a comparison at a level, `i32`, filtered within the level as the sampler does.
    pub(super) fn compare_at_level(
        &mut self,
        texture: &Texture,
        image: Expr,
        sampler: Value,
        coordinates: &Coordinates,
        level: Expr,
        reference: Value,
    ) -> Result<Expr> {
        let comparison = self.comparison_of(sampler)?;
        let sampler = self.bound_sampler(sampler, texture, false)?;
        let reference = self.get_as(reference, ScalarKind::Float)?;
        let exact = if texture.is_depth() { level } else { self.convert(level, Scalar::F32) };
        let compared_at = |emitter: &mut Self, coordinate: Expr| {
            let texel = emitter.val(Expression::ImageSample {
                image,
                sampler,
                gather: None,
                coordinate,
                array_index: coordinates.layer,
                offset: coordinates.offset,
                level: naga::SampleLevel::Exact(exact),
                depth_ref: None,
                clamp_to_edge: false,
            });
            let texel = if texture.is_depth() { texel } else { emitter.lane(texel, 4, 0) };
            emitter.compared(comparison.function, reference, texel, 1)
        };
        let cube = matches!(texture.dimension, TextureDimension::Cube | TextureDimension::CubeArray);
        if cube && comparison.linear {
            self.module.note("comparison with a cube at another level than 0: of one texel, not of four");
        }
        if cube || !comparison.linear {
            return Ok(compared_at(self, coordinates.position));
        }
        let size = self.size_of_level(texture, image, Some(level));
        let half = self.f32(0.5);
        let half = self.splat_to(half, 2);
        let texel = self.binary(BinaryOperator::Multiply, coordinates.position, size);
        let from_centre = self.binary(BinaryOperator::Subtract, texel, half);
        let upper_left = self.math(MathFunction::Floor, &[from_centre]);
        let weights = self.math(MathFunction::Fract, &[from_centre]);
        let [x, y] = [0, 1].map(|lane| self.lane(weights, 2, lane));
        // At the texels' centres a linear sampler gives the texels themselves.
        let [upper_left, upper_right, lower_left, lower_right] =
            [[0.5, 0.5], [1.5, 0.5], [0.5, 1.5], [1.5, 1.5]].map(|step| {
                let step = step.map(|step| self.f32(step));
                let step = self.vector_of(Scalar::F32, &step);
                let centre = self.binary(BinaryOperator::Add, upper_left, step);
                let centre = self.binary(BinaryOperator::Divide, centre, size);
                compared_at(self, centre)
            });
        let upper = self.math(MathFunction::Mix, &[upper_left, upper_right, x]);
        let lower = self.math(MathFunction::Mix, &[lower_left, lower_right, x]);
        Ok(self.math(MathFunction::Mix, &[upper, lower, y]))
    }

    /// Results of a comparison of a reference, `f32`, with texels: 0 or 1 for each.
    fn compared(&mut self, function: CompareFunction, reference: Expr, texels: Expr, lanes: u8) -> Expr {
        let (zero, one) = (self.f32(0.0), self.f32(1.0));
        let [zeros, ones] = [zero, one].map(|value| self.splat_to(value, lanes));
        let op = match function {
            CompareFunction::Never => return zeros,
            CompareFunction::Always => return ones,
            CompareFunction::Less => BinaryOperator::Less,
            CompareFunction::Equal => BinaryOperator::Equal,
            CompareFunction::LessEqual => BinaryOperator::LessEqual,
            CompareFunction::Greater => BinaryOperator::Greater,
            CompareFunction::NotEqual => BinaryOperator::NotEqual,
            CompareFunction::GreaterEqual => BinaryOperator::GreaterEqual,
        };
        let reference = self.splat_to(reference, lanes);
        let holds = self.binary(op, reference, texels);
        self.select(holds, ones, zeros)
    }

    /// Coordinates on the face of a cube that a direction meets (Direct3D 11.3 functional specification, 5.3.5).
    fn face_position(&mut self, direction: Expr) -> Expr {
        let [x, y, z] = [0, 1, 2].map(|lane| self.lane(direction, 3, lane));
        let [across_x, across_y, across_z] = [x, y, z].map(|axis| self.math(MathFunction::Abs, &[axis]));
        let zero = self.f32(0.0);
        let negative = |emitter: &mut Self, axis: Expr| emitter.binary(BinaryOperator::Less, axis, zero);
        let minus = |emitter: &mut Self, axis: Expr| emitter.unary(naga::UnaryOperator::Negate, axis);
        let (left, down, back) = (negative(self, x), negative(self, y), negative(self, z));
        let [minus_x, minus_y, minus_z] = [x, y, z].map(|axis| minus(self, axis));

        // The major axis is z unless another is longer; x goes before y before z where they are equal.
        let x_y = self.binary(BinaryOperator::GreaterEqual, across_x, across_y);
        let x_z = self.binary(BinaryOperator::GreaterEqual, across_x, across_z);
        let is_x = self.binary(BinaryOperator::LogicalAnd, x_y, x_z);
        let is_y = self.binary(BinaryOperator::GreaterEqual, across_y, across_z);

        let s_of_x = self.select(left, z, minus_z);
        let s_of_z = self.select(back, minus_x, x);
        let s = self.select(is_y, x, s_of_z);
        let s = self.select(is_x, s_of_x, s);
        let t_of_y = self.select(down, minus_z, z);
        let t = self.select(is_y, t_of_y, minus_y);
        let t = self.select(is_x, minus_y, t);
        let major = self.select(is_y, across_y, across_z);
        let major = self.select(is_x, across_x, major);

        let face = self.vector_of(Scalar::F32, &[s, t]);
        let major = self.splat_to(major, 2);
        let face = self.binary(BinaryOperator::Divide, face, major);
        let half = self.f32(0.5);
        let half = self.splat_to(half, 2);
        let face = self.binary(BinaryOperator::Multiply, face, half);
        self.binary(BinaryOperator::Add, face, half)
    }
}
