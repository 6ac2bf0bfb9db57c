//! What the parts of a container say of its program agrees: in every fixture, and in the corpus where there is one.

use std::{collections::BTreeMap, path::Path};

use bevy_dxshader::{container::Container, reflection::reflect_checked};

/// Files whose parts disagree, by what they disagree in, with the number of files that were checked.
fn disagreements(folder: &Path) -> (usize, BTreeMap<String, Vec<String>>) {
    let mut checked = 0;
    let mut all = BTreeMap::<_, Vec<_>>::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if !path.is_file() {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let Ok(container) = Container::parse(&bytes) else { continue };
        let Ok(reflection) = reflect_checked(&container) else { continue };
        assert_eq!(reflection.interface, bevy_dxshader::reflect(&bytes).unwrap(), "{}", path.display());
        checked += 1;
        for disagreement in reflection.disagreements {
            all.entry(disagreement.to_string()).or_default().push(path.display().to_string());
        }
    }
    (checked, all)
}

#[test]
fn fixtures() {
    let (checked, all) = disagreements(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"));
    assert!(checked > 200, "{checked} files");
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    if !folder.is_dir() {
        eprintln!("skipped: there is no corpus at {}", folder.display());
        return;
    }
    let (checked, all) = disagreements(&folder);
    for (what, files) in &all {
        println!("{} files, {}: {what}", files.len(), files[0]);
    }
    println!("{checked} files, {} disagreements", all.len());
    // Another compiler than Microsoft's describes a raw buffer as a typed one.
    let known = |what: &str| what.starts_with("kind of t0, space 0: SHDR says RawBuffer");
    assert!(all.keys().all(|what| known(what)), "{all:#?}");
}
