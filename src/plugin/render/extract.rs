//! From the main world to the render world: materials, the frame's values, and the entities that are drawn.

use std::sync::Arc;

use bevy::{
    camera::visibility::ViewVisibility,
    light::{DirectionalLight, GlobalAmbientLight},
    pbr::{EntitiesNeedingSpecialization, RenderMaterialInstance, RenderMaterialInstances},
    prelude::*,
    render::{
        Extract,
        camera::DirtySpecializations,
        sync_world::{MainEntity, MainEntityHashMap},
    },
};

use super::generation::RenderMaterials;
use crate::plugin::{
    constants::EngineFrame,
    material::{DxMaterial, DxMaterial3d},
    status::LastGood,
};

/// The entities that are visible somewhere and have a material.
#[derive(Resource, Default)]
pub(super) struct Instances(pub MainEntityHashMap<Instance>);

/// One of them.
pub(super) struct Instance {
    pub material: AssetId<DxMaterial>,
    pub world_from_local: Mat4,
}

/// The frame's values.
#[derive(Resource, Default)]
pub(super) struct Frame(pub EngineFrame);

pub(super) fn extract_materials(resolved: Extract<Res<LastGood<DxMaterial>>>, mut materials: ResMut<RenderMaterials>) {
    for (id, new) in &resolved.map {
        let material = materials.map.entry(*id).or_default();
        if material.resolved.as_ref().is_none_or(|known| !Arc::ptr_eq(known, new)) {
            material.resolved = Some(new.clone());
            material.outdated = true;
        }
    }
    let RenderMaterials { map, removed, .. } = &mut *materials;
    map.retain(|id, _| {
        let kept = resolved.map.contains_key(id);
        if !kept {
            removed.push(*id);
        }
        kept
    });
}

pub(super) fn extract_frame(
    time: Extract<Res<Time>>,
    ambient: Extract<Option<Res<GlobalAmbientLight>>>,
    lights: Extract<Query<(Entity, &DirectionalLight, &GlobalTransform)>>,
    mut frame: ResMut<Frame>,
) {
    frame.0 = EngineFrame::new(&time, ambient.as_deref(), lights.iter());
}

impl EngineFrame {
    /// The values of a frame, from the main world.
    pub(crate) fn new<'a>(
        time: &Time,
        ambient: Option<&GlobalAmbientLight>,
        lights: impl Iterator<Item = (Entity, &'a DirectionalLight, &'a GlobalTransform)>,
    ) -> Self {
        let linear = |color: Color| {
            let color = color.to_linear();
            Vec3::new(color.red, color.green, color.blue)
        };
        let default = Self::default();
        // The one that was made first, so that it is the same in each frame.
        let light = lights.min_by_key(|(entity, ..)| *entity);
        Self {
            time: time.elapsed_secs_wrapped(),
            delta_time: time.delta_secs(),
            light_direction: light.map_or(default.light_direction, |(_, _, transform)| transform.forward().as_vec3()),
            light_color: light.map_or(default.light_color, |(_, light, _)| linear(light.color)),
            ambient_color: ambient.map_or(default.ambient_color, |ambient| linear(ambient.color)),
        }
    }
}

pub(super) fn extract_instances(
    mut material_instances: ResMut<RenderMaterialInstances>,
    mut instances: ResMut<Instances>,
    query: Extract<Query<(Entity, &ViewVisibility, &DxMaterial3d, &GlobalTransform)>>,
) {
    let tick = material_instances.current_change_tick;
    let before = std::mem::take(&mut instances.0);
    for (entity, visibility, material, transform) in &query {
        if !visibility.get() {
            continue;
        }
        let entity = MainEntity::from(entity);
        let asset_id = material.id().untyped();
        material_instances.instances.insert(entity, RenderMaterialInstance { asset_id, last_change_tick: tick });
        instances.0.insert(entity, Instance { material: material.id(), world_from_local: transform.to_matrix() });
    }
    for (entity, instance) in before {
        // Another kind of material may have taken the entity over.
        let entry = material_instances.instances.get(&entity);
        let is_ours = entry.is_some_and(|entry| entry.asset_id == instance.material.untyped());
        if is_ours && !instances.0.contains_key(&entity) {
            material_instances.instances.remove(&entity);
        }
    }
}

/// Finds the entities whose pipeline may be another from now on.
#[allow(clippy::type_complexity)]
pub(super) fn find_changed_entities(
    changed: Query<Entity, (Or<(Changed<Mesh3d>, AssetChanged<Mesh3d>, Changed<DxMaterial3d>)>, With<DxMaterial3d>)>,
    mut needing: ResMut<EntitiesNeedingSpecialization<DxMaterial>>,
    mut removed_meshes: RemovedComponents<Mesh3d>,
    mut removed_materials: RemovedComponents<DxMaterial3d>,
) {
    needing.changed.clear();
    needing.removed.clear();
    needing.changed.extend(&changed);
    needing.removed.extend(removed_meshes.read().chain(removed_materials.read()));
}

pub(super) fn extract_changed_entities(
    needing: Extract<Res<EntitiesNeedingSpecialization<DxMaterial>>>,
    mut dirty: ResMut<DirtySpecializations>,
) {
    dirty.changed_renderables.extend(needing.changed.iter().map(|entity| MainEntity::from(*entity)));
}

pub(super) fn extract_removed_entities(
    needing: Extract<Res<EntitiesNeedingSpecialization<DxMaterial>>>,
    mut dirty: ResMut<DirtySpecializations>,
) {
    dirty.removed_renderables.extend(needing.removed.iter().map(|entity| MainEntity::from(*entity)));
}
