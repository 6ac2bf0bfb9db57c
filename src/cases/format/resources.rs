//! Resources of a case, and where they are bound.

use serde::Deserialize;

use super::one;
use crate::cases::values::{ElementType, Number};

/// A buffer: its elements, or how many of one value.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Type of the elements.
    #[serde(rename = "type")]
    pub ty: ElementType,
    /// The elements.
    #[serde(default)]
    pub data: Option<Vec<Number>>,
    /// The value of every element, with `count`.
    #[serde(default)]
    pub fill: Option<Number>,
    /// Number of elements, with `fill`.
    #[serde(default)]
    pub count: Option<u32>,
}

/// Shape of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum TextureShape {
    D1,
    D2,
    D3,
    Cube,
}

/// A texture.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texture {
    /// Its shape.
    pub dimension: TextureShape,
    /// Its format, as `wgpu::TextureFormat` names it.
    pub format: String,
    /// Width, height, and depth of a 3D texture or else the number of layers (6 for each cube), in texels.
    pub size: (u32, u32, u32),
    /// Number of mips.
    #[serde(default = "one")]
    pub mips: u32,
    /// Number of samples.
    #[serde(default = "one")]
    pub samples: u32,
    /// Type of the numbers in `data` and in expectations; by default that of the format's components.
    #[serde(default, rename = "type")]
    pub ty: Option<ElementType>,
    /// The texels as stored: layer after layer, in each its mips from the largest, in each mip its slices and rows.
    /// Zeros if absent.
    #[serde(default)]
    pub data: Option<Vec<Number>>,
}

/// A sampler.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sampler {
    /// Minification filter.
    pub min: Filter,
    /// Magnification filter.
    pub mag: Filter,
    /// Filter between mips.
    pub mip: Filter,
    /// Address modes of the three coordinates.
    pub address: (Address, Address, Address),
    /// Comparison, for comparison samplers.
    pub compare: Option<Compare>,
    /// Smallest and largest level of detail.
    pub lod: LodRange,
    /// Largest anisotropy; 1 for none.
    pub anisotropy: Anisotropy,
    /// Colour outside the texture, for [`Address::ClampToBorder`].
    pub border: Border,
}

/// Smallest and largest level of detail of a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct LodRange(pub f32, pub f32);

impl Default for LodRange {
    fn default() -> Self {
        Self(0.0, 32.0)
    }
}

/// Largest anisotropy of a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Anisotropy(pub u16);

impl Default for Anisotropy {
    fn default() -> Self {
        Self(1)
    }
}

/// A filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Filter {
    #[default]
    Nearest,
    Linear,
}

/// What a coordinate outside of the texture means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Address {
    #[default]
    ClampToEdge,
    Repeat,
    MirrorRepeat,
    ClampToBorder,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Compare {
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Always,
}

/// A border colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Border {
    #[default]
    TransparentBlack,
    OpaqueBlack,
    OpaqueWhite,
}

/// An acceleration structure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Accel {
    pub instances: Vec<AccelInstance>,
}

/// One instance of an acceleration structure: triangles, or boxes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccelInstance {
    /// Name of the buffer of vertices, of type `F32`: three for each.
    #[serde(default)]
    pub triangles: Option<String>,
    /// Name of the buffer of boxes, of type `F32`: six numbers for each.
    #[serde(default)]
    pub aabbs: Option<String>,
    /// Name of the buffer of indices, of type `U16` or `U32`.
    #[serde(default)]
    pub indices: Option<String>,
    /// The triangles are opaque (`D3D12_RAYTRACING_GEOMETRY_FLAG_OPAQUE`).
    #[serde(default)]
    pub opaque: bool,
    /// More geometries, after that of `triangles` if there is one.
    #[serde(default)]
    pub geometries: Vec<AccelGeometry>,
    /// From the object to the world: three rows of four numbers; the identity if absent.
    #[serde(default)]
    pub transform: Option<Vec<f32>>,
    /// `InstanceID`, of 24 bits.
    #[serde(default)]
    pub id: u32,
    /// Rays see the instance whose masks have a bit in common with it; of 8 bits.
    #[serde(default = "all_bits")]
    pub mask: u32,
    /// `D3D12_RAYTRACING_INSTANCE_FLAGS`.
    #[serde(default)]
    pub flags: u32,
}

/// One geometry of several of an instance.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccelGeometry {
    /// As in [`AccelInstance`].
    pub triangles: String,
    /// As in [`AccelInstance`].
    #[serde(default)]
    pub indices: Option<String>,
    /// As in [`AccelInstance`].
    #[serde(default)]
    pub opaque: bool,
}

fn all_bits() -> u32 {
    255
}

/// Class of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Class {
    Cbv,
    Srv,
    Uav,
    Sampler,
}

/// What is bound to a register, or to consecutive registers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Class of the register.
    pub class: Class,
    /// The first register.
    pub register: u32,
    /// Its space.
    #[serde(default)]
    pub space: u32,
    /// How the resource is seen. Samplers have none.
    #[serde(default)]
    pub view: Option<View>,
    /// Names of resources, one for each register; an empty name leaves its register unbound.
    pub of: Vec<String>,
    /// Of a buffer, the first element and the number of elements that the view shows: constants (16 bytes), words of a
    /// raw view, structures, or texels.
    #[serde(default)]
    pub range: Option<(u32, u32)>,
    /// Name of the buffer that holds a structured buffer's counter.
    #[serde(default)]
    pub counter: Option<String>,
}

/// How a resource is seen.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum View {
    /// A constant buffer.
    Constant,
    /// A raw buffer.
    Raw,
    /// A structured buffer.
    Structured {
        /// Bytes from one element to the next.
        stride: u32,
    },
    /// A typed buffer.
    Typed {
        /// Its format, as `wgpu::TextureFormat` names it.
        format: String,
    },
    /// A texture.
    Texture {
        /// Its format, if it is not the texture's.
        #[serde(default)]
        format: Option<String>,
        /// First mip and number of mips.
        #[serde(default)]
        mips: Option<(u32, u32)>,
        /// First layer and number of layers.
        #[serde(default)]
        layers: Option<(u32, u32)>,
    },
    /// An acceleration structure.
    Accel,
}
