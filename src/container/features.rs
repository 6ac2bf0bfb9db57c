//! `SFI0`: optional features that the program demands.

use super::{Container, FourCc, enumeration::flags};
use crate::Result;

flags! {
    /// The flags of `SFI0`, in the spelling of `DXIL::ShaderFeatureInfo`; the last two are `DXIL::OptFeatureInfo`, which only
    /// `RDAT` has.
    FeatureFlags: u64 {
        DOUBLES = 0x1 "Doubles",
        COMPUTE_SHADERS_PLUS_RAW_AND_STRUCTURED_BUFFERS = 0x2 "ComputeShadersPlusRawAndStructuredBuffersViaShader4X",
        UAVS_AT_EVERY_STAGE = 0x4 "UAVsAtEveryStage",
        UAVS_64 = 0x8 "64UAVs",
        MINIMUM_PRECISION = 0x10 "MinimumPrecision",
        DOUBLE_EXTENSIONS_11_1 = 0x20 "11_1_DoubleExtensions",
        SHADER_EXTENSIONS_11_1 = 0x40 "11_1_ShaderExtensions",
        LEVEL_9_COMPARISON_FILTERING = 0x80 "LEVEL9ComparisonFiltering",
        TILED_RESOURCES = 0x100 "TiledResources",
        STENCIL_REF = 0x200 "StencilRef",
        INNER_COVERAGE = 0x400 "InnerCoverage",
        TYPED_UAV_LOAD_ADDITIONAL_FORMATS = 0x800 "TypedUAVLoadAdditionalFormats",
        ROVS = 0x1000 "ROVs",
        VIEWPORT_AND_RT_ARRAY_INDEX = 0x2000 "ViewportAndRTArrayIndexFromAnyShaderFeedingRasterizer",
        WAVE_OPS = 0x4000 "WaveOps",
        INT64_OPS = 0x8000 "Int64Ops",
        VIEW_ID = 0x1_0000 "ViewID",
        BARYCENTRICS = 0x2_0000 "Barycentrics",
        NATIVE_LOW_PRECISION = 0x4_0000 "NativeLowPrecision",
        SHADING_RATE = 0x8_0000 "ShadingRate",
        RAYTRACING_TIER_1_1 = 0x10_0000 "Raytracing_Tier_1_1",
        SAMPLER_FEEDBACK = 0x20_0000 "SamplerFeedback",
        ATOMIC_INT64_ON_TYPED_RESOURCE = 0x40_0000 "AtomicInt64OnTypedResource",
        ATOMIC_INT64_ON_GROUP_SHARED = 0x80_0000 "AtomicInt64OnGroupShared",
        DERIVATIVES_IN_MESH_AND_AMP_SHADERS = 0x100_0000 "DerivativesInMeshAndAmpShaders",
        RESOURCE_DESCRIPTOR_HEAP_INDEXING = 0x200_0000 "ResourceDescriptorHeapIndexing",
        SAMPLER_DESCRIPTOR_HEAP_INDEXING = 0x400_0000 "SamplerDescriptorHeapIndexing",
        RESERVED = 0x800_0000 "Reserved",
        ATOMIC_INT64_ON_HEAP_RESOURCE = 0x1000_0000 "AtomicInt64OnHeapResource",
        ADVANCED_TEXTURE_OPS = 0x2000_0000 "AdvancedTextureOps",
        WRITEABLE_MSAA_TEXTURES = 0x4000_0000 "WriteableMSAATextures",
        SAMPLE_CMP_GRADIENT_OR_BIAS = 0x8000_0000 "SampleCmpGradientOrBias",
        EXTENDED_COMMAND_INFO = 0x1_0000_0000 "ExtendedCommandInfo",
        USES_DERIVATIVES = 0x100_0000_0000 "Opt_UsesDerivatives",
        REQUIRES_GROUP = 0x200_0000_0000 "Opt_RequiresGroup",
    }
}

/// The flags of the `SFI0` part, if there is one: `D3D_SHADER_REQUIRES_*` of `d3d12shader.h`, which are also
/// `DXIL::ShaderFeatureInfo` of DirectXShaderCompiler.
///
/// # Errors
/// The part is shorter than its 64 bits.
pub fn feature_flags(container: &Container<'_>) -> Result<Option<u64>> {
    let Some(part) = container.part(FourCc::SFI0) else { return Ok(None) };
    Ok(Some(u64::from(part.u32_at(0)?) | u64::from(part.u32_at(4)?) << 32))
}

/// Names of the features in flags, as the field's documentation spells them; a flag without a name by its bit.
pub fn feature_names(flags: u64) -> impl Iterator<Item = String> {
    (0..u64::BITS).filter(move |bit| flags >> bit & 1 == 1).map(|bit| match NAMES.get(bit as usize) {
        Some(name) => (*name).to_owned(),
        None => format!("bit {bit}"),
    })
}

/// By bit.
const NAMES: [&str; 32] = [
    "doubles",
    "compute shaders and raw and structured buffers on level 10",
    "UAVs at every stage",
    "64 UAV slots",
    "minimum precision",
    "double extensions of Direct3D 11.1",
    "shader extensions of Direct3D 11.1",
    "comparison filtering on level 9",
    "tiled resources",
    "stencil reference from the pixel shader",
    "inner coverage",
    "typed UAV loads of additional formats",
    "rasterizer-ordered views",
    "viewport or render-target array index from any stage",
    "wave operations",
    "64-bit integers",
    "view instancing",
    "barycentrics",
    "native 16-bit types",
    "shading rate",
    "raytracing tier 1.1",
    "sampler feedback",
    "64-bit atomics on typed resources",
    "64-bit atomics on group-shared memory",
    "derivatives in mesh and amplification shaders",
    "resource descriptor heap indexing",
    "sampler descriptor heap indexing",
    "wave matrices",
    "64-bit atomics on descriptor heap resources",
    "advanced texture operations",
    "writeable multisampled textures",
    "comparison sampling with gradient or bias",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(
            feature_names(0x8001_0000_4001).collect::<Vec<_>>(),
            ["doubles", "wave operations", "bit 32", "bit 47"]
        );
    }
}
