//! The plugin's side of wgpu: lifted programs to shader modules and bind groups. Materials and compute programs share it.

mod bindings;
mod stage;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use bevy::{
    prelude::*,
    render::{
        render_resource::{TextureFormat, TextureSampleType},
        renderer::{RenderAdapter, RenderDevice},
    },
    tasks::block_on,
};

pub(crate) use bindings::{StageBindings, StageSupply, SuppliedTexture, supplied_texture};
pub(crate) use stage::{StageModule, specializations, storage_format, storage_format_named};

/// The device, and what its shaders may use.
#[derive(Resource, Clone)]
pub(crate) struct Gpu {
    pub device: RenderDevice,
    pub capabilities: naga::valid::Capabilities,
}

impl Gpu {
    pub fn new(device: &RenderDevice, adapter: &RenderAdapter) -> Self {
        let flags = adapter.get_downlevel_capabilities().flags;
        let capabilities = wgpu_naga_bridge::features_to_naga_capabilities(device.features(), flags);
        Self { device: device.clone(), capabilities }
    }

    /// Does something with the device, and gives wgpu's objections as an error instead of ending the app. A panic in
    /// wgpu's shader writers is an error too: it must not take the app with it.
    pub fn checked<T>(&self, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        let device = self.device.wgpu_device();
        // Scopes are a thread's own, so that nothing of other threads ends up in these.
        let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let result = catch_unwind(AssertUnwindSafe(work));
        let validation = block_on(validation.pop());
        let internal = block_on(internal.pop());
        let value = result.map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            format!("the shader could not be compiled: {}", text.unwrap_or_else(|| "unknown panic".to_owned()))
        })??;
        match validation.or(internal) {
            Some(error) => Err(describe(&error)),
            None => Ok(value),
        }
    }

    /// Textures of this format can be filtered.
    pub fn is_filterable(&self, format: TextureFormat) -> bool {
        let sample_type = format.sample_type(None, Some(self.device.features()));
        !matches!(sample_type, Some(TextureSampleType::Float { filterable: false }))
    }
}

/// wgpu's error with its causes, in one line.
fn describe(error: &wgpu::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A shared error text.
pub(crate) type Shared<T> = Result<T, Arc<str>>;
