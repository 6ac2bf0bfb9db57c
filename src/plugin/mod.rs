//! The Bevy plugin: compiled Direct3D shaders as assets, materials and compute programs made of them, and their hot reload.
//!
//! [`DxShaderPlugin`] adds all of it. With Bevy's `file_watcher` feature (or any asset source that watches) every file may
//! change while the app runs: what changes is lifted and compiled away from the main thread and taken up when it is valid.
//! Until then, and for as long as a file is broken, what was last good is drawn.
//!
//! Bevy's depth is reversed. Materials say `LessEqual` all the same, and shaders multiply by the matrices they are given; but a
//! pixel shader that writes SV_Depth, or compares depths that it reads, meets 1 where Direct3D's applications have 0. Materials
//! are drawn in the main pass: they cast no shadows and are in no prepass.

mod bind;
pub mod compute;
pub mod constants;
mod deep;
mod gpu;
mod load;
pub mod material;
mod pdb;
mod render;
mod shader;
mod status;

use bevy::{
    asset::{AssetEventSystems, AssetPath},
    prelude::*,
    render::storage::ShaderBuffer,
    shader::Shader,
};

pub use bind::BindError;
pub use compute::{DxCompute, DxComputeReadback, DxDispatch};
pub use material::{DxMaterial, DxMaterial3d};
pub use shader::{DxDebugInfo, DxInterfaceChanged, DxShader, DxShaderError, DxShaderLoader, DxShaderSettings};
pub use status::{DxStatus, DxStatusChanged, DxStatuses};

/// Adds compiled Direct3D shaders to an app. Runs without a renderer too: assets load and resolve, nothing is drawn.
#[derive(Clone, Debug, Default)]
pub struct DxShaderPlugin {
    /// Pipelines are built within the frame that needs them, as with
    /// [`RenderPlugin::synchronous_pipeline_compilation`](bevy::render::RenderPlugin::synchronous_pipeline_compilation).
    /// For tests and for rendering to files.
    pub synchronous_pipeline_compilation: bool,
    /// Folders of asset sources in which the PDB files of shaders are looked for, before the folder of the shader itself.
    ///
    /// A stripped shader gets its names from there: a file that has the name that the shader asks for, its hash, or its own
    /// name, with the extension `pdb`. Files of other builds are left alone.
    pub pdb_folders: Vec<AssetPath<'static>>,
}

impl Plugin for DxShaderPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(pdb::PdbFolders(self.pdb_folders.clone()))
            .init_asset::<DxShader>()
            .init_asset::<DxMaterial>()
            .init_asset::<DxCompute>()
            .init_asset_loader::<DxShaderLoader>()
            .init_asset_loader::<material::DxMaterialLoader>()
            .init_asset_loader::<compute::DxComputeLoader>()
            .init_resource::<DxStatuses<DxCompute>>()
            .init_resource::<status::LastGood<DxCompute>>()
            .add_message::<DxStatusChanged<DxCompute>>()
            .init_resource::<DxStatuses<DxMaterial>>()
            .init_resource::<status::LastGood<DxMaterial>>()
            .add_message::<DxStatusChanged<DxMaterial>>()
            .init_resource::<shader::KnownInterfaces>()
            .add_message::<DxInterfaceChanged>()
            .add_systems(
                PostUpdate,
                (
                    shader::report_interface_changes,
                    status::resolve_assets::<DxMaterial>,
                    status::resolve_assets::<DxCompute>,
                )
                    .after(AssetEventSystems),
            );
        // Without a renderer these are not there; our assets speak of them all the same.
        if !app.world().contains_resource::<Assets<Image>>() {
            app.init_asset::<Image>();
        }
        if !app.world().contains_resource::<Assets<Shader>>() {
            app.init_asset::<Shader>();
        }
        if !app.world().contains_resource::<Assets<ShaderBuffer>>() {
            app.init_asset::<ShaderBuffer>();
        }
    }

    fn finish(&self, app: &mut App) {
        render::finish(app, self.synchronous_pipeline_compilation);
        compute::finish(app, self.synchronous_pipeline_compilation);
    }
}
