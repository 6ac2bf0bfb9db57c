//! Real containers: every one that reads is written again byte for byte. The corpus is a folder beside the repository, and
//! not part of it: without it the fixtures are all there is.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bevy_dxshader::{
    cli::check::find,
    container::{Container, ContainerWriter, DigestRule, DigestState},
};

/// The containers below the fixtures and the corpus.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [root.join("tests/fixtures"), root.join("../shared/corpus")];
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
}
