//! Static samplers of root signatures, in terms that WebGPU has.

use super::CompareFunction;
use crate::container::{
    ComparisonFunction, FilterReduction, SamplerFlags, StaticBorderColor, StaticSampler, TextureAddressMode,
};

/// A sampler that the root signature itself defines, as WebGPU says it. Whoever makes the pipeline makes it; Direct3D lets
/// an application bind none in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplerState {
    /// A texture that is made smaller is interpolated.
    pub min_linear: bool,
    /// A texture that is made larger is interpolated.
    pub mag_linear: bool,
    /// Mips are interpolated.
    pub mip_linear: bool,
    /// What lies outside 0 to 1, in u, v and w.
    pub address: [SamplerAddress; 3],
    /// What [`SamplerAddress::Border`] shows.
    pub border: SamplerBorder,
    /// The least and the greatest level of detail, the first at most as great as the second, neither below 0.
    pub lod: (f32, f32),
    /// Samples of an anisotropic filter, 1 where the filter is none.
    pub anisotropy: u16,
    /// How it compares, if it does.
    pub compare: Option<CompareFunction>,
}

/// `D3D12_TEXTURE_ADDRESS_MODE`, as far as WebGPU and its extensions have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SamplerAddress {
    Wrap,
    Mirror,
    Clamp,
    Border,
}

/// `D3D12_STATIC_BORDER_COLOR`, of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SamplerBorder {
    TransparentBlack,
    OpaqueBlack,
    OpaqueWhite,
}

impl SamplerState {
    /// The state of a static sampler.
    ///
    /// # Errors
    /// Names what WebGPU has not: a bias of the level of detail, filters that take the least or the greatest of some texels,
    /// `MIRROR_ONCE`, integer borders, coordinates in texels, empty ranges of levels; or the number that Direct3D has not.
    pub fn of(sampler: &StaticSampler) -> Result<Self, String> {
        let filter = sampler.filter;
        if filter.name().is_none() {
            return Err(format!("filter {filter}"));
        }
        let (min_linear, mag_linear, mip_linear) =
            (filter.min_is_linear(), filter.mag_is_linear(), filter.mip_is_linear());
        let compares = match filter.reduction() {
            FilterReduction::Standard => false,
            FilterReduction::Comparison => true,
            // The least of one texel is the texel.
            FilterReduction::Minimum | FilterReduction::Maximum if !(min_linear || mag_linear || mip_linear) => false,
            FilterReduction::Minimum | FilterReduction::Maximum => return Err(format!("filter {filter}")),
        };
        if sampler.flags != SamplerFlags(0) {
            return Err(format!("flags {}", sampler.flags));
        }
        let address = [sampler.address_u, sampler.address_v, sampler.address_w];
        let [u, v, w] = address.map(|mode| match mode {
            TextureAddressMode::WRAP => Ok(SamplerAddress::Wrap),
            TextureAddressMode::MIRROR => Ok(SamplerAddress::Mirror),
            TextureAddressMode::CLAMP => Ok(SamplerAddress::Clamp),
            TextureAddressMode::BORDER => Ok(SamplerAddress::Border),
            _ => Err(format!("address mode {mode}")),
        });
        let address = [u?, v?, w?];
        let border = match sampler.border_color {
            StaticBorderColor::TRANSPARENT_BLACK => SamplerBorder::TransparentBlack,
            StaticBorderColor::OPAQUE_BLACK => SamplerBorder::OpaqueBlack,
            StaticBorderColor::OPAQUE_WHITE => SamplerBorder::OpaqueWhite,
            // Nothing shows it.
            _ if !address.contains(&SamplerAddress::Border) => SamplerBorder::TransparentBlack,
            color => return Err(format!("border {color}")),
        };
        // No mip is below 0.
        let lod = (sampler.min_lod.max(0.0), sampler.max_lod.max(0.0));
        if lod.0 > lod.1 {
            return Err(format!("levels of detail from {} to {}", sampler.min_lod, sampler.max_lod));
        }
        // A range of one level leaves nothing to a bias.
        if sampler.mip_lod_bias != 0.0 && lod.0 < lod.1 {
            return Err(format!("a bias of {} for the level of detail", sampler.mip_lod_bias));
        }
        let compare = match sampler.comparison {
            _ if !compares => None,
            ComparisonFunction::NEVER => Some(CompareFunction::Never),
            ComparisonFunction::LESS => Some(CompareFunction::Less),
            ComparisonFunction::EQUAL => Some(CompareFunction::Equal),
            ComparisonFunction::LESS_EQUAL => Some(CompareFunction::LessEqual),
            ComparisonFunction::GREATER => Some(CompareFunction::Greater),
            ComparisonFunction::NOT_EQUAL => Some(CompareFunction::NotEqual),
            ComparisonFunction::GREATER_EQUAL => Some(CompareFunction::GreaterEqual),
            ComparisonFunction::ALWAYS => Some(CompareFunction::Always),
            function => return Err(format!("comparison {function}")),
        };
        Ok(Self {
            min_linear,
            mag_linear,
            mip_linear,
            address,
            border,
            lod,
            anisotropy: if filter.is_anisotropic() { sampler.max_anisotropy.clamp(1, 16) as u16 } else { 1 },
            compare,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::{Filter, ShaderVisibility};

    /// What `StaticSampler(s0)` means in a root signature.
    fn default_sampler() -> StaticSampler {
        StaticSampler {
            filter: Filter::ANISOTROPIC,
            address_u: TextureAddressMode::WRAP,
            address_v: TextureAddressMode::WRAP,
            address_w: TextureAddressMode::WRAP,
            mip_lod_bias: 0.0,
            max_anisotropy: 16,
            comparison: ComparisonFunction::LESS_EQUAL,
            border_color: StaticBorderColor::OPAQUE_WHITE,
            min_lod: 0.0,
            max_lod: f32::MAX,
            register: 0,
            space: 0,
            visibility: ShaderVisibility::ALL,
            flags: SamplerFlags(0),
        }
    }

    #[test]
    fn the_default_sampler() {
        let expected = SamplerState {
            min_linear: true,
            mag_linear: true,
            mip_linear: true,
            address: [SamplerAddress::Wrap; 3],
            border: SamplerBorder::OpaqueWhite,
            lod: (0.0, f32::MAX),
            anisotropy: 16,
            compare: None,
        };
        assert_eq!(SamplerState::of(&default_sampler()), Ok(expected));
    }

    #[test]
    fn filters_have_three_kinds_and_a_comparison() {
        let sampler = StaticSampler {
            filter: Filter::COMPARISON_MIN_LINEAR_MAG_MIP_POINT,
            comparison: ComparisonFunction::GREATER,
            max_lod: -3.0,
            ..default_sampler()
        };
        let state = SamplerState::of(&sampler).unwrap();
        assert_eq!((state.min_linear, state.mag_linear, state.mip_linear), (true, false, false));
        assert_eq!((state.compare, state.anisotropy), (Some(CompareFunction::Greater), 1));
        assert_eq!(state.lod, (0.0, 0.0));
    }

    #[test]
    fn of_one_texel_there_is_no_extreme_and_of_one_level_no_other() {
        let sampler = StaticSampler {
            filter: Filter::MAXIMUM_MIN_MAG_MIP_POINT,
            mip_lod_bias: -15.99,
            min_lod: 2.0,
            max_lod: 2.0,
            ..default_sampler()
        };
        let state = SamplerState::of(&sampler).unwrap();
        assert_eq!((state.min_linear, state.mag_linear, state.mip_linear), (false, false, false));
        assert_eq!((state.lod, state.compare), ((2.0, 2.0), None));
    }

    #[test]
    fn what_webgpu_has_not_is_named() {
        let refused = |sampler: StaticSampler| SamplerState::of(&sampler).unwrap_err();
        let of = default_sampler;
        assert_eq!(refused(StaticSampler { mip_lod_bias: -1.5, ..of() }), "a bias of -1.5 for the level of detail");
        assert_eq!(
            refused(StaticSampler { filter: Filter::MAXIMUM_ANISOTROPIC, ..of() }),
            "filter MAXIMUM_ANISOTROPIC"
        );
        assert_eq!(refused(StaticSampler { filter: Filter(0x7), ..of() }), "filter 7");
        assert_eq!(
            refused(StaticSampler { address_v: TextureAddressMode::MIRROR_ONCE, ..of() }),
            "address mode MirrorOnce"
        );
        assert_eq!(refused(StaticSampler { min_lod: 2.0, max_lod: 1.0, ..of() }), "levels of detail from 2 to 1");
        let border = StaticSampler { border_color: StaticBorderColor::OPAQUE_WHITE_UINT, ..of() };
        assert_eq!(SamplerState::of(&border).unwrap().border, SamplerBorder::TransparentBlack);
        assert_eq!(
            refused(StaticSampler { address_u: TextureAddressMode::BORDER, ..border }),
            "border OpaqueWhiteUint"
        );
        let compares = Filter::COMPARISON_ANISOTROPIC;
        assert_eq!(
            refused(StaticSampler { filter: compares, comparison: ComparisonFunction::NONE, ..of() }),
            "comparison None"
        );
    }
}
