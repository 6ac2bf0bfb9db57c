//! Generations of materials.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bevy::{
    core_pipeline::core_3d::{Opaque3d, Transparent3d},
    material::{
        MaterialProperties, RenderPhaseType,
        key::{ErasedMaterialKey, ErasedMeshPipelineKey},
    },
    pbr::{
        MainPassOpaqueDrawFunction, MainPassTransparentDrawFunction, MaterialBindingId, MeshPipelineKey,
        PreparedMaterial, RenderMaterialBindings,
    },
    platform::collections::HashMap,
    prelude::*,
    render::{
        camera::DirtySpecializations,
        erased_render_asset::ErasedRenderAssets,
        render_asset::RenderAssets,
        render_phase::DrawFunctions,
        render_resource::{PipelineLayout, PipelineLayoutDescriptor, ShaderModule, ShaderStages},
        texture::GpuImage,
    },
};

use super::{draw::DrawDxMaterial, extract::Instances, pipeline};
use crate::{
    ir::BindingId,
    lift::link,
    plugin::{
        gpu::{
            Gpu, Shared, StageBindings, StageModule, StageSupply, SuppliedTexture, specializations, supplied_texture,
        },
        material::{DxMaterial, ResolvedBindings, ResolvedMaterial},
        shader::DxShader,
    },
};

/// The materials, as the render world has them.
#[derive(Resource, Default)]
pub(super) struct RenderMaterials {
    pub map: HashMap<AssetId<DxMaterial>, RenderMaterial>,
    /// Those that are gone since the last frame.
    pub removed: Vec<AssetId<DxMaterial>>,
    last_generation: u64,
}

/// One material.
#[derive(Default)]
pub(super) struct RenderMaterial {
    /// What the main world made of it last.
    pub resolved: Option<Arc<ResolvedMaterial>>,
    /// The generation is older than that.
    pub outdated: bool,
    /// What pipelines are built of.
    pub generation: Option<Arc<Generation>>,
}

/// Textures of a stage.
type Textures = BTreeMap<BindingId, SuppliedTexture>;

/// One state of a material, with the textures that were there.
pub(super) struct Generation {
    /// Rises with each; the first is 1.
    pub id: u64,
    pub material: AssetId<DxMaterial>,
    pub resolved: Arc<ResolvedMaterial>,
    /// Of the vertex and the pixel shader.
    textures: [Textures; 2],
    linked: OnceLock<Shared<Linked>>,
    reported: AtomicBool,
}

/// Both shaders of a generation on the device.
pub(super) struct Linked {
    pub vertex: ShaderModule,
    /// The pixel shader, by the samples of what it draws to: it may ask for their number.
    pixels: Mutex<BTreeMap<u32, ShaderModule>>,
    /// Bind groups 0 and 1: vertex and pixel shader.
    pub bindings: [StageBindings; 2],
    pub layout: PipelineLayout,
}

/// What [`MaterialProperties::material_key`] holds: the material alone, since slots look the rest up.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct MaterialKey(pub AssetId<DxMaterial>);

impl RenderMaterials {
    /// Forgets what belonged to another device.
    pub fn restart(&mut self) {
        for material in self.map.values_mut() {
            material.generation = None;
            material.outdated = material.resolved.is_some();
        }
    }
}

/// Makes the next generation of each outdated material whose textures are there, and tells Bevy of the material.
#[allow(clippy::too_many_arguments)]
pub(super) fn prepare_materials(
    mut materials: ResMut<RenderMaterials>,
    images: Res<RenderAssets<GpuImage>>,
    opaque: Res<DrawFunctions<Opaque3d>>,
    transparent: Res<DrawFunctions<Transparent3d>>,
    mut prepared: ResMut<ErasedRenderAssets<PreparedMaterial>>,
    mut bindings: ResMut<RenderMaterialBindings>,
    instances: Res<Instances>,
    mut dirty: ResMut<DirtySpecializations>,
) {
    let RenderMaterials { map, removed, last_generation } = &mut *materials;
    for id in removed.iter() {
        prepared.remove(id.untyped());
        bindings.remove(&id.untyped());
    }
    for (id, material) in map.iter_mut().filter(|(_, material)| material.outdated) {
        let Some(resolved) = material.resolved.clone() else { continue };
        let textures = [&resolved.vertex.1, &resolved.pixel.1].map(|bindings| supplied_textures(bindings, &images));
        // A texture is being loaded: until then the generation before goes on.
        let [Some(of_vertex), Some(of_pixel)] = textures else { continue };
        *last_generation += 1;
        let is_transparent = resolved.state.is_transparent();
        material.generation = Some(Arc::new(Generation {
            id: *last_generation,
            material: *id,
            resolved,
            textures: [of_vertex, of_pixel],
            linked: OnceLock::new(),
            reported: AtomicBool::new(false),
        }));
        material.outdated = false;

        let mut properties = MaterialProperties {
            mesh_pipeline_key_bits: ErasedMeshPipelineKey::new(MeshPipelineKey::empty()),
            base_specialize: Some(pipeline::specialize),
            material_key: ErasedMaterialKey::new(MaterialKey(*id)),
            render_phase_type: if is_transparent { RenderPhaseType::Transparent } else { RenderPhaseType::Opaque },
            ..default()
        };
        properties.add_draw_function(MainPassOpaqueDrawFunction, opaque.read().id::<DrawDxMaterial>());
        properties.add_draw_function(MainPassTransparentDrawFunction, transparent.read().id::<DrawDxMaterial>());
        // Meshes get no instance data until their material has an entry here.
        bindings.insert(id.untyped(), MaterialBindingId::default());
        let binding = MaterialBindingId::default();
        prepared.insert(id.untyped(), PreparedMaterial { binding, properties: Arc::new(properties) });
        // The phase may be another now.
        let of_material = instances.0.iter().filter(|(_, instance)| instance.material == *id);
        dirty.changed_renderables.extend(of_material.map(|(entity, _)| *entity));
    }
}

/// The textures of a stage; `None` if one is not on the device yet.
fn supplied_textures(bindings: &ResolvedBindings, images: &RenderAssets<GpuImage>) -> Option<Textures> {
    bindings.textures.iter().map(|(binding, id)| Some((*binding, supplied_texture(images.get(*id)?)))).collect()
}

impl Generation {
    /// Both shaders on the device, made by whoever asks first. To be called in [`Gpu::checked`].
    pub fn link(&self, gpu: &Gpu, samples: u32) -> &Shared<Linked> {
        // Checked by itself: a fault in what all pipelines share must fail each of them, not only the first.
        self.linked.get_or_init(|| gpu.checked(|| self.make_linked(gpu, samples)).map_err(Into::into))
    }

    /// The pixel shader for targets of so many samples. Its bindings do not depend on them.
    ///
    /// # Errors
    /// Names what the device cannot express.
    pub fn pixel_module(&self, gpu: &Gpu, linked: &Linked, samples: u32) -> Result<ShaderModule, String> {
        let mut pixels = linked.pixels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = pixels.get(&samples) {
            return Ok(module.clone());
        }
        let module = gpu.checked(|| self.make_pixel(gpu, samples))?.module;
        pixels.insert(samples, module.clone());
        Ok(module)
    }

    /// Both shaders, if they have been made.
    pub fn linked(&self) -> Option<&Linked> {
        self.linked.get().and_then(|linked| linked.as_ref().ok())
    }

    /// `true` once: an error of a generation is reported once, however many pipelines it fails in.
    pub fn should_report(&self) -> bool {
        !self.reported.swap(true, Ordering::Relaxed)
    }

    fn make_pixel(&self, gpu: &Gpu, samples: u32) -> Result<StageModule, String> {
        let (shader, resolved) = &self.resolved.pixel;
        let known = specializations(gpu, shader.interface(), &self.textures[1], &resolved.samplers);
        StageModule::new(gpu, "pixel", &shader.program, 1, known, None, samples)
            .map_err(|error| format!("its pixel shader: {error}"))
    }

    fn make_linked(&self, gpu: &Gpu, samples: u32) -> Result<Linked, String> {
        let (vertex_shader, vertex_resolved) = &self.resolved.vertex;
        let (pixel_shader, pixel_resolved) = &self.resolved.pixel;
        let inputs = link(&vertex_shader.program, &pixel_shader.program).map_err(|error| error.to_string())?;
        let known = specializations(gpu, vertex_shader.interface(), &self.textures[0], &vertex_resolved.samplers);
        let vertex = StageModule::new(gpu, "vertex", &vertex_shader.program, 0, known, Some(inputs), samples)
            .map_err(|error| format!("its vertex shader: {error}"))?;
        let pixel = self.make_pixel(gpu, samples)?;

        let changing = StageBindings::count_changing(&vertex.emitted, &vertex_resolved.constants)
            + StageBindings::count_changing(&pixel.emitted, &pixel_resolved.constants);
        let dynamic = changing <= gpu.device.limits().max_dynamic_uniform_buffers_per_pipeline_layout as usize;
        let bindings =
            |stage, module: &StageModule, shader: &DxShader, resolved: &ResolvedBindings, textures: &Textures| {
                let supply = StageSupply {
                    constants: Some(&resolved.constants),
                    textures: textures.clone(),
                    samplers: Some(&resolved.samplers),
                    buffers: BTreeMap::new(),
                };
                StageBindings::new(gpu, stage, &module.emitted, shader.interface(), &supply, dynamic)
            };
        let [vertex_textures, pixel_textures] = &self.textures;
        let of_vertex = bindings(ShaderStages::VERTEX, &vertex, vertex_shader, vertex_resolved, vertex_textures)?;
        let of_pixel = bindings(ShaderStages::FRAGMENT, &pixel, pixel_shader, pixel_resolved, pixel_textures)?;
        of_vertex.try_out(gpu);
        of_pixel.try_out(gpu);
        let layout = gpu.device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: Some("material"),
            bind_group_layouts: &[Some(&*of_vertex.layout), Some(&*of_pixel.layout)],
            immediate_size: 0,
        });
        let pixels = Mutex::new(BTreeMap::from([(samples, pixel.module)]));
        Ok(Linked { vertex: vertex.module, pixels, bindings: [of_vertex, of_pixel], layout })
    }
}
