//! Lanes of vectors: picking, composing, and the same bits as another kind.

use naga::{Expression, Scalar, ScalarKind, SwizzleComponent};

use super::{FunctionEmitter, expression::Expr, types::vector_size};

/// Lanes 0 to 3 as naga names them.
pub(super) const LANES: [SwizzleComponent; 4] =
    [SwizzleComponent::X, SwizzleComponent::Y, SwizzleComponent::Z, SwizzleComponent::W];

impl FunctionEmitter<'_, '_> {
    /// One lane of a value of `lanes` lanes; a scalar is its own lane 0.
    pub fn lane(&mut self, value: Expr, lanes: u8, lane: u8) -> Expr {
        if lanes == 1 {
            return value;
        }
        self.val(Expression::AccessIndex { base: value, index: u32::from(lane) })
    }

    /// Every lane of a value of `lanes` lanes.
    pub fn lanes(&mut self, value: Expr, lanes: u8) -> Vec<Expr> {
        (0..lanes).map(|lane| self.lane(value, lanes, lane)).collect()
    }

    /// A vector of scalars, or the scalar itself if there is one.
    pub fn vector_of(&mut self, scalar: Scalar, lanes: &[Expr]) -> Expr {
        if let [lane] = lanes {
            return *lane;
        }
        let ty = self.module.numeric(scalar, lanes.len() as u8);
        self.val(Expression::Compose { ty, components: lanes.to_vec() })
    }

    /// `count` consecutive lanes of a value of `lanes` lanes, from `first`.
    pub fn lanes_from(&mut self, value: Expr, lanes: u8, first: u8, count: u8) -> Expr {
        if count == lanes {
            return value;
        }
        if count == 1 {
            return self.lane(value, lanes, first);
        }
        let mut pattern = [SwizzleComponent::X; 4];
        for (lane, slot) in pattern.iter_mut().take(usize::from(count)).enumerate() {
            *slot = LANES[usize::from(first) + lane];
        }
        self.val(Expression::Swizzle { size: vector_size(count), vector: value, pattern })
    }

    /// A scalar in each of `lanes` lanes.
    pub fn splat_to(&mut self, scalar: Expr, lanes: u8) -> Expr {
        if lanes == 1 {
            return scalar;
        }
        self.val(Expression::Splat { size: vector_size(lanes), value: scalar })
    }

    /// The same bits as scalars of another kind.
    pub fn bits_as(&mut self, value: Expr, from: ScalarKind, to: ScalarKind) -> Expr {
        if from == to {
            return value;
        }
        self.val(Expression::As { expr: value, kind: to, convert: None })
    }
}
