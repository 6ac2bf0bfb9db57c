//! Our assembly against the compiler's own: wherever a listing of `fxc -dumpbin` lies beside a fixture, without its comment
//! lines, ours must be the same, line for line.
//!
//! The listings were made by `fxc -dumpbin NAME.dxbc | grep -v '^//' > NAME.dxbc.asm`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bevy_dxshader::{
    container::{Container, FourCc},
    dxbc,
};

fn listings(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the fixtures can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            listings(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "asm") {
            found.push(path);
        }
    }
}

/// Lines that say something, without white space at their ends.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

#[test]
fn listings_are_the_compilers() {
    let mut found = Vec::new();
    listings(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), &mut found);
    assert!(found.len() >= 15, "only {} listings were found", found.len());
    for path in found {
        let bytes = fs::read(path.with_extension("")).expect("a listing lies beside its shader");
        let container = Container::parse(&bytes).unwrap();
        let part = container.part(FourCc(*b"SHEX")).or_else(|| container.part(FourCc(*b"SHDR"))).unwrap();
        let ours = dxbc::disassemble(part.data).unwrap();
        let theirs = fs::read_to_string(&path).unwrap();
        for (number, (ours, theirs)) in lines(&ours).into_iter().zip(lines(&theirs)).enumerate() {
            assert_eq!(ours, theirs, "{}: line {}", path.display(), number + 1);
        }
        assert_eq!(lines(&ours).len(), lines(&theirs).len(), "{}", path.display());
    }
}
