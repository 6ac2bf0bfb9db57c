//! What the shader needs of the device: `SFI0`.

use super::{line, lines};
use crate::{
    Result,
    container::{Container, feature_flags},
};

/// What the shader needs of the device.
pub(super) fn features(text: &mut String, container: &Container<'_>) -> Result<()> {
    let flags = feature_flags(container)?.unwrap_or(0);
    if flags == 0 {
        return Ok(());
    }
    lines(text, &["", " Note: shader requires additional functionality:"]);
    for (_, name) in FEATURES.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 != 0) {
        line(text, &format!("       {name}"));
    }
    line(text, "");
    let optional = flags >> 40;
    if optional != 0 {
        line(text, " Note: shader has optional feature flags set:");
        for (_, name) in OPTIONAL_FEATURES.iter().enumerate().filter(|(bit, _)| optional >> bit & 1 != 0) {
            line(text, &format!("       {name}"));
        }
        line(text, "");
    }
    Ok(())
}

/// Names of the bits of `SFI0`, as dxc spells them.
const FEATURES: [&str; 33] = [
    "Double-precision floating point",
    "Raw and Structured buffers",
    "UAVs at every shader stage",
    "64 UAV slots",
    "Minimum-precision data types",
    "Double-precision extensions for 11.1",
    "Shader extensions for 11.1",
    "Comparison filtering for feature level 9",
    "Tiled resources",
    "PS Output Stencil Ref",
    "PS Inner Coverage",
    "Typed UAV Load Additional Formats",
    "Raster Ordered UAVs",
    "SV_RenderTargetArrayIndex or SV_ViewportArrayIndex from any shader feeding rasterizer",
    "Wave level operations",
    "64-Bit integer",
    "View Instancing",
    "Barycentrics",
    "Use native low precision",
    "Shading Rate",
    "Raytracing tier 1.1 features",
    "Sampler feedback",
    "64-bit Atomics on Typed Resources",
    "64-bit Atomics on Group Shared",
    "Derivatives in mesh and amplification shaders",
    "Resource descriptor heap indexing",
    "Sampler descriptor heap indexing",
    "Wave Matrix",
    "64-bit Atomics on Heap Resources",
    "Advanced Texture Ops",
    "Writeable MSAA Textures",
    "SampleCmp with gradient or bias",
    "Extended command info",
];

/// Names of those from bit 40 on.
const OPTIONAL_FEATURES: [&str; 2] = ["Function uses derivatives", "Function requires visible group"];
