//! Words of the text form: variants' names in lower case.

use crate::{
    ir::{
        AtomicOp, Axis, BinaryOp, CompareOp, ConvertOp, DerivativePrecision, RayQueryField, RayQueryOp, ReduceOp,
        Scalar, SignatureKind, TernaryOp, UnaryOp, VariableSpace, WaveOp,
    },
    reflection::{Stage, SystemValue},
};

/// An enumeration with a word for each variant.
pub(super) trait Word: Copy + 'static {
    /// All variants.
    const ALL: &'static [Self];

    /// The word.
    fn word(self) -> String;

    /// The variant of a word.
    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|variant| variant.word() == word)
    }
}

/// `UMulHigh` as `u_mul_high`.
fn snake_case(name: &str) -> String {
    let mut word = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.push(character.to_ascii_lowercase());
    }
    word
}

macro_rules! words {
    ($($name:ident { $($variant:ident),* $(,)? })*) => {
        $(impl Word for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn word(self) -> String {
                snake_case(match self {
                    $(Self::$variant => stringify!($variant),)*
                })
            }
        })*
    };
}

words! {
    UnaryOp {
        FNeg, FAbs, FSaturate, FRcp, FSqrt, FRsqrt, FExp2, FLog2, FSin, FCos, FTan, FAsin, FAcos, FAtan, FSinh, FCosh,
        FTanh, FFract, FRoundEven, FFloor, FCeil, FTrunc, INeg, Not, ReverseBits, CountBits, FirstBitLow, FirstBitHigh,
        FirstBitSignedHigh,
    }
    BinaryOp {
        FAdd, FSub, FMul, FDiv, FRem, FMin, FMax, IAdd, ISub, IMul, SMulHigh, UMulHigh, SDiv, UDiv, SRem, URem, SMin,
        SMax, UMin, UMax, And, Or, Xor, Shl, LShr, AShr,
    }
    CompareOp { FEq, FNe, FLt, FLe, FGt, FGe, IEq, INe, SLt, SLe, SGt, SGe, ULt, ULe, UGt, UGe }
    TernaryOp { FMad, FFma, IMad, UBitfieldExtract, SBitfieldExtract, Msad }
    ConvertOp {
        Bitcast, FToS, FToU, SToF, UToF, FToF, SExt, ZExt, Trunc, F32ToF16Bits, F16BitsToF32, IsNan, IsInf, IsFinite,
    }
    AtomicOp { Add, And, Or, Xor, SMin, SMax, UMin, UMax, Exchange, CompareExchange }
    ReduceOp { FAdd, FMul, FMin, FMax, IAdd, IMul, SMin, SMax, UMin, UMax, And, Or, Xor }
    RayQueryOp { Trace, Proceed, CommitTriangle, CommitProcedural, IsNonOpaque, Abort }
    RayQueryField {
        Kind, T, InstanceIndex, InstanceId, HitGroupOffset, GeometryIndex, PrimitiveIndex, Barycentrics, FrontFace,
        ObjectToWorld, WorldToObject,
    }
    SignatureKind { Input, Output, PatchConstant }
    Axis { X, Y }
    DerivativePrecision { Coarse, Fine }
    VariableSpace { Thread, Interface, GroupShared, Constant, Payload }
    Scalar { Bool, I16, I32, I64, F16, F32, F64 }
    Stage {
        Pixel, Vertex, Geometry, Hull, Domain, Compute, Library, RayGeneration, Intersection, AnyHit, ClosestHit, Miss,
        Callable, Mesh, Amplification, Node,
    }
    SystemValue {
        Arbitrary, VertexId, InstanceId, Position, RenderTargetArrayIndex, ViewportArrayIndex, ClipDistance,
        CullDistance, OutputControlPointId, DomainLocation, PrimitiveId, GsInstanceId, SampleIndex, IsFrontFace,
        Coverage, InnerCoverage, Target, Depth, DepthLessEqual, DepthGreaterEqual, StencilRef, DispatchThreadId,
        GroupId, GroupIndex, GroupThreadId, TessFactor, InsideTessFactor, ViewId, Barycentrics, ShadingRate,
        CullPrimitive, StartVertexLocation, StartInstanceLocation,
    }
}

impl Word for WaveOp {
    const ALL: &'static [Self] = &{
        const PLAIN: [WaveOp; 17] = [
            WaveOp::IsFirstLane,
            WaveOp::LaneIndex,
            WaveOp::LaneCount,
            WaveOp::AnyTrue,
            WaveOp::AllTrue,
            WaveOp::AllEqual,
            WaveOp::Ballot,
            WaveOp::ReadLaneAt,
            WaveOp::ReadLaneFirst,
            WaveOp::CountBits,
            WaveOp::PrefixCountBits,
            WaveOp::Match,
            WaveOp::MultiPrefixCountBits,
            WaveOp::QuadReadLaneAt,
            WaveOp::QuadReadAcrossX,
            WaveOp::QuadReadAcrossY,
            WaveOp::QuadReadAcrossDiagonal,
        ];
        const REDUCE: usize = ReduceOp::ALL.len();
        let mut all = [WaveOp::QuadAny; PLAIN.len() + 2 + 3 * REDUCE];
        let mut index = 0;
        while index < PLAIN.len() {
            all[index] = PLAIN[index];
            index += 1;
        }
        all[PLAIN.len()] = WaveOp::QuadAny;
        all[PLAIN.len() + 1] = WaveOp::QuadAll;
        let first = PLAIN.len() + 2;
        let mut index = 0;
        while index < REDUCE {
            let op = ReduceOp::ALL[index];
            all[first + 3 * index] = WaveOp::Reduce(op);
            all[first + 3 * index + 1] = WaveOp::Prefix(op);
            all[first + 3 * index + 2] = WaveOp::MultiPrefix(op);
            index += 1;
        }
        all
    };

    fn word(self) -> String {
        match self {
            Self::Reduce(op) => format!("reduce_{}", op.word()),
            Self::Prefix(op) => format!("prefix_{}", op.word()),
            Self::MultiPrefix(op) => format!("multi_prefix_{}", op.word()),
            plain => snake_case(&format!("{plain:?}")),
        }
    }
}
