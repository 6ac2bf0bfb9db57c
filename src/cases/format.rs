//! The format of execution cases: `*.dxcase.ron`, as serde types. `docs/cases.md` describes it for users.
//!
//! Defaults are those of the types here; unknown fields are errors, so that a misspelt field cannot weaken a case.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor},
};

use super::values::{Data, ElementType, Number};

/// One case: resources, shaders, what to run, and what must be in the resources afterwards.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What the case is about, shown when it fails.
    #[serde(default)]
    pub about: Option<String>,
    /// Names of `wgpu::Features` flags that it needs; on a device without one it is skipped.
    #[serde(default)]
    pub requires: Vec<String>,
    /// The subgroup size, in lanes, for which the case holds; on a device of another it is skipped.
    #[serde(default)]
    pub wave: Option<u32>,
    /// The shaders of all steps that do not name their own.
    #[serde(default)]
    pub shaders: Vec<Shader>,
    /// Buffers by name.
    #[serde(default)]
    pub buffers: BTreeMap<String, Buffer>,
    /// Textures by name.
    #[serde(default)]
    pub textures: BTreeMap<String, Texture>,
    /// Samplers by name.
    #[serde(default)]
    pub samplers: BTreeMap<String, Sampler>,
    /// Acceleration structures by name.
    #[serde(default)]
    pub accels: BTreeMap<String, Accel>,
    /// What is bound to which register.
    #[serde(default)]
    pub bindings: Vec<Binding>,
    /// What to run.
    pub run: Steps,
    /// What must be in the resources afterwards. A case without expectations fails.
    #[serde(default)]
    pub expect: Vec<Expectation>,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// Says where the text is not RON, or not a case.
    pub fn parse(text: &str) -> Result<Self, ron::error::SpannedError> {
        options().from_str(&name_leading_arguments(text))
    }
}

/// How all parts of a case are read.
fn options() -> ron::Options {
    ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
}

/// Stages that a case can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[allow(missing_docs)]
pub enum ShaderStage {
    Vertex,
    Hull,
    Domain,
    Geometry,
    Pixel,
    Compute,
    Amplification,
    Mesh,
    Library,
}

/// A shader: one entry point of a container.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shader {
    /// Its stage.
    pub stage: ShaderStage,
    /// File name of the container, relative to the case.
    pub file: String,
    /// The entry point, for libraries.
    #[serde(default)]
    pub entry: Option<String>,
}

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

fn one() -> u32 {
    1
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
#[allow(missing_docs)]
pub struct AccelInstance {
    #[serde(default)]
    pub triangles: Option<String>,
    #[serde(default)]
    pub aabbs: Option<String>,
    #[serde(default)]
    pub indices: Option<String>,
    #[serde(default)]
    pub transform: Option<Vec<f32>>,
    #[serde(default)]
    pub id: u32,
    #[serde(default = "all_bits")]
    pub mask: u32,
    #[serde(default)]
    pub flags: u32,
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

/// What to run: one step, or several in order over the same resources.
#[derive(Clone, Debug)]
pub struct Steps(pub Vec<Step>);

impl<'de> Deserialize<'de> for Steps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // An untagged enum would lose the variants' names, so the text itself decides. Comments may come first.
        let raw = Box::<ron::value::RawValue>::deserialize(deserializer)?;
        let text = raw.trim().get_ron();
        let steps = if text.starts_with('[') {
            options().from_str::<Vec<Step>>(text)
        } else {
            options().from_str::<Step>(text).map(|step| vec![step])
        };
        steps.map(Self).map_err(|error| de::Error::custom(format!("in `run`: {error}")))
    }
}

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// Runs a compute shader on so many thread groups.
    Dispatch(u32, u32, u32),
    /// Draws with a vertex shader, or a longer pipeline that begins with one.
    Draw(Box<Draw>),
    /// Draws with mesh shaders.
    DrawMesh(Box<DrawMesh>),
    /// Traces rays.
    Rays(Box<Rays>),
    /// A step with shaders of its own.
    With(With),
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Names of the variants.
        #[derive(Deserialize)]
        enum Name {
            Dispatch,
            Draw,
            DrawMesh,
            Rays,
            With,
        }

        struct StepVisitor;

        impl<'de> Visitor<'de> for StepVisitor {
            type Value = Step;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a step: Dispatch, Draw, DrawMesh, Rays or With")
            }

            fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Step, A::Error> {
                let (name, variant) = access.variant()?;
                Ok(match name {
                    Name::Dispatch => {
                        let (x, y, z) = variant.tuple_variant(3, Inner(PhantomData))?;
                        Step::Dispatch(x, y, z)
                    }
                    Name::Draw => Step::Draw(variant.struct_variant(&[], Inner(PhantomData))?),
                    Name::DrawMesh => Step::DrawMesh(variant.struct_variant(&[], Inner(PhantomData))?),
                    Name::Rays => Step::Rays(variant.struct_variant(&[], Inner(PhantomData))?),
                    Name::With => Step::With(variant.struct_variant(&[], Inner(PhantomData))?),
                })
            }
        }

        /// What stands in a variant's parentheses, as a type of its own.
        struct Inner<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Inner<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the arguments of a step")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
                T::deserialize(de::value::SeqAccessDeserializer::new(seq))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_enum("Step", &["Dispatch", "Draw", "DrawMesh", "Rays", "With"], StepVisitor)
    }
}

/// A draw.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// Number of vertices, or of indices.
    pub vertices: u32,
    /// Number of instances.
    #[serde(default = "one")]
    pub instances: u32,
    /// How vertices form primitives.
    #[serde(default)]
    pub topology: Topology,
    /// Vertex attributes.
    #[serde(default)]
    pub inputs: Vec<VertexInput>,
    /// Name of the index buffer, of type `U16` or `U32`.
    #[serde(default)]
    pub indices: Option<String>,
    /// Names of the render targets by slot; an empty name is a hole.
    #[serde(default)]
    pub targets: Vec<String>,
    /// Name of the depth texture.
    #[serde(default)]
    pub depth: Option<String>,
    /// Depth test.
    #[serde(default = "less_equal")]
    pub depth_compare: Compare,
    /// Depth is written.
    #[serde(default = "yes")]
    pub depth_write: bool,
    /// The depth texture is cleared to this first.
    #[serde(default = "one_f32")]
    pub depth_clear: f32,
    /// The targets are cleared to these first; zeros for those that the list leaves out.
    #[serde(default)]
    pub clear: Vec<(f64, f64, f64, f64)>,
    /// The viewport; the whole target if absent.
    #[serde(default)]
    pub viewport: Option<Viewport>,
    /// Which faces are culled.
    #[serde(default)]
    pub cull: Option<Face>,
    /// Winding of front faces.
    #[serde(default)]
    pub front: Winding,
    /// Number of control points of a patch.
    #[serde(default)]
    pub patch_control_points: Option<u32>,
}

fn less_equal() -> Compare {
    Compare::LessEqual
}

fn yes() -> bool {
    true
}

fn one_f32() -> f32 {
    1.0
}

/// How vertices form primitives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Topology {
    PointList,
    LineList,
    LineStrip,
    #[default]
    TriangleList,
    TriangleStrip,
    LineListAdj,
    LineStripAdj,
    TriangleListAdj,
    TriangleStripAdj,
    PatchList,
}

/// One vertex attribute.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VertexInput {
    /// Semantic name; case does not matter.
    pub semantic: String,
    /// Semantic index.
    #[serde(default)]
    pub index: u32,
    /// Name of the buffer.
    pub buffer: String,
    /// Format, as `wgpu::VertexFormat` names it.
    pub format: String,
    /// Bytes from the beginning of a vertex.
    #[serde(default)]
    pub offset: u64,
    /// Bytes from one vertex to the next; by default those of the format.
    #[serde(default)]
    pub stride: Option<u64>,
    /// It advances by instance, not by vertex.
    #[serde(default)]
    pub per_instance: bool,
}

/// A viewport in pixels: `(x, y, width, height)`, or with the depth range too:
/// `(x, y, width, height, min_depth, max_depth)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Left edge.
    pub x: f32,
    /// Upper edge.
    pub y: f32,
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
    /// Depth of clip-space z 0.
    pub min_depth: f32,
    /// Depth of clip-space z 1.
    pub max_depth: f32,
}

impl<'de> Deserialize<'de> for Viewport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ViewportVisitor;

        impl<'de> Visitor<'de> for ViewportVisitor {
            type Value = Viewport;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("4 or 6 numbers: x, y, width, height, min_depth, max_depth")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Viewport, A::Error> {
                let mut numbers = Vec::with_capacity(6);
                while let Some(number) = seq.next_element::<f32>()? {
                    numbers.push(number);
                }
                let (x, y, width, height, min_depth, max_depth) = match numbers[..] {
                    [x, y, width, height] => (x, y, width, height, 0.0, 1.0),
                    [x, y, width, height, min_depth, max_depth] => (x, y, width, height, min_depth, max_depth),
                    _ => return Err(de::Error::invalid_length(numbers.len(), &self)),
                };
                Ok(Viewport { x, y, width, height, min_depth, max_depth })
            }
        }

        deserializer.deserialize_any(ViewportVisitor)
    }
}

/// A face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Face {
    Front,
    Back,
}

/// A winding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Winding {
    #[default]
    Clockwise,
    CounterClockwise,
}

/// A draw with mesh shaders. A case writes `DrawMesh(x, y, z, targets: [..])`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawMesh {
    /// Thread groups in x.
    pub x: u32,
    /// Thread groups in y.
    pub y: u32,
    /// Thread groups in z.
    pub z: u32,
    /// As in [`Draw`].
    #[serde(default)]
    pub targets: Vec<String>,
    /// As in [`Draw`].
    #[serde(default)]
    pub depth: Option<String>,
    /// As in [`Draw`].
    #[serde(default = "less_equal")]
    pub depth_compare: Compare,
    /// As in [`Draw`].
    #[serde(default = "yes")]
    pub depth_write: bool,
    /// As in [`Draw`].
    #[serde(default = "one_f32")]
    pub depth_clear: f32,
    /// As in [`Draw`].
    #[serde(default)]
    pub clear: Vec<(f64, f64, f64, f64)>,
    /// As in [`Draw`].
    #[serde(default)]
    pub viewport: Option<Viewport>,
    /// As in [`Draw`].
    #[serde(default)]
    pub cull: Option<Face>,
    /// As in [`Draw`].
    #[serde(default)]
    pub front: Winding,
}

/// Rays of a ray tracing pipeline. A case writes `Rays(width, height, depth, tables: ..)`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Rays {
    pub width: u32,
    pub height: u32,
    pub depth: u32,
    pub tables: RayTables,
    /// Bytes of the largest payload.
    #[serde(default)]
    pub payload: u32,
    /// Deepest recursion.
    #[serde(default = "one")]
    pub recursion: u32,
}

/// Shader tables, by entry point.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RayTables {
    pub raygen: String,
    #[serde(default)]
    pub miss: Vec<String>,
    #[serde(default)]
    pub hit_groups: Vec<HitGroup>,
    #[serde(default)]
    pub callable: Vec<String>,
}

/// One hit group, by entry point.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct HitGroup {
    #[serde(default)]
    pub closest: Option<String>,
    #[serde(default)]
    pub any: Option<String>,
    #[serde(default)]
    pub intersection: Option<String>,
}

/// A step with shaders of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct With {
    /// The shaders.
    pub shaders: Vec<Shader>,
    /// The step, or steps.
    pub run: Steps,
}

/// What must be in a resource after the last step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Name of a buffer or a texture.
    pub of: String,
    /// Of a texture, the mip.
    #[serde(default)]
    pub mip: u32,
    /// Of a texture, the layer.
    #[serde(default)]
    pub layer: u32,
    /// The first element that is checked.
    #[serde(default)]
    pub from: usize,
    /// What the elements must be: a list for each alternative, of which there is one unless the rule is
    /// [`Rule::OneOf`].
    pub values: Data,
    /// How they are compared.
    #[serde(default)]
    pub rule: Rule,
    /// Type that the elements are read as, if not the resource's.
    #[serde(default, rename = "as")]
    pub read_as: Option<ElementType>,
}

/// How elements are compared. Any NaN equals any NaN in all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub enum Rule {
    /// Bit for bit.
    #[default]
    Exact,
    /// Within so many units in the last place; -0.0 equals 0.0.
    Ulp(u32),
    /// Within a distance.
    Abs(f64),
    /// Within a distance relative to the expected value.
    Rel(f64),
    /// Bit for bit one of several lists.
    OneOf,
}

/// Gives the leading numbers of `DrawMesh(x, y, z, ..)` and `Rays(width, height, depth, ..)` their field names: RON
/// has no tuples that go over into named fields.
fn name_leading_arguments(text: &str) -> String {
    const VARIANTS: [(&str, [&str; 3]); 2] = [("DrawMesh", ["x", "y", "z"]), ("Rays", ["width", "height", "depth"])];
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if first.is_alphabetic() || first == '_' => {
                let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let (word, after) = rest.split_at(length);
                let names = VARIANTS.iter().find(|(variant, _)| *variant == word).map(|(_, names)| names);
                if let Some(names) = names
                    && let Some(arguments) = after.trim_start().strip_prefix('(')
                    && arguments.trim_start().starts_with(|c: char| c.is_ascii_digit())
                {
                    out.push_str(word);
                    out.push('(');
                    rest = arguments;
                    for name in names {
                        let trimmed = rest.trim_start();
                        if !trimmed.starts_with(|c: char| c.is_ascii_digit()) {
                            break;
                        }
                        let end = trimmed
                            .find([',', ')'])
                            .map_or(trimmed.len(), |end| if trimmed[end..].starts_with(',') { end + 1 } else { end });
                        out.push_str(name);
                        out.push_str(": ");
                        out.push_str(&trimmed[..end]);
                        out.push(' ');
                        rest = &trimmed[end..];
                    }
                    continue;
                }
                length
            }
            _ => first.len_utf8(),
        };
        out.push_str(&rest[..skipped]);
        rest = &rest[skipped..];
    }
    out
}

/// Bytes of the string literal that `text` begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return index + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_example() {
        let case = Case::parse(
            r#"(
            about: "clamp on int4 and float4",
            requires: ["SHADER_F16"],
            wave: 8,
            shaders: [(stage: Compute, file: "clamp.dxil", entry: Some("main"))],
            buffers: {
                "In0":  (type: I32, data: [100, 90, 0, 8]),
                "Out0": (type: I32, fill: 0, count: 4),
                "Args": (type: F32, data: [1.5, NaN, inf, -inf, -0.0]),
                "Raw":  (type: U32, data: [0x7fc00001, 0x80000000]),
            },
            textures: {
                "Tex": (dimension: D2, format: "Rgba8Unorm", size: (4, 4, 1), mips: 1, samples: 1, type: U8, data: [/* .. */]),
                "Rt":  (dimension: D2, format: "Rgba32Float", size: (4, 1, 1)),
            },
            samplers: {
                "Lin": (min: Linear, mag: Linear, mip: Nearest, address: (Repeat, Repeat, ClampToEdge), compare: None,
                        lod: (0.0, 32.0), anisotropy: 1, border: TransparentBlack),
            },
            accels: { "Scene": (instances: [(triangles: "Verts", indices: None, transform: [1, 0], id: 0, mask: 255, flags: 0)]) },
            bindings: [
                (class: Srv, register: 0, space: 0, view: Structured(stride: 16), of: ["In0"]),
                (class: Uav, register: 0, view: Raw, of: ["Out0"], counter: Some("Count")),
                (class: Srv, register: 1, view: Typed(format: "Rgba32Float"), of: ["Args"], range: Some((0, 4))),
                (class: Srv, register: 3, view: Typed(format: "Rgba32Float"), of: ["Args"], range: (0, 4)),
                (class: Cbv, register: 0, view: Constant, of: ["Args"]),
                (class: Srv, register: 2, view: Texture(format: None, mips: None, layers: (1, 2)), of: ["Tex"]),
                (class: Sampler, register: 0, of: ["Lin"]),
                (class: Srv, register: 8, of: ["A", "", "C"], view: Texture()),
                (class: Srv, register: 9, of: ["Scene"], view: Accel),
            ],
            run: Dispatch(1, 1, 1),
            expect: [
                (of: "Out0", values: [0, 0, 0, 8], rule: Exact),
                (of: "Out1", from: 4, values: [0.1, NaN], rule: Ulp(2), as: U32),
                (of: "Out1", values: [[1], [2]], rule: OneOf),
            ],
        )"#,
        )
        .unwrap();
        assert_eq!(case.wave, Some(8));
        let args = case.buffers["Args"].data.as_ref().unwrap();
        assert!(matches!(args[1], Number::Float(value) if value.is_nan()));
        assert!(matches!(args[3], Number::Float(f64::NEG_INFINITY)));
        assert!(matches!(args[4], Number::Float(value) if value == 0.0 && value.is_sign_negative()));
        assert!(matches!(case.buffers["Raw"].data.as_ref().unwrap()[0], Number::Integer(0x7fc0_0001)));
        assert_eq!(case.bindings[3].range, Some((0, 4)));
        assert!(matches!(case.bindings[5].view, Some(View::Texture { layers: Some((1, 2)), mips: None, .. })));
        assert!(matches!(case.run.0[..], [Step::Dispatch(1, 1, 1)]));
        assert_eq!(case.expect[1].rule, Rule::Ulp(2));
        assert_eq!(case.expect[2].values.0.len(), 2);
    }

    #[test]
    fn all_steps() {
        let case = Case::parse(
            r#"(run: [
                // A comment with "DrawMesh(1, 2, 3)".
                Draw(vertices: 3, instances: 1, topology: TriangleList,
                     inputs: [(semantic: "POSITION", index: 0, buffer: "Verts", format: "Float32x3", offset: 0, stride: 12, per_instance: false)],
                     indices: Some("Idx"), targets: ["Rt", ""], depth: None, depth_compare: LessEqual, depth_write: true,
                     depth_clear: 1.0, clear: [(0, 0, 0, 0)], viewport: (0, 0, 4, 4), cull: Back, front: CounterClockwise, patch_control_points: None),
                DrawMesh(1, 2, 3, targets: ["Rt"]),
                Rays(4, 5, 6, tables: (raygen: "r", miss: ["m"], hit_groups: [(closest: "c", any: "a", intersection: None)], callable: []), payload: 16, recursion: 1),
                With(shaders: [(stage: Compute, file: "a.dxbc")], run: [Dispatch(1, 2, 3), Dispatch(4, 5, 6)]),
            ])"#,
        )
        .unwrap();
        let [Step::Draw(draw), Step::DrawMesh(mesh), Step::Rays(rays), Step::With(with)] = &case.run.0[..] else {
            panic!("{:?}", case.run)
        };
        assert_eq!(draw.viewport.map(|viewport| viewport.max_depth), Some(1.0));
        assert_eq!((mesh.x, mesh.y, mesh.z, mesh.targets.len()), (1, 2, 3, 1));
        assert_eq!((rays.width, rays.depth, rays.payload), (4, 6, 16));
        assert!(matches!(with.run.0[..], [Step::Dispatch(..), Step::Dispatch(4, 5, 6)]));
    }

    #[test]
    fn unknown_fields_are_errors() {
        assert!(Case::parse("(run: Dispatch(1, 1, 1), exptect: [])").is_err());
        assert!(Case::parse("(run: Draw(vertices: 3, vertexes: 3))").is_err());
        assert!(Case::parse(r#"(run: Dispatch(1, 1, 1), buffers: { "A": (type: F32, dat: []) })"#).is_err());
        assert!(
            Case::parse(
                r#"(run: Dispatch(1, 1, 1), bindings: [(class: Srv, register: 0, view: Texture(mip: 1), of: [])])"#
            )
            .is_err()
        );
    }
}
