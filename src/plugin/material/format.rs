//! The material file, `*.dxmat.ron`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{RenderState, SamplerDescription};
use crate::plugin::constants::{ConstantValue, VectorConvention};

/// Contents of a `.dxmat.ron` file, which is read with RON's `implicit_some`.
///
/// ```ron
/// (
///     vertex: "shaders/lit.vs.dxbc",
///     pixel: "shaders/lit.ps.dxbc",
///     constants: {
///         "WorldViewProj": "WorldViewProjection",    // the engine's value of that name
///         "PerMaterial.Tint": [1.0, 0.8, 0.6, 1.0],  // constant buffer, field
///         "lights[1].range": 3.0,
///     },
///     textures: {
///         "Albedo": "textures/bricks.png",
///         "NormalMap": (path: "textures/bricks_n.png", srgb: false),
///     },
///     samplers: { "Linear": (filter: Linear, address: Repeat) },
///     vertices: { "TEXCOORD1": "Uv1" },
///     state: (cull: Back, blend: Alpha, depth_write: false),
/// )
/// ```
///
/// Every name is a name of the HLSL. Where a container holds none any more, registers name resources: `t0`, `s0`, and
/// `cb0[4]` for the rows of a constant buffer from the fifth on. Everything but the shaders may be left out: what is left
/// out is wired by well-known names ([`crate::plugin::constants::known_name`]), by semantics, and samplers by the static
/// ones of the root signature; what then is still unbound is named in one warning and reads 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaterialFile {
    /// Asset path of the vertex shader, from the asset folder; from the material's own folder if it begins with `./` or `../`.
    pub vertex: String,
    /// Asset path of the pixel shader.
    pub pixel: String,
    /// On which side of a matrix the shaders write a vector.
    pub vectors: VectorConvention,
    /// Constants by name: of a field in any constant buffer of either shader, or with the buffer's name before it.
    pub constants: BTreeMap<String, ConstantValue>,
    /// Textures by name.
    pub textures: BTreeMap<String, TextureFile>,
    /// Samplers by name. What is left out is the static sampler of the shader's root signature, if it has one there.
    pub samplers: BTreeMap<String, SamplerDescription>,
    /// Mesh attributes by semantic and index, as `TEXCOORD1`.
    pub vertices: BTreeMap<String, String>,
    /// State of the pipeline.
    pub state: RenderState,
}

/// A texture of a material file: a path, or a path with settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TextureFile {
    /// Asset path of an image.
    Path(String),
    /// Asset path and how to read it.
    Settings(TextureSettings),
}

/// How to read an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextureSettings {
    /// Asset path of the image.
    pub path: String,
    /// Its colours are sRGB, and sampling makes them linear. Not for normal maps and the like.
    #[serde(default = "yes")]
    pub srgb: bool,
}

fn yes() -> bool {
    true
}

impl TextureFile {
    /// Path and settings.
    pub fn settings(&self) -> TextureSettings {
        match self {
            Self::Path(path) => TextureSettings { path: path.clone(), srgb: true },
            Self::Settings(settings) => settings.clone(),
        }
    }
}

/// RON as this crate's assets write it: fields that may be left out are written bare where they are given.
pub(crate) fn ron_options() -> ron::Options {
    ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::material::{AddressMode, BlendMode, CullMode, DepthCompare, Filter};

    #[test]
    fn reads_the_documented_form() {
        let file: MaterialFile = ron_options()
            .from_str(
                r#"(
                    vertex: "a.vs.dxbc",
                    pixel: "a.ps.dxbc",
                    vectors: Column,
                    constants: { "WorldViewProj": "WorldViewProjection", "lights[1].range": 3.0 },
                    textures: { "A": "a.png", "N": (path: "n.png", srgb: false) },
                    samplers: { "Linear": (filter: Linear, address: Repeat) },
                    vertices: { "TEXCOORD1": "Uv1" },
                    state: (cull: Back, blend: Alpha, depth_write: false, depth_compare: Less),
                )"#,
            )
            .unwrap();
        assert_eq!(file.vectors, VectorConvention::Column);
        assert_eq!(file.textures["A"].settings(), TextureSettings { path: "a.png".into(), srgb: true });
        assert_eq!(file.textures["N"].settings(), TextureSettings { path: "n.png".into(), srgb: false });
        assert_eq!(
            (file.samplers["Linear"].filter, file.samplers["Linear"].address),
            (Filter::Linear, AddressMode::Repeat)
        );
        assert_eq!(file.state.cull, Some(CullMode::Back));
        assert_eq!(file.state.blend, BlendMode::Alpha);
        assert_eq!(file.state.depth_compare, DepthCompare::Less);
        assert!(file.state.depth_test && !file.state.depth_write);
    }

    #[test]
    fn unknown_fields_are_errors() {
        let error = ron_options().from_str::<MaterialFile>(r#"(vertx: "a")"#).unwrap_err();
        assert!(error.to_string().contains("vertx"), "{error}");
        assert_eq!(error.span.start.line, 1);
    }
}
