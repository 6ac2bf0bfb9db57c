//! `RDAT` to exports and subobjects of a library.

use std::borrow::Cow;

use crate::{
    Result,
    container::{
        Container, DxilResourceClass, FeatureFlags, FourCc, LibraryResource, LibraryShader, RaytracingPipelineFlags,
        RootSignature, RuntimeData, Subobject as Record, SubobjectKind as RecordKind,
    },
    ir::BindingId,
    reflection::{
        Associations, Binding, HitGroup, Interface, LibraryExport, RaytracingPipelineConfig, RaytracingShaderConfig,
        ResourceClass, ShaderModel, Stage, Subobject, SubobjectKind,
    },
};

/// Reads what `RDAT` says of a library into its interface; nothing without the part.
pub(in crate::reflection) fn read(container: &Container<'_>, interface: &mut Interface) -> Result<()> {
    let Some(part) = container.part(FourCc::RDAT) else { return Ok(()) };
    let data = RuntimeData::parse(part)?;
    interface.subobjects = data
        .subobjects
        .iter()
        .map(|record| subobject(record).map_err(|error| error.in_part(FourCc::RDAT)))
        .collect::<Result<_>>()?;
    let mut taken = vec![false; data.functions.len()];
    for entry in &mut interface.entry_points {
        let is_its = |function: &LibraryShader<'_>| {
            (function.unmangled_name == entry.name || function.name == entry.name)
                && u16::try_from(function.kind.0).ok().and_then(Stage::from_kind) == Some(entry.stage)
        };
        let found = data.functions.iter().zip(&mut taken).find(|(function, taken)| !**taken && is_its(function));
        if let Some((function, taken)) = found {
            *taken = true;
            entry.library = Some(export(function, &interface.bindings));
        }
    }
    Associator::new(&interface.subobjects).associate(interface);
    Ok(())
}

fn export(function: &LibraryShader<'_>, bindings: &[Binding]) -> LibraryExport {
    let is_used = |(index, binding): &(usize, &Binding)| {
        if binding.is_heap() {
            let heap = match binding.class {
                ResourceClass::Sampler => FeatureFlags::SAMPLER_DESCRIPTOR_HEAP_INDEXING,
                _ => FeatureFlags::RESOURCE_DESCRIPTOR_HEAP_INDEXING,
            };
            return function.features.contains(heap);
        }
        // Resources are numbered within their class, in the order of the bindings.
        let id = bindings[..*index].iter().filter(|before| before.class == binding.class).count();
        function.resources.iter().any(|resource| class(resource) == Some(binding.class) && resource.id as usize == id)
    };
    let target = function.min_shader_target;
    LibraryExport {
        mangled_name: function.name.clone().into_owned(),
        bindings: bindings.iter().enumerate().filter(is_used).map(|(index, _)| BindingId(index as u32)).collect(),
        dependencies: function.dependencies.iter().cloned().map(Cow::into_owned).collect(),
        min_shader_model: ShaderModel { major: (target >> 4 & 0xf) as u8, minor: (target & 0xf) as u8 },
        feature_flags: function.features,
        hit_groups: Vec::new(),
        associations: Associations::default(),
    }
}

fn class(resource: &LibraryResource<'_>) -> Option<ResourceClass> {
    Some(match resource.class {
        DxilResourceClass::SRV => ResourceClass::Srv,
        DxilResourceClass::UAV => ResourceClass::Uav,
        DxilResourceClass::CBUFFER => ResourceClass::Cbv,
        DxilResourceClass::SAMPLER => ResourceClass::Sampler,
        _ => return None,
    })
}

fn subobject(record: &Record<'_>) -> Result<Subobject> {
    let signature = || record.kind.root_signature().map(Option::<RootSignature>::unwrap_or_default);
    let named = |name: &Cow<'_, str>| Some(name.clone().into_owned()).filter(|name| !name.is_empty());
    let kind = match &record.kind {
        RecordKind::StateObjectConfig(flags) => SubobjectKind::StateObjectConfig(*flags),
        RecordKind::GlobalRootSignature(_) => SubobjectKind::GlobalRootSignature(signature()?),
        RecordKind::LocalRootSignature(_) => SubobjectKind::LocalRootSignature(signature()?),
        RecordKind::ExportsAssociation { subobject, exports } => SubobjectKind::ExportsAssociation {
            subobject: subobject.clone().into_owned(),
            exports: exports.iter().cloned().map(Cow::into_owned).collect(),
        },
        &RecordKind::RaytracingShaderConfig { max_payload_size, max_attribute_size } => {
            SubobjectKind::RaytracingShaderConfig(RaytracingShaderConfig { max_payload_size, max_attribute_size })
        }
        &RecordKind::RaytracingPipelineConfig { max_recursion_depth } => {
            let flags = RaytracingPipelineFlags(0);
            SubobjectKind::RaytracingPipelineConfig(RaytracingPipelineConfig { max_recursion_depth, flags })
        }
        &RecordKind::RaytracingPipelineConfig1 { max_recursion_depth, flags } => {
            SubobjectKind::RaytracingPipelineConfig(RaytracingPipelineConfig { max_recursion_depth, flags })
        }
        RecordKind::HitGroup { ty, any_hit, closest_hit, intersection } => SubobjectKind::HitGroup(HitGroup {
            ty: *ty,
            any_hit: named(any_hit),
            closest_hit: named(closest_hit),
            intersection: named(intersection),
            associations: Associations::default(),
        }),
        RecordKind::Unknown(number) => SubobjectKind::Unknown(*number),
    };
    Ok(Subobject { name: record.name.clone().into_owned(), kind })
}

/// What associations are about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    StateObjectConfig,
    GlobalRootSignature,
    LocalRootSignature,
    ShaderConfig,
    PipelineConfig,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::StateObjectConfig,
        Self::GlobalRootSignature,
        Self::LocalRootSignature,
        Self::ShaderConfig,
        Self::PipelineConfig,
    ];

    fn of(kind: &SubobjectKind) -> Option<Self> {
        Some(match kind {
            SubobjectKind::StateObjectConfig(_) => Self::StateObjectConfig,
            SubobjectKind::GlobalRootSignature(_) => Self::GlobalRootSignature,
            SubobjectKind::LocalRootSignature(_) => Self::LocalRootSignature,
            SubobjectKind::RaytracingShaderConfig(_) => Self::ShaderConfig,
            SubobjectKind::RaytracingPipelineConfig(_) => Self::PipelineConfig,
            SubobjectKind::ExportsAssociation { .. } | SubobjectKind::HitGroup(_) | SubobjectKind::Unknown(_) => {
                return None;
            }
        })
    }

    /// It makes sense for a shader of the stage.
    fn is_for(self, stage: Stage) -> bool {
        let is_raytracing = (Stage::RayGeneration..=Stage::Callable).contains(&stage);
        match self {
            Self::StateObjectConfig | Self::GlobalRootSignature => true,
            Self::LocalRootSignature => is_raytracing || stage == Stage::Node,
            Self::ShaderConfig | Self::PipelineConfig => is_raytracing,
        }
    }

    fn field(self, associations: &mut Associations) -> &mut Option<String> {
        match self {
            Self::StateObjectConfig => &mut associations.state_object_config,
            Self::GlobalRootSignature => &mut associations.global_root_signature,
            Self::LocalRootSignature => &mut associations.local_root_signature,
            Self::ShaderConfig => &mut associations.shader_config,
            Self::PipelineConfig => &mut associations.pipeline_config,
        }
    }
}

/// The associations of one library.
struct Associator {
    /// Kind, subobject and export of each association that lists exports.
    explicit: Vec<(Kind, String, String)>,
    /// Kind and name of the subobjects that hold by default.
    defaults: Vec<(Kind, String)>,
    /// Names of hit groups, and of their shaders.
    groups: Vec<(String, Vec<String>)>,
}

impl Associator {
    fn new(subobjects: &[Subobject]) -> Self {
        let mut it = Self { explicit: Vec::new(), defaults: Vec::new(), groups: Vec::new() };
        let associations = subobjects.iter().filter_map(|subobject| match &subobject.kind {
            SubobjectKind::ExportsAssociation { subobject, exports } => Some((subobject, exports)),
            _ => None,
        });
        let associations = associations.collect::<Vec<_>>();
        for Subobject { name, kind } in subobjects {
            if let SubobjectKind::HitGroup(group) = kind {
                it.groups.push((name.clone(), group.shaders().map(str::to_owned).collect()));
            }
            let Some(kind) = Kind::of(kind) else { continue };
            let lists = || associations.iter().filter(|(subobject, _)| *subobject == name).map(|(_, exports)| *exports);
            it.explicit.extend(lists().flatten().map(|export| (kind, name.clone(), export.clone())));
            if lists().all(Vec::is_empty) || lists().any(Vec::is_empty) {
                it.defaults.push((kind, name.clone()));
            }
        }
        it
    }

    /// Gives each entry point and hit group what holds for it.
    fn associate(&self, interface: &mut Interface) {
        for entry in &mut interface.entry_points {
            let stage = entry.stage;
            let Some(export) = &mut entry.library else { continue };
            let names = [&entry.name[..], &export.mangled_name];
            let groups =
                self.groups.iter().filter(|(_, shaders)| shaders.iter().any(|shader| names.contains(&&shader[..])));
            let groups = groups.map(|(name, _)| name.clone()).collect::<Vec<_>>();
            let linked = groups.iter().map(String::as_str).collect::<Vec<_>>();
            export.associations = self.of(&names, &linked, |kind| kind.is_for(stage));
            export.hit_groups = groups;
        }
        // Associations may call a hit group's shaders by their other names.
        let names = interface
            .entry_points
            .iter()
            .filter_map(|entry| entry.library.as_ref().map(|export| [entry.name.clone(), export.mangled_name.clone()]));
        let names = names.collect::<Vec<_>>();
        for Subobject { name, kind } in &mut interface.subobjects {
            let SubobjectKind::HitGroup(group) = kind else { continue };
            let mut shaders = group.shaders().collect::<Vec<_>>();
            for pair in &names {
                if pair.iter().any(|name| shaders.contains(&&name[..])) {
                    shaders.extend(pair.iter().map(String::as_str));
                }
            }
            let associations = self.of(&[name], &shaders, |kind| kind.is_for(Stage::ClosestHit));
            group.associations = associations;
        }
    }

    /// What holds for an export: what names it, what names those that share its associations, what holds by default.
    fn of(&self, names: &[&str], linked: &[&str], is_for: impl Fn(Kind) -> bool) -> Associations {
        let mut associations = Associations::default();
        for kind in Kind::ALL.into_iter().filter(|&kind| is_for(kind)) {
            let explicit = |names: &[&str]| {
                let named = self.explicit.iter().filter(|(of, _, export)| *of == kind && names.contains(&&export[..]));
                named.map(|(_, subobject, _)| subobject.clone()).collect::<Vec<_>>()
            };
            let mut holding = explicit(names);
            holding.extend(explicit(linked));
            if holding.is_empty() {
                holding.extend(self.defaults.iter().filter(|(of, _)| *of == kind).map(|(_, name)| name.clone()));
            }
            holding.sort();
            holding.dedup();
            match &mut holding[..] {
                [] => {}
                [one] => *kind.field(&mut associations) = Some(std::mem::take(one)),
                _ => associations.conflicts.push(holding),
            }
        }
        associations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflection::RootSource;

    const LIBRARY: &[u8] = include_bytes!("../../../tests/fixtures/container/library.dxil");

    fn entry<'a>(interface: &'a Interface, name: &str) -> &'a crate::reflection::EntryPointInterface {
        interface.entry_points.iter().find(|entry| entry.name == name).unwrap()
    }

    #[test]
    fn exports_of_a_library() {
        let interface = crate::reflect(LIBRARY).unwrap();
        let closest = entry(&interface, "closest");
        assert_eq!(interface.hit_groups(closest).map(|(name, _)| name).collect::<Vec<_>>(), ["hit_group"]);
        let config = interface.shader_config(closest).unwrap();
        assert_eq!((config.max_payload_size, config.max_attribute_size), (16, 8));
        let local = interface.local_root_signature(closest).unwrap();
        assert_eq!(local.parameters.len(), 1);
        let associations = &closest.library.as_ref().unwrap().associations;
        assert_eq!(associations.conflicts, [["pipeline_config", "pipeline_config1"]], "both hold by default");

        let store = entry(&interface, "store");
        let export = store.library.as_ref().unwrap();
        assert_eq!(export.associations.local_root_signature, None);
        assert_eq!(export.associations.shader_config, None, "a compute shader traces no rays");
        assert_eq!((export.bindings.len(), closest.library.as_ref().unwrap().bindings.len()), (1, 0));
        let [bound] = &store.root_bindings[..] else { panic!("{:?}", store.root_bindings) };
        assert_eq!((bound.source, bound.local), (Some(RootSource::Descriptor { parameter: 0 }), false));
        assert_eq!(closest.root_bindings, []);
    }

    fn subobject(name: &str, kind: SubobjectKind) -> Subobject {
        Subobject { name: name.into(), kind }
    }

    fn association(name: &str, subobject_name: &str, exports: &[&str]) -> Subobject {
        let exports = exports.iter().map(|&export| export.to_owned()).collect();
        subobject(name, SubobjectKind::ExportsAssociation { subobject: subobject_name.into(), exports })
    }

    fn local(name: &str) -> Subobject {
        subobject(name, SubobjectKind::LocalRootSignature(RootSignature::default()))
    }

    fn group(name: &str, any_hit: &str, closest_hit: &str) -> Subobject {
        let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let kind = SubobjectKind::HitGroup(HitGroup {
            ty: Default::default(),
            any_hit: named(any_hit),
            closest_hit: named(closest_hit),
            intersection: None,
            associations: Associations::default(),
        });
        subobject(name, kind)
    }

    /// The local root signature of each entry point of the library, if its subobjects were these.
    fn locals(subobjects: Vec<Subobject>) -> [Option<String>; 2] {
        let mut interface = crate::reflect(LIBRARY).unwrap();
        interface.subobjects = subobjects;
        Associator::new(&interface.subobjects).associate(&mut interface);
        let of = |name: &str| {
            let associations = &entry(&interface, name).library.as_ref().unwrap().associations;
            match &associations.conflicts[..] {
                [] => associations.local_root_signature.clone(),
                conflicts => Some(format!("conflict of {}", conflicts[0].join(" and "))),
            }
        };
        [of("closest"), of("missed")]
    }

    fn some(names: [&str; 2]) -> [Option<String>; 2] {
        names.map(|name| (!name.is_empty()).then(|| name.to_owned()))
    }

    #[test]
    fn named_exports_come_before_defaults() {
        assert_eq!(locals(vec![local("a")]), some(["a", "a"]), "without associations it holds by default");
        assert_eq!(locals(vec![local("a"), association("x", "a", &["missed"])]), some(["", "a"]));
        let both = vec![local("a"), local("b"), association("x", "a", &["missed"])];
        assert_eq!(locals(both), some(["b", "a"]), "the one without associations is the default");
        let broadcast = vec![local("a"), association("x", "a", &["missed"]), association("y", "a", &[])];
        assert_eq!(locals(broadcast), some(["a", "a"]), "an empty list makes a default");
        let mangled = vec![local("a"), association("x", "a", &["\u{1}?missed@@YAXUPayload@@@Z"])];
        assert_eq!(locals(mangled), some(["", "a"]));
        assert_eq!(locals(vec![local("a"), local("b")]), some(["conflict of a and b"; 2]));
        let twice =
            vec![local("a"), local("b"), association("x", "a", &["missed"]), association("y", "b", &["missed"])];
        assert_eq!(locals(twice), some(["", "conflict of a and b"]));
        let foreign = vec![association("x", "elsewhere", &["missed"])];
        assert_eq!(locals(foreign), some(["", ""]), "a subobject of the state object");
    }

    #[test]
    fn hit_groups_and_their_shaders_share_associations() {
        let named = vec![local("a"), local("b"), group("g", "", "closest"), association("x", "a", &["g"])];
        assert_eq!(locals(named.clone()), some(["a", "b"]));
        let mut interface = crate::reflect(LIBRARY).unwrap();
        interface.subobjects =
            vec![local("a"), local("b"), group("g", "", "closest"), association("x", "a", &["closest"])];
        Associator::new(&interface.subobjects).associate(&mut interface);
        let Some(SubobjectKind::HitGroup(group)) = interface.subobject("g") else { panic!() };
        assert_eq!(group.associations.local_root_signature.as_deref(), Some("a"));
        let mut differ = named;
        differ.push(association("y", "b", &["closest"]));
        assert_eq!(locals(differ), some(["conflict of a and b", ""]));
    }
}
