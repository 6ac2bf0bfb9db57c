//! Lifted modules to what naga writes, and how its refusals read.

use std::{
    error::Error as StdError,
    fmt::Display,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use naga::{
    back::{spv, wgsl},
    valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator},
};

use clap::builder::styling::Style;

use super::{CliError, style::paint};

/// Validates a module with the capabilities of its target.
///
/// # Errors
/// naga's error and all its causes, the outermost first.
pub fn validate(module: &naga::Module, capabilities: Capabilities) -> Result<ModuleInfo, Vec<String>> {
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    validator.subgroup_stages(ShaderStages::all()).subgroup_operations(SubgroupOperationSet::all());
    validator.validate(module).map_err(|error| causes(error.as_inner()))
}

/// Elements of a binding array that has no size of its own.
const UNBOUNDED: u32 = 1024;

/// SPIR-V of a valid module, as words. Entry points keep their names, the clip space is Direct3D's and Vulkan's flipped as
/// wgpu does it.
///
/// # Errors
/// naga's error and all its causes.
pub fn spirv(module: &naga::Module, info: &ModuleInfo) -> Result<Vec<u32>, Vec<String>> {
    // Mesh shaders need SPIR-V 1.4, Vulkan 1.1's own is 1.3.
    let mesh_shaders = module.entry_points.iter().any(|entry| entry.stage.mesh_like());
    let lang_version = if mesh_shaders { (1, 4) } else { (1, 3) };
    let options = spv::Options { lang_version, binding_map: unbounded_arrays(module), ..Default::default() };
    spv::write_vec(module, info, &options, None).map_err(|error| causes(&error))
}

/// Places of binding arrays without a size, with one: naga writes them as runtime arrays, but not the capability for
/// those. wgpu gives them the size of the bind group's layout.
fn unbounded_arrays(module: &naga::Module) -> spv::BindingMap {
    let globals = module.global_variables.iter().filter_map(|(_, global)| {
        let place = global.binding?;
        match module.types[global.ty].inner {
            naga::TypeInner::BindingArray { size: naga::ArraySize::Dynamic, .. } => Some(place),
            _ => None,
        }
    });
    let info = |place: naga::ResourceBinding| spv::BindingInfo {
        descriptor_set: place.group,
        binding: place.binding,
        binding_array_size: Some(UNBOUNDED),
    };
    globals.map(|place| (place, info(place))).collect()
}

/// WGSL of a valid module.
///
/// # Errors
/// naga's error and all its causes, or that the module has ray queries, at which naga's writer panics.
pub fn wgsl(module: &naga::Module, info: &ModuleInfo) -> Result<String, Vec<String>> {
    if module.types.iter().any(|(_, ty)| matches!(ty.inner, naga::TypeInner::RayQuery { .. })) {
        return Err(vec!["naga writes no WGSL for ray queries".to_owned()]);
    }
    wgsl::write_string(module, info, wgsl::WriterFlags::empty()).map_err(|error| causes(&error))
}

/// An error and what caused it, the outermost first.
fn causes(error: &dyn StdError) -> Vec<String> {
    std::iter::successors(Some(error), |&error| error.source()).map(|error| error.to_string()).collect()
}

/// The name that stands for standard input and output.
pub const STANDARD: &str = "-";

/// Writes to a file, or to standard output, which is also named `-`.
///
/// # Errors
/// The file cannot be written. A reader of standard output that went away is none.
pub fn write(path: Option<&Path>, bytes: &[u8]) -> Result<(), CliError> {
    match path.filter(|&path| path != Path::new(STANDARD)) {
        Some(path) => std::fs::write(path, bytes).map_err(|source| CliError::Write { path: path.into(), source }),
        None => write_to(&mut io::stdout(), bytes),
    }
}

/// Writes text to standard output, with its styles if that shows colors.
///
/// # Errors
/// As for [`write`].
pub fn print(text: &str) -> Result<(), CliError> {
    write_to(&mut anstream::stdout(), text.as_bytes())
}

/// Says something to people on standard error.
pub fn report(style: Style, message: impl Display) {
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(anstream::stderr(), "{} {message}", paint(style, "dxshader:"));
}

fn write_to(to: &mut impl Write, bytes: &[u8]) -> Result<(), CliError> {
    match to.write_all(bytes).and_then(|()| to.flush()) {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::Write { path: PathBuf::from("standard output"), source })
        }
        _ => Ok(()),
    }
}

/// Reads a file, or standard input if it is named `-`.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let unread = |source| CliError::Read { path: path.into(), source };
    if path == Path::new(STANDARD) {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(unread)?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(unread)
}
