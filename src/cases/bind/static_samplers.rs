//! Samplers that a program's root signature defines itself.

use crate::{
    cases::{
        device::Halt,
        format::{Address, Anisotropy, Border, Compare, Filter, LodRange, Sampler},
    },
    lift::{CompareFunction, SamplerAddress, SamplerBorder, SamplerState},
    reflection::{self, Interface},
};

/// The static sampler of a binding, if it is one, as a case would describe it.
///
/// # Errors
/// WebGPU has no such sampler: the case is skipped.
pub(super) fn static_sampler(interface: &Interface, declared: &reflection::Binding) -> Result<Option<Sampler>, Halt> {
    let Some(sampler) = interface.static_sampler(declared) else { return Ok(None) };
    let state = SamplerState::of(sampler)
        .map_err(|what| Halt::Skipped(format!("a static sampler that WebGPU has not: {what}")))?;
    let filter = |linear| if linear { Filter::Linear } else { Filter::Nearest };
    let [u, v, w] = state.address.map(|address| match address {
        SamplerAddress::Wrap => Address::Repeat,
        SamplerAddress::Mirror => Address::MirrorRepeat,
        SamplerAddress::Clamp => Address::ClampToEdge,
        SamplerAddress::Border => Address::ClampToBorder,
    });
    Ok(Some(Sampler {
        min: filter(state.min_linear),
        mag: filter(state.mag_linear),
        mip: filter(state.mip_linear),
        address: (u, v, w),
        compare: state.compare.map(|function| match function {
            CompareFunction::Never => Compare::Never,
            CompareFunction::Less => Compare::Less,
            CompareFunction::Equal => Compare::Equal,
            CompareFunction::LessEqual => Compare::LessEqual,
            CompareFunction::Greater => Compare::Greater,
            CompareFunction::NotEqual => Compare::NotEqual,
            CompareFunction::GreaterEqual => Compare::GreaterEqual,
            CompareFunction::Always => Compare::Always,
        }),
        lod: LodRange(state.lod.0, state.lod.1),
        anisotropy: Anisotropy(state.anisotropy),
        border: match state.border {
            SamplerBorder::TransparentBlack => Border::TransparentBlack,
            SamplerBorder::OpaqueBlack => Border::OpaqueBlack,
            SamplerBorder::OpaqueWhite => Border::OpaqueWhite,
        },
    }))
}
