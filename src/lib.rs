//! Compiled Direct3D shaders, as fxc and dxc write them, made usable: read, reflected, lifted to naga modules with
//! Direct3D's results, and drawn by Bevy.
//!
//! * [`lift()`] takes the bytes of a container to a [`Program`]; [`Program::emit`] makes a naga module of it for a
//!   [`Target`]. [`reflect`] tells of a program without lifting it.
//! * [`plugin`] (feature `bevy`, on by default) makes shaders, materials and compute programs of them Bevy assets.
//! * [`cli`] and [`cases`] (feature `cli`) are the command `dxshader`, and the execution of shaders with known results.
//!
//! `ARCHITECTURE.md` in the repository tells how the rooms of the crate belong together.

#![warn(missing_docs)]

#[cfg(feature = "cli")]
pub mod cases;
#[cfg(test)]
mod census;
#[cfg(feature = "cli")]
pub mod cli;
pub mod container;
#[cfg(test)]
mod coverage;
pub mod dxbc;
pub mod dxil;
mod error;
pub mod ir;
pub mod lift;
#[cfg(test)]
mod odd_numbers;
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

/// The readme's examples compile.
#[cfg(all(doctest, feature = "bevy"))]
#[doc = include_str!("../README.md")]
struct Readme;
