//! Resource handles.

use super::Call;
use crate::{
    Error, Result,
    dxil::{
        lower::{FunctionLowering, Handle, Lowered},
        reflect::HeapProperties,
    },
    ir::{BinaryOp, BindingId, Op, Scalar, Type, Value},
    reflection::ResourceClass,
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// `DXIL::ResourceClass`.
fn class(number: u32) -> Result<ResourceClass> {
    Ok(match number {
        0 => ResourceClass::Srv,
        1 => ResourceClass::Uav,
        2 => ResourceClass::Cbv,
        3 => ResourceClass::Sampler,
        _ => return Err(Error::malformed(format!("unknown class of resource: {number}"))),
    })
}

impl FunctionLowering<'_, '_> {
    /// A handle of an element of a binding's array.
    fn handle(&mut self, binding: BindingId, index: Value, non_uniform: bool) -> Lowered {
        let value = self.build().push(Op::Handle { binding, index, non_uniform }, Type::Handle);
        Lowered::Handle(Handle { value, binding })
    }

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

    /// One of two handles of a binding.
    pub fn select_handle(&mut self, condition: Value, accept: Handle, reject: Handle) -> Result<Lowered> {
        let index = |this: &Self, handle: Handle| match this.function.op(handle.value) {
            Some(&Op::Handle { index, non_uniform, .. }) => Ok((index, non_uniform)),
            _ => Err(Error::internal("handle that is made by no handle operation")),
        };
        let ((accept_index, a), (reject_index, b)) = (index(self, accept)?, index(self, reject)?);
        let index = self.build().select(condition, accept_index, reject_index);
        Ok(self.handle(accept.binding, index, a || b))
    }

    /// An argument that is a handle.
    pub fn handle_argument(&mut self, call: &Call<'_>, index: usize) -> Result<Handle> {
        match self.value(call.argument(index)?)? {
            Lowered::Handle(handle) => Ok(handle),
            _ => Err(Error::malformed(format!("argument is no handle: {index}"))),
        }
    }
}

/// Class, range id, register, non-uniform.
pub fn create(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let class = class(call.constant(f, 0)?)?;
    let binding = f.parent.range(class, call.constant(f, 1)?)?;
    let register = call.i32(f, 2)?;
    let non_uniform = call.constant(f, 3)? != 0;
    Ok(Some(f.handle_of_register(binding, register, non_uniform)))
}

/// Resource object.
pub fn create_for_lib(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    match f.value(call.argument(0)?)? {
        Lowered::Resource { binding, index, non_uniform } => Ok(Some(f.handle(binding, index, non_uniform))),
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
    let class = class(constant(number)?)?;
    let binding = f.parent.binding(class, constant(space)?, constant(lower)?, constant(upper)?)?;
    let register = call.typed(f, 1, Scalar::I32)?;
    let non_uniform = call.constant(f, 2)? != 0;
    Ok(Some(f.handle_of_register(binding, register, non_uniform)))
}

/// Number of a descriptor, of the samplers' heap, non-uniform. What for, the annotation says.
pub fn create_from_heap(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let index = call.i32(f, 0)?;
    let non_uniform = call.constant(f, 2)? != 0;
    Ok(Some(Lowered::Descriptor { index, non_uniform }))
}

/// Handle, `%dx.types.ResourceProperties`: says again what the declaration says, or for the first time what a heap's
/// descriptor is for.
pub fn annotate(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    match f.value(call.argument(0)?)? {
        Lowered::Handle(handle) => Ok(Some(Lowered::Handle(handle))),
        Lowered::Descriptor { index, non_uniform } => {
            let properties = f.value(call.argument(1)?)?;
            let words = properties.scalars()?.iter().map(|&word| f.function.as_scalar_constant(word));
            let words: Option<Vec<u64>> = words.collect();
            let Some([first, second]) = words.as_deref() else {
                return Err(Error::unsupported("descriptor of a heap of a kind that is not constant"));
            };
            let binding = f.parent.heap_binding(HeapProperties(*first as u32, *second as u32))?;
            Ok(Some(f.handle(binding, index, non_uniform)))
        }
        _ => Err(Error::malformed("argument is no handle: 0")),
    }
}
