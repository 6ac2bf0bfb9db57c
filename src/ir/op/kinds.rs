//! What operations are made of: kinds of arithmetic, places, and operands of the larger ones.

use crate::ir::{Scalar, Type, Value};

/// Operations of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Float: flips the sign bit, of NaN too.
    FNeg,
    /// Float: clears the sign bit.
    FAbs,
    /// Float: clamps to 0..1; NaN gives 0.
    FSaturate,
    /// Float: 1/x.
    FRcp,
    /// Float: square root.
    FSqrt,
    /// Float: 1 over the square root.
    FRsqrt,
    /// Float: 2 to the power of x.
    FExp2,
    /// Float: base-2 logarithm; 0 gives -infinity.
    FLog2,
    /// Float, radians.
    FSin,
    /// Float, radians.
    FCos,
    /// Float, radians.
    FTan,
    /// Float, radians.
    FAsin,
    /// Float, radians.
    FAcos,
    /// Float, radians.
    FAtan,
    /// Float: hyperbolic.
    FSinh,
    /// Float: hyperbolic.
    FCosh,
    /// Float: hyperbolic.
    FTanh,
    /// Float: x - floor(x).
    FFract,
    /// Float: to the nearest integer, halves to even (`round_ne`).
    FRoundEven,
    /// Float: down (`round_ni`).
    FFloor,
    /// Float: up (`round_pi`).
    FCeil,
    /// Float: towards zero (`round_z`).
    FTrunc,
    /// Integer: two's complement.
    INeg,
    /// Integer: every bit inverted. `bool`: not.
    Not,
    /// Integer: bits in reverse order.
    ReverseBits,
    /// Integer: number of ones; the result is `i32` for every width.
    CountBits,
    /// Integer: lowest set bit, counted from bit 0; all ones if none. The result is `i32` for every width.
    FirstBitLow,
    /// Integer, unsigned: highest set bit, counted from **bit 0**; all ones if none. `i32` for every width.
    /// (Direct3D's `firstbit_hi` counts from the top: front ends subtract.)
    FirstBitHigh,
    /// Integer, signed: highest bit that differs from the sign, counted from **bit 0**; all ones if none. `i32`.
    FirstBitSignedHigh,
}

/// Operations of two operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Float.
    FAdd,
    /// Float.
    FSub,
    /// Float.
    FMul,
    /// Float; x/0 is an infinity or NaN.
    FDiv,
    /// Float: remainder with the sign of the dividend.
    FRem,
    /// Float; if one operand is NaN, the other.
    FMin,
    /// Float; if one operand is NaN, the other.
    FMax,
    /// Integer, wrapping.
    IAdd,
    /// Integer, wrapping.
    ISub,
    /// Integer, low half.
    IMul,
    /// Integer, high half of the signed product.
    SMulHigh,
    /// Integer, high half of the unsigned product.
    UMulHigh,
    /// Integer, signed; by 0: all ones. The smallest integer by -1: itself.
    SDiv,
    /// Integer, unsigned; by 0: all ones.
    UDiv,
    /// Integer, signed, sign of the dividend; by 0: all ones. By -1: 0.
    SRem,
    /// Integer, unsigned; by 0: all ones.
    URem,
    /// Integer.
    SMin,
    /// Integer.
    SMax,
    /// Integer.
    UMin,
    /// Integer.
    UMax,
    /// Integer or `bool`.
    And,
    /// Integer or `bool`.
    Or,
    /// Integer or `bool`.
    Xor,
    /// Integer; the count is taken modulo the width.
    Shl,
    /// Integer, zeros come in; the count is taken modulo the width.
    LShr,
    /// Integer, the sign comes in; the count is taken modulo the width.
    AShr,
}

/// Comparisons. Float comparisons with a NaN are false, except `FNe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CompareOp {
    FEq,
    /// True if an operand is NaN.
    FNe,
    FLt,
    FLe,
    FGt,
    FGe,
    /// Integer or `bool`.
    IEq,
    /// Integer or `bool`.
    INe,
    SLt,
    SLe,
    SGt,
    SGe,
    ULt,
    ULe,
    UGt,
    UGe,
}

/// Operations of three operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TernaryOp {
    /// Float: a*b+c, fused or not unless the instruction is precise: then not.
    FMad,
    /// Float: a*b+c with one rounding.
    FFma,
    /// Integer: a*b+c, wrapping.
    IMad,
    /// Unsigned field of `c` (`ubfe`): width `a`, offset `b`, both modulo 32; width 0 gives 0; a field that reaches
    /// beyond the top is `c >> b`.
    UBitfieldExtract,
    /// Signed likewise (`ibfe`).
    SBitfieldExtract,
    /// Masked sum of absolute differences of 4 bytes: reference `a`, source `b`, accumulator `c`.
    Msad,
}

/// Conversions. The number of lanes stays, except for the two that repack 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConvertOp {
    /// The same bits as another type: `f32` to `i32`, lane by lane; or `i32x2` to and from one 64-bit scalar
    /// (low word first).
    Bitcast,
    /// Float to signed integer, truncated; NaN gives 0, out of range the nearest.
    FToS,
    /// Float to unsigned integer, truncated; NaN gives 0, out of range the nearest.
    FToU,
    /// Signed integer to float.
    SToF,
    /// Unsigned integer to float.
    UToF,
    /// Between float widths.
    FToF,
    /// Wider integer, sign-extended; from `bool`: all ones or 0.
    SExt,
    /// Wider integer, zero-extended; from `bool`: 1 or 0.
    ZExt,
    /// Narrower integer.
    Trunc,
    /// `f32` to the bits of a half in an `i32` (`f32tof16`), rounded towards zero or to nearest as the driver does.
    F32ToF16Bits,
    /// The low 16 bits of an `i32` as a half, to `f32` (`f16tof32`).
    F16BitsToF32,
    /// Float: true for NaN.
    IsNan,
    /// Float: true for infinities.
    IsInf,
    /// Float: true for what is neither.
    IsFinite,
}

/// Which signature an element belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignatureKind {
    /// What the stage before wrote.
    Input,
    /// What this stage writes (a hull shader's later phases also read it).
    Output,
    /// Patch constants, and primitive outputs of mesh shaders.
    PatchConstant,
}

/// Place of an interpolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EvaluateAt {
    /// The centroid.
    Centroid,
    /// A sample, `i32`.
    Sample(Value),
    /// Offset from the pixel's centre in sixteenths of a pixel, two `i32`.
    Snapped(Value, Value),
}

/// Place in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferAddress {
    /// Typed: the element, `i32`.
    Element(Value),
    /// Raw: the byte, `i32`; wraps, and its low two bits are ignored.
    Byte(Value),
    /// Structured: the element and the byte within it, both `i32`.
    Structured(Value, Value),
}

/// Operands of [`Op::Sample`](crate::ir::Op::Sample).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sample {
    /// The texture.
    pub texture: Value,
    /// The sampler.
    pub sampler: Value,
    /// Float coordinates, and the array layer as last lane.
    pub coordinates: Value,
    /// How the level is found.
    pub level: SampleLevel,
    /// Value to compare with, `f32`: the result is then one scalar.
    pub compare: Option<Value>,
    /// Texels added to the coordinates (not the layer); `i32` lanes.
    pub offset: Option<Value>,
    /// Lowest level that may be used, `f32`.
    pub min_lod: Option<Value>,
}

/// How a sample finds its mip level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleLevel {
    /// From the quad's derivatives.
    Implicit,
    /// From them, with a bias.
    Bias(Value),
    /// Given.
    Level(Value),
    /// Level 0.
    Zero,
    /// From given derivatives, x and y, of the coordinates without the layer.
    Gradient(Value, Value),
}

/// Operands of [`Op::Gather`](crate::ir::Op::Gather).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gather {
    /// The texture.
    pub texture: Value,
    /// The sampler.
    pub sampler: Value,
    /// Float coordinates, and the array layer as last lane.
    pub coordinates: Value,
    /// Component of the texels.
    pub component: u8,
    /// Value to compare with, `f32`.
    pub compare: Option<Value>,
    /// Texels added to the coordinates; `i32` lanes, constant or not.
    pub offset: Option<Value>,
}

/// Atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Add,
    And,
    Or,
    Xor,
    SMin,
    SMax,
    UMin,
    UMax,
    Exchange,
    /// Stores the operand where the old value equals `compare`.
    CompareExchange,
}

/// Direction of a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Axis {
    X,
    Y,
}

/// How a derivative is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum DerivativePrecision {
    Coarse,
    Fine,
}

/// What a barrier does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Barrier {
    /// Every thread of the group arrives before one goes on.
    pub group_sync: bool,
    /// Group-shared memory becomes visible to the group.
    pub group_shared: bool,
    /// Unordered-access memory becomes visible to the group.
    pub uav_group: bool,
    /// Unordered-access memory becomes visible to the whole dispatch.
    pub uav_global: bool,
}

/// Wave and quad operations, with their operands in the order of HLSL's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum WaveOp {
    IsFirstLane,
    LaneIndex,
    LaneCount,
    AnyTrue,
    AllTrue,
    /// Per lane of the value: all active lanes hold the same.
    AllEqual,
    /// `i32x4`.
    Ballot,
    /// Value, lane.
    ReadLaneAt,
    ReadLaneFirst,
    Reduce(ReduceOp),
    /// Exclusive.
    Prefix(ReduceOp),
    /// Number of active lanes whose `bool` is true.
    CountBits,
    PrefixCountBits,
    /// `i32x4` mask of the lanes with the same value.
    Match,
    /// Value, `i32x4` mask; exclusive.
    MultiPrefix(ReduceOp),
    /// `bool`, `i32x4` mask.
    MultiPrefixCountBits,
    /// Value, lane of the quad.
    QuadReadLaneAt,
    QuadReadAcrossX,
    QuadReadAcrossY,
    QuadReadAcrossDiagonal,
    QuadAny,
    QuadAll,
}

/// What a wave operation combines with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ReduceOp {
    FAdd,
    FMul,
    FMin,
    FMax,
    IAdd,
    IMul,
    SMin,
    SMax,
    UMin,
    UMax,
    And,
    Or,
    Xor,
}

/// Most ray queries of a function.
pub const MAX_RAY_QUERIES: u32 = 256;

/// What is done with a ray query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RayQueryOp {
    /// Begins a search: acceleration structure, flags and instance mask (`i32`), origin (`f32x3`), smallest T (`f32`),
    /// direction (`f32x3`), largest T (`f32`). No result.
    Trace,
    /// Looks for the next candidate: `bool`, there is one.
    Proceed,
    /// The candidate, a triangle, is a hit. No result.
    CommitTriangle,
    /// The candidate, a procedural primitive, is hit at this T (`f32`). No result.
    CommitProcedural,
    /// Whether the candidate, a procedural primitive, is not opaque: `bool`.
    IsNonOpaque,
    /// Ends the search: there are no more candidates, and what was committed remains. No result.
    Abort,
}

/// What a ray query knows of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RayQueryField {
    /// `i32`: `COMMITTED_STATUS` of the closest hit, `CANDIDATE_TYPE` of the candidate.
    Kind,
    /// `f32`.
    T,
    /// `i32`.
    InstanceIndex,
    /// `i32`.
    InstanceId,
    /// `i32`.
    HitGroupOffset,
    /// `i32`.
    GeometryIndex,
    /// `i32`.
    PrimitiveIndex,
    /// `f32x2`.
    Barycentrics,
    /// `bool`.
    FrontFace,
    /// Column of a matrix of four: `f32x3`.
    ObjectToWorld,
    /// Column of a matrix of four: `f32x3`.
    WorldToObject,
}

impl RayQueryField {
    /// Type of the value.
    pub fn ty(self) -> Type {
        match self {
            Self::T => Type::F32,
            Self::Barycentrics => Type::Vector(Scalar::F32, 2),
            Self::FrontFace => Type::BOOL,
            Self::ObjectToWorld | Self::WorldToObject => Type::Vector(Scalar::F32, 3),
            _ => Type::I32,
        }
    }

    /// Columns, of each of which a value is read.
    pub fn columns(self) -> u8 {
        if matches!(self, Self::ObjectToWorld | Self::WorldToObject) { 4 } else { 1 }
    }
}
