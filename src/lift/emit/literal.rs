//! Constants: literals, and vectors of them.

use naga::{Constant, Expression, Handle, Scalar, ScalarKind, Span};

use super::{
    FunctionEmitter, ModuleEmitter,
    expression::{Expr, literal},
    function::Shape,
    types::{self, vector_size},
};
use crate::{Error, Result, ir};

impl ModuleEmitter<'_> {
    /// An unnamed constant of these lanes, made once; `None` if a lane is a float that is not finite.
    pub fn vector_constant(&mut self, shape: Shape, lanes: &[u64]) -> Option<Handle<Constant>> {
        let key = (shape, lanes.to_vec());
        if let Some(&constant) = self.constants.get(&key) {
            return Some(constant);
        }
        let init = self.constant_expression(shape, lanes)?;
        let ty = self.numeric(shape.scalar, shape.lanes);
        let constant = self.module.constants.append(Constant { name: None, ty, init }, Span::UNDEFINED);
        self.constants.insert(key, constant);
        Some(constant)
    }

    /// A number or vector among the module's constant expressions; `None` if a lane is a float that is not finite.
    pub fn constant_expression(&mut self, shape: Shape, lanes: &[u64]) -> Option<Handle<Expression>> {
        let literals: Option<Vec<_>> = lanes.iter().map(|&bits| literal(shape.scalar, bits)).collect();
        let literals = literals?;
        let ty = self.numeric(shape.scalar, shape.lanes);
        let expressions = &mut self.module.global_expressions;
        let mut append = |expression| expressions.append(expression, Span::UNDEFINED);
        if shape.lanes == 1 {
            return literals.first().map(|&literal| append(Expression::Literal(literal)));
        }
        if lanes.iter().all(|&bits| bits == 0) {
            return Some(append(Expression::ZeroValue(ty)));
        }
        if lanes.iter().all(|bits| *bits == lanes[0]) {
            let value = append(Expression::Literal(literals[0]));
            return Some(append(Expression::Splat { size: vector_size(shape.lanes), value }));
        }
        let components = literals.into_iter().map(|literal| append(Expression::Literal(literal))).collect();
        Some(append(Expression::Compose { ty, components }))
    }
}

impl FunctionEmitter<'_, '_> {
    /// A constant of the function as a kind.
    ///
    /// # Errors
    /// The value is no constant: a bug.
    pub fn constant(&mut self, value: ir::Value, kind: ScalarKind) -> Result<Expr> {
        if let Some(&expr) = self.constants.get(&(value, kind)) {
            return Ok(expr);
        }
        let lanes =
            self.ir.as_constant(value).ok_or_else(|| Error::internal(format!("value is no constant: {value:?}")))?;
        let ty = self.ir.ty(value);
        let own = ty.scalar().unwrap_or(ir::Scalar::I32);
        let shape = self.shape(ty, kind);
        if own.is_float() && kind != ScalarKind::Float {
            // The bits of a float: only 16-bit integers are of another width than their floats.
            return Ok(self.constant_lanes(shape.with_scalar(Scalar { kind, width: shape.scalar.width.max(4) }), lanes));
        }
        let extended: Vec<u64>;
        let lanes = if own == ir::Scalar::I16 && kind == ScalarKind::Sint {
            extended = lanes.iter().map(|&bits| bits as u16 as i16 as u64).collect();
            &extended[..]
        } else {
            lanes
        };
        let expr = self.constant_lanes(shape, lanes);
        if self.function.expressions[expr].needs_pre_emit() {
            self.constants.insert((value, kind), expr);
        }
        Ok(expr)
    }

    /// A number or vector from the bits of its lanes.
    pub fn constant_lanes(&mut self, shape: Shape, lanes: &[u64]) -> Expr {
        if shape.lanes == 1 {
            return self.literal(shape.scalar, lanes.first().copied().unwrap_or(0));
        }
        if lanes.iter().all(|&bits| bits == 0) {
            return self.zero_of(shape);
        }
        match self.module.vector_constant(shape, lanes) {
            Some(constant) => self.pre(Expression::Constant(constant)),
            None => {
                let components: Vec<Expr> = lanes.iter().map(|&bits| self.literal(shape.scalar, bits)).collect();
                self.vector_of(shape.scalar, &components)
            }
        }
    }

    /// The lanes of a value, if it is a constant.
    pub fn known(&self, value: ir::Value) -> Option<&[u64]> {
        self.ir.as_constant(value)
    }

    /// The one number in every lane of a value, if it is such a constant.
    pub fn known_splat(&self, value: ir::Value) -> Option<u64> {
        let lanes = self.ir.as_constant(value)?;
        let (first, rest) = lanes.split_first()?;
        rest.iter().all(|bits| bits == first).then_some(*first)
    }

    /// A value is a constant of integers none of which is 0.
    pub fn is_known_nonzero(&self, value: ir::Value) -> bool {
        self.known(value).is_some_and(|lanes| lanes.iter().all(|&bits| bits != 0))
    }

    /// A value is a constant of floats none of which is NaN.
    pub fn is_known_not_nan(&self, value: ir::Value) -> bool {
        let Some(scalar) = self.ir.ty(value).scalar() else { return false };
        self.known(value).is_some_and(|lanes| lanes.iter().all(|&bits| !types::is_nan(scalar, bits)))
    }
}
