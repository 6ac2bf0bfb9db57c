//! `dxshader lift`: a shader in another language.

use std::{io::IsTerminal, path::PathBuf};

use clap::{Args, ValueEnum};
use naga::valid::Capabilities;

use super::{CliError, Outcome, output, target::TargetArgs};
use crate::{LiftOptions, Target, lift::ClassChoice};

/// Lift a compiled shader and write it in another language
#[derive(Debug, Args)]
pub struct Lift {
    /// The shader: a DXBC or DXIL container
    file: PathBuf,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    to: Language,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Of a library, the entry point or exported function to lift [default: all entry points]
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Fill an interface with a class instance [default: its first class]
    ///
    /// INTERFACE is a name, or one of an array: light[2]. INSTANCE is the name of an instance or of a class: sun, lamps[1],
    /// DirectionalLight; or a class with the registers of its data: DirectionalLight(cb1[4], t2, s0).
    #[arg(long = "class", value_name = "INTERFACE=INSTANCE", value_parser = class)]
    classes: Vec<(String, ClassChoice)>,
    #[command(flatten)]
    target: TargetArgs,
}

/// A choice of `--class`.
fn class(text: &str) -> Result<(String, ClassChoice), String> {
    let (interface, instance) = text.split_once('=').ok_or("not of the form INTERFACE=INSTANCE")?;
    let instance = instance.parse().map_err(|error: crate::Error| error.to_string())?;
    Ok((interface.trim().to_owned(), instance))
}

/// What `lift` writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// WGSL
    #[default]
    Wgsl,
    /// SPIR-V, binary
    Spirv,
    /// The naga module, as debug text
    Naga,
    /// The lifter's intermediate representation, as text
    Ir,
}

impl Lift {
    /// Carries the command out.
    ///
    /// # Errors
    /// The file cannot be read, is refused, or cannot be written in the language.
    pub fn run(&self) -> Result<Outcome, CliError> {
        let bytes = output::read(&self.file)?;
        if self.to == Language::Spirv && self.output.is_none() && std::io::stdout().is_terminal() {
            return Err(CliError::Usage("SPIR-V is binary: name a file with -o, or redirect the output".into()));
        }
        let options = LiftOptions { entry: self.entry.clone(), classes: self.classes.iter().cloned().collect() };
        let text = translate(&bytes, self.to, &options, &self.target.target()).map_err(|error| match error {
            Refusal::Lifter(source) => CliError::Shader { path: self.file.clone(), source },
            Refusal::Naga(what) => CliError::Output { path: self.file.clone(), what },
        })?;
        output::write(self.output.as_deref(), &text)?;
        Ok(Outcome::Success)
    }
}

/// Why a shader cannot be translated.
#[derive(Debug)]
pub enum Refusal {
    /// The lifter refuses it.
    Lifter(crate::Error),
    /// naga refuses the lifted module.
    Naga(String),
}

/// A container's program in another language, for a target. Ray tracing stages are naga's in the languages that have them.
///
/// # Errors
/// The lifter refuses the bytes, or naga the lifted module.
pub fn translate(bytes: &[u8], language: Language, options: &LiftOptions, target: &Target) -> Result<Vec<u8>, Refusal> {
    let program = crate::lift(bytes, options).map_err(Refusal::Lifter)?;
    if language == Language::Ir {
        let program = program.lowered(target.capabilities).map_err(Refusal::Lifter)?;
        return Ok(program.ir.display(&program.interface).to_string().into_bytes());
    }
    let mut target = target.clone();
    if matches!(language, Language::Wgsl | Language::Naga) {
        target.capabilities |= Capabilities::RAY_TRACING_PIPELINE;
    }
    let module = program.module(&target).map_err(Refusal::Lifter)?;
    if language == Language::Naga {
        return Ok(format!("{module:#?}\n").into_bytes());
    }
    let told = |what: &str, causes: Vec<String>| Refusal::Naga(format!("{what}: {}", causes.join(": ")));
    let info = output::validate(&module, target.capabilities)
        .map_err(|causes| told("naga rejects the lifted module", causes))?;
    if language == Language::Spirv {
        let words = output::spirv(&module, &info).map_err(|causes| told("naga cannot write SPIR-V", causes))?;
        return Ok(words.into_iter().flat_map(u32::to_le_bytes).collect());
    }
    let text = output::wgsl(&module, &info).map_err(|causes| told("naga cannot write WGSL", causes))?;
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ray_tracing_stages_are_nagas_where_the_language_has_them() {
        let bytes = include_bytes!("../../tests/fixtures/dxil/ray_stages.dxil");
        let translate = |language| translate(bytes, language, &LiftOptions::default(), &Target::default()).unwrap();
        let text = String::from_utf8(translate(Language::Wgsl)).unwrap();
        for attribute in ["@ray_generation", "@miss", "@any_hit", "@closest_hit", "@incoming_payload(missed_payload)"] {
            assert!(text.contains(attribute), "{attribute}:\n{text}");
        }
        // naga's SPIR-V writer has no such stages: functions.
        let words = translate(Language::Spirv);
        assert_eq!(words[..4], 0x0723_0203_u32.to_le_bytes());
    }
}
