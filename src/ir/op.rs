//! Operations. Each one means what Direct3D says it means; `docs` of a variant give the result where WGSL or SPIR-V
//! would give another. The emitter is the only place that knows how to say so in naga.

use smallvec::SmallVec;

use super::{BindingId, ElementId, FunctionId, Scalar, Type, Value, VariableId};
use crate::reflection::SystemValue;

/// One operation with its operands. The result's type is kept beside it, in the function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // ---- Arithmetic: operands and result have the same number of lanes, and work lane by lane.
    /// One operand, result of the same type (but see [`UnaryOp::CountBits`] and its like for 64 bits).
    Unary(UnaryOp, Value),
    /// Two operands of the result's type.
    Binary(BinaryOp, Value, Value),
    /// Two operands of one type, result `bool` lanes.
    Compare(CompareOp, Value, Value),
    /// Three operands.
    Ternary(TernaryOp, Value, Value, Value),
    /// `base` with `width` bits at `offset` replaced by the low bits of `insert` (`bfi`). Width and offset are taken
    /// modulo 32; bits beyond the top are lost.
    BitfieldInsert {
        /// Number of bits.
        width: Value,
        /// Lowest bit.
        offset: Value,
        /// Source of the bits.
        insert: Value,
        /// What stays.
        base: Value,
    },
    /// `condition ? accept : reject`. The condition is `bool`, scalar or of as many lanes as the result.
    Select {
        /// The choice.
        condition: Value,
        /// Taken where it is true.
        accept: Value,
        /// Taken where it is false.
        reject: Value,
    },
    /// Sum of products of two vectors' lanes; a scalar.
    Dot(Value, Value),
    /// Conversion to the result's type.
    Convert(ConvertOp, Value),

    // ---- Vectors.
    /// One lane of a vector.
    Extract(Value, u8),
    /// One lane of a vector, chosen at run time; out of range: any lane.
    ExtractDynamic(Value, Value),
    /// A vector of scalars.
    Compose(SmallVec<[Value; 4]>),
    /// Lanes of one vector (or copies of a scalar) in another order.
    Swizzle(Value, SmallVec<[u8; 4]>),

    // ---- Stage interface.
    /// Part of an input (or of what another phase wrote): consecutive components of one row of an element.
    LoadInput {
        /// Which signature.
        signature: SignatureKind,
        /// The element in it.
        element: ElementId,
        /// Row of the element, `i32`.
        row: Value,
        /// First component, from the element's own first: 0 to 3. The result's lanes follow.
        component: u8,
        /// Vertex or control point, in stages that see several.
        vertex: Option<Value>,
    },
    /// A pixel shader's input interpolated elsewhere, operands as of [`Op::LoadInput`].
    EvaluateInput {
        /// The element of the input signature.
        element: ElementId,
        /// Row of the element, `i32`.
        row: Value,
        /// First component.
        component: u8,
        /// Where.
        at: EvaluateAt,
    },
    /// A pixel shader's uninterpolated input at one vertex of the triangle (`GetAttributeAtVertex`).
    LoadInputAtVertex {
        /// The element of the input signature.
        element: ElementId,
        /// Row of the element, `i32`.
        row: Value,
        /// First component.
        component: u8,
        /// 0, 1 or 2.
        vertex: u8,
    },
    /// Writes consecutive components of one row of an element.
    StoreOutput {
        /// [`SignatureKind::Output`] or [`SignatureKind::PatchConstant`].
        signature: SignatureKind,
        /// The element in it.
        element: ElementId,
        /// Row of the element, `i32`.
        row: Value,
        /// First component, from the element's own first.
        component: u8,
        /// Vertex or primitive, in mesh shaders.
        vertex: Option<Value>,
        /// What is written.
        value: Value,
    },
    /// A value the pipeline hands over outside the signatures: thread and group ids (`i32` or `i32x3`),
    /// domain location (`f32x3`), coverage, sample index, lane index and so on.
    SystemValue(SystemValue),

    // ---- Variables of the program.
    /// An element of a variable. An index out of range gives 0.
    LoadVariable {
        /// Which one.
        variable: VariableId,
        /// Element, `i32`.
        index: Value,
        /// One lane of a vector element; `None` for the whole element.
        component: Option<u8>,
    },
    /// Sets an element of a variable. An index out of range drops the write.
    StoreVariable {
        /// Which one.
        variable: VariableId,
        /// Element, `i32`.
        index: Value,
        /// One lane of a vector element; `None` for the whole element.
        component: Option<u8>,
        /// What is written.
        value: Value,
    },
    /// Atomic operation on a group-shared variable; the result is the old value.
    AtomicVariable {
        /// What is done.
        op: AtomicOp,
        /// Which variable: one of integers.
        variable: VariableId,
        /// Element, `i32`. Out of range: nothing happens, and the result is 0.
        index: Value,
        /// Operand.
        value: Value,
        /// Value to compare with, for [`AtomicOp::CompareExchange`].
        compare: Option<Value>,
    },

    // ---- Resources. An access to an unbound resource, or out of range, gives 0 or is dropped.
    /// A resource: a binding, or an element of an array of bindings. Costs nothing by itself.
    Handle {
        /// The binding.
        binding: BindingId,
        /// Element of the array, `i32`, counted from the binding's first register.
        index: Value,
        /// Lanes of a wave may differ in `index`.
        non_uniform: bool,
    },
    /// Part of one 16-byte row of a constant buffer (or `tbuffer`); a row out of range gives 0.
    LoadConstant {
        /// The constant buffer.
        handle: Value,
        /// Row, `i32`.
        row: Value,
        /// First byte within the row: a multiple of the result's scalar size. The result does not cross the row's end.
        offset: u8,
    },
    /// Reads from a buffer. Typed: the element, one scalar type, 1 to 4 components from the first. Raw and structured:
    /// consecutive scalars of the result's type.
    LoadBuffer {
        /// The buffer.
        handle: Value,
        /// Where.
        address: BufferAddress,
    },
    /// Writes to a buffer. Typed: all components of the element; raw and structured: consecutive scalars.
    StoreBuffer {
        /// The buffer.
        handle: Value,
        /// Where.
        address: BufferAddress,
        /// What is written.
        value: Value,
    },
    /// Atomic operation on a buffer; the result is the old value.
    AtomicBuffer {
        /// What is done.
        op: AtomicOp,
        /// The buffer.
        handle: Value,
        /// Where.
        address: BufferAddress,
        /// Operand.
        value: Value,
        /// Value to compare with, for [`AtomicOp::CompareExchange`].
        compare: Option<Value>,
    },
    /// Adds 1 to a structured buffer's counter (`increment`; result: the value before), or takes 1 (result: after).
    UpdateCounter {
        /// The buffer.
        handle: Value,
        /// Direction.
        increment: bool,
    },
    /// A texel, unfiltered; 1 to 4 components. Out of range: 0, alpha too.
    LoadTexture {
        /// The texture, SRV or UAV.
        handle: Value,
        /// Integer coordinates, and the array layer as last lane.
        coordinates: Value,
        /// Mip level, `i32`; `None` for UAVs and multisampled textures.
        level: Option<Value>,
        /// Sample, `i32`, of multisampled textures.
        sample: Option<Value>,
        /// Added to the coordinates (not the layer); `i32` lanes.
        offset: Option<Value>,
    },
    /// Writes a texel of an unordered-access texture: 4 components.
    StoreTexture {
        /// The texture.
        handle: Value,
        /// Integer coordinates, and the array layer as last lane.
        coordinates: Value,
        /// Sample, `i32`, of multisampled textures.
        sample: Option<Value>,
        /// The texel.
        value: Value,
    },
    /// Atomic operation on a texel; the result is the old value.
    AtomicTexture {
        /// What is done.
        op: AtomicOp,
        /// The texture.
        handle: Value,
        /// Integer coordinates, and the array layer as last lane.
        coordinates: Value,
        /// Operand.
        value: Value,
        /// Value to compare with, for [`AtomicOp::CompareExchange`].
        compare: Option<Value>,
    },
    /// Filtered read of a texture: four components, or one scalar with `compare`.
    Sample(Box<Sample>),
    /// Four texels of the footprint of a bilinear sample: `f32x4` or `i32x4`.
    Gather(Box<Gather>),
    /// Level that sampling would use (`CalculateLevelOfDetail`), a scalar.
    CalculateLod {
        /// The texture.
        texture: Value,
        /// The sampler.
        sampler: Value,
        /// Coordinates, without an array layer.
        coordinates: Value,
        /// Clamped to the texture's levels.
        clamped: bool,
    },
    /// Size of a texture's level: `i32x4` of width, height or layers, depth or layers, number of levels, in the order
    /// of `resinfo`: components that the dimension lacks are 0, a level out of range gives 0 sizes.
    TextureSize {
        /// The texture.
        handle: Value,
        /// Mip level, `i32`; `None` for UAVs and multisampled textures.
        level: Option<Value>,
    },
    /// Size of a buffer, `i32`: bytes (raw), elements (typed, structured).
    BufferSize {
        /// The buffer.
        handle: Value,
    },
    /// Number of samples of a texture, or of the render target if there is no handle; `i32`.
    SampleCount(Option<Value>),
    /// Position of a sample in the pixel, `f32x2` from -0.5 to 0.5, of a texture or of the render target.
    SamplePosition {
        /// The texture; `None` for the render target.
        handle: Option<Value>,
        /// The sample, `i32`.
        sample: Value,
    },

    // ---- Lanes and threads.
    /// Difference across the quad.
    Derivative(Axis, DerivativePrecision, Value),
    /// Turns the lane into a helper where the condition (`bool`) is true: it goes on, but has no more effects.
    Discard(Value),
    /// `bool`: the lane is a helper.
    IsHelperLane,
    /// Waits and makes memory visible.
    Barrier(Barrier),
    /// Wave and quad operations.
    Wave(WaveOp, SmallVec<[Value; 2]>),

    // ---- Ray queries. Each has a number in its function, below [`MAX_RAY_QUERIES`].
    /// Works on a ray query.
    RayQuery {
        /// What is done.
        op: RayQueryOp,
        /// Number of the query.
        query: u32,
        /// See [`RayQueryOp`].
        operands: SmallVec<[Value; 4]>,
    },
    /// What a ray query knows of a hit.
    LoadRayQuery {
        /// Number of the query.
        query: u32,
        /// The closest hit so far, else the candidate.
        committed: bool,
        /// What of it.
        field: RayQueryField,
        /// Column of a matrix, 0 to 3; else 0.
        column: u8,
    },

    // ---- Functions.
    /// Calls another function of the module.
    Call(FunctionId, SmallVec<[Value; 4]>),
    /// Ends a vertex (`emit`) or a strip (`cut`) of a geometry shader's stream, or both.
    EmitVertex {
        /// The stream.
        stream: u8,
        /// A vertex is complete.
        emit: bool,
        /// The strip is.
        cut: bool,
    },

    // ---- Mesh and amplification shaders.
    /// Numbers of vertices and primitives that a mesh shader's group gives (`SetMeshOutputCounts`), both `i32`.
    SetMeshOutputCounts {
        /// Vertices.
        vertices: Value,
        /// Primitives.
        primitives: Value,
    },
    /// Vertices of one of a mesh shader's primitives. A primitive beyond the declared number drops the write.
    EmitIndices {
        /// The primitive, `i32`.
        primitive: Value,
        /// Its vertices, `i32`: 2 of a line, 3 of a triangle.
        indices: SmallVec<[Value; 4]>,
    },
    /// Ends an amplification shader's group and starts groups of the mesh shader. Every thread of the group comes here;
    /// what they wrote to group-shared memory before is in the payload.
    DispatchMesh {
        /// Number of groups on each side, `i32`.
        groups: [Value; 3],
        /// Group-shared variable of 32-bit scalars that holds the payload.
        payload: VariableId,
        /// First element of the payload, `i32`.
        first: Value,
        /// Number of its elements.
        words: u32,
    },
}

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

/// Operands of [`Op::Sample`].
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

/// Operands of [`Op::Gather`].
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

/// What an operation depends on and changes, for passes that move or remove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// The operands alone decide the result: may be moved, merged with its like, removed.
    Pure,
    /// Reads memory that others may write: may be removed if unused, not moved across a write.
    Read,
    /// Looks at other lanes (derivatives, waves, implicit levels of detail): may be removed if unused, never moved to
    /// where other lanes are active.
    Convergent,
    /// Has an effect of its own: stays where it is.
    Write,
}

/// The operands of `$op`, each passed to `$f`: one list for readers (`as_ref`) and writers (`as_mut`).
macro_rules! visit_operands {
    ($op:expr, $f:expr, $deref:ident) => {{
        let op = $op;
        let mut f = $f;
        match op {
            Op::Unary(_, a) | Op::Convert(_, a) | Op::Extract(a, _) | Op::Swizzle(a, _) | Op::Derivative(_, _, a) => f(a),
            Op::Discard(a) | Op::BufferSize { handle: a } | Op::UpdateCounter { handle: a, .. } => f(a),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::Dot(a, b) | Op::ExtractDynamic(a, b) => {
                f(a);
                f(b);
            }
            Op::Ternary(_, a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            Op::BitfieldInsert { width, offset, insert, base } => {
                f(width);
                f(offset);
                f(insert);
                f(base);
            }
            Op::Select { condition, accept, reject } => {
                f(condition);
                f(accept);
                f(reject);
            }
            Op::Compose(values) => {
                for value in values {
                    f(value);
                }
            }
            Op::Wave(_, values) => {
                for value in values {
                    f(value);
                }
            }
            Op::RayQuery { operands, .. } => {
                for value in operands {
                    f(value);
                }
            }
            Op::Call(_, values) => {
                for value in values {
                    f(value);
                }
            }
            Op::LoadInput { row, vertex, .. } => {
                f(row);
                if let Some(vertex) = vertex {
                    f(vertex);
                }
            }
            Op::EvaluateInput { row, at, .. } => {
                f(row);
                match at {
                    EvaluateAt::Centroid => {}
                    EvaluateAt::Sample(sample) => f(sample),
                    EvaluateAt::Snapped(x, y) => {
                        f(x);
                        f(y);
                    }
                }
            }
            Op::LoadInputAtVertex { row, .. } => f(row),
            Op::StoreOutput { row, vertex, value, .. } => {
                f(row);
                if let Some(vertex) = vertex {
                    f(vertex);
                }
                f(value);
            }
            Op::SystemValue(_)
            | Op::IsHelperLane
            | Op::Barrier(_)
            | Op::EmitVertex { .. }
            | Op::LoadRayQuery { .. } => {}
            Op::SetMeshOutputCounts { vertices, primitives } => {
                f(vertices);
                f(primitives);
            }
            Op::EmitIndices { primitive, indices } => {
                f(primitive);
                for index in indices {
                    f(index);
                }
            }
            Op::DispatchMesh { groups, first, .. } => {
                for count in groups {
                    f(count);
                }
                f(first);
            }
            Op::LoadVariable { index, .. } => f(index),
            Op::StoreVariable { index, value, .. } => {
                f(index);
                f(value);
            }
            Op::AtomicVariable { index, value, compare, .. } => {
                f(index);
                f(value);
                if let Some(compare) = compare {
                    f(compare);
                }
            }
            Op::Handle { index, .. } => f(index),
            Op::LoadConstant { handle, row, .. } => {
                f(handle);
                f(row);
            }
            Op::LoadBuffer { handle, address } => {
                f(handle);
                visit_operands!(@address address, f);
            }
            Op::StoreBuffer { handle, address, value } => {
                f(handle);
                visit_operands!(@address address, f);
                f(value);
            }
            Op::AtomicBuffer { handle, address, value, compare, .. } => {
                f(handle);
                visit_operands!(@address address, f);
                f(value);
                if let Some(compare) = compare {
                    f(compare);
                }
            }
            Op::LoadTexture { handle, coordinates, level, sample, offset } => {
                f(handle);
                f(coordinates);
                for operand in [level, sample, offset] {
                    if let Some(operand) = operand {
                        f(operand);
                    }
                }
            }
            Op::StoreTexture { handle, coordinates, sample, value } => {
                f(handle);
                f(coordinates);
                if let Some(sample) = sample {
                    f(sample);
                }
                f(value);
            }
            Op::AtomicTexture { handle, coordinates, value, compare, .. } => {
                f(handle);
                f(coordinates);
                f(value);
                if let Some(compare) = compare {
                    f(compare);
                }
            }
            Op::Sample(sample) => {
                let Sample { texture, sampler, coordinates, level, compare, offset, min_lod } = sample.$deref();
                f(texture);
                f(sampler);
                f(coordinates);
                match level {
                    SampleLevel::Implicit | SampleLevel::Zero => {}
                    SampleLevel::Bias(value) | SampleLevel::Level(value) => f(value),
                    SampleLevel::Gradient(x, y) => {
                        f(x);
                        f(y);
                    }
                }
                for operand in [compare, offset, min_lod] {
                    if let Some(operand) = operand {
                        f(operand);
                    }
                }
            }
            Op::Gather(gather) => {
                let Gather { texture, sampler, coordinates, component: _, compare, offset } = gather.$deref();
                f(texture);
                f(sampler);
                f(coordinates);
                for operand in [compare, offset] {
                    if let Some(operand) = operand {
                        f(operand);
                    }
                }
            }
            Op::CalculateLod { texture, sampler, coordinates, .. } => {
                f(texture);
                f(sampler);
                f(coordinates);
            }
            Op::TextureSize { handle, level } => {
                f(handle);
                if let Some(level) = level {
                    f(level);
                }
            }
            Op::SampleCount(handle) => {
                if let Some(handle) = handle {
                    f(handle);
                }
            }
            Op::SamplePosition { handle, sample } => {
                if let Some(handle) = handle {
                    f(handle);
                }
                f(sample);
            }
        }
    }};
    (@address $address:expr, $f:expr) => {
        match $address {
            BufferAddress::Element(index) | BufferAddress::Byte(index) => $f(index),
            BufferAddress::Structured(index, offset) => {
                $f(index);
                $f(offset);
            }
        }
    };
}

impl Op {
    /// Calls `f` on each operand, in the order of the fields.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        visit_operands!(self, |value: &Value| f(*value), as_ref);
    }

    /// Calls `f` on each operand, in the order of the fields, to replace it.
    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        visit_operands!(self, |value: &mut Value| f(value), as_mut);
    }

    /// What the operation depends on and changes.
    pub fn effect(&self) -> Effect {
        match self {
            Op::StoreOutput { .. }
            | Op::StoreVariable { .. }
            | Op::AtomicVariable { .. }
            | Op::StoreBuffer { .. }
            | Op::AtomicBuffer { .. }
            | Op::UpdateCounter { .. }
            | Op::StoreTexture { .. }
            | Op::AtomicTexture { .. }
            | Op::Discard(_)
            | Op::Barrier(_)
            | Op::Call(..)
            | Op::RayQuery { .. }
            | Op::EmitVertex { .. }
            | Op::SetMeshOutputCounts { .. }
            | Op::EmitIndices { .. }
            | Op::DispatchMesh { .. } => Effect::Write,
            Op::Derivative(..) | Op::Wave(..) | Op::CalculateLod { .. } | Op::EvaluateInput { .. } => {
                Effect::Convergent
            }
            Op::Sample(sample) if matches!(sample.level, SampleLevel::Implicit | SampleLevel::Bias(_)) => {
                Effect::Convergent
            }
            // A hull shader's later phases read what earlier ones wrote.
            Op::LoadInput { signature: SignatureKind::Input, .. } => Effect::Pure,
            Op::LoadInput { .. }
            | Op::LoadVariable { .. }
            | Op::LoadBuffer { .. }
            | Op::LoadTexture { .. }
            | Op::LoadRayQuery { .. }
            | Op::IsHelperLane => Effect::Read,
            _ => Effect::Pure,
        }
    }
}
