//! What a container tells the outside about its programs: [`Interface`], one shape for both formats.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    class_linkage::ClassLinkage,
    draw::DRAW_SPACE,
    layout::BufferLayout,
    library::{LibraryExport, Subobject},
    node::{NODE_SPACE, NODE_THREADS, NodeFacts, NodeLaunch},
    root::RootBinding,
    signature::SignatureElement,
    stage_state::STAGE_SPACE,
};
use crate::container::{FeatureFlags, RootSignature, float};

/// The two bytecode formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Format {
    /// Tokenized programs of Shader Model 4.0 to 5.1 (`SHDR` and `SHEX` parts).
    Dxbc,
    /// LLVM 3.7 bitcode of Shader Model 6.0 and later (`DXIL` parts).
    Dxil,
}

/// Shader Model, as in `ps_5_1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ShaderModel {
    /// 4, 5 or 6.
    pub major: u8,
    /// 0 to 9.
    pub minor: u8,
}

/// Stages of all pipelines. Numbered as `D3D10_SB_TOKENIZED_PROGRAM_TYPE` and `DXIL::ShaderKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Stage {
    Pixel = 0,
    Vertex = 1,
    Geometry = 2,
    Hull = 3,
    Domain = 4,
    Compute = 5,
    Library = 6,
    RayGeneration = 7,
    Intersection = 8,
    AnyHit = 9,
    ClosestHit = 10,
    Miss = 11,
    Callable = 12,
    Mesh = 13,
    Amplification = 14,
    Node = 15,
}

impl Stage {
    /// The stage of a version token's program type.
    pub fn from_kind(kind: u16) -> Option<Self> {
        Some(match kind {
            0 => Self::Pixel,
            1 => Self::Vertex,
            2 => Self::Geometry,
            3 => Self::Hull,
            4 => Self::Domain,
            5 => Self::Compute,
            6 => Self::Library,
            7 => Self::RayGeneration,
            8 => Self::Intersection,
            9 => Self::AnyHit,
            10 => Self::ClosestHit,
            11 => Self::Miss,
            12 => Self::Callable,
            13 => Self::Mesh,
            14 => Self::Amplification,
            15 => Self::Node,
            _ => return None,
        })
    }

    /// The two letters of a profile: `vs`, `ps`; those of a library are `lib`, as are the stages that only exist in one.
    pub fn profile(self) -> &'static str {
        match self {
            Self::Pixel => "ps",
            Self::Vertex => "vs",
            Self::Geometry => "gs",
            Self::Hull => "hs",
            Self::Domain => "ds",
            Self::Compute => "cs",
            Self::Mesh => "ms",
            Self::Amplification => "as",
            Self::Library
            | Self::RayGeneration
            | Self::Intersection
            | Self::AnyHit
            | Self::ClosestHit
            | Self::Miss
            | Self::Callable
            | Self::Node => "lib",
        }
    }
}

impl fmt::Display for ShaderModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Everything a container tells of its programs. Read by [`crate::reflect`], and carried by every lifted program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interface {
    /// Which bytecode.
    pub format: Format,
    /// Which Shader Model.
    pub shader_model: ShaderModel,
    /// The stage of the container: [`Stage::Library`] for libraries, whose entry points have their own. Functions of Shader Model 4 and
    /// 5 have none: theirs is [`Stage::Library`] too, and their parameters are elements of the signatures.
    pub stage: Stage,
    /// The entry points: one, except in a library.
    pub entry_points: Vec<EntryPointInterface>,
    /// Every resource that the container declares, whichever entry point uses it. [`crate::ir::BindingId`] is an index
    /// into this list.
    pub bindings: Vec<Binding>,
    /// Optional features that the program demands (`SFI0`, or the flags of `dcl_globalFlags` and `dx.entryPoints`).
    pub feature_flags: FeatureFlags,
    /// Interfaces whose classes the host chooses (Shader Model 5).
    #[serde(default)]
    pub class_linkage: ClassLinkage,
    /// The root signature that the container carries for the pipeline of its program (`RTS0`).
    pub root_signature: Option<RootSignature>,
    /// Subobjects that a library defines for the state objects it goes into, root signatures among them.
    pub subobjects: Vec<Subobject>,
}

/// One entry point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryPointInterface {
    /// Its name: `main` where the format has none (DXBC).
    pub name: String,
    /// Its stage.
    pub stage: Stage,
    /// Input signature. [`crate::ir::ElementId`] is an index into the list of its signature.
    pub inputs: Vec<SignatureElement>,
    /// Output signature.
    pub outputs: Vec<SignatureElement>,
    /// Patch constants of hull and domain shaders, primitive outputs of mesh shaders.
    pub patch_constants: Vec<SignatureElement>,
    /// Facts of the stage.
    pub facts: StageFacts,
    /// What a library says of it.
    pub library: Option<LibraryExport>,
    /// What supplies the bindings that it uses, if the container carries a root signature for it.
    pub root_bindings: Vec<RootBinding>,
}

impl Interface {
    /// An interface that tells nothing more.
    pub fn new(format: Format, shader_model: ShaderModel, stage: Stage) -> Self {
        Self {
            format,
            shader_model,
            stage,
            entry_points: Vec::new(),
            bindings: Vec::new(),
            feature_flags: FeatureFlags::default(),
            class_linkage: ClassLinkage::default(),
            root_signature: None,
            subobjects: Vec::new(),
        }
    }
}

impl EntryPointInterface {
    /// An entry point without inputs, outputs and facts.
    pub fn new(name: impl Into<String>, stage: Stage) -> Self {
        Self {
            name: name.into(),
            stage,
            inputs: Vec::new(),
            outputs: Vec::new(),
            patch_constants: Vec::new(),
            facts: StageFacts::default(),
            library: None,
            root_bindings: Vec::new(),
        }
    }
}

/// What a stage declares besides its signatures. A field that does not apply to the stage keeps its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageFacts {
    /// `[numthreads(x, y, z)]` of compute, mesh, amplification and node shaders, in threads.
    pub thread_group_size: Option<[u32; 3]>,
    /// `[WaveSize(min, max, preferred)]` in lanes; `preferred` is 0 if it is not given. The single size of `[WaveSize(n)]` is
    /// all three.
    pub wave_size: Option<[u32; 3]>,
    /// `[earlydepthstencil]`.
    pub early_depth_stencil: bool,
    /// How SV_Depth may differ from the rasterizer's depth, if the pixel shader writes it.
    pub depth_output: Option<DepthOutput>,
    /// The pixel shader runs once per sample.
    pub sample_frequency: bool,
    /// Geometry, hull, domain and mesh shaders.
    pub primitives: PrimitiveFacts,
    /// Bytes of the hit attributes of any-hit, closest-hit and intersection shaders.
    pub attribute_size: Option<u32>,
    /// What becomes of 32-bit denormals in arithmetic.
    #[serde(default)]
    pub denormals: DenormalMode,
    /// Nodes of work graphs.
    #[serde(default)]
    pub node: Option<Box<NodeFacts>>,
}

impl StageFacts {
    /// Threads of a group of a stage that runs in groups: as declared, but of thread nodes, which know no groups,
    /// [`NODE_THREADS`].
    pub fn group_size(&self) -> [u32; 3] {
        match &self.node {
            Some(node) if node.launch == NodeLaunch::Thread => [NODE_THREADS, 1, 1],
            _ => self.thread_group_size.unwrap_or([1; 3]),
        }
    }
}

/// What becomes of 32-bit denormals in arithmetic (`fp32-denorm-mode`, `-denorm` of dxc, Shader Model 6.2). Moves, loads
/// and stores keep them always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DenormalMode {
    /// Whatever the driver likes.
    #[default]
    Any,
    /// They are numbers as others.
    Preserve,
    /// Operands and results are flushed to zero, with their sign.
    FlushToZero,
}

/// How the depth that a pixel shader writes relates to the rasterizer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DepthOutput {
    /// `SV_Depth`.
    Any,
    /// `SV_DepthGreaterEqual`.
    GreaterEqual,
    /// `SV_DepthLessEqual`.
    LessEqual,
}

/// Facts of geometry, tessellation and mesh stages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PrimitiveFacts {
    /// `D3D_PRIMITIVE` of a geometry shader's input.
    pub input_primitive: Option<u32>,
    /// `D3D_PRIMITIVE_TOPOLOGY` of a geometry or mesh shader's output.
    pub output_topology: Option<u32>,
    /// `[maxvertexcount]`, or the vertices of a mesh shader.
    pub max_vertex_count: Option<u32>,
    /// Primitives of a mesh shader.
    pub max_primitive_count: Option<u32>,
    /// `[instance(n)]` of a geometry shader.
    pub instance_count: Option<u32>,
    /// Control points that a hull or domain shader reads.
    pub input_control_points: Option<u32>,
    /// Control points that a hull shader writes.
    pub output_control_points: Option<u32>,
    /// `D3D_TESSELLATOR_DOMAIN`.
    pub tessellator_domain: Option<u32>,
    /// `D3D_TESSELLATOR_PARTITIONING`.
    pub tessellator_partitioning: Option<u32>,
    /// `D3D_TESSELLATOR_OUTPUT_PRIMITIVE`.
    pub tessellator_output: Option<u32>,
    /// `[maxtessfactor]`.
    #[serde(with = "float::option")]
    pub max_tessellation_factor: Option<f32>,
    /// Size in bytes of an amplification or mesh shader's payload, of a ray's, or of a callable shader's parameter.
    pub payload_size: Option<u32>,
}

/// The four register classes, named as the views that fill them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ResourceClass {
    /// Constant buffers, `b#`.
    Cbv,
    /// Shader resources, `t#`.
    Srv,
    /// Unordered-access resources, `u#`.
    Uav,
    /// Samplers, `s#`.
    Sampler,
}

/// One declared resource, or array of resources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// Name in the HLSL, if the container still holds it.
    pub name: Option<String>,
    /// Register class.
    pub class: ResourceClass,
    /// Register space, 0 before Shader Model 5.1.
    pub space: u32,
    /// First register.
    pub register: u32,
    /// Registers it covers; `None` for an unbounded array.
    pub count: Option<u32>,
    /// What is bound there.
    pub kind: ResourceKind,
    /// Fields of a constant buffer, a texture buffer or a structured buffer's element, where known.
    pub layout: Option<BufferLayout>,
}

/// First of the register spaces that stand for descriptor heaps (`ResourceDescriptorHeap[i]`, Shader Model 6.6): each
/// kind of resource that a program takes from a heap is an unbounded array at register 0 of a space of its own.
pub const HEAP_SPACE: u32 = 0xff00;

/// Number of the spaces from [`HEAP_SPACE`] on.
pub const HEAP_SPACES: u32 = 0x100;

impl Binding {
    /// No shader declares it: it holds what Direct3D's runtime keeps for itself and the host of a lifted program supplies, in
    /// [`DRAW_SPACE`], [`NODE_SPACE`] or [`STAGE_SPACE`].
    pub fn is_of_host(&self) -> bool {
        [DRAW_SPACE, NODE_SPACE, STAGE_SPACE].contains(&self.space)
    }

    /// It stands for resources of a descriptor heap, which no root signature binds.
    pub fn is_heap(&self) -> bool {
        (HEAP_SPACE..HEAP_SPACE + HEAP_SPACES).contains(&self.space) && self.count.is_none()
    }
}

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ResourceKind {
    /// A constant buffer.
    ConstantBuffer {
        /// Declared size in bytes, a multiple of 16.
        size: u32,
    },
    /// A sampler.
    Sampler {
        /// How it is used, where the declaration says so.
        mode: SamplerMode,
    },
    /// A texture, as SRV or UAV.
    Texture {
        /// Shape.
        dimension: TextureDimension,
        /// Type of a texel's components.
        component: ComponentType,
        /// Number of components of a texel that the declaration names, 1 to 4.
        components: u8,
        /// Sample count if the declaration names it, 0 otherwise.
        samples: u8,
        /// Qualifiers of UAVs.
        flags: UavFlags,
    },
    /// `Buffer<T>`, `RWBuffer<T>`.
    TypedBuffer {
        /// Type of an element's components.
        component: ComponentType,
        /// Number of components of an element that the declaration names, 1 to 4.
        components: u8,
        /// Qualifiers of UAVs.
        flags: UavFlags,
    },
    /// `ByteAddressBuffer`, `RWByteAddressBuffer`.
    RawBuffer {
        /// Qualifiers of UAVs.
        flags: UavFlags,
    },
    /// `StructuredBuffer<T>`, `RWStructuredBuffer<T>`, `AppendStructuredBuffer<T>`, `ConsumeStructuredBuffer<T>`.
    StructuredBuffer {
        /// Bytes from one element to the next.
        stride: u32,
        /// It has a hidden counter.
        counter: bool,
        /// Qualifiers of UAVs.
        flags: UavFlags,
    },
    /// `tbuffer`: a constant buffer read as a typed buffer of `float4` rows.
    TextureBuffer {
        /// Declared size in bytes.
        size: u32,
    },
    /// `RaytracingAccelerationStructure`.
    AccelerationStructure,
    /// `FeedbackTexture2D`, `FeedbackTexture2DArray`.
    FeedbackTexture {
        /// It is an array.
        arrayed: bool,
        /// What it records of the texture that is sampled.
        feedback: FeedbackKind,
    },
}

/// What a feedback texture records (`DXIL::SamplerFeedbackType`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FeedbackKind {
    /// `SAMPLER_FEEDBACK_MIN_MIP`: of each region, the finest level that was sampled.
    #[default]
    MinMip,
    /// `SAMPLER_FEEDBACK_MIP_REGION_USED`: of each level, the regions that were sampled.
    MipRegionUsed,
}

/// Qualifiers of an unordered-access view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UavFlags {
    /// `globallycoherent`.
    pub globally_coherent: bool,
    /// `RasterizerOrdered*`.
    pub rasterizer_ordered: bool,
}

/// How a sampler is declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SamplerMode {
    /// `SamplerState`.
    #[default]
    Default,
    /// `SamplerComparisonState`.
    Comparison,
    /// Level-9 monochrome filtering.
    Mono,
}

/// Shape of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TextureDimension {
    D1,
    D1Array,
    D2,
    D2Array,
    D2Multisampled,
    D2MultisampledArray,
    D3,
    Cube,
    CubeArray,
}

impl TextureDimension {
    /// It has array layers.
    pub fn is_arrayed(self) -> bool {
        matches!(self, Self::D1Array | Self::D2Array | Self::D2MultisampledArray | Self::CubeArray)
    }

    /// It has several samples.
    pub fn is_multisampled(self) -> bool {
        matches!(self, Self::D2Multisampled | Self::D2MultisampledArray)
    }

    /// Components of a sampling coordinate, without the array layer: 1 to 3.
    pub fn coordinates(self) -> u8 {
        match self {
            Self::D1 | Self::D1Array => 1,
            Self::D2 | Self::D2Array | Self::D2Multisampled | Self::D2MultisampledArray => 2,
            Self::D3 | Self::Cube | Self::CubeArray => 3,
        }
    }
}

/// Type of one component of a signature element, a texel or a field: `D3D_REGISTER_COMPONENT_TYPE` and
/// `DXIL::ComponentType` together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum ComponentType {
    Bool,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
    SnormF16,
    UnormF16,
    SnormF32,
    UnormF32,
    SnormF64,
    UnormF64,
    /// Four or eight packed integers (`PackedS8x32`, `PackedU8x32`).
    Packed8x32,
    /// The declaration does not say, or mixes types.
    Unknown,
}
