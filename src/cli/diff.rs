//! `dxshader diff`: what changed in the interface.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{CliError, Outcome, output};
use crate::reflection::{Interface, changes};

/// Show what changed from one shader's interface to another's; fails if something did
///
/// Entry points, signature elements, bindings and constants are matched by their names and registers, not by their order.
#[derive(Debug, Args)]
pub struct Diff {
    /// The old container
    a: PathBuf,
    /// The new container
    b: PathBuf,
    /// Write a JSON array of objects with path, old and new
    #[arg(long)]
    json: bool,
}

impl Diff {
    /// Carries the command out.
    ///
    /// # Errors
    /// A file cannot be read or reflected, or the output not be written.
    pub fn run(&self) -> Result<Outcome, CliError> {
        let changes = changes(&reflect(&self.a)?, &reflect(&self.b)?)
            .map_err(|error| CliError::Output { path: self.b.clone(), what: error.to_string() })?;
        let mut text = if self.json {
            serde_json::to_string_pretty(&changes)
                .map_err(|error| CliError::Output { path: self.b.clone(), what: error.to_string() })?
        } else {
            changes.iter().map(|change| format!("{change}\n")).collect()
        };
        if self.json {
            text.push('\n');
        }
        output::write(None, text.as_bytes())?;
        Ok(if changes.is_empty() { Outcome::Success } else { Outcome::Failed })
    }
}

fn reflect(path: &Path) -> Result<Interface, CliError> {
    let bytes = output::read(path)?;
    crate::reflect(&bytes).map_err(|source| CliError::Shader { path: path.into(), source })
}
