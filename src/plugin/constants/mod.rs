//! Constants: what a material says of them, the values the engine gives, and how both become the bytes of a constant
//! buffer.
//!
//! The rooms here know reflection's layouts and numbers, nothing of assets or the GPU.

mod engine;
mod known;
mod pack;
mod path;
mod value;

pub use engine::{
    EngineFrame, EngineMatrix, EngineObject, EngineValue, EngineView, Frequency, MatrixProduct, UnknownEngineValue,
};
pub use known::{KnownName, known_name};
pub use pack::{ConstantBlock, PackError, Packer, Patch, VectorConvention};
pub(crate) use pack::{names_of, type_size};
pub use path::{FieldPath, PathError, PathStep};
pub use value::{ConstantValue, Number};
