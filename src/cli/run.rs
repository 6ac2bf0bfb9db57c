//! `dxshader run`: execution cases.

use std::{io::stdout, path::PathBuf};

use clap::Args;

use super::{CliError, Outcome};
use crate::cases::{Purpose, ReportFormat, run_files};

/// Run execution cases: lift shaders, execute them with wgpu, and check what they wrote
#[derive(Debug, Args)]
pub struct Run {
    /// The cases (`*.dxcase.ron`)
    #[arg(required = true, value_name = "CASE")]
    cases: Vec<PathBuf>,
    /// Write one JSON object a line in place of text
    #[arg(long)]
    json: bool,
    /// Show what the cases write in place of comparing it with what they expect
    ///
    /// In the form of a case's expectations, for each resource that it can write.
    #[arg(long)]
    results: bool,
}

impl Run {
    /// Carries the command out. A case that is skipped is no failure.
    ///
    /// # Errors
    /// There is no device, or the output cannot be written.
    pub fn run(&self) -> Result<Outcome, CliError> {
        let format = if self.json { ReportFormat::Json } else { ReportFormat::Text };
        let purpose = if self.results { Purpose::Results } else { Purpose::Expectations };
        let summary = run_files(&self.cases, purpose, format, &mut stdout().lock())
            .map_err(|error| CliError::Run(error.to_string()))?;
        Ok(if summary.failed > 0 { Outcome::Failed } else { Outcome::Success })
    }
}
