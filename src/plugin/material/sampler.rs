//! Samplers, in Direct3D's terms.

use std::collections::BTreeMap;

use bevy::render::render_resource::{
    AddressMode as WgpuAddressMode, CompareFunction, FilterMode, MipmapFilterMode, SamplerDescriptor,
};
use serde::{Deserialize, Serialize};
use wgpu::SamplerBorderColor;

use crate::{
    container::StaticSampler,
    ir::BindingId,
    lift::{self, Comparison, SamplerAddress, SamplerBorder, SamplerState},
    reflection::Interface,
};

/// A sampler. The default is Direct3D's: linear, clamped, all mips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplerDescription {
    /// Filter of all three kinds; `Anisotropic` is linear with up to [`SamplerDescription::anisotropy`] samples.
    pub filter: Filter,
    /// Filter of textures that are made larger, where it is another.
    pub mag: Option<Filter>,
    /// Filter of mip levels, where it is another.
    pub mip: Option<Filter>,
    /// Coordinates outside 0 to 1, in all directions.
    pub address: AddressMode,
    /// The same in each direction, u, v and w, where they differ.
    pub address_uvw: Option<(AddressMode, AddressMode, AddressMode)>,
    /// What [`AddressMode::ClampToBorder`] shows.
    pub border: BorderColor,
    /// Least and greatest level of detail.
    pub lod: (f32, f32),
    /// Samples of an anisotropic filter, 1 to 16.
    pub anisotropy: u16,
    /// How a comparison sampler compares. Needed where a shader compares, `LessEqual` if it is left out there.
    pub compare: Option<SamplerCompare>,
}

impl Default for SamplerDescription {
    fn default() -> Self {
        Self {
            filter: Filter::Linear,
            mag: None,
            mip: None,
            address: AddressMode::ClampToEdge,
            address_uvw: None,
            border: BorderColor::TransparentBlack,
            lod: (0.0, 32.0),
            anisotropy: 16,
            compare: None,
        }
    }
}

/// A filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Filter {
    Nearest,
    Linear,
    Anisotropic,
}

/// `D3D11_TEXTURE_ADDRESS_MODE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AddressMode {
    Repeat,
    MirrorRepeat,
    ClampToEdge,
    /// An extension of WebGPU's (`ADDRESS_MODE_CLAMP_TO_BORDER`), which devices on the web lack.
    ClampToBorder,
}

/// `D3D12_STATIC_BORDER_COLOR`, of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum BorderColor {
    TransparentBlack,
    OpaqueBlack,
    OpaqueWhite,
}

/// `D3D11_COMPARISON_FUNC` of the reference with the texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum SamplerCompare {
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Always,
}

/// Gives each sampler that nothing is bound to the static one that the shader's root signature has for it. One that
/// [`SamplerDescription`] cannot say stays unbound.
pub(crate) fn bind_static_samplers(interface: &Interface, samplers: &mut BTreeMap<BindingId, SamplerDescription>) {
    for (index, binding) in interface.bindings.iter().enumerate() {
        let id = BindingId(index as u32);
        if !samplers.contains_key(&id)
            && let Some(sampler) = interface.static_sampler(binding).and_then(SamplerDescription::of_static)
        {
            samplers.insert(id, sampler);
        }
    }
}

impl SamplerDescription {
    /// A static sampler, unless it has what WebGPU has not.
    fn of_static(sampler: &StaticSampler) -> Option<Self> {
        let state = SamplerState::of(sampler).ok()?;
        let [u, v, w] = state.address.map(|address| match address {
            SamplerAddress::Wrap => AddressMode::Repeat,
            SamplerAddress::Mirror => AddressMode::MirrorRepeat,
            SamplerAddress::Clamp => AddressMode::ClampToEdge,
            SamplerAddress::Border => AddressMode::ClampToBorder,
        });
        let filter = |linear| if linear { Filter::Linear } else { Filter::Nearest };
        Some(Self {
            filter: if state.anisotropy > 1 { Filter::Anisotropic } else { filter(state.min_linear) },
            mag: Some(filter(state.mag_linear)),
            mip: Some(filter(state.mip_linear)),
            address: u,
            address_uvw: Some((u, v, w)),
            border: match state.border {
                SamplerBorder::TransparentBlack => BorderColor::TransparentBlack,
                SamplerBorder::OpaqueBlack => BorderColor::OpaqueBlack,
                SamplerBorder::OpaqueWhite => BorderColor::OpaqueWhite,
            },
            lod: state.lod,
            anisotropy: state.anisotropy,
            compare: state.compare.map(|function| match function {
                lift::CompareFunction::Never => SamplerCompare::Never,
                lift::CompareFunction::Less => SamplerCompare::Less,
                lift::CompareFunction::Equal => SamplerCompare::Equal,
                lift::CompareFunction::LessEqual => SamplerCompare::LessEqual,
                lift::CompareFunction::Greater => SamplerCompare::Greater,
                lift::CompareFunction::NotEqual => SamplerCompare::NotEqual,
                lift::CompareFunction::GreaterEqual => SamplerCompare::GreaterEqual,
                lift::CompareFunction::Always => SamplerCompare::Always,
            }),
        })
    }

    /// Filters of minification, magnification and mips.
    fn filters_of_kinds(&self) -> [Filter; 3] {
        [self.filter, self.mag.unwrap_or(self.filter), self.mip.unwrap_or(self.filter)]
    }

    /// The address modes of u, v and w.
    fn addresses(&self) -> [AddressMode; 3] {
        let (u, v, w) = self.address_uvw.unwrap_or((self.address, self.address, self.address));
        [u, v, w]
    }

    /// It shows a border, which not every device has.
    pub(crate) fn has_border(&self) -> bool {
        self.addresses().contains(&AddressMode::ClampToBorder)
    }

    /// It mixes texels.
    pub(crate) fn filters(&self) -> bool {
        self.filters_of_kinds().into_iter().any(|filter| filter != Filter::Nearest)
    }

    /// How it compares, where the shader itself does so.
    pub(crate) fn comparison(&self) -> Comparison {
        let function = match self.compare.unwrap_or(SamplerCompare::LessEqual) {
            SamplerCompare::Never => lift::CompareFunction::Never,
            SamplerCompare::Less => lift::CompareFunction::Less,
            SamplerCompare::Equal => lift::CompareFunction::Equal,
            SamplerCompare::LessEqual => lift::CompareFunction::LessEqual,
            SamplerCompare::Greater => lift::CompareFunction::Greater,
            SamplerCompare::NotEqual => lift::CompareFunction::NotEqual,
            SamplerCompare::GreaterEqual => lift::CompareFunction::GreaterEqual,
            SamplerCompare::Always => lift::CompareFunction::Always,
        };
        let [_, mag, _] = self.filters_of_kinds();
        Comparison { function, linear: mag != Filter::Nearest }
    }

    /// For wgpu; `comparison` where the shader compares with it, `unfilterable` where it is declared so.
    pub(crate) fn descriptor<'a>(&self, label: &'a str, comparison: bool, unfilterable: bool) -> SamplerDescriptor<'a> {
        let [min, mag, mip] = if unfilterable { [Filter::Nearest; 3] } else { self.filters_of_kinds() };
        let [u, v, w] = self.addresses();
        let mode = |filter| if filter == Filter::Nearest { FilterMode::Nearest } else { FilterMode::Linear };
        SamplerDescriptor {
            label: Some(label),
            address_mode_u: u.mode(),
            address_mode_v: v.mode(),
            address_mode_w: w.mode(),
            mag_filter: mode(mag),
            min_filter: mode(min),
            mipmap_filter: if mip == Filter::Nearest { MipmapFilterMode::Nearest } else { MipmapFilterMode::Linear },
            lod_min_clamp: self.lod.0.max(0.0),
            lod_max_clamp: self.lod.1.max(self.lod.0.max(0.0)),
            compare: comparison.then(|| self.compare.unwrap_or(SamplerCompare::LessEqual).function()),
            // wgpu demands linear filters of all three kinds with more than one sample.
            anisotropy_clamp: if min == Filter::Anisotropic && mag != Filter::Nearest && mip != Filter::Nearest {
                self.anisotropy.clamp(1, 16)
            } else {
                1
            },
            border_color: self.has_border().then_some(match self.border {
                BorderColor::TransparentBlack => SamplerBorderColor::TransparentBlack,
                BorderColor::OpaqueBlack => SamplerBorderColor::OpaqueBlack,
                BorderColor::OpaqueWhite => SamplerBorderColor::OpaqueWhite,
            }),
        }
    }
}

impl AddressMode {
    fn mode(self) -> WgpuAddressMode {
        match self {
            Self::Repeat => WgpuAddressMode::Repeat,
            Self::MirrorRepeat => WgpuAddressMode::MirrorRepeat,
            Self::ClampToEdge => WgpuAddressMode::ClampToEdge,
            Self::ClampToBorder => WgpuAddressMode::ClampToBorder,
        }
    }
}

impl SamplerCompare {
    fn function(self) -> CompareFunction {
        match self {
            Self::Never => CompareFunction::Never,
            Self::Less => CompareFunction::Less,
            Self::Equal => CompareFunction::Equal,
            Self::LessEqual => CompareFunction::LessEqual,
            Self::Greater => CompareFunction::Greater,
            Self::NotEqual => CompareFunction::NotEqual,
            Self::GreaterEqual => CompareFunction::GreaterEqual,
            Self::Always => CompareFunction::Always,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anisotropy_needs_linear_filters() {
        let sampler = SamplerDescription { filter: Filter::Anisotropic, anisotropy: 99, ..Default::default() };
        assert_eq!(sampler.descriptor("s", false, false).anisotropy_clamp, 16);
        assert_eq!(sampler.descriptor("s", false, true).anisotropy_clamp, 1);
        let sampler = SamplerDescription { mip: Some(Filter::Nearest), ..sampler };
        assert_eq!(sampler.descriptor("s", false, false).anisotropy_clamp, 1);
        let sampler = SamplerDescription { mip: None, mag: Some(Filter::Nearest), ..sampler };
        assert_eq!(sampler.descriptor("s", false, false).anisotropy_clamp, 1);
    }

    #[test]
    fn comparison_samplers_compare() {
        let sampler = SamplerDescription::default();
        assert_eq!(sampler.descriptor("s", true, false).compare, Some(CompareFunction::LessEqual));
        assert_eq!(sampler.descriptor("s", false, false).compare, None);
    }

    #[test]
    fn comparisons_in_the_shader_are_the_samplers_own() {
        let sampler = SamplerDescription::default();
        assert_eq!(
            sampler.comparison(),
            Comparison { function: lift::CompareFunction::LessEqual, linear: true },
            "the default"
        );
        let compare = Some(SamplerCompare::Greater);
        let sampler = SamplerDescription { filter: Filter::Nearest, compare, ..sampler };
        assert_eq!(sampler.comparison(), Comparison { function: lift::CompareFunction::Greater, linear: false });
        assert!(!sampler.filters());
        assert!(SamplerDescription { mip: Some(Filter::Linear), ..sampler }.filters());
    }

    #[test]
    fn root_signatures_have_samplers() {
        let bytes = include_bytes!("../../../tests/fixtures/texture/static_samplers.dxil");
        let container = crate::container::Container::parse(bytes).unwrap();
        let interface = crate::reflection::reflect(&container).unwrap();
        let names = |samplers: &BTreeMap<BindingId, SamplerDescription>| {
            let names = samplers.keys().map(|id| interface.bindings[id.index()].name.clone().unwrap());
            names.collect::<Vec<_>>()
        };
        let of = |name: &str| {
            let is_named = |binding: &crate::reflection::Binding| binding.name.as_deref() == Some(name);
            BindingId(interface.bindings.iter().position(is_named).unwrap() as u32)
        };
        let own = SamplerDescription { lod: (2.0, 3.0), ..Default::default() };
        let mut samplers = BTreeMap::from([(of("trilinear"), own.clone())]);
        bind_static_samplers(&interface, &mut samplers);
        // One is not the root signature's.
        let mut bound = names(&samplers);
        bound.sort();
        assert_eq!(bound, ["bordered", "by_default", "greater", "nearest_wrapped", "second_mip", "trilinear"]);
        assert_eq!(samplers[&of("trilinear")], own);
        let expected = SamplerDescription {
            filter: Filter::Linear,
            mag: Some(Filter::Linear),
            mip: Some(Filter::Nearest),
            address: AddressMode::MirrorRepeat,
            address_uvw: Some((AddressMode::MirrorRepeat, AddressMode::ClampToEdge, AddressMode::Repeat)),
            border: BorderColor::OpaqueWhite,
            lod: (1.0, 1.0),
            anisotropy: 1,
            compare: None,
        };
        assert_eq!(samplers[&of("second_mip")], expected);
        assert_eq!(samplers[&of("second_mip")].descriptor("s", false, false).border_color, None);
        assert_eq!(samplers[&of("greater")].compare, Some(SamplerCompare::Greater));
        let bordered = samplers[&of("bordered")].descriptor("s", false, false);
        assert_eq!(bordered.address_mode_u, WgpuAddressMode::ClampToBorder);
        assert_eq!(bordered.border_color, Some(SamplerBorderColor::OpaqueWhite));
    }
}
