//! What each step of a lift costs, over every fixture of `tests/fixtures`, beside what naga itself needs to validate the
//! module and to write it as SPIR-V: the peer that the lift is measured against. One item is one container.
//!
//! `cargo bench --bench lift`

use std::{fs, path::Path};

use bevy_dxshader::{LiftOptions, Program, Target, container::Container, lift, reflect};
use divan::{Bencher, counter::ItemsCount};
use naga::{
    back::spv,
    valid::{Capabilities, ModuleInfo, ValidationFlags, Validator},
};

fn main() {
    divan::main();
}

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

/// One round of `work` over `items`, counted by item.
fn round<T>(bencher: Bencher, items: &[T], mut work: impl FnMut(&T) -> bool) {
    bencher
        .counter(ItemsCount::new(items.len()))
        .bench_local(|| items.iter().filter(|&item| work(divan::black_box(item))).count());
}

const FORMATS: [&str; 2] = ["dxbc", "dxil"];

#[divan::bench(args = FORMATS)]
fn read_container(bencher: Bencher, format: &str) {
    round(bencher, &fixtures(format).containers, |bytes| Container::parse(bytes).is_ok());
}

#[divan::bench(args = FORMATS)]
fn reflect_interface(bencher: Bencher, format: &str) {
    round(bencher, &fixtures(format).containers, |bytes| reflect(bytes).is_ok());
}

#[divan::bench(args = FORMATS)]
fn lift_to_ir(bencher: Bencher, format: &str) {
    let options = LiftOptions::default();
    round(bencher, &fixtures(format).containers, |bytes| lift(bytes, &options).is_ok());
}

#[divan::bench(args = FORMATS)]
fn emit_naga(bencher: Bencher, format: &str) {
    let target = Target::default();
    round(bencher, &fixtures(format).programs, |program| program.emit(&target).is_ok());
}

#[divan::bench(args = FORMATS)]
fn peer_naga_validates(bencher: Bencher, format: &str) {
    round(bencher, &fixtures(format).modules, |(module, _)| validate(module).is_some());
}

#[divan::bench(args = FORMATS)]
fn peer_naga_writes_spirv(bencher: Bencher, format: &str) {
    let options = spv::Options::default();
    round(bencher, &fixtures(format).modules, |(module, info)| spv::write_vec(module, info, &options, None).is_ok());
}
