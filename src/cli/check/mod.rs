//! `dxshader check`: how many files of a folder read, reflect, lift and validate.

mod judge;
mod panics;
mod report;

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use clap::Args;
use indicatif::{ParallelProgressIterator, ProgressBar, ProgressStyle};
use rayon::prelude::*;

pub use judge::{Status, Verdict, judge};
pub use report::{Counts, Report};

use super::{CliError, Outcome, STACK_SIZE, output, target::TargetArgs};
use crate::{Target, container::Container};

/// Read, reflect, lift and validate every container below some paths, and count
#[derive(Debug, Args)]
pub struct Check {
    /// Files, and folders to walk. Of a folder, the files that begin with the magic of a container are taken
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write a row for each file: path, status, stage, model, read_us, lift_us, validate_us, spirv_bytes, reason
    #[arg(long, value_name = "OUT")]
    tsv: Option<PathBuf>,
    /// Number of files to check at a time [default: the number of processors]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    target: TargetArgs,
}

/// A file and what became of it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The file.
    pub path: PathBuf,
    /// What became of it.
    pub verdict: Verdict,
}

impl Check {
    /// Carries the command out.
    ///
    /// # Errors
    /// A path does not exist, or an output cannot be written.
    pub fn run(&self) -> Result<Outcome, CliError> {
        let files = find(&self.paths)?;
        let checked = check(&files, self.jobs.unwrap_or(0), &self.target.target())?;
        let report = Report::new(&checked);
        if let Some(path) = &self.tsv {
            output::write(Some(path), report::tsv(&checked).as_bytes())?;
        }
        output::write(None, report.to_string().as_bytes())?;
        Ok(report.outcome())
    }
}

/// The files to check: those that are named, and those below named folders that begin like a container, by path.
///
/// # Errors
/// A path does not exist, or a folder cannot be listed.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    for path in paths {
        for entry in walkdir::WalkDir::new(path).follow_links(true) {
            let entry = entry.map_err(|error| {
                let path = error.path().unwrap_or(path).to_path_buf();
                CliError::Read { path, source: error.into() }
            })?;
            // A file that cannot be opened is taken too, so that the check says so.
            if entry.file_type().is_file()
                && (entry.depth() == 0 || begins_like_container(entry.path()).unwrap_or(true))
            {
                files.push(entry.into_path());
            }
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn begins_like_container(path: &Path) -> io::Result<bool> {
    let mut magic = Vec::with_capacity(4);
    std::fs::File::open(path)?.take(4).read_to_end(&mut magic)?;
    Ok(Container::recognizes(&magic))
}

/// Checks files on `jobs` threads (0: one a processor), with a progress bar if standard error is a terminal. Results are
/// in the order of the files.
///
/// # Errors
/// The threads cannot be started.
pub fn check(files: &[PathBuf], jobs: usize, target: &Target) -> Result<Vec<Checked>, CliError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .stack_size(STACK_SIZE)
        .build()
        .map_err(|error| CliError::Thread(io::Error::other(error)))?;
    let bar = ProgressBar::new(files.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} files, {elapsed}, {eta} left") {
        bar.set_style(style);
    }
    let _quiet = panics::Quiet::new();
    let one = |path: &PathBuf| {
        let verdict = match std::fs::read(path) {
            Ok(bytes) => judge(&bytes, target),
            Err(error) => Verdict::unreadable(&error),
        };
        Checked { path: path.clone(), verdict }
    };
    let checked = pool.install(|| files.par_iter().progress_with(bar.clone()).map(one).collect());
    bar.finish_and_clear();
    Ok(checked)
}
