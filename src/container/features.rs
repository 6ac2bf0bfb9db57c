//! `SFI0`: optional features that the program demands.

use super::{Container, FourCc};
use crate::Result;

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
