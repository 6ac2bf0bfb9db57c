//! The Bevy plugin.

mod bind;
pub mod constants;
mod load;
pub mod material;
mod shader;

pub use bind::BindError;
pub use shader::{DxShader, DxShaderError, DxShaderLoader, DxShaderSettings};
