//! The bind group of one stage: its layout, and what goes into it.

use std::{collections::BTreeMap, num::NonZeroU64};

use bevy::render::{
    render_resource::{
        BindGroup, BindGroupEntry, BindGroupLayout, BindGroupLayoutEntry, BindingResource, BindingType, Buffer,
        BufferBinding, BufferBindingType, BufferDescriptor, BufferInitDescriptor, BufferUsages, Extent3d, Sampler,
        SamplerBindingType, ShaderStages, StorageTextureAccess, Texture, TextureDescriptor, TextureDimension,
        TextureFormat, TextureSampleType, TextureUsages, TextureView, TextureViewDescriptor, TextureViewDimension,
    },
    texture::GpuImage,
};

use super::{Gpu, stage::texture_format};
use crate::{
    ir::BindingId,
    lift::{BindingRole, Emitted, EmittedResource, EmittedType, SamplerKind, TextureSample, ViewDimension},
    plugin::{
        bind::display_name,
        constants::{ConstantBlock, Frequency},
        material::SamplerDescription,
    },
    reflection::{Binding, Interface, ResourceKind, SamplerMode},
};

/// What there is to bind to a stage, by the index of the interface's binding. What is absent reads 0.
#[derive(Default)]
pub(crate) struct StageSupply<'a> {
    pub constants: Option<&'a BTreeMap<BindingId, ConstantBlock>>,
    pub textures: BTreeMap<BindingId, SuppliedTexture>,
    pub samplers: Option<&'a BTreeMap<BindingId, SamplerDescription>>,
    pub buffers: BTreeMap<BindingId, Buffer>,
}

/// A texture to bind.
#[derive(Clone)]
pub(crate) struct SuppliedTexture {
    pub texture: Texture,
    /// Its usual view.
    pub view: TextureView,
    /// Shape of that view.
    pub dimension: TextureViewDimension,
}

/// An image as it can be bound.
pub(crate) fn supplied_texture(image: &GpuImage) -> SuppliedTexture {
    let descriptor = &image.texture_descriptor;
    let of_view = image.texture_view_descriptor.as_ref().and_then(|view| view.dimension);
    let dimension = of_view.unwrap_or(match descriptor.dimension {
        TextureDimension::D1 => TextureViewDimension::D1,
        TextureDimension::D2 if descriptor.size.depth_or_array_layers > 1 => TextureViewDimension::D2Array,
        TextureDimension::D2 => TextureViewDimension::D2,
        TextureDimension::D3 => TextureViewDimension::D3,
    });
    SuppliedTexture { texture: image.texture.clone(), view: image.texture_view.clone(), dimension }
}

/// A constant buffer that is written anew for each draw or dispatch.
pub(crate) struct BoundUniform {
    /// What is written.
    pub block: ConstantBlock,
    /// Bytes that the module declares.
    pub size: u32,
}

/// What is bound at a slot.
enum Bound {
    Buffer(Buffer),
    View(TextureView),
    Sampler(Sampler),
    /// Of [`StageBindings::uniforms`].
    Uniform(usize),
}

/// Layout and contents of a stage's bind group.
pub(crate) struct StageBindings {
    pub layout: BindGroupLayout,
    /// By rising binding number.
    entries: Vec<(u32, Bound)>,
    /// The constant buffers that change, by rising binding number.
    pub uniforms: Vec<BoundUniform>,
    /// They are bound once and moved by dynamic offsets; else a group is made for each place.
    pub dynamic: bool,
}

impl StageBindings {
    /// Number of constant buffers of an emitted stage whose contents change.
    pub fn count_changing(emitted: &Emitted, constants: &BTreeMap<BindingId, ConstantBlock>) -> usize {
        emitted.resources.iter().filter(|resource| changing_block(resource, constants).is_some()).count()
    }

    /// Makes the layout, and every resource that stays as it is.
    ///
    /// # Errors
    /// Names the binding that cannot be filled.
    pub fn new(
        gpu: &Gpu,
        stage: ShaderStages,
        emitted: &Emitted,
        interface: &Interface,
        supply: &StageSupply,
        dynamic: bool,
    ) -> Result<Self, String> {
        let mut layout = Vec::new();
        let mut entries = Vec::new();
        let mut uniforms = Vec::new();
        let mut resources: Vec<&EmittedResource> = emitted.resources.iter().collect();
        resources.sort_by_key(|resource| resource.slot.binding);
        for resource in resources {
            let binding = interface.bindings.get(resource.binding.index());
            let name = binding.map(display_name).unwrap_or_default();
            if resource.count.is_some() {
                return Err(format!("`{name}` is an array of resources, which materials cannot bind yet"));
            }
            let constants = supply.constants.and_then(|constants| changing_block(resource, constants));
            let is_dynamic = dynamic && constants.is_some();
            let mut ty = binding_type(&name, &resource.ty, is_dynamic)?;
            if resource.ty == (EmittedType::Sampler { kind: SamplerKind::Filtering })
                && !sampler_filters(resource, binding, supply)
            {
                ty = BindingType::Sampler(SamplerBindingType::NonFiltering);
            }
            layout.push(BindGroupLayoutEntry { binding: resource.slot.binding, visibility: stage, ty, count: None });
            let bound = match (constants, resource.ty) {
                (Some(block), EmittedType::Uniform { size }) => {
                    uniforms.push(BoundUniform { block: block.clone(), size });
                    Bound::Uniform(uniforms.len() - 1)
                }
                _ => bind(gpu, &name, resource, binding, supply)?,
            };
            entries.push((resource.slot.binding, bound));
        }
        let layout = gpu.device.create_bind_group_layout("stage", &layout);
        Ok(Self { layout, entries, uniforms, dynamic })
    }

    /// Makes a group to see whether wgpu takes what is bound. Those that are drawn with are made later, where an error could
    /// not be caught. To be called in [`Gpu::checked`].
    pub fn try_out(&self, gpu: &Gpu) {
        let size = self.uniforms.iter().map(|uniform| u64::from(uniform.size)).max();
        let buffer = size.map(|size| {
            let (label, usage) = (Some("constants to try out"), BufferUsages::UNIFORM);
            gpu.device.create_buffer(&BufferDescriptor { label, size, usage, mapped_at_creation: false })
        });
        self.bind_group(gpu, buffer.as_ref(), &vec![0; self.uniforms.len()]);
    }

    /// Makes the group. `buffer` holds the constants that change, each at its place in `offsets` (0 for dynamic offsets).
    pub fn bind_group(&self, gpu: &Gpu, buffer: Option<&Buffer>, offsets: &[u64]) -> Option<BindGroup> {
        let mut entries = Vec::with_capacity(self.entries.len());
        for (binding, bound) in &self.entries {
            let resource = match bound {
                Bound::Buffer(buffer) => buffer.as_entire_binding(),
                Bound::View(view) => BindingResource::TextureView(view),
                Bound::Sampler(sampler) => BindingResource::Sampler(sampler),
                Bound::Uniform(index) => BindingResource::Buffer(BufferBinding {
                    buffer: buffer?,
                    offset: if self.dynamic { 0 } else { *offsets.get(*index)? },
                    size: NonZeroU64::new(self.uniforms[*index].size.into()),
                }),
            };
            entries.push(BindGroupEntry { binding: *binding, resource });
        }
        Some(gpu.device.create_bind_group("stage", &self.layout, &entries))
    }
}

/// The contents of a constant buffer, if the engine fills in some of it.
fn changing_block<'a>(
    resource: &EmittedResource,
    constants: &'a BTreeMap<BindingId, ConstantBlock>,
) -> Option<&'a ConstantBlock> {
    let is_uniform = matches!(resource.ty, EmittedType::Uniform { .. });
    constants.get(&resource.binding).filter(|block| is_uniform && block.frequency() != Frequency::Constant)
}

/// An entry of a layout.
fn binding_type(name: &str, ty: &EmittedType, dynamic: bool) -> Result<BindingType, String> {
    Ok(match *ty {
        EmittedType::Uniform { size } => BindingType::Buffer {
            ty: BufferBindingType::Uniform,
            has_dynamic_offset: dynamic,
            min_binding_size: NonZeroU64::new(size.into()),
        },
        EmittedType::Storage { read_only, .. } => BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        EmittedType::Texture { dimension, sample, multisampled } => BindingType::Texture {
            sample_type: match sample {
                TextureSample::Float { filterable } => {
                    TextureSampleType::Float { filterable: filterable && !multisampled }
                }
                TextureSample::Depth => TextureSampleType::Depth,
                TextureSample::Sint => TextureSampleType::Sint,
                TextureSample::Uint => TextureSampleType::Uint,
            },
            view_dimension: view_dimension(dimension),
            multisampled,
        },
        EmittedType::StorageTexture { dimension, format, access, .. } => BindingType::StorageTexture {
            access: if access.contains(naga::StorageAccess::ATOMIC) {
                StorageTextureAccess::Atomic
            } else if access.contains(naga::StorageAccess::LOAD | naga::StorageAccess::STORE) {
                StorageTextureAccess::ReadWrite
            } else if access.contains(naga::StorageAccess::LOAD) {
                StorageTextureAccess::ReadOnly
            } else {
                StorageTextureAccess::WriteOnly
            },
            format: texture_format(format).ok_or_else(|| format!("`{name}`: textures of {format:?} cannot be made"))?,
            view_dimension: view_dimension(dimension),
        },
        EmittedType::TexelBuffer { .. } => BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only: false },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        EmittedType::Sampler { kind } => BindingType::Sampler(match kind {
            SamplerKind::Filtering => SamplerBindingType::Filtering,
            SamplerKind::NonFiltering => SamplerBindingType::NonFiltering,
            SamplerKind::Comparison => SamplerBindingType::Comparison,
        }),
        EmittedType::AccelerationStructure => {
            return Err(format!("`{name}` is an acceleration structure, which cannot be bound yet"));
        }
    })
}

fn view_dimension(dimension: ViewDimension) -> TextureViewDimension {
    match dimension {
        ViewDimension::D2 => TextureViewDimension::D2,
        ViewDimension::D2Array => TextureViewDimension::D2Array,
        ViewDimension::Cube => TextureViewDimension::Cube,
        ViewDimension::CubeArray => TextureViewDimension::CubeArray,
        ViewDimension::D3 => TextureViewDimension::D3,
    }
}

/// A resource that stays as it is: what is supplied, or one that reads 0.
fn bind(
    gpu: &Gpu,
    name: &str,
    resource: &EmittedResource,
    declared: Option<&Binding>,
    supply: &StageSupply,
) -> Result<Bound, String> {
    let device = &gpu.device;
    Ok(match resource.ty {
        EmittedType::Uniform { size } => {
            let block = supply.constants.and_then(|constants| constants.get(&resource.binding));
            let mut bytes = block.map(|block| block.bytes.clone()).unwrap_or_default();
            bytes.resize(size as usize, 0);
            let usage = BufferUsages::UNIFORM;
            Bound::Buffer(device.create_buffer_with_data(&BufferInitDescriptor {
                label: Some(name),
                contents: &bytes,
                usage,
            }))
        }
        EmittedType::Storage { .. } => match (resource.role, supply.buffers.get(&resource.binding)) {
            (BindingRole::Resource, Some(buffer)) => Bound::Buffer(buffer.clone()),
            _ => Bound::Buffer(device.create_buffer(&BufferDescriptor {
                label: Some(name),
                size: 16,
                usage: BufferUsages::STORAGE | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })),
        },
        EmittedType::Texture { dimension, sample, multisampled } => {
            let wanted = view_dimension(dimension);
            match supply.textures.get(&resource.binding) {
                Some(texture) if texture.dimension == wanted => Bound::View(texture.view.clone()),
                Some(texture) => Bound::View(view_as(texture, wanted)),
                None => {
                    let format = match sample {
                        TextureSample::Float { .. } => TextureFormat::Rgba8Unorm,
                        TextureSample::Depth => TextureFormat::Depth32Float,
                        TextureSample::Sint => TextureFormat::Rgba8Sint,
                        TextureSample::Uint => TextureFormat::Rgba8Uint,
                    };
                    Bound::View(zero_texture(gpu, name, wanted, format, multisampled, TextureUsages::TEXTURE_BINDING))
                }
            }
        }
        EmittedType::StorageTexture { dimension, format, .. } => {
            let wanted = view_dimension(dimension);
            match supply.textures.get(&resource.binding) {
                Some(texture) if texture.dimension == wanted => Bound::View(texture.view.clone()),
                Some(texture) => Bound::View(view_as(texture, wanted)),
                None => {
                    let format = texture_format(format)
                        .ok_or_else(|| format!("`{name}`: textures of {format:?} cannot be made"))?;
                    Bound::View(zero_texture(gpu, name, wanted, format, false, TextureUsages::STORAGE_BINDING))
                }
            }
        }
        EmittedType::TexelBuffer { .. } => {
            return Err(format!(
                "the texture `{name}`: the shader uses what atomic operations found in it, and wgpu's atomics on textures \
                 give nothing back; such textures cannot be bound yet"
            ));
        }
        EmittedType::Sampler { kind } => {
            let sampler = sampler_of(resource, supply);
            if sampler.has_border() && !device.features().contains(wgpu::Features::ADDRESS_MODE_CLAMP_TO_BORDER) {
                return Err(format!(
                    "the sampler `{name}` has a border, and the device has none: give it another address"
                ));
            }
            let unfilterable = match kind {
                SamplerKind::Filtering => !sampler_filters(resource, declared, supply),
                SamplerKind::NonFiltering => true,
                SamplerKind::Comparison => false,
            };
            let comparison = kind == SamplerKind::Comparison;
            Bound::Sampler(device.create_sampler(&sampler.descriptor(name, comparison, unfilterable)))
        }
        EmittedType::AccelerationStructure => {
            return Err(format!("`{name}` is an acceleration structure, which cannot be bound yet"));
        }
    })
}

/// The sampler of a binding, or the default.
fn sampler_of(resource: &EmittedResource, supply: &StageSupply) -> SamplerDescription {
    supply.samplers.and_then(|samplers| samplers.get(&resource.binding)).cloned().unwrap_or_default()
}

/// A sampler that does not compare mixes texels. Where the HLSL's compares all the same, the shader compares what it gathers,
/// which nothing filters: such may go with formats that cannot be filtered.
fn sampler_filters(resource: &EmittedResource, declared: Option<&Binding>, supply: &StageSupply) -> bool {
    let gathers = declared
        .is_some_and(|declared| matches!(declared.kind, ResourceKind::Sampler { mode: SamplerMode::Comparison }));
    !gathers && sampler_of(resource, supply).filters()
}

/// A view of another shape. wgpu says so where the texture does not have it.
fn view_as(texture: &SuppliedTexture, dimension: TextureViewDimension) -> TextureView {
    texture.texture.create_view(&TextureViewDescriptor { dimension: Some(dimension), ..Default::default() })
}

/// The smallest texture of a shape: wgpu makes it 0.
fn zero_texture(
    gpu: &Gpu,
    name: &str,
    dimension: TextureViewDimension,
    format: TextureFormat,
    multisampled: bool,
    usage: TextureUsages,
) -> TextureView {
    let layers = match dimension {
        TextureViewDimension::Cube | TextureViewDimension::CubeArray => 6,
        _ => 1,
    };
    let is_3d = dimension == TextureViewDimension::D3;
    let texture = gpu.device.create_texture(&TextureDescriptor {
        label: Some(name),
        size: Extent3d { width: 1, height: 1, depth_or_array_layers: layers },
        mip_level_count: 1,
        sample_count: if multisampled { 4 } else { 1 },
        dimension: if is_3d { TextureDimension::D3 } else { TextureDimension::D2 },
        format,
        usage: if multisampled { usage | TextureUsages::RENDER_ATTACHMENT } else { usage },
        view_formats: &[],
    });
    texture.create_view(&TextureViewDescriptor { dimension: Some(dimension), ..Default::default() })
}
