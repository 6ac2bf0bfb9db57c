//! PDB files: where compilers put sources and debug information.
//!
//! dxc puts a container with `ILDB`, `SRCI` or `PDBI`, `ILDN` and `HASH` into stream 5 of a [multi-stream file](Msf). fxc
//! puts each source file into a stream of its own, which stream 1 names. A PDB file lies beside the shader, or within it:
//! in `PRIV` (`dxc -Qpdb_in_private`) or `SPDB` (`fxc -Zi`).

mod msf;
mod search;
mod symbols;
mod types;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use msf::Msf;
pub use symbols::{ConstantName, ResourceName};
pub use types::{DebugMember, DebugType, DebugTypes};

use super::{Container, ContainerWriter, DebugName, FourCc, HexBytes, PdbInfoPart, ShaderHash, SourceInfo};
use crate::Result;

/// A PDB file of a shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdb<'a> {
    container: Option<Cow<'a, [u8]>>,
    /// Names of the streams that stream 1 lists, and their numbers.
    pub streams: Vec<(String, u32)>,
    /// The source files: with dxc that with the entry point first.
    pub sources: Vec<SourceFile>,
    /// Names of resources, which fxc's files have.
    pub resources: Vec<ResourceName>,
    /// Names of constants, which fxc's files have.
    pub constants: Vec<ConstantName>,
    /// Their types.
    pub types: DebugTypes,
    /// The compiler's arguments: names and values, either of which may be empty.
    pub arguments: Vec<(String, String)>,
    /// Name of the file, as the shader knows it.
    pub name: Option<String>,
    /// Hash of the program that it belongs to.
    pub hash: Option<ShaderHash>,
}

/// A source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its name, as the compiler was given it.
    pub name: String,
    /// Its text, if it is there.
    pub contents: Option<String>,
}

/// The stream that names others.
const NAMES: usize = 1;
/// The stream in which dxc puts its container (`kDataStreamIndex`).
const CONTAINER: usize = 5;
/// What fxc puts before the name of a source file.
const SOURCES: &str = "/src/files/";

impl<'a> Pdb<'a> {
    /// The bytes begin like a PDB file.
    pub fn recognizes(bytes: &[u8]) -> bool {
        Msf::recognizes(bytes)
    }

    /// Reads a PDB file.
    ///
    /// # Errors
    /// It is no multi-stream file, or its container or a part of that contradicts the format.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let file = Msf::parse(bytes)?;
        let (resources, constants) = symbols::read(&file)?;
        let mut pdb = Self {
            container: None,
            streams: names(&file.stream(NAMES)?).unwrap_or_default(),
            sources: Vec::new(),
            resources,
            constants,
            types: DebugTypes::parse(&file.stream(types::STREAM)?),
            arguments: Vec::new(),
            name: None,
            hash: None,
        };
        for (name, stream) in &pdb.streams {
            if let Some(name) = name.strip_prefix(SOURCES) {
                let contents = Some(String::from_utf8_lossy(&file.stream(*stream as usize)?).into_owned());
                pdb.sources.push(SourceFile { name: name.to_owned(), contents });
            }
        }
        pdb.sources.sort_by(|a, b| a.name.cmp(&b.name));
        let stream = file.stream(CONTAINER)?;
        if Container::recognizes(&stream) {
            pdb.read_container(&stream)?;
            pdb.container = Some(stream);
        }
        Ok(pdb)
    }

    /// Reads the PDB file that a shader holds in its private data or debug information, if it holds one.
    ///
    /// # Errors
    /// As for [`Pdb::parse`].
    pub fn embedded(container: &Container<'a>) -> Result<Option<Self>> {
        let mut parts = container.parts().filter(|part| [FourCc::PRIV, FourCc::SPDB].contains(&part.name));
        match parts.find(|part| Self::recognizes(part.data)) {
            Some(part) => Self::parse(part.data)
                .map(Some)
                .map_err(|error| part.malformed(0, format!("the PDB file within is damaged: {error}"))),
            None => Ok(None),
        }
    }

    /// The bytes of dxc's container.
    pub fn container_bytes(&self) -> Option<&[u8]> {
        self.container.as_deref()
    }

    /// dxc's container: debug information and sources.
    ///
    /// # Errors
    /// As for [`Container::parse`].
    pub fn container(&self) -> Result<Option<Container<'_>>> {
        self.container_bytes().map(Container::parse).transpose()
    }

    /// The shader with the program that has debug information in place of its own, and so with names, if the file has one.
    ///
    /// # Errors
    /// The file's container contradicts the format, or the shader cannot be written.
    pub fn with_names(&self, shader: &Container<'_>) -> Result<Option<Vec<u8>>> {
        let Some(container) = self.container()? else { return Ok(None) };
        let Some(program) = container.part(FourCc::ILDB) else { return Ok(None) };
        ContainerWriter::from_container(shader).set(FourCc::DXIL, program.data).write().map(Some)
    }

    fn read_container(&mut self, bytes: &[u8]) -> Result<()> {
        let container = Container::parse(bytes)?;
        let owned = |text: &Cow<'_, str>| text.clone().into_owned();
        if let Some(part) = container.part(FourCc::SRCI) {
            let info = SourceInfo::parse(part)?;
            self.sources.extend(
                info.sources.iter().map(|source| SourceFile {
                    name: owned(&source.name),
                    contents: source.contents.as_ref().map(owned),
                }),
            );
            self.arguments = info.arguments.iter().map(|(name, value)| (owned(name), owned(value))).collect();
        }
        if let Some(part) = container.part(FourCc::PDBI)
            && let Some(info) = PdbInfoPart::parse(part)?.info()?
        {
            self.sources.extend(
                info.sources
                    .iter()
                    .map(|source| SourceFile { name: owned(&source.name), contents: Some(owned(&source.contents)) }),
            );
            let pairs = info.arguments.chunks(2);
            self.arguments = pairs.map(|pair| (owned(&pair[0]), pair.get(1).map(owned).unwrap_or_default())).collect();
            self.name = Some(owned(&info.name)).filter(|name| !name.is_empty());
        }
        if let Some(part) = container.part(FourCc::ILDN) {
            self.name = Some(DebugName::parse(part)?.name.into_owned());
        }
        self.hash = container.part(FourCc::HASH).map(ShaderHash::parse).transpose()?;
        Ok(())
    }
}

/// The parts of the container by their sizes, and all else. The file itself cannot be had from that again.
impl Serialize for Pdb<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown<'s> {
            name: &'s Option<String>,
            hash: Option<HexBytes<'s>>,
            arguments: &'s [(String, String)],
            parts: Vec<(FourCc, usize)>,
            streams: &'s [(String, u32)],
            sources: &'s [SourceFile],
            resources: &'s [ResourceName],
            constants: &'s [ConstantName],
        }
        let container = self.container().ok().flatten();
        let parts = container.iter().flat_map(Container::parts).map(|part| (part.name, part.data.len()));
        Shown {
            name: &self.name,
            hash: self.hash.as_ref().map(|hash| HexBytes::from(&hash.digest[..])),
            arguments: &self.arguments,
            parts: parts.collect(),
            streams: &self.streams,
            sources: &self.sources,
            resources: &self.resources,
            constants: &self.constants,
        }
        .serialize(serializer)
    }
}

/// The named-stream map of stream 1 (LLVM's "The PDB Info Stream"): 28 bytes of header, then texts with their length, then
/// a hash table of offsets of texts and numbers of streams: number of entries, capacity, and two bit sets, of the places
/// that are taken and of those that were; then the entries.
///
/// It is nothing where it is cut short: dxc leaves it empty.
fn names(stream: &[u8]) -> Option<Vec<(String, u32)>> {
    let mut rest = stream.get(28..)?;
    let mut take = |len: usize| {
        let (taken, after) = rest.split_at_checked(len)?;
        rest = after;
        Some(taken)
    };
    let word = |bytes: &[u8]| bytes.first_chunk().map(|&bytes| u32::from_le_bytes(bytes));
    let texts_len = word(take(4)?)? as usize;
    let texts = take(texts_len)?;
    let entries = word(take(4)?)?;
    take(4)?;
    for _ in 0..2 {
        let words = word(take(4)?)? as usize;
        take(words.checked_mul(4)?)?;
    }
    let mut names = Vec::new();
    for _ in 0..entries {
        let (offset, stream) = (word(take(4)?)?, word(take(4)?)?);
        let text = texts.get(offset as usize..)?;
        let text = text.split(|&byte| byte == 0).next()?;
        names.push((String::from_utf8_lossy(text).into_owned(), stream));
    }
    names.sort_by_key(|&(_, stream)| stream);
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &[u8] = include_bytes!("../../../tests/fixtures/container/root_signature.pdb");
    const SLIM: &[u8] = include_bytes!("../../../tests/fixtures/container/slim.pdb");
    const SHADER: &[u8] = include_bytes!("../../../tests/fixtures/container/root_signature.dxil");
    const PRIVATE: &[u8] = include_bytes!("../../../tests/fixtures/container/private.dxil");
    const SOURCE: &str = include_str!("../../../tests/fixtures/container/root_signature.hlsl");

    #[test]
    fn sources_of_dxc() {
        let shader = Container::parse(SHADER).unwrap();
        let other = include_bytes!("../../../tests/fixtures/container/library.dxil");
        for (bytes, define) in [(FULL, false), (SLIM, true)] {
            let pdb = Pdb::parse(bytes).unwrap();
            assert!(pdb.belongs_to(&shader) && !pdb.belongs_to(&Container::parse(other).unwrap()));
            assert!(pdb.sources[0].name.ends_with("root_signature.hlsl"), "{}", pdb.sources[0].name);
            assert_eq!(pdb.sources[0].contents.as_deref(), Some(SOURCE));
            let has = |name: &str, value: &str| pdb.arguments.iter().any(|pair| pair.0 == name && pair.1 == value);
            assert!(has("E", "main") && has("T", "ps_6_1"), "{:?}", pdb.arguments);
            assert_eq!(has("D", "SLIM=1"), define, "{:?}", pdb.arguments);
        }
        let pdb = Pdb::parse(FULL).unwrap();
        assert_eq!(pdb.name.as_deref(), Some("root_signature.pdb"));
        assert!(pdb.container().unwrap().unwrap().part(FourCc::ILDB).is_some());
    }

    #[test]
    fn names() {
        let stripped = |bytes| {
            let mut writer = ContainerWriter::from_container(&Container::parse(bytes).unwrap());
            for name in [FourCc::STAT, FourCc::ILDB] {
                writer.remove(name);
            }
            writer.write().unwrap()
        };
        let stripped = stripped(SHADER);
        let name = |bytes: &[u8]| crate::reflect(bytes).unwrap().bindings[0].name.clone();
        assert_eq!(name(&stripped), None);
        let named = Pdb::parse(FULL).unwrap().with_names(&Container::parse(&stripped).unwrap()).unwrap().unwrap();
        assert_eq!(name(&named).as_deref(), Some("images"));
    }

    #[test]
    fn in_private_data() {
        let shader = Container::parse(PRIVATE).unwrap();
        let pdb = Pdb::embedded(&shader).unwrap().unwrap();
        assert!(pdb.belongs_to(&shader));
        assert_eq!(pdb.sources[0].contents.as_deref(), Some(SOURCE));
        assert!(Pdb::embedded(&Container::parse(SHADER).unwrap()).unwrap().is_none());
    }

    #[test]
    fn damage_is_refused() {
        for len in (0..FULL.len()).step_by(97) {
            if let Ok(pdb) = Pdb::parse(&FULL[..len]) {
                // dxc leaves out the end of the last block.
                assert!(len + 512 > FULL.len(), "{len} bytes: {pdb:?}");
            }
        }
        let changed = |offset: usize, value: u32| {
            let mut bytes = FULL.to_vec();
            bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
            Pdb::parse(&bytes).is_err()
        };
        for offset in [32, 44, 52] {
            assert!(changed(offset, u32::MAX), "{offset}");
            assert!(changed(offset, 0), "{offset}");
        }
    }
}
