//! Whether materials and compute programs are ready, and if not, why: each is resolved with its shaders whenever it or one of
//! them changes.

use std::{
    fmt,
    sync::{Arc, Mutex, mpsc},
};

use bevy::{
    asset::{AssetLoadFailedEvent, LoadState},
    platform::collections::{HashMap, HashSet},
    prelude::*,
};
use tracing::{error, warn};

use super::shader::DxShader;

/// What an asset comes to, and the names of what stays unbound.
pub(crate) type WithUnbound<T> = (T, Vec<String>);

/// An asset that is resolved with shaders.
pub(crate) trait Resolve: Asset {
    /// What it comes to: all that the renderer needs.
    type Resolved: Send + Sync + 'static;
    /// What it is called in messages.
    const KIND: &'static str;

    /// Its shaders, each with the name of its stage.
    fn shaders(&self) -> Vec<(&'static str, &Handle<DxShader>)>;

    /// Its textures and images, by name.
    fn images(&self) -> Vec<(&str, &Handle<Image>)>;

    /// Finds every name in the shaders, which are given in the order of [`Resolve::shaders`]. Beside it, the names of what
    /// stays unbound.
    fn resolve(&self, shaders: &[&DxShader]) -> Result<WithUnbound<Self::Resolved>, String>;
}

/// State of a material or a compute program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DxStatus {
    /// Its file, or a shader, is being loaded.
    #[default]
    Loading,
    /// It fits its shaders. What nothing is bound to is listed.
    Ready {
        /// Names of what is unbound.
        unbound: Vec<String>,
    },
    /// It cannot be used as it is now; names the file and the reason. The last good state goes on being used.
    Failed {
        /// The error.
        error: String,
    },
}

/// States of all assets of a kind that are loaded or have failed to.
#[derive(Resource)]
pub struct DxStatuses<A: Asset> {
    map: HashMap<AssetId<A>, DxStatus>,
}

/// Is sent when the state of an asset changes.
#[derive(Message)]
pub struct DxStatusChanged<A: Asset> {
    /// The asset.
    pub id: AssetId<A>,
    /// The new state.
    pub status: DxStatus,
}

/// The last good state of each asset: what the renderer uses.
#[derive(Resource)]
pub(crate) struct LastGood<A: Resolve> {
    pub map: HashMap<AssetId<A>, Arc<A::Resolved>>,
}

/// Errors that the renderer finds, on their way to the main world.
#[derive(Resource)]
pub(crate) struct RenderErrors<A: Asset>(Mutex<mpsc::Receiver<(AssetId<A>, String)>>);

/// Where the renderer's errors go.
#[derive(Resource)]
pub(crate) struct ErrorSender<A: Asset>(mpsc::Sender<(AssetId<A>, String)>);

/// Ends of the way of the renderer's errors.
pub(crate) fn error_channel<A: Asset>() -> (ErrorSender<A>, RenderErrors<A>) {
    let (sender, receiver) = mpsc::channel();
    (ErrorSender(sender), RenderErrors(Mutex::new(receiver)))
}

impl<A: Asset> ErrorSender<A> {
    /// Sends an error of an asset.
    pub fn send(&self, id: AssetId<A>, error: String) {
        // Nobody listens once the main world is gone.
        let _ = self.0.send((id, error));
    }
}

impl<A: Asset> Default for DxStatuses<A> {
    fn default() -> Self {
        Self { map: HashMap::default() }
    }
}

impl<A: Resolve> Default for LastGood<A> {
    fn default() -> Self {
        Self { map: HashMap::default() }
    }
}

impl<A: Asset> Clone for DxStatusChanged<A> {
    fn clone(&self) -> Self {
        Self { id: self.id, status: self.status.clone() }
    }
}

impl<A: Asset> fmt::Debug for DxStatusChanged<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DxStatusChanged").field("id", &self.id).field("status", &self.status).finish()
    }
}

impl<A: Asset> DxStatuses<A> {
    /// State of an asset.
    pub fn get(&self, id: impl Into<AssetId<A>>) -> DxStatus {
        self.map.get(&id.into()).cloned().unwrap_or_default()
    }

    /// Sets a state; logs and sends it if it is new.
    fn set(&mut self, id: AssetId<A>, status: DxStatus, name: &str, changes: &mut MessageWriter<DxStatusChanged<A>>) {
        if self.map.get(&id) == Some(&status) {
            return;
        }
        match &status {
            DxStatus::Failed { error } => error!("{error}"),
            DxStatus::Ready { unbound } if !unbound.is_empty() => {
                warn!("{name}: nothing is bound to {}: it reads 0", unbound.join(", "));
            }
            DxStatus::Loading | DxStatus::Ready { .. } => {}
        }
        self.map.insert(id, status.clone());
        changes.write(DxStatusChanged { id, status });
    }
}

/// Kind and file of an asset, for messages.
fn name_of<A: Resolve>(id: AssetId<A>, server: &AssetServer) -> String {
    match server.get_path(id) {
        Some(path) => format!("{} `{path}`", A::KIND),
        None => format!("{} {id}", A::KIND),
    }
}

/// The assets that were added or changed, or failed to load.
fn changed<A: Asset>(
    events: &mut MessageReader<AssetEvent<A>>,
    failures: &mut MessageReader<AssetLoadFailedEvent<A>>,
) -> HashSet<AssetId<A>> {
    let changed = events.read().filter_map(|event| match event {
        AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
        _ => None,
    });
    changed.chain(failures.read().map(|failure| failure.id)).collect()
}

/// Resolves every asset that changed, or whose shaders or images did.
#[allow(clippy::too_many_arguments)]
pub(crate) fn resolve_assets<A: Resolve>(
    mut events: MessageReader<AssetEvent<A>>,
    mut failures: MessageReader<AssetLoadFailedEvent<A>>,
    mut shader_events: MessageReader<AssetEvent<DxShader>>,
    mut shader_failures: MessageReader<AssetLoadFailedEvent<DxShader>>,
    mut image_events: MessageReader<AssetEvent<Image>>,
    mut image_failures: MessageReader<AssetLoadFailedEvent<Image>>,
    assets: Res<Assets<A>>,
    shaders: Res<Assets<DxShader>>,
    server: Res<AssetServer>,
    mut last_good: ResMut<LastGood<A>>,
    mut statuses: ResMut<DxStatuses<A>>,
    mut changes: MessageWriter<DxStatusChanged<A>>,
) {
    let mut dirty: HashSet<AssetId<A>> = HashSet::default();
    for event in events.read() {
        match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                dirty.insert(*id);
            }
            AssetEvent::Removed { id } | AssetEvent::Unused { id } => {
                dirty.remove(id);
                last_good.map.remove(id);
                statuses.map.remove(id);
            }
            AssetEvent::LoadedWithDependencies { .. } => {}
        }
    }
    for failure in failures.read() {
        let name = format!("{} `{}`", A::KIND, failure.path);
        // Bevy has logged it.
        let status = DxStatus::Failed { error: format!("{name}: {}", failure.error) };
        if statuses.map.insert(failure.id, status.clone()).as_ref() != Some(&status) {
            changes.write(DxStatusChanged { id: failure.id, status });
        }
    }
    let shader_changes = changed(&mut shader_events, &mut shader_failures);
    let image_changes = changed(&mut image_events, &mut image_failures);
    if !shader_changes.is_empty() || !image_changes.is_empty() {
        dirty.extend(assets.iter().filter_map(|(id, asset)| {
            let shader = asset.shaders().into_iter().any(|(_, shader)| shader_changes.contains(&shader.id()));
            let image = asset.images().into_iter().any(|(_, image)| image_changes.contains(&image.id()));
            (shader || image).then_some(id)
        }));
    }
    for id in dirty {
        let Some(asset) = assets.get(id) else { continue };
        let name = name_of(id, &server);
        let status = match resolve_one(asset, &shaders, &server) {
            Ok(Some((resolved, unbound))) => {
                last_good.map.insert(id, Arc::new(resolved));
                DxStatus::Ready { unbound }
            }
            Ok(None) => DxStatus::Loading,
            Err(error) => DxStatus::Failed { error: format!("{name}: {error}") },
        };
        statuses.set(id, status, &name, &mut changes);
    }
}

/// `None` while a shader is being loaded.
fn resolve_one<A: Resolve>(
    asset: &A,
    shaders: &Assets<DxShader>,
    server: &AssetServer,
) -> Result<Option<WithUnbound<A::Resolved>>, String> {
    let mut found = Vec::new();
    for (stage, handle) in asset.shaders() {
        // A shader that failed to reload is still there as it was.
        match shaders.get(handle) {
            Some(shader) => found.push(shader),
            None => match server.get_load_state(handle) {
                Some(LoadState::Failed(error)) => return Err(format!("its {stage} shader is missing: {error}")),
                _ => return Ok(None),
            },
        }
    }
    let resolved = asset.resolve(&found)?;
    for (name, image) in asset.images() {
        if let Some(LoadState::Failed(error)) = server.get_load_state(image) {
            return Err(format!("its texture `{name}` is missing: {error}"));
        }
    }
    Ok(Some(resolved))
}

/// Takes up what the renderer found.
pub(crate) fn report_render_errors<A: Resolve>(
    errors: Res<RenderErrors<A>>,
    server: Res<AssetServer>,
    mut statuses: ResMut<DxStatuses<A>>,
    mut changes: MessageWriter<DxStatusChanged<A>>,
) {
    let Ok(errors) = errors.0.lock() else { return };
    for (id, error) in errors.try_iter() {
        let name = name_of(id, &server);
        statuses.set(id, DxStatus::Failed { error: format!("{name}: {error}") }, &name, &mut changes);
    }
}
