//! Resources as numbers: what phis, memory, calls and functions hand on, as no resource of the IR can be.
//!
//! A descriptor is the number of a binding and the index of its element, or [`HEAP`] and the number of a heap's
//! descriptor. Where it is used, it is one of the resources that it may stand for: those that lead there through phis and
//! selections, or all of its kind that are handed on somewhere, if it was in memory or is a function's parameter.

use std::collections::HashSet;

use smallvec::SmallVec;

use super::{FunctionLowering, Lowered, MAX_SCALARS, ModuleLowering, Pointer, llvm};
use crate::{
    Error, Result,
    dxil::reflect::{self, HeapProperties, Origin},
    ir::{BindingId, Op, Type, Value},
    reflection::{ComponentType, ResourceClass, ResourceKind},
};

/// Stands for a binding's number where a descriptor is one of a heap.
pub const HEAP: u32 = u32::MAX;

/// Stands for a binding's number where any resource will do.
pub const UNDEFINED: u32 = u32::MAX - 1;

/// Pointers and arrays round a handle that are looked through, at most.
const MAX_DEPTH: u32 = 8;

/// A resource as numbers.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// The binding (or [`HEAP`]) and the element, both `i32`.
    pub numbers: [Value; 2],
    /// Lanes may differ in the element.
    pub non_uniform: bool,
}

/// A resource handle.
#[derive(Clone, Copy, Debug)]
pub struct Handle {
    /// The IR's handle.
    pub value: Value,
    /// Its binding; of those that it may have the first, which is of the kind of all.
    pub binding: BindingId,
    /// The same as numbers.
    pub descriptor: Descriptor,
}

/// What a handle may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Elements of a binding.
    Binding(BindingId),
    /// Descriptors of a heap.
    Heap,
}

/// Types of what `dx.op.createHandleForLib` makes handles of.
pub fn object_types(module: &llvm::Module) -> HashSet<llvm::TypeId> {
    // The second is its name before Shader Model 6.3 was done.
    let names = ["dx.op.createHandleForLib", "dx.op.createHandleFromResourceStructForLib"];
    let is_named = |function: &&llvm::Function| names.iter().any(|name| function.name.starts_with(name));
    let functions = module.functions.iter().filter(is_named);
    let object = |function: &llvm::Function| match module.types.get(function.ty) {
        Some(llvm::Type::Function { params, .. }) => params.get(1).map(|&object| module.types.canonical(object)),
        _ => None,
    };
    functions.filter_map(object).collect()
}

impl ModuleLowering<'_> {
    /// What a handle of a function may stand for. `None` among it stands for all that is handed on somewhere.
    fn sources(&self, body: &llvm::Body, value: llvm::ValueId) -> Result<Vec<Option<Source>>> {
        let origins = reflect::origins(self.module, body, value);
        origins.into_iter().map(|origin| self.source(body, origin)).collect()
    }

    fn source(&self, body: &llvm::Body, origin: Origin) -> Result<Option<Source>> {
        let argument = |instruction: u32, index: usize| {
            let arguments = match body.instructions.get(instruction as usize).map(|instruction| &instruction.op) {
                Some(llvm::Operation::Call { arguments, .. }) => arguments.as_slice(),
                _ => &[],
            };
            arguments.get(index).copied().ok_or_else(|| Error::malformed("too few arguments"))
        };
        Ok(match origin {
            Origin::Heap => Some(Source::Heap),
            Origin::Unknown => None,
            Origin::Global(global) => self.resources.get(&global).map(|&binding| Source::Binding(binding)),
            Origin::Range(number) => {
                let constant = |index: usize| match self.module.value(Some(body), argument(number, index)?) {
                    Some(llvm::Value { def: llvm::ValueDef::Constant(constant), .. }) => match constant {
                        llvm::Constant::Integer(value) => Ok(*value as u32),
                        llvm::Constant::Null => Ok(0),
                        _ => Err(Error::malformed("number of a resource is no integer")),
                    },
                    _ => Err(Error::unsupported("number of a resource that is not constant")),
                };
                let class = resource_class(constant(1)?)?;
                Some(Source::Binding(self.range(class, constant(2)?)?))
            }
            Origin::Binding(number) => {
                let range = argument(number, 1)?;
                let word = |index: usize| {
                    let word = reflect::constant_word(self.module, body, range, index);
                    word.ok_or_else(|| Error::unsupported("register range that is not constant"))
                };
                let class = resource_class(word(3)?)?;
                Some(Source::Binding(self.binding(class, word(2)?, word(0)?, word(1)?)?))
            }
        })
    }

    /// The resources that are handed on as numbers somewhere: stored, passed to functions, or returned.
    fn handed_on(&mut self) -> Result<&[Source]> {
        if self.handed_on.is_none() {
            let mut found = Vec::new();
            let module = self.module;
            for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
                for instruction in &body.instructions {
                    let values: &[llvm::ValueId] = match &instruction.op {
                        llvm::Operation::Store { value, .. } | llvm::Operation::Return(Some(value)) => {
                            std::slice::from_ref(value)
                        }
                        llvm::Operation::InsertValue(_, value, _) => std::slice::from_ref(value),
                        llvm::Operation::Call { callee, arguments }
                            if module.functions[callee.index()].body.is_some() =>
                        {
                            arguments
                        }
                        _ => &[],
                    };
                    for &value in values {
                        let Some(data) = module.value(Some(body), value) else { continue };
                        if !self.leads_to_resources(data.ty) {
                            continue;
                        }
                        for source in self.sources(body, value)?.into_iter().flatten() {
                            if !found.contains(&source) {
                                found.push(source);
                            }
                        }
                    }
                }
            }
            self.handed_on = Some(found);
        }
        Ok(self.handed_on.as_deref().unwrap_or_default())
    }

    /// The type is one of resources, or of addresses or arrays of them.
    fn leads_to_resources(&self, mut ty: llvm::TypeId) -> bool {
        for _ in 0..MAX_DEPTH {
            ty = match self.module.types.get(ty) {
                Some(llvm::Type::Pointer { pointee, .. }) => *pointee,
                Some(llvm::Type::Array { element, .. }) => *element,
                _ => return self.is_resource(ty),
            };
        }
        false
    }

    /// A parameter of the function is a resource or an address of one, or holds some: outside the module there is nothing that
    /// it could stand for.
    pub(super) fn takes_resources(&self, function: llvm::FunctionId) -> bool {
        let Some(llvm::Type::Function { params, .. }) =
            self.module.types.get(self.module.functions[function.index()].ty)
        else {
            return false;
        };
        let mut seen = HashSet::new();
        let mut work = params.clone();
        while let Some(ty) = work.pop() {
            if self.is_resource(ty) {
                return true;
            }
            if seen.insert(ty) {
                match self.module.types.get(ty) {
                    Some(llvm::Type::Pointer { pointee: part, .. } | llvm::Type::Array { element: part, .. }) => {
                        work.push(*part);
                    }
                    Some(llvm::Type::Struct { fields, .. }) => work.extend(fields),
                    _ => {}
                }
            }
        }
        false
    }

    /// The type is one of handles, or of resource objects of libraries before Shader Model 6.6.
    pub(super) fn is_resource(&self, ty: llvm::TypeId) -> bool {
        self.module.types.get(ty).is_some_and(llvm::Type::is_handle)
            || self.objects.contains(&self.module.types.canonical(ty))
    }

    /// The bindings that a handle may have, with the numbers that tell which it is.
    fn candidates(
        &mut self,
        body: &llvm::Body,
        value: llvm::ValueId,
        properties: Option<HeapProperties>,
    ) -> Result<Vec<(u32, BindingId)>> {
        let sources = self.sources(body, value)?;
        let mut candidates: Vec<(u32, BindingId)> = Vec::new();
        let mut add = |this: &Self, source: Source| -> Result<()> {
            let candidate = match source {
                Source::Binding(binding) => (binding.0, binding),
                Source::Heap => {
                    let missing = || Error::unsupported("descriptor of a heap of a kind that is not constant");
                    (HEAP, this.heap_binding(properties.ok_or_else(missing)?)?)
                }
            };
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
            Ok(())
        };
        for &source in sources.iter().flatten() {
            add(self, source)?;
        }
        if sources.contains(&None) {
            let kind = properties.map(HeapProperties::kind).transpose()?;
            for source in self.handed_on()?.to_vec() {
                let fits = match (source, kind) {
                    (Source::Binding(binding), Some((class, kind))) => {
                        let binding = &self.interface.bindings[binding.index()];
                        binding.class == class && is_alike(binding.kind, kind)
                    }
                    _ => true,
                };
                if fits {
                    add(self, source)?;
                }
            }
        }
        let first = candidates.first().ok_or_else(|| Error::unsupported("resource of which nothing is known"))?;
        let bindings = &self.interface.bindings;
        let first = &bindings[first.1.index()];
        for (_, other) in &candidates {
            let other = &bindings[other.index()];
            if first.class != other.class || !is_alike(first.kind, other.kind) {
                return Err(Error::unsupported(format!(
                    "choice between resources of different kinds: {}, {}",
                    first.name.as_deref().unwrap_or_default(),
                    other.name.as_deref().unwrap_or_default()
                )));
            }
        }
        Ok(candidates)
    }
}

impl FunctionLowering<'_, '_> {
    /// The descriptor of an element of a binding's array.
    pub(super) fn descriptor(&mut self, binding: BindingId, index: Value, non_uniform: bool) -> Descriptor {
        Descriptor { numbers: [self.function.i32(binding.0), index], non_uniform }
    }

    /// A handle of an element of a binding's array.
    pub fn handle(&mut self, binding: BindingId, index: Value, non_uniform: bool) -> Lowered {
        let value = self.build().push(Op::Handle { binding, index, non_uniform }, Type::Handle);
        let descriptor = self.descriptor(binding, index, non_uniform);
        Lowered::Handle(Handle { value, binding, descriptor })
    }

    /// An instruction's result is the address of a resource of a library, whichever way control took.
    pub(super) fn leads_to_globals(&self, instruction: &llvm::Instruction) -> bool {
        let Some(result) = instruction.result.filter(|_| self.parent.leads_to_resources(instruction.ty)) else {
            return false;
        };
        let origins = reflect::origins(self.parent.module, self.body, result);
        origins.iter().all(|origin| matches!(origin, Origin::Global(id) if self.parent.resources.contains_key(id)))
    }

    /// Writes a resource, or the elements of an array of resources from it on, to where an address leads.
    pub(super) fn store_descriptor(&mut self, pointer: Pointer, descriptor: Descriptor) -> Result<()> {
        let (element, count) = match *self.llvm_type(pointer.pointee)? {
            llvm::Type::Array { element, len } => (element, len),
            _ => (pointer.pointee, 1),
        };
        if !self.llvm_type(element)?.is_handle() {
            return Err(Error::unsupported("resource object in memory"));
        }
        if count > MAX_SCALARS {
            return Err(Error::unsupported("value of very many numbers"));
        }
        let mut scalars = Vec::new();
        let [binding, first] = descriptor.numbers;
        for number in 0..count {
            let number = self.function.i32(number as u32);
            scalars.extend([binding, self.add(first, number)]);
        }
        self.store(pointer, &scalars)
    }

    /// A value of a type, of its scalars: numbers of a handle are a descriptor. How it came is not known, so that lanes may
    /// differ in it.
    pub(super) fn of_scalars(&self, ty: llvm::TypeId, scalars: SmallVec<[Value; 4]>) -> Lowered {
        match scalars[..] {
            [binding, index] if self.parent.is_resource(ty) => {
                Lowered::Descriptor(Descriptor { numbers: [binding, index], non_uniform: true })
            }
            _ => Lowered::Scalars(scalars),
        }
    }

    /// Address of an element, or of a smaller array, of a library's array of resources, whose registers are those of its
    /// elements in order. The first index goes through the pointer. A resource has no parts that an address could lead to.
    pub(super) fn element_descriptor(
        &mut self,
        mut descriptor: Descriptor,
        from: llvm::TypeId,
        indices: &[llvm::ValueId],
    ) -> Result<Descriptor> {
        let types = &self.parent.module.types;
        let mut ty = types.pointee(from).ok_or_else(|| Error::malformed("address of a part of no address"))?;
        for (position, &step) in indices.iter().enumerate() {
            if position > 0 {
                let Some(llvm::Type::Array { element, .. }) = types.get(ty) else { break };
                ty = *element;
            }
            let mut size = 1u32;
            let mut inner = ty;
            while let Some(llvm::Type::Array { element, len }) = types.get(inner) {
                // Arrays without a length, of which there is only the outermost, have length 0.
                size = size.saturating_mul(u32::try_from(*len).unwrap_or(u32::MAX));
                inner = *element;
            }
            let step = self.index(step)?;
            let step = self.scale(step, size);
            descriptor.numbers[1] = self.add(descriptor.numbers[1], step);
        }
        Ok(descriptor)
    }

    /// One of two resources.
    pub(super) fn select_resource(&mut self, condition: Value, accept: &Lowered, reject: &Lowered) -> Result<Lowered> {
        let ([binding, index], [other, other_index]) = (numbers(accept)?, numbers(reject)?);
        let mut build = self.build();
        let index = if index == other_index { index } else { build.select(condition, index, other_index) };
        if let (&Lowered::Resource { binding, .. }, true) = (accept, binding == other) {
            return Ok(Lowered::Resource { binding, descriptor: self.descriptor(binding, index, true) });
        }
        let binding = if binding == other { binding } else { build.select(condition, binding, other) };
        Ok(Lowered::Descriptor(Descriptor { numbers: [binding, index], non_uniform: true }))
    }

    /// The handle of a resource that came as numbers; `value` is LLVM's value, and `properties` say of what kind it is if
    /// anything does.
    pub fn resolve(
        &mut self,
        value: llvm::ValueId,
        descriptor: Descriptor,
        properties: Option<HeapProperties>,
    ) -> Result<Handle> {
        let [which, index] = descriptor.numbers;
        let candidates = self.parent.candidates(self.body, value, properties)?;
        let known = self.function.as_scalar_constant(which);
        let known = candidates.iter().copied().find(|candidate| known == Some(u64::from(candidate.0)));
        let candidates = known.map_or(candidates, |known| vec![known]);
        let non_uniform = descriptor.non_uniform;
        let mut choices: SmallVec<[(u32, Value); 4]> = SmallVec::new();
        for &(number, binding) in &candidates {
            let single = self.parent.interface.bindings[binding.index()].count == Some(1);
            let index = if single { self.function.i32(0) } else { index };
            let handle = Op::Handle { binding, index, non_uniform: non_uniform && !single };
            choices.push((number, self.build().push(handle, Type::Handle)));
        }
        let value = match choices[..] {
            [(_, only)] => only,
            _ => self.build().push(Op::ChooseHandle { which, choices }, Type::Handle),
        };
        Ok(Handle { value, binding: candidates[0].1, descriptor })
    }
}

/// The numbers of a resource.
fn numbers(lowered: &Lowered) -> Result<[Value; 2]> {
    match *lowered.scalars()? {
        [binding, index] => Ok([binding, index]),
        _ => Err(Error::malformed("operand is no resource")),
    }
}

/// `DXIL::ResourceClass`.
pub fn resource_class(number: u32) -> Result<ResourceClass> {
    Ok(match number {
        0 => ResourceClass::Srv,
        1 => ResourceClass::Uav,
        2 => ResourceClass::Cbv,
        3 => ResourceClass::Sampler,
        _ => return Err(Error::malformed(format!("unknown class of resource: {number}"))),
    })
}

/// One operation can be on either resource.
fn is_alike(a: ResourceKind, b: ResourceKind) -> bool {
    use ResourceKind as Kind;
    match (a, b) {
        (Kind::StructuredBuffer { stride: a, .. }, Kind::StructuredBuffer { stride: b, .. }) => a == b,
        (Kind::Texture { dimension: a, component, .. }, Kind::Texture { dimension: b, component: other, .. }) => {
            a == b && is_integer(component) == is_integer(other)
        }
        (Kind::TypedBuffer { component, .. }, Kind::TypedBuffer { component: other, .. }) => {
            is_integer(component) == is_integer(other)
        }
        _ => std::mem::discriminant(&a) == std::mem::discriminant(&b),
    }
}

/// Its numbers are integers to a shader.
fn is_integer(component: ComponentType) -> bool {
    use ComponentType as Component;
    matches!(
        component,
        Component::Bool
            | Component::I16
            | Component::U16
            | Component::I32
            | Component::U32
            | Component::I64
            | Component::U64
            | Component::Packed8x32
    )
}
