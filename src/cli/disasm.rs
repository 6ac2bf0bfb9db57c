//! `dxshader disasm`: the program of a container as assembly.

use std::path::PathBuf;

use clap::Args;

use super::{CliError, Outcome, output, pdb};
use crate::{
    Result,
    container::{Bitcode, Container, FourCc},
    dxbc, dxil,
};

/// Write a compiled shader as assembly, in the spelling of the compilers' own listings (`-dumpbin`)
#[derive(Debug, Args)]
pub struct Disasm {
    /// The shader: a container, a PDB file of dxc's, a program part of dxc's, or bare LLVM bitcode
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
        let bytes = pdb::container_bytes(&self.file, &bytes)?;
        let text = disassemble(&bytes).map_err(|source| CliError::Shader { path: self.file.clone(), source })?;
        output::write(self.output.as_deref(), text.as_bytes())?;
        Ok(Outcome::Success)
    }
}

/// The assembly of a container's program (DXBC as fxc lists it, DXIL as dxc does), or of bitcode that is in none.
///
/// # Errors
/// As for [`dxbc::disassemble`] and [`dxil::disassemble`].
pub fn disassemble(bytes: &[u8]) -> Result<String> {
    if Bitcode::recognizes(bytes) || (!Container::recognizes(bytes) && Bitcode::recognizes_part(bytes)) {
        return dxil::disassemble_bitcode(bytes);
    }
    let container = Container::parse(bytes)?;
    for name in [FourCc(*b"SHEX"), FourCc(*b"SHDR")] {
        if let Some(part) = container.part(name) {
            return dxbc::disassemble(part.data).map_err(|error| error.in_part(name));
        }
    }
    dxil::disassemble(&container)
}
