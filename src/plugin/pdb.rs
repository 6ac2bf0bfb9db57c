//! PDB files of shaders, found through the asset source: their names and sources come along with the shader.

use std::path::Path;

use bevy::{
    asset::{AssetPath, LoadContext},
    prelude::*,
};
use tracing::{debug, warn};

use super::shader::{DxDebugInfo, DxShader};
use crate::{
    LiftOptions,
    container::{Container, Pdb},
};

/// Folders in which PDB files are looked for, before the shader's own.
#[derive(Resource, Clone, Debug, Default)]
pub(crate) struct PdbFolders(pub Vec<AssetPath<'static>>);

/// A shader with the names of its PDB file: one of the asset source, which becomes a dependency of the shader, so that the
/// shader is loaded anew when it changes; else that within the shader. `None` if there is none, or if it is of no use.
pub(crate) async fn with_debug_info(
    bytes: &[u8],
    folders: &[AssetPath<'static>],
    options: &LiftOptions,
    context: &mut LoadContext<'_>,
) -> Option<DxShader> {
    let container = Container::parse(bytes).ok()?;
    let shader = context.path().clone();
    let lifted = |pdb: &Pdb<'_>, place: &str| match DxShader::with_debug_info(bytes, pdb, options) {
        Ok(shader) => Some(shader),
        Err(error) => {
            warn!("the names of {place} are of no use to `{shader}`: {error}");
            None
        }
    };
    for path in paths(&container, &shader, folders) {
        let Ok(file) = context.read_asset_bytes(path.clone()).await else { continue };
        let name = path.path().file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(pdb) = Pdb::of_shader(&file, name, &container) else {
            debug!("`{path}` is no PDB file of `{shader}`");
            continue;
        };
        let mut named = lifted(&pdb, &format!("`{path}`"))?;
        named.debug = named.debug.map(|debug| {
            let DxDebugInfo { sources, arguments, .. } = (*debug).clone();
            DxDebugInfo { file: Some(path.clone()), sources, arguments }.into()
        });
        return Some(named);
    }
    match Pdb::embedded(&container) {
        Ok(pdb) => lifted(&pdb?, "the PDB file within"),
        Err(error) => {
            warn!("`{shader}`: {error}");
            None
        }
    }
}

/// Where a shader's PDB file may lie.
fn paths(
    container: &Container<'_>,
    shader: &AssetPath<'static>,
    folders: &[AssetPath<'static>],
) -> Vec<AssetPath<'static>> {
    let file = shader.path().file_name().and_then(|name| name.to_str());
    let own = shader.path().parent().unwrap_or(Path::new("")).to_path_buf();
    let own = AssetPath::from(own).with_source(shader.source().clone_owned());
    let names = Pdb::file_names(container, file);
    let folders = folders.iter().chain([&own]);
    let paths = folders.flat_map(|folder| {
        let within =
            |name: &String| AssetPath::from(folder.path().join(name)).with_source(folder.source().clone_owned());
        names.iter().map(within).collect::<Vec<_>>()
    });
    paths.collect()
}
