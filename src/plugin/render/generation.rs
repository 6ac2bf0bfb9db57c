//! Generations of materials.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
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
    lift::{Register, ResourceSpecialization, link},
    plugin::{
        gpu::{Gpu, Shared, StageBindings, StageModule, StageSupply, SuppliedTexture, supplied_texture},
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
    pub pixel: ShaderModule,
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
    pub fn link(&self, gpu: &Gpu) -> &Shared<Linked> {
        // Checked by itself: a fault in what all pipelines share must fail each of them, not only the first.
        self.linked.get_or_init(|| gpu.checked(|| self.make_linked(gpu)).map_err(Into::into))
    }

    /// Both shaders, if they have been made.
    pub fn linked(&self) -> Option<&Linked> {
        self.linked.get().and_then(|linked| linked.as_ref().ok())
    }

    /// `true` once: an error of a generation is reported once, however many pipelines it fails in.
    pub fn should_report(&self) -> bool {
        !self.reported.swap(true, Ordering::Relaxed)
    }

    fn make_linked(&self, gpu: &Gpu) -> Result<Linked, String> {
        let (vertex_shader, vertex_resolved) = &self.resolved.vertex;
        let (pixel_shader, pixel_resolved) = &self.resolved.pixel;
        let inputs = link(&vertex_shader.program, &pixel_shader.program).map_err(|error| error.to_string())?;
        let module = |group, shader: &DxShader, inputs| {
            let stage = ["vertex", "pixel"][group as usize];
            let specializations = specializations(gpu, shader, &self.textures[group as usize]);
            StageModule::new(gpu, stage, &shader.program, group, specializations, inputs)
                .map_err(|error| format!("its {stage} shader: {error}"))
        };
        let vertex = module(0, vertex_shader, Some(inputs))?;
        let pixel = module(1, pixel_shader, None)?;

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
        Ok(Linked { vertex: vertex.module, pixel: pixel.module, bindings: [of_vertex, of_pixel], layout })
    }
}

/// What the module must know of the bound textures.
fn specializations(gpu: &Gpu, shader: &DxShader, textures: &Textures) -> BTreeMap<Register, ResourceSpecialization> {
    let mut specializations = BTreeMap::new();
    for (id, texture) in textures {
        let Some(binding) = shader.interface().bindings.get(id.index()) else { continue };
        let format = texture.texture.format();
        let depth = format.has_depth_aspect();
        let unfilterable = !depth && !gpu.is_filterable(format);
        specializations
            .insert(Register::from(binding), ResourceSpecialization { depth, unfilterable, ..Default::default() });
    }
    specializations
}
