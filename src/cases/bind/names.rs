//! wgpu's names for what a case or an emitted module says.

use wgpu::TextureFormat;

use crate::{
    cases::format::{Address, Compare, Filter},
    lift::{TextureSample, ViewDimension},
};

pub(super) fn buffer_type(ty: wgpu::BufferBindingType) -> wgpu::BindingType {
    wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None }
}

pub(super) fn sample_type(sample: TextureSample) -> wgpu::TextureSampleType {
    match sample {
        TextureSample::Float { filterable } => wgpu::TextureSampleType::Float { filterable },
        TextureSample::Depth => wgpu::TextureSampleType::Depth,
        TextureSample::Sint => wgpu::TextureSampleType::Sint,
        TextureSample::Uint => wgpu::TextureSampleType::Uint,
    }
}

/// A format for an unbound texture: any that the sample type allows, and that can have several samples.
pub(super) fn unbound_format(sample: TextureSample) -> TextureFormat {
    match sample {
        TextureSample::Float { .. } => TextureFormat::Rgba8Unorm,
        TextureSample::Depth => TextureFormat::Depth32Float,
        TextureSample::Sint => TextureFormat::Rgba8Sint,
        TextureSample::Uint => TextureFormat::Rgba8Uint,
    }
}

pub(super) fn view_dimension(dimension: ViewDimension) -> wgpu::TextureViewDimension {
    match dimension {
        ViewDimension::D2 => wgpu::TextureViewDimension::D2,
        ViewDimension::D2Array => wgpu::TextureViewDimension::D2Array,
        ViewDimension::Cube => wgpu::TextureViewDimension::Cube,
        ViewDimension::CubeArray => wgpu::TextureViewDimension::CubeArray,
        ViewDimension::D3 => wgpu::TextureViewDimension::D3,
    }
}

pub(super) fn storage_access(access: naga::StorageAccess) -> Result<wgpu::StorageTextureAccess, String> {
    use naga::StorageAccess;
    Ok(if access.contains(StorageAccess::ATOMIC) {
        wgpu::StorageTextureAccess::Atomic
    } else if access.contains(StorageAccess::LOAD | StorageAccess::STORE) {
        wgpu::StorageTextureAccess::ReadWrite
    } else if access.contains(StorageAccess::STORE) {
        wgpu::StorageTextureAccess::WriteOnly
    } else if access.contains(StorageAccess::LOAD) {
        wgpu::StorageTextureAccess::ReadOnly
    } else {
        return Err("a storage texture without access".into());
    })
}

pub(super) fn address_mode(address: Address) -> wgpu::AddressMode {
    match address {
        Address::ClampToEdge => wgpu::AddressMode::ClampToEdge,
        Address::Repeat => wgpu::AddressMode::Repeat,
        Address::MirrorRepeat => wgpu::AddressMode::MirrorRepeat,
        Address::ClampToBorder => wgpu::AddressMode::ClampToBorder,
    }
}

pub(super) fn filter_mode(filter: Filter) -> wgpu::FilterMode {
    match filter {
        Filter::Nearest => wgpu::FilterMode::Nearest,
        Filter::Linear => wgpu::FilterMode::Linear,
    }
}

/// wgpu's name for a comparison.
pub fn compare_function(compare: Compare) -> wgpu::CompareFunction {
    match compare {
        Compare::Never => wgpu::CompareFunction::Never,
        Compare::Less => wgpu::CompareFunction::Less,
        Compare::Equal => wgpu::CompareFunction::Equal,
        Compare::LessEqual => wgpu::CompareFunction::LessEqual,
        Compare::Greater => wgpu::CompareFunction::Greater,
        Compare::NotEqual => wgpu::CompareFunction::NotEqual,
        Compare::GreaterEqual => wgpu::CompareFunction::GreaterEqual,
        Compare::Always => wgpu::CompareFunction::Always,
    }
}
