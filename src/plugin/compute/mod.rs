//! Compute programs: [`DxCompute`] assets, and the entities that run them.

mod format;
mod loader;
mod run;

use std::collections::BTreeMap;

use bevy::{
    platform::collections::HashMap,
    prelude::*,
    render::{render_resource::TextureFormat, storage::ShaderBuffer, sync_world::SyncToRenderWorld},
};

pub use format::{BufferFile, ComputeFile, ComputeRun, ImageFile, NewImage, NumberType};
pub use loader::{DxComputeError, DxComputeLoader};
pub(crate) use run::finish;

use super::{
    bind::{NamedStage, Names, bind_constants, bind_resources, display_name},
    constants::{ConstantBlock, ConstantValue, Frequency, VectorConvention},
    material::{SamplerDescription, bind_static_samplers},
    shader::DxShader,
    status::Resolve,
};
use crate::{
    ir::BindingId,
    reflection::{Binding, ResourceClass, ResourceKind, Stage},
};

/// A compute program: a shader and what is bound to it. Loaded from `.dxcomp.ron` files ([`ComputeFile`] describes them), or
/// made in code.
#[derive(Asset, TypePath, Clone, Debug, Default)]
pub struct DxCompute {
    /// The compute shader.
    #[dependency]
    pub shader: Handle<DxShader>,
    /// On which side of a matrix the shader writes a vector.
    pub vectors: VectorConvention,
    /// Constants by name.
    pub constants: BTreeMap<String, ConstantValue>,
    /// Textures and images by name. Those that are written need `TextureUsages::STORAGE_BINDING`.
    #[dependency]
    pub images: HashMap<String, Handle<Image>>,
    /// Buffers by name.
    #[dependency]
    pub buffers: HashMap<String, Handle<ShaderBuffer>>,
    /// Formats of typed buffers by name.
    pub formats: BTreeMap<String, TextureFormat>,
    /// Buffers that are filled with 0 before each run.
    pub clear: Vec<String>,
    /// Samplers by name. What is left out is the static sampler of the shader's root signature, if it has one there.
    pub samplers: BTreeMap<String, SamplerDescription>,
    /// Thread groups in each direction.
    pub dispatch: UVec3,
    /// When it runs.
    pub run: ComputeRun,
    /// Buffers whose contents are sent back after each run, as [`DxComputeReadback`] to the entity.
    pub readback: Vec<String>,
}

/// Runs a compute program.
#[derive(Component, Clone, Debug, Default, Deref, DerefMut, PartialEq, Eq)]
#[require(SyncToRenderWorld)]
pub struct DxDispatch(pub Handle<DxCompute>);

/// Contents of a buffer after a run of an entity's program. A frame or two lie between.
#[derive(EntityEvent, Clone, Debug)]
pub struct DxComputeReadback {
    /// The entity with the [`DxDispatch`].
    pub entity: Entity,
    /// Name of the buffer.
    pub name: String,
    /// Its bytes.
    pub data: Vec<u8>,
}

impl DxComputeReadback {
    /// The bytes as 32-bit integers.
    pub fn u32s(&self) -> Vec<u32> {
        self.data.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    }

    /// The bytes as 32-bit floats.
    pub fn f32s(&self) -> Vec<f32> {
        self.data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }
}

/// A compute program whose names are all found.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedCompute {
    pub shader: DxShader,
    pub constants: BTreeMap<BindingId, ConstantBlock>,
    pub images: BTreeMap<BindingId, AssetId<Image>>,
    pub buffers: BTreeMap<BindingId, AssetId<ShaderBuffer>>,
    pub formats: BTreeMap<BindingId, TextureFormat>,
    pub samplers: BTreeMap<BindingId, SamplerDescription>,
    pub clear: Vec<AssetId<ShaderBuffer>>,
    pub dispatch: UVec3,
    pub run: ComputeRun,
    pub readback: Vec<(String, AssetId<ShaderBuffer>)>,
}

impl Resolve for DxCompute {
    type Resolved = ResolvedCompute;
    const KIND: &'static str = "compute program";

    fn shaders(&self) -> Vec<(&'static str, &Handle<DxShader>)> {
        vec![("compute", &self.shader)]
    }

    fn images(&self) -> Vec<(&str, &Handle<Image>)> {
        let mut images: Vec<_> = self.images.iter().map(|(name, image)| (name.as_str(), image)).collect();
        images.sort_by_key(|(name, _)| *name);
        images
    }

    fn resolve(&self, shaders: &[&DxShader]) -> Result<(ResolvedCompute, Vec<String>), String> {
        let [shader] = shaders else { return Err("one shader is wanted".to_owned()) };
        let found = shader.program.stage();
        if found != Stage::Compute {
            return Err(format!("its shader is a {found:?} shader"));
        }
        let stages = [NamedStage { prefix: "cs", wired: Frequency::Frame, interface: shader.interface() }];
        let text = |error: super::BindError| error.to_string();
        let constants = bind_constants(&stages, &self.constants, self.vectors).map_err(text)?;
        let mut patches = constants.blocks.iter().flat_map(BTreeMap::values).flat_map(|block| &block.patches);
        if let Some(patch) = patches.find(|patch| patch.value().frequency() > Frequency::Frame) {
            return Err(format!(
                "it wants {}, but a compute program has neither a camera nor an object",
                patch.value()
            ));
        }
        let ids: BTreeMap<_, _> = self.images.iter().map(|(name, handle)| (name, handle.id())).collect();
        let images =
            bind_resources(&stages, "texture", is_texture, ids.iter().map(|(name, id)| (*name, id))).map_err(text)?;
        let ids: BTreeMap<_, _> = self.buffers.iter().map(|(name, handle)| (name, handle.id())).collect();
        let buffers =
            bind_resources(&stages, "buffer", is_buffer, ids.iter().map(|(name, id)| (*name, id))).map_err(text)?;
        let formats = bind_resources(&stages, "buffer", is_buffer, &self.formats).map_err(text)?;
        let is_sampler = |binding: &Binding| binding.class == ResourceClass::Sampler;
        let samplers = bind_resources(&stages, "sampler", is_sampler, &self.samplers).map_err(text)?;
        let mut samplers = samplers.into_iter().next().unwrap_or_default();
        bind_static_samplers(shader.interface(), &mut samplers);
        let buffer_named = |what: &str, name: &String| {
            let missing = || format!("{what} `{name}`, which is none of its buffers");
            self.buffers.get(name).map(Handle::id).ok_or_else(missing)
        };
        let readback = self.readback.iter().map(|name| Ok((name.clone(), buffer_named("it reads back", name)?)));
        let clear = self.clear.iter().map(|name| buffer_named("it clears", name));

        let resolved = ResolvedCompute {
            shader: (*shader).clone(),
            constants: constants.blocks.into_iter().next().unwrap_or_default(),
            images: images.into_iter().next().unwrap_or_default(),
            buffers: buffers.into_iter().next().unwrap_or_default(),
            formats: formats.into_iter().next().unwrap_or_default(),
            samplers,
            clear: clear.collect::<Result<_, String>>()?,
            dispatch: self.dispatch,
            run: self.run,
            readback: readback.collect::<Result<_, String>>()?,
        };
        let mut unbound = Names(constants.unbound);
        for (index, binding) in shader.interface().bindings.iter().enumerate() {
            let id = BindingId(index as u32);
            let bound = matches!(binding.kind, ResourceKind::ConstantBuffer { .. })
                || resolved.images.contains_key(&id)
                || resolved.buffers.contains_key(&id)
                || resolved.samplers.contains_key(&id);
            if !bound {
                unbound.add(&display_name(binding));
            }
        }
        Ok((resolved, unbound.0))
    }
}

fn is_texture(binding: &Binding) -> bool {
    matches!(binding.kind, ResourceKind::Texture { .. })
}

fn is_buffer(binding: &Binding) -> bool {
    matches!(
        binding.kind,
        ResourceKind::TypedBuffer { .. }
            | ResourceKind::RawBuffer { .. }
            | ResourceKind::StructuredBuffer { .. }
            | ResourceKind::TextureBuffer { .. }
    )
}
