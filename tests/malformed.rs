//! Damaged containers: whatever the bytes are, the lifter neither panics nor hangs.

use std::{
    fs, panic,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use bevy_dxshader::{
    Target,
    cli::{
        check::{Status, judge},
        disasm::disassemble,
    },
    container::{Container, ContainerWriter, PartView},
    dxil::module::Module,
};

/// No input may take longer, even on a busy machine in an unoptimised build.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// As in the command line: naga recurses.
const STACK_SIZE: usize = 64 << 20;
/// Mutations of all fixtures together.
const MUTATIONS: u64 = 3_000;
/// Truncations of a fixture whose header is made to fit, at most.
const FITTED_TRUNCATIONS: usize = 200;

/// An input, and how to make it again.
struct Input {
    name: String,
    bytes: Vec<u8>,
}

/// All files below a folder of the repository that `wanted` takes, by path.
fn files(folder: &str, wanted: impl Fn(&Path) -> bool) -> Vec<Input> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    walk(&root, &mut found);
    found.retain(|path| wanted(path));
    found.sort();
    assert!(!found.is_empty(), "nothing below {}", root.display());
    let input = |path: PathBuf| Input {
        name: path.strip_prefix(&root).unwrap().display().to_string(),
        bytes: fs::read(path).unwrap(),
    };
    found.into_iter().map(input).collect()
}

/// All compiled fixtures, by path.
fn fixtures() -> Vec<Input> {
    let is_container =
        |path: &Path| path.extension().is_some_and(|extension| extension == "dxbc" || extension == "dxil");
    files("tests/fixtures", is_container)
}

/// Reads every part in whole, and writes the container again.
fn read_parts(bytes: &[u8]) {
    let Ok(container) = Container::parse(bytes) else { return };
    for part in container.parts() {
        if let Err(error) = PartView::read(&container, part) {
            assert_eq!(error.place.part, Some(part.name), "an error names the part: {error}");
        }
    }
    let written = ContainerWriter::from_container(&container).write().unwrap();
    let read = Container::parse(&written).unwrap();
    assert!(read.parts().map(|part| part.data).eq(container.parts().map(|part| part.data)));
}

/// Judges inputs on all processors. An input that takes too long ends the process, since a thread cannot be ended.
fn run(inputs: impl Iterator<Item = Input> + Send) {
    let inputs = Mutex::new(inputs);
    let workers = thread::available_parallelism().map_or(2, usize::from);
    let busy = (0..workers).map(|_| Mutex::new(None::<(Instant, String)>)).collect::<Vec<_>>();
    let done = AtomicBool::new(false);
    let panics = Mutex::new(Vec::new());
    let work = |slot: &Mutex<Option<(Instant, String)>>| {
        loop {
            let next = inputs.lock().unwrap().next();
            let Some(input) = next else { break };
            *slot.lock().unwrap() = Some((Instant::now(), input.name.clone()));
            let verdict = judge(&input.bytes, &Target::default());
            let parts = panic::catch_unwind(|| read_parts(&input.bytes));
            let assembly = panic::catch_unwind(|| disassemble(&input.bytes));
            *slot.lock().unwrap() = None;
            if verdict.status == Status::Panicked {
                panics.lock().unwrap().push(format!("{}: {}", input.name, verdict.reason));
            }
            if parts.is_err() {
                panics.lock().unwrap().push(format!("{}: its parts", input.name));
            }
            if assembly.is_err() {
                panics.lock().unwrap().push(format!("{}: its assembly", input.name));
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(50));
                for slot in &busy {
                    if let Some((start, name)) = &*slot.lock().unwrap()
                        && start.elapsed() > TIME_LIMIT
                    {
                        eprintln!("{name}: no end after {TIME_LIMIT:?}");
                        std::process::exit(1);
                    }
                }
            }
        });
        let workers = busy
            .iter()
            .map(|slot| thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, || work(slot)).unwrap())
            .collect::<Vec<_>>();
        for worker in workers {
            worker.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    let panics = panics.into_inner().unwrap();
    assert!(panics.is_empty(), "{} panics, such as\n{}", panics.len(), panics[..panics.len().min(20)].join("\n"));
}

/// What the fuzzer found worth keeping, without the fuzzer: whole containers, and bitcode without one.
#[test]
fn fuzz_corpora() {
    run(files("fuzz/corpus/container", |_| true).into_iter().chain(files("fuzz/corpus/lift", |_| true)));
    for input in files("fuzz/corpus/module", |_| true) {
        let read = panic::catch_unwind(|| Module::read(&input.bytes).map(|_| ()));
        assert!(read.is_ok(), "{} panics", input.name);
    }
}

#[test]
fn truncations() {
    let fixtures = fixtures();
    run(fixtures.iter().flat_map(|fixture| {
        (0..fixture.bytes.len()).map(|len| Input {
            name: format!("the first {len} bytes of {}", fixture.name),
            bytes: fixture.bytes[..len].to_vec(),
        })
    }));
}

/// A plain truncation is refused for its header's sake. These have headers that fit: the part in which they end is shorter,
/// and those after it are gone.
#[test]
fn fitted_truncations() {
    let fixtures = fixtures();
    run(fixtures.iter().flat_map(|fixture| {
        let len = fixture.bytes.len();
        (0..len).step_by(len.div_ceil(FITTED_TRUNCATIONS)).map(|len| Input {
            name: format!("the first {len} bytes of {}, fitted", fixture.name),
            bytes: fit(&fixture.bytes, len),
        })
    }));
}

/// The first `len` bytes of a container with a header that fits them.
fn fit(bytes: &[u8], len: usize) -> Vec<u8> {
    let mut fitted = bytes[..len].to_vec();
    let mut put = |at: usize, value: usize| {
        if let Some(word) = fitted.get_mut(at..at + 4) {
            word.copy_from_slice(&(value as u32).to_le_bytes());
        }
    };
    put(24, len);
    let container = Container::parse(bytes).unwrap();
    let parts = container.parts().filter(|part| part.offset <= len);
    for part in parts.clone() {
        put(part.offset - 4, part.data.len().min(len - part.offset));
    }
    put(28, parts.count());
    fitted
}

#[test]
fn mutations() {
    let fixtures = fixtures();
    run((0..MUTATIONS).map(|seed| {
        let fixture = &fixtures[seed as usize % fixtures.len()];
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut bytes = fixture.bytes.clone();
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &mut random);
        }
        Input { name: format!("mutation {seed} of {}", fixture.name), bytes }
    }));
}

/// Changes the contents of one part, so that the part table still holds.
fn mutate(bytes: &mut [u8], random: &mut Random) {
    let container = Container::parse(bytes).unwrap();
    let parts = container.parts().map(|part| part.offset..part.offset + part.data.len());
    let parts = parts.filter(|range| !range.is_empty()).collect::<Vec<_>>();
    let Some(range) = parts.get(random.below(parts.len().max(1))).cloned() else { return };
    let data = &mut bytes[range];
    let at = random.below(data.len());
    match random.below(5) {
        0 => data[at] ^= 1 << random.below(8),
        1 => data[at] = random.next() as u8,
        2 => {
            const ODD: [u32; 8] = [0, 1, 4, 0x7fff_ffff, 0x8000_0000, 0xffff_fffc, 0xffff_ffff, 0x1000_0000];
            let at = at & !3;
            let value = ODD[random.below(ODD.len())].to_le_bytes();
            data[at..].iter_mut().zip(value).for_each(|(byte, value)| *byte = value);
        }
        3 => {
            let from = random.below(data.len());
            let len = random.below(32).min(data.len() - at.max(from));
            data.copy_within(from..from + len, at);
        }
        _ => {
            let len = (1 + random.below(16)).min(data.len() - at);
            data[at..at + len].fill(0);
        }
    }
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}
