//! What values of LLVM become.

use smallvec::SmallVec;

use super::{memory::Pointer, record::RecordPointer};
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
        /// Element of the binding's array.
        index: Value,
        /// Lanes may differ in `index`.
        non_uniform: bool,
    },
    /// A descriptor of a heap, before it is said what for.
    Descriptor {
        /// Number of the descriptor.
        index: Value,
        /// Lanes may differ in `index`.
        non_uniform: bool,
    },
    /// An address in a variable.
    Pointer(Pointer),
    /// An address in a record of a work graph.
    Record(RecordPointer),
}

/// A resource handle.
#[derive(Clone, Copy, Debug)]
pub struct Handle {
    /// The IR's handle.
    pub value: Value,
    /// Its binding.
    pub binding: BindingId,
}

impl Lowered {
    /// A value of one scalar.
    pub fn scalar(value: Value) -> Self {
        Self::Scalars(SmallVec::from_slice(&[value]))
    }

    /// The scalars; of a heap's descriptor its number.
    ///
    /// # Errors
    /// It is an address or a resource.
    pub fn scalars(&self) -> Result<&[Value]> {
        match self {
            Self::Scalars(scalars) => Ok(scalars),
            Self::Descriptor { index, .. } => Ok(std::slice::from_ref(index)),
            Self::Handle(_) | Self::Resource { .. } => Err(Error::unsupported("resource as an operand")),
            Self::Pointer(_) | Self::Record(_) => Err(Error::unsupported("address as an operand")),
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
