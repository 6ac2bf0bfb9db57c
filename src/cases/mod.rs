//! Execution cases: lifted shaders run on wgpu, and what they write is compared with values that someone worked out.
//!
//! A case is a `*.dxcase.ron` file; `docs/cases.md` describes its format, and [`format`](mod@format) holds it as types. [`Runner`]
//! runs cases on the device that wgpu finds; `dxshader run` and the project's tests are thin layers over [`run_files`].

mod accel;
mod attachments;
mod bind;
mod compare;
mod contents;
mod device;
mod dispatch;
mod draw;
mod draw_mesh;
pub mod format;
mod formats;
#[cfg(test)]
mod number_types;
mod pipeline;
mod report;
mod resources;
mod runner;
mod samples;
#[cfg(test)]
mod tests;
mod texels;
pub mod values;

pub use contents::Contents;
pub use report::*;
pub use runner::*;
