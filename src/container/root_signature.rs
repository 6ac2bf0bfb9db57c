//! `RTS0`: root signatures.

use serde::{Deserialize, Serialize};

use super::{
    Part,
    enumeration::{enumeration, flags},
    float,
};
use crate::Result;

/// The `RTS0` part: what a pipeline's root arguments are, and which registers they fill.
///
/// The header is six 32-bit words (`DxilContainerRootSignatureDesc`): version, number and offset of the parameters, number
/// and offset of the static samplers, flags. Offsets count from the beginning of the part. Version 1.1 adds flags to
/// descriptors and ranges, 1.2 to static samplers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RootSignature {
    /// `D3D_ROOT_SIGNATURE_VERSION`.
    pub version: RootSignatureVersion,
    /// Flags of the whole.
    pub flags: RootSignatureFlags,
    /// The parameters, whose numbers are those that `SetGraphicsRoot*` takes.
    pub parameters: Vec<RootParameter>,
    /// Samplers that the signature itself defines.
    pub static_samplers: Vec<StaticSampler>,
}

enumeration! {
    /// `D3D_ROOT_SIGNATURE_VERSION`.
    RootSignatureVersion: u32 {
        V1_0 = 1 "1.0",
        V1_1 = 2 "1.1",
        V1_2 = 3 "1.2",
    }
}

flags! {
    /// `D3D12_ROOT_SIGNATURE_FLAGS`.
    RootSignatureFlags: u32 {
        ALLOW_INPUT_ASSEMBLER_INPUT_LAYOUT = 0x1 "AllowInputAssemblerInputLayout",
        DENY_VERTEX_SHADER_ROOT_ACCESS = 0x2 "DenyVertexShaderRootAccess",
        DENY_HULL_SHADER_ROOT_ACCESS = 0x4 "DenyHullShaderRootAccess",
        DENY_DOMAIN_SHADER_ROOT_ACCESS = 0x8 "DenyDomainShaderRootAccess",
        DENY_GEOMETRY_SHADER_ROOT_ACCESS = 0x10 "DenyGeometryShaderRootAccess",
        DENY_PIXEL_SHADER_ROOT_ACCESS = 0x20 "DenyPixelShaderRootAccess",
        ALLOW_STREAM_OUTPUT = 0x40 "AllowStreamOutput",
        LOCAL_ROOT_SIGNATURE = 0x80 "LocalRootSignature",
        DENY_AMPLIFICATION_SHADER_ROOT_ACCESS = 0x100 "DenyAmplificationShaderRootAccess",
        DENY_MESH_SHADER_ROOT_ACCESS = 0x200 "DenyMeshShaderRootAccess",
        CBV_SRV_UAV_HEAP_DIRECTLY_INDEXED = 0x400 "CBVSRVUAVHeapDirectlyIndexed",
        SAMPLER_HEAP_DIRECTLY_INDEXED = 0x800 "SamplerHeapDirectlyIndexed",
        ALLOW_LOW_TIER_RESERVED_HW_CB_LIMIT = 0x8000_0000 "AllowLowTierReservedHwCbLimit",
    }
}

enumeration! {
    /// `D3D12_SHADER_VISIBILITY`.
    ShaderVisibility: u32 {
        ALL = 0 "All",
        VERTEX = 1 "Vertex",
        HULL = 2 "Hull",
        DOMAIN = 3 "Domain",
        GEOMETRY = 4 "Geometry",
        PIXEL = 5 "Pixel",
        AMPLIFICATION = 6 "Amplification",
        MESH = 7 "Mesh",
    }
}

/// One root parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RootParameter {
    /// The stages that see it.
    pub visibility: ShaderVisibility,
    /// What it is.
    pub kind: RootParameterKind,
}

/// What a root parameter is (`D3D12_ROOT_PARAMETER_TYPE`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RootParameterKind {
    /// A table of descriptors in a heap.
    DescriptorTable(Vec<DescriptorRange>),
    /// Constants that fill a constant buffer.
    Constants {
        /// Constant buffer register.
        register: u32,
        /// Register space.
        space: u32,
        /// Number of 32-bit constants.
        count: u32,
    },
    /// A constant buffer by its address.
    Cbv(RootDescriptor),
    /// A raw or structured buffer by its address.
    Srv(RootDescriptor),
    /// A writeable raw or structured buffer by its address.
    Uav(RootDescriptor),
}

/// A resource that is bound by its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootDescriptor {
    /// Register.
    pub register: u32,
    /// Register space.
    pub space: u32,
    /// Promises about the data; none in version 1.0.
    pub flags: RootDescriptorFlags,
}

flags! {
    /// `D3D12_ROOT_DESCRIPTOR_FLAGS`.
    RootDescriptorFlags: u32 {
        DATA_VOLATILE = 0x2 "DataVolatile",
        DATA_STATIC_WHILE_SET_AT_EXECUTE = 0x4 "DataStaticWhileSetAtExecute",
        DATA_STATIC = 0x8 "DataStatic",
    }
}

/// Descriptors that lie one after the other in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DescriptorRange {
    /// Register class.
    pub ty: DescriptorRangeType,
    /// Number of descriptors; none for an unbounded range.
    pub count: Option<u32>,
    /// First register.
    pub register: u32,
    /// Register space.
    pub space: u32,
    /// Promises about descriptors and data; none in version 1.0.
    pub flags: DescriptorRangeFlags,
    /// Descriptors from the beginning of the table; none for right after the range before.
    pub offset: Option<u32>,
}

enumeration! {
    /// `D3D12_DESCRIPTOR_RANGE_TYPE`.
    DescriptorRangeType: u32 {
        SRV = 0 "SRV",
        UAV = 1 "UAV",
        CBV = 2 "CBV",
        SAMPLER = 3 "Sampler",
    }
}

flags! {
    /// `D3D12_DESCRIPTOR_RANGE_FLAGS`.
    DescriptorRangeFlags: u32 {
        DESCRIPTORS_VOLATILE = 0x1 "DescriptorsVolatile",
        DATA_VOLATILE = 0x2 "DataVolatile",
        DATA_STATIC_WHILE_SET_AT_EXECUTE = 0x4 "DataStaticWhileSetAtExecute",
        DATA_STATIC = 0x8 "DataStatic",
        DESCRIPTORS_STATIC_KEEPING_BUFFER_BOUNDS_CHECKS = 0x1_0000 "DescriptorsStaticKeepingBufferBoundsChecks",
    }
}

/// One static sampler (`D3D12_STATIC_SAMPLER_DESC`, `D3D12_STATIC_SAMPLER_DESC1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct StaticSampler {
    pub filter: Filter,
    pub address_u: TextureAddressMode,
    pub address_v: TextureAddressMode,
    pub address_w: TextureAddressMode,
    #[serde(with = "float")]
    pub mip_lod_bias: f32,
    pub max_anisotropy: u32,
    pub comparison: ComparisonFunction,
    pub border_color: StaticBorderColor,
    #[serde(with = "float")]
    pub min_lod: f32,
    #[serde(with = "float")]
    pub max_lod: f32,
    pub register: u32,
    pub space: u32,
    pub visibility: ShaderVisibility,
    /// From version 1.2 on.
    pub flags: SamplerFlags,
}

flags! {
    /// `D3D12_SAMPLER_FLAGS`.
    SamplerFlags: u32 {
        UINT_BORDER_COLOR = 0x1 "UintBorderColor",
        NON_NORMALIZED_COORDINATES = 0x2 "NonNormalizedCoordinates",
    }
}

enumeration! {
    /// `D3D12_FILTER`.
    Filter: u32 {
        MIN_MAG_MIP_POINT = 0x0 "MIN_MAG_MIP_POINT",
        MIN_MAG_POINT_MIP_LINEAR = 0x1 "MIN_MAG_POINT_MIP_LINEAR",
        MIN_POINT_MAG_LINEAR_MIP_POINT = 0x4 "MIN_POINT_MAG_LINEAR_MIP_POINT",
        MIN_POINT_MAG_MIP_LINEAR = 0x5 "MIN_POINT_MAG_MIP_LINEAR",
        MIN_LINEAR_MAG_MIP_POINT = 0x10 "MIN_LINEAR_MAG_MIP_POINT",
        MIN_LINEAR_MAG_POINT_MIP_LINEAR = 0x11 "MIN_LINEAR_MAG_POINT_MIP_LINEAR",
        MIN_MAG_LINEAR_MIP_POINT = 0x14 "MIN_MAG_LINEAR_MIP_POINT",
        MIN_MAG_MIP_LINEAR = 0x15 "MIN_MAG_MIP_LINEAR",
        ANISOTROPIC = 0x55 "ANISOTROPIC",
        COMPARISON_MIN_MAG_MIP_POINT = 0x80 "COMPARISON_MIN_MAG_MIP_POINT",
        COMPARISON_MIN_MAG_POINT_MIP_LINEAR = 0x81 "COMPARISON_MIN_MAG_POINT_MIP_LINEAR",
        COMPARISON_MIN_POINT_MAG_LINEAR_MIP_POINT = 0x84 "COMPARISON_MIN_POINT_MAG_LINEAR_MIP_POINT",
        COMPARISON_MIN_POINT_MAG_MIP_LINEAR = 0x85 "COMPARISON_MIN_POINT_MAG_MIP_LINEAR",
        COMPARISON_MIN_LINEAR_MAG_MIP_POINT = 0x90 "COMPARISON_MIN_LINEAR_MAG_MIP_POINT",
        COMPARISON_MIN_LINEAR_MAG_POINT_MIP_LINEAR = 0x91 "COMPARISON_MIN_LINEAR_MAG_POINT_MIP_LINEAR",
        COMPARISON_MIN_MAG_LINEAR_MIP_POINT = 0x94 "COMPARISON_MIN_MAG_LINEAR_MIP_POINT",
        COMPARISON_MIN_MAG_MIP_LINEAR = 0x95 "COMPARISON_MIN_MAG_MIP_LINEAR",
        COMPARISON_ANISOTROPIC = 0xd5 "COMPARISON_ANISOTROPIC",
        MINIMUM_MIN_MAG_MIP_POINT = 0x100 "MINIMUM_MIN_MAG_MIP_POINT",
        MINIMUM_MIN_MAG_POINT_MIP_LINEAR = 0x101 "MINIMUM_MIN_MAG_POINT_MIP_LINEAR",
        MINIMUM_MIN_POINT_MAG_LINEAR_MIP_POINT = 0x104 "MINIMUM_MIN_POINT_MAG_LINEAR_MIP_POINT",
        MINIMUM_MIN_POINT_MAG_MIP_LINEAR = 0x105 "MINIMUM_MIN_POINT_MAG_MIP_LINEAR",
        MINIMUM_MIN_LINEAR_MAG_MIP_POINT = 0x110 "MINIMUM_MIN_LINEAR_MAG_MIP_POINT",
        MINIMUM_MIN_LINEAR_MAG_POINT_MIP_LINEAR = 0x111 "MINIMUM_MIN_LINEAR_MAG_POINT_MIP_LINEAR",
        MINIMUM_MIN_MAG_LINEAR_MIP_POINT = 0x114 "MINIMUM_MIN_MAG_LINEAR_MIP_POINT",
        MINIMUM_MIN_MAG_MIP_LINEAR = 0x115 "MINIMUM_MIN_MAG_MIP_LINEAR",
        MINIMUM_ANISOTROPIC = 0x155 "MINIMUM_ANISOTROPIC",
        MAXIMUM_MIN_MAG_MIP_POINT = 0x180 "MAXIMUM_MIN_MAG_MIP_POINT",
        MAXIMUM_MIN_MAG_POINT_MIP_LINEAR = 0x181 "MAXIMUM_MIN_MAG_POINT_MIP_LINEAR",
        MAXIMUM_MIN_POINT_MAG_LINEAR_MIP_POINT = 0x184 "MAXIMUM_MIN_POINT_MAG_LINEAR_MIP_POINT",
        MAXIMUM_MIN_POINT_MAG_MIP_LINEAR = 0x185 "MAXIMUM_MIN_POINT_MAG_MIP_LINEAR",
        MAXIMUM_MIN_LINEAR_MAG_MIP_POINT = 0x190 "MAXIMUM_MIN_LINEAR_MAG_MIP_POINT",
        MAXIMUM_MIN_LINEAR_MAG_POINT_MIP_LINEAR = 0x191 "MAXIMUM_MIN_LINEAR_MAG_POINT_MIP_LINEAR",
        MAXIMUM_MIN_MAG_LINEAR_MIP_POINT = 0x194 "MAXIMUM_MIN_MAG_LINEAR_MIP_POINT",
        MAXIMUM_MIN_MAG_MIP_LINEAR = 0x195 "MAXIMUM_MIN_MAG_MIP_LINEAR",
        MAXIMUM_ANISOTROPIC = 0x1d5 "MAXIMUM_ANISOTROPIC",
    }
}

/// `D3D12_FILTER_REDUCTION_TYPE`: what a filter makes of the texels it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterReduction {
    /// Their weighted mean.
    Standard,
    /// The weighted mean of what comparing each gives.
    Comparison,
    /// The least, of those that have a weight.
    Minimum,
    /// The greatest.
    Maximum,
}

/// A filter is made of bits: 0 says that mips are interpolated, 2 that texels are in magnification, 4 in minification, 6 that
/// the filter is anisotropic; bits 7 and 8 are the reduction (`D3D12_ENCODE_BASIC_FILTER` and its fellows in `d3d12.h`).
impl Filter {
    /// Mips are interpolated.
    pub fn mip_is_linear(self) -> bool {
        self.0 & 0x1 != 0
    }

    /// Texels of a texture that is made larger are interpolated.
    pub fn mag_is_linear(self) -> bool {
        self.0 & 0x4 != 0
    }

    /// Texels of a texture that is made smaller are interpolated.
    pub fn min_is_linear(self) -> bool {
        self.0 & 0x10 != 0
    }

    /// The filter is anisotropic.
    pub fn is_anisotropic(self) -> bool {
        self.0 & 0x40 != 0
    }

    /// What it makes of the texels it takes.
    pub fn reduction(self) -> FilterReduction {
        match self.0 >> 7 & 3 {
            0 => FilterReduction::Standard,
            1 => FilterReduction::Comparison,
            2 => FilterReduction::Minimum,
            _ => FilterReduction::Maximum,
        }
    }
}

enumeration! {
    /// `D3D12_TEXTURE_ADDRESS_MODE`.
    TextureAddressMode: u32 {
        WRAP = 1 "Wrap",
        MIRROR = 2 "Mirror",
        CLAMP = 3 "Clamp",
        BORDER = 4 "Border",
        MIRROR_ONCE = 5 "MirrorOnce",
    }
}

enumeration! {
    /// `D3D12_COMPARISON_FUNC`.
    ComparisonFunction: u32 {
        NONE = 0 "None",
        NEVER = 1 "Never",
        LESS = 2 "Less",
        EQUAL = 3 "Equal",
        LESS_EQUAL = 4 "LessEqual",
        GREATER = 5 "Greater",
        NOT_EQUAL = 6 "NotEqual",
        GREATER_EQUAL = 7 "GreaterEqual",
        ALWAYS = 8 "Always",
    }
}

enumeration! {
    /// `D3D12_STATIC_BORDER_COLOR`.
    StaticBorderColor: u32 {
        TRANSPARENT_BLACK = 0 "TransparentBlack",
        OPAQUE_BLACK = 1 "OpaqueBlack",
        OPAQUE_WHITE = 2 "OpaqueWhite",
        OPAQUE_BLACK_UINT = 3 "OpaqueBlackUint",
        OPAQUE_WHITE_UINT = 4 "OpaqueWhiteUint",
    }
}

impl RootSignature {
    /// Reads the part.
    ///
    /// # Errors
    /// The version or a parameter's type is not known, so that the records' size is not either, or something passes the
    /// end of the part.
    pub fn parse(part: Part<'_>) -> Result<Self> {
        let version = RootSignatureVersion(part.u32_at(0)?);
        if version.name().is_none() {
            return Err(part.malformed(0, format!("unknown version of root signatures: {version}")));
        }
        // Tables may overlap: together they hold no more ranges than the part has room for.
        let mut room = part.data.len();
        let parameters = part
            .records(part.size_at(8)?, part.size_at(4)?, 12)?
            .map(|offset| parameter(&part, version, offset, &mut room))
            .collect::<Result<_>>()?;
        let sampler_len = if version >= RootSignatureVersion::V1_2 { 56 } else { 52 };
        let static_samplers = part
            .records(part.size_at(16)?, part.size_at(12)?, sampler_len)?
            .map(|offset| static_sampler(&part, version, offset))
            .collect::<Result<_>>()?;
        Ok(Self { version, flags: RootSignatureFlags(part.u32_at(20)?), parameters, static_samplers })
    }
}

fn parameter(part: &Part<'_>, version: RootSignatureVersion, offset: usize, room: &mut usize) -> Result<RootParameter> {
    let payload = part.size_at(offset + 8)?;
    let word = |index: usize| part.u32_at(payload.saturating_add(4 * index));
    let descriptor = || {
        let flags = if version >= RootSignatureVersion::V1_1 { word(2)? } else { 0 };
        Ok(RootDescriptor { register: word(0)?, space: word(1)?, flags: RootDescriptorFlags(flags) })
    };
    let kind = match part.u32_at(offset)? {
        0 => {
            let len = if version >= RootSignatureVersion::V1_1 { 24 } else { 20 };
            let ranges = part.records(word(1)? as usize, word(0)? as usize, len)?;
            *room = room.checked_sub(ranges.len() * len).ok_or_else(|| {
                part.malformed(payload, format!("descriptor tables share their ranges: {}", ranges.len()))
            })?;
            RootParameterKind::DescriptorTable(
                ranges.map(|offset| range(part, version, offset)).collect::<Result<_>>()?,
            )
        }
        1 => RootParameterKind::Constants { register: word(0)?, space: word(1)?, count: word(2)? },
        2 => RootParameterKind::Cbv(descriptor()?),
        3 => RootParameterKind::Srv(descriptor()?),
        4 => RootParameterKind::Uav(descriptor()?),
        ty => return Err(part.malformed(offset, format!("unknown type of root parameter: {ty}"))),
    };
    Ok(RootParameter { visibility: ShaderVisibility(part.u32_at(offset + 4)?), kind })
}

fn range(part: &Part<'_>, version: RootSignatureVersion, offset: usize) -> Result<DescriptorRange> {
    let word = |index: usize| part.u32_at(offset + 4 * index);
    let (flags, from_start) = if version >= RootSignatureVersion::V1_1 { (word(4)?, word(5)?) } else { (0, word(4)?) };
    let unless_all_ones = |value: u32| (value != u32::MAX).then_some(value);
    Ok(DescriptorRange {
        ty: DescriptorRangeType(word(0)?),
        count: unless_all_ones(word(1)?),
        register: word(2)?,
        space: word(3)?,
        flags: DescriptorRangeFlags(flags),
        offset: unless_all_ones(from_start),
    })
}

fn static_sampler(part: &Part<'_>, version: RootSignatureVersion, offset: usize) -> Result<StaticSampler> {
    let word = |index: usize| part.u32_at(offset + 4 * index);
    Ok(StaticSampler {
        filter: Filter(word(0)?),
        address_u: TextureAddressMode(word(1)?),
        address_v: TextureAddressMode(word(2)?),
        address_w: TextureAddressMode(word(3)?),
        mip_lod_bias: f32::from_bits(word(4)?),
        max_anisotropy: word(5)?,
        comparison: ComparisonFunction(word(6)?),
        border_color: StaticBorderColor(word(7)?),
        min_lod: f32::from_bits(word(8)?),
        max_lod: f32::from_bits(word(9)?),
        register: word(10)?,
        space: word(11)?,
        visibility: ShaderVisibility(word(12)?),
        flags: SamplerFlags(if version >= RootSignatureVersion::V1_2 { word(13)? } else { 0 }),
    })
}
