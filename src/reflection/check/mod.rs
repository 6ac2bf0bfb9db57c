//! Checks what a container's parts say of one program against each other.
//!
//! Most facts are told several times: by the program itself (tokens, metadata), by the signature parts, by `RDEF`, `PSV0`,
//! `RDAT`, `SFI0` and `STAT`. An [`Interface`] is what the best source says, the program first. Tools that edit containers,
//! and compilers with a fault, leave the others behind: [`reflect_checked`] names each difference.

mod library;
mod pipeline_state;
mod program;
mod signatures;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Interface, Stage, bitcode_parts, read, tokens_parts, with_root_signature};
use crate::{
    Result,
    container::{Container, FourCc, ProgramHeader},
    dxbc, dxil,
};

/// An interface, and in what its sources disagree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reflection {
    /// The interface.
    pub interface: Interface,
    /// What one part says and another contradicts.
    pub disagreements: Vec<Disagreement>,
}

/// A fact that two sources tell differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disagreement {
    /// The fact: `thread group size`, `component type of input TEXCOORD0`.
    pub fact: String,
    /// What the better source says; the interface has this.
    pub taken: Claim,
    /// What the other says.
    pub other: Claim,
}

/// What a part says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The part.
    pub part: FourCc,
    /// The value.
    pub value: String,
}

/// `fact: PART says value, OTHER says value`.
impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fact, taken, other } = self;
        write!(f, "{fact}: {} says {}, {} says {}", taken.part, taken.value, other.part, other.value)
    }
}

/// [`reflect`](super::reflect()), together with what the sources disagree in.
///
/// # Errors
/// As for [`reflect`](super::reflect()).
pub fn reflect_checked(container: &Container<'_>) -> Result<Reflection> {
    if let Some(interface) = read::functions(container)? {
        // Parameters are told once.
        return Ok(Reflection { interface, disagreements: Vec::new() });
    }
    let program = ProgramHeader::find(container)?;
    let (declared, interface) = match program {
        ProgramHeader::Tokens(_) => {
            let mut interface = tokens_parts(container, &program)?;
            let mut declared = Interface::new(interface.format, interface.shader_model, interface.stage);
            let part = program.part();
            let tokens = dxbc::decode(part.data).map_err(|error| error.in_part(part.name))?;
            dxbc::complete(&tokens, &mut declared);
            dxbc::complete(&tokens, &mut interface);
            (declared, interface)
        }
        ProgramHeader::Bitcode(_) => {
            let declared = dxil::reflect(container)?;
            let interface = bitcode_parts(container, &program, declared.clone())?;
            (declared, interface)
        }
    };
    let interface = with_root_signature(container, interface)?;
    let mut checker = Checker { program: program.part().name, disagreements: Vec::new() };
    checker.program(container, &program, &declared)?;
    if declared.stage == Stage::Library {
        checker.library(container, &interface)?;
    } else {
        checker.signatures(container, &declared)?;
        checker.pipeline_state(container, &program, &declared)?;
    }
    Ok(Reflection { interface, disagreements: checker.disagreements })
}

/// Collects disagreements with the program.
struct Checker {
    /// Part of the program.
    program: FourCc,
    disagreements: Vec<Disagreement>,
}

impl Checker {
    /// What the program and a part say of one fact.
    fn compare<T: PartialEq + fmt::Debug>(&mut self, part: FourCc, fact: impl Into<String>, program: T, other: T) {
        if program != other {
            let claim = |part, value: T| Claim { part, value: format!("{value:?}") };
            self.disagreements.push(Disagreement {
                fact: fact.into(),
                taken: claim(self.program, program),
                other: claim(part, other),
            });
        }
    }

    /// The same, if both say anything.
    fn compare_known<T: PartialEq + fmt::Debug>(
        &mut self,
        part: FourCc,
        fact: impl Into<String>,
        program: Option<T>,
        other: Option<T>,
    ) {
        if let (Some(program), Some(other)) = (program, other) {
            self.compare(part, fact, program, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::ContainerWriter;

    const PIXEL: &[u8] = include_bytes!("../../../tests/fixtures/reflection/resources.dxil");
    const GEOMETRY: &[u8] = include_bytes!("../../../tests/fixtures/reflection/streams.dxbc");
    const TOKENS: &[u8] = include_bytes!("../../../tests/fixtures/reflection/resources.dxbc");
    const VARYINGS: &[u8] = include_bytes!("../../../tests/fixtures/reflection/varyings.dxil");
    const LIBRARY: &[u8] = include_bytes!("../../../tests/fixtures/container/library.dxil");

    /// What disagrees once a word of a part is another, at an offset in the part.
    fn changed(bytes: &[u8], name: FourCc, offset: usize, word: u32) -> Vec<String> {
        let container = Container::parse(bytes).unwrap();
        let mut data = container.part(name).unwrap().data.to_vec();
        data[offset..offset + 4].copy_from_slice(&word.to_le_bytes());
        let bytes = ContainerWriter::from_container(&container).set(name, &data).write().unwrap();
        let reflection = reflect_checked(&Container::parse(&bytes).unwrap()).unwrap();
        reflection.disagreements.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_agrees_is_not_told() {
        for bytes in [PIXEL, GEOMETRY, TOKENS, VARYINGS, LIBRARY] {
            let container = Container::parse(bytes).unwrap();
            let reflection = reflect_checked(&container).unwrap();
            assert_eq!(reflection.disagreements, []);
            assert_eq!(reflection.interface, crate::reflect(bytes).unwrap());
        }
    }

    #[test]
    fn each_part_is_checked() {
        // The first word of `SFI0`; the thread group in `PSVRuntimeInfo2`; the class of a resource in `PSV0`.
        let features = changed(PIXEL, FourCc::SFI0, 0, 1 << 14);
        assert!(features[0].contains("SFI0 says WaveOps"), "{features:?}");
        let group = changed(PIXEL, FourCc::PSV0, 4 + 36, 77);
        assert_eq!(group, ["thread group size: DXIL says [8, 4, 2], PSV0 says [77, 4, 2]"]);
        // The register of the first element of a signature.
        let register = changed(VARYINGS, FourCc::ISG1, 8 + 20, 9);
        assert!(register[0].starts_with("register of input ") && register[0].ends_with("ISG1 says Some(9)"));
        // fxc's count of the vertices that a geometry shader emits.
        let vertices = changed(GEOMETRY, FourCc::STAT, 4 * 25, 99);
        assert!(vertices[0].ends_with("STAT says 99"), "{vertices:?}");
        // The payload of the first function: after its two names, two lists and its kind.
        let container = Container::parse(LIBRARY).unwrap();
        let data = container.part(FourCc::RDAT).unwrap().data;
        let function = data.windows(4).enumerate().skip(8).find_map(|(at, window)| {
            (window == 4u32.to_le_bytes() && data[at + 8..at + 12] == 3u32.to_le_bytes()).then_some(at + 16)
        });
        let payload = changed(LIBRARY, FourCc::RDAT, function.unwrap() + 20, 40);
        assert!(payload[0].starts_with("bytes of payload of closest: DXIL says 16, RDAT says 40"), "{payload:?}");
    }

    #[test]
    fn descriptions_of_resources_are_checked() {
        // The bindings' table begins at the offset in the header's fourth word; a record's type is its second word.
        let data = Container::parse(TOKENS).unwrap().part(FourCc::RDEF).unwrap().data;
        let table = u32::from_le_bytes(data[12..16].try_into().unwrap()) as usize;
        let count = u32::from_le_bytes(data[8..12].try_into().unwrap()) as usize;
        let raw = (0..count).map(|index| table + 32 * index + 4).find(|&at| data[at] == 7).unwrap();
        let kind = changed(TOKENS, FourCc::RDEF, raw, 12);
        assert!(kind[0].starts_with("kind of t") && kind[0].contains("AccelerationStructure"), "{kind:?}");
    }
}
