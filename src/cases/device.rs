//! The device that cases run on.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use wgpu::{Features, Limits};

/// How long a step may take on the device. Software drivers compile shaders when they first run: that can take the most of it.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A device with all that its adapter has.
#[derive(Debug)]
pub struct Gpu {
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// The adapter.
    pub adapter: wgpu::Adapter,
    /// Adapter and driver.
    pub info: wgpu::AdapterInfo,
    /// What shaders may use.
    pub capabilities: naga::valid::Capabilities,
    /// Errors that no scope caught.
    uncaught: Arc<Mutex<Vec<String>>>,
}

impl Gpu {
    /// Opens the device that wgpu finds first, with all features and limits of its adapter.
    ///
    /// # Errors
    /// There is no adapter, or it gives no device.
    pub fn new() -> Result<Self, String> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        // naga validates; the driver's own layers would only add to it, and are not there on most machines.
        descriptor.flags -= wgpu::InstanceFlags::VALIDATION;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
            .map_err(|error| error.to_string())?;
        let features = adapter.features();
        // SAFETY: wgpu asks for nothing but that one knows these features as unfinished and reports their bugs.
        #[allow(unsafe_code)]
        let experimental_features = unsafe { wgpu::ExperimentalFeatures::enabled() };
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("execution cases"),
            required_features: features,
            required_limits: adapter.limits(),
            experimental_features,
            ..Default::default()
        }))
        .map_err(|error| error.to_string())?;
        let uncaught = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&uncaught);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            list.lock().unwrap_or_else(PoisonError::into_inner).push(error.to_string());
        }));
        let capabilities =
            wgpu_naga_bridge::features_to_naga_capabilities(features, adapter.get_downlevel_capabilities().flags);
        Ok(Self { device, queue, info: adapter.get_info(), adapter, capabilities, uncaught })
    }

    /// The device's features.
    pub fn features(&self) -> Features {
        self.device.features()
    }

    /// The device's limits.
    pub fn limits(&self) -> Limits {
        self.device.limits()
    }

    /// Does something with the device, and turns wgpu's errors into one of its own.
    ///
    /// # Errors
    /// That of `work`, unless wgpu reported one; then wgpu's, as a failure.
    pub fn checked<T>(&self, work: impl FnOnce() -> Result<T, Halt>) -> Result<T, Halt> {
        let filters = [wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Internal];
        let scopes = filters.map(|filter| self.device.push_error_scope(filter));
        let result = work();
        let mut errors = Vec::new();
        for scope in scopes.into_iter().rev() {
            errors.extend(pollster::block_on(scope.pop()).map(|error| error_chain(&error)));
        }
        errors.append(&mut self.uncaught.lock().unwrap_or_else(PoisonError::into_inner));
        if errors.is_empty() { result } else { Err(Halt::Failed(errors.join("; "))) }
    }

    /// Submits commands and waits until they are done.
    ///
    /// # Errors
    /// The device is lost, or takes too long.
    pub fn submit(&self, encoder: wgpu::CommandEncoder) -> Result<(), Halt> {
        let index = self.queue.submit([encoder.finish()]);
        self.device
            .poll(wgpu::PollType::Wait { submission_index: Some(index), timeout: Some(TIMEOUT) })
            .map_err(|error| Halt::Lost(format!("the device does not answer: {error}")))?;
        Ok(())
    }

    /// Reads the first `size` bytes of a buffer. The buffer holds them, and may be copied from.
    ///
    /// # Errors
    /// The device is lost, or takes too long.
    pub fn read_buffer(&self, buffer: &wgpu::Buffer, size: u64) -> Result<Vec<u8>, Halt> {
        let padded = size.next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            size: padded,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, padded);
        self.submit(encoder)?;
        let (sender, receiver) = std::sync::mpsc::channel();
        // The receiver outlives the callback, which wgpu calls before `poll` returns.
        staging.map_async(wgpu::MapMode::Read, .., move |result| drop(sender.send(result)));
        self.device
            .poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(TIMEOUT) })
            .map_err(|error| Halt::Lost(format!("the device does not answer: {error}")))?;
        match receiver.try_recv() {
            Ok(Ok(())) => {
                let mut bytes = staging.get_mapped_range(..).to_vec();
                bytes.truncate(size as usize);
                Ok(bytes)
            }
            Ok(Err(error)) => Err(Halt::Lost(format!("a buffer cannot be read: {error}"))),
            Err(error) => Err(Halt::Lost(format!("a buffer cannot be read: {error}"))),
        }
    }

    /// A new command encoder.
    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }
}

/// wgpu's error with its causes: its description alone names neither the entry point nor the reason.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
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

/// Why a case did not run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// It is wrong, or its shaders are.
    Failed(String),
    /// The runner or the device cannot do it.
    Skipped(String),
    /// It failed and took the device with it.
    Lost(String),
}

impl From<String> for Halt {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

impl From<&str> for Halt {
    fn from(reason: &str) -> Self {
        Self::Failed(reason.into())
    }
}
