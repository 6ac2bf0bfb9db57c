//! From DXIL's metadata to an [`Interface`].
//!
//! Source of the tables: `DxilMetadataHelper.h` and `docs/DXIL.rst` of DirectXShaderCompiler.

mod entry;
mod flags;
mod heap;
mod layouts;
mod node;
mod origin;
mod resources;
mod signatures;
mod usage;

pub use entry::{EntryRecord, undecorated};
pub use flags::ShaderFlags;
pub use heap::{Properties as HeapProperties, kinds as heap_kinds, word as constant_word};
pub use origin::{Origin, origins};
pub use resources::{CLASSES, RangeRecord};

use super::module::Module;
use crate::{
    Error, Result,
    container::{Bitcode, FeatureFlags},
    reflection::{Format, Interface, ShaderModel, Stage, draw_binding, node_bindings},
};

/// Reads the interface of a program. `names` is the module that keeps names, if the program was stripped of them.
///
/// # Errors
/// Names the metadata that contradicts the format.
pub fn interface(bitcode: &Bitcode<'_>, module: &Module, names: Option<&Module>) -> Result<Interface> {
    let stage = Stage::from_kind(bitcode.version.kind)
        .ok_or_else(|| Error::malformed(format!("unknown kind of program: {}", bitcode.version.kind)))?;
    let entries = EntryRecord::all(module, stage)?;
    let flags = entries.iter().fold(module_flags(module), |flags, entry| flags | entry.flags);
    let native_16_bit = flags.contains(ShaderFlags::NATIVE_LOW_PRECISION);
    let entry_points =
        entries.iter().map(|entry| entry.interface(module, native_16_bit)).collect::<Result<Vec<_>>>()?;
    let mut bindings = resources::bindings(module, names, native_16_bit)?;
    let nodes = entry_points.iter().filter_map(|entry| entry.facts.node.as_ref());
    if let Some(outputs) = nodes.map(|node| node.outputs.len()).max() {
        bindings.extend(node_bindings(outputs as u32));
    }
    let starts = ["dx.op.startVertexLocation", "dx.op.startInstanceLocation"];
    if module.functions.iter().any(|function| starts.iter().any(|name| function.name.starts_with(name))) {
        bindings.push(draw_binding());
    }
    Ok(Interface {
        entry_points,
        bindings,
        feature_flags: FeatureFlags(flags.features()),
        ..Interface::new(
            Format::Dxil,
            ShaderModel { major: bitcode.version.major, minor: bitcode.version.minor },
            stage,
        )
    })
}

/// Flags of the record without a function with which libraries begin.
fn module_flags(module: &Module) -> ShaderFlags {
    let records = module.named("dx.entryPoints").filter(|record| !record.has(0));
    records.fold(ShaderFlags::empty(), |flags, record| flags | entry::flags(&record))
}

/// The metadata tells which components of a signature and which fields of a constant buffer are used: what was made for
/// validators before 1.5 leaves it out.
pub(super) fn knows_usage(module: &Module) -> bool {
    let version = module.named("dx.valver").next();
    version.is_some_and(|version| (version.integer(0).unwrap_or(0), version.integer(1).unwrap_or(0)) >= (1, 5))
}

/// Halves and 16-bit integers are what they are, not minimum precision.
pub fn is_native_16_bit(module: &Module) -> bool {
    let records = module.named("dx.entryPoints");
    let flags = records.fold(ShaderFlags::empty(), |flags, record| flags | entry::flags(&record));
    flags.contains(ShaderFlags::NATIVE_LOW_PRECISION)
}
