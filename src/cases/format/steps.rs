//! What a case runs.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor},
};

use super::{Compare, Shader, one, options, yes};

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

/// Adds to a draw's own fields those of what it draws to, which all kinds of draws have. (serde's `flatten` would take unknown fields.)
macro_rules! with_attachments {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$field_about:meta])* pub $field:ident: $ty:ty,)* }) => {
        $(#[$about])*
        pub struct $name {
            $($(#[$field_about])* pub $field: $ty,)*
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
        }
    };
}

with_attachments! {
    /// A draw.
    #[derive(Clone, Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Draw {
        /// Number of vertices, or of indices.
        pub vertices: u32,
        /// Number of instances.
        #[serde(default = "one")]
        pub instances: u32,
        /// `StartVertexLocation` (`BaseVertexLocation` with indices) and `StartInstanceLocation`.
        #[serde(default)]
        pub start: (u32, u32),
        /// How vertices form primitives.
        #[serde(default)]
        pub topology: Topology,
        /// Vertex attributes.
        #[serde(default)]
        pub inputs: Vec<VertexInput>,
        /// Name of the index buffer, of type `U16` or `U32`.
        #[serde(default)]
        pub indices: Option<String>,
        /// Number of control points of a patch.
        #[serde(default)]
        pub patch_control_points: Option<u32>,
    }
}

fn less_equal() -> Compare {
    Compare::LessEqual
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

with_attachments! {
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
    }
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
