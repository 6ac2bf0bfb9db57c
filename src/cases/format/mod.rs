//! The format of execution cases: `*.dxcase.ron`, as serde types. `docs/cases.md` describes it for users.
//!
//! Defaults are those of the types here; unknown fields are errors, so that a misspelt field cannot weaken a case.

mod arguments;
mod resources;
mod steps;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Deserialize;

use super::values::{Data, ElementType};
use crate::lift::ClassChoice;
pub use resources::*;
pub use steps::*;

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
        options().from_str(&arguments::name_leading(text))
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
    /// What fills its interfaces, by name.
    #[serde(default)]
    pub classes: BTreeMap<String, ClassChoice>,
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
    /// Of a texture of several samples, the one that is checked; the average of all if absent.
    #[serde(default)]
    pub sample: Option<u32>,
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

/// Default of fields that count.
fn one() -> u32 {
    1
}

/// Default of switches that are on.
fn yes() -> bool {
    true
}
