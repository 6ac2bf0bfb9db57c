//! Texture views and samplers of bind groups.

use wgpu::{Extent3d, TextureFormat};

use super::{
    Binder, Slot,
    names::{address_mode, compare_function, filter_mode, view_dimension},
    specialize::named_format,
    write_back::WriteBack,
};
use crate::{
    cases::{
        device::Halt,
        format::{self, Address, Border, Compare, Filter, View},
        formats,
        resources::{copy_texture, new_texture},
        texels,
    },
    lift::{SamplerKind, ViewDimension},
};

impl Binder<'_> {
    /// A view of a texture.
    pub(super) fn texture(
        &self,
        slot: Slot<'_>,
        dimension: ViewDimension,
        storage: bool,
        write_backs: &mut Vec<WriteBack>,
    ) -> Result<wgpu::TextureView, Halt> {
        let texture = &self.resources.texture(slot.name)?.texture;
        let (format, mips, layers) = match &slot.binding.view {
            Some(View::Texture { format, mips, layers }) => (format.as_deref(), *mips, *layers),
            None => (None, None, None),
            Some(view) => return Err(Halt::Failed(format!("texture {} in a view {view:?}", slot.name))),
        };
        let format = format.map(named_format).transpose()?.unwrap_or(texture.format());
        let copy;
        let texture = if format.remove_srgb_suffix() != texture.format().remove_srgb_suffix() {
            copy = self.reinterpreted(texture, format)?;
            if storage {
                write_backs.push(WriteBack::View { copy: copy.clone(), texture: texture.clone() });
            }
            &copy
        } else if !storage && self.hazards.writes(slot.name) {
            copy = copy_texture(self.gpu, texture)?;
            &copy
        } else {
            texture
        };
        let (first_mip, mip_count) = mips.unwrap_or((0, texture.mip_level_count()));
        let all_layers =
            if texture.dimension() == wgpu::TextureDimension::D3 { 1 } else { texture.depth_or_array_layers() };
        let (first_layer, layer_count) = layers.unwrap_or((0, all_layers));
        let layer_count = match dimension {
            ViewDimension::D2 | ViewDimension::D3 => 1,
            ViewDimension::Cube => 6,
            ViewDimension::D2Array | ViewDimension::CubeArray => layer_count,
        };
        Ok(texture.create_view(&wgpu::TextureViewDescriptor {
            label: Some(slot.name),
            format: Some(format),
            dimension: Some(view_dimension(dimension)),
            usage: Some(if storage {
                wgpu::TextureUsages::STORAGE_BINDING
            } else {
                wgpu::TextureUsages::TEXTURE_BINDING
            }),
            aspect: formats::main_aspect(format),
            base_mip_level: first_mip,
            mip_level_count: Some(if storage { 1 } else { mip_count }),
            base_array_layer: first_layer,
            array_layer_count: Some(layer_count),
        }))
    }

    /// A copy of a texture whose bits are texels of another format: wgpu's own views change nothing but sRGB.
    fn reinterpreted(&self, texture: &wgpu::Texture, format: TextureFormat) -> Result<wgpu::Texture, Halt> {
        if texture.sample_count() > 1 {
            return Err(Halt::Skipped(format!("a view of multisampled {:?} as {format:?}", texture.format())));
        }
        let (dimension, size, mips) = (texture.dimension(), texture.size(), texture.mip_level_count());
        let copy = new_texture(self.gpu, "view", format, dimension, size, mips, 1);
        texels::write(self.gpu, &copy, &texels::read_all(self.gpu, texture)?)
            .map_err(|halt| halt.within(&format!("a view of {:?} as {format:?}", texture.format())))?;
        Ok(copy)
    }

    /// A texture of one texel that is zero, for a register that the case leaves unbound.
    pub(super) fn unbound_texture(
        &self,
        format: TextureFormat,
        dimension: ViewDimension,
        multisampled: bool,
    ) -> wgpu::TextureView {
        let (texture_dimension, layers) = match dimension {
            ViewDimension::D3 => (wgpu::TextureDimension::D3, 1),
            ViewDimension::Cube | ViewDimension::CubeArray => (wgpu::TextureDimension::D2, 6),
            ViewDimension::D2 | ViewDimension::D2Array => (wgpu::TextureDimension::D2, 1),
        };
        let size = Extent3d { width: 1, height: 1, depth_or_array_layers: layers };
        let samples = if multisampled { 4 } else { 1 };
        let texture = new_texture(self.gpu, "unbound", format, texture_dimension, size, 1, samples);
        texture.create_view(&wgpu::TextureViewDescriptor {
            dimension: Some(view_dimension(dimension)),
            ..Default::default()
        })
    }

    /// A sampler.
    pub(super) fn sampler(&self, sampler: &format::Sampler, kind: SamplerKind) -> Result<wgpu::Sampler, Halt> {
        let (u, v, w) = sampler.address;
        let filter = |filter: Filter| if kind == SamplerKind::NonFiltering { Filter::Nearest } else { filter };
        let border = wgpu::Features::ADDRESS_MODE_CLAMP_TO_BORDER;
        if [u, v, w].contains(&Address::ClampToBorder) && !self.gpu.features().contains(border) {
            return Err(Halt::Skipped("the device lacks ADDRESS_MODE_CLAMP_TO_BORDER".into()));
        }
        Ok(self.gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            label: None,
            address_mode_u: address_mode(u),
            address_mode_v: address_mode(v),
            address_mode_w: address_mode(w),
            mag_filter: filter_mode(filter(sampler.mag)),
            min_filter: filter_mode(filter(sampler.min)),
            mipmap_filter: match filter(sampler.mip) {
                Filter::Nearest => wgpu::MipmapFilterMode::Nearest,
                Filter::Linear => wgpu::MipmapFilterMode::Linear,
            },
            lod_min_clamp: sampler.lod.0,
            lod_max_clamp: sampler.lod.1,
            compare: (kind == SamplerKind::Comparison)
                .then(|| compare_function(sampler.compare.unwrap_or(Compare::Never))),
            anisotropy_clamp: if kind == SamplerKind::NonFiltering { 1 } else { sampler.anisotropy.0.max(1) },
            border_color: Some(match sampler.border {
                Border::TransparentBlack => wgpu::SamplerBorderColor::TransparentBlack,
                Border::OpaqueBlack => wgpu::SamplerBorderColor::OpaqueBlack,
                Border::OpaqueWhite => wgpu::SamplerBorderColor::OpaqueWhite,
            }),
        }))
    }
}
