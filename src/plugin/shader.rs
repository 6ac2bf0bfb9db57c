//! [`DxShader`]: a compiled Direct3D shader as an asset.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use bevy::{
    asset::{AssetLoader, LoadContext, io::Reader},
    prelude::*,
};
use serde::{Deserialize, Serialize};

use super::load::read_settled;
use crate::{LiftOptions, Program, lift, reflection::Interface};

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
}

impl DxShader {
    /// Lifts a container.
    ///
    /// # Errors
    /// As for [`lift`].
    pub fn from_bytes(bytes: &[u8], options: &LiftOptions) -> crate::Result<Self> {
        let mut hasher = DefaultHasher::new();
        (bytes, options).hash(&mut hasher);
        Ok(Self { program: Arc::new(lift(bytes, options)?), hash: hasher.finish() })
    }

    /// Inputs, outputs, bindings and layouts.
    pub fn interface(&self) -> &Interface {
        &self.program.interface
    }
}

/// Loads [`DxShader`]s.
#[derive(TypePath)]
pub struct DxShaderLoader {
    server: AssetServer,
}

impl FromWorld for DxShaderLoader {
    fn from_world(world: &mut World) -> Self {
        Self { server: world.resource::<AssetServer>().clone() }
    }
}

/// Settings of [`DxShaderLoader`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DxShaderSettings {
    /// How to lift.
    pub lift: LiftOptions,
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
        read_settled(&self.server, &path, reader, |bytes| Ok(DxShader::from_bytes(bytes, &settings.lift)?)).await
    }

    fn extensions(&self) -> &[&str] {
        &["dxbc", "dxil", "cso", "fxo"]
    }
}
