//! What values of LLVM become.

use smallvec::SmallVec;

use super::{
    descriptor::{Descriptor, Handle},
    memory::{ChosenPointer, Pointer},
    record::RecordPointer,
};
use crate::{
    Error, Result,
    ir::{BindingId, Value},
};

/// Most scalars that one value may have: LLVM's aggregates are taken apart.
pub const MAX_SCALARS: u64 = 4096;

/// A lowered value.
#[derive(Clone, Debug)]
pub enum Lowered {
    /// A number, or the numbers of a vector, array or structure in order.
    Scalars(SmallVec<[Value; 4]>),
    /// A resource handle.
    Handle(Handle),
    /// A resource object, or its address: a library's global variable, or an element of one.
    Resource {
        /// The binding.
        binding: BindingId,
        /// The same as numbers, with the element of the binding's array.
        descriptor: Descriptor,
    },
    /// A resource that came as numbers, before it is said of what kind it is.
    Descriptor(Descriptor),
    /// An address in a variable.
    Pointer(Pointer),
    /// An address in one of several variables, or an undefined one.
    ChosenPointer(ChosenPointer),
    /// An address in a record of a work graph.
    Record(RecordPointer),
}

impl Lowered {
    /// A value of one scalar.
    pub fn scalar(value: Value) -> Self {
        Self::Scalars(SmallVec::from_slice(&[value]))
    }

    /// The scalars; of a resource its numbers.
    ///
    /// # Errors
    /// It is an address.
    pub fn scalars(&self) -> Result<&[Value]> {
        match self {
            Self::Scalars(scalars) => Ok(scalars),
            Self::Descriptor(descriptor)
            | Self::Resource { descriptor, .. }
            | Self::Handle(Handle { descriptor, .. }) => Ok(&descriptor.numbers),
            Self::Pointer(_) | Self::ChosenPointer(_) | Self::Record(_) => {
                Err(Error::unsupported("address as an operand"))
            }
        }
    }

    /// The one scalar.
    ///
    /// # Errors
    /// It is something else.
    pub fn one(&self) -> Result<Value> {
        match self.scalars()? {
            [value] => Ok(*value),
            scalars => Err(Error::malformed(format!("operand has not one number: {}", scalars.len()))),
        }
    }
}
