//! The draw command.

use bevy::{
    ecs::system::{SystemParamItem, lifetimeless::SRes},
    pbr::RenderMeshInstances,
    render::{
        mesh::{RenderMesh, RenderMeshBufferInfo, allocator::MeshAllocator},
        render_asset::RenderAssets,
        render_phase::{CachedRenderPipelinePhaseItem, RenderCommand, RenderCommandResult, TrackedRenderPass},
        view::ExtractedView,
    },
};

use super::{constants::DrawConstants, pipeline::PipelineSlots};

/// Draws one object: pipeline, bind groups, vertices. It draws from vertex 0 and instance 0, so that SV_VertexID and
/// SV_InstanceID are Direct3D's.
pub(super) struct DrawDxMaterial;

impl<P: CachedRenderPipelinePhaseItem> RenderCommand<P> for DrawDxMaterial {
    type Param = (
        SRes<PipelineSlots>,
        SRes<DrawConstants>,
        SRes<RenderAssets<RenderMesh>>,
        SRes<RenderMeshInstances>,
        SRes<MeshAllocator>,
    );
    type ViewQuery = &'static ExtractedView;
    type ItemQuery = ();

    fn render<'w>(
        item: &P,
        view: &'w ExtractedView,
        _: Option<()>,
        (slots, constants, meshes, mesh_instances, allocator): SystemParamItem<'w, '_, Self::Param>,
        pass: &mut TrackedRenderPass<'w>,
    ) -> RenderCommandResult {
        let (slots, constants) = (slots.into_inner(), constants.into_inner());
        let (meshes, mesh_instances, allocator) =
            (meshes.into_inner(), mesh_instances.into_inner(), allocator.into_inner());
        let entity = item.main_entity();
        // A pipeline that is being built, a mesh that is being uploaded: not yet.
        let Some(ready) = slots.ready(item.cached_pipeline()) else { return RenderCommandResult::Skip };
        let draw_key = (ready.generation.id, view.retained_view_entity, entity);
        let Some(draw) = constants.draw(&draw_key) else { return RenderCommandResult::Skip };
        let Some(mesh_id) = mesh_instances.mesh_asset_id(entity) else { return RenderCommandResult::Skip };
        let (Some(mesh), Some(vertices)) = (meshes.get(mesh_id), allocator.mesh_vertex_slice(&mesh_id)) else {
            return RenderCommandResult::Skip;
        };

        pass.set_render_pipeline(&ready.pipeline);
        for (index, (group, offsets)) in draw.groups.iter().zip(&draw.offsets).enumerate() {
            pass.set_bind_group(index, group, offsets);
        }
        if let Some(slot) = ready.mesh_buffer {
            let stride = mesh.layout.0.layout().array_stride;
            let range = u64::from(vertices.range.start) * stride..u64::from(vertices.range.end) * stride;
            pass.set_vertex_buffer(slot, vertices.buffer.slice(range));
        }
        if let Some(slot) = ready.default_buffer {
            let Some(buffer) = constants.default_vertices() else { return RenderCommandResult::Skip };
            pass.set_vertex_buffer(slot, buffer.slice(..));
        }
        match &mesh.buffer_info {
            RenderMeshBufferInfo::Indexed { index_format, count } => {
                let Some(indices) = allocator.mesh_index_slice(&mesh_id) else { return RenderCommandResult::Skip };
                if ready.strip_index_format.is_some_and(|format| format != Some(*index_format)) {
                    return RenderCommandResult::Skip;
                }
                pass.set_index_buffer(indices.buffer.slice(..), *index_format);
                pass.draw_indexed(indices.range.start..indices.range.start + *count, 0, 0..1);
            }
            RenderMeshBufferInfo::NonIndexed => pass.draw(0..vertices.range.end - vertices.range.start, 0..1),
        }
        RenderCommandResult::Success
    }
}
