//! Drawing of materials.
//!
//! Bevy keeps its visibility, phases and dirty tracking; everything from the pipeline on is ours:
//!
//! * [`generation`]: each state of a material that resolves is a generation, with its shader modules and bindings;
//! * [`pipeline`]: a slot for each material, view key and mesh layout. Bevy's phases carry the slot's number. What a slot
//!   holds is compiled away from the main thread and replaced only by what wgpu accepts: the last good stays;
//! * [`constants`]: the bytes of constant buffers for each object in each view;
//! * [`draw`]: the draw command.

mod constants;
mod draw;
mod extract;
mod generation;
mod pipeline;

use bevy::{
    asset::AssetEventSystems,
    core_pipeline::core_3d::{Opaque3d, Transparent3d},
    pbr::{EntitiesNeedingSpecialization, MaterialExtractionSystems, RenderMaterialInstances},
    prelude::*,
    render::{
        ExtractSchedule, Render, RenderApp, RenderStartup, RenderSystems,
        camera::DirtySpecializationSystems,
        render_asset::prepare_assets,
        render_phase::AddRenderCommand,
        renderer::{RenderAdapter, RenderDevice},
        texture::GpuImage,
    },
};

use super::{
    gpu::Gpu,
    material::DxMaterial,
    status::{error_channel, report_render_errors},
};
use {
    constants::DrawConstants, draw::DrawDxMaterial, extract::Instances, generation::RenderMaterials,
    pipeline::PipelineSlots,
};

/// Pipelines are built within the frame that needs them.
#[derive(Resource, Clone, Copy, Debug)]
struct Synchronous(bool);

/// Adds drawing to an app whose renderer is there. Called as the app finishes, so that the order of plugins does not matter.
pub(crate) fn finish(app: &mut App, synchronous: bool) {
    if app
        .get_sub_app(RenderApp)
        .is_none_or(|render_app| !render_app.world().contains_resource::<RenderMaterialInstances>())
    {
        // Without a renderer, or without bevy_pbr, nothing is drawn.
        return;
    }
    let (sender, errors) = error_channel::<DxMaterial>();
    app.insert_resource(errors)
        .init_resource::<EntitiesNeedingSpecialization<DxMaterial>>()
        .add_systems(First, report_render_errors::<DxMaterial>)
        .add_systems(PostUpdate, extract::find_changed_entities.after(AssetEventSystems));

    let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
    render_app
        .insert_resource(sender)
        .insert_resource(Synchronous(synchronous))
        .init_resource::<RenderMaterials>()
        .init_resource::<PipelineSlots>()
        .init_resource::<Instances>()
        .init_resource::<DrawConstants>()
        .init_resource::<extract::Frame>()
        .add_render_command::<Opaque3d, DrawDxMaterial>()
        .add_render_command::<Transparent3d, DrawDxMaterial>()
        .add_systems(RenderStartup, start)
        .add_systems(
            ExtractSchedule,
            (
                extract::extract_materials,
                extract::extract_frame,
                extract::extract_instances.in_set(MaterialExtractionSystems),
                extract::extract_changed_entities.in_set(DirtySpecializationSystems::CheckForChanges),
                extract::extract_removed_entities.in_set(DirtySpecializationSystems::CheckForRemovals),
            ),
        )
        .add_systems(
            Render,
            (
                (generation::prepare_materials, pipeline::advance_pipelines)
                    .chain()
                    .in_set(RenderSystems::PrepareAssets)
                    .after(prepare_assets::<GpuImage>),
                constants::prepare_constants.in_set(RenderSystems::PrepareBindGroups),
            ),
        );
}

/// The device is new, at the start or after it was lost: everything is made again.
fn start(
    mut commands: Commands,
    device: Res<RenderDevice>,
    adapter: Res<RenderAdapter>,
    mut materials: ResMut<RenderMaterials>,
    mut slots: ResMut<PipelineSlots>,
    mut constants: ResMut<DrawConstants>,
) {
    materials.restart();
    slots.restart();
    *constants = DrawConstants::default();
    commands.insert_resource(Gpu::new(&device, &adapter));
}
