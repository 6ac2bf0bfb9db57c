//! Whether materials are ready, and if not, why: resolves them whenever they or their shaders change.

use std::sync::{Arc, Mutex, mpsc};

use bevy::{
    asset::{AssetLoadFailedEvent, LoadState},
    platform::collections::{HashMap, HashSet},
    prelude::*,
};
use tracing::{error, warn};

use super::{DxMaterial, ResolvedMaterial, resolve};
use crate::plugin::shader::DxShader;

/// State of a material.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DxMaterialStatus {
    /// Its file, or a shader, is being loaded.
    #[default]
    Loading,
    /// It fits its shaders. What nothing is bound to is listed.
    Ready {
        /// Names of what is unbound.
        unbound: Vec<String>,
    },
    /// It cannot be drawn as it is now; names the file and the reason. The last good state goes on being drawn.
    Failed {
        /// The error.
        error: String,
    },
}

/// States of all materials that are loaded or loading.
#[derive(Resource, Debug, Default)]
pub struct DxMaterialStatuses {
    map: HashMap<AssetId<DxMaterial>, DxMaterialStatus>,
}

impl DxMaterialStatuses {
    /// State of a material.
    pub fn get(&self, id: impl Into<AssetId<DxMaterial>>) -> DxMaterialStatus {
        self.map.get(&id.into()).cloned().unwrap_or_default()
    }
}

/// Is sent when the state of a material changes.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub struct DxMaterialStatusChanged {
    /// The material.
    pub id: AssetId<DxMaterial>,
    /// Its file; empty if it was made in code.
    pub path: String,
    /// The new state.
    pub status: DxMaterialStatus,
}

/// The last good state of each material: what the renderer draws.
#[derive(Resource, Debug, Default)]
pub(crate) struct ResolvedMaterials {
    pub map: HashMap<AssetId<DxMaterial>, Arc<ResolvedMaterial>>,
}

/// Errors that the renderer finds, on their way to the main world.
#[derive(Resource)]
pub(crate) struct RenderErrors(pub Mutex<mpsc::Receiver<(AssetId<DxMaterial>, String)>>);

/// Sets a state; logs and sends it if it is new.
fn set_status(
    id: AssetId<DxMaterial>,
    status: DxMaterialStatus,
    server: &AssetServer,
    statuses: &mut DxMaterialStatuses,
    changes: &mut MessageWriter<DxMaterialStatusChanged>,
) {
    if statuses.map.get(&id) == Some(&status) {
        return;
    }
    let path = server.get_path(id).map(|path| path.to_string()).unwrap_or_default();
    match &status {
        DxMaterialStatus::Loading => {}
        DxMaterialStatus::Failed { error } => error!("{error}"),
        DxMaterialStatus::Ready { unbound } if unbound.is_empty() => {}
        DxMaterialStatus::Ready { unbound } => {
            warn!("material {}: nothing is bound to {}: they read 0", name_of(id, server), unbound.join(", "));
        }
    }
    statuses.map.insert(id, status.clone());
    changes.write(DxMaterialStatusChanged { id, path, status });
}

/// Name of a material in messages.
fn name_of(id: AssetId<DxMaterial>, server: &AssetServer) -> String {
    match server.get_path(id) {
        Some(path) => format!("`{path}`"),
        None => id.to_string(),
    }
}

/// Resolves every material that changed, or whose shaders or textures did.
#[allow(clippy::too_many_arguments)]
pub(crate) fn resolve_materials(
    mut material_events: MessageReader<AssetEvent<DxMaterial>>,
    mut shader_events: MessageReader<AssetEvent<DxShader>>,
    mut image_events: MessageReader<AssetEvent<Image>>,
    mut material_failures: MessageReader<AssetLoadFailedEvent<DxMaterial>>,
    mut shader_failures: MessageReader<AssetLoadFailedEvent<DxShader>>,
    mut image_failures: MessageReader<AssetLoadFailedEvent<Image>>,
    materials: Res<Assets<DxMaterial>>,
    shaders: Res<Assets<DxShader>>,
    server: Res<AssetServer>,
    mut resolved: ResMut<ResolvedMaterials>,
    mut statuses: ResMut<DxMaterialStatuses>,
    mut changes: MessageWriter<DxMaterialStatusChanged>,
) {
    let mut dirty: HashSet<AssetId<DxMaterial>> = HashSet::default();
    for event in material_events.read() {
        match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                dirty.insert(*id);
            }
            AssetEvent::Removed { id } | AssetEvent::Unused { id } => {
                dirty.remove(id);
                resolved.map.remove(id);
                statuses.map.remove(id);
            }
            AssetEvent::LoadedWithDependencies { .. } => {}
        }
    }
    for failure in material_failures.read() {
        let error = format!("material `{}`: {}", failure.path, failure.error);
        set_status(failure.id, DxMaterialStatus::Failed { error }, &server, &mut statuses, &mut changes);
    }
    let shader_changes: HashSet<AssetId<DxShader>> = shader_events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .chain(shader_failures.read().map(|failure| failure.id))
        .collect();
    let image_changes: HashSet<AssetId<Image>> = image_events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .chain(image_failures.read().map(|failure| failure.id))
        .collect();
    if !shader_changes.is_empty() || !image_changes.is_empty() {
        dirty.extend(materials.iter().filter_map(|(id, material)| {
            let shader =
                [&material.vertex, &material.pixel].into_iter().any(|shader| shader_changes.contains(&shader.id()));
            let image = material.textures.values().any(|image| image_changes.contains(&image.id()));
            (shader || image).then_some(id)
        }));
    }
    for id in dirty {
        let Some(material) = materials.get(id) else { continue };
        let status = match resolve_one(material, &shaders, &server) {
            Ok(Some(new)) => {
                let unbound = new.unbound.clone();
                resolved.map.insert(id, Arc::new(new));
                DxMaterialStatus::Ready { unbound }
            }
            Ok(None) => DxMaterialStatus::Loading,
            Err(error) => DxMaterialStatus::Failed { error: format!("material {}: {error}", name_of(id, &server)) },
        };
        set_status(id, status, &server, &mut statuses, &mut changes);
    }
}

/// `None` while a shader is being loaded.
fn resolve_one(
    material: &DxMaterial,
    shaders: &Assets<DxShader>,
    server: &AssetServer,
) -> Result<Option<ResolvedMaterial>, String> {
    let mut found = [None, None];
    for (shader, (stage, handle)) in found.iter_mut().zip([("vertex", &material.vertex), ("pixel", &material.pixel)]) {
        // A shader that failed to reload is still there as it was.
        *shader = shaders.get(handle);
        if shader.is_none()
            && let Some(LoadState::Failed(error)) = server.get_load_state(handle)
        {
            return Err(format!("its {stage} shader is missing: {error}"));
        }
    }
    let [Some(vertex), Some(pixel)] = found else { return Ok(None) };
    let new = resolve(material, vertex, pixel).map_err(|error| error.to_string())?;
    let mut names: Vec<_> = material.textures.keys().collect();
    names.sort();
    for name in names {
        if let Some(LoadState::Failed(error)) = server.get_load_state(&material.textures[name]) {
            return Err(format!("its texture `{name}` is missing: {error}"));
        }
    }
    Ok(Some(new))
}

/// Takes up what the renderer found.
pub(crate) fn report_render_errors(
    errors: Res<RenderErrors>,
    server: Res<AssetServer>,
    mut statuses: ResMut<DxMaterialStatuses>,
    mut changes: MessageWriter<DxMaterialStatusChanged>,
) {
    let Ok(errors) = errors.0.lock() else { return };
    for (id, error) in errors.try_iter() {
        let error = format!("material {}: {error}", name_of(id, &server));
        set_status(id, DxMaterialStatus::Failed { error }, &server, &mut statuses, &mut changes);
    }
}
