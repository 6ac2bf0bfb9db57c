//! PDB files on the command line: in place of a container, and beside one.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use super::{CliError, output};
use crate::container::{Container, Pdb, debug_name};

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

/// The PDB file that a shader asks for by name: in its own folder, or in those that are named.
pub fn beside(shader: &Path, container: &Container<'_>, folders: &[PathBuf]) -> Option<(PathBuf, Vec<u8>)> {
    let name = debug_name(container).ok()??;
    let name = Pdb::file_name(&name)?;
    let own = shader.parent().unwrap_or(Path::new(""));
    let paths = folders.iter().map(PathBuf::as_path).chain([own]).map(|folder| folder.join(name));
    paths.filter_map(|path| Some((path.clone(), output::read(&path).ok()?))).find(|(_, bytes)| {
        // A file of that name may be that of another build.
        Pdb::parse(bytes).is_ok_and(|pdb| pdb.belongs_to(container))
    })
}
