//! From a case's bindings to bind groups, and to what the emitter must know of them.

mod buffers;
mod limits;
mod names;
mod specialize;
mod static_samplers;
mod textures;
mod write_back;

use std::collections::{BTreeMap, BTreeSet};

use wgpu::{Features, ShaderStages};

use self::{
    limits::check_limits,
    names::{buffer_type, sample_type, storage_access, unbound_format, view_dimension},
    specialize::filters,
    static_samplers::static_sampler,
    write_back::WriteBack,
};
use super::{
    accel::AccelResource,
    device::{Gpu, Halt},
    format,
    resources::Resources,
};
use crate::{
    lift::{Emitted, EmittedResource, EmittedType, SamplerKind},
    reflection::{self, Interface, ResourceClass, Stage},
};

pub use names::compare_function;
pub use specialize::specialize;

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

/// A bind group of a stage.
pub struct BoundGroup {
    /// Its number.
    pub number: u32,
    /// Its layout.
    pub layout: wgpu::BindGroupLayout,
    /// The group.
    pub group: wgpu::BindGroup,
}

/// A stage's bind groups.
pub struct BoundStage {
    /// The groups that the module uses.
    pub groups: Vec<BoundGroup>,
    /// Views of buffers' parts that must be written back.
    write_backs: Vec<WriteBack>,
}

impl BoundStage {
    /// Writes copies of buffers' parts back to where they came from.
    ///
    /// # Errors
    /// The device is lost.
    pub fn write_back(&self, gpu: &Gpu) -> Result<(), Halt> {
        self.write_backs.iter().try_for_each(|write_back| write_back.write_back(gpu))
    }
}

/// What is bound to one resource of a module: one item, or one for each element of a binding array.
enum Bound {
    Buffers(Vec<BoundBuffer>),
    Views(Vec<wgpu::TextureView>),
    Samplers(Vec<wgpu::Sampler>),
    Accels(Vec<wgpu::Tlas>),
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
    /// The bind groups of a stage.
    ///
    /// # Errors
    /// A binding does not fit what the module declares. Skipped: the device permits fewer bindings.
    pub fn bind(&self, module: &StageModule) -> Result<BoundStage, Halt> {
        let visibility = match module.stage {
            Stage::Vertex => ShaderStages::VERTEX,
            Stage::Pixel => ShaderStages::FRAGMENT,
            Stage::Compute | Stage::Node | Stage::Hull | Stage::Domain | Stage::Geometry => ShaderStages::COMPUTE,
            Stage::Amplification => ShaderStages::TASK,
            Stage::Mesh => ShaderStages::MESH,
            stage => return Err(Halt::Skipped(format!("{stage:?} shaders"))),
        };
        let mut write_backs = Vec::new();
        let mut bound = BTreeMap::<u32, Vec<_>>::new();
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
            let (ty, items) = self
                .resource(resource, &module.interface, declared, &mut write_backs)
                .map_err(|halt| halt.within(&place))?;
            let entry = wgpu::BindGroupLayoutEntry {
                binding: resource.slot.binding,
                visibility,
                ty,
                count: resource.count.and_then(std::num::NonZeroU32::new),
            };
            bound.entry(resource.slot.group).or_default().push((entry, items));
        }
        check_limits(&self.gpu.limits(), bound.values().flatten().map(|(entry, _)| *entry))?;
        let groups = bound.into_iter().map(|(number, bound)| self.group(number, &bound)).collect();
        Ok(BoundStage { groups, write_backs })
    }

    /// A bind group.
    fn group(&self, number: u32, bound: &[(wgpu::BindGroupLayoutEntry, Bound)]) -> BoundGroup {
        let entries = bound.iter().map(|(entry, _)| *entry).collect::<Vec<_>>();
        let layout = self
            .gpu
            .device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let lists = bound.iter().map(|(_, items)| Lists::new(items)).collect::<Vec<_>>();
        let entries = bound.iter().zip(&lists).map(|((entry, _), lists)| wgpu::BindGroupEntry {
            binding: entry.binding,
            resource: lists.resource(entry.count.is_some()),
        });
        let group = self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries.collect::<Vec<_>>(),
        });
        BoundGroup { number, layout, group }
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
        interface: &Interface,
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
            EmittedType::Storage { read_only, element } => {
                let ty = buffer_type(wgpu::BufferBindingType::Storage { read_only });
                let buffers =
                    slot_of.into_iter().map(|slot| self.storage(slot, resource.role, read_only, element, write_backs));
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
            EmittedType::StorageTexture { dimension, format, access, .. } => {
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
            EmittedType::Sampler { kind } => {
                let mut ty = match kind {
                    SamplerKind::Comparison => wgpu::SamplerBindingType::Comparison,
                    SamplerKind::Filtering | SamplerKind::NonFiltering => wgpu::SamplerBindingType::NonFiltering,
                };
                let mut samplers = Vec::with_capacity(slot_of.len());
                // Registers that the case binds do not ask whether WebGPU has the static sampler.
                let bound = slot_of.iter().all(Option::is_some);
                let unbound = if bound { None } else { static_sampler(interface, declared)? }.unwrap_or_default();
                for slot in slot_of {
                    let sampler = match slot {
                        Some(slot) => self
                            .resources
                            .samplers
                            .get(slot.name)
                            .ok_or_else(|| format!("there is no sampler {}", slot.name))?,
                        None => &unbound,
                    };
                    if kind == SamplerKind::Filtering && (filters(sampler) || sampler.anisotropy.0 > 1) {
                        ty = wgpu::SamplerBindingType::Filtering;
                    }
                    samplers.push(self.sampler(sampler, kind)?);
                }
                (wgpu::BindingType::Sampler(ty), Bound::Samplers(samplers))
            }
            EmittedType::AccelerationStructure => {
                let accel = |slot: Option<Slot<'_>>| match slot {
                    Some(slot) => self.resources.accel(slot.name).map(|accel| accel.tlas.clone()),
                    None => Ok(AccelResource::empty(self.gpu, self.resources)?.tlas),
                };
                let accels = slot_of.into_iter().map(accel).collect::<Result<_, _>>()?;
                (wgpu::BindingType::AccelerationStructure { vertex_return: false }, Bound::Accels(accels))
            }
        })
    }
}

/// What a bind group entry borrows.
struct Lists<'a> {
    buffers: Vec<wgpu::BufferBinding<'a>>,
    views: Vec<&'a wgpu::TextureView>,
    samplers: Vec<&'a wgpu::Sampler>,
    accels: Vec<&'a wgpu::Tlas>,
}

impl<'a> Lists<'a> {
    fn new(bound: &'a Bound) -> Self {
        let mut lists = Self { buffers: vec![], views: vec![], samplers: vec![], accels: vec![] };
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
            Bound::Accels(accels) => lists.accels.extend(accels),
        }
        lists
    }

    fn resource(&self, array: bool) -> wgpu::BindingResource<'_> {
        match (array, &self.buffers[..], &self.views[..], &self.samplers[..], &self.accels[..]) {
            (false, [buffer], ..) => wgpu::BindingResource::Buffer(buffer.clone()),
            (false, _, [view], ..) => wgpu::BindingResource::TextureView(view),
            (false, _, _, [sampler], _) => wgpu::BindingResource::Sampler(sampler),
            (false, _, _, _, [accel]) => wgpu::BindingResource::AccelerationStructure(accel),
            (_, [], [], [], accels) => wgpu::BindingResource::AccelerationStructureArray(accels),
            (_, [], [], samplers, _) => wgpu::BindingResource::SamplerArray(samplers),
            (_, [], views, ..) => wgpu::BindingResource::TextureViewArray(views),
            (_, buffers, ..) => wgpu::BindingResource::BufferArray(buffers),
        }
    }
}
