//! Compiled Direct3D shaders as Bevy assets.

#[cfg(feature = "cli")]
pub mod cases;
#[cfg(feature = "cli")]
pub mod cli;
pub mod container;
pub mod dxbc;
pub mod dxil;
mod error;
pub mod ir;
pub mod lift;
#[cfg(feature = "bevy")]
pub mod plugin;
pub mod reflection;

pub use error::{Error, ErrorKind, Place, Result};
pub use lift::{LiftOptions, Program, Target, lift};

/// Reads what a container tells of its programs, without lifting them.
///
/// # Errors
/// As for [`reflection::reflect`].
pub fn reflect(bytes: &[u8]) -> Result<reflection::Interface> {
    reflection::reflect(&container::Container::parse(bytes)?)
}
