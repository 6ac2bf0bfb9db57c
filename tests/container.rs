//! Real containers: every one that reads is written again byte for byte. The corpus is a folder beside the repository, and
//! not part of it: without it the fixtures are all there is.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use bevy_dxshader::{
    cli::check::find,
    container::{Container, ContainerWriter, DigestRule, DigestState, FourCc, HashState, PartView, Pdb, shader_hash},
};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus")
}

/// The containers below the fixtures and the corpus.
fn files() -> Vec<PathBuf> {
    let folders = [Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), corpus()];
    find(&folders.into_iter().filter(|folder| folder.is_dir()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn round_trip() {
    let (mut read, mut malformed) = (0, 0);
    for path in files() {
        let bytes = fs::read(&path).unwrap();
        let container = match Container::parse(&bytes) {
            Ok(container) => container,
            Err(error) => {
                assert!(path.iter().any(|name| name == "_edge"), "{}: {error}", path.display());
                assert!(error.place.offset.is_some(), "{}: {error}", path.display());
                malformed += 1;
                continue;
            }
        };
        read += 1;
        let mut writer = ContainerWriter::from_container(&container);
        assert!(writer.write().unwrap() == bytes, "{}: written otherwise than read", path.display());

        // Built anew from its parts: the same parts, signed.
        let mut anew = ContainerWriter::new();
        for part in container.parts() {
            anew.push(part.name, part.data);
        }
        let written = anew.write().unwrap();
        let written = Container::parse(&written).unwrap();
        assert_eq!(written.digest_state(), DigestState::Ok);
        let parts = |container: &Container<'_>| {
            let mut parts = container.parts().map(|part| (part.name, part.data.to_vec())).collect::<Vec<_>>();
            parts.sort();
            parts
        };
        assert!(parts(&written) == parts(&container), "{}", path.display());

        // A digest that is right is what this crate computes.
        if container.digest_state() == DigestState::Ok {
            assert_eq!(writer.digest(DigestRule::Compute).write().unwrap()[4..20], container.digest());
        }
    }
    println!("{read} containers written as they were read, {malformed} malformed on purpose");
    assert!(read > 20, "no fixtures");
    assert!(malformed < 20, "{malformed} refused");
    if corpus().is_dir() {
        assert!(read > 3_580, "{read} containers of the corpus and the fixtures");
    }
}

/// Every part of every real container is read as what it is, in whole.
#[test]
fn every_part_is_read() {
    let mut counts = BTreeMap::<FourCc, usize>::new();
    let mut unread = Vec::new();
    for path in files().into_iter().filter(|path| path.iter().all(|name| name != "_edge")) {
        let bytes = fs::read(&path).unwrap();
        let container = Container::parse(&bytes).unwrap();
        for part in container.parts() {
            *counts.entry(part.name).or_default() += 1;
            match PartView::read(&container, part) {
                Ok(PartView::Bytes { .. }) if part.name != FourCc::PRIV => {
                    unread.push(format!("{}: {} is unknown", path.display(), part.name));
                }
                Ok(PartView::PipelineState(state)) => {
                    let trailing = state.tables.as_ref().map_or(0, |tables| tables.trailing);
                    if trailing > 0 {
                        unread.push(format!("{}: PSV0 has {trailing} bytes more", path.display()));
                    }
                }
                Ok(view) => assert!(serde_json::to_string(&view).is_ok(), "{}", path.display()),
                Err(error) => unread.push(format!("{}: {error}", path.display())),
            }
        }
    }
    println!("{counts:?}");
    assert!(unread.is_empty(), "{} unread:\n{}", unread.len(), unread[..unread.len().min(20)].join("\n"));
}

/// `HASH` is the MD5 of the bitcode, but for a few files that were changed after compiling or left their bitcode out.
#[test]
fn hashes() {
    let (mut ok, mut stale) = (0, 0);
    for path in files().into_iter().filter(|path| path.iter().all(|name| name != "_edge")) {
        let bytes = fs::read(&path).unwrap();
        let container = Container::parse(&bytes).unwrap();
        let Some(hash) = shader_hash(&container).unwrap() else { continue };
        match hash.state(&container).unwrap() {
            HashState::Ok => ok += 1,
            HashState::Stale => stale += 1,
            HashState::Unknown => {}
        }
    }
    println!("{ok} hashes are right, {stale} are not");
    assert!(ok > 4 && stale * 50 <= ok, "{ok} right, {stale} not");
}

/// PDB files of fxc, in the corpus: their sources.
#[test]
fn pdb_files_of_fxc() {
    let folder = corpus().join("_pdb");
    if !folder.is_dir() {
        eprintln!("skipped: there is no corpus at {}", folder.display());
        return;
    }
    let mut count = 0;
    for folder in fs::read_dir(folder).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let pdb = Pdb::parse(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(!pdb.sources.is_empty(), "{}: {:?}", path.display(), pdb.streams);
            let text = |name: &str| pdb.sources.iter().find(|source| source.name.contains(name));
            let main = text(".fx").and_then(|source| source.contents.as_deref()).unwrap();
            assert!(main.starts_with("//") && main.contains("Copyright"), "{}: {main}", path.display());
            count += 1;
        }
    }
    assert_eq!(count, 12);
}
