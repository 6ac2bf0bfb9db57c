//! The compute file, `*.dxcomp.ron`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::plugin::{
    constants::{ConstantValue, VectorConvention},
    material::{SamplerDescription, TextureSettings},
};

/// Contents of a `.dxcomp.ron` file, which is read with RON's `implicit_some`.
///
/// ```ron
/// (
///     shader: "./plasma.dxbc",
///     constants: { "Scale": 6.0, "Time": "Time" },
///     images: {
///         "Image": (size: (512, 512), format: "Rgba8Unorm"),    // made, and given as the sub-asset `#Image`
///         "Noise": "textures/noise.png",                        // loaded
///     },
///     buffers: {
///         "Histogram": (size: 64, clear: true),                 // bytes; made, and given as the sub-asset `#Histogram`
///         "Weights": (type: F32, data: [0.25, 0.5, 0.25]),
///     },
///     dispatch: (64, 64, 1),
///     readback: ["Histogram"],
/// )
/// ```
///
/// Every name is a name of the HLSL; registers (`u0`, `t1`) name resources too. What is left out reads 0, its writes are
/// lost, and one warning names it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComputeFile {
    /// Asset path of the compute shader, as in material files.
    pub shader: String,
    /// On which side of a matrix the shader writes a vector.
    pub vectors: VectorConvention,
    /// Constants by name.
    pub constants: BTreeMap<String, ConstantValue>,
    /// Textures and images by name.
    pub images: BTreeMap<String, ImageFile>,
    /// Buffers by name.
    pub buffers: BTreeMap<String, BufferFile>,
    /// Samplers by name. What is left out is the static sampler of the shader's root signature, if it has one there.
    pub samplers: BTreeMap<String, SamplerDescription>,
    /// Thread groups in each direction.
    pub dispatch: (u32, u32, u32),
    /// When it runs.
    pub run: ComputeRun,
    /// Buffers whose contents are sent back after each run.
    pub readback: Vec<String>,
}

/// When a compute program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ComputeRun {
    /// In each frame.
    #[default]
    EveryFrame,
    /// Once for each entity, and again when the program or its shader changes.
    Once,
}

/// An image of a compute file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ImageFile {
    /// Asset path of an image.
    Path(String),
    /// Asset path, and how to read it.
    Settings(TextureSettings),
    /// An image to be made, all 0.
    New(NewImage),
}

/// An image to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewImage {
    /// Width and height in texels.
    pub size: (u32, u32),
    /// Slices of a 3D image, or layers of an array; 1 if it is left out.
    #[serde(default = "one")]
    pub depth: u32,
    /// The third dimension is depth, not layers.
    #[serde(default)]
    pub volume: bool,
    /// Its format, by wgpu's name: `Rgba8Unorm`, `R32Float`, ...
    pub format: String,
}

/// A buffer of a compute file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BufferFile {
    /// Type of the numbers in `data`.
    #[serde(rename = "type")]
    pub ty: NumberType,
    /// Contents at the start.
    pub data: Vec<ConstantValue>,
    /// Bytes; as many as `data` has if it is left out.
    pub size: Option<u64>,
    /// Format of a typed buffer's elements, by wgpu's name.
    pub format: Option<String>,
    /// It is filled with 0 before each run.
    pub clear: bool,
}

/// Type of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum NumberType {
    #[default]
    U32,
    I32,
    F32,
}

fn one() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::material::ron_options;

    #[test]
    fn reads_the_documented_form() {
        let file: ComputeFile = ron_options()
            .from_str(
                r#"(
                    shader: "a.dxbc",
                    images: {
                        "A": (size: (4, 2), format: "Rgba8Unorm"),
                        "B": "b.png",
                        "C": (path: "c.png", srgb: false),
                    },
                    buffers: { "H": (size: 64, clear: true), "W": (type: F32, data: [0.25, 0.5]) },
                    dispatch: (64, 64, 1),
                    run: Once,
                    readback: ["H"],
                )"#,
            )
            .unwrap();
        let ImageFile::New(image) = &file.images["A"] else { panic!("an image to be made") };
        assert_eq!((image.size, image.depth, image.format.as_str()), ((4, 2), 1, "Rgba8Unorm"));
        assert_eq!(file.images["B"], ImageFile::Path("b.png".into()));
        assert!(matches!(&file.images["C"], ImageFile::Settings(settings) if !settings.srgb));
        assert_eq!(file.buffers["H"].size, Some(64));
        assert_eq!((file.buffers["W"].ty, file.buffers["W"].data.len()), (NumberType::F32, 2));
        assert_eq!((file.dispatch, file.run), ((64, 64, 1), ComputeRun::Once));
    }
}
