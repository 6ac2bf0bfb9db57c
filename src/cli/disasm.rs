//! `dxshader disasm`: the program of a container as assembly.

use std::path::PathBuf;

use clap::Args;

use super::{CliError, Outcome, output};
use crate::{
    Error, Result,
    container::{Container, FourCc},
    dxbc,
};

/// Write a compiled shader as assembly, in the spelling of fxc's listings
#[derive(Debug, Args)]
pub struct Disasm {
    /// The shader: a DXBC container
    file: PathBuf,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

impl Disasm {
    /// Carries the command out.
    ///
    /// # Errors
    /// The file cannot be read, or holds no program that has an assembly form here.
    pub fn run(&self) -> Result<Outcome, CliError> {
        let bytes = output::read(&self.file)?;
        let text = disassemble(&bytes).map_err(|source| CliError::Shader { path: self.file.clone(), source })?;
        output::write(self.output.as_deref(), text.as_bytes())?;
        Ok(Outcome::Success)
    }
}

/// The assembly of a container's program.
fn disassemble(bytes: &[u8]) -> Result<String> {
    let container = Container::parse(bytes)?;
    for name in [FourCc(*b"SHEX"), FourCc(*b"SHDR")] {
        if let Some(part) = container.part(name) {
            return dxbc::disassemble(part.data).map_err(|error| error.in_part(name));
        }
    }
    Err(Error::unsupported("assembly of a container without tokens (SHEX or SHDR part)"))
}
