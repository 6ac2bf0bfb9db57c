//! The command line `dxshader`: reads, edits, lifts and checks compiled Direct3D shaders.
//!
//! It is a library module so that tests can call what the commands do; the binary only calls [`main`].

pub mod check;
pub mod diff;
pub mod disasm;
pub mod edit;
mod error;
pub mod extract;
pub mod inspect;
pub mod lift;
mod outline;
mod output;
mod pdb;
pub mod run;
mod style;
pub mod target;
mod text;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub use error::CliError;
pub use style::Color;

use crate::container::{Container, FourCc};

/// Reads, edits, lifts and checks compiled Direct3D shaders (DXBC and DXIL).
#[derive(Debug, Parser)]
#[command(name = "dxshader", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// When to color text; NO_COLOR, CLICOLOR and CLICOLOR_FORCE in the environment are heeded by `auto`
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

#[derive(Debug, Subcommand)]
enum Command {
    Inspect(inspect::Inspect),
    Dump(edit::Dump),
    SetPart(edit::SetPart),
    Strip(edit::Strip),
    Digest(edit::Digest),
    Extract(extract::Extract),
    Diff(diff::Diff),
    Disasm(disasm::Disasm),
    Lift(lift::Lift),
    Check(check::Check),
    Run(run::Run),
}

/// Told by the help of every command.
const HELP: &str = "A file named - is standard input or output.\n\n\
    Exit codes: 0 success; 1 a file was refused, a check or case failed, or a difference was found; 2 wrong usage, or a file \
    that cannot be read or written; 3 a panic was caught, which is always a bug.";

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All went well.
    Success,
    /// A file was refused, or something that was checked failed.
    Failed,
    /// A panic was caught.
    Panicked,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        ExitCode::from(match outcome {
            Outcome::Success => 0,
            Outcome::Failed => 1,
            Outcome::Panicked => 3,
        })
    }
}

/// The name of a part on the command line.
fn part_name(text: &str) -> Result<FourCc, String> {
    text.parse()
        .map_err(|_| "a part's name has four characters, such as DXIL; others than letters are \\xNN".to_owned())
}

/// The parts of a container that there are, for the message that one is not.
fn part_names(container: &Container<'_>) -> String {
    container.parts().map(|part| part.name.to_string()).collect::<Vec<_>>().join(" ")
}

/// Stack of every thread that lifts: naga's validator and writers recurse over nested blocks and expressions.
const STACK_SIZE: usize = 64 << 20;

/// Parses the arguments of the process and carries the command out.
pub fn main() -> ExitCode {
    let parser = Cli::command().after_help(HELP).mut_subcommands(|command| command.after_help(HELP));
    let cli = Cli::from_arg_matches(&parser.get_matches()).unwrap_or_else(|error| error.exit());
    cli.color.apply();
    let result = std::thread::scope(|scope| {
        let command = || match cli.command {
            Command::Inspect(command) => command.run(),
            Command::Dump(command) => command.run(),
            Command::SetPart(command) => command.run(),
            Command::Strip(command) => command.run(),
            Command::Digest(command) => command.run(),
            Command::Extract(command) => command.run(),
            Command::Diff(command) => command.run(),
            Command::Disasm(command) => command.run(),
            Command::Lift(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Run(command) => command.run(),
        };
        match std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, command) {
            // A panic here has printed its message already.
            Ok(thread) => thread.join().unwrap_or(Ok(Outcome::Panicked)),
            Err(error) => Err(CliError::Thread(error)),
        }
    });
    match result {
        Ok(outcome) => outcome.into(),
        Err(error) => {
            output::report(style::ERROR, &error);
            error.exit_code()
        }
    }
}
