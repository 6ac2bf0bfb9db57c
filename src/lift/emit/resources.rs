//! Resources: globals for the bindings that are used.

use std::{collections::BTreeMap, num::NonZeroU32};

use naga::{
    AddressSpace, ArraySize, GlobalVariable, Handle, ImageClass, ImageDimension, MemoryDecorations, ResourceBinding,
    Scalar, ScalarKind, Span, StorageAccess, StorageFormat, StructMember, Type, TypeInner, valid::Capabilities,
};

use super::{
    ModuleEmitter, bindings,
    format::{Numeric, Texel, declared_format},
    io::scalar32,
    texels::Texels,
    usage::{self, AtomicUsage, Known, Usage},
};
use crate::{
    Error, Result,
    ir::{self, BindingId},
    lift::{
        BindingRole, Comparison, EmittedResource, EmittedType, ResourceSlot, ResourceSpecialization, SamplerKind,
        TextureSample, UNKNOWN_SAMPLES, ViewDimension,
    },
    reflection::{Binding, ComponentType, Format, ResourceClass, ResourceKind, Stage, TextureDimension, UavFlags},
};

/// Rows of a constant buffer that Direct3D lets a shader see.
const MAX_ROWS: u32 = 4096;

/// What a module knows of its resources.
#[derive(Debug, Default)]
pub(super) struct ResourceState {
    /// How each binding that is used is declared.
    pub resources: BTreeMap<BindingId, Resource>,
}

/// A declared binding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resource {
    /// What it is.
    pub body: Body,
    /// One resource, or an array of them.
    pub elements: Elements,
    /// The hidden counter.
    pub counter: Option<Handle<GlobalVariable>>,
}

/// How many resources a binding holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elements {
    /// One, which is the global itself.
    One,
    /// A binding array of so many.
    Array(u32),
    /// A binding array of a size that is not known.
    Unbounded,
}

/// What a binding is declared as.
#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    /// Uniform buffer of rows.
    Constant {
        global: Handle<GlobalVariable>,
        /// Number of rows.
        rows: u32,
        /// Kind of their four scalars.
        kind: ScalarKind,
    },
    /// Storage buffer of 32-bit words.
    Buffer(Buffer),
    /// Sampled or storage texture.
    Texture(Texture),
    /// Storage buffer that stands for a texture.
    Texels(Texels),
    /// Sampler, of each kind that it is used as.
    Sampler {
        filtering: Option<Handle<GlobalVariable>>,
        unfiltered: Option<Handle<GlobalVariable>>,
        comparing: Option<Handle<GlobalVariable>>,
        /// How it compares, where that is known.
        comparison: Option<Comparison>,
    },
    /// Acceleration structure.
    AccelerationStructure(Handle<GlobalVariable>),
}

/// A storage buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub global: Handle<GlobalVariable>,
    /// What its words are.
    pub view: BufferView,
    /// The array's elements are atomics of this type: words, or pairs of them.
    pub atomic: Option<Scalar>,
}

impl Buffer {
    /// The array's elements are pairs of words.
    pub fn is_wide(&self) -> bool {
        self.atomic.is_some_and(|scalar| scalar.width == 8)
    }
}

/// What the words of a buffer are.
#[derive(Clone, Copy, Debug)]
pub(super) enum BufferView {
    /// Bytes.
    Raw,
    /// Elements of so many bytes.
    Structured(u32),
    /// Texels.
    Typed(Texel),
}

/// A texture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texture {
    pub global: Handle<GlobalVariable>,
    /// Direct3D's shape: 1D textures are declared as 2D of height 1.
    pub dimension: TextureDimension,
    /// naga's class.
    pub class: ImageClass,
    /// Of what [`ir::Op::TextureSize`] gives, the lanes that are used.
    pub size_lanes: u8,
    /// The format has no alpha, so that it is 1 out of range too.
    pub without_alpha: bool,
    /// It cannot be filtered.
    pub unfilterable: bool,
    /// Samples that are layers of naga's texture, see [`EmittedType::StorageTexture`].
    pub samples: u32,
}

impl Texture {
    /// Kind of a texel's components.
    pub fn kind(&self) -> ScalarKind {
        match self.class {
            ImageClass::Sampled { kind, .. } => kind,
            ImageClass::Storage { format, .. } => Scalar::from(format).kind,
            ImageClass::Depth { .. } | ImageClass::External => ScalarKind::Float,
        }
    }

    /// It is of naga's class of depth textures.
    pub fn is_depth(&self) -> bool {
        matches!(self.class, ImageClass::Depth { .. })
    }

    /// A texel is one 64-bit integer, of which Direct3D's programs see the words.
    pub fn is_wide(&self) -> bool {
        matches!(self.class, ImageClass::Storage { format: StorageFormat::R64Uint, .. })
    }

    /// Lanes of naga's coordinates, without the layer.
    pub fn lanes(&self) -> u8 {
        self.dimension.coordinates().max(2)
    }

    /// The texture is declared as one of two dimensions, but has one.
    pub fn is_flat(&self) -> bool {
        matches!(self.dimension, TextureDimension::D1 | TextureDimension::D1Array)
    }
}

impl ModuleEmitter<'_> {
    /// Declares the globals for the bindings that functions use.
    ///
    /// # Errors
    /// Names a resource that the target cannot express.
    pub fn declare_resources(&mut self, functions: &[ir::FunctionId]) -> Result<()> {
        let program = self.program;
        let known = Known { bindings: &program.interface.bindings, target: self.target };
        let uses = usage::collect(&program.ir, functions, &known)?;
        let mut wanted = Vec::new();
        for (&id, usage) in &uses {
            let binding = program
                .interface
                .bindings
                .get(id.index())
                .ok_or_else(|| Error::internal(format!("binding out of range: {id:?}")))?;
            match binding.kind {
                ResourceKind::Sampler { .. } => wanted.extend(sampler_roles(usage).map(|(_, role)| (id, role))),
                _ => wanted.push((id, BindingRole::Resource)),
            }
            if usage.counter {
                wanted.push((id, BindingRole::Counter));
            }
        }
        let stage_binding = self.stage_binding().map(|id| (id, BindingRole::Resource));
        wanted.extend(stage_binding);
        let slots =
            bindings::slots(&self.target.binding_model, self.emitted_stage(), &program.interface.bindings, &wanted)?;
        let slots: BTreeMap<_, _> = wanted.into_iter().zip(slots).collect();
        self.stage_slot = stage_binding.and_then(|key| slots.get(&key).copied());
        for (&id, usage) in &uses {
            let binding = &program.interface.bindings[id.index()];
            let resource = self.declare(id, binding, usage, &slots)?;
            self.resource_state.resources.insert(id, resource);
        }
        self.resources.sort_by_key(|resource| resource.slot);
        Ok(())
    }

    /// Stage of the entry points that are emitted.
    fn emitted_stage(&self) -> Stage {
        let named = self.target.entry.as_ref();
        let mut entries = self.program.interface.entry_points.iter();
        named
            .and_then(|name| entries.find(|entry| entry.name == *name))
            .map_or_else(|| self.program.stage(), |entry| entry.stage)
    }

    /// Declares one binding.
    fn declare(
        &mut self,
        id: BindingId,
        binding: &Binding,
        usage: &Usage,
        slots: &BTreeMap<(BindingId, BindingRole), ResourceSlot>,
    ) -> Result<Resource> {
        let known = self.target.known(binding);
        let elements = match binding.count {
            Some(1) => Elements::One,
            Some(0) => return Err(Error::malformed(format!("binding of no registers: {}", name_of(binding)))),
            Some(count) => Elements::Array(count),
            None if known.count > 0 => Elements::Array(known.count),
            None => Elements::Unbounded,
        };
        let slot = slots.get(&(id, BindingRole::Resource)).copied();
        let declaration = Declaration { id, binding, elements, known, slot };
        let body = match binding.kind {
            ResourceKind::ConstantBuffer { size } if elements == Elements::One => {
                self.declare_constant(&declaration, size, usage)?
            }
            // naga writes no valid SPIR-V for arrays of uniform buffers: storage buffers hold the same rows.
            ResourceKind::ConstantBuffer { .. } | ResourceKind::TextureBuffer { .. } => {
                self.declare_buffer(&declaration, BufferView::Typed(Texel::uniform(4, 32, Numeric::Uint)), usage, None)?
            }
            ResourceKind::RawBuffer { flags } => {
                self.declare_buffer(&declaration, BufferView::Raw, usage, Some(flags))?
            }
            ResourceKind::StructuredBuffer { stride, flags, .. } => {
                if stride == 0 {
                    return Err(Error::malformed(format!("structured buffer of stride 0: {}", name_of(binding))));
                }
                self.declare_buffer(&declaration, BufferView::Structured(stride), usage, Some(flags))?
            }
            ResourceKind::TypedBuffer { component, components, flags } => {
                let texel = match known.format {
                    Some(format) => Texel::of(format),
                    None if usage.wide_atomics.any => Texel::uniform(2, 32, Numeric::Uint),
                    None if usage.atomics.any => Texel::declared(component, 1),
                    None => Texel::declared(component, self.accessed_components(component, components, usage)),
                };
                self.declare_buffer(&declaration, BufferView::Typed(texel), usage, Some(flags))?
            }
            ResourceKind::Texture { dimension, component, components, samples, .. } => {
                let samples = if binding.class == ResourceClass::Uav && dimension.is_multisampled() {
                    layers_of_samples(binding, dimension, samples.into(), known.samples)?
                } else {
                    0
                };
                let class = match binding.class {
                    ResourceClass::Uav => {
                        if dimension.is_multisampled() && (usage.atomics.any || usage.wide_atomics.any) {
                            return Err(Error::malformed("atomic operation on a multisampled texture"));
                        }
                        let components = self.accessed_components(component, components, usage);
                        let format = storage_format(component, components, known.format, usage);
                        if self.wants_texels(format, usage, elements) {
                            return Ok(Resource {
                                body: self.declare_texels(&declaration, dimension, format, usage)?,
                                elements,
                                counter: None,
                            });
                        }
                        ImageClass::Storage { format, access: texture_access(usage) }
                    }
                    _ => {
                        let multi = dimension.is_multisampled();
                        let kind = Numeric::of(component).kind();
                        let depth = kind == ScalarKind::Float && (usage.compared || known.depth);
                        if depth { ImageClass::Depth { multi } } else { ImageClass::Sampled { kind, multi } }
                    }
                };
                self.declare_texture(&declaration, dimension, class, usage, samples)?
            }
            ResourceKind::Sampler { .. } => self.declare_sampler(&declaration, usage, slots)?,
            ResourceKind::AccelerationStructure => {
                if !self.target.capabilities.contains(Capabilities::RAY_QUERY) {
                    return Err(Error::unsupported("ray queries, which the target lacks"));
                }
                let arrays = Capabilities::ACCELERATION_STRUCTURE_BINDING_ARRAY;
                if elements != Elements::One && !self.target.capabilities.contains(arrays) {
                    return Err(Error::unsupported("array of acceleration structures, which the target lacks"));
                }
                let ty = self.ty(TypeInner::AccelerationStructure { vertex_return: false });
                let global = self.global(
                    &declaration,
                    BindingRole::Resource,
                    slot,
                    ty,
                    AddressSpace::Handle,
                    EmittedType::AccelerationStructure,
                )?;
                Body::AccelerationStructure(global)
            }
            ResourceKind::FeedbackTexture { .. } => return Err(Error::unsupported("feedback texture")),
        };
        let counter = match slots.get(&(id, BindingRole::Counter)) {
            Some(&slot) => Some(self.declare_counter(&declaration, slot)?),
            None => None,
        };
        Ok(Resource { body, elements, counter })
    }

    /// A constant buffer, as rows.
    fn declare_constant(&mut self, declaration: &Declaration<'_>, size: u32, usage: &Usage) -> Result<Body> {
        let rows = size.div_ceil(16).clamp(1, MAX_ROWS);
        // Whichever kind most loads want saves casts.
        let kind = if usage.float_constants > usage.other_constants { ScalarKind::Float } else { ScalarKind::Uint };
        let row = self.numeric(scalar32(kind), 4);
        let length = NonZeroU32::new(rows).unwrap_or(NonZeroU32::MIN);
        let ty = self.ty(TypeInner::Array { base: row, size: ArraySize::Constant(length), stride: 16 });
        let emitted = EmittedType::Uniform { size: rows * 16 };
        let global =
            self.global(declaration, BindingRole::Resource, declaration.slot, ty, AddressSpace::Uniform, emitted)?;
        Ok(Body::Constant { global, rows, kind })
    }

    /// A buffer of words.
    fn declare_buffer(
        &mut self,
        declaration: &Declaration<'_>,
        view: BufferView,
        usage: &Usage,
        flags: Option<UavFlags>,
    ) -> Result<Body> {
        // Pieces of words can only be written beside other threads' by atomics.
        let pieces = matches!(view, BufferView::Typed(texel) if usage.stores && !texel.bytes().is_multiple_of(4));
        let atomic = if usage.wide_atomics.any {
            self.check_wide_atomics(declaration, usage)?;
            Some(Scalar { kind: usage.wide_atomics.kind(), width: 8 })
        } else if usage.atomics.any || usage.halves_stored || pieces {
            Some(scalar32(usage.atomics.kind()))
        } else {
            None
        };
        let writable = usage.stores || atomic.is_some() || declaration.known.read_write;
        if writable && declaration.binding.class == ResourceClass::Srv && !declaration.known.read_write {
            return Err(Error::malformed(format!("write to a shader resource: {}", name_of(declaration.binding))));
        }
        let base = match atomic {
            Some(scalar) => self.ty(TypeInner::Atomic(scalar)),
            None => self.numeric(Scalar::U32, 1),
        };
        let element = atomic.map_or(4, |scalar| u32::from(scalar.width));
        let ty = self.ty(TypeInner::Array { base, size: ArraySize::Dynamic, stride: element });
        let ty = self.wrapped(declaration, ty);
        let access = if writable { StorageAccess::LOAD | StorageAccess::STORE } else { StorageAccess::LOAD };
        let global = self.global(
            declaration,
            BindingRole::Resource,
            declaration.slot,
            ty,
            AddressSpace::Storage { access },
            EmittedType::Storage { read_only: !writable, element },
        )?;
        let coherent = flags.is_some_and(|flags| flags.globally_coherent);
        if coherent && self.target.capabilities.contains(Capabilities::MEMORY_DECORATION_COHERENT) {
            self.module.global_variables[global].memory_decorations = MemoryDecorations::COHERENT;
        }
        if element == 8 && !matches!(view, BufferView::Structured(stride) if stride.is_multiple_of(8)) {
            let name = name_of(declaration.binding);
            self.note(format!("{name}: of a size that is no multiple of 8 bytes, the last 4 do not exist"));
        }
        Ok(Body::Buffer(Buffer { global, view, atomic }))
    }

    /// Makes sure that the target has the atomic operations on 64-bit integers that a binding is used with.
    fn check_wide_atomics(&self, declaration: &Declaration<'_>, usage: &Usage) -> Result<()> {
        let capabilities = self.target.capabilities;
        if capabilities.contains(Capabilities::SHADER_INT64_ATOMIC_ALL_OPS) {
            return Ok(());
        }
        let name = name_of(declaration.binding);
        if !capabilities.contains(Capabilities::SHADER_INT64_ATOMIC_MIN_MAX) {
            return Err(Error::unsupported(format!("64-bit atomic operations, which the target lacks: {name}")));
        }
        // Metal's 64-bit atomics have minima and maxima that give nothing back, and neither loads nor stores.
        let AtomicUsage { signed, unsigned, others, old_values, .. } = usage.wide_atomics;
        let plain = usage.loads || usage.stores || usage.atomics.any;
        if others || old_values || signed && unsigned || plain {
            let what = "64-bit atomic operations other than minima or maxima without a result, which the target lacks";
            return Err(Error::unsupported(format!("{what}: {name}")));
        }
        Ok(())
    }

    /// 32-bit components of a texel. DXIL declares a number of 64 bits as a `uint`, and accesses it as two.
    fn accessed_components(&self, component: ComponentType, declared: u8, usage: &Usage) -> u8 {
        let doubles = self.program.interface.format == Format::Dxil && component == ComponentType::U32;
        let beyond = u32::from(usage.lanes).checked_shr(declared.into()).is_some_and(|lanes| lanes != 0);
        if doubles && beyond { (2 * declared).min(4) } else { declared }
    }

    /// A buffer must stand for a storage texture: naga has no such atomic operations on textures, and writes those on a
    /// texture of an array as operations on the array.
    fn wants_texels(&self, format: StorageFormat, usage: &Usage, elements: Elements) -> bool {
        let wide = usage.wide_atomics;
        let native = format == StorageFormat::R64Uint
            && self.target.capabilities.contains(Capabilities::TEXTURE_INT64_ATOMIC)
            && !(wide.signed || wide.others || wide.old_values);
        let atomics = usage.atomics.any || wide.any;
        usage.atomics.old_values || wide.any && !native || atomics && elements != Elements::One
    }

    /// A texture.
    fn declare_texture(
        &mut self,
        declaration: &Declaration<'_>,
        dimension: TextureDimension,
        class: ImageClass,
        usage: &Usage,
        samples: u32,
    ) -> Result<Body> {
        let dim = match dimension {
            TextureDimension::D3 => ImageDimension::D3,
            TextureDimension::Cube | TextureDimension::CubeArray => ImageDimension::Cube,
            _ => ImageDimension::D2,
        };
        let arrayed = dimension.is_arrayed() || samples > 0;
        let ty = self.ty(TypeInner::Image { dim, arrayed, class });
        let view = if samples > 0 { ViewDimension::D2Array } else { view_dimension(dimension) };
        if samples > 0 {
            self.note(format!("{}: the layers of an array stand for samples", name_of(declaration.binding)));
        }
        let emitted = match class {
            ImageClass::Storage { format, access } => {
                EmittedType::StorageTexture { dimension: view, format, access, samples }
            }
            _ => {
                let sample = match class {
                    ImageClass::Depth { .. } => TextureSample::Depth,
                    ImageClass::Sampled { kind: ScalarKind::Sint, .. } => TextureSample::Sint,
                    ImageClass::Sampled { kind: ScalarKind::Uint, .. } => TextureSample::Uint,
                    _ => TextureSample::Float {
                        filterable: !dimension.is_multisampled() && !declaration.known.unfilterable,
                    },
                };
                EmittedType::Texture { dimension: view, sample, multisampled: dimension.is_multisampled() }
            }
        };
        let global =
            self.global(declaration, BindingRole::Resource, declaration.slot, ty, AddressSpace::Handle, emitted)?;
        let without_alpha = match class {
            ImageClass::Depth { .. } => true,
            ImageClass::Storage { format, .. } => Texel::of(format).channel(3).is_none(),
            ImageClass::Sampled { .. } | ImageClass::External => declaration.known.without_alpha,
        };
        let unfilterable = is_unfilterable(declaration.binding, &declaration.known);
        if unfilterable && usage.sampled && matches!(class, ImageClass::Sampled { kind: ScalarKind::Float, .. }) {
            let name = name_of(declaration.binding);
            self.note(format!("{name}: the format cannot be filtered, so that samplers take the nearest texel"));
        }
        let size_lanes = usage.size_lanes;
        Ok(Body::Texture(Texture { global, dimension, class, size_lanes, without_alpha, unfilterable, samples }))
    }

    /// A buffer that stands for a texture.
    fn declare_texels(
        &mut self,
        declaration: &Declaration<'_>,
        dimension: TextureDimension,
        format: StorageFormat,
        usage: &Usage,
    ) -> Result<Body> {
        let scalar = match format {
            StorageFormat::R32Uint => Scalar::U32,
            StorageFormat::R32Sint => Scalar::I32,
            StorageFormat::R64Uint | StorageFormat::Rg32Uint if usage.wide_atomics.any => {
                self.check_wide_atomics(declaration, usage)?;
                Scalar { kind: usage.wide_atomics.kind(), width: 8 }
            }
            _ => return Err(Error::unsupported(format!("old value of an atomic operation on a texture: {format:?}"))),
        };
        let base = self.ty(TypeInner::Atomic(scalar));
        let ty = self.ty(TypeInner::Array { base, size: ArraySize::Dynamic, stride: scalar.width.into() });
        let ty = self.wrapped(declaration, ty);
        let access = StorageAccess::LOAD | StorageAccess::STORE;
        let emitted = EmittedType::TexelBuffer { dimension: view_dimension(dimension), format };
        let role = BindingRole::Resource;
        let global = self.global(declaration, role, declaration.slot, ty, AddressSpace::Storage { access }, emitted)?;
        self.note(format!("{}: a buffer stands for the texture", name_of(declaration.binding)));
        Ok(Body::Texels(Texels { global, dimension, scalar }))
    }

    /// A sampler, or several where it is used in several ways.
    fn declare_sampler(
        &mut self,
        declaration: &Declaration<'_>,
        usage: &Usage,
        slots: &BTreeMap<(BindingId, BindingRole), ResourceSlot>,
    ) -> Result<Body> {
        let [mut filtering, mut unfiltered, mut comparing] = [None; 3];
        for (kind, role) in sampler_roles(usage) {
            let ty = self.ty(TypeInner::Sampler { comparison: kind == SamplerKind::Comparison });
            let slot = slots.get(&(declaration.id, role)).copied();
            let emitted = EmittedType::Sampler { kind };
            let global = self.global(declaration, role, slot, ty, AddressSpace::Handle, emitted)?;
            *match kind {
                SamplerKind::Filtering => &mut filtering,
                SamplerKind::NonFiltering => &mut unfiltered,
                SamplerKind::Comparison => &mut comparing,
            } = Some(global);
        }
        Ok(Body::Sampler { filtering, unfiltered, comparing, comparison: declaration.known.comparison })
    }

    /// The counter of a structured buffer.
    fn declare_counter(&mut self, declaration: &Declaration<'_>, slot: ResourceSlot) -> Result<Handle<GlobalVariable>> {
        let ty = self.ty(TypeInner::Atomic(Scalar::U32));
        let ty = self.wrapped(declaration, ty);
        let access = StorageAccess::LOAD | StorageAccess::STORE;
        let emitted = EmittedType::Storage { read_only: false, element: 4 };
        self.global(declaration, BindingRole::Counter, Some(slot), ty, AddressSpace::Storage { access }, emitted)
    }

    /// The type of an element of an array of buffers: naga has arrays of structures only.
    fn wrapped(&mut self, declaration: &Declaration<'_>, ty: Handle<Type>) -> Handle<Type> {
        if declaration.elements == Elements::One {
            return ty;
        }
        let members = vec![StructMember { name: Some("data".into()), ty, binding: None, offset: 0 }];
        let name = Some(format!("{}_element", name_of(declaration.binding)));
        // Words, or 64-bit words: an array without a length has the size of one element.
        let span = self.module.types[ty].inner.size(self.module.to_ctx());
        self.module.types.insert(Type { name, inner: TypeInner::Struct { members, span } }, Span::UNDEFINED)
    }

    /// Appends a global, and reports it.
    fn global(
        &mut self,
        declaration: &Declaration<'_>,
        role: BindingRole,
        slot: Option<ResourceSlot>,
        ty: Handle<Type>,
        space: AddressSpace,
        emitted: EmittedType,
    ) -> Result<Handle<GlobalVariable>> {
        let slot = slot.ok_or_else(|| Error::internal(format!("resource without a place: {:?}", declaration.id)))?;
        let size = match declaration.elements {
            Elements::One => None,
            Elements::Array(count) => Some(ArraySize::Constant(NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN))),
            Elements::Unbounded => Some(ArraySize::Dynamic),
        };
        let ty = match size {
            Some(size) => self.ty(TypeInner::BindingArray { base: ty, size }),
            None => ty,
        };
        let mut name = name_of(declaration.binding);
        match role {
            BindingRole::Resource => {}
            BindingRole::UnfilteredSampler => name.push_str("_unfiltered"),
            BindingRole::ComparisonSampler => name.push_str("_comparison"),
            BindingRole::Counter => name.push_str("_counter"),
        }
        let global = GlobalVariable {
            name: Some(name),
            space,
            binding: Some(ResourceBinding { group: slot.group, binding: slot.binding }),
            ty,
            init: None,
            memory_decorations: MemoryDecorations::empty(),
        };
        let count = match declaration.elements {
            Elements::One => None,
            Elements::Array(count) => Some(count),
            Elements::Unbounded => Some(0),
        };
        self.resources.push(EmittedResource { binding: declaration.id, role, slot, ty: emitted, count });
        Ok(self.module.global_variables.append(global, Span::UNDEFINED))
    }
}

/// A binding that is being declared.
struct Declaration<'b> {
    id: BindingId,
    binding: &'b Binding,
    elements: Elements,
    known: ResourceSpecialization,
    slot: Option<ResourceSlot>,
}

/// Name for a binding: the HLSL's, or its register: `t3`, `t3_space1`.
pub(super) fn name_of(binding: &Binding) -> String {
    if let Some(name) = binding.name.as_ref().filter(|name| !name.is_empty()) {
        return name.clone();
    }
    let class = match binding.class {
        ResourceClass::Cbv => 'b',
        ResourceClass::Srv => 't',
        ResourceClass::Uav => 'u',
        ResourceClass::Sampler => 's',
    };
    match binding.space {
        0 => format!("{class}{}", binding.register),
        space => format!("{class}{}_space{space}", binding.register),
    }
}

/// Shape of a texture's view.
/// The ways in which a sampler is used, each with the role that it is declared for: the first has the register's own place.
fn sampler_roles(usage: &Usage) -> impl Iterator<Item = (SamplerKind, BindingRole)> + use<> {
    // One that nothing samples with stays what it is.
    let filtering = usage.sampled || !usage.unfiltered && !usage.compared;
    let ways = [
        (filtering, SamplerKind::Filtering, BindingRole::Resource),
        (usage.unfiltered, SamplerKind::NonFiltering, BindingRole::UnfilteredSampler),
        (usage.compared, SamplerKind::Comparison, BindingRole::ComparisonSampler),
    ];
    let used = ways.into_iter().filter(|(used, ..)| *used).enumerate();
    used.map(|(place, (_, kind, role))| (kind, if place == 0 { BindingRole::Resource } else { role }))
}

/// A texture of integers, or of a format that the target says cannot be filtered.
pub(super) fn is_unfilterable(binding: &Binding, known: &ResourceSpecialization) -> bool {
    match binding.kind {
        ResourceKind::Texture { component, .. } => {
            Numeric::of(component).kind() != ScalarKind::Float || known.unfilterable && !known.depth
        }
        _ => false,
    }
}

fn view_dimension(dimension: TextureDimension) -> ViewDimension {
    match dimension {
        TextureDimension::D1 | TextureDimension::D2 | TextureDimension::D2Multisampled => ViewDimension::D2,
        TextureDimension::D1Array | TextureDimension::D2Array | TextureDimension::D2MultisampledArray => {
            ViewDimension::D2Array
        }
        TextureDimension::D3 => ViewDimension::D3,
        TextureDimension::Cube => ViewDimension::Cube,
        TextureDimension::CubeArray => ViewDimension::CubeArray,
    }
}

/// Format of a storage texture: that of its view, or what the program tells. Integers of 64 bits are declared as 32-bit ones.
fn storage_format(
    component: ComponentType,
    components: u8,
    known: Option<StorageFormat>,
    usage: &Usage,
) -> StorageFormat {
    match known {
        Some(format) => format,
        None if usage.wide_atomics.any => StorageFormat::R64Uint,
        None => declared_format(component, components, usage.atomics.any),
    }
}

/// How many layers stand for the samples of each layer of a storage texture.
fn layers_of_samples(binding: &Binding, dimension: TextureDimension, declared: u32, known: u32) -> Result<u32> {
    match (declared, known) {
        (0, 0) if !dimension.is_arrayed() => Ok(UNKNOWN_SAMPLES),
        (0, 0) => {
            let name = name_of(binding);
            Err(Error::unsupported(format!("array of textures whose number of samples is not known: {name}")))
        }
        (0, samples) | (samples, _) => Ok(samples),
    }
}

/// Access of a storage texture: at least one of them.
fn texture_access(usage: &Usage) -> StorageAccess {
    let mut access = StorageAccess::empty();
    access.set(StorageAccess::LOAD, usage.loads);
    access.set(StorageAccess::STORE, usage.stores);
    if usage.atomics.any || usage.wide_atomics.any {
        access |= StorageAccess::LOAD | StorageAccess::STORE | StorageAccess::ATOMIC;
    }
    if access.is_empty() { StorageAccess::LOAD } else { access }
}
