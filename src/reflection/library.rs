//! Subobjects of libraries, and what is associated with each export.

use serde::{Deserialize, Serialize};

use super::interface::{EntryPointInterface, Interface, ShaderModel};
use crate::{
    container::{FeatureFlags, HitGroupType, RaytracingPipelineFlags, RootSignature, StateObjectFlags},
    ir::BindingId,
};

/// What a library says of one of its exports, beside what every entry point has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LibraryExport {
    /// Name as the compiler mangled it: `\x01?main@@YAXXZ`. Associations may use it or the plain name.
    pub mangled_name: String,
    /// The bindings that it uses, itself or through functions that it calls.
    pub bindings: Vec<BindingId>,
    /// Functions that it calls and that other libraries define, by their mangled names.
    pub dependencies: Vec<String>,
    /// The least Shader Model that it runs on.
    pub min_shader_model: ShaderModel,
    /// Optional features that it demands.
    pub feature_flags: FeatureFlags,
    /// Names of the library's hit groups that it is part of.
    pub hit_groups: Vec<String>,
    /// The subobjects that hold for it.
    pub associations: Associations,
}

impl LibraryExport {
    /// It uses the binding of that number.
    pub fn uses(&self, binding: usize) -> bool {
        self.bindings.iter().any(|used| used.index() == binding)
    }
}

/// The subobjects that hold for an export, by name: those that an association names it for, else those that hold by default.
///
/// A subobject holds by default for all exports of the library that it can hold for, if no association lists exports for
/// it, or if one has an empty list. What is associated with a hit group holds for its shaders, and the other way round.
/// (`Raytracing.md` of DirectX-Specs, "Subobject association behavior".) The state object that includes the library may
/// override all of this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Associations {
    /// A [`SubobjectKind::StateObjectConfig`].
    pub state_object_config: Option<String>,
    /// A [`SubobjectKind::GlobalRootSignature`].
    pub global_root_signature: Option<String>,
    /// A [`SubobjectKind::LocalRootSignature`].
    pub local_root_signature: Option<String>,
    /// A [`SubobjectKind::RaytracingShaderConfig`].
    pub shader_config: Option<String>,
    /// A [`SubobjectKind::RaytracingPipelineConfig`].
    pub pipeline_config: Option<String>,
    /// Subobjects of one kind that several associations give to it, so that the library cannot be used as it is: of
    /// each kind the names.
    pub conflicts: Vec<Vec<String>>,
}

/// A subobject of a state object that a library defines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subobject {
    /// Name of the HLSL's variable.
    pub name: String,
    /// What it is.
    pub kind: SubobjectKind,
}

/// What a subobject is (`D3D12_STATE_SUBOBJECT_TYPE`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SubobjectKind {
    /// `StateObjectConfig`.
    StateObjectConfig(StateObjectFlags),
    /// `GlobalRootSignature`: arguments that the whole dispatch shares.
    GlobalRootSignature(RootSignature),
    /// `LocalRootSignature`: arguments that lie in the shader's records.
    LocalRootSignature(RootSignature),
    /// `SubobjectToExportsAssociation`.
    ExportsAssociation {
        /// Name of the subobject, which may be another library's or the state object's.
        subobject: String,
        /// Names of the exports that it holds for; none for all others.
        exports: Vec<String>,
    },
    /// `RaytracingShaderConfig`.
    RaytracingShaderConfig(RaytracingShaderConfig),
    /// `RaytracingPipelineConfig`, `RaytracingPipelineConfig1`.
    RaytracingPipelineConfig(RaytracingPipelineConfig),
    /// `TriangleHitGroup`, `ProceduralPrimitiveHitGroup`.
    HitGroup(HitGroup),
    /// A kind that is not known, by its number.
    Unknown(u32),
}

/// Sizes that all shaders of a ray tracing pipeline keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaytracingShaderConfig {
    /// Bytes of a payload at most.
    pub max_payload_size: u32,
    /// Bytes of hit attributes at most.
    pub max_attribute_size: u32,
}

/// Limits of a ray tracing pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaytracingPipelineConfig {
    /// Depth of `TraceRay` within shaders that rays run, at most.
    pub max_recursion_depth: u32,
    /// What rays skip: none in a `RaytracingPipelineConfig`, which has no flags.
    pub flags: RaytracingPipelineFlags,
}

/// Shaders that run together when a ray hits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HitGroup {
    /// What it is hit by.
    pub ty: HitGroupType,
    /// Name of the any-hit shader.
    pub any_hit: Option<String>,
    /// Name of the closest-hit shader.
    pub closest_hit: Option<String>,
    /// Name of the intersection shader.
    pub intersection: Option<String>,
    /// The subobjects that hold for it.
    pub associations: Associations,
}

impl HitGroup {
    /// Names of its shaders.
    pub fn shaders(&self) -> impl Iterator<Item = &str> {
        [&self.any_hit, &self.closest_hit, &self.intersection].into_iter().flatten().map(String::as_str)
    }
}

impl Interface {
    /// The library's subobject of that name.
    pub fn subobject(&self, name: &str) -> Option<&SubobjectKind> {
        self.subobjects.iter().find(|subobject| subobject.name == name).map(|subobject| &subobject.kind)
    }

    /// The root signature that a library's subobject is.
    pub fn root_signature_of(&self, name: &str) -> Option<&RootSignature> {
        match self.subobject(name)? {
            SubobjectKind::GlobalRootSignature(signature) | SubobjectKind::LocalRootSignature(signature) => {
                Some(signature)
            }
            _ => None,
        }
    }

    /// The hit groups of the library that an entry point is part of.
    pub fn hit_groups<'a>(&'a self, entry: &'a EntryPointInterface) -> impl Iterator<Item = (&'a str, &'a HitGroup)> {
        let names = entry.library.iter().flat_map(|export| &export.hit_groups);
        names.filter_map(|name| match self.subobject(name)? {
            SubobjectKind::HitGroup(group) => Some((&name[..], group)),
            _ => None,
        })
    }

    /// The arguments in the shader records of an entry point, if the library defines them.
    pub fn local_root_signature(&self, entry: &EntryPointInterface) -> Option<&RootSignature> {
        self.root_signature_of(entry.library.as_ref()?.associations.local_root_signature.as_deref()?)
    }

    /// The arguments that an entry point shares with the whole dispatch or draw, if the container defines them.
    pub fn global_root_signature(&self, entry: &EntryPointInterface) -> Option<&RootSignature> {
        let associated = |export: &LibraryExport| {
            export.associations.global_root_signature.as_deref().and_then(|name| self.root_signature_of(name))
        };
        self.root_signature.as_ref().or_else(|| entry.library.as_ref().and_then(associated))
    }

    /// The sizes of payloads and attributes that the library sets for an entry point.
    pub fn shader_config(&self, entry: &EntryPointInterface) -> Option<RaytracingShaderConfig> {
        match self.subobject(entry.library.as_ref()?.associations.shader_config.as_deref()?)? {
            SubobjectKind::RaytracingShaderConfig(config) => Some(*config),
            _ => None,
        }
    }

    /// The limits of the pipeline that the library sets for an entry point.
    pub fn pipeline_config(&self, entry: &EntryPointInterface) -> Option<RaytracingPipelineConfig> {
        match self.subobject(entry.library.as_ref()?.associations.pipeline_config.as_deref()?)? {
            SubobjectKind::RaytracingPipelineConfig(config) => Some(*config),
            _ => None,
        }
    }
}
