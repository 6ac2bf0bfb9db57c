//! Programs to shader modules.

use std::{borrow::Cow, collections::BTreeMap};

use bevy::render::render_resource::{ShaderModule, ShaderModuleDescriptor, ShaderSource, TextureFormat};

use super::{Gpu, SuppliedTexture};
use crate::{
    Program, Target,
    ir::BindingId,
    lift::{BindingModel, Emitted, PixelInputs, Register, ResourceSpecialization, TargetKind},
    plugin::material::SamplerDescription,
    reflection::{Binding, Interface, ResourceClass},
};

/// What a module must know of the textures and samplers that are bound to it; what is unbound is as the shader declares it.
pub(crate) fn specializations(
    gpu: &Gpu,
    interface: &Interface,
    textures: &BTreeMap<BindingId, SuppliedTexture>,
    samplers: &BTreeMap<BindingId, SamplerDescription>,
) -> BTreeMap<Register, ResourceSpecialization> {
    let default = SamplerDescription::default();
    let of_binding = |(index, binding): (usize, &Binding)| {
        let id = BindingId(index as u32);
        // An array without a size has as many elements as are bound.
        let mut known = ResourceSpecialization { count: 1, ..Default::default() };
        if binding.class == ResourceClass::Sampler {
            known.comparison = Some(samplers.get(&id).unwrap_or(&default).comparison());
        }
        if let Some(texture) = textures.get(&id) {
            let format = texture.texture.format();
            known.depth = format.has_depth_aspect();
            known.color = !known.depth;
            known.without_alpha = format.components() < 4;
            known.unfilterable = !known.depth && !gpu.is_filterable(format);
            known.format = storage_format(format);
        }
        (Register::from(binding), known)
    };
    interface.bindings.iter().enumerate().map(of_binding).collect()
}

/// The shader module of one stage, with what must be bound to it.
pub(crate) struct StageModule {
    pub module: ShaderModule,
    pub emitted: Emitted,
}

impl StageModule {
    /// Emits a program for the device; all its bindings in one group. `samples` are those of the render targets.
    ///
    /// # Errors
    /// Names what the device cannot express. What wgpu objects to goes to the error scope.
    pub fn new(
        gpu: &Gpu,
        label: &str,
        program: &Program,
        group: u32,
        resources: BTreeMap<Register, ResourceSpecialization>,
        pixel_inputs: Option<PixelInputs>,
        samples: u32,
    ) -> Result<Self, String> {
        let target = Target {
            binding_model: BindingModel::PerStage { group, arrays: group },
            capabilities: gpu.capabilities,
            resources,
            pixel_inputs,
            render_targets: vec![Some(TargetKind::Float)],
            depth_attachment: true,
            samples,
            ..Target::default()
        };
        let emitted = program.emit(&target).map_err(|error| error.to_string())?;
        let module = gpu.device.create_and_validate_shader_module(ShaderModuleDescriptor {
            label: Some(label),
            source: ShaderSource::Naga(Cow::Owned(emitted.module.clone())),
        });
        Ok(Self { module, emitted })
    }
}

/// Formats of typed views as wgpu and naga name them. naga's 64-bit integers are no textures of wgpu's.
const FORMATS: [(TextureFormat, naga::StorageFormat); 40] = {
    use naga::StorageFormat as S;
    [
        (TextureFormat::R8Unorm, S::R8Unorm),
        (TextureFormat::R8Snorm, S::R8Snorm),
        (TextureFormat::R8Uint, S::R8Uint),
        (TextureFormat::R8Sint, S::R8Sint),
        (TextureFormat::R16Uint, S::R16Uint),
        (TextureFormat::R16Sint, S::R16Sint),
        (TextureFormat::R16Float, S::R16Float),
        (TextureFormat::R16Unorm, S::R16Unorm),
        (TextureFormat::R16Snorm, S::R16Snorm),
        (TextureFormat::Rg8Unorm, S::Rg8Unorm),
        (TextureFormat::Rg8Snorm, S::Rg8Snorm),
        (TextureFormat::Rg8Uint, S::Rg8Uint),
        (TextureFormat::Rg8Sint, S::Rg8Sint),
        (TextureFormat::R32Uint, S::R32Uint),
        (TextureFormat::R32Sint, S::R32Sint),
        (TextureFormat::R32Float, S::R32Float),
        (TextureFormat::Rg16Uint, S::Rg16Uint),
        (TextureFormat::Rg16Sint, S::Rg16Sint),
        (TextureFormat::Rg16Float, S::Rg16Float),
        (TextureFormat::Rg16Unorm, S::Rg16Unorm),
        (TextureFormat::Rg16Snorm, S::Rg16Snorm),
        (TextureFormat::Rgba8Unorm, S::Rgba8Unorm),
        (TextureFormat::Rgba8Snorm, S::Rgba8Snorm),
        (TextureFormat::Rgba8Uint, S::Rgba8Uint),
        (TextureFormat::Rgba8Sint, S::Rgba8Sint),
        (TextureFormat::Bgra8Unorm, S::Bgra8Unorm),
        (TextureFormat::Rgb10a2Uint, S::Rgb10a2Uint),
        (TextureFormat::Rgb10a2Unorm, S::Rgb10a2Unorm),
        (TextureFormat::Rg11b10Ufloat, S::Rg11b10Ufloat),
        (TextureFormat::Rg32Uint, S::Rg32Uint),
        (TextureFormat::Rg32Sint, S::Rg32Sint),
        (TextureFormat::Rg32Float, S::Rg32Float),
        (TextureFormat::Rgba16Uint, S::Rgba16Uint),
        (TextureFormat::Rgba16Sint, S::Rgba16Sint),
        (TextureFormat::Rgba16Float, S::Rgba16Float),
        (TextureFormat::Rgba16Unorm, S::Rgba16Unorm),
        (TextureFormat::Rgba16Snorm, S::Rgba16Snorm),
        (TextureFormat::Rgba32Uint, S::Rgba32Uint),
        (TextureFormat::Rgba32Sint, S::Rgba32Sint),
        (TextureFormat::Rgba32Float, S::Rgba32Float),
    ]
};

/// The format of a typed view, as naga names it.
pub(crate) fn storage_format(format: TextureFormat) -> Option<naga::StorageFormat> {
    FORMATS.iter().find(|(known, _)| *known == format).map(|(_, storage)| *storage)
}

/// The reverse of [`storage_format`].
pub(crate) fn texture_format(format: naga::StorageFormat) -> Option<TextureFormat> {
    FORMATS.iter().find(|(_, storage)| *storage == format).map(|(known, _)| *known)
}

/// The format of that name which shaders can write.
pub(crate) fn storage_format_named(name: &str) -> Option<TextureFormat> {
    FORMATS.iter().map(|(known, _)| *known).find(|known| format!("{known:?}") == name)
}
