//! What each step of a lift costs, over every fixture of `tests/fixtures`, beside what naga itself needs to validate the
//! module and to write it as SPIR-V: the peer that the lift is measured against. One element is one container.
//!
//! `cargo bench --bench lift`

use std::{fs, hint::black_box, path::Path};

use bevy_dxshader::{LiftOptions, Program, Target, container::Container, lift, reflect};
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use naga::{
    back::spv,
    valid::{Capabilities, ModuleInfo, ValidationFlags, Validator},
};

/// The fixtures of one format that lift, and everything made from them.
struct Fixtures {
    containers: Vec<Vec<u8>>,
    programs: Vec<Program>,
    modules: Vec<(naga::Module, ModuleInfo)>,
}

fn validate(module: &naga::Module) -> Option<ModuleInfo> {
    Validator::new(ValidationFlags::all(), Capabilities::all()).validate(module).ok()
}

fn fixtures(extension: &str) -> Fixtures {
    let mut containers = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), extension, &mut containers);
    let (options, target) = (LiftOptions::default(), Target::default());
    let mut fixtures = Fixtures { containers: Vec::new(), programs: Vec::new(), modules: Vec::new() };
    for bytes in containers {
        let Ok(program) = lift(&bytes, &options) else { continue };
        let Ok(module) = program.module(&target) else { continue };
        let Some(info) = validate(&module) else { continue };
        fixtures.containers.push(bytes);
        fixtures.programs.push(program);
        fixtures.modules.push((module, info));
    }
    fixtures
}

fn collect(folder: &Path, extension: &str, containers: &mut Vec<Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("tests/fixtures can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, extension, containers);
        } else if path.extension().is_some_and(|found| found == extension) {
            containers.push(fs::read(&path).expect("a fixture can be read"));
        }
    }
}

/// Benches of one format: a group, so that the steps stand beside their peers.
fn bench_format(criterion: &mut Criterion, format: &str) {
    let Fixtures { containers, programs, modules } = fixtures(format);
    assert!(!containers.is_empty(), "no fixture of {format} lifts");
    let mut group = criterion.benchmark_group(format);
    group.throughput(Throughput::Elements(containers.len() as u64));
    let (options, target, spirv) = (LiftOptions::default(), Target::default(), spv::Options::default());

    round(&mut group, "container", &containers, |bytes| Container::parse(bytes).is_ok());
    round(&mut group, "reflect", &containers, |bytes| reflect(bytes).is_ok());
    round(&mut group, "lift to IR", &containers, |bytes| lift(bytes, &options).is_ok());
    round(&mut group, "emit naga", &programs, |program| program.emit(&target).is_ok());
    round(&mut group, "peer: naga validates", &modules, |(module, _)| validate(module).is_some());
    round(&mut group, "peer: naga writes SPIR-V", &modules, |(module, info)| {
        spv::write_vec(module, info, &spirv, None).is_ok()
    });
    group.finish();
}

/// One step over all items.
fn round<T>(group: &mut BenchmarkGroup<'_, WallTime>, step: &str, items: &[T], mut work: impl FnMut(&T) -> bool) {
    group.bench_function(step, |bencher| {
        bencher.iter(|| items.iter().filter(|&item| work(black_box(item))).count());
    });
}

fn benches(criterion: &mut Criterion) {
    bench_format(criterion, "dxbc");
    bench_format(criterion, "dxil");
}

criterion_group!(lifts, benches);
criterion_main!(lifts);
