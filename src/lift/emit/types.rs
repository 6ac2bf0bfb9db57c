//! Types of a module.

use naga::{Handle, Scalar, ScalarKind, Span, Type, TypeInner, VectorSize};

use super::ModuleEmitter;
use crate::ir;

/// naga's size of a vector of 2 to 4 lanes.
pub(super) fn vector_size(lanes: u8) -> VectorSize {
    match lanes {
        2 => VectorSize::Bi,
        3 => VectorSize::Tri,
        _ => VectorSize::Quad,
    }
}

/// naga's scalar of a kind for a scalar of the IR: integers may be of either sign.
pub(super) fn scalar(scalar: ir::Scalar, kind: ScalarKind) -> Scalar {
    // naga has no 16-bit integers: they are carried in 32 bits.
    let width = match scalar {
        ir::Scalar::Bool => naga::BOOL_WIDTH,
        ir::Scalar::I16 => 4,
        _ => scalar.bytes() as u8,
    };
    Scalar { kind, width }
}

impl ModuleEmitter<'_> {
    /// The type of that structure, made once.
    pub fn ty(&mut self, inner: TypeInner) -> Handle<Type> {
        self.module.types.insert(Type { name: None, inner }, Span::UNDEFINED)
    }

    /// A number, or a vector of `lanes` numbers.
    pub fn numeric(&mut self, scalar: Scalar, lanes: u8) -> Handle<Type> {
        self.ty(numeric_inner(scalar, lanes))
    }
}

/// A number, or a vector of `lanes` numbers.
pub(super) fn numeric_inner(scalar: Scalar, lanes: u8) -> TypeInner {
    match lanes {
        1 => TypeInner::Scalar(scalar),
        _ => TypeInner::Vector { size: vector_size(lanes), scalar },
    }
}

/// The bits are those of a NaN.
pub(super) fn is_nan(scalar: ir::Scalar, bits: u64) -> bool {
    match scalar {
        ir::Scalar::F16 => half::f16::from_bits(bits as u16).is_nan(),
        ir::Scalar::F32 => f32::from_bits(bits as u32).is_nan(),
        ir::Scalar::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}
