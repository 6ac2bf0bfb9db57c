//! Flags of a shader, and the features that they stand for.

use bitflags::bitflags;

bitflags! {
    /// The 64 bits of an entry point's `kDxilShaderFlagsTag`, as laid out in `DxilShaderFlags.h`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[allow(missing_docs)]
    pub struct ShaderFlags: u64 {
        const DISABLE_OPTIMIZATIONS = 1 << 0;
        const DISABLE_MATH_REFACTORING = 1 << 1;
        const DOUBLE_PRECISION = 1 << 2;
        const FORCE_EARLY_DEPTH_STENCIL = 1 << 3;
        const RAW_AND_STRUCTURED_BUFFERS = 1 << 4;
        const LOW_PRECISION = 1 << 5;
        const DOUBLE_EXTENSIONS = 1 << 6;
        const MSAD = 1 << 7;
        const ALL_RESOURCES_BOUND = 1 << 8;
        const NATIVE_LOW_PRECISION = 1 << 23;
        const _ = !0;
    }
}

/// Bits of the shader flags and the bits of `SFI0` that they stand for (`D3D_SHADER_REQUIRES_*`,
/// `ShaderFlags::GetFeatureInfo`). The two low-precision bits are not among them.
const FEATURES: [(u32, u32); 33] = [
    (2, 0),   // doubles
    (17, 1),  // raw and structured buffers through compute shaders 4.x
    (16, 2),  // UAVs at every stage
    (15, 3),  // 64 UAVs
    (6, 5),   // double extensions
    (7, 6),   // shader extensions (msad)
    (14, 7),  // level-9 comparison filtering
    (12, 8),  // tiled resources
    (11, 9),  // stencil reference
    (10, 10), // inner coverage
    (13, 11), // typed UAV loads of additional formats
    (18, 12), // rasterizer-ordered views
    (9, 13),  // viewport and layer from any stage
    (19, 14), // wave operations
    (20, 15), // 64-bit integers
    (21, 16), // view id
    (22, 17), // barycentrics
    (24, 19), // shading rate
    (25, 20), // raytracing tier 1.1
    (26, 21), // sampler feedback
    (27, 22), // 64-bit atomics on typed resources
    (28, 23), // 64-bit atomics on group-shared memory
    (29, 24), // derivatives in mesh and amplification shaders
    (30, 25), // resource heap indexing
    (31, 26), // sampler heap indexing
    (32, 28), // 64-bit atomics on heap resources
    (34, 29), // advanced texture operations
    (35, 30), // writeable multisampled textures
    (37, 31), // SampleCmp with gradient or bias
    (38, 32), // extended command information
    (39, 40), // uses derivatives
    (40, 41), // requires a group
    (36, 27), // reserved
];

impl ShaderFlags {
    /// The same as bits of `SFI0`.
    pub fn features(self) -> u64 {
        let bit = |&(from, to): &(u32, u32)| (self.bits() >> from & 1) << to;
        let features = FEATURES.iter().map(bit).fold(0, |features, bit| features | bit);
        let low_precision = match (self.contains(Self::LOW_PRECISION), self.contains(Self::NATIVE_LOW_PRECISION)) {
            (true, false) => 1 << 4,
            (true, true) => 1 << 18,
            (false, _) => 0,
        };
        features | low_precision
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_flags() {
        assert_eq!(ShaderFlags::empty().features(), 0);
        assert_eq!(ShaderFlags::DOUBLE_PRECISION.features(), 1);
        assert_eq!(ShaderFlags::LOW_PRECISION.features(), 0x10);
        assert_eq!((ShaderFlags::LOW_PRECISION | ShaderFlags::NATIVE_LOW_PRECISION).features(), 0x40000);
        // Wave operations.
        assert_eq!(ShaderFlags::from_bits_retain(1 << 19).features(), 0x4000);
        // "All resources bound" is no feature.
        assert_eq!(ShaderFlags::ALL_RESOURCES_BOUND.features(), 0);
    }
}
