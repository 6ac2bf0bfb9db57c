//! Resources: `dx.resources`.

use super::{heap, layouts::Layouts};
use crate::{
    Error, Result,
    dxil::module::{Module, Node, Type, ValueId},
    reflection::{
        Binding, ComponentType, FeedbackKind, ResourceClass, ResourceKind, SamplerMode, TextureDimension, UavFlags,
    },
};

/// Lists of `dx.resources`, in its order; [`Interface::bindings`](crate::reflection::Interface::bindings) keeps it.
pub const CLASSES: [ResourceClass; 4] =
    [ResourceClass::Srv, ResourceClass::Uav, ResourceClass::Cbv, ResourceClass::Sampler];

/// Members of every resource's tuple.
const ID: usize = 0;
const VARIABLE: usize = 1;
const NAME: usize = 2;
const SPACE: usize = 3;
const LOWER_BOUND: usize = 4;
const RANGE_SIZE: usize = 5;
/// Members of SRVs' and UAVs'.
const SHAPE: usize = 6;
const SRV_SAMPLES: usize = 7;
const SRV_EXTENDED: usize = 8;
const UAV_COHERENT: usize = 7;
const UAV_COUNTER: usize = 8;
const UAV_ORDERED: usize = 9;
const UAV_EXTENDED: usize = 10;
/// Members of constant buffers' and samplers'.
const CBV_SIZE: usize = 6;
const SAMPLER_KIND: usize = 6;

/// Tags of SRVs' and UAVs' extended properties.
mod tag {
    pub const ELEMENT_TYPE: u32 = 0;
    pub const ELEMENT_STRIDE: u32 = 1;
    pub const SAMPLER_FEEDBACK: u32 = 2;
}

/// A resource without limit to its count.
const UNBOUNDED: u32 = u32::MAX;

/// What handles refer to a resource by.
#[derive(Clone, Copy, Debug)]
pub struct RangeRecord {
    /// Number of the resource among those of its class.
    pub id: u32,
    /// Global variable that stands for it in a library.
    pub variable: Option<ValueId>,
    /// Register space.
    pub space: u32,
    /// First register.
    pub lower_bound: u32,
}

impl RangeRecord {
    /// Reads a resource's tuple.
    ///
    /// # Errors
    /// It is incomplete.
    pub fn read(node: &Node<'_>) -> Result<Self> {
        Ok(Self {
            id: node.u32(ID)?,
            variable: node.value(VARIABLE),
            space: node.u32(SPACE)?,
            lower_bound: node.u32(LOWER_BOUND)?,
        })
    }
}

/// Reads all resources of a module.
pub(super) fn bindings(module: &Module, names: Option<&Module>, native_16_bit: bool) -> Result<Vec<Binding>> {
    let knows_usage = super::knows_usage(module);
    let mut layouts = Layouts::new(module, native_16_bit, knows_usage);
    let mut named_layouts = names.map(|names| Layouts::new(names, native_16_bit, knows_usage));
    let mut bindings = Vec::new();
    let Some(resources) = module.named("dx.resources").next() else { return heap::bindings(module) };
    for (list, class) in CLASSES.into_iter().enumerate() {
        for node in resources.nodes(list) {
            let twin = names.and_then(|names| twin(names, list, &node));
            let mut binding = binding(module, &node, class)?;
            if let Some(twin) = twin
                && let Some(layouts) = &mut named_layouts
            {
                binding.name = binding.name.or_else(|| name(&twin));
                binding.layout = layouts.of_resource(&twin, VARIABLE, &binding.kind);
            }
            if binding.layout.is_none() {
                binding.layout = layouts.of_resource(&node, VARIABLE, &binding.kind);
            }
            if let (ResourceKind::TextureBuffer { size }, Some(layout)) = (&mut binding.kind, &binding.layout) {
                *size = layout.size;
            }
            bindings.push(binding);
        }
    }
    bindings.extend(heap::bindings(module)?);
    Ok(bindings)
}

/// The record of the same resource in the module that keeps names.
fn twin<'a>(names: &'a Module, list: usize, node: &Node<'_>) -> Option<Node<'a>> {
    let resources = names.named("dx.resources").next()?;
    let same = |other: &Node<'_>| {
        [ID, SPACE, LOWER_BOUND, RANGE_SIZE].into_iter().all(|member| other.integer(member) == node.integer(member))
    };
    resources.nodes(list).find(same)
}

fn name(node: &Node<'_>) -> Option<String> {
    node.string(NAME).filter(|name| !name.is_empty()).map(str::to_owned)
}

fn binding(module: &Module, node: &Node<'_>, class: ResourceClass) -> Result<Binding> {
    let kind = match class {
        ResourceClass::Cbv => {
            let size = node.u32(CBV_SIZE)?;
            ResourceKind::ConstantBuffer { size: size.checked_next_multiple_of(16).unwrap_or(size) }
        }
        ResourceClass::Sampler => ResourceKind::Sampler {
            mode: match node.u32(SAMPLER_KIND)? {
                1 => SamplerMode::Comparison,
                2 => SamplerMode::Mono,
                _ => SamplerMode::Default,
            },
        },
        ResourceClass::Srv | ResourceClass::Uav => view(module, node, class)?,
    };
    Ok(Binding {
        name: name(node),
        class,
        space: node.u32(SPACE)?,
        register: node.u32(LOWER_BOUND)?,
        count: Some(node.u32(RANGE_SIZE)?).filter(|&count| count != UNBOUNDED),
        kind,
        layout: None,
    })
}

/// Kind of an SRV or a UAV.
fn view(module: &Module, node: &Node<'_>, class: ResourceClass) -> Result<ResourceKind> {
    let uav = class == ResourceClass::Uav;
    let flag = |member: usize| uav && node.integer(member).is_some_and(|flag| flag != 0);
    let flags = UavFlags { globally_coherent: flag(UAV_COHERENT), rasterizer_ordered: flag(UAV_ORDERED) };
    let mut element_type = ComponentType::Unknown;
    let mut stride = 0;
    let mut feedback = FeedbackKind::default();
    if let Some(extended) = node.node(if uav { UAV_EXTENDED } else { SRV_EXTENDED }) {
        for (tag, at) in extended.tags() {
            match tag {
                tag::ELEMENT_TYPE => element_type = component(extended.u32(at)?),
                tag::ELEMENT_STRIDE => stride = extended.u32(at)?,
                tag::SAMPLER_FEEDBACK => feedback = feedback_kind(extended.u32(at)?)?,
                _ => {}
            }
        }
    }
    let texture = |dimension: TextureDimension| {
        let samples = match (dimension.is_multisampled(), uav) {
            (false, _) => 0,
            (true, false) => node.u32(SRV_SAMPLES)? as u8,
            (true, true) => declared_samples(module, node),
        };
        let components = components(module, node);
        Ok(ResourceKind::Texture { dimension, component: element_type, components, samples, flags })
    };
    let shape = node.u32(SHAPE)?;
    if let Some(dimension) = dimension(shape) {
        return texture(dimension);
    }
    Ok(match shape {
        10 => ResourceKind::TypedBuffer { component: element_type, components: components(module, node), flags },
        11 => ResourceKind::RawBuffer { flags },
        12 => ResourceKind::StructuredBuffer { stride, counter: flag(UAV_COUNTER), flags },
        15 => ResourceKind::TextureBuffer { size: 0 },
        16 => ResourceKind::AccelerationStructure,
        17 => ResourceKind::FeedbackTexture { arrayed: false, feedback },
        18 => ResourceKind::FeedbackTexture { arrayed: true, feedback },
        shape => return Err(Error::malformed(format!("dx.resources: shape of a resource: {shape}"))),
    })
}

/// Samples of an unordered-access view, 0 if they are not declared. Its record does not tell, but the name of its class does:
/// `class.RWTexture2DMS<vector<float, 4>, 8>`.
fn declared_samples(module: &Module, node: &Node<'_>) -> u8 {
    let mut ty = node.pointee(VARIABLE);
    while let Some(Type::Array { element, .. }) = ty.and_then(|ty| module.types.get(ty)) {
        ty = Some(*element);
    }
    let Some(Type::Struct { name: Some(name), .. }) = ty.and_then(|ty| module.types.get(ty)) else { return 0 };
    let count = name.rsplit_once(',').and_then(|(_, last)| last.trim().strip_suffix('>'));
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// `DXIL::SamplerFeedbackType`.
pub(super) fn feedback_kind(number: u32) -> Result<FeedbackKind> {
    match number {
        0 => Ok(FeedbackKind::MinMip),
        1 => Ok(FeedbackKind::MipRegionUsed),
        _ => Err(Error::malformed(format!("unknown kind of a feedback texture: {number}"))),
    }
}

/// Shape of a texture, of `DXIL::ResourceKind`.
pub(super) fn dimension(shape: u32) -> Option<TextureDimension> {
    Some(match shape {
        1 => TextureDimension::D1,
        2 => TextureDimension::D2,
        3 => TextureDimension::D2Multisampled,
        4 => TextureDimension::D3,
        5 => TextureDimension::Cube,
        6 => TextureDimension::D1Array,
        7 => TextureDimension::D2Array,
        8 => TextureDimension::D2MultisampledArray,
        9 => TextureDimension::CubeArray,
        _ => return None,
    })
}

/// Number of components of a typed resource: those of the vector that its class holds; 4 if the class is not known. As in
/// Direct3D's reflection, a number of 64 bits is one, though it is declared as of 32 bits and accessed as two of these.
fn components(module: &Module, node: &Node<'_>) -> u8 {
    let Some(mut ty) = node.pointee(VARIABLE) else { return 4 };
    // Arrays of resources, the class, and its texel.
    loop {
        match module.types.get(ty) {
            Some(Type::Array { element, .. }) => ty = *element,
            Some(Type::Struct { fields, .. }) if !fields.is_empty() => ty = fields[0],
            Some(Type::Vector { len, .. }) if (1..=4).contains(len) => return *len as u8,
            Some(Type::Half | Type::Float | Type::Double | Type::Integer(_)) => return 1,
            _ => return 4,
        }
    }
}

/// `DXIL::ComponentType`.
pub(super) fn component(number: u32) -> ComponentType {
    match number {
        1 => ComponentType::Bool,
        2 => ComponentType::I16,
        3 => ComponentType::U16,
        4 => ComponentType::I32,
        5 => ComponentType::U32,
        6 => ComponentType::I64,
        7 => ComponentType::U64,
        8 => ComponentType::F16,
        9 => ComponentType::F32,
        10 => ComponentType::F64,
        11 => ComponentType::SnormF16,
        12 => ComponentType::UnormF16,
        13 => ComponentType::SnormF32,
        14 => ComponentType::UnormF32,
        15 => ComponentType::SnormF64,
        16 => ComponentType::UnormF64,
        17 | 18 => ComponentType::Packed8x32,
        _ => ComponentType::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feedback_textures() {
        let bytes = include_bytes!("../../../tests/fixtures/reflection/feedback.dxil");
        let interface = crate::reflect(bytes).unwrap();
        let kind = |name: &str| interface.bindings.iter().find(|it| it.name.as_deref() == Some(name)).unwrap().kind;
        let of = |arrayed, feedback| ResourceKind::FeedbackTexture { arrayed, feedback };
        assert_eq!(kind("levels"), of(false, FeedbackKind::MinMip));
        assert_eq!(kind("regions"), of(true, FeedbackKind::MipRegionUsed));
    }
}
