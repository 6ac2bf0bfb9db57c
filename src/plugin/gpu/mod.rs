//! The plugin's side of wgpu: lifted programs to shader modules and bind groups. Materials and compute programs share it.

mod bindings;
mod stage;

use std::sync::Arc;

use bevy::{
    prelude::*,
    render::{
        render_resource::{TextureFormat, TextureSampleType},
        renderer::{RenderAdapter, RenderDevice},
    },
    tasks::block_on,
};

use crate::plugin::deep::with_deep_stack;

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
    /// wgpu's shader writers is an error too: it must not take the app with it. Runs on a thread with a deep stack.
    pub fn checked<T: Send>(&self, work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
        with_deep_stack(|| {
            let device = self.device.wgpu_device();
            // Scopes are a thread's own, so that nothing of other threads ends up in these.
            let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
            let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
            // Caught here so that the scopes are popped.
            let result = with_deep_stack(work);
            let validation = block_on(validation.pop());
            let internal = block_on(internal.pop());
            let value = result.map_err(|panic| format!("the shader could not be compiled: {panic}"))??;
            match validation.or(internal) {
                Some(error) => Err(describe(&error)),
                None => Ok(value),
            }
        })?
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
