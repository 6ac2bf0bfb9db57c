//! `dxshader inspect`: what a container holds and tells.

use std::{borrow::Cow, path::PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{CliError, Outcome, outline::outline, output, part_name, part_names, pdb, text};
use crate::{
    Error,
    container::{Container, Effect, FourCc, Part, PartView, Pdb, ProgramHeader, debug_name, shader_hash, yaml},
    reflection::{self, Disagreement, Interface, Stage},
};

/// Show what a container holds: parts, stage, signatures, bindings, constant layouts
#[derive(Debug, Args)]
pub struct Inspect {
    /// The container, a PDB file, or an effect of fx_5_0
    file: PathBuf,
    /// How to show it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with_all = ["format", "yaml"])]
    json: bool,
    /// Short for --format yaml
    #[arg(long, conflicts_with_all = ["format", "part"])]
    yaml: bool,
    /// Show the contents of the parts of that name instead
    #[arg(long, value_name = "NAME", value_parser = part_name)]
    part: Option<FourCc>,
    /// Folder in which to look for the shader's PDB file, before its own folder
    #[arg(long, value_name = "DIR")]
    pdb_folder: Vec<PathBuf>,
}

/// How `inspect` shows a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    #[default]
    Text,
    /// RON
    Ron,
    /// JSON: an object
    Json,
    /// YAML: the document of LLVM's obj2yaml, which yaml2obj reads
    Yaml,
}

/// A container, for people and tools.
#[derive(Clone, Debug, Serialize)]
pub struct Inspection {
    /// Bytes of the container.
    pub size: usize,
    /// Bytes after it in the file.
    pub trailing: usize,
    /// Version of the container's format.
    pub version: String,
    /// State of the digest: `ok`, `zero`, `bypass`, `preview`, `stale`.
    pub digest: &'static str,
    /// Hash of the program, in hexadecimal.
    pub shader_hash: Option<String>,
    /// Whether the hash is that of the bitcode: `ok`, `stale`, or `unknown` where what it is the hash of is not there.
    pub hash_state: Option<&'static str>,
    /// Name of the file with the debug information.
    pub debug_name: Option<String>,
    /// The PDB file that was found: its path, or the part that holds it.
    pub pdb: Option<String>,
    /// Names of the source files that the PDB file holds.
    pub sources: Vec<String>,
    /// The parts, in file order.
    pub parts: Vec<InspectedPart>,
    /// `vs`, `ps`, `gs`, `hs`, `ds`, `cs`, `ms`, `as`, `lib`; none without a program.
    pub stage: Option<&'static str>,
    /// Shader Model, as `5.0`; none without a program.
    pub model: Option<String>,
    /// Version of DXIL, as `1.5`.
    pub dxil_version: Option<String>,
    /// Entry points with their signatures and facts, bindings with their layouts; none if it cannot be read.
    pub interface: Option<Interface>,
    /// What one part says of the program and another contradicts.
    pub disagreements: Vec<Disagreement>,
    /// Why there is no interface, or something else is missing.
    pub reason: Option<String>,
}

/// A part of a container.
#[derive(Clone, Debug, Serialize)]
pub struct InspectedPart {
    /// Name.
    pub name: String,
    /// Byte offset of its contents in the container.
    pub offset: usize,
    /// Bytes of its contents.
    pub size: usize,
}

impl Inspection {
    /// Looks at a container. What contradicts the format below the part table is a [reason](Inspection::reason).
    ///
    /// # Errors
    /// As for [`Container::parse`].
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        let container = Container::parse(bytes)?;
        let program = ProgramHeader::find(&container).ok();
        let version = program.map(|program| program.version());
        let reflected = reflection::reflect_checked(&container);
        // Functions of a library have no header that says so.
        let functions = reflected.as_ref().ok().map(|reflection| reflection.interface.stage);
        let hash = shader_hash(&container);
        let name = debug_name(&container);
        let errors = [reflected.as_ref().err(), hash.as_ref().err(), name.as_ref().err()];
        let reason = errors.into_iter().flatten().next().map(ToString::to_string);
        Ok(Self {
            size: container.bytes().len(),
            trailing: container.trailing().len(),
            version: format!("{}.{}", container.version().0, container.version().1),
            digest: container.digest_state().name(),
            hash_state: hash
                .as_ref()
                .ok()
                .copied()
                .flatten()
                .and_then(|hash| Some(hash.state(&container).ok()?.name())),
            shader_hash: hash.ok().flatten().map(|hash| hash.digest.iter().map(|byte| format!("{byte:02x}")).collect()),
            pdb: None,
            sources: Vec::new(),
            debug_name: name.ok().flatten().map(Cow::into_owned),
            parts: container
                .parts()
                .map(|part| InspectedPart { name: part.name.to_string(), offset: part.offset, size: part.data.len() })
                .collect(),
            stage: version.and_then(|version| Stage::from_kind(version.kind)).or(functions).map(Stage::profile),
            model: version
                .map(|version| format!("{}.{}", version.major, version.minor))
                .or_else(|| Some(reflected.as_ref().ok()?.interface.shader_model.to_string())),
            dxil_version: match program {
                Some(ProgramHeader::Bitcode(bitcode)) => {
                    Some(format!("{}.{}", bitcode.dxil_version.0, bitcode.dxil_version.1))
                }
                _ => None,
            },
            reason,
            disagreements: reflected.as_ref().map_or_else(|_| Vec::new(), |it| it.disagreements.clone()),
            interface: reflected.ok().map(|reflection| reflection.interface),
        })
    }
}

impl Inspection {
    /// Adds what a PDB file of the shader tells: sources, and names where the shader has none.
    pub fn add_pdb(&mut self, place: String, pdb: &Pdb<'_>, shader: &Container<'_>) {
        self.pdb = Some(place);
        self.sources = pdb.sources.iter().map(|source| source.name.clone()).collect();
        let unnamed = |interface: &Interface| interface.bindings.iter().any(|binding| binding.name.is_none());
        if let Some(interface) = &mut self.interface {
            interface.add_names(pdb);
        }
        if self.interface.as_ref().is_some_and(unnamed)
            && let Ok(Some(named)) = pdb.with_names(shader)
            && let Ok(interface) = crate::reflect(&named)
        {
            self.interface = Some(interface);
        }
    }
}

impl Inspect {
    /// Carries the command out. A container without a program is shown, and is a success; one whose contents contradict
    /// the format is shown as far as can be.
    ///
    /// # Errors
    /// The file cannot be read, or is neither a container nor a PDB file.
    pub fn run(&self) -> Result<Outcome, CliError> {
        let bytes = output::read(&self.file)?;
        if let Some(name) = self.part {
            return self.show_parts(&pdb::container_bytes(&self.file, &bytes)?, name);
        }
        if self.format() == Format::Yaml {
            return self.show_yaml(&pdb::container_bytes(&self.file, &bytes)?);
        }
        let refused = |source| CliError::Shader { path: self.file.clone(), source };
        if Pdb::recognizes(&bytes) {
            self.show(&Pdb::parse(&bytes).map_err(refused)?, outline)?;
            return Ok(Outcome::Success);
        }
        if Effect::recognizes(&bytes) {
            let part = Part { name: FourCc::FX10, offset: 0, data: &bytes };
            self.show(&Effect::parse(part).map_err(refused)?, outline)?;
            return Ok(Outcome::Success);
        }
        let mut inspection = Inspection::new(&bytes).map_err(refused)?;
        let container = Container::parse(&bytes).map_err(refused)?;
        let beside = pdb::beside(&self.file, &container, &self.pdb_folder);
        if let Some((path, bytes)) = &beside {
            inspection.add_pdb(path.display().to_string(), &Pdb::parse(bytes).map_err(refused)?, &container);
        } else if let Ok(Some(pdb)) = Pdb::embedded(&container) {
            inspection.add_pdb("within the container".into(), &pdb, &container);
        }
        self.show(&inspection, |inspection| Ok(text::describe(inspection)))?;
        let broken = inspection.interface.is_none() && inspection.stage.is_some();
        Ok(if broken { Outcome::Failed } else { Outcome::Success })
    }

    fn format(&self) -> Format {
        match self {
            Self { json: true, .. } => Format::Json,
            Self { yaml: true, .. } => Format::Yaml,
            Self { format, .. } => *format,
        }
    }

    /// Shows the document of obj2yaml, which tells what the bytes say and nothing that follows from it.
    fn show_yaml(&self, bytes: &[u8]) -> Result<Outcome, CliError> {
        let refused = |source| CliError::Shader { path: self.file.clone(), source };
        output::write(None, yaml(&Container::parse(bytes).map_err(refused)?).as_bytes())?;
        Ok(Outcome::Success)
    }

    /// Shows all parts of a name.
    fn show_parts(&self, bytes: &[u8], name: FourCc) -> Result<Outcome, CliError> {
        if self.format() == Format::Yaml {
            return Err(CliError::Usage("the document of obj2yaml is of a whole container: leave out --part".into()));
        }
        let refused = |source| CliError::Shader { path: self.file.clone(), source };
        let container = Container::parse(bytes).map_err(refused)?;
        let mut found = false;
        for part in container.parts().filter(|part| part.name == name) {
            found = true;
            self.show(&PartView::read(&container, part).map_err(refused)?, outline)?;
        }
        if found {
            return Ok(Outcome::Success);
        }
        Err(CliError::Output {
            path: self.file.clone(),
            what: format!("there is no part {name}, but {}", part_names(&container)),
        })
    }

    /// Writes a value in the wanted form.
    fn show<T: Serialize>(
        &self,
        value: &T,
        describe: impl FnOnce(&T) -> serde_json::Result<String>,
    ) -> Result<(), CliError> {
        let unsaid = |what: String| CliError::Output { path: self.file.clone(), what };
        let format = self.format();
        let mut text = match format {
            // Other documents than containers' have no vocabulary there.
            Format::Text | Format::Yaml => describe(value).map_err(|error| unsaid(error.to_string()))?,
            Format::Ron => {
                let pretty = ron::ser::PrettyConfig::default();
                ron::ser::to_string_pretty(value, pretty).map_err(|error| unsaid(error.to_string()))?
            }
            Format::Json => serde_json::to_string_pretty(value).map_err(|error| unsaid(error.to_string()))?,
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if format == Format::Text { output::print(&text) } else { output::write(None, text.as_bytes()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBUG: &[u8] = include_bytes!("../../tests/fixtures/reflection/debug.dxil");
    const RESOURCES: &[u8] = include_bytes!("../../tests/fixtures/reflection/resources.dxbc");

    #[test]
    fn json_is_an_object_with_parts() {
        let inspection = Inspection::new(RESOURCES).unwrap();
        let json = serde_json::to_value(&inspection).unwrap();
        assert_eq!(json["parts"][0], serde_json::json!({ "name": "RDEF", "offset": 0x3c, "size": 1724 }));
        assert_eq!((json["stage"].as_str(), json["model"].as_str()), (Some("cs"), Some("5.0")));
        assert_eq!(json["digest"], "ok");
        assert_eq!(json["interface"]["bindings"].as_array().unwrap().len(), 21);
    }

    #[test]
    fn ron_is_written_and_text_names_everything() {
        let inspection = Inspection::new(RESOURCES).unwrap();
        assert!(ron::to_string(&inspection).is_ok());
        let text = anstream::adapter::strip_str(&text::describe(&inspection)).to_string();
        for line in ["cs_5_0, 4464 bytes, digest ok", "thread group 8 x 4 x 2", "RWBuffer<uint1>, globally coherent"] {
            assert!(text.contains(line), "{line}:\n{text}");
        }
    }

    #[test]
    fn identity() {
        let inspection = Inspection::new(DEBUG).unwrap();
        assert_eq!(inspection.shader_hash.as_deref(), Some("80799b706abbf322584eaa3ad5b94b1e"));
        assert_eq!(inspection.debug_name.as_deref(), Some("debug.pdb"));
    }

    #[test]
    fn contents_that_contradict_the_format_are_a_reason() {
        let mut bytes = RESOURCES.to_vec();
        let program = Container::parse(RESOURCES).unwrap().part(crate::container::FourCc::SHEX).unwrap().offset;
        bytes[program + 4..program + 8].fill(0xff);
        let inspection = Inspection::new(&bytes).unwrap();
        assert_eq!((inspection.digest, inspection.interface.is_none()), ("stale", true));
        assert!(inspection.reason.unwrap().contains("SHEX"));
    }
}
