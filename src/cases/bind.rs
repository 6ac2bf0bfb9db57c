//! From a case's bindings to bind groups, and to what the emitter must know of them.

use std::collections::BTreeSet;

use wgpu::{BufferUsages, Extent3d, Features, ShaderStages, TextureFormat};

use super::{
    device::{Gpu, Halt},
    format::{self, Address, Border, Compare, Filter, View},
    formats,
    resources::{BufferResource, Resources, copy_texture, new_buffer, new_texture, write_buffer},
    texels,
};
use crate::{
    lift::{
        BindingRole, CompareFunction, Comparison, Emitted, EmittedResource, EmittedType, Register,
        ResourceSpecialization, TEXEL_BUFFER_HEADER, Target, TextureSample, ViewDimension,
    },
    reflection::{self, Interface, ResourceClass, ResourceKind, Stage},
};

/// A stage, ready to be made a pipeline of: its module, and the interface whose bindings the module's resources name.
pub struct StageModule {
    /// Its stage.
    pub stage: Stage,
    /// What it is emitted from.
    pub interface: Interface,
    /// Its module.
    pub emitted: Emitted,
}

/// One register of a case's bindings.
#[derive(Clone, Copy)]
struct Slot<'a> {
    /// Number of the register among those of the program's binding.
    element: u32,
    /// The case's binding.
    binding: &'a format::Binding,
    /// What is bound.
    name: &'a str,
}

/// The registers of a program's binding that a case binds, by element.
fn slots<'a>(bindings: &'a [format::Binding], declared: &reflection::Binding) -> impl Iterator<Item = Slot<'a>> {
    let class = match declared.class {
        ResourceClass::Cbv => format::Class::Cbv,
        ResourceClass::Srv => format::Class::Srv,
        ResourceClass::Uav => format::Class::Uav,
        ResourceClass::Sampler => format::Class::Sampler,
    };
    let (space, first, count) = (declared.space, declared.register, declared.count);
    let of_class = bindings.iter().filter(move |binding| binding.class == class && binding.space == space);
    of_class.flat_map(move |binding| {
        let registers = (u64::from(binding.register)..).zip(&binding.of);
        registers.filter(|(_, name)| !name.is_empty()).filter_map(move |(register, name)| {
            let element = u32::try_from(register.checked_sub(first.into())?).ok()?;
            count.is_none_or(|count| element < count).then_some(Slot { element, binding, name })
        })
    })
}

/// What one step reads and writes, in all its stages.
#[derive(Default)]
pub struct Hazards<'a> {
    /// Resources that are bound as unordered-access views.
    pub unordered: BTreeSet<&'a str>,
    /// Textures that are drawn to.
    pub targets: BTreeSet<&'a str>,
}

impl<'a> Hazards<'a> {
    /// Adds what a program's unordered-access views are bound to.
    pub fn add(&mut self, bindings: &'a [format::Binding], interface: &Interface) {
        let unordered = interface.bindings.iter().filter(|binding| binding.class == ResourceClass::Uav);
        self.unordered.extend(unordered.flat_map(|declared| slots(bindings, declared)).map(|slot| slot.name));
    }

    fn writes(&self, name: &str) -> bool {
        self.unordered.contains(name) || self.targets.contains(name)
    }
}

/// Tells a target what is bound to a program.
///
/// # Errors
/// A binding names a resource that is not there, or a format that is none.
pub fn specialize(
    gpu: &Gpu,
    bindings: &[format::Binding],
    resources: &Resources<'_>,
    hazards: &Hazards<'_>,
    interface: &Interface,
    target: &mut Target,
) -> Result<(), Halt> {
    for declared in &interface.bindings {
        let mut known = ResourceSpecialization::default();
        for slot in slots(bindings, declared) {
            known.count = known.count.max(slot.element + 1);
            specialize_slot(gpu, resources, hazards, declared, slot, &mut known)?;
        }
        target.resources.insert(Register::from(declared), known);
    }
    Ok(())
}

fn specialize_slot(
    gpu: &Gpu,
    resources: &Resources<'_>,
    hazards: &Hazards<'_>,
    declared: &reflection::Binding,
    slot: Slot<'_>,
    known: &mut ResourceSpecialization,
) -> Result<(), Halt> {
    match declared.kind {
        ResourceKind::Sampler { .. } => {
            if let Some(sampler) = resources.samplers.get(slot.name) {
                known.unfilterable |= !filters(sampler);
                known.comparison = sampler.compare.map(|compare| comparison(sampler, compare));
            }
        }
        ResourceKind::Texture { .. } => {
            let texture = &resources.texture(slot.name)?.texture;
            let format = match &slot.binding.view {
                Some(View::Texture { format: Some(name), .. }) => named_format(name)?,
                _ => texture.format(),
            };
            if declared.class == ResourceClass::Uav {
                known.format = Some(storage_format(format)?);
            } else {
                known.depth |= format.has_depth_aspect();
                known.color |= !format.has_depth_aspect();
                let features = gpu.adapter.get_texture_format_features(format).flags;
                known.unfilterable |=
                    !features.contains(wgpu::TextureFormatFeatureFlags::FILTERABLE) || texture.sample_count() > 1;
            }
        }
        ResourceKind::AccelerationStructure | ResourceKind::FeedbackTexture { .. } => {}
        ResourceKind::ConstantBuffer { .. } => {}
        ResourceKind::TypedBuffer { .. }
        | ResourceKind::RawBuffer { .. }
        | ResourceKind::StructuredBuffer { .. }
        | ResourceKind::TextureBuffer { .. } => {
            if let Some(View::Typed { format }) = &slot.binding.view {
                known.format = Some(storage_format(named_format(format)?)?);
            }
            known.read_write |= declared.class == ResourceClass::Srv && hazards.writes(slot.name);
        }
    }
    Ok(())
}

fn named_format(name: &str) -> Result<TextureFormat, String> {
    formats::texture_format(name).ok_or_else(|| format!("there is no format {name}"))
}

fn storage_format(format: TextureFormat) -> Result<naga::StorageFormat, String> {
    wgpu_naga_bridge::map_storage_format_to_naga(format).ok_or_else(|| format!("{format:?} is no storage format"))
}

fn comparison(sampler: &format::Sampler, compare: Compare) -> Comparison {
    let function = match compare {
        Compare::Never => CompareFunction::Never,
        Compare::Less => CompareFunction::Less,
        Compare::Equal => CompareFunction::Equal,
        Compare::LessEqual => CompareFunction::LessEqual,
        Compare::Greater => CompareFunction::Greater,
        Compare::NotEqual => CompareFunction::NotEqual,
        Compare::GreaterEqual => CompareFunction::GreaterEqual,
        Compare::Always => CompareFunction::Always,
    };
    Comparison { function, linear: sampler.mag == Filter::Linear }
}

fn filters(sampler: &format::Sampler) -> bool {
    [sampler.min, sampler.mag, sampler.mip].contains(&Filter::Linear)
}

/// A stage's bind group.
pub struct BoundStage {
    /// Its layout.
    pub layout: wgpu::BindGroupLayout,
    /// The group.
    pub group: wgpu::BindGroup,
    /// Views of buffers' parts that must be written back.
    write_backs: Vec<WriteBack>,
}

/// What the stage writes in place of what was bound.
enum WriteBack {
    /// A copy of a part of a buffer.
    Part { copy: wgpu::Buffer, buffer: wgpu::Buffer, buffer_size: u64, offset: u64, size: u64 },
    /// A buffer that stands for a texture.
    Texels { copy: wgpu::Buffer, texture: wgpu::Texture, part: TexturePart },
    /// A copy of a texture in the view's format.
    View { copy: wgpu::Texture, texture: wgpu::Texture },
}

/// A mip level and layers of a texture, and how they lie in a buffer.
#[derive(Clone, Copy)]
struct TexturePart {
    mip: u32,
    first_layer: u32,
    size: Extent3d,
    /// Bytes of a row.
    pitch: u32,
}

impl TexturePart {
    fn of_texture<'t>(&self, texture: &'t wgpu::Texture) -> wgpu::TexelCopyTextureInfo<'t> {
        wgpu::TexelCopyTextureInfo {
            texture,
            mip_level: self.mip,
            origin: wgpu::Origin3d { x: 0, y: 0, z: self.first_layer },
            aspect: wgpu::TextureAspect::All,
        }
    }

    fn of_buffer<'b>(&self, buffer: &'b wgpu::Buffer) -> wgpu::TexelCopyBufferInfo<'b> {
        wgpu::TexelCopyBufferInfo {
            buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: TEXEL_BUFFER_HEADER.into(),
                bytes_per_row: Some(self.pitch),
                rows_per_image: Some(self.size.height),
            },
        }
    }
}

impl BoundStage {
    /// Writes copies of buffers' parts back to where they came from.
    ///
    /// # Errors
    /// The device is lost.
    pub fn write_back(&self, gpu: &Gpu) -> Result<(), Halt> {
        for write_back in &self.write_backs {
            match write_back {
                WriteBack::Part { copy, buffer, buffer_size, offset, size } => {
                    let written = gpu.read_buffer(copy, *size)?;
                    let mut whole = gpu.read_buffer(buffer, *buffer_size)?;
                    let (start, end) = (*offset as usize, (offset + size) as usize);
                    whole[start..end].copy_from_slice(&written);
                    write_buffer(gpu, buffer, &whole);
                }
                WriteBack::Texels { copy, texture, part } => {
                    let mut encoder = gpu.encoder();
                    encoder.copy_buffer_to_texture(part.of_buffer(copy), part.of_texture(texture), part.size);
                    gpu.submit(encoder)?;
                }
                WriteBack::View { copy, texture } => texels::write(gpu, texture, &texels::read_all(gpu, copy)?)?,
            }
        }
        Ok(())
    }
}

/// What is bound to one resource of a module: one item, or one for each element of a binding array.
enum Bound {
    Buffers(Vec<BoundBuffer>),
    Views(Vec<wgpu::TextureView>),
    Samplers(Vec<wgpu::Sampler>),
}

struct BoundBuffer {
    buffer: wgpu::Buffer,
    offset: u64,
    size: u64,
}

/// Makes bind groups of a case's bindings.
pub struct Binder<'a> {
    /// The device.
    pub gpu: &'a Gpu,
    /// The case's bindings.
    pub bindings: &'a [format::Binding],
    /// The case's resources.
    pub resources: &'a Resources<'a>,
    /// What the step writes.
    pub hazards: &'a Hazards<'a>,
}

impl Binder<'_> {
    /// The bind group of a stage.
    ///
    /// # Errors
    /// A binding does not fit what the module declares.
    pub fn bind(&self, module: &StageModule) -> Result<BoundStage, Halt> {
        let visibility = match module.stage {
            Stage::Vertex => ShaderStages::VERTEX,
            Stage::Pixel => ShaderStages::FRAGMENT,
            Stage::Compute | Stage::Node => ShaderStages::COMPUTE,
            Stage::Amplification => ShaderStages::TASK,
            Stage::Mesh => ShaderStages::MESH,
            stage => return Err(Halt::Skipped(format!("{stage:?} shaders"))),
        };
        let mut write_backs = Vec::new();
        let mut entries = Vec::new();
        let mut bound = Vec::new();
        for resource in &module.emitted.resources {
            let declared = module
                .interface
                .bindings
                .get(resource.binding.0 as usize)
                .ok_or_else(|| format!("the module names binding {}, which there is not", resource.binding.0))?;
            let place = format!("{:?} {} of space {}", declared.class, declared.register, declared.space);
            if resource.count.is_some() {
                self.check_array(resource.ty).map_err(|halt| halt.within(&place))?;
            }
            let (ty, items) =
                self.resource(resource, declared, &mut write_backs).map_err(|halt| halt.within(&place))?;
            entries.push(wgpu::BindGroupLayoutEntry {
                binding: resource.slot.binding,
                visibility,
                ty,
                count: resource.count.and_then(std::num::NonZeroU32::new),
            });
            bound.push((resource, items));
        }
        let layout = self
            .gpu
            .device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let lists = bound.iter().map(|(_, items)| Lists::new(items)).collect::<Vec<_>>();
        let entries = bound.iter().zip(&lists).map(|((resource, _), lists)| wgpu::BindGroupEntry {
            binding: resource.slot.binding,
            resource: lists.resource(resource.count.is_some()),
        });
        let group = self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries.collect::<Vec<_>>(),
        });
        Ok(BoundStage { layout, group, write_backs })
    }

    /// Skips arrays of resources that the device has none of: wgpu would panic.
    fn check_array(&self, ty: EmittedType) -> Result<(), Halt> {
        let needed = match ty {
            EmittedType::Uniform { .. } => Features::UNIFORM_BUFFER_BINDING_ARRAYS,
            EmittedType::Storage { .. } | EmittedType::TexelBuffer { .. } => {
                Features::BUFFER_BINDING_ARRAY | Features::STORAGE_RESOURCE_BINDING_ARRAY
            }
            EmittedType::StorageTexture { .. } => {
                Features::TEXTURE_BINDING_ARRAY | Features::STORAGE_RESOURCE_BINDING_ARRAY
            }
            EmittedType::Texture { .. } | EmittedType::Sampler { .. } => Features::TEXTURE_BINDING_ARRAY,
            EmittedType::AccelerationStructure => Features::ACCELERATION_STRUCTURE_BINDING_ARRAY,
        };
        match needed - self.gpu.features() {
            missing if missing.is_empty() => Ok(()),
            missing => Err(Halt::Skipped(format!("the device lacks {missing:?}"))),
        }
    }

    /// What the layout says of a resource, and what is bound to it.
    fn resource(
        &self,
        resource: &EmittedResource,
        declared: &reflection::Binding,
        write_backs: &mut Vec<WriteBack>,
    ) -> Result<(wgpu::BindingType, Bound), Halt> {
        let elements = resource.count.unwrap_or(1);
        let mut slot_of = vec![None; elements as usize];
        for slot in slots(self.bindings, declared) {
            if let Some(place) = slot_of.get_mut(slot.element as usize) {
                *place = Some(slot);
            }
        }
        Ok(match resource.ty {
            EmittedType::Uniform { size } => {
                let ty = buffer_type(wgpu::BufferBindingType::Uniform);
                let buffers = slot_of.into_iter().map(|slot| self.constants(slot, size));
                (ty, Bound::Buffers(buffers.collect::<Result<_, _>>()?))
            }
            EmittedType::Storage { read_only } => {
                let ty = buffer_type(wgpu::BufferBindingType::Storage { read_only });
                let buffers = slot_of.into_iter().map(|slot| self.storage(slot, resource.role, read_only, write_backs));
                (ty, Bound::Buffers(buffers.collect::<Result<_, _>>()?))
            }
            EmittedType::Texture { dimension, sample, multisampled } => {
                let ty = wgpu::BindingType::Texture {
                    sample_type: sample_type(sample),
                    view_dimension: view_dimension(dimension),
                    multisampled,
                };
                let unbound = || self.unbound_texture(unbound_format(sample), dimension, multisampled);
                let views = slot_of.into_iter().map(|slot| {
                    slot.map_or_else(|| Ok(unbound()), |slot| self.texture(slot, dimension, false, write_backs))
                });
                (ty, Bound::Views(views.collect::<Result<_, _>>()?))
            }
            EmittedType::StorageTexture { dimension, format, access } => {
                let format = wgpu_naga_bridge::map_storage_format_from_naga(format);
                let ty = wgpu::BindingType::StorageTexture {
                    access: storage_access(access)?,
                    format,
                    view_dimension: view_dimension(dimension),
                };
                let unbound = || self.unbound_texture(format, dimension, false);
                let views = slot_of.into_iter().map(|slot| {
                    slot.map_or_else(|| Ok(unbound()), |slot| self.texture(slot, dimension, true, write_backs))
                });
                (ty, Bound::Views(views.collect::<Result<_, _>>()?))
            }
            EmittedType::TexelBuffer { dimension, .. } => {
                let ty = buffer_type(wgpu::BufferBindingType::Storage { read_only: false });
                let buffers = slot_of.into_iter().map(|slot| self.texels(slot, dimension, write_backs));
                (ty, Bound::Buffers(buffers.collect::<Result<_, _>>()?))
            }
            EmittedType::Sampler { comparison } => {
                let mut ty = if comparison {
                    wgpu::SamplerBindingType::Comparison
                } else {
                    wgpu::SamplerBindingType::NonFiltering
                };
                let mut samplers = Vec::with_capacity(slot_of.len());
                for slot in slot_of {
                    let sampler = match slot {
                        Some(slot) => self
                            .resources
                            .samplers
                            .get(slot.name)
                            .ok_or_else(|| format!("there is no sampler {}", slot.name))?,
                        None => &format::Sampler::default(),
                    };
                    if !comparison && (filters(sampler) || sampler.anisotropy.0 > 1) {
                        ty = wgpu::SamplerBindingType::Filtering;
                    }
                    samplers.push(self.sampler(sampler, comparison)?);
                }
                (wgpu::BindingType::Sampler(ty), Bound::Samplers(samplers))
            }
            EmittedType::AccelerationStructure => return Err(Halt::Skipped("acceleration structures".into())),
        })
    }

    /// The part of a buffer that a view shows: its first byte and its bytes.
    fn part(&self, slot: Slot<'_>, buffer: &BufferResource) -> Result<(u64, u64), String> {
        let Some((first, count)) = slot.binding.range else { return Ok((0, buffer.size)) };
        let element = match &slot.binding.view {
            Some(View::Constant) => 16,
            Some(View::Raw) => 4,
            Some(View::Structured { stride }) => u64::from(*stride),
            Some(View::Typed { format }) => named_format(format)?.block_copy_size(None).unwrap_or(4).into(),
            view => return Err(format!("a range in a view {view:?}")),
        };
        let (offset, size) = (u64::from(first) * element, u64::from(count) * element);
        if offset + size > buffer.size {
            return Err(format!("the view ends at byte {}, buffer {} at {}", offset + size, slot.name, buffer.size));
        }
        Ok((offset, size))
    }

    /// A constant buffer: a copy, so that it has the bytes that the module declares, whatever else the step does with it.
    fn constants(&self, slot: Option<Slot<'_>>, declared_size: u32) -> Result<BoundBuffer, Halt> {
        let mut bytes = Vec::new();
        if let Some(slot) = slot {
            let resource = self.resources.buffer(slot.name)?;
            let (offset, size) = self.part(slot, resource)?;
            bytes = self.gpu.read_buffer(&resource.buffer, resource.size)?;
            bytes.drain(..offset as usize);
            bytes.truncate(size as usize);
        }
        let largest = self.gpu.limits().max_uniform_buffer_binding_size as usize;
        bytes.truncate(largest);
        let size = bytes.len().max(declared_size as usize).max(16).next_multiple_of(16) as u64;
        let buffer = new_buffer(self.gpu, "constants", size, BufferUsages::UNIFORM | BufferUsages::COPY_DST);
        write_buffer(self.gpu, &buffer, &bytes);
        Ok(BoundBuffer { buffer, offset: 0, size })
    }

    /// A storage buffer, or the counter of one.
    fn storage(
        &self,
        slot: Option<Slot<'_>>,
        role: BindingRole,
        read_only: bool,
        write_backs: &mut Vec<WriteBack>,
    ) -> Result<BoundBuffer, Halt> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let unbound = || {
            let buffer = new_buffer(self.gpu, "unbound", 4, usage);
            BoundBuffer { size: buffer.size(), buffer, offset: 0 }
        };
        let Some(slot) = slot else { return Ok(unbound()) };
        let whole = |resource: &BufferResource| BoundBuffer {
            buffer: resource.buffer.clone(),
            offset: 0,
            size: resource.buffer.size(),
        };
        if role == BindingRole::Counter {
            return match &slot.binding.counter {
                Some(name) => Ok(whole(self.resources.buffer(name)?)),
                None => Ok(unbound()),
            };
        }
        let resource = self.resources.buffer(slot.name)?;
        if slot.binding.range.is_none() {
            return Ok(whole(resource));
        }
        let (offset, size) = self.part(slot, resource)?;
        let alignment = self.gpu.limits().min_storage_buffer_offset_alignment;
        if offset % u64::from(alignment) == 0 && size % 4 == 0 && size > 0 {
            return Ok(BoundBuffer { buffer: resource.buffer.clone(), offset, size });
        }
        let bytes = self.gpu.read_buffer(&resource.buffer, resource.size)?;
        let copy = new_buffer(self.gpu, slot.name, size, usage);
        write_buffer(self.gpu, &copy, &bytes[offset as usize..(offset + size) as usize]);
        if !read_only {
            write_backs.push(WriteBack::Part {
                copy: copy.clone(),
                buffer: resource.buffer.clone(),
                buffer_size: resource.size,
                offset,
                size,
            });
        }
        Ok(BoundBuffer { size: copy.size(), buffer: copy, offset: 0 })
    }

    /// A buffer that stands for a texture.
    fn texels(
        &self,
        slot: Option<Slot<'_>>,
        dimension: ViewDimension,
        write_backs: &mut Vec<WriteBack>,
    ) -> Result<BoundBuffer, Halt> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let Some(slot) = slot else {
            let buffer = new_buffer(self.gpu, "unbound", TEXEL_BUFFER_HEADER.into(), usage);
            return Ok(BoundBuffer { size: buffer.size(), buffer, offset: 0 });
        };
        let texture = &self.resources.texture(slot.name)?.texture;
        let (mips, layers) = match &slot.binding.view {
            Some(View::Texture { mips, layers, .. }) => (*mips, *layers),
            None => (None, None),
            Some(view) => return Err(Halt::Failed(format!("texture {} in a view {view:?}", slot.name))),
        };
        let mip = mips.map_or(0, |(first, _)| first);
        let mut size = texture.size().mip_level_size(mip, texture.dimension());
        let mut first_layer = 0;
        if dimension != ViewDimension::D3 {
            let (first, count) = layers.unwrap_or((0, texture.depth_or_array_layers()));
            first_layer = first;
            size.depth_or_array_layers = if dimension == ViewDimension::D2 { 1 } else { count };
        }
        let pitch = (size.width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let part = TexturePart { mip, first_layer, size, pitch };
        let bytes = u64::from(pitch) * u64::from(size.height) * u64::from(size.depth_or_array_layers);
        let buffer = new_buffer(self.gpu, slot.name, u64::from(TEXEL_BUFFER_HEADER) + bytes, usage);
        let header = [size.width, size.height, size.depth_or_array_layers, pitch / 4];
        write_buffer(self.gpu, &buffer, &header.map(u32::to_le_bytes).concat());
        let mut encoder = self.gpu.encoder();
        encoder.copy_texture_to_buffer(part.of_texture(texture), part.of_buffer(&buffer), size);
        self.gpu.submit(encoder)?;
        write_backs.push(WriteBack::Texels { copy: buffer.clone(), texture: texture.clone(), part });
        Ok(BoundBuffer { size: buffer.size(), buffer, offset: 0 })
    }

    /// A view of a texture.
    fn texture(
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
    fn unbound_texture(
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

    fn sampler(&self, sampler: &format::Sampler, comparison: bool) -> Result<wgpu::Sampler, Halt> {
        let (u, v, w) = sampler.address;
        let border = wgpu::Features::ADDRESS_MODE_CLAMP_TO_BORDER;
        if [u, v, w].contains(&Address::ClampToBorder) && !self.gpu.features().contains(border) {
            return Err(Halt::Skipped("the device lacks ADDRESS_MODE_CLAMP_TO_BORDER".into()));
        }
        Ok(self.gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            label: None,
            address_mode_u: address_mode(u),
            address_mode_v: address_mode(v),
            address_mode_w: address_mode(w),
            mag_filter: filter_mode(sampler.mag),
            min_filter: filter_mode(sampler.min),
            mipmap_filter: match sampler.mip {
                Filter::Nearest => wgpu::MipmapFilterMode::Nearest,
                Filter::Linear => wgpu::MipmapFilterMode::Linear,
            },
            lod_min_clamp: sampler.lod.0,
            lod_max_clamp: sampler.lod.1,
            compare: comparison.then(|| compare_function(sampler.compare.unwrap_or(Compare::Never))),
            anisotropy_clamp: sampler.anisotropy.0.max(1),
            border_color: Some(match sampler.border {
                Border::TransparentBlack => wgpu::SamplerBorderColor::TransparentBlack,
                Border::OpaqueBlack => wgpu::SamplerBorderColor::OpaqueBlack,
                Border::OpaqueWhite => wgpu::SamplerBorderColor::OpaqueWhite,
            }),
        }))
    }
}

/// What a bind group entry borrows.
struct Lists<'a> {
    buffers: Vec<wgpu::BufferBinding<'a>>,
    views: Vec<&'a wgpu::TextureView>,
    samplers: Vec<&'a wgpu::Sampler>,
}

impl<'a> Lists<'a> {
    fn new(bound: &'a Bound) -> Self {
        let mut lists = Self { buffers: vec![], views: vec![], samplers: vec![] };
        match bound {
            Bound::Buffers(buffers) => {
                lists.buffers.extend(buffers.iter().map(|bound| wgpu::BufferBinding {
                    buffer: &bound.buffer,
                    offset: bound.offset,
                    size: wgpu::BufferSize::new(bound.size),
                }));
            }
            Bound::Views(views) => lists.views.extend(views),
            Bound::Samplers(samplers) => lists.samplers.extend(samplers),
        }
        lists
    }

    fn resource(&self, array: bool) -> wgpu::BindingResource<'_> {
        match (array, &self.buffers[..], &self.views[..], &self.samplers[..]) {
            (false, [buffer], ..) => wgpu::BindingResource::Buffer(buffer.clone()),
            (false, _, [view], _) => wgpu::BindingResource::TextureView(view),
            (false, _, _, [sampler]) => wgpu::BindingResource::Sampler(sampler),
            (_, [], [], samplers) => wgpu::BindingResource::SamplerArray(samplers),
            (_, [], views, _) => wgpu::BindingResource::TextureViewArray(views),
            (_, buffers, ..) => wgpu::BindingResource::BufferArray(buffers),
        }
    }
}

fn buffer_type(ty: wgpu::BufferBindingType) -> wgpu::BindingType {
    wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None }
}

fn sample_type(sample: TextureSample) -> wgpu::TextureSampleType {
    match sample {
        TextureSample::Float { filterable } => wgpu::TextureSampleType::Float { filterable },
        TextureSample::Depth => wgpu::TextureSampleType::Depth,
        TextureSample::Sint => wgpu::TextureSampleType::Sint,
        TextureSample::Uint => wgpu::TextureSampleType::Uint,
    }
}

/// A format for an unbound texture: any that the sample type allows, and that can have several samples.
fn unbound_format(sample: TextureSample) -> TextureFormat {
    match sample {
        TextureSample::Float { .. } => TextureFormat::Rgba8Unorm,
        TextureSample::Depth => TextureFormat::Depth32Float,
        TextureSample::Sint => TextureFormat::Rgba8Sint,
        TextureSample::Uint => TextureFormat::Rgba8Uint,
    }
}

fn view_dimension(dimension: ViewDimension) -> wgpu::TextureViewDimension {
    match dimension {
        ViewDimension::D2 => wgpu::TextureViewDimension::D2,
        ViewDimension::D2Array => wgpu::TextureViewDimension::D2Array,
        ViewDimension::Cube => wgpu::TextureViewDimension::Cube,
        ViewDimension::CubeArray => wgpu::TextureViewDimension::CubeArray,
        ViewDimension::D3 => wgpu::TextureViewDimension::D3,
    }
}

fn storage_access(access: naga::StorageAccess) -> Result<wgpu::StorageTextureAccess, String> {
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

fn address_mode(address: Address) -> wgpu::AddressMode {
    match address {
        Address::ClampToEdge => wgpu::AddressMode::ClampToEdge,
        Address::Repeat => wgpu::AddressMode::Repeat,
        Address::MirrorRepeat => wgpu::AddressMode::MirrorRepeat,
        Address::ClampToBorder => wgpu::AddressMode::ClampToBorder,
    }
}

fn filter_mode(filter: Filter) -> wgpu::FilterMode {
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
