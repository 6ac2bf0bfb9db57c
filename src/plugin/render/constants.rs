//! Constants of objects: their bytes for each view, and the bind groups around them.

use bevy::{
    core_pipeline::core_3d::Opaque3d,
    platform::collections::{HashMap, HashSet},
    prelude::*,
    render::{
        render_phase::ViewBinnedRenderPhases,
        render_resource::{BindGroup, Buffer, BufferDescriptor, BufferId, BufferInitDescriptor, BufferUsages},
        renderer::{RenderDevice, RenderQueue},
        sync_world::MainEntity,
        view::{ExtractedView, RetainedViewEntity},
    },
};

use super::{
    extract::{Frame, Instances},
    generation::Linked,
    pipeline::PipelineSlots,
};
use crate::plugin::{
    constants::{EngineFrame, EngineObject, EngineView, Frequency},
    gpu::Gpu,
};

/// An object in a view, drawn with a generation of its material.
type DrawKey = (u64, RetainedViewEntity, MainEntity);

/// What is bound for each draw.
#[derive(Resource, Default)]
pub(super) struct DrawConstants {
    draws: HashMap<DrawKey, Draw>,
    /// Bind groups of generations with dynamic offsets, and the buffer that they were made for.
    groups: HashMap<u64, (Option<BufferId>, [BindGroup; 2])>,
    buffer: Option<Buffer>,
    bytes: Vec<u8>,
    /// 16 bytes of zeros, then four floats of 1.
    default_vertices: Option<Buffer>,
}

/// Bind groups 0 and 1 with their dynamic offsets.
pub(super) struct Draw {
    pub groups: [BindGroup; 2],
    pub offsets: [Vec<u32>; 2],
}

/// Places of a draw's constants in the buffer, before the buffer is there.
struct Placed<'a> {
    key: DrawKey,
    linked: &'a Linked,
    offsets: [Vec<u64>; 2],
}

impl DrawConstants {
    /// What is bound for a draw.
    pub fn draw(&self, key: &DrawKey) -> Option<&Draw> {
        self.draws.get(key)
    }

    /// What vertex inputs without an attribute read, in a buffer of stride 0.
    pub fn default_vertices(&self) -> Option<&Buffer> {
        self.default_vertices.as_ref()
    }

    /// Puts the bytes into the buffer, in a larger one if they have outgrown it.
    fn upload(&mut self, device: &RenderDevice, queue: &RenderQueue) {
        let size = self.bytes.len() as u64;
        if size == 0 {
            return;
        }
        let buffer = match &self.buffer {
            Some(buffer) if buffer.size() >= size => buffer,
            _ => self.buffer.insert(device.create_buffer(&BufferDescriptor {
                label: Some("material constants"),
                size: size.next_power_of_two().max(1 << 16),
                usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })),
        };
        queue.write_buffer(buffer, 0, &self.bytes);
    }
}

/// The values of a view.
fn engine_view(frame: EngineFrame, view: &ExtractedView) -> EngineView {
    let world_from_view = view.world_from_view.to_matrix();
    let view_from_world = world_from_view.inverse();
    EngineView {
        frame,
        view_from_world,
        clip_from_view: view.clip_from_view,
        clip_from_world: view.clip_from_world.unwrap_or(view.clip_from_view * view_from_world),
        world_from_view,
        viewport_size: Vec2::new(view.viewport.z as f32, view.viewport.w as f32),
    }
}

/// Writes the constants of every object that may be drawn, for each view.
#[allow(clippy::too_many_arguments)]
pub(super) fn prepare_constants(
    mut constants: ResMut<DrawConstants>,
    slots: Res<PipelineSlots>,
    instances: Res<Instances>,
    frame: Res<Frame>,
    views: Query<&ExtractedView>,
    phases: Res<ViewBinnedRenderPhases<Opaque3d>>,
    gpu: Res<Gpu>,
    queue: Res<RenderQueue>,
) {
    let constants = &mut *constants;
    constants.draws.clear();
    constants.bytes.clear();
    constants.default_vertices.get_or_insert_with(|| {
        let contents: Vec<u8> =
            [0.0f32, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0].into_iter().flat_map(f32::to_le_bytes).collect();
        let (label, usage) = (Some("default vertices"), BufferUsages::VERTEX);
        gpu.device.create_buffer_with_data(&BufferInitDescriptor { label, contents: &contents, usage })
    });

    let mut drawn = HashSet::new();
    let mut by_material: HashMap<_, Vec<(u64, &Linked)>> = HashMap::new();
    for generation in slots.generations() {
        if drawn.insert(generation.id)
            && let Some(linked) = generation.linked()
        {
            by_material.entry(generation.material).or_default().push((generation.id, linked));
        }
    }
    constants.groups.retain(|id, _| drawn.contains(id));

    let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment.max(16) as usize;
    let mut placed = Vec::new();
    for view in views.iter().filter(|view| phases.contains_key(&view.retained_view_entity)) {
        let engine_view = engine_view(frame.0, view);
        // Buffers whose contents no object changes are written once for each view.
        let mut shared: HashMap<(u64, usize, usize), u64> = HashMap::new();
        for (entity, instance) in &instances.0 {
            let object = EngineObject { view: &engine_view, world_from_local: instance.world_from_local };
            for &(generation, linked) in by_material.get(&instance.material).into_iter().flatten() {
                let mut offsets = [Vec::new(), Vec::new()];
                for (stage, offsets) in offsets.iter_mut().enumerate() {
                    for (index, uniform) in linked.bindings[stage].uniforms.iter().enumerate() {
                        let mut write = || {
                            let start = constants.bytes.len().next_multiple_of(alignment);
                            constants.bytes.resize(start, 0);
                            uniform.block.write(&object, &mut constants.bytes);
                            constants.bytes.resize(start + uniform.size as usize, 0);
                            start as u64
                        };
                        offsets.push(match uniform.block.frequency() {
                            Frequency::Object => write(),
                            _ => *shared.entry((generation, stage, index)).or_insert_with(write),
                        });
                    }
                }
                placed.push(Placed { key: (generation, view.retained_view_entity, *entity), linked, offsets });
            }
        }
    }
    constants.upload(&gpu.device, &queue);

    let buffer = constants.buffer.as_ref();
    let buffer_id = buffer.map(Buffer::id);
    for Placed { key, linked, offsets } in placed {
        let draw = if linked.bindings.iter().all(|bindings| bindings.dynamic) {
            let known = constants.groups.get(&key.0).filter(|(made_for, _)| *made_for == buffer_id);
            let groups =
                known.map(|(_, groups)| groups.clone()).or_else(|| make_groups(&gpu, linked, buffer, &offsets));
            if let Some(groups) = &groups {
                constants.groups.insert(key.0, (buffer_id, groups.clone()));
            }
            // Offsets stay below 4 GiB, as wgpu's buffers do.
            let offsets = offsets.map(|of_stage| of_stage.into_iter().map(|offset| offset as u32).collect());
            groups.map(|groups| Draw { groups, offsets })
        } else {
            make_groups(&gpu, linked, buffer, &offsets).map(|groups| Draw { groups, offsets: default() })
        };
        if let Some(draw) = draw {
            constants.draws.insert(key, draw);
        }
    }
}

fn make_groups(gpu: &Gpu, linked: &Linked, buffer: Option<&Buffer>, offsets: &[Vec<u64>; 2]) -> Option<[BindGroup; 2]> {
    let [vertex, pixel] = &linked.bindings;
    Some([vertex.bind_group(gpu, buffer, &offsets[0])?, pixel.bind_group(gpu, buffer, &offsets[1])?])
}
