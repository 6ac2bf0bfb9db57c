//! How many bindings of a kind a device permits a stage.

use crate::cases::device::Halt;

/// Skips a stage with more bindings of a kind than the device permits: wgpu would refuse the layout. Arrays have a limit of their own, which wgpu
/// counts in elements.
pub fn check_limits(
    limits: &wgpu::Limits,
    entries: impl Iterator<Item = wgpu::BindGroupLayoutEntry>,
) -> Result<(), Halt> {
    let mut kinds = [
        ("uniform buffers", 0, limits.max_uniform_buffers_per_shader_stage),
        ("storage buffers", 0, limits.max_storage_buffers_per_shader_stage),
        ("sampled textures", 0, limits.max_sampled_textures_per_shader_stage),
        ("storage textures", 0, limits.max_storage_textures_per_shader_stage),
        ("samplers", 0, limits.max_samplers_per_shader_stage),
        ("acceleration structures", 0, limits.max_acceleration_structures_per_shader_stage),
        ("elements of arrays", 0, limits.max_binding_array_elements_per_shader_stage),
        ("samplers in arrays", 0, limits.max_binding_array_sampler_elements_per_shader_stage),
    ];
    for entry in entries {
        use wgpu::{BindingType, BufferBindingType};
        let kind = match entry.ty {
            BindingType::Sampler(_) if entry.count.is_some() => 7,
            _ if entry.count.is_some() => 6,
            BindingType::Buffer { ty: BufferBindingType::Uniform, .. } => 0,
            BindingType::Buffer { ty: BufferBindingType::Storage { .. }, .. } => 1,
            BindingType::Texture { .. } | BindingType::ExternalTexture => 2,
            BindingType::StorageTexture { .. } => 3,
            BindingType::Sampler(_) => 4,
            BindingType::AccelerationStructure { .. } => 5,
        };
        kinds[kind].1 += entry.count.map_or(1, std::num::NonZeroU32::get);
    }
    match kinds.into_iter().find(|(_, count, limit)| count > limit) {
        Some((kind, count, limit)) => {
            Err(Halt::Skipped(format!("the device permits a stage {limit} {kind}, not {count}")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_device_permits_is_skipped() {
        let limits = wgpu::Limits { max_storage_buffers_per_shader_stage: 3, ..wgpu::Limits::default() };
        let entry = |binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: false },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        assert_eq!(check_limits(&limits, (0..3).map(entry)), Ok(()));
        let reason = "the device permits a stage 3 storage buffers, not 4".to_owned();
        assert_eq!(check_limits(&limits, (0..4).map(entry)), Err(Halt::Skipped(reason)));
    }
}
