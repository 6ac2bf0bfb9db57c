//! Subobjects of state objects: ray tracing pipelines and libraries.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::reader::Record;
use crate::{
    Result,
    container::{
        FourCc, HexBytes, Part, RootSignature,
        enumeration::{enumeration, flags},
    },
};

/// One subobject (`RuntimeDataSubobjectInfo`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subobject<'a> {
    /// Name of the HLSL's variable.
    pub name: Cow<'a, str>,
    /// What it is.
    pub kind: SubobjectKind<'a>,
}

/// What a subobject is (`D3D12_STATE_SUBOBJECT_TYPE`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SubobjectKind<'a> {
    /// `StateObjectConfig`.
    StateObjectConfig(StateObjectFlags),
    /// `GlobalRootSignature`: its bytes, those of an `RTS0` part.
    GlobalRootSignature(HexBytes<'a>),
    /// `LocalRootSignature`: its bytes, those of an `RTS0` part.
    LocalRootSignature(HexBytes<'a>),
    /// `SubobjectToExportsAssociation`.
    ExportsAssociation {
        /// Name of the subobject.
        subobject: Cow<'a, str>,
        /// Names of the functions that it holds for; none for the default.
        exports: Vec<Cow<'a, str>>,
    },
    /// `RaytracingShaderConfig`.
    RaytracingShaderConfig {
        /// Bytes of a payload at most.
        max_payload_size: u32,
        /// Bytes of hit attributes at most.
        max_attribute_size: u32,
    },
    /// `RaytracingPipelineConfig`.
    RaytracingPipelineConfig {
        /// Depth of recursion at most.
        max_recursion_depth: u32,
    },
    /// `TriangleHitGroup`, `ProceduralPrimitiveHitGroup`.
    HitGroup {
        /// What it is hit by.
        ty: HitGroupType,
        /// Name of the any-hit shader.
        any_hit: Cow<'a, str>,
        /// Name of the closest-hit shader.
        closest_hit: Cow<'a, str>,
        /// Name of the intersection shader.
        intersection: Cow<'a, str>,
    },
    /// `RaytracingPipelineConfig1`.
    RaytracingPipelineConfig1 {
        /// Depth of recursion at most.
        max_recursion_depth: u32,
        /// What rays skip.
        flags: RaytracingPipelineFlags,
    },
    /// A kind that is not known, by its number.
    Unknown(u32),
}

impl SubobjectKind<'_> {
    /// The root signature, if it is one.
    ///
    /// # Errors
    /// As for [`RootSignature::parse`].
    pub fn root_signature(&self) -> Result<Option<RootSignature>> {
        match self {
            Self::GlobalRootSignature(bytes) | Self::LocalRootSignature(bytes) => {
                RootSignature::parse(Part { name: FourCc::RTS0, offset: 0, data: &bytes.0 }).map(Some)
            }
            _ => Ok(None),
        }
    }
}

flags! {
    /// `D3D12_STATE_OBJECT_FLAGS`.
    StateObjectFlags: u32 {
        ALLOW_LOCAL_DEPENDENCIES = 0x1 "AllowLocalDependenciesOnExternalDefinitions",
        ALLOW_EXTERNAL_DEPENDENCIES = 0x2 "AllowExternalDependenciesOnLocalDefinitions",
        ALLOW_STATE_OBJECT_ADDITIONS = 0x4 "AllowStateObjectAdditions",
    }
}

flags! {
    /// `D3D12_RAYTRACING_PIPELINE_FLAGS`.
    RaytracingPipelineFlags: u32 {
        SKIP_TRIANGLES = 0x100 "SkipTriangles",
        SKIP_PROCEDURAL_PRIMITIVES = 0x200 "SkipProceduralPrimitives",
        ALLOW_OPACITY_MICROMAPS = 0x400 "AllowOpacityMicromaps",
    }
}

enumeration! {
    /// `D3D12_HIT_GROUP_TYPE`.
    HitGroupType: u32 {
        TRIANGLE = 0 "Triangle",
        PROCEDURAL_PRIMITIVE = 1 "ProceduralPrimitive",
    }
}

pub(super) fn read<'a>(record: Record<'_, 'a>) -> Result<Subobject<'a>> {
    let body = record.inner(8);
    let kind = match record.u32(0)? {
        0 => SubobjectKind::StateObjectConfig(StateObjectFlags(body.u32(0)?)),
        1 => SubobjectKind::GlobalRootSignature(body.bytes(0)?),
        2 => SubobjectKind::LocalRootSignature(body.bytes(0)?),
        8 => SubobjectKind::ExportsAssociation { subobject: body.text(0)?, exports: body.texts(4)? },
        9 => SubobjectKind::RaytracingShaderConfig { max_payload_size: body.u32(0)?, max_attribute_size: body.u32(4)? },
        10 => SubobjectKind::RaytracingPipelineConfig { max_recursion_depth: body.u32(0)? },
        11 => SubobjectKind::HitGroup {
            ty: HitGroupType(body.u32(0)?),
            any_hit: body.text(4)?,
            closest_hit: body.text(8)?,
            intersection: body.text(12)?,
        },
        12 => SubobjectKind::RaytracingPipelineConfig1 {
            max_recursion_depth: body.u32(0)?,
            flags: RaytracingPipelineFlags(body.u32(4)?),
        },
        other => SubobjectKind::Unknown(other),
    };
    Ok(Subobject { name: record.text(4)?, kind })
}
