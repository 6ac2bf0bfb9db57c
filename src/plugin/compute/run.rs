//! Runs compute programs, and sends back what they wrote.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, mpsc},
};

use bevy::{
    core_pipeline::schedule::camera_driver,
    light::{DirectionalLight, GlobalAmbientLight},
    platform::collections::HashMap,
    prelude::*,
    render::{
        Extract, ExtractSchedule, Render, RenderApp, RenderStartup, RenderSystems,
        render_asset::RenderAssets,
        render_resource::{
            BindGroup, Buffer, BufferDescriptor, BufferInitDescriptor, BufferUsages, ComputePassDescriptor,
            ComputePipeline, MapMode, PipelineCompilationOptions, PipelineLayoutDescriptor,
            RawComputePipelineDescriptor, ShaderStages,
        },
        renderer::{RenderAdapter, RenderContext, RenderDevice, RenderGraph},
        storage::{GpuShaderBuffer, ShaderBuffer},
        texture::GpuImage,
    },
    tasks::{AsyncComputeTaskPool, Task, block_on, futures::check_ready},
};
use tracing::error;

use super::{ComputeRun, DxCompute, DxComputeReadback, DxDispatch, ResolvedCompute};
use crate::{
    ir::BindingId,
    lift::{Register, ResourceSpecialization},
    plugin::{
        constants::{EngineFrame, EngineObject, EngineView},
        gpu::{
            Gpu, StageBindings, StageModule, StageSupply, SuppliedTexture, specializations, storage_format,
            supplied_texture,
        },
        status::{ErrorSender, LastGood, error_channel, report_render_errors},
    },
    reflection::ResourceClass,
};

/// Adds the running of programs to an app whose renderer is there.
pub(crate) fn finish(app: &mut App, synchronous: bool) {
    if app.get_sub_app(RenderApp).is_none() {
        return;
    }
    let (sender, errors) = error_channel::<DxCompute>();
    let (readback_sender, readbacks) = mpsc::channel();
    app.insert_resource(errors)
        .insert_resource(Readbacks(Mutex::new(readbacks)))
        .add_systems(First, (report_render_errors::<DxCompute>, receive_readbacks));
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
    render_app
        .insert_resource(sender)
        .insert_resource(ReadbackSender(readback_sender))
        .insert_resource(Programs { synchronous, ..default() })
        .init_resource::<Runs>()
        .add_systems(RenderStartup, start)
        .add_systems(ExtractSchedule, (extract_programs, extract_runs))
        .add_systems(
            Render,
            (
                (build_programs, prepare_runs).chain().in_set(RenderSystems::PrepareBindGroups),
                map_readbacks.in_set(RenderSystems::Cleanup),
            ),
        )
        .add_systems(RenderGraph, run_programs.before(camera_driver));
}

/// Contents on their way to the main world.
type ReadbackMessage = (Entity, String, Vec<u8>);

#[derive(Resource)]
struct Readbacks(Mutex<mpsc::Receiver<ReadbackMessage>>);

#[derive(Resource)]
struct ReadbackSender(mpsc::Sender<ReadbackMessage>);

/// The programs, as the render world has them.
#[derive(Resource, Default)]
struct Programs {
    map: HashMap<AssetId<DxCompute>, Program>,
    synchronous: bool,
    last_generation: u64,
}

#[derive(Default)]
struct Program {
    resolved: Option<Arc<ResolvedCompute>>,
    outdated: bool,
    building: Option<Task<Result<Ready, String>>>,
    /// What runs: the last good.
    ready: Option<Arc<Ready>>,
}

/// A program that wgpu has accepted.
struct Ready {
    generation: u64,
    resolved: Arc<ResolvedCompute>,
    pipeline: ComputePipeline,
    bindings: StageBindings,
    /// To be filled with 0.
    clear: Vec<Buffer>,
    readback: Vec<(String, Buffer)>,
}

/// What runs in this frame.
#[derive(Resource, Default)]
struct Runs {
    frame: EngineFrame,
    entities: Vec<(Entity, AssetId<DxCompute>)>,
    /// Of entities that ran once: the generation that did.
    done: HashMap<Entity, u64>,
    prepared: Vec<Run>,
    /// Copies to be read once the commands are submitted.
    copies: Vec<(Entity, String, Buffer)>,
}

/// One dispatch.
struct Run {
    entity: Entity,
    program: Arc<Ready>,
    group: BindGroup,
    copies: Vec<(Buffer, Buffer)>,
}

/// The device is new.
fn start(
    mut commands: Commands,
    device: Res<RenderDevice>,
    adapter: Res<RenderAdapter>,
    mut programs: ResMut<Programs>,
    mut runs: ResMut<Runs>,
) {
    for program in programs.map.values_mut() {
        *program = Program { resolved: program.resolved.take(), outdated: true, ..default() };
    }
    *runs = Runs::default();
    commands.insert_resource(Gpu::new(&device, &adapter));
}

fn extract_programs(last_good: Extract<Res<LastGood<DxCompute>>>, mut programs: ResMut<Programs>) {
    programs.map.retain(|id, _| last_good.map.contains_key(id));
    for (id, new) in &last_good.map {
        let program = programs.map.entry(*id).or_default();
        if program.resolved.as_ref().is_none_or(|known| !Arc::ptr_eq(known, new)) {
            program.resolved = Some(new.clone());
            program.outdated = true;
        }
    }
}

fn extract_runs(
    dispatches: Extract<Query<(Entity, &DxDispatch)>>,
    time: Extract<Res<Time>>,
    ambient: Extract<Option<Res<GlobalAmbientLight>>>,
    lights: Extract<Query<(Entity, &DirectionalLight, &GlobalTransform)>>,
    mut runs: ResMut<Runs>,
) {
    runs.frame = EngineFrame::new(&time, ambient.as_deref(), lights.iter());
    runs.entities = dispatches.iter().map(|(entity, dispatch)| (entity, dispatch.id())).collect();
    let Runs { entities, done, .. } = &mut *runs;
    done.retain(|entity, _| entities.iter().any(|(known, _)| known == entity));
}

/// Builds what is outdated, away from the main thread, and takes up what is ready.
fn build_programs(
    mut programs: ResMut<Programs>,
    images: Res<RenderAssets<GpuImage>>,
    buffers: Res<RenderAssets<GpuShaderBuffer>>,
    gpu: Res<Gpu>,
    errors: Res<ErrorSender<DxCompute>>,
) {
    let Programs { map, synchronous, last_generation } = &mut *programs;
    for (id, program) in map {
        if program.outdated
            && let Some(resolved) = program.resolved.clone()
            && let Some(supplied) = Supplied::of(&resolved, &images, &buffers)
        {
            program.outdated = false;
            *last_generation += 1;
            let (gpu, generation) = (gpu.clone(), *last_generation);
            let build = async move { gpu.checked(|| build(&gpu, generation, resolved, &supplied)) };
            program.building = Some(AsyncComputeTaskPool::get().spawn(build));
        }
        let Some(task) = &mut program.building else { continue };
        match if *synchronous { Some(block_on(task)) } else { check_ready(task) } {
            None => continue,
            Some(Ok(ready)) => program.ready = Some(Arc::new(ready)),
            Some(Err(error)) => errors.send(*id, error),
        }
        program.building = None;
    }
}

/// The device's side of what a program binds.
struct Supplied {
    images: BTreeMap<BindingId, SuppliedTexture>,
    buffers: BTreeMap<BindingId, Buffer>,
    clear: Vec<Buffer>,
    readback: Vec<(String, Buffer)>,
}

impl Supplied {
    /// `None` if something is not on the device yet.
    fn of(
        resolved: &ResolvedCompute,
        images: &RenderAssets<GpuImage>,
        buffers: &RenderAssets<GpuShaderBuffer>,
    ) -> Option<Self> {
        let buffer = |id: &AssetId<ShaderBuffer>| Some(buffers.get(*id)?.buffer.clone());
        let of_images =
            resolved.images.iter().map(|(binding, id)| Some((*binding, supplied_texture(images.get(*id)?))));
        let of_buffers = resolved.buffers.iter().map(|(binding, id)| Some((*binding, buffer(id)?)));
        Some(Self {
            images: of_images.collect::<Option<_>>()?,
            buffers: of_buffers.collect::<Option<_>>()?,
            clear: resolved.clear.iter().map(buffer).collect::<Option<_>>()?,
            readback: resolved
                .readback
                .iter()
                .map(|(name, id)| Some((name.clone(), buffer(id)?)))
                .collect::<Option<_>>()?,
        })
    }

    /// What the module must know of the resources.
    fn specializations(&self, gpu: &Gpu, resolved: &ResolvedCompute) -> BTreeMap<Register, ResourceSpecialization> {
        let interface = resolved.shader.interface();
        let mut specializations = specializations(gpu, interface, &self.images, &resolved.samplers);
        for (index, binding) in interface.bindings.iter().enumerate() {
            let id = BindingId(index as u32);
            let Some(known) = specializations.get_mut(&Register::from(binding)) else { continue };
            if let Some(format) = resolved.formats.get(&id) {
                known.format = storage_format(*format);
            }
            // A buffer that is read and written in one dispatch must be declared alike on both sides.
            let asset = resolved.buffers.get(&id);
            let written = |(other, buffer): (&BindingId, &AssetId<ShaderBuffer>)| {
                let other = interface.bindings.get(other.index());
                Some(buffer) == asset && other.is_some_and(|other| other.class == ResourceClass::Uav)
            };
            known.read_write = binding.class == ResourceClass::Srv && resolved.buffers.iter().any(written);
        }
        specializations
    }
}

/// Makes a program. Runs away from the main thread.
fn build(gpu: &Gpu, generation: u64, resolved: Arc<ResolvedCompute>, supplied: &Supplied) -> Result<Ready, String> {
    let specializations = supplied.specializations(gpu, &resolved);
    let module = StageModule::new(gpu, "compute", &resolved.shader.program, 0, specializations, None, 1)?;
    let supply = StageSupply {
        constants: Some(&resolved.constants),
        textures: supplied.images.clone(),
        samplers: Some(&resolved.samplers),
        buffers: supplied.buffers.clone(),
    };
    let interface = resolved.shader.interface();
    let bindings = StageBindings::new(gpu, ShaderStages::COMPUTE, &module.emitted, interface, &supply, false)?;
    let layout = gpu.device.create_pipeline_layout(&PipelineLayoutDescriptor {
        label: Some("compute"),
        bind_group_layouts: &[Some(&*bindings.layout)],
        immediate_size: 0,
    });
    let pipeline = gpu.device.create_compute_pipeline(&RawComputePipelineDescriptor {
        label: Some("compute"),
        layout: Some(&layout),
        module: &module.module,
        entry_point: None,
        compilation_options: PipelineCompilationOptions::default(),
        cache: None,
    });
    bindings.try_out(gpu);
    let (clear, readback) = (supplied.clear.clone(), supplied.readback.clone());
    Ok(Ready { generation, resolved, pipeline, bindings, clear, readback })
}

/// A buffer with the constants that the engine fills in, and their places.
fn write_constants(gpu: &Gpu, bindings: &StageBindings, frame: EngineFrame) -> (Option<Buffer>, Vec<u64>) {
    if bindings.uniforms.is_empty() {
        return (None, Vec::new());
    }
    // A compute program has neither a camera nor an object.
    let view = EngineView {
        frame,
        view_from_world: Mat4::IDENTITY,
        clip_from_view: Mat4::IDENTITY,
        clip_from_world: Mat4::IDENTITY,
        world_from_view: Mat4::IDENTITY,
        viewport_size: Vec2::ONE,
    };
    let object = EngineObject { view: &view, world_from_local: Mat4::IDENTITY };
    let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment.max(16) as usize;
    let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
    for uniform in &bindings.uniforms {
        let start = bytes.len().next_multiple_of(alignment);
        bytes.resize(start, 0);
        uniform.block.write(&object, &mut bytes);
        bytes.resize(start + uniform.size as usize, 0);
        offsets.push(start as u64);
    }
    let (label, usage) = (Some("compute constants"), BufferUsages::UNIFORM);
    let buffer = gpu.device.create_buffer_with_data(&BufferInitDescriptor { label, contents: &bytes, usage });
    (Some(buffer), offsets)
}

fn prepare_runs(programs: Res<Programs>, mut runs: ResMut<Runs>, gpu: Res<Gpu>) {
    let Runs { frame, entities, done, prepared, .. } = &mut *runs;
    prepared.clear();
    for (entity, id) in entities {
        let Some(program) = programs.map.get(id).and_then(|program| program.ready.clone()) else { continue };
        if program.resolved.run == ComputeRun::Once {
            if done.get(entity) == Some(&program.generation) {
                continue;
            }
            done.insert(*entity, program.generation);
        }
        let (constants, offsets) = write_constants(&gpu, &program.bindings, *frame);
        let Some(group) = program.bindings.bind_group(&gpu, constants.as_ref(), &offsets) else { continue };
        let copies = program.readback.iter().map(|(name, buffer)| {
            let copy = gpu.device.create_buffer(&BufferDescriptor {
                label: Some(name),
                size: buffer.size(),
                usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            (buffer.clone(), copy)
        });
        let copies = copies.collect();
        prepared.push(Run { entity: *entity, program, group, copies });
    }
}

fn run_programs(mut context: RenderContext, mut runs: ResMut<Runs>) {
    let Runs { prepared, copies: all_copies, .. } = &mut *runs;
    let encoder = context.command_encoder();
    for Run { entity, program, group, copies } in prepared.drain(..) {
        for buffer in &program.clear {
            encoder.clear_buffer(buffer, 0, None);
        }
        let label = Some("compute program");
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor { label, timestamp_writes: None });
        pass.set_pipeline(&program.pipeline);
        pass.set_bind_group(0, &*group, &[]);
        let UVec3 { x, y, z } = program.resolved.dispatch;
        pass.dispatch_workgroups(x, y, z);
        drop(pass);
        for ((name, _), (from, to)) in program.readback.iter().zip(copies) {
            encoder.copy_buffer_to_buffer(&from, 0, &to, 0, from.size());
            all_copies.push((entity, name.clone(), to));
        }
    }
}

/// Asks for the copies, now that the commands that make them are submitted.
fn map_readbacks(mut runs: ResMut<Runs>, sender: Res<ReadbackSender>) {
    for (entity, name, buffer) in runs.copies.drain(..) {
        let (sender, mapped) = (sender.0.clone(), buffer.clone());
        buffer.slice(..).map_async(MapMode::Read, move |result| match result {
            Ok(()) => {
                let data = mapped.slice(..).get_mapped_range().to_vec();
                mapped.unmap();
                // Nobody listens once the main world is gone.
                let _ = sender.send((entity, name, data));
            }
            Err(error) => error!("buffer `{name}` could not be read back: {error}"),
        });
    }
}

fn receive_readbacks(mut commands: Commands, readbacks: Res<Readbacks>) {
    let Ok(readbacks) = readbacks.0.lock() else { return };
    for (entity, name, data) in readbacks.try_iter() {
        // The entity may be gone by now.
        if commands.get_entity(entity).is_ok() {
            commands.trigger(DxComputeReadback { entity, name, data });
        }
    }
}
