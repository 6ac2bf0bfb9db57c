//! `dxshader dump`, `set-part`, `strip` and `digest`: parts and the digest of a container.

use std::{
    fmt::Write as _,
    io::IsTerminal,
    path::{Path, PathBuf},
};

use clap::Args;

use super::{CliError, Outcome, output, part_name, part_names, pdb, style};
use crate::container::{Container, ContainerWriter, DigestRule, DigestState, FourCc, HashState, shader_hash};

/// Write the contents of a part
///
/// Of a PDB file of dxc, a part of the container within.
#[derive(Debug, Args)]
pub struct Dump {
    /// The container
    file: PathBuf,
    /// Name of the part, such as DXIL; bytes that are no characters as \xNN
    #[arg(long, value_name = "NAME", value_parser = part_name)]
    part: FourCc,
    /// Which of several parts of that name, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    index: usize,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

/// Set the contents of a part, or add the part, and write the container
///
/// The digest is computed anew, unless the container has a mark or zeros in its place. PRIV becomes the last part.
#[derive(Debug, Args)]
pub struct SetPart {
    /// The container
    file: PathBuf,
    /// Name of the part
    #[arg(value_parser = part_name)]
    name: FourCc,
    /// File with the contents of the part
    part_file: PathBuf,
    /// Where to write the container
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

/// Remove parts, and write the container
///
/// The digest is computed anew, unless the container has a mark or zeros in its place. A part that is not there is no
/// failure.
#[derive(Debug, Args)]
pub struct Strip {
    /// The container
    file: PathBuf,
    /// Names of the parts to remove
    #[arg(long, value_name = "NAME", required = true, num_args = 1.., value_parser = part_name)]
    part: Vec<FourCc>,
    /// Where to write the container
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

/// Check the digest of a container, and the hash of its program; write it with the right digest
///
/// Fails if the digest or the hash is stale, and is not fixed.
#[derive(Debug, Args)]
pub struct Digest {
    /// The container
    file: PathBuf,
    /// Write the container with the digest of its contents
    #[arg(long, requires = "output")]
    fix: bool,
    /// Where to write it
    #[arg(short, long, value_name = "OUT", requires = "fix")]
    output: Option<PathBuf>,
}

impl Dump {
    /// Carries the command out.
    ///
    /// # Errors
    /// The file is no container or has no such part, or the output cannot be written.
    pub fn run(&self) -> Result<Outcome, CliError> {
        if self.output.is_none() && std::io::stdout().is_terminal() {
            return Err(CliError::Usage("parts are binary: name a file with -o, or redirect the output".into()));
        }
        let bytes = output::read(&self.file)?;
        let bytes = pdb::container_bytes(&self.file, &bytes)?;
        let container = parse(&self.file, &bytes)?;
        let part = container.parts().filter(|part| part.name == self.part).nth(self.index).ok_or_else(|| {
            let number = if self.index > 0 { format!(" number {}", self.index) } else { String::new() };
            let what = format!("there is no part {}{number}, but {}", self.part, part_names(&container));
            CliError::Output { path: self.file.clone(), what }
        })?;
        output::write(self.output.as_deref(), part.data)?;
        Ok(Outcome::Success)
    }
}

impl SetPart {
    /// Carries the command out.
    ///
    /// # Errors
    /// A file cannot be read or is no container, or the output cannot be written.
    pub fn run(&self) -> Result<Outcome, CliError> {
        let bytes = output::read(&self.file)?;
        let contents = output::read(&self.part_file)?;
        let mut writer = ContainerWriter::from_container(&parse(&self.file, &bytes)?);
        writer.set(self.name, contents);
        write(&self.file, &writer, &self.output)
    }
}

impl Strip {
    /// Carries the command out.
    ///
    /// # Errors
    /// The file is no container, or the output cannot be written.
    pub fn run(&self) -> Result<Outcome, CliError> {
        let bytes = output::read(&self.file)?;
        let mut writer = ContainerWriter::from_container(&parse(&self.file, &bytes)?);
        for &name in &self.part {
            if writer.remove(name) == 0 {
                output::report(style::WARNING, format_args!("{}: there is no part {name}", self.file.display()));
            }
        }
        write(&self.file, &writer, &self.output)
    }
}

impl Digest {
    /// Carries the command out.
    ///
    /// # Errors
    /// The file is no container, or an output cannot be written.
    pub fn run(&self) -> Result<Outcome, CliError> {
        let bytes = output::read(&self.file)?;
        let container = parse(&self.file, &bytes)?;
        let mut writer = ContainerWriter::from_container(&container);
        let fixed = writer.digest(DigestRule::Compute).write().map_err(refused(&self.file))?;
        let state = container.digest_state();
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut text = format!("digest {} {}", style::state(state.name()), hex(&container.digest()));
        if state != DigestState::Ok {
            // Writing to a string does not fail.
            let _ = write!(text, ", that of the contents is {}", hex(&fixed[4..20]));
        }
        text.push('\n');
        let mut hash_state = None;
        if let Some(hash) = shader_hash(&container).map_err(refused(&self.file))? {
            let state = hash.state(&container).map_err(refused(&self.file))?;
            let _ = writeln!(text, "hash {} {}", style::state(state.name()), hex(&hash.digest));
            hash_state = Some(state);
        }
        output::print(&text)?;
        if let Some(path) = &self.output {
            output::write(Some(path), &fixed)?;
        }
        let stale = state == DigestState::Stale && !self.fix || hash_state == Some(HashState::Stale);
        Ok(if stale { Outcome::Failed } else { Outcome::Success })
    }
}

fn refused(path: &Path) -> impl Fn(crate::Error) -> CliError {
    let path = path.to_path_buf();
    move |source| CliError::Shader { path: path.clone(), source }
}

fn parse<'a>(path: &Path, bytes: &'a [u8]) -> Result<Container<'a>, CliError> {
    Container::parse(bytes).map_err(refused(path))
}

fn write(path: &Path, writer: &ContainerWriter<'_>, to: &Path) -> Result<Outcome, CliError> {
    output::write(Some(to), &writer.write().map_err(refused(path))?)?;
    Ok(Outcome::Success)
}
