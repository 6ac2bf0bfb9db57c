//! Derivatives: differences across the quad.

use naga::{
    BinaryOperator, BuiltIn, DerivativeAxis, DerivativeControl, Direction, Expression, GatherMode, ScalarKind,
    UnaryOperator,
};

use super::{Emission, FunctionEmitter, expression::Expr, function::Shape};
use crate::{
    Error, Result,
    ir::{Axis, DerivativePrecision, Value},
    reflection::Stage,
};

impl FunctionEmitter<'_, '_> {
    /// A derivative.
    ///
    /// # Errors
    /// The stage has no quads.
    pub fn derivative(&mut self, axis: Axis, precision: DerivativePrecision, a: Value) -> Result<Emission> {
        let shape = self.shape(self.ir.ty(a), ScalarKind::Float);
        let expr = self.get_as(a, ScalarKind::Float)?;
        let control = match precision {
            DerivativePrecision::Coarse => DerivativeControl::Coarse,
            DerivativePrecision::Fine => DerivativeControl::Fine,
        };
        Ok(Emission::float(self.difference(axis, control, expr, shape)?))
    }

    /// The difference of an expression across the quad.
    ///
    /// # Errors
    /// The stage has no quads.
    pub fn difference(&mut self, axis: Axis, control: DerivativeControl, expr: Expr, shape: Shape) -> Result<Expr> {
        match self.stage {
            // A library's functions are made for pixel shaders.
            Stage::Pixel | Stage::Library => {
                let axis = match axis {
                    Axis::X => DerivativeAxis::X,
                    Axis::Y => DerivativeAxis::Y,
                };
                Ok(self.val(Expression::Derivative { axis, ctrl: control, expr }))
            }
            Stage::Compute | Stage::Mesh | Stage::Amplification => {
                // naga has derivatives in pixel shaders alone: the neighbour's value less this lane's own, turned round
                // in the lanes that are the neighbours.
                let (direction, bit) = match axis {
                    Axis::X => (Direction::X, 1),
                    Axis::Y => (Direction::Y, 2),
                };
                let other = self.gather_lanes(GatherMode::QuadSwap(direction), expr, shape);
                let forward = self.binary(BinaryOperator::Subtract, other, expr);
                let backward = self.unary(UnaryOperator::Negate, forward);
                let lane = self.builtin(BuiltIn::SubgroupInvocationId)?;
                let bit = self.u32(bit);
                let zero = self.u32(0);
                let masked = self.binary(BinaryOperator::And, lane, bit);
                let is_first = self.binary(BinaryOperator::Equal, masked, zero);
                Ok(self.select(is_first, forward, backward))
            }
            stage => Err(Error::unsupported(format!("derivative in stage: {stage:?}"))),
        }
    }
}
