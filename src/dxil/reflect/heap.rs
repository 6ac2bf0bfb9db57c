//! Resources of the descriptor heaps (`ResourceDescriptorHeap[i]`, `SamplerDescriptorHeap[i]`, Shader Model 6.6).
//!
//! No metadata declares them: each use says what it takes the descriptor for (`dx.op.annotateHandle`). Each kind
//! becomes an unbounded array of its own, in a space that no root signature can name.

use super::{
    origin::{Origin, annotation, origins},
    resources::{component, feedback_kind},
};
use crate::{
    Error, Result,
    dxil::module::{Body, Constant, Module, ValueDef, ValueId},
    reflection::{
        Binding, HEAP_SPACE, HEAP_SPACES, ResourceClass, ResourceKind, SamplerMode, TextureDimension, UavFlags,
    },
};

/// The two words of `%dx.types.ResourceProperties`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Properties(pub u32, pub u32);

impl Properties {
    /// Of a constant that a function gives to `dx.op.annotateHandle`.
    pub fn of(module: &Module, body: &Body, properties: ValueId) -> Option<Self> {
        let [first, second] = [0, 1].map(|index| word(module, body, properties, index));
        first.zip(second).map(|(first, second)| Self(first, second))
    }

    /// Class and kind of the resource.
    ///
    /// # Errors
    /// There is no such kind.
    pub fn kind(self) -> Result<(ResourceClass, ResourceKind)> {
        kind(self)
    }
}

/// What a module takes descriptors of the heaps for, each once, in the order of its code.
///
/// # Errors
/// There are more kinds than spaces.
pub fn kinds(module: &Module) -> Result<Vec<Properties>> {
    let mut kinds = Vec::new();
    // Modules that take nothing out of a heap declare no such operation.
    if !module.functions.iter().any(|function| function.name.starts_with("dx.op.createHandleFromHeap")) {
        return Ok(kinds);
    }
    for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
        for instruction in &body.instructions {
            let Some((handle, properties)) = annotation(module, body, &instruction.op) else { continue };
            let origins = origins(module, body, handle);
            if !origins.iter().any(|origin| matches!(origin, Origin::Heap | Origin::Unknown)) {
                continue;
            }
            if let Some(properties) = Properties::of(module, body, properties)
                && !kinds.contains(&properties)
            {
                kinds.push(properties);
            }
            if kinds.len() > HEAP_SPACES as usize {
                return Err(Error::unsupported("descriptors of very many kinds from a heap"));
            }
        }
    }
    Ok(kinds)
}

/// A word of a constant structure.
pub fn word(module: &Module, body: &Body, properties: ValueId, index: usize) -> Option<u32> {
    let constant = |id: ValueId| match &module.value(Some(body), id)?.def {
        ValueDef::Constant(constant) => Some(constant),
        _ => None,
    };
    match constant(properties)? {
        Constant::Null => Some(0),
        Constant::Aggregate(words) => match constant(*words.get(index)?)? {
            Constant::Integer(word) => Some(*word as u32),
            Constant::Null => Some(0),
            _ => None,
        },
        Constant::Data(words) => words.get(index).map(|word| *word as u32),
        _ => None,
    }
}

/// The bindings of [`kinds`].
pub(super) fn bindings(module: &Module) -> Result<Vec<Binding>> {
    let binding = |(number, properties): (u32, Properties)| {
        let (class, kind) = kind(properties)?;
        let name = if class == ResourceClass::Sampler { "SamplerDescriptorHeap" } else { "ResourceDescriptorHeap" };
        let name = Some(name.to_owned());
        Ok(Binding { name, class, space: HEAP_SPACE + number, register: 0, count: None, kind, layout: None })
    };
    (0..).zip(kinds(module)?).map(binding).collect()
}

/// `DxilResourceProperties` of `DxilResourceProperties.h`.
fn kind(Properties(first, second): Properties) -> Result<(ResourceClass, ResourceKind)> {
    let bit = |number: u32| first >> number & 1 != 0;
    let uav = bit(12);
    let flags = UavFlags { rasterizer_ordered: bit(13), globally_coherent: bit(14) };
    let view = if uav { ResourceClass::Uav } else { ResourceClass::Srv };
    let (element, components, samples) = (component(second & 0xff), (second >> 8) as u8, (second >> 16) as u8);
    let components = components.clamp(1, 4);
    let shape = first & 0xff;
    let kind = match shape {
        1..=9 => {
            let dimension = super::resources::dimension(shape).unwrap_or(TextureDimension::D2);
            ResourceKind::Texture { dimension, component: element, components, samples, flags }
        }
        10 => ResourceKind::TypedBuffer { component: element, components, flags },
        11 => ResourceKind::RawBuffer { flags },
        12 => ResourceKind::StructuredBuffer { stride: second, counter: bit(15), flags },
        13 => {
            let size = second.checked_next_multiple_of(16).unwrap_or(second);
            return Ok((ResourceClass::Cbv, ResourceKind::ConstantBuffer { size }));
        }
        14 => {
            let mode = if bit(15) { SamplerMode::Comparison } else { SamplerMode::Default };
            return Ok((ResourceClass::Sampler, ResourceKind::Sampler { mode }));
        }
        15 => ResourceKind::TextureBuffer { size: second },
        16 => ResourceKind::AccelerationStructure,
        17 => ResourceKind::FeedbackTexture { arrayed: false, feedback: feedback_kind(second)? },
        18 => ResourceKind::FeedbackTexture { arrayed: true, feedback: feedback_kind(second)? },
        _ => return Err(Error::malformed(format!("shape of a resource of a descriptor heap: {shape}"))),
    };
    Ok((view, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflection::ComponentType;

    #[test]
    fn kinds_of_properties() {
        let (class, texture) = kind(Properties(2, 1033)).unwrap();
        assert_eq!(class, ResourceClass::Srv);
        let flags = UavFlags::default();
        let component = ComponentType::F32;
        let dimension = TextureDimension::D2;
        assert_eq!(texture, ResourceKind::Texture { dimension, component, components: 4, samples: 0, flags });
        assert_eq!(kind(Properties(13, 160)).unwrap().1, ResourceKind::ConstantBuffer { size: 160 });
        let sampler = ResourceKind::Sampler { mode: SamplerMode::Comparison };
        assert_eq!(kind(Properties(14 | 1 << 15, 0)).unwrap(), (ResourceClass::Sampler, sampler));
        let counted = ResourceKind::StructuredBuffer { stride: 12, counter: true, flags };
        assert_eq!(kind(Properties(12 | 1 << 12 | 1 << 15, 12)).unwrap(), (ResourceClass::Uav, counted));
        assert!(kind(Properties(99, 0)).is_err());
    }
}
