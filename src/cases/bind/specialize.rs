//! What a target is told of the resources that a case binds.

use wgpu::TextureFormat;

use super::{Hazards, Slot, slots, static_samplers::static_sampler};
use crate::{
    cases::{
        device::{Gpu, Halt},
        format::{self, Compare, Filter, View},
        formats,
        resources::Resources,
    },
    lift::{CompareFunction, Comparison, Register, ResourceSpecialization, Target},
    reflection::{self, Interface, ResourceClass, ResourceKind},
};

/// Tells a target what is bound to a program.
///
/// # Errors
/// A binding names a resource that is not there, or a format that is none.
pub fn specialize(
    gpu: &Gpu,
    bindings: &[format::Binding],
    resources: &Resources<'_>,
    hazards: &Hazards<'_>,
    interface: &Interface,
    target: &mut Target,
) -> Result<(), Halt> {
    for declared in &interface.bindings {
        let mut known = ResourceSpecialization::default();
        for slot in slots(bindings, declared) {
            known.count = known.count.max(slot.element + 1);
            specialize_slot(gpu, resources, hazards, declared, slot, &mut known)?;
        }
        if known.count == 0
            && let Some(sampler) = static_sampler(interface, declared)?
        {
            known.count = 1;
            specialize_sampler(&sampler, &mut known);
        }
        target.resources.insert(Register::from(declared), known);
    }
    Ok(())
}

fn specialize_slot(
    gpu: &Gpu,
    resources: &Resources<'_>,
    hazards: &Hazards<'_>,
    declared: &reflection::Binding,
    slot: Slot<'_>,
    known: &mut ResourceSpecialization,
) -> Result<(), Halt> {
    match declared.kind {
        ResourceKind::Sampler { .. } => {
            if let Some(sampler) = resources.samplers.get(slot.name) {
                specialize_sampler(sampler, known);
            }
        }
        ResourceKind::Texture { .. } => {
            let texture = &resources.texture(slot.name)?.texture;
            let format = match &slot.binding.view {
                Some(View::Texture { format: Some(name), .. }) => named_format(name)?,
                _ => texture.format(),
            };
            if declared.class == ResourceClass::Uav {
                known.format = Some(storage_format(format)?);
            } else {
                known.depth |= format.has_depth_aspect();
                known.color |= !format.has_depth_aspect();
                known.without_alpha |= format.components() < 4;
                let features = gpu.adapter.get_texture_format_features(format).flags;
                known.unfilterable |=
                    !features.contains(wgpu::TextureFormatFeatureFlags::FILTERABLE) || texture.sample_count() > 1;
            }
        }
        ResourceKind::AccelerationStructure | ResourceKind::FeedbackTexture { .. } => {}
        ResourceKind::ConstantBuffer { .. } => {}
        ResourceKind::TypedBuffer { .. }
        | ResourceKind::RawBuffer { .. }
        | ResourceKind::StructuredBuffer { .. }
        | ResourceKind::TextureBuffer { .. } => {
            if let Some(View::Typed { format }) = &slot.binding.view {
                known.format = Some(storage_format(named_format(format)?)?);
            }
            known.read_write |= declared.class == ResourceClass::Srv && hazards.writes(slot.name);
        }
    }
    Ok(())
}

fn specialize_sampler(sampler: &format::Sampler, known: &mut ResourceSpecialization) {
    known.unfilterable |= !filters(sampler);
    known.comparison = sampler.compare.map(|compare| comparison(sampler, compare));
}

/// The format of a name.
///
/// # Errors
/// There is none.
pub(super) fn named_format(name: &str) -> Result<TextureFormat, String> {
    formats::texture_format(name).ok_or_else(|| format!("there is no format {name}"))
}

fn storage_format(format: TextureFormat) -> Result<naga::StorageFormat, String> {
    wgpu_naga_bridge::map_storage_format_to_naga(format).ok_or_else(|| format!("{format:?} is no storage format"))
}

fn comparison(sampler: &format::Sampler, compare: Compare) -> Comparison {
    let function = match compare {
        Compare::Never => CompareFunction::Never,
        Compare::Less => CompareFunction::Less,
        Compare::Equal => CompareFunction::Equal,
        Compare::LessEqual => CompareFunction::LessEqual,
        Compare::Greater => CompareFunction::Greater,
        Compare::NotEqual => CompareFunction::NotEqual,
        Compare::GreaterEqual => CompareFunction::GreaterEqual,
        Compare::Always => CompareFunction::Always,
    };
    Comparison { function, linear: sampler.mag == Filter::Linear }
}

/// The sampler interpolates.
pub(super) fn filters(sampler: &format::Sampler) -> bool {
    [sampler.min, sampler.mag, sampler.mip].contains(&Filter::Linear)
}
