//! Types of values.

use std::fmt;

/// Type of one number.
///
/// Integers have no sign: operations do, as in DXIL. The emitter chooses `i32` or `u32` for each value from the
/// operations around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// Result of comparisons. Has no size in memory.
    Bool,
    /// Native 16-bit integer. Minimum-precision integers are `I32`.
    I16,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// Native 16-bit float. Minimum-precision floats are `F32`.
    F16,
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
}

impl Scalar {
    /// Width in bits; 1 for `Bool`.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::I16 | Self::F16 => 16,
            Self::I32 | Self::F32 => 32,
            Self::I64 | Self::F64 => 64,
        }
    }

    /// Size in memory, in bytes.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// It is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// It is an integer type; `Bool` is not.
    pub fn is_int(self) -> bool {
        matches!(self, Self::I16 | Self::I32 | Self::I64)
    }
}

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// No value: stores, barriers.
    Void,
    /// One number.
    Scalar(Scalar),
    /// 2 to 4 numbers.
    Vector(Scalar, u8),
    /// A resource, as [`Op::Handle`](super::Op::Handle) makes it.
    Handle,
}

impl Type {
    /// `bool`.
    pub const BOOL: Self = Self::Scalar(Scalar::Bool);
    /// 32-bit integer.
    pub const I32: Self = Self::Scalar(Scalar::I32);
    /// 32-bit float.
    pub const F32: Self = Self::Scalar(Scalar::F32);

    /// A number if `lanes` is 1, a vector otherwise.
    ///
    /// # Panics
    /// If `lanes` is not 1 to 4: callers check what files say first.
    pub fn new(scalar: Scalar, lanes: u8) -> Self {
        match lanes {
            1 => Self::Scalar(scalar),
            2..=4 => Self::Vector(scalar, lanes),
            _ => panic!("vector of {lanes} lanes"),
        }
    }

    /// Type of one lane, unless the value has none.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Self::Scalar(scalar) | Self::Vector(scalar, _) => Some(scalar),
            Self::Void | Self::Handle => None,
        }
    }

    /// Number of lanes: 1 for scalars, 0 for what is no number.
    pub fn lanes(self) -> u8 {
        match self {
            Self::Scalar(_) => 1,
            Self::Vector(_, lanes) => lanes,
            Self::Void | Self::Handle => 0,
        }
    }

    /// The same number of lanes of another scalar; itself if it has no lanes.
    pub fn with_scalar(self, scalar: Scalar) -> Self {
        match self {
            Self::Scalar(_) => Self::Scalar(scalar),
            Self::Vector(_, lanes) => Self::Vector(scalar, lanes),
            Self::Void | Self::Handle => self,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "bool",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        })
    }
}

/// `f32`, `f32x4`, `handle`, `void`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Void => f.write_str("void"),
            Self::Scalar(scalar) => scalar.fmt(f),
            Self::Vector(scalar, lanes) => write!(f, "{scalar}x{lanes}"),
            Self::Handle => f.write_str("handle"),
        }
    }
}
