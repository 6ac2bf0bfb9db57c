//! Finding the PDB file of a shader: under which names it may lie, and whether a file is the one.
//!
//! Where files come from is for others to say: the command line reads folders, the plugin the asset source.

use super::Pdb;
use crate::container::{Container, DebugName, FourCc, ProgramHeader, ShaderHash, debug_name, shader_hash};

impl<'a> Pdb<'a> {
    /// The name of a file in what a shader knows as its PDB file's name, which may be a path of either kind; none if it has
    /// none.
    pub fn file_name(name: &str) -> Option<&str> {
        name.rsplit(['/', '\\']).next().filter(|name| !["", ".", ".."].contains(name))
    }

    /// Names of files that may be a shader's PDB file, the likeliest first: what the shader asks for (`ILDN`), its hash, as
    /// compilers call the file in a folder of such files, and its own file's name, which is `shader`, with the extension of
    /// PDB files.
    pub fn file_names(container: &Container<'_>, shader: Option<&str>) -> Vec<String> {
        let mut names = Vec::new();
        let mut add = |name: String| {
            if !names.contains(&name) {
                names.push(name);
            }
        };
        if let Ok(Some(name)) = debug_name(container)
            && let Some(name) = Self::file_name(&name)
        {
            add(name.to_owned());
        }
        if let Some(hash) = program_hash(container) {
            add(hash.digest.iter().map(|byte| format!("{byte:02x}")).chain([".pdb".to_owned()]).collect());
        }
        if let Some(shader) = shader.and_then(Self::file_name) {
            let stem = shader.rsplit_once('.').map_or(shader, |(stem, _)| stem);
            if !stem.is_empty() {
                add(format!("{stem}.pdb"));
            }
        }
        names
    }

    /// Reads a file that has one of a shader's [names](Pdb::file_names), if it is the shader's PDB file: a file of that name may
    /// be that of another build. `None` too if it cannot be read.
    pub fn of_shader(bytes: &'a [u8], name: &str, container: &Container<'_>) -> Option<Self> {
        let pdb = Self::parse(bytes).ok()?;
        // fxc's files do not say whose they are, so that the shader's word has to do.
        let is_asked_for = || {
            let asked = debug_name(container).ok().flatten();
            asked.is_some_and(|asked| Self::file_name(&asked) == Some(name))
        };
        let is_silent = pdb.hash.is_none() && pdb.name.is_none();
        (pdb.belongs_to(container) || is_silent && is_asked_for()).then_some(pdb)
    }

    /// The file belongs to a shader: both have the same hash, or the shader asks for its name.
    pub fn belongs_to(&self, shader: &Container<'_>) -> bool {
        if let (Some(ours), Some(theirs)) = (self.hash, program_hash(shader)) {
            return ours.digest == theirs.digest;
        }
        let name = shader.part(FourCc::ILDN).and_then(|part| DebugName::parse(part).ok());
        name.is_some_and(|name| self.name.as_deref() == Some(&name.name))
    }
}

/// The hash that a DXIL shader has, or would have if it had not been stripped of it.
fn program_hash(container: &Container<'_>) -> Option<ShaderHash> {
    let stored = shader_hash(container).ok().flatten();
    stored.or_else(|| match ProgramHeader::find(container) {
        Ok(ProgramHeader::Bitcode(program)) => Some(ShaderHash::of(&program)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::ContainerWriter;

    const SHADER: &[u8] = include_bytes!("../../../tests/fixtures/container/root_signature.dxil");
    const FILE: &[u8] = include_bytes!("../../../tests/fixtures/container/root_signature.pdb");
    const OTHER: &[u8] = include_bytes!("../../../tests/fixtures/container/library.dxil");

    fn without(parts: &[FourCc]) -> Vec<u8> {
        let mut writer = ContainerWriter::from_container(&Container::parse(SHADER).unwrap());
        for part in parts {
            writer.remove(*part);
        }
        writer.write().unwrap()
    }

    #[test]
    fn names_of_files() {
        let container = Container::parse(SHADER).unwrap();
        let hash = shader_hash(&container).unwrap().unwrap();
        let hash = hash.digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + ".pdb";
        let names = Pdb::file_names(&container, Some("shaders/lit.ps.dxil"));
        assert_eq!(names, ["root_signature.pdb", &hash, "lit.ps.pdb"]);
        let stripped = without(&[FourCc::HASH, FourCc::ILDN]);
        let names = Pdb::file_names(&Container::parse(&stripped).unwrap(), Some("root_signature"));
        assert_eq!(names, [&hash[..], "root_signature.pdb"], "the hash is that of the bitcode");
        assert_eq!(Pdb::file_name(r"D:\build\x.pdb"), Some("x.pdb"));
        assert_eq!((Pdb::file_name("a/b.pdb"), Pdb::file_name("a/..")), (Some("b.pdb"), None));
    }

    /// fxc's shader asks for a hash; its file holds none, and is believed under that name alone.
    #[test]
    fn files_of_fxc() {
        const SHADER: &[u8] = include_bytes!("../../../tests/fixtures/container/fxc_debug.dxbc");
        const FILE: &[u8] = include_bytes!("../../../tests/fixtures/container/fxc_debug.pdb");
        const SOURCE: &str = include_str!("../../../tests/fixtures/container/fxc_debug.hlsl");
        let container = Container::parse(SHADER).unwrap();
        let [asked, beside] = &Pdb::file_names(&container, Some("fxc_debug.dxbc"))[..] else { panic!() };
        assert_eq!((asked.len(), &beside[..]), (32 + 4, "fxc_debug.pdb"));
        assert!(Pdb::of_shader(FILE, beside, &container).is_none());
        let pdb = Pdb::of_shader(FILE, asked, &container).unwrap();
        assert_eq!(pdb.sources[0].name, r"c:\shaders\fxc_debug.hlsl");
        assert_eq!(pdb.sources[0].contents.as_deref(), Some(SOURCE));
        assert_eq!(pdb.with_names(&container).unwrap(), None);

        let mut interface = crate::reflect(SHADER).unwrap();
        let names = |interface: &crate::reflection::Interface| {
            interface.bindings.iter().map(|binding| binding.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&interface), [None, None, None, None]);
        interface.add_names(&pdb);
        let mut found = names(&interface).into_iter().flatten().collect::<Vec<_>>();
        found.sort();
        // Constants are variables of their own: their buffer has no name here.
        assert_eq!(found, ["image", "linear_sampler", "written"]);
    }

    #[test]
    fn files_of_other_builds_are_refused() {
        let of = |shader: &[u8], name: &str| Pdb::of_shader(FILE, name, &Container::parse(shader).unwrap()).is_some();
        assert!(of(SHADER, "root_signature.pdb") && of(SHADER, "renamed.pdb"));
        assert!(of(&without(&[FourCc::HASH, FourCc::ILDN]), "root_signature.pdb"));
        assert!(!of(OTHER, "root_signature.pdb"));
        let container = Container::parse(SHADER).unwrap();
        assert!(Pdb::of_shader(&FILE[..600], "root_signature.pdb", &container).is_none());
    }
}
