//! Resources of libraries.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::reader::Record;
use crate::{
    Result,
    container::{
        DxilResourceKind,
        enumeration::{enumeration, flags},
    },
};

/// One resource (`RuntimeDataResourceInfo`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryResource<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Register class.
    pub class: DxilResourceClass,
    /// What it is.
    pub kind: DxilResourceKind,
    /// Its number within the class.
    pub id: u32,
    /// Register space.
    pub space: u32,
    /// First register.
    pub lower: u32,
    /// Last register, `u32::MAX` for an unbounded array.
    pub upper: u32,
    /// Qualifiers.
    pub flags: LibraryResourceFlags,
}

enumeration! {
    /// `DXIL::ResourceClass`.
    DxilResourceClass: u32 {
        SRV = 0 "SRV",
        UAV = 1 "UAV",
        CBUFFER = 2 "CBuffer",
        SAMPLER = 3 "Sampler",
        INVALID = 4 "Invalid",
    }
}

flags! {
    /// `DxilResourceFlag`.
    LibraryResourceFlags: u32 {
        UAV_GLOBALLY_COHERENT = 0x1 "UAVGloballyCoherent",
        UAV_COUNTER = 0x2 "UAVCounter",
        UAV_RASTERIZER_ORDERED_VIEW = 0x4 "UAVRasterizerOrderedView",
        DYNAMIC_INDEXING = 0x8 "DynamicIndexing",
        ATOMICS_64_USE = 0x10 "Atomics64Use",
        UAV_REORDER_COHERENT = 0x20 "UAVReorderCoherent",
    }
}

pub(super) fn read<'a>(record: Record<'_, 'a>) -> Result<LibraryResource<'a>> {
    Ok(LibraryResource {
        class: DxilResourceClass(record.u32(0)?),
        kind: DxilResourceKind(record.u32(4)?),
        id: record.u32(8)?,
        space: record.u32(12)?,
        lower: record.u32(16)?,
        upper: record.u32(20)?,
        name: record.text(24)?,
        flags: LibraryResourceFlags(record.u32(28)?),
    })
}
