//! What stops a command.

use std::{io, path::PathBuf, process::ExitCode};

use crate::ErrorKind;

/// What stops a command. It names the file.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An output cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file, or `standard output`.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The lifter refuses the file.
    #[error("{}: {source}{}", path.display(), advice(source.kind))]
    Shader {
        /// The file.
        path: PathBuf,
        /// Why.
        source: crate::Error,
    },
    /// naga refuses the lifted module, or cannot say it in the wanted form.
    #[error("{}: {what}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// The worker threads cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
    /// Cases cannot be run at all.
    #[error("cannot run cases: {0}")]
    Run(String),
    /// A request that makes no sense.
    #[error("{0}")]
    Usage(String),
}

/// What to do about a file that is refused, in addition to what its error says.
fn advice(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotAContainer => " (`dxshader extract` finds containers within other files)",
        ErrorKind::NotAProgram => " (`dxshader inspect` shows what it holds)",
        _ => "",
    }
}

impl CliError {
    /// The exit code of a command that this stops.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Shader { .. } | Self::Output { .. } => ExitCode::from(1),
            Self::Read { .. } | Self::Write { .. } | Self::Thread(_) | Self::Run(_) | Self::Usage(_) => {
                ExitCode::from(2)
            }
        }
    }
}
