//! Loads `.dxmat.ron` files.

use bevy::{
    asset::{AssetLoader, AssetPath, LoadContext, ParseAssetPathError, io::Reader},
    image::ImageLoaderSettings,
    prelude::*,
};

use super::{DxMaterial, MaterialFile, ron_options};
use crate::plugin::load::read_settled;

/// Loads [`DxMaterial`]s.
#[derive(TypePath)]
pub struct DxMaterialLoader {
    server: AssetServer,
}

impl FromWorld for DxMaterialLoader {
    fn from_world(world: &mut World) -> Self {
        Self { server: world.resource::<AssetServer>().clone() }
    }
}

/// Why a material file did not load. Bevy adds the file's name.
#[derive(Debug, thiserror::Error)]
pub enum DxMaterialError {
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file is no UTF-8.
    #[error("not UTF-8 text: {0}")]
    Text(#[from] std::str::Utf8Error),
    /// The file is no material.
    #[error("line and column {0}")]
    Ron(#[from] ron::error::SpannedError),
    /// It names no vertex shader or no pixel shader.
    #[error("it names no {0} shader: a material has both a `vertex` and a `pixel` shader")]
    NoShader(&'static str),
    /// A path that is none.
    #[error("`{path}` is no asset path: {error}")]
    Path {
        /// The path.
        path: String,
        /// Why.
        error: ParseAssetPathError,
    },
}

impl AssetLoader for DxMaterialLoader {
    type Asset = DxMaterial;
    type Settings = ();
    type Error = DxMaterialError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        _: &(),
        context: &mut LoadContext<'_>,
    ) -> Result<DxMaterial, DxMaterialError> {
        let path = context.path().clone();
        let file = read_settled(&self.server, &path, reader, parse).await?;
        let vertex = context.load(asset_path(context.path(), &file.vertex)?);
        let pixel = context.load(asset_path(context.path(), &file.pixel)?);
        let mut textures = bevy::platform::collections::HashMap::default();
        for (name, texture) in &file.textures {
            let settings = texture.settings();
            let path = asset_path(context.path(), &settings.path)?;
            let srgb = settings.srgb;
            let handle = if srgb {
                context.load(path)
            } else {
                context
                    .load_builder()
                    .with_settings(move |settings: &mut ImageLoaderSettings| settings.is_srgb = false)
                    .load(path)
            };
            textures.insert(name.clone(), handle);
        }
        let MaterialFile { vectors, constants, samplers, vertices, state, .. } = file;
        Ok(DxMaterial { vertex, pixel, vectors, constants, textures, samplers, vertices, state })
    }

    fn extensions(&self) -> &[&str] {
        &["dxmat.ron", "dxmat"]
    }
}

fn parse(bytes: &[u8]) -> Result<MaterialFile, DxMaterialError> {
    let file: MaterialFile = ron_options().from_str(std::str::from_utf8(bytes)?)?;
    for (stage, path) in [("vertex", &file.vertex), ("pixel", &file.pixel)] {
        if path.is_empty() {
            return Err(DxMaterialError::NoShader(stage));
        }
    }
    Ok(file)
}

/// A path in a file: from the root of the assets, or from the file's own folder if it begins with a dot. Paths without a
/// source are in the source of the file that names them.
pub(crate) fn asset_path(file: &AssetPath<'static>, path: &str) -> Result<AssetPath<'static>, DxMaterialError> {
    let error = |error| DxMaterialError::Path { path: path.to_owned(), error };
    if path.contains("://") {
        AssetPath::try_parse(path).map(AssetPath::into_owned).map_err(error)
    } else if path.starts_with("./") || path.starts_with("../") {
        file.resolve_embed_str(path).map_err(error)
    } else {
        file.resolve_embed_str(&format!("/{path}")).map_err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_from_the_root_or_the_file() {
        let path = |file: &str, path: &str| asset_path(&AssetPath::parse(file).into_owned(), path).unwrap().to_string();
        assert_eq!(path("materials/a.dxmat.ron", "shaders/b.dxbc"), "shaders/b.dxbc");
        assert_eq!(path("materials/a.dxmat.ron", "./b.dxbc"), "materials/b.dxbc");
        assert_eq!(path("materials/a.dxmat.ron", "../b.dxbc"), "b.dxbc");
        assert_eq!(path("mods://m/a.dxmat.ron", "b.dxbc"), "mods://b.dxbc");
        assert_eq!(path("mods://m/a.dxmat.ron", "other://b.dxbc"), "other://b.dxbc");
    }
}
