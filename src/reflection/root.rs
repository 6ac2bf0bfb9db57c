//! Which argument of a root signature supplies each binding of a shader.
//!
//! The rules are those by which Direct3D 12 accepts a pipeline: a parameter must be visible to the shader's stage and cover
//! all registers of a binding; of an unbounded array it must cover the first. Compute, ray tracing and node shaders see
//! only what all stages see. (`DxilRootSignatureValidator` of DirectXShaderCompiler, `ResourceBinding.md` of
//! DirectX-Specs.)

use std::fmt;

use serde::{Deserialize, Serialize};

use super::interface::{Binding, EntryPointInterface, Interface, ResourceClass, ResourceKind, Stage};
use crate::container::{
    DescriptorRange, DescriptorRangeType, RootParameterKind, RootSignature, RootSignatureFlags, ShaderVisibility,
    StaticSampler,
};

/// What supplies a binding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootBinding {
    /// Register class of the binding.
    pub class: ResourceClass,
    /// Its register space.
    pub space: u32,
    /// Its first register.
    pub register: u32,
    /// Name of the binding, if it has one.
    pub name: Option<String>,
    /// Where its descriptors come from; none if nothing supplies it.
    pub source: Option<RootSource>,
    /// The source is in the local root signature of a library's export, whose arguments lie in shader records.
    pub local: bool,
    /// Why Direct3D 12 refuses a pipeline of this shader and this root signature.
    pub fault: Option<RootFault>,
}

/// A source of descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RootSource {
    /// Descriptors of a table.
    DescriptorTable {
        /// Number of the root parameter.
        parameter: u32,
        /// Number of the range in the table.
        range: u32,
        /// The binding's first descriptor, counted from the table's beginning; none where the range is appended to an
        /// unbounded one, which Direct3D 12 refuses.
        offset: Option<u32>,
    },
    /// A descriptor in the root arguments: the address of a buffer.
    Descriptor {
        /// Number of the root parameter.
        parameter: u32,
    },
    /// Root constants, which fill a constant buffer.
    Constants {
        /// Number of the root parameter.
        parameter: u32,
        /// Number of 32-bit constants.
        count: u32,
    },
    /// A sampler of the root signature's own.
    StaticSampler {
        /// Its number.
        sampler: u32,
    },
    /// The bound descriptor heap itself: `ResourceDescriptorHeap[i]`, `SamplerDescriptorHeap[i]`.
    DescriptorHeap,
}

/// Why a root signature does not serve a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RootFault {
    /// No parameter covers the register.
    NotCovered,
    /// A parameter covers some of the binding's registers, but none all.
    PartlyCovered,
    /// What covers the registers is visible to another stage only.
    NotVisible(ShaderVisibility),
    /// A `DENY_*_ROOT_ACCESS` flag keeps the stage from all root arguments.
    Denied,
    /// A `*_HEAP_DIRECTLY_INDEXED` flag is missing.
    HeapNotIndexed,
    /// Textures and typed buffers cannot be bound by their address.
    TypedByAddress,
    /// Buffers with a counter cannot be bound by their address.
    CounterByAddress,
}

impl fmt::Display for RootSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DescriptorTable { parameter, range, offset } => {
                write!(f, "parameter {parameter}, table, range {range}")?;
                offset.map_or(Ok(()), |offset| write!(f, ", descriptor {offset}"))
            }
            Self::Descriptor { parameter } => write!(f, "parameter {parameter}, descriptor"),
            Self::Constants { parameter, count } => write!(f, "parameter {parameter}, {count} constants"),
            Self::StaticSampler { sampler } => write!(f, "static sampler {sampler}"),
            Self::DescriptorHeap => f.write_str("descriptor heap"),
        }
    }
}

impl fmt::Display for RootFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCovered => f.write_str("not in the root signature"),
            Self::PartlyCovered => f.write_str("not wholly in the root signature"),
            Self::NotVisible(visibility) => write!(f, "visible to another stage only: {visibility}"),
            Self::Denied => f.write_str("the root signature denies the stage access"),
            Self::HeapNotIndexed => f.write_str("the root signature does not allow to index the heap"),
            Self::TypedByAddress => f.write_str("textures and typed buffers have no root descriptors"),
            Self::CounterByAddress => f.write_str("buffers with a counter have no root descriptors"),
        }
    }
}

impl Interface {
    /// What supplies the bindings of an entry point under a root signature, in the order of [`Interface::bindings`].
    /// `entry` is its number; those of a library have the bindings that they use.
    pub fn root_bindings(&self, entry: usize, signature: &RootSignature) -> Vec<RootBinding> {
        let Some(entry) = self.entry_points.get(entry) else { return Vec::new() };
        let used = |index: usize| {
            !self.bindings[index].is_of_host() && entry.library.as_ref().is_none_or(|export| export.uses(index))
        };
        let bindings = self.bindings.iter().enumerate().filter(|&(index, _)| used(index));
        bindings.map(|(_, binding)| root_binding(binding, entry.stage, signature)).collect()
    }

    /// The static sampler that a root signature of the container supplies a binding with.
    pub fn static_sampler(&self, binding: &Binding) -> Option<&StaticSampler> {
        let place = (binding.class, binding.space, binding.register);
        self.entry_points.iter().find_map(|entry| {
            let mut roots = entry.root_bindings.iter();
            let root = roots.find(|root| (root.class, root.space, root.register) == place)?;
            let Some(RootSource::StaticSampler { sampler }) = root.source else { return None };
            let (global, local) = export_signatures(self, entry);
            let of_export = if root.local { local } else { global };
            self.root_signature.as_ref().or(of_export)?.static_samplers.get(sampler as usize)
        })
    }

    /// What Direct3D 12 refuses about the bindings and the root signatures that the container carries: entry point and
    /// binding.
    pub fn root_faults(&self) -> impl Iterator<Item = (&str, &RootBinding)> {
        self.entry_points.iter().flat_map(|entry| {
            let faulty = entry.root_bindings.iter().filter(|binding| binding.fault.is_some());
            faulty.map(|binding| (&entry.name[..], binding))
        })
    }
}

/// Fills in what the container's root signatures supply: that of the whole, or those of a library's exports.
pub(super) fn resolve(interface: &mut Interface) {
    for entry in 0..interface.entry_points.len() {
        let bindings = match &interface.root_signature {
            Some(signature) => interface.root_bindings(entry, signature),
            None => of_export(interface, entry),
        };
        interface.entry_points[entry].root_bindings = bindings;
    }
}

/// The global and the local root signature of a library's export, those that the library has.
fn export_signatures<'a>(
    interface: &'a Interface,
    entry: &EntryPointInterface,
) -> (Option<&'a RootSignature>, Option<&'a RootSignature>) {
    let Some(export) = &entry.library else { return (None, None) };
    let named = |name: &Option<String>| name.as_deref().and_then(|name| interface.root_signature_of(name));
    (named(&export.associations.global_root_signature), named(&export.associations.local_root_signature))
}

/// The bindings of a library's export: in its local root signature, else in its global one. Where the library does not
/// have the global one, nothing is said of what the local one lacks.
fn of_export(interface: &Interface, entry: usize) -> Vec<RootBinding> {
    let (global, local) = export_signatures(interface, &interface.entry_points[entry]);
    if global.is_none() && local.is_none() {
        return Vec::new();
    }
    let resolve = |signature: Option<&RootSignature>| match signature {
        Some(signature) => interface.root_bindings(entry, signature),
        None => Vec::new(),
    };
    let global_bindings = resolve(global);
    let local_bindings = resolve(local).into_iter().map(|binding| RootBinding { local: true, ..binding });
    if global.is_none() {
        return local_bindings.filter(|binding| binding.source.is_some()).collect();
    }
    let mut bindings = global_bindings;
    for (binding, local) in bindings.iter_mut().zip(local_bindings) {
        let is_better = binding.source.is_none() && local.source != Some(RootSource::DescriptorHeap);
        if local.source.is_some() && is_better {
            *binding = local;
        }
    }
    bindings
}

fn root_binding(binding: &Binding, stage: Stage, signature: &RootSignature) -> RootBinding {
    let (source, fault) = match supply(binding, stage, signature) {
        Ok(source) => (Some(source), fault(binding, stage, signature, source)),
        Err(fault) => (None, Some(fault)),
    };
    RootBinding {
        class: binding.class,
        space: binding.space,
        register: binding.register,
        name: binding.name.clone(),
        source,
        local: false,
        fault,
    }
}

/// What is wrong with a source that covers the binding.
fn fault(binding: &Binding, stage: Stage, signature: &RootSignature, source: RootSource) -> Option<RootFault> {
    let denies = match stage {
        Stage::Vertex => RootSignatureFlags::DENY_VERTEX_SHADER_ROOT_ACCESS,
        Stage::Hull => RootSignatureFlags::DENY_HULL_SHADER_ROOT_ACCESS,
        Stage::Domain => RootSignatureFlags::DENY_DOMAIN_SHADER_ROOT_ACCESS,
        Stage::Geometry => RootSignatureFlags::DENY_GEOMETRY_SHADER_ROOT_ACCESS,
        Stage::Pixel => RootSignatureFlags::DENY_PIXEL_SHADER_ROOT_ACCESS,
        Stage::Amplification => RootSignatureFlags::DENY_AMPLIFICATION_SHADER_ROOT_ACCESS,
        Stage::Mesh => RootSignatureFlags::DENY_MESH_SHADER_ROOT_ACCESS,
        _ => RootSignatureFlags(0),
    };
    match (source, binding.kind) {
        (RootSource::DescriptorHeap, _) => None,
        _ if signature.flags.0 & denies.0 != 0 => Some(RootFault::Denied),
        (RootSource::Descriptor { .. }, ResourceKind::StructuredBuffer { counter: true, .. }) => {
            Some(RootFault::CounterByAddress)
        }
        (
            RootSource::Descriptor { .. },
            ResourceKind::Texture { .. }
            | ResourceKind::TypedBuffer { .. }
            | ResourceKind::TextureBuffer { .. }
            | ResourceKind::FeedbackTexture { .. },
        ) => Some(RootFault::TypedByAddress),
        _ => None,
    }
}

/// How far a range of registers serves a binding.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cover {
    None,
    Some,
    All,
}

/// The source that covers a binding.
fn supply(binding: &Binding, stage: Stage, signature: &RootSignature) -> Result<RootSource, RootFault> {
    if binding.is_heap() {
        let flag = match binding.class {
            ResourceClass::Sampler => RootSignatureFlags::SAMPLER_HEAP_DIRECTLY_INDEXED,
            _ => RootSignatureFlags::CBV_SRV_UAV_HEAP_DIRECTLY_INDEXED,
        };
        return if signature.flags.contains(flag) {
            Ok(RootSource::DescriptorHeap)
        } else {
            Err(RootFault::HeapNotIndexed)
        };
    }
    let cover = |space: u32, register: u32, count: Option<u32>| {
        if space != binding.space {
            return Cover::None;
        }
        // Ends are exclusive. Of an unbounded array the first register counts.
        let end =
            |register: u32, count: Option<u32>| count.map_or(1 << 32, |count| u64::from(register) + u64::from(count));
        let (from, to) = (u64::from(register), end(register, count));
        let (first, last) = (u64::from(binding.register), end(binding.register, Some(binding.count.unwrap_or(1))));
        if from <= first && last <= to {
            Cover::All
        } else if from < last && first < to {
            Cover::Some
        } else {
            Cover::None
        }
    };
    let mut fault = RootFault::NotCovered;
    for (source, visibility, covered) in sources(binding, signature, cover) {
        let visible = visibility == ShaderVisibility::ALL || Some(visibility) == stage_visibility(stage);
        match covered {
            Cover::All if visible => return Ok(source),
            Cover::All => fault = RootFault::NotVisible(visibility),
            Cover::Some if visible && fault == RootFault::NotCovered => fault = RootFault::PartlyCovered,
            _ => {}
        }
    }
    Err(fault)
}

/// The visibility that is for a stage alone.
fn stage_visibility(stage: Stage) -> Option<ShaderVisibility> {
    Some(match stage {
        Stage::Vertex => ShaderVisibility::VERTEX,
        Stage::Hull => ShaderVisibility::HULL,
        Stage::Domain => ShaderVisibility::DOMAIN,
        Stage::Geometry => ShaderVisibility::GEOMETRY,
        Stage::Pixel => ShaderVisibility::PIXEL,
        Stage::Amplification => ShaderVisibility::AMPLIFICATION,
        Stage::Mesh => ShaderVisibility::MESH,
        _ => return None,
    })
}

/// Everything in a root signature that is of a binding's class: the source, who sees it, and how far it serves.
fn sources(
    binding: &Binding,
    signature: &RootSignature,
    cover: impl Fn(u32, u32, Option<u32>) -> Cover,
) -> Vec<(RootSource, ShaderVisibility, Cover)> {
    let class = binding.class;
    let mut sources = Vec::new();
    for (number, parameter) in (0..).zip(&signature.parameters) {
        let mut add = |source, covered| sources.push((source, parameter.visibility, covered));
        let mut add_single = |of_class: ResourceClass, source, space, register| {
            if of_class == class {
                add(source, cover(space, register, Some(1)));
            }
        };
        let descriptor = RootSource::Descriptor { parameter: number };
        match &parameter.kind {
            RootParameterKind::DescriptorTable(ranges) => {
                for (index, start, range) in starts(ranges) {
                    if class_of(range.ty) != Some(class) {
                        continue;
                    }
                    let within = binding.register.checked_sub(range.register);
                    let offset = start.and_then(|start| start.checked_add(within?));
                    let source = RootSource::DescriptorTable { parameter: number, range: index, offset };
                    add(source, cover(range.space, range.register, range.count));
                }
            }
            RootParameterKind::Constants { register, space, count } => {
                let source = RootSource::Constants { parameter: number, count: *count };
                add_single(ResourceClass::Cbv, source, *space, *register);
            }
            RootParameterKind::Cbv(it) => add_single(ResourceClass::Cbv, descriptor, it.space, it.register),
            RootParameterKind::Srv(it) => add_single(ResourceClass::Srv, descriptor, it.space, it.register),
            RootParameterKind::Uav(it) => add_single(ResourceClass::Uav, descriptor, it.space, it.register),
        }
    }
    if class == ResourceClass::Sampler {
        for (number, sampler) in (0..).zip(&signature.static_samplers) {
            let covered = cover(sampler.space, sampler.register, Some(1));
            sources.push((RootSource::StaticSampler { sampler: number }, sampler.visibility, covered));
        }
    }
    sources
}

/// The ranges of a table with their numbers and the descriptor that each begins at: where it says, or after the range before
/// (`D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND`).
fn starts(ranges: &[DescriptorRange]) -> impl Iterator<Item = (u32, Option<u32>, &DescriptorRange)> {
    (0..).zip(ranges).scan(Some(0), |next: &mut Option<u32>, (index, range)| {
        let start = range.offset.or(*next);
        *next = range.count.and_then(|count| start?.checked_add(count));
        Some((index, start, range))
    })
}

fn class_of(ty: DescriptorRangeType) -> Option<ResourceClass> {
    Some(match ty {
        DescriptorRangeType::SRV => ResourceClass::Srv,
        DescriptorRangeType::UAV => ResourceClass::Uav,
        DescriptorRangeType::CBV => ResourceClass::Cbv,
        DescriptorRangeType::SAMPLER => ResourceClass::Sampler,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        container::{RootDescriptor, RootDescriptorFlags, RootParameter, RootSignatureVersion},
        reflection::{ComponentType, HEAP_SPACE, TextureDimension, UavFlags},
    };

    const FLAGS: UavFlags = UavFlags { globally_coherent: false, rasterizer_ordered: false };
    const TEXTURE: ResourceKind = ResourceKind::Texture {
        dimension: TextureDimension::D2,
        component: ComponentType::F32,
        components: 4,
        samples: 0,
        flags: FLAGS,
    };
    const RAW: ResourceKind = ResourceKind::RawBuffer { flags: FLAGS };
    const COUNTED: ResourceKind = ResourceKind::StructuredBuffer { stride: 4, counter: true, flags: FLAGS };

    fn binding(class: ResourceClass, space: u32, register: u32, count: Option<u32>, kind: ResourceKind) -> Binding {
        Binding { name: None, class, space, register, count, kind, layout: None }
    }

    fn range(ty: DescriptorRangeType, count: Option<u32>, register: u32, offset: Option<u32>) -> DescriptorRange {
        DescriptorRange { ty, count, register, space: 0, flags: Default::default(), offset }
    }

    fn signature(flags: RootSignatureFlags, parameters: Vec<(ShaderVisibility, RootParameterKind)>) -> RootSignature {
        let parameters = parameters.into_iter().map(|(visibility, kind)| RootParameter { visibility, kind });
        RootSignature {
            version: RootSignatureVersion::V1_1,
            flags,
            parameters: parameters.collect(),
            static_samplers: Vec::new(),
        }
    }

    fn descriptor(register: u32) -> RootDescriptor {
        RootDescriptor { register, space: 0, flags: RootDescriptorFlags(0) }
    }

    #[test]
    fn tables_append_and_are_unbounded() {
        let ranges = vec![
            range(DescriptorRangeType::SRV, Some(3), 4, None),
            range(DescriptorRangeType::UAV, Some(2), 0, None),
            range(DescriptorRangeType::SRV, Some(1), 20, Some(40)),
            range(DescriptorRangeType::CBV, Some(1), 7, None),
            range(DescriptorRangeType::SRV, None, 30, None),
            range(DescriptorRangeType::UAV, Some(1), 9, None),
        ];
        let table = RootParameterKind::DescriptorTable(ranges);
        let signature = signature(RootSignatureFlags(0), vec![(ShaderVisibility::ALL, table)]);
        let of = |class, register, count| {
            let bound = root_binding(&binding(class, 0, register, count, RAW), Stage::Compute, &signature);
            match (bound.source, bound.fault) {
                (Some(RootSource::DescriptorTable { parameter: 0, range, offset }), None) => Ok((range, offset)),
                (_, fault) => Err(fault.unwrap()),
            }
        };
        use ResourceClass::{Cbv, Srv, Uav};
        assert_eq!(of(Srv, 6, Some(1)), Ok((0, Some(2))));
        assert_eq!(of(Uav, 0, Some(2)), Ok((1, Some(3))));
        assert_eq!(of(Srv, 20, Some(1)), Ok((2, Some(40))));
        assert_eq!(of(Cbv, 7, Some(1)), Ok((3, Some(41))));
        // Of an unbounded array the first register counts, in a bounded range too.
        assert_eq!(of(Srv, 35, Some(1000)), Ok((4, Some(47))));
        assert_eq!((of(Srv, 35, None), of(Srv, 4, None)), (Ok((4, Some(47))), Ok((0, Some(0)))));
        // After an unbounded range no place is left.
        assert_eq!(of(Uav, 9, Some(1)), Ok((5, None)));
        assert_eq!(of(Srv, 4, Some(4)), Err(RootFault::PartlyCovered));
        assert_eq!(of(Srv, 3, Some(1)), Err(RootFault::NotCovered));
        assert_eq!(of(Cbv, u32::MAX, Some(u32::MAX)), Err(RootFault::NotCovered));
    }

    #[test]
    fn stages_see_what_they_may() {
        let parameters = vec![
            (ShaderVisibility::PIXEL, RootParameterKind::Srv(descriptor(0))),
            (ShaderVisibility::VERTEX, RootParameterKind::Srv(descriptor(0))),
            (ShaderVisibility::ALL, RootParameterKind::Constants { register: 2, space: 1, count: 8 }),
            (ShaderVisibility::ALL, RootParameterKind::Uav(descriptor(5))),
        ];
        let denied = RootSignatureFlags::DENY_VERTEX_SHADER_ROOT_ACCESS;
        let open = signature(RootSignatureFlags(0), parameters.clone());
        let closed = signature(denied, parameters);
        let buffer = binding(ResourceClass::Srv, 0, 0, Some(1), RAW);
        let source = |stage, signature| root_binding(&buffer, stage, signature);
        assert_eq!(source(Stage::Pixel, &open).source, Some(RootSource::Descriptor { parameter: 0 }));
        assert_eq!(source(Stage::Vertex, &open).source, Some(RootSource::Descriptor { parameter: 1 }));
        assert_eq!(source(Stage::Pixel, &closed).fault, None);
        assert_eq!(source(Stage::Vertex, &closed).fault, Some(RootFault::Denied));
        for stage in [Stage::Compute, Stage::Mesh, Stage::Miss, Stage::Node] {
            assert!(matches!(source(stage, &open).fault, Some(RootFault::NotVisible(_))), "{stage:?}");
        }
        let constants = |space| {
            let kind = ResourceKind::ConstantBuffer { size: 32 };
            root_binding(&binding(ResourceClass::Cbv, space, 2, Some(1), kind), Stage::Vertex, &open)
        };
        assert_eq!(constants(1).source, Some(RootSource::Constants { parameter: 2, count: 8 }));
        assert_eq!((constants(0).source, constants(0).fault), (None, Some(RootFault::NotCovered)));

        let by_address = |class, register, kind| {
            root_binding(&binding(class, 0, register, Some(1), kind), Stage::Pixel, &open).fault
        };
        assert_eq!(by_address(ResourceClass::Srv, 0, TEXTURE), Some(RootFault::TypedByAddress));
        assert_eq!(by_address(ResourceClass::Uav, 5, COUNTED), Some(RootFault::CounterByAddress));
        assert_eq!(by_address(ResourceClass::Uav, 5, RAW), None);
    }

    #[test]
    fn heaps_are_indexed_if_allowed() {
        let resources = binding(ResourceClass::Srv, HEAP_SPACE, 0, None, TEXTURE);
        let kind = ResourceKind::Sampler { mode: Default::default() };
        let samplers = binding(ResourceClass::Sampler, HEAP_SPACE + 1, 0, None, kind);
        let signature = signature(RootSignatureFlags::SAMPLER_HEAP_DIRECTLY_INDEXED, Vec::new());
        let faults = [&resources, &samplers].map(|binding| root_binding(binding, Stage::Pixel, &signature).fault);
        assert_eq!(faults, [Some(RootFault::HeapNotIndexed), None]);
    }

    #[test]
    fn of_a_container() {
        let bytes = include_bytes!("../../tests/fixtures/container/root_signature.dxil");
        let interface = crate::reflect(bytes).unwrap();
        let sources = interface.entry_points[0].root_bindings.iter().map(|bound| (bound.name.as_deref(), bound.source));
        let table = RootSource::DescriptorTable { parameter: 3, range: 0, offset: Some(0) };
        assert_eq!(
            sources.collect::<Vec<_>>(),
            [(Some("images"), Some(table)), (Some("Constants"), Some(RootSource::Descriptor { parameter: 0 }))]
        );
        assert_eq!(interface.root_faults().count(), 0);

        let mut other = interface.root_signature.clone().unwrap();
        other.parameters.remove(3);
        let bound = interface.root_bindings(0, &other);
        assert_eq!((bound[0].source, bound[0].fault), (None, Some(RootFault::NotCovered)));
    }
}
