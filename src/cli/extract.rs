//! `dxshader extract`: the containers in any file.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::{CliError, Outcome, output, pdb, style};
use crate::{
    container::{Carver, Container, Pdb, ProgramHeader},
    reflection::Stage,
};

/// Write every container that a file holds, whatever the file is, into a folder
///
/// Each is named by its offset in hexadecimal and its profile, and a number if another file has that name. Archives that
/// compress their contents hide them. Fails if
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
        let (stream, len): (Box<dyn Read>, _) = if self.file == Path::new(output::STANDARD) {
            (Box::new(io::stdin().lock()), None)
        } else {
            let file = File::open(&self.file).map_err(unread)?;
            let len = file.metadata().map_err(unread)?.len();
            (Box::new(file), Some(len))
        };
        let mut stream = BufReader::new(stream);
        let unmade = |source| CliError::Write { path: self.output.clone(), source };
        std::fs::create_dir_all(&self.output).map_err(unmade)?;
        if Pdb::recognizes(stream.fill_buf().map_err(unread)?) {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).map_err(unread)?;
            return self.extract_pdb(&bytes);
        }
        let bar = progress(len);
        let (mut count, mut size) = (0_usize, 0);
        for carved in Carver::new(bar.wrap_read(stream)).nested(self.nested) {
            let carved = carved.map_err(unread)?;
            self.write(carved.offset, &carved.bytes)?;
            count += 1;
            size += carved.bytes.len();
            bar.set_message(format!("{count} containers"));
        }
        bar.finish_and_clear();
        let plural = if count == 1 { "" } else { "s" };
        output::print(&format!("{count} container{plural}, {size} bytes\n"))?;
        if count == 0 {
            let what = "no container was found; an archive that compresses its contents must be unpacked first";
            output::report(style::WARNING, format_args!("{}: {what}", self.file.display()));
            return Ok(Outcome::Failed);
        }
        Ok(Outcome::Success)
    }

    /// The container of a PDB file lies there in blocks.
    fn extract_pdb(&self, bytes: &[u8]) -> Result<Outcome, CliError> {
        let inner = pdb::container_bytes(&self.file, bytes)?;
        self.write(0, &inner)?;
        output::print(&format!("1 container, {} bytes\n", inner.len()))?;
        Ok(Outcome::Success)
    }

    /// Writes a container under its name, or with a number if another file has that. One that is there already stays.
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), CliError> {
        for number in 0_u64.. {
            let path = self.output.join(file_name(offset, bytes, number));
            match std::fs::read(&path) {
                Ok(found) if found == bytes => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return output::write(Some(&path), bytes),
                Err(source) => return Err(CliError::Write { path, source }),
            }
        }
        Ok(())
    }
}

/// A progress bar over so many bytes, or a count of them if their number is not known. It shows on terminals alone.
fn progress(len: Option<u64>) -> ProgressBar {
    let (bar, template) = match len {
        Some(len) => (ProgressBar::new(len), "{bar:40} {bytes}/{total_bytes}, {msg}, {eta} left"),
        None => (ProgressBar::no_length(), "{spinner} {bytes}, {msg}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// `0001f3a0.ps_5_0.dxbc`, or `0001f3a0.2.ps_5_0.dxbc`.
fn file_name(offset: u64, bytes: &[u8], number: u64) -> String {
    let number = if number > 0 { format!(".{number}") } else { String::new() };
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
            format!("{offset:08x}{number}.{profile}_{}_{}.{extension}", version.major, version.minor)
        }
        Err(_) => format!("{offset:08x}{number}.dxbc"),
    }
}
