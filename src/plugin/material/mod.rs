//! Materials: [`DxMaterial`] assets, and what they come to with the shaders that they name.

mod format;
mod loader;
mod resolve;
mod sampler;
mod state;
mod vertex;

use std::collections::BTreeMap;

use bevy::{
    asset::AsAssetId,
    platform::collections::HashMap,
    prelude::*,
    render::{batching::NoAutomaticBatching, sync_world::SyncToRenderWorld},
};

pub(crate) use format::ron_options;
pub use format::{MaterialFile, TextureFile, TextureSettings};
pub(crate) use loader::asset_path;
pub use loader::{DxMaterialError, DxMaterialLoader};
pub use resolve::{ResolveError, ResolvedBindings, ResolvedMaterial, resolve};
pub(crate) use sampler::bind_static_samplers;
pub use sampler::{AddressMode, BorderColor, Filter, SamplerCompare, SamplerDescription};
pub use state::{
    Blend, BlendFactorName, BlendMode, BlendOperationName, CullMode, DepthCompare, RenderState, Topology, Winding,
    WriteMaskError,
};
pub use vertex::{VertexInput, VertexKind, attribute_named, attribute_of_semantic};

use super::{
    constants::{ConstantValue, VectorConvention},
    shader::DxShader,
    status::Resolve,
};

/// A material: two shaders and what is bound to them. Loaded from `.dxmat.ron` files ([`MaterialFile`] describes them), or
/// made in code.
#[derive(Asset, TypePath, Clone, Debug, Default)]
pub struct DxMaterial {
    /// The vertex shader.
    #[dependency]
    pub vertex: Handle<DxShader>,
    /// The pixel shader.
    #[dependency]
    pub pixel: Handle<DxShader>,
    /// On which side of a matrix the shaders write a vector.
    pub vectors: VectorConvention,
    /// Constants by name.
    pub constants: BTreeMap<String, ConstantValue>,
    /// Textures by name.
    #[dependency]
    pub textures: HashMap<String, Handle<Image>>,
    /// Samplers by name. What is left out is the static sampler of the shader's root signature, if it has one there.
    pub samplers: BTreeMap<String, SamplerDescription>,
    /// Mesh attributes by semantic and index.
    pub vertices: BTreeMap<String, String>,
    /// State of the pipeline.
    pub state: RenderState,
}

/// Draws the entity's [`Mesh3d`] with a [`DxMaterial`].
#[derive(Component, Clone, Debug, Default, Deref, DerefMut, PartialEq, Eq)]
#[require(NoAutomaticBatching, SyncToRenderWorld)]
pub struct DxMaterial3d(pub Handle<DxMaterial>);

impl AsAssetId for DxMaterial3d {
    type Asset = DxMaterial;

    fn as_asset_id(&self) -> AssetId<DxMaterial> {
        self.0.id()
    }
}

impl Resolve for DxMaterial {
    type Resolved = ResolvedMaterial;
    const KIND: &'static str = "material";

    fn shaders(&self) -> Vec<(&'static str, &Handle<DxShader>)> {
        vec![("vertex", &self.vertex), ("pixel", &self.pixel)]
    }

    fn images(&self) -> Vec<(&str, &Handle<Image>)> {
        let mut images: Vec<_> = self.textures.iter().map(|(name, image)| (name.as_str(), image)).collect();
        images.sort_by_key(|(name, _)| *name);
        images
    }

    fn resolve(&self, shaders: &[&DxShader]) -> Result<(ResolvedMaterial, Vec<String>), String> {
        let [vertex, pixel] = shaders else { return Err("two shaders are wanted".to_owned()) };
        let resolved = resolve(self, vertex, pixel).map_err(|error| error.to_string())?;
        let unbound = resolved.unbound.clone();
        Ok((resolved, unbound))
    }
}
