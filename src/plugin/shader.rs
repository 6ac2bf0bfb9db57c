//! [`DxShader`]: a compiled Direct3D shader as an asset.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use bevy::{
    asset::{AssetLoader, AssetPath, LoadContext, io::Reader},
    platform::collections::HashMap,
    prelude::*,
    shader::Shader,
};
use serde::{Deserialize, Serialize};
use tracing::{debug, info, warn};

use super::{
    deep::with_deep_stack,
    load::read_settled,
    pdb::{self, PdbFolders},
};
use crate::{
    Error, LiftOptions, Program, Target,
    container::{Container, Pdb, SourceFile},
    lift,
    reflection::{Change, Interface, changes},
};

/// A lifted shader. Loaded from files that hold a DirectX container, whatever they are called: `.dxbc`, `.dxil`, `.cso` and
/// `.fxo` are taken by this loader, and what is in them decides.
///
/// When the file changes it is lifted anew, off the main thread; a file that cannot be lifted leaves the last good program
/// in place.
#[derive(Asset, TypePath, Clone, Debug)]
pub struct DxShader {
    /// The program. Its notes say what a user may want to know of the lift.
    pub program: Arc<Program>,
    /// Hash of the file's bytes and of the options of the lift: equal hashes, equal programs.
    pub hash: u64,
    /// The program as WGSL, for people to read and for shaders of Bevy's to import: the sub-asset `#wgsl`. `None` if WGSL cannot
    /// say it, or if the settings do not ask for it. Materials do not go by it: they use the naga module itself.
    #[dependency]
    pub wgsl: Option<Handle<Shader>>,
    /// What the shader's PDB file tells beside its names, if it was found.
    pub debug: Option<Arc<DxDebugInfo>>,
}

/// What a PDB file tells of a shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DxDebugInfo {
    /// The file; `None` if it is within the shader's own.
    pub file: Option<AssetPath<'static>>,
    /// The source files: with dxc that with the entry point first.
    pub sources: Vec<SourceFile>,
    /// The compiler's arguments: names and values, either of which may be empty.
    pub arguments: Vec<(String, String)>,
}

impl DxShader {
    /// Lifts a container, on a thread whose stack is deep enough for any program, and waits for it.
    ///
    /// # Errors
    /// As for [`lift()`]; a panic of the lift is an [`ErrorKind::Internal`](crate::ErrorKind::Internal).
    pub fn from_bytes(bytes: &[u8], options: &LiftOptions) -> crate::Result<Self> {
        let mut hasher = DefaultHasher::new();
        (bytes, options).hash(&mut hasher);
        let lifted =
            with_deep_stack(|| lift(bytes, options)).map_err(|panic| Error::internal(format!("lift: {panic}")))?;
        Ok(Self { program: Arc::new(lifted?), hash: hasher.finish(), wgsl: None, debug: None })
    }

    /// The same, with the names of resources, constants, functions and variables that the shader's PDB file has.
    ///
    /// # Errors
    /// As for [`DxShader::from_bytes`]; or the PDB file is damaged.
    pub fn with_debug_info(bytes: &[u8], pdb: &Pdb<'_>, options: &LiftOptions) -> crate::Result<Self> {
        let container = Container::parse(bytes)?;
        let named = pdb.with_names(&container)?;
        let mut shader = Self::from_bytes(named.as_deref().unwrap_or(bytes), options)?;
        let mut program = Arc::unwrap_or_clone(shader.program);
        program.interface.add_names(pdb);
        shader.program = Arc::new(program);
        let (sources, arguments) = (pdb.sources.clone(), pdb.arguments.clone());
        shader.debug = Some(Arc::new(DxDebugInfo { file: None, sources, arguments }));
        Ok(shader)
    }

    /// The program as WGSL, for the default target.
    ///
    /// # Errors
    /// What the target, or WGSL, cannot say.
    pub fn to_wgsl(&self) -> Result<String, String> {
        let write = || {
            let module = self.program.module(&Target::default()).map_err(|error| error.to_string())?;
            let capabilities = naga::valid::Capabilities::all();
            let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
            let info = validator.validate(&module).map_err(|error| error.into_inner().to_string())?;
            let flags = naga::back::wgsl::WriterFlags::empty();
            naga::back::wgsl::write_string(&module, &info, flags).map_err(|error| error.to_string())
        };
        // naga's writer panics at a few constructs that WGSL lacks.
        with_deep_stack(write).unwrap_or_else(|reason| {
            Err(format!("it has a construct that WGSL lacks, or there is no room for it: {reason}"))
        })
    }

    /// Inputs, outputs, bindings and layouts.
    pub fn interface(&self) -> &Interface {
        &self.program.interface
    }
}

/// Is sent when a shader is reloaded and its inputs, outputs, bindings or layouts are others than before.
#[derive(Message, Clone, Debug, PartialEq)]
pub struct DxInterfaceChanged {
    /// The shader.
    pub id: AssetId<DxShader>,
    /// What was added, removed or changed: never empty.
    pub changes: Vec<Change>,
}

/// Loads [`DxShader`]s.
#[derive(TypePath)]
pub struct DxShaderLoader {
    server: AssetServer,
    pdb_folders: Vec<AssetPath<'static>>,
}

impl FromWorld for DxShaderLoader {
    fn from_world(world: &mut World) -> Self {
        let folders = world.get_resource::<PdbFolders>();
        Self {
            server: world.resource::<AssetServer>().clone(),
            pdb_folders: folders.map_or_else(Vec::new, |folders| folders.0.clone()),
        }
    }
}

/// Settings of [`DxShaderLoader`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DxShaderSettings {
    /// How to lift. A `.meta` file beside the shader can name what fills its interfaces, for every material that uses it:
    /// `lift: (classes: {"light": "sun"})`.
    pub lift: LiftOptions,
    /// Write the program as WGSL too.
    pub wgsl: bool,
    /// Take names and sources from the shader's PDB file: see [`DxShaderPlugin::pdb_folders`](super::DxShaderPlugin::pdb_folders).
    pub pdb: bool,
}

impl Default for DxShaderSettings {
    fn default() -> Self {
        Self { lift: LiftOptions::default(), wgsl: true, pdb: true }
    }
}

/// Why a shader did not load. Bevy adds the file's name.
#[derive(Debug, thiserror::Error)]
pub enum DxShaderError {
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file could not be lifted.
    #[error(transparent)]
    Lift(#[from] crate::Error),
}

/// The interfaces of shaders as they were loaded last, to tell what a reload changes.
#[derive(Resource, Default)]
pub(crate) struct KnownInterfaces(HashMap<AssetId<DxShader>, Arc<Program>>);

/// Says of each reloaded shader what changed in its interface: one line, and a [`DxInterfaceChanged`].
pub(crate) fn report_interface_changes(
    mut events: MessageReader<AssetEvent<DxShader>>,
    shaders: Res<Assets<DxShader>>,
    server: Res<AssetServer>,
    mut known: ResMut<KnownInterfaces>,
    mut messages: MessageWriter<DxInterfaceChanged>,
) {
    for event in events.read() {
        let id = match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => *id,
            AssetEvent::Removed { id } => {
                known.0.remove(id);
                continue;
            }
            AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => continue,
        };
        let Some(shader) = shaders.get(id) else { continue };
        let Some(old) = known.0.insert(id, shader.program.clone()) else { continue };
        let name = server.get_path(id).map_or_else(|| id.to_string(), |path| path.to_string());
        match changes(&old.interface, shader.interface()) {
            Ok(changes) if changes.is_empty() => {}
            Ok(changes) => {
                let list: Vec<String> = changes.iter().map(Change::summary).collect();
                info!("the interface of shader `{name}` changed: {}", list.join("; "));
                messages.write(DxInterfaceChanged { id, changes });
            }
            Err(error) => warn!("shader `{name}`: its interface cannot be compared: {error}"),
        }
    }
}

impl AssetLoader for DxShaderLoader {
    type Asset = DxShader;
    type Settings = DxShaderSettings;
    type Error = DxShaderError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        settings: &DxShaderSettings,
        context: &mut LoadContext<'_>,
    ) -> Result<DxShader, DxShaderError> {
        let path = context.path().clone();
        let lift = |bytes: &[u8]| DxShader::from_bytes(bytes, &settings.lift).map_err(DxShaderError::from);
        let mut bytes = Vec::new();
        let lift = |read: &[u8]| {
            bytes = read.to_vec();
            lift(read)
        };
        let mut shader = read_settled(&self.server, &path, reader, lift).await?;
        if settings.pdb
            && let Some(named) = pdb::with_debug_info(&bytes, &self.pdb_folders, &settings.lift, context).await
        {
            shader = named;
        }
        if settings.wgsl {
            match shader.to_wgsl() {
                Ok(text) => {
                    let text = Shader::from_wgsl(text, format!("{path}#wgsl"));
                    shader.wgsl = Some(context.add_labeled_asset("wgsl".to_owned(), text));
                }
                Err(reason) => debug!("`{path}` has no WGSL: {reason}"),
            }
        }
        Ok(shader)
    }

    fn extensions(&self) -> &[&str] {
        &["dxbc", "dxil", "cso", "fxo"]
    }
}
