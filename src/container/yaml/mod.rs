//! Containers as the YAML documents of LLVM's `obj2yaml`, which `yaml2obj` makes containers of.
//!
//! The vocabulary is that of LLVM 22 (`llvm/ObjectYAML/DXContainerYAML.h`, whose names come from
//! `llvm/BinaryFormat/DXContainerConstants.def`): the bodies of `DXIL`, `SFI0`, `HASH`, `PSV0`, `ISG1`, `OSG1`, `PSG1` and
//! `RTS0`. Of other parts LLVM knows name and size alone.

mod document;
mod pipeline_state;
mod root_signature;

use document::{Map, Node, general, write};

use super::{Bitcode, Container, FourCc, Part, Signature};
use crate::{Error, Result};

/// A container as a document that `yaml2obj` reads, equal to that of `obj2yaml` for files that LLVM reads.
///
/// A part whose contents contradict its format, or hold a number that LLVM has no name for, is written as a part that LLVM
/// does not know, by name and size, with a comment that says why.
pub fn yaml(container: &Container<'_>) -> String {
    let mut header = Map::default();
    header.set("Hash", Node::Bytes(&container.bytes()[4..20]));
    let mut version = Map::default();
    version.set("Major", container.version().0);
    version.set("Minor", container.version().1);
    header.set("Version", version);
    header.set("FileSize", container.bytes().len());
    header.set("PartCount", container.parts().len());
    header.set("PartOffsets", Node::row(container.parts().map(|part| part.offset - 8)));

    let mut document = Map::default();
    document.set("Header", header);
    document.set("Parts", container.parts().map(|part| part_map(container, part)).collect::<Vec<_>>());
    write("!dxcontainer", &document)
}

fn part_map<'a>(container: &Container<'a>, part: Part<'a>) -> Map<'a> {
    let mut map = Map::default();
    map.set("Name", Node::Text(String::from_utf8_lossy(&part.name.0).into_owned().into()));
    map.set("Size", part.data.len());
    match body(container, part) {
        Ok(Some((key, body))) => map.set(key, body),
        Ok(None) => {}
        Err(error) => map.comment(error.to_string()),
    }
    map
}

/// The contents of a part that LLVM knows, and their key.
fn body<'a>(container: &Container<'a>, part: Part<'a>) -> Result<Option<(&'static str, Map<'a>)>> {
    Ok(match part.name {
        FourCc::DXIL => Some(("Program", program(part)?)),
        FourCc::SFI0 => flags(part)?.map(|flags| ("Flags", flags)),
        FourCc::HASH => hash(part)?.map(|hash| ("Hash", hash)),
        FourCc::PSV0 => Some(("PSVInfo", pipeline_state::info(container, part)?)),
        FourCc::ISG1 | FourCc::OSG1 | FourCc::PSG1 => Some(("Signature", signature(part)?)),
        FourCc::RTS0 => Some(("RootSignature", root_signature::root_signature(part)?)),
        _ => None,
    })
}

/// The name of a number, which must have one: `yaml2obj` takes no other.
fn named(part: &Part<'_>, offset: usize, name: Option<&'static str>, what: &str) -> Result<&'static str> {
    let unnamed =
        || Error::unsupported(format!("LLVM has no name for this {what}")).in_part(part.name).at_offset(offset);
    name.ok_or_else(unnamed)
}

fn program(part: Part<'_>) -> Result<Map<'_>> {
    let program = Bitcode::parse(part)?;
    let mut map = Map::default();
    map.set("MajorVersion", program.version.major);
    map.set("MinorVersion", program.version.minor);
    map.set("ShaderKind", program.version.kind);
    map.set("Size", part.u32_at(4)?);
    map.set("DXILMajorVersion", program.dxil_version.0);
    map.set("DXILMinorVersion", program.dxil_version.1);
    map.set("DXILSize", program.bytes.len());
    map.set("DXIL", Node::Bytes(program.bytes));
    Ok(map)
}

/// LLVM's names of the bits of `SFI0`, of which the last is none yet.
const FEATURES: [&str; 34] = [
    "Doubles",
    "ComputeShadersPlusRawAndStructuredBuffers",
    "UAVsAtEveryStage",
    "Max64UAVs",
    "MinimumPrecision",
    "DX11_1_DoubleExtensions",
    "DX11_1_ShaderExtensions",
    "LEVEL9ComparisonFiltering",
    "TiledResources",
    "StencilRef",
    "InnerCoverage",
    "TypedUAVLoadAdditionalFormats",
    "ROVs",
    "ViewportAndRTArrayIndexFromAnyShaderFeedingRasterizer",
    "WaveOps",
    "Int64Ops",
    "ViewID",
    "Barycentrics",
    "NativeLowPrecision",
    "ShadingRate",
    "Raytracing_Tier_1_1",
    "SamplerFeedback",
    "AtomicInt64OnTypedResource",
    "AtomicInt64OnGroupShared",
    "DerivativesInMeshAndAmpShaders",
    "ResourceDescriptorHeapIndexing",
    "SamplerDescriptorHeapIndexing",
    "RESERVED",
    "AtomicInt64OnHeapResource",
    "AdvancedTextureOps",
    "WriteableMSAATextures",
    "SampleCmpWithGradientOrBias",
    "ExtendedCommandInfo",
    "NextUnusedBit",
];

/// Flags; LLVM says nothing where there are none.
fn flags(part: Part<'_>) -> Result<Option<Map<'_>>> {
    let flags = u64::from(part.u32_at(0)?) | u64::from(part.u32_at(4)?) << 32;
    if flags >> FEATURES.len() != 0 {
        return Err(Error::unsupported(format!("LLVM has no names for these flags: {flags:#x}")).in_part(part.name));
    }
    let mut map = Map::default();
    for (bit, name) in FEATURES.into_iter().enumerate() {
        map.set(name, flags >> bit & 1 == 1);
    }
    Ok((flags != 0).then_some(map))
}

/// The hash; LLVM says nothing of one that is all zeros.
fn hash(part: Part<'_>) -> Result<Option<Map<'_>>> {
    let (flags, digest) = (part.u32_at(0)?, part.bytes_at(4, 16)?);
    let mut map = Map::default();
    map.set("IncludesSource", flags & 1 != 0);
    map.set("Digest", Node::Bytes(digest));
    Ok((flags != 0 || digest.iter().any(|&byte| byte != 0)).then_some(map))
}

/// A signature. LLVM shows both masks as they are stored.
fn signature(part: Part<'_>) -> Result<Map<'_>> {
    let signature = Signature::parse(part)?;
    let mut parameters = Vec::new();
    for (record, offset) in signature.records().zip(signature.offsets()) {
        let record = record?;
        let mut map = Map::default();
        map.set("Stream", record.stream);
        map.set("Name", Node::Text(record.semantic));
        map.set("Index", record.semantic_index);
        map.set("SystemValue", named(&part, offset + 12, record.system_value.name(), "system value")?);
        map.set("CompType", named(&part, offset + 16, record.component_type.name(), "component type")?);
        map.set("Register", record.register);
        map.set("Mask", part.u8_at(offset + 24)?);
        map.set("ExclusiveMask", part.u8_at(offset + 25)?);
        map.set("MinPrecision", named(&part, offset + 28, record.min_precision.name(), "minimum precision")?);
        parameters.push(map);
    }
    let mut map = Map::default();
    map.set("Parameters", parameters);
    Ok(map)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::container::ContainerWriter;

    /// The documents that LLVM's own tool made: see tests/fixtures/container/obj2yaml.sh.
    #[test]
    fn documents_are_those_of_llvm() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let mut count = 0;
        for folder in ["container", "mesh", "reflection"] {
            for entry in fs::read_dir(fixtures.join(folder)).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_none_or(|extension| extension != "yaml") {
                    continue;
                }
                let bytes = fs::read(path.with_extension("")).unwrap();
                let expected = fs::read_to_string(&path).unwrap();
                let document = yaml(&Container::parse(&bytes).unwrap());
                let differing = document.lines().zip(expected.lines()).find(|(ours, theirs)| ours != theirs);
                assert!(document == expected, "{}: {differing:?}", path.display());
                count += 1;
            }
        }
        assert_eq!(count, 10);
    }

    #[test]
    fn what_llvm_cannot_say_is_a_comment() {
        let mut writer = ContainerWriter::new();
        writer.push(FourCc::SFI0, &[0, 0, 0, 0, 4, 0, 0, 0][..]);
        writer.push(FourCc::HASH, &[0; 3][..]);
        let bytes = writer.write().unwrap();
        let document = yaml(&Container::parse(&bytes).unwrap());
        let expected = "Parts:
  - Name:            SFI0
    Size:            8
    # unsupported: part SFI0: LLVM has no names for these flags: 0x400000000
  - Name:            HASH
    Size:            3
    # malformed: part HASH, offset 0x0: the part ends early: 4 bytes wanted of 3
...
";
        assert!(document.ends_with(expected), "{document}");
    }
}
