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
