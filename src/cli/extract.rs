//! `dxshader extract`: the containers in any file.

use std::{
    fs::File,
    io::{self, Read},
    path::PathBuf,
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::{CliError, Outcome, output, pdb};
use crate::{
    container::{Carver, Container, Pdb, ProgramHeader},
    reflection::Stage,
};

/// Write every container that a file holds, whatever the file is, into a folder
///
/// Each is named by its offset in hexadecimal and its profile. Archives that compress their contents hide them. Fails if
/// there is none.
#[derive(Debug, Args)]
pub struct Extract {
    /// The file: an archive, an executable, an engine's package
    file: PathBuf,
    /// Folder to write to; it is made if need be
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Extract containers within containers too: functions of libraries, programs in private data
    #[arg(long)]
    nested: bool,
}

impl Extract {
    /// Carries the command out.
    ///
    /// # Errors
    /// The file cannot be read, or a container not be written.
    pub fn run(&self) -> Result<Outcome, CliError> {
        let unread = |source: io::Error| CliError::Read { path: self.file.clone(), source };
        let mut magic = Vec::new();
        File::open(&self.file).and_then(|file| file.take(32).read_to_end(&mut magic)).map_err(unread)?;
        if Pdb::recognizes(&magic) {
            return self.extract_pdb();
        }
        let file = File::open(&self.file).map_err(unread)?;
        let bar = ProgressBar::new(file.metadata().map_err(unread)?.len());
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes}, {msg}, {eta} left") {
            bar.set_style(style);
        }
        std::fs::create_dir_all(&self.output)
            .map_err(|source| CliError::Write { path: self.output.clone(), source })?;
        let carver = Carver::new(bar.wrap_read(file)).nested(self.nested);
        let (mut count, mut size) = (0_usize, 0);
        for carved in carver {
            let carved = carved.map_err(unread)?;
            let path = self.output.join(file_name(carved.offset, &carved.bytes));
            output::write(Some(&path), &carved.bytes)?;
            count += 1;
            size += carved.bytes.len();
            bar.set_message(format!("{count} containers"));
        }
        bar.finish_and_clear();
        let plural = if count == 1 { "" } else { "s" };
        output::write(None, format!("{count} container{plural}, {size} bytes\n").as_bytes())?;
        Ok(if count == 0 { Outcome::Failed } else { Outcome::Success })
    }
}

impl Extract {
    /// The container of a PDB file lies there in blocks.
    fn extract_pdb(&self) -> Result<Outcome, CliError> {
        let bytes = output::read(&self.file)?;
        let inner = pdb::container_bytes(&self.file, &bytes)?;
        std::fs::create_dir_all(&self.output)
            .map_err(|source| CliError::Write { path: self.output.clone(), source })?;
        output::write(Some(&self.output.join(file_name(0, &inner))), &inner)?;
        output::write(None, format!("1 container, {} bytes\n", inner.len()).as_bytes())?;
        Ok(Outcome::Success)
    }
}

/// `0001f3a0.ps_5_0.dxbc`.
fn file_name(offset: u64, bytes: &[u8]) -> String {
    let program = Container::parse(bytes).and_then(|container| {
        ProgramHeader::find(&container).map(|found| {
            let version = found.version();
            let extension = if matches!(found, ProgramHeader::Bitcode(_)) { "dxil" } else { "dxbc" };
            (version, extension)
        })
    });
    match program {
        Ok((version, extension)) => {
            let profile = Stage::from_kind(version.kind).map_or("xx", Stage::profile);
            format!("{offset:08x}.{profile}_{}_{}.{extension}", version.major, version.minor)
        }
        Err(_) => format!("{offset:08x}.dxbc"),
    }
}
