//! The verdict on one file.

use std::{
    io,
    time::{Duration, Instant},
};

use naga::valid::Capabilities;

use super::panics;
use crate::{
    ErrorKind, LiftOptions, Target,
    cli::output,
    container::{Container, ProgramHeader},
    reflection::{self, Format, ShaderModel, Stage},
};

/// What became of a file: how far it came, and why not farther.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How it ended.
    pub status: Status,
    /// The bytes are a container.
    pub read: bool,
    /// It was reflected.
    pub reflected: bool,
    /// It was lifted to a naga module.
    pub lifted: bool,
    /// Stage, where the program's header tells it.
    pub stage: Option<Stage>,
    /// Shader Model, where the program's header tells it.
    pub model: Option<ShaderModel>,
    /// Format, where there is a program.
    pub format: Option<Format>,
    /// Time from the bytes to the interface.
    pub read_time: Duration,
    /// Time from the bytes to the naga module of the default target.
    pub lift_time: Duration,
    /// Time of naga's validator.
    pub validate_time: Duration,
    /// Length of the SPIR-V in bytes.
    pub spirv_bytes: usize,
    /// Why it came no farther; empty if it is valid.
    pub reason: String,
    /// The reason without what differs from file to file, for counting.
    pub group: String,
}

/// How a file ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Lifted, valid, and written as SPIR-V.
    Valid,
    /// Lifted, but naga rejects the module.
    Invalid,
    /// The lifter refuses it.
    Refused,
    /// No container, or a damaged one.
    Unreadable,
    /// Something panicked.
    Panicked,
    /// A container without a program.
    NotAProgram,
}

impl Status {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::Refused => "refused",
            Self::Unreadable => "unreadable",
            Self::Panicked => "panicked",
            Self::NotAProgram => "not-a-program",
        }
    }
}

impl Verdict {
    fn new() -> Self {
        Self {
            status: Status::Valid,
            read: false,
            reflected: false,
            lifted: false,
            stage: None,
            model: None,
            format: None,
            read_time: Duration::ZERO,
            lift_time: Duration::ZERO,
            validate_time: Duration::ZERO,
            spirv_bytes: 0,
            reason: String::new(),
            group: String::new(),
        }
    }

    /// Time from the bytes to a module that is known to be valid or not.
    pub fn time(&self) -> Duration {
        self.lift_time + self.validate_time
    }

    /// The verdict on a file that cannot be read at all.
    pub(super) fn unreadable(error: &io::Error) -> Self {
        let mut verdict = Self::new();
        verdict.stop(Status::Unreadable, error.to_string(), error.kind().to_string());
        verdict
    }

    fn stop(&mut self, status: Status, reason: String, group: String) {
        self.status = status;
        self.reason = reason;
        self.group = group;
    }

    fn refuse(&mut self, status: Status, error: &crate::Error) {
        self.stop(status, error.to_string(), error.reason());
    }

    fn reject(&mut self, what: &str, causes: &[String]) {
        let reason = format!("{what}: {}", causes.join(": "));
        // The innermost causes say what is wrong; the outer ones say where, in this module.
        let inner = causes.iter().rev().take(2).rev().map(|cause| without_numbers(cause)).collect::<Vec<_>>();
        self.stop(Status::Invalid, reason, format!("{what}: {}", inner.join(": ")));
    }
}

/// Reads, reflects, lifts, validates and writes a file for a target. Never panics: what panics within is a verdict.
pub fn judge(bytes: &[u8], target: &Target) -> Verdict {
    let mut verdict = Verdict::new();
    if let Err(panic) = panics::catch(|| pass(bytes, target, &mut verdict)) {
        let group = format!("panic: {}", without_numbers(&panic));
        verdict.stop(Status::Panicked, format!("panic: {panic}"), group);
    }
    verdict
}

/// Goes as far as it can. What `verdict` holds is right whenever this stops.
fn pass(bytes: &[u8], target: &Target, verdict: &mut Verdict) {
    let start = Instant::now();
    let container = match Container::parse(bytes) {
        Ok(container) => container,
        Err(error) => return verdict.refuse(Status::Unreadable, &error),
    };
    verdict.read = true;
    if let Ok(program) = ProgramHeader::find(&container) {
        let version = program.version();
        verdict.stage = Stage::from_kind(version.kind);
        verdict.model = Some(ShaderModel { major: version.major, minor: version.minor });
        verdict.format = Some(match program {
            ProgramHeader::Tokens(_) => Format::Dxbc,
            ProgramHeader::Bitcode(_) => Format::Dxil,
        });
    }
    match reflection::reflect(&container) {
        Ok(interface) => {
            // Functions of a library have no header that says so.
            verdict.stage = verdict.stage.or(Some(interface.stage));
            verdict.model = verdict.model.or(Some(interface.shader_model));
            verdict.format = verdict.format.or(Some(interface.format));
        }
        Err(error) if error.kind == ErrorKind::NotAProgram => return verdict.refuse(Status::NotAProgram, &error),
        Err(error) => return verdict.refuse(Status::Refused, &error),
    }
    verdict.read_time = start.elapsed();
    verdict.reflected = true;

    let start = Instant::now();
    let program = crate::lift(bytes, &LiftOptions::default());
    let lifted = program.and_then(|program| program.module(target).map(|module| (program, module)));
    verdict.lift_time = start.elapsed();
    let (program, module) = match lifted {
        Ok(lifted) => lifted,
        // A library that exports functions alone.
        Err(error) if error.kind == ErrorKind::NotAProgram => return verdict.refuse(Status::NotAProgram, &error),
        Err(error) => return verdict.refuse(Status::Refused, &error),
    };
    verdict.lifted = true;

    let start = Instant::now();
    let info = output::validate(&module, target.capabilities);
    verdict.validate_time = start.elapsed();
    let info = match info {
        Ok(info) => info,
        Err(causes) => return verdict.reject("naga rejects the module", &causes),
    };
    match output::spirv(&module, &info) {
        Ok(words) => verdict.spirv_bytes = 4 * words.len(),
        Err(causes) => return verdict.reject("naga cannot write SPIR-V", &causes),
    }

    // SPIR-V has ray tracing stages as functions; as stages of naga's they must be valid too.
    let is_ray_tracing = |stage: Stage| (Stage::RayGeneration..=Stage::Callable).contains(&stage);
    if program.interface.entry_points.iter().any(|entry| is_ray_tracing(entry.stage)) {
        let capabilities = target.capabilities | Capabilities::RAY_TRACING_PIPELINE;
        let module = match program.module(&Target { capabilities, ..target.clone() }) {
            Ok(module) => module,
            Err(error) => return verdict.refuse(Status::Refused, &error),
        };
        if let Err(causes) = output::validate(&module, capabilities) {
            verdict.reject("naga rejects the module's ray tracing stages", &causes);
        }
    }
}

/// Text with each number replaced by `#`, so that alike messages are equal.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            // Only the first line: the others show source or a whole expression.
            '\n' => break,
            _ => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_blotted() {
        assert_eq!(without_numbers("Expression [123] in 4x\nmore"), "Expression [#] in #x");
    }

    #[test]
    fn text_is_unreadable() {
        let verdict = judge(b"float4 main()", &Target::default());
        assert_eq!((verdict.status, verdict.read), (Status::Unreadable, false));
        assert!(verdict.reason.contains("DXBC"), "{}", verdict.reason);
    }
}
