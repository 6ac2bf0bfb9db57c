//! Pipelines: slots whose contents are compiled away from the main thread, and replaced only by what is valid.

use std::sync::Arc;

use bevy::{
    core_pipeline::core_3d::CORE_3D_DEPTH_FORMAT,
    material::{MaterialProperties, key::ErasedMaterialPipelineKey, specialize::SpecializedMeshPipelineError},
    mesh::MeshVertexBufferLayoutRef,
    pbr::MeshPipelineKey,
    platform::collections::HashMap,
    prelude::*,
    render::render_resource::{
        CachedRenderPipelineId, ColorTargetState, IndexFormat, MultisampleState, PipelineCompilationOptions,
        PolygonMode, PrimitiveState, RawFragmentState, RawRenderPipelineDescriptor, RawVertexBufferLayout,
        RawVertexState, RenderPipeline, VertexAttribute, VertexStepMode,
    },
    tasks::{AsyncComputeTaskPool, Task, block_on, futures::check_ready},
};
use tracing::warn;

use super::{
    Synchronous,
    generation::{Generation, MaterialKey, RenderMaterials},
};
use crate::plugin::{
    gpu::Gpu,
    material::{DxMaterial, VertexInput},
    status::ErrorSender,
};

/// All pipelines. The number of a slot stands for a [`CachedRenderPipelineId`] in Bevy's phases; only our draw command reads
/// it.
#[derive(Resource, Default)]
pub(super) struct PipelineSlots {
    slots: Vec<Option<Slot>>,
    by_key: HashMap<SlotKey, usize>,
}

/// What selects a pipeline of a material.
#[derive(Clone, PartialEq, Eq, Hash)]
struct SlotKey {
    material: AssetId<DxMaterial>,
    mesh_key: MeshPipelineKey,
    layout: MeshVertexBufferLayoutRef,
}

/// One pipeline, now and as it will be.
struct Slot {
    key: SlotKey,
    /// What is drawn.
    ready: Option<Arc<ReadyPipeline>>,
    /// Number of the generation that was asked for last; 0 for none.
    requested: u64,
    building: Option<Building>,
}

struct Building {
    generation: Arc<Generation>,
    task: Task<Result<ReadyPipeline, String>>,
}

/// A pipeline that wgpu has accepted, with the generation it belongs to.
pub(super) struct ReadyPipeline {
    pub pipeline: RenderPipeline,
    pub generation: Arc<Generation>,
    /// Where the mesh's vertices are bound, if they are read.
    pub mesh_buffer: Option<usize>,
    /// Where the default values are bound, if they are read.
    pub default_buffer: Option<usize>,
    /// Of strips, the format of indices that the pipeline was made for.
    pub strip_index_format: Option<Option<IndexFormat>>,
}

impl PipelineSlots {
    /// What is drawn in a slot.
    pub fn ready(&self, id: CachedRenderPipelineId) -> Option<&Arc<ReadyPipeline>> {
        self.slots.get(id.id())?.as_ref()?.ready.as_ref()
    }

    /// The generations that are drawn, one for each slot.
    pub fn generations(&self) -> impl Iterator<Item = &Arc<Generation>> {
        self.slots.iter().flatten().filter_map(|slot| slot.ready.as_ref()).map(|ready| &ready.generation)
    }

    /// Forgets what belonged to another device. Slots keep their numbers: phases hold them.
    pub fn restart(&mut self) {
        for slot in self.slots.iter_mut().flatten() {
            slot.ready = None;
            slot.requested = 0;
            slot.building = None;
        }
    }

    fn slot_for(&mut self, key: SlotKey) -> usize {
        if let Some(index) = self.by_key.get(&key) {
            return *index;
        }
        let slot = Some(Slot { key: key.clone(), ready: None, requested: 0, building: None });
        let index = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        match self.slots.get_mut(index) {
            Some(free) => *free = slot,
            None => self.slots.push(slot),
        }
        self.by_key.insert(key, index);
        index
    }

    /// Frees the slots of a material that is gone.
    fn remove(&mut self, material: AssetId<DxMaterial>) {
        for slot in &mut self.slots {
            if slot.as_ref().is_some_and(|slot| slot.key.material == material) {
                *slot = None;
            }
        }
        self.by_key.retain(|key, _| key.material != material);
    }
}

/// Bevy asks for the pipeline of a mesh in a view: gives the slot. See `bevy_material::specialize::BaseSpecializeFn`.
pub(super) fn specialize(
    world: &mut World,
    key: ErasedMaterialPipelineKey,
    layout: &MeshVertexBufferLayoutRef,
    _: &Arc<MaterialProperties>,
) -> Result<CachedRenderPipelineId, SpecializedMeshPipelineError> {
    let MaterialKey(material) = key.material_key.to_key();
    let key = SlotKey { material, mesh_key: key.mesh_key.downcast(), layout: layout.clone() };
    let materials = world.resource::<RenderMaterials>();
    let generation = materials.map.get(&material).and_then(|material| material.generation.clone());
    let synchronous = world.resource::<Synchronous>().0;
    world.resource_scope(|world, mut slots: Mut<PipelineSlots>| {
        let index = slots.slot_for(key);
        if let (Some(slot), Some(generation)) = (&mut slots.slots[index], generation) {
            slot.request(world.resource::<Gpu>(), &generation);
            slot.advance(world.resource::<ErrorSender<DxMaterial>>(), synchronous);
        }
        Ok(CachedRenderPipelineId::new(index))
    })
}

/// Starts what is to be built, and takes up what is ready.
pub(super) fn advance_pipelines(
    mut slots: ResMut<PipelineSlots>,
    mut materials: ResMut<RenderMaterials>,
    gpu: Res<Gpu>,
    errors: Res<ErrorSender<DxMaterial>>,
    synchronous: Res<Synchronous>,
) {
    for material in std::mem::take(&mut materials.removed) {
        slots.remove(material);
    }
    for slot in slots.slots.iter_mut().flatten() {
        let material = materials.map.get(&slot.key.material);
        if let Some(generation) = material.and_then(|material| material.generation.as_ref()) {
            slot.request(&gpu, generation);
        }
        slot.advance(&errors, synchronous.0);
    }
}

impl Slot {
    /// Starts to build a generation, unless that has been done.
    fn request(&mut self, gpu: &Gpu, generation: &Arc<Generation>) {
        if self.requested == generation.id {
            return;
        }
        self.requested = generation.id;
        let (gpu, key, of) = (gpu.clone(), self.key.clone(), generation.clone());
        let task = AsyncComputeTaskPool::get().spawn(async move { gpu.checked(|| build(&gpu, &key, &of)) });
        // A build that is still going on is of an older generation: nobody waits for it any more.
        self.building = Some(Building { generation: generation.clone(), task });
    }

    /// Takes up a finished build.
    fn advance(&mut self, errors: &ErrorSender<DxMaterial>, wait: bool) {
        let Some(building) = &mut self.building else { return };
        let result = if wait { Some(block_on(&mut building.task)) } else { check_ready(&mut building.task) };
        match result {
            None => return,
            Some(Ok(ready)) => self.ready = Some(Arc::new(ready)),
            // The last good pipeline stays.
            Some(Err(error)) => {
                if building.generation.should_report() {
                    errors.send(building.generation.material, error);
                }
            }
        }
        self.building = None;
    }
}

/// Where a pipeline's vertices come from.
struct VertexSources<'a> {
    from_mesh: Vec<VertexAttribute>,
    defaults: Vec<VertexAttribute>,
    /// Semantics that have an attribute which the mesh lacks.
    missing: Vec<&'a str>,
}

impl<'a> VertexSources<'a> {
    fn new(inputs: &'a [VertexInput], layout: &MeshVertexBufferLayoutRef) -> Self {
        let mut sources = Self { from_mesh: Vec::new(), defaults: Vec::new(), missing: Vec::new() };
        for input in inputs {
            let index = input
                .attribute
                .and_then(|attribute| layout.0.attribute_ids().iter().position(|id| *id == attribute.id));
            match index.and_then(|index| layout.0.layout().attributes.get(index)) {
                Some(attribute) => {
                    sources.from_mesh.push(VertexAttribute { shader_location: input.location, ..*attribute });
                }
                None => {
                    let format = input.default_format();
                    // As `DrawConstants::default_vertices` is laid out.
                    let offset = if input.defaults_to_one() { 16 } else { 0 };
                    sources.defaults.push(VertexAttribute { format, offset, shader_location: input.location });
                    if input.attribute.is_some() {
                        sources.missing.push(&input.semantic);
                    }
                }
            }
        }
        sources
    }
}

/// Makes a pipeline. Runs away from the main thread.
fn build(gpu: &Gpu, key: &SlotKey, generation: &Arc<Generation>) -> Result<ReadyPipeline, String> {
    let samples = key.mesh_key.msaa_samples();
    let linked = generation.link(gpu, samples).as_ref().map_err(|error| error.to_string())?;
    let pixel = generation.pixel_module(gpu, linked, samples)?;
    let state = &generation.resolved.state;
    let sources = VertexSources::new(&generation.resolved.inputs, &key.layout);
    if !sources.missing.is_empty() {
        let names = sources.missing.join(", ");
        warn!(
            "a mesh of material {} lacks what its vertex shader reads as {names}: it reads 0, colours 1",
            generation.material
        );
    }
    let mut buffers = Vec::new();
    let mut add = |attributes: &'_ Vec<VertexAttribute>, array_stride| {
        if attributes.is_empty() {
            return None;
        }
        buffers.push((array_stride, attributes.clone()));
        Some(buffers.len() - 1)
    };
    let mesh_buffer = add(&sources.from_mesh, key.layout.0.layout().array_stride);
    let default_buffer = add(&sources.defaults, 0);
    let buffers: Vec<_> = buffers
        .iter()
        .map(|(array_stride, attributes)| RawVertexBufferLayout {
            array_stride: *array_stride,
            step_mode: VertexStepMode::Vertex,
            attributes,
        })
        .collect();

    let topology = state.primitive_topology().unwrap_or_else(|| key.mesh_key.primitive_topology());
    let strip_index_format = topology.is_strip().then(|| key.mesh_key.strip_index_format());
    let target = ColorTargetState {
        format: key.mesh_key.target_format(),
        blend: state.blend_state(),
        write_mask: generation.resolved.color_writes,
    };
    let pipeline = gpu.device.create_render_pipeline(&RawRenderPipelineDescriptor {
        label: Some("material"),
        layout: Some(&linked.layout),
        vertex: RawVertexState {
            module: &linked.vertex,
            entry_point: None,
            buffers: &buffers,
            compilation_options: PipelineCompilationOptions::default(),
        },
        fragment: Some(RawFragmentState {
            module: &pixel,
            entry_point: None,
            targets: &[Some(target)],
            compilation_options: PipelineCompilationOptions::default(),
        }),
        primitive: PrimitiveState {
            topology,
            strip_index_format: strip_index_format.flatten(),
            front_face: state.front_face(),
            cull_mode: state.cull_face(key.mesh_key.contains(MeshPipelineKey::INVERT_CULLING)),
            unclipped_depth: false,
            polygon_mode: PolygonMode::Fill,
            conservative: false,
        },
        depth_stencil: Some(state.depth_stencil(CORE_3D_DEPTH_FORMAT)),
        multisample: MultisampleState { count: samples, mask: !0, alpha_to_coverage_enabled: state.alpha_to_coverage },
        multiview_mask: None,
        cache: None,
    });
    Ok(ReadyPipeline { pipeline, generation: generation.clone(), mesh_buffer, default_buffer, strip_index_format })
}
