//! Lanes of vectors.

use super::{Keep, Outcome, Same, Simplifier};
use crate::ir::{Op, Type, Value};

impl Simplifier<'_> {
    pub(super) fn extract(&mut self, vector: Value, lane: u8) -> Outcome {
        let Some(scalar) = self.scalar(vector) else { return Keep };
        if let Some(lanes) = self.function.as_constant(vector) {
            let bits = lanes[lane as usize];
            return self.constant(Type::Scalar(scalar), &[bits]);
        }
        match self.function.op(vector) {
            Some(Op::Compose(lanes)) => Same(lanes[lane as usize]),
            Some(Op::Swizzle(base, order)) => match self.function.ty(*base) {
                Type::Vector(..) => Outcome::Op(Op::Extract(*base, order[lane as usize])),
                _ => Same(*base),
            },
            _ => Keep,
        }
    }

    pub(super) fn swizzle(&mut self, vector: Value, order: &[u8]) -> Outcome {
        let unchanged = self.function.ty(vector).lanes() as usize == order.len()
            && order.iter().enumerate().all(|(lane, &from)| lane == from as usize);
        if unchanged {
            return Same(vector);
        }
        let known = self.function.as_constant(vector).is_some()
            || matches!(self.function.op(vector), Some(Op::Compose(_) | Op::Swizzle(..)));
        if known { Same(self.build().swizzle(vector, order)) } else { Keep }
    }

    pub(super) fn compose(&mut self, lanes: &[Value]) -> Outcome {
        let source = |lane: Value| match self.function.op(lane) {
            Some(Op::Extract(vector, _)) => Some(*vector),
            _ => None,
        };
        let one_source = source(lanes[0]).is_some() && lanes.iter().all(|lane| source(*lane) == source(lanes[0]));
        let constant = lanes.iter().all(|lane| self.function.as_constant(*lane).is_some());
        let equal = lanes.iter().all(|lane| *lane == lanes[0]);
        if one_source || constant || equal { Same(self.build().compose(lanes)) } else { Keep }
    }
}
