//! What a module is emitted for: everything that Direct3D decides when resources are bound, and wgpu wants in the module.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::reflection::{Binding, Interpolation, ResourceClass, SignatureElement, Stage};

/// Where and how a program will run. The default serves tools: every capability but that of ray tracing pipelines,
/// resources as the program declares them, bindings [`BindingModel::ByClass`].
#[derive(Clone, Debug)]
pub struct Target {
    /// Where each register goes.
    pub binding_model: BindingModel,
    /// What the device's shaders may use. Without [`FLOAT64`](naga::valid::Capabilities::FLOAT64),
    /// [`SHADER_INT64`](naga::valid::Capabilities::SHADER_INT64) or
    /// [`SHADER_FLOAT16`](naga::valid::Capabilities::SHADER_FLOAT16) these types are lowered to others.
    ///
    /// With [`RAY_TRACING_PIPELINE`](naga::valid::Capabilities::RAY_TRACING_PIPELINE), ray generation, miss, closest-hit and
    /// any-hit shaders become stages of naga's where naga can say what they do, otherwise functions. Of naga 29's writers only
    /// that of WGSL has these stages: the others panic.
    pub capabilities: naga::valid::Capabilities,
    /// What is known of bound resources, by register of the binding's first element.
    pub resources: BTreeMap<Register, ResourceSpecialization>,
    /// For a vertex or mesh shader: what its pixel shader reads; for a pixel shader after a mesh shader: the same. Without it every output is passed on as it is declared.
    pub pixel_inputs: Option<PixelInputs>,
    /// For a pixel shader: kinds of the render targets' components by slot; targets beyond are as declared.
    pub render_targets: Vec<Option<TargetKind>>,
    /// For a pixel shader: there is a depth attachment, so that a depth output may be kept.
    pub depth_attachment: bool,
    /// For a pixel shader: samples of the render targets.
    pub samples: u32,
    /// The one entry point to emit, by name, as `main`; `None` for all.
    pub entry: Option<String>,
}

impl Target {
    /// What is known of the resource of a binding: nothing, if [`Target::resources`] does not have it.
    pub(crate) fn known(&self, binding: &Binding) -> ResourceSpecialization {
        self.resources.get(&Register::from(binding)).copied().unwrap_or_default()
    }
}

impl Default for Target {
    fn default() -> Self {
        Self {
            binding_model: BindingModel::default(),
            capabilities: naga::valid::Capabilities::all() - naga::valid::Capabilities::RAY_TRACING_PIPELINE,
            resources: BTreeMap::new(),
            pixel_inputs: None,
            render_targets: Vec::new(),
            depth_attachment: true,
            samples: 1,
            entry: None,
        }
    }
}

/// A register of a class and space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Register {
    /// Class.
    pub class: ResourceClass,
    /// Space.
    pub space: u32,
    /// Number.
    pub register: u32,
}

impl From<&Binding> for Register {
    fn from(binding: &Binding) -> Self {
        Self { class: binding.class, space: binding.space, register: binding.register }
    }
}

/// What is known of one bound resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourceSpecialization {
    /// The texture has a depth format.
    pub depth: bool,
    /// The texture has none: naga compares with depth textures alone, so comparisons are made in the shader. They need
    /// [`ResourceSpecialization::comparison`] of their samplers.
    pub color: bool,
    /// How the sampler compares.
    pub comparison: Option<Comparison>,
    /// The texture's format cannot be filtered, or the sampler does not filter.
    pub unfilterable: bool,
    /// The texture's format has no alpha: loads out of range give 0 for the components of the format, but the default for
    /// the others, as loads within do (`ld` in "Shader Model 4 Assembly"); of those, only alpha's is not 0. Of an array of
    /// bindings, one texture's.
    pub without_alpha: bool,
    /// Format of a typed buffer or of an unordered-access texture.
    pub format: Option<naga::StorageFormat>,
    /// Samples of a multisampled unordered-access texture, where the program does not declare them; 0 if they are not known.
    pub samples: u32,
    /// The buffer is bound as an unordered-access view of the same program too: declare it read-write.
    pub read_write: bool,
    /// Number of bound elements of an unbounded array; 0 if it is not known.
    pub count: u32,
}

/// How a sampler compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Comparison {
    /// What must hold between the reference and a texel.
    pub function: CompareFunction,
    /// Results of neighbouring texels are mixed.
    pub linear: bool,
}

/// `D3D12_COMPARISON_FUNC`: what must hold between the reference and a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum CompareFunction {
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Always,
}

/// Kind of a render target's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TargetKind {
    /// Float, normalized or sRGB.
    Float,
    /// Signed integers.
    Sint,
    /// Unsigned integers.
    Uint,
}

/// What a pixel shader reads from the stage before it: the vertex shader is emitted for this. See [`super::link`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PixelInputs {
    /// Registers, by location.
    pub registers: BTreeMap<u32, PixelInputRegister>,
    /// The pixel shader's input signature: system values (clip distances) are matched by it.
    pub elements: Vec<SignatureElement>,
    /// After a mesh shader: registers with elements that are given for each primitive. They travel at locations of their
    /// own, see [`PixelInputs::primitive_location`], as Direct3D packs both kinds into one register.
    pub primitive_registers: BTreeMap<u32, PixelInputRegister>,
    /// The elements in these.
    pub primitive_elements: Vec<SignatureElement>,
}

impl PixelInputs {
    /// Location of a register of what is given for each primitive: after those of the vertices, one after another.
    pub fn primitive_location(&self, register: u32) -> Option<u32> {
        let rank = self.primitive_registers.keys().position(|&other| other == register)?;
        let free = self.registers.keys().next_back().map_or(0, |last| last.saturating_add(1));
        free.checked_add(rank as u32)
    }

    /// The element of the pixel shader is given for each primitive.
    pub(super) fn is_primitive(&self, element: &SignatureElement) -> bool {
        self.primitive_elements.contains(element)
    }
}

/// One register that a pixel shader reads: always four components, at the location of the register's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelInputRegister {
    /// How it is interpolated; [`Interpolation::Constant`] registers travel as `vec4<u32>`, all others as `vec4<f32>`.
    pub interpolation: Interpolation,
}

/// Where each register goes: group and binding numbers of the naga module.
#[derive(Clone, Default)]
pub enum BindingModel {
    /// Group 0 constant buffers, 1 textures and buffers, 2 samplers, 3 unordered-access views, 4 their counters;
    /// binding = register + 65,536 * space, and 32,768 more for the comparing twin of a sampler, 16,384 for the one that does
    /// not filter. Spaces that do not fit are numbered from 61,440 on; resources whose register does not fit, or that have
    /// none (in libraries), are numbered in space 64,511, by their order in the interface. For tools, and for people who
    /// port by hand.
    #[default]
    ByClass,
    /// All of a stage in one group, densely numbered: constant buffers, shader resources, samplers, unordered-access
    /// views, counters, each by space and register.
    PerStage {
        /// The group.
        group: u32,
        /// The group of arrays of resources: wgpu has none beside uniform buffers. It may be the same.
        arrays: u32,
    },
    /// Anything else.
    Custom(Arc<BindingFn>),
}

/// Chooses the place of a binding.
pub type BindingFn = dyn Fn(Stage, &Binding, BindingRole) -> ResourceSlot + Send + Sync;

impl fmt::Debug for BindingModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByClass => f.write_str("ByClass"),
            Self::PerStage { group, arrays } => {
                f.debug_struct("PerStage").field("group", group).field("arrays", arrays).finish()
            }
            Self::Custom(_) => f.write_str("Custom(..)"),
        }
    }
}

/// One binding of Direct3D can need several in the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BindingRole {
    /// The resource itself.
    Resource,
    /// A sampler's twin for comparisons, where the program uses one sampler both ways.
    ComparisonSampler,
    /// A sampler's twin that does not filter, for textures that cannot be filtered, where the program uses it with others
    /// too. Direct3D lets such textures go with any sampler: integers are gathered without filtering.
    UnfilteredSampler,
    /// Counter of a structured buffer: a storage buffer of one `u32`.
    Counter,
}

/// A place among the module's bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResourceSlot {
    /// Bind group.
    pub group: u32,
    /// Binding in it.
    pub binding: u32,
}

/// A naga module and what must be bound to it.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The module: valid under the target's capabilities.
    pub module: naga::Module,
    /// Its resources, in the order of their slots. Resources that the emitted entry points do not use are absent.
    pub resources: Vec<EmittedResource>,
    /// The immediate constant buffers' contents and the like: resources that the lift itself makes.
    pub notes: Vec<super::Note>,
}

/// One resource of an emitted module.
#[derive(Clone, Debug, PartialEq)]
pub struct EmittedResource {
    /// Index into the interface's bindings.
    pub binding: crate::ir::BindingId,
    /// What it is for.
    pub role: BindingRole,
    /// Where it is.
    pub slot: ResourceSlot,
    /// What the module declares there, and a bind group layout must.
    pub ty: EmittedType,
    /// Number of elements of a binding array, 0 if it is unbounded; `None` if it is none.
    pub count: Option<u32>,
}

/// What a module declares at a slot, in the terms of a bind group layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EmittedType {
    /// Uniform buffer: bind at least this many bytes.
    Uniform {
        /// Bytes, a multiple of 16.
        size: u32,
    },
    /// Storage buffer, of any size that is a positive multiple of its elements'. Arrays of constant buffers are such too.
    Storage {
        /// The module only reads it.
        read_only: bool,
        /// Bytes of an element of the array that the module declares: 4 for a `u32`; 8 for a 64-bit integer, where the program
        /// has atomic operations on such; the size of a state ([`crate::reflection::StageStateLayout`]).
        element: u32,
    },
    /// Sampled texture.
    Texture {
        /// Shape of the view.
        dimension: ViewDimension,
        /// Its components.
        sample: TextureSample,
        /// Several samples.
        multisampled: bool,
    },
    /// Storage texture.
    StorageTexture {
        /// Shape of the view.
        dimension: ViewDimension,
        /// Format.
        format: naga::StorageFormat,
        /// Access.
        access: naga::StorageAccess,
        /// The program's texture has several samples, which naga's storage textures cannot have: so many for each layer of the
        /// program's, [`UNKNOWN_SAMPLES`] if the program has no layers and does not say how many. The view's layers are these
        /// samples, those of the first layer first; they are copied in before and out after. 0 of other textures.
        samples: u32,
    },
    /// Storage buffer that stands for a texture, of which the program wants what atomic operations found: the texels are
    /// copied in before and out after. First [`TEXEL_BUFFER_HEADER`] bytes that begin with four `u32`s: width, height,
    /// depth or number of layers, and words of a row; then the rows, as copies between textures and buffers have them (a
    /// row takes a multiple of 256 bytes, a slice or layer as many rows as the texture is high). A buffer of zeros in the
    /// header stands for no texture. Words are 32 bits, also where a texel takes two.
    TexelBuffer {
        /// Shape of the texture's view.
        dimension: ViewDimension,
        /// Format of the texture: of one integer, of 32 or 64 bits; `Rg32Uint` holds the words of one of 64.
        format: naga::StorageFormat,
    },
    /// Sampler.
    Sampler {
        /// How it goes with textures.
        kind: SamplerKind,
    },
    /// Acceleration structure.
    AccelerationStructure,
}

/// How a sampler goes with textures, as `wgpu::SamplerBindingType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SamplerKind {
    /// It may filter.
    Filtering,
    /// It must not filter, whatever Direct3D's does: it goes with textures that cannot be filtered.
    NonFiltering,
    /// It compares.
    Comparison,
}

/// Samples of an [`EmittedType::StorageTexture`] of which it is not known how many there are: as many as the view has layers.
pub const UNKNOWN_SAMPLES: u32 = u32::MAX;

/// Bytes before the texels of an [`EmittedType::TexelBuffer`].
pub const TEXEL_BUFFER_HEADER: u32 = 256;

/// Shape of a texture view, as `wgpu::TextureViewDimension`. Direct3D's 1D textures are [`ViewDimension::D2`] of height 1
/// (and their arrays [`ViewDimension::D2Array`]): WebGPU's have neither mips nor layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ViewDimension {
    D2,
    D2Array,
    Cube,
    CubeArray,
    D3,
}

/// Components of a sampled texture, as `wgpu::TextureSampleType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TextureSample {
    Float { filterable: bool },
    Depth,
    Sint,
    Uint,
}
