//! Operations. Each one means what Direct3D says it means; `docs` of a variant give the result where WGSL or SPIR-V
//! would give another. The emitter is the only place that knows how to say so in naga.

mod kinds;
mod operands;

use smallvec::SmallVec;

pub use kinds::*;

use super::{BindingId, ElementId, FunctionId, Value, VariableId};
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
    /// One of several resources of one kind, by a number that is known at run time; any of them if none has the number.
    /// Passes replace it by choices among operations ([`resolve_choices`](super::passes::resolve_choices)).
    ChooseHandle {
        /// The number, `i32`.
        which: Value,
        /// Numbers, all different, and what [`Op::Handle`] made. At least one.
        choices: SmallVec<[(u32, Value); 4]>,
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

    /// Works on, or loads from, one of several ray queries, by a number that is known at run time; any of them if none
    /// has the number. Passes replace it by choices among operations ([`resolve_choices`](super::passes::resolve_choices)).
    ChooseRayQuery {
        /// The number, `i32`.
        which: Value,
        /// Numbers of the queries, all different. At least one.
        queries: SmallVec<[u32; 4]>,
        /// What is done: [`Op::RayQuery`] or [`Op::LoadRayQuery`], whose own query stands for the chosen one.
        op: Box<Self>,
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
        /// Variable of 32-bit scalars that holds the payload: a group-shared one, or one of the thread, where the group's
        /// first thread is heard (Direct3D wants a group-shared one, dxc takes either).
        payload: VariableId,
        /// First element of the payload, `i32`.
        first: Value,
        /// Number of its elements.
        words: u32,
    },
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

impl Op {
    /// What the operation depends on and changes.
    pub fn effect(&self) -> Effect {
        match self {
            Op::ChooseRayQuery { op, .. } => op.effect(),
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
