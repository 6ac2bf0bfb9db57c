//! Resource handles.

use super::Call;
use crate::{
    Error, Result,
    dxil::{
        lower::{Descriptor, FunctionLowering, HEAP, Handle, Lowered, resource_class},
        reflect::HeapProperties,
    },
    ir::{BinaryOp, BindingId, Scalar, Value},
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

impl FunctionLowering<'_, '_> {
    /// A handle of the element that a register is.
    fn handle_of_register(&mut self, binding: BindingId, register: Value, non_uniform: bool) -> Lowered {
        let first = self.parent.interface.bindings[binding.index()].register;
        let index = match self.function.as_scalar_constant(register) {
            Some(register) => self.function.i32((register as u32).wrapping_sub(first)),
            None if first == 0 => register,
            None => {
                let mut build = self.build();
                let first = build.i32(first);
                build.binary(BinaryOp::ISub, register, first)
            }
        };
        self.handle(binding, index, non_uniform)
    }

    /// An argument that is a handle.
    pub fn handle_argument(&mut self, call: &Call<'_>, index: usize) -> Result<Handle> {
        let argument = call.argument(index)?;
        match self.value(argument)? {
            Lowered::Handle(handle) => Ok(handle),
            Lowered::Descriptor(descriptor) => self.resolve(argument, descriptor, None),
            _ => Err(Error::malformed(format!("argument is no handle: {index}"))),
        }
    }
}

/// Class, range id, register, non-uniform.
pub fn create(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let class = resource_class(call.constant(f, 0)?)?;
    let binding = f.parent.range(class, call.constant(f, 1)?)?;
    let register = call.i32(f, 2)?;
    let non_uniform = call.constant(f, 3)? != 0;
    Ok(Some(f.handle_of_register(binding, register, non_uniform)))
}

/// Resource object.
pub fn create_for_lib(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    match f.value(call.argument(0)?)? {
        Lowered::Resource { binding, descriptor: Descriptor { numbers: [_, index], non_uniform } } => {
            Ok(Some(f.handle(binding, index, non_uniform)))
        }
        descriptor @ (Lowered::Descriptor(_) | Lowered::Handle(_)) => Ok(Some(descriptor)),
        _ => Err(Error::unsupported("handle of a resource that is no global variable")),
    }
}

/// `%dx.types.ResBind` (first and last register, space, class), register, non-uniform.
pub fn create_from_binding(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let range = f.value(call.argument(0)?)?;
    let [lower, upper, space, number] = *range.scalars()? else {
        return Err(Error::malformed("register range has not four members"));
    };
    let constant = |value: Value| {
        let constant = f.function.as_scalar_constant(value).map(|bits| bits as u32);
        constant.ok_or_else(|| Error::unsupported("register range that is not constant"))
    };
    let class = resource_class(constant(number)?)?;
    let binding = f.parent.binding(class, constant(space)?, constant(lower)?, constant(upper)?)?;
    let register = call.typed(f, 1, Scalar::I32)?;
    let non_uniform = call.constant(f, 2)? != 0;
    Ok(Some(f.handle_of_register(binding, register, non_uniform)))
}

/// Number of a descriptor, of the samplers' heap, non-uniform. What for, the annotation says.
pub fn create_from_heap(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let index = call.i32(f, 0)?;
    let non_uniform = call.constant(f, 2)? != 0;
    Ok(Some(Lowered::Descriptor(Descriptor { numbers: [f.function.i32(HEAP), index], non_uniform })))
}

/// Handle, `%dx.types.ResourceProperties`: says again what the declaration says, or for the first time what a heap's
/// descriptor is for.
pub fn annotate(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let argument = call.argument(0)?;
    match f.value(argument)? {
        Lowered::Handle(handle) => Ok(Some(Lowered::Handle(handle))),
        Lowered::Descriptor(descriptor) => {
            let properties = f.value(call.argument(1)?)?;
            let words = properties.scalars()?.iter().map(|&word| f.function.as_scalar_constant(word));
            let words: Option<Vec<u64>> = words.collect();
            let Some([first, second]) = words.as_deref() else {
                return Err(Error::unsupported("descriptor of a heap of a kind that is not constant"));
            };
            let properties = HeapProperties(*first as u32, *second as u32);
            f.resolve(argument, descriptor, Some(properties)).map(|handle| Some(Lowered::Handle(handle)))
        }
        _ => Err(Error::malformed("argument is no handle: 0")),
    }
}
