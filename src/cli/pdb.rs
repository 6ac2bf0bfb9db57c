//! PDB files on the command line: in place of a container, and beside one.

use std::{
    borrow::Cow,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use super::{CliError, output};
use crate::container::{Container, Pdb};

/// The container that a file holds: the file itself, or that of dxc in a PDB file.
///
/// # Errors
/// The PDB file is damaged or holds no container.
pub fn container_bytes<'a>(path: &Path, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, CliError> {
    if !Pdb::recognizes(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let pdb = Pdb::parse(bytes).map_err(|source| CliError::Shader { path: path.into(), source })?;
    match pdb.container_bytes() {
        Some(inner) => Ok(Cow::Owned(inner.to_vec())),
        None => Err(CliError::Output { path: path.into(), what: "the PDB file holds no container".into() }),
    }
}

/// The PDB file of a shader: in the folders that are named, or in its own.
pub fn beside(shader: &Path, container: &Container<'_>, folders: &[PathBuf]) -> Option<(PathBuf, Vec<u8>)> {
    let own = shader.parent().unwrap_or(Path::new(""));
    let file = shader.file_name().and_then(OsStr::to_str);
    let names = Pdb::file_names(container, file);
    let folders = folders.iter().map(PathBuf::as_path).chain([own]);
    let paths = folders.flat_map(|folder| names.iter().map(move |name| (folder.join(name), name)));
    paths.filter_map(|(path, name)| Some((output::read(&path).ok()?, path, name))).find_map(|(bytes, path, name)| {
        Pdb::of_shader(&bytes, name, container)?;
        Some((path, bytes))
    })
}
