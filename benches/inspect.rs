//! What reading a container costs without a lift, in bytes of containers a second: over the files of 4 KB and up among the
//! fixtures and, where it lies beside the repository, the corpus.
//!
//! `cargo bench --bench inspect`
//!
//! | bench | what is done with each file |
//! |---|---|
//! | parse | header and part table: [`Container::parse`] |
//! | parts | every part read as what it is: [`PartView::read`] |
//! | reflect | the whole [`Interface`](bevy_dxshader::reflection::Interface), names and layouts included: [`reflect`] |
//! | digest | the digest of the container computed: [`Container::digest_state`], which `inspect` does too |
//! | yaml | the document of LLVM's `obj2yaml`: [`yaml`] |
//!
//! Megabytes of containers a second of processor time, over the files of the fixtures and the corpus (means of these loops in
//! a release build without Criterion, on a busy server of
//! two cores):
//!
//! | | files | parse | parts | reflect | digest | yaml |
//! |---|---|---|---|---|---|---|
//! | DXBC | 548 (7.3 MB) | 350 000 | 3 200 | 970 | 460 | 3 000 |
//! | DXIL | 1165 (14.4 MB) | 220 000 | 5 400 | 120 | 500 | 150 |
//!
//! Reflection's cost goes with what a shader declares and not with its size: code is passed over, but for its declarations
//! and metadata. DXBC is as fast as one can wish for. DXIL stays below 500 MB/s, because its declarations are a stream of
//! small records of odd widths in bits, and there are two of them in a file: the program, and dxc's copy of it with names
//! (`STAT`), each of them with all types, constants and metadata. Of its time
//!
//! * half goes to the program and a third to `STAT`; a sixth of the whole is code, which has to be read where nothing else
//!   tells what it uses: for validators before 1.5, and for descriptor heaps;
//! * by what is read, a quarter is metadata and a fifth types;
//! * by what is done, a quarter is the allocator (names, members of nodes, fields of types, each an allocation of its own)
//!   and a quarter taking numbers from the bits. Hashing is below a twentieth.
//!
//! What is left to win is the allocator's share: modules whose names and lists lie in one arena. The digest is as fast as MD5
//! is here, whose every step waits for the one before.

use std::{fs, hint::black_box, path::Path};

use bevy_dxshader::{
    container::{Container, PartView, yaml},
    reflect,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Bytes of the smallest file that counts.
const LEAST: usize = 4096;

/// The files with this extension that reflect, below a folder.
fn collect(folder: &Path, extension: &str, containers: &mut Vec<Vec<u8>>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, extension, containers);
        } else if path.extension().is_some_and(|found| found == extension)
            && let Ok(bytes) = fs::read(&path)
            && bytes.len() >= LEAST
            && reflect(&bytes).is_ok()
        {
            containers.push(bytes);
        }
    }
}

fn bench_format(criterion: &mut Criterion, format: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["tests/fixtures", "../shared/corpus"] {
        collect(&root.join(folder), format, &mut files);
    }
    assert!(!files.is_empty(), "no file of {format} of {LEAST} bytes");
    let containers = files.iter().filter_map(|bytes| Container::parse(bytes).ok()).collect::<Vec<_>>();

    let mut group = criterion.benchmark_group(format);
    group.sample_size(20).throughput(Throughput::Bytes(files.iter().map(|bytes| bytes.len() as u64).sum()));
    group.bench_function("parse", |bencher| {
        bencher.iter(|| files.iter().filter(|bytes| Container::parse(black_box(bytes)).is_ok()).count());
    });
    group.bench_function("parts", |bencher| {
        let read = |container: &Container<'_>| {
            container.parts().filter(|&part| PartView::read(container, black_box(part)).is_ok()).count()
        };
        bencher.iter(|| containers.iter().map(read).sum::<usize>());
    });
    group.bench_function("reflect", |bencher| {
        bencher.iter(|| files.iter().filter(|bytes| reflect(black_box(bytes)).is_ok()).count());
    });
    group.bench_function("digest", |bencher| {
        bencher.iter(|| {
            containers.iter().map(|container| black_box(container).digest_state().name().len()).sum::<usize>()
        });
    });
    group.bench_function("yaml", |bencher| {
        bencher.iter(|| containers.iter().map(|container| yaml(black_box(container)).len()).sum::<usize>());
    });
    group.finish();
}

fn benches(criterion: &mut Criterion) {
    bench_format(criterion, "dxbc");
    bench_format(criterion, "dxil");
}

criterion_group!(inspect, benches);
criterion_main!(inspect);
