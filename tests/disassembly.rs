//! Our assembly against the compilers' own.
//!
//! Beside a fixture lies the compiler's listing of it, made by
//!
//!     fxc -dumpbin NAME.dxbc | tr -d '\r' | grep -v '^//' > NAME.dxbc.asm
//!     dxc -dumpbin NAME.dxil | tr -d '\r' > NAME.dxil.ll
//!
//! (`dxc -impl 1.9` for `long_vectors` and those named `dxc19`). Where the corpus and the compilers are, 200 programs of
//! each format are listed by the compiler then and there. Every line must be the same, but for fxc's comments, and dxc's in
//! front of the module: of those, the tables of signatures and resources and the hash are compared.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Mutex,
    thread,
};

use bevy_dxshader::{
    cli::disasm::disassemble,
    container::{Bitcode, Container, FourCc},
};

/// Programs of the corpus that are listed, of each format.
const SAMPLE: usize = 200;

/// Where our listing is meant to differ from the compiler's.
const EXCEPTIONS: [(&str, &str); 5] = [
    // An old writer gave raw buffers a return type; fxc takes it for the space.
    ("MoonsideGames__MoonWorks/ba116542366c4daf.dxbc", "space"),
    // dxc calls functions of libraries before version 1.5 by their later name; we say what the file says.
    ("Kode__Kinc/d98d6cd3e818dd2b.dxil", "createHandleForLib"),
    ("Kode__Kinc/aca650ae850ba7e3.dxil", "createHandleForLib"),
    ("Kode__Kinc/ce1fc5e0116a334d.dxil", "createHandleForLib"),
    ("Kode__Kinc/2fe5fc23675fabb1.dxil", "createHandleForLib"),
];

fn listings(folder: &Path, wanted: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the fixtures can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            listings(&path, wanted, found);
        } else if path.to_str().is_some_and(|path| path.ends_with(wanted)) {
            found.push(path);
        }
    }
}

/// Compares the listings beside the fixtures with ours, line by line.
fn check_fixtures(ending: &str, least: usize, ours: impl Fn(&str) -> Vec<String>) {
    let mut found = Vec::new();
    listings(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), ending, &mut found);
    assert!(found.len() >= least, "only {} listings were found", found.len());
    for path in found {
        let bytes = fs::read(path.with_extension("")).expect("a listing lies beside its shader");
        let text = disassemble(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let theirs = ours(&fs::read_to_string(&path).unwrap());
        if let Some(difference) = difference(&ours(&text), &theirs) {
            panic!("{}: {difference}", path.display());
        }
    }
}

/// The first line in which two listings differ.
fn difference(ours: &[String], theirs: &[String]) -> Option<String> {
    let unequal = ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs);
    match unequal {
        Some(line) => Some(format!("line {}:\nours   {}\ntheirs {}", line + 1, ours[line], theirs[line])),
        None if ours.len() != theirs.len() => Some(format!("{} lines, not {}", ours.len(), theirs.len())),
        None => None,
    }
}

/// Lines of DXBC assembly that say something: without comments, source lines and white space at their ends; of the last
/// program, since the compiler lists one of Direct3D 9 before it where there is one.
fn assembly_lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end());
    let lines: Vec<_> = lines.filter(|line| !line.is_empty() && !line.starts_with("#line")).collect();
    let is_header = |line: &&&str| {
        let rest = ["ps_", "vs_", "gs_", "hs_", "ds_", "cs_", "lib_"].iter().find_map(|stage| line.strip_prefix(stage));
        rest.is_some_and(|model| model.len() == 3 && model.as_bytes()[1] == b'_')
    };
    let start = lines.iter().rposition(|line| is_header(&line)).unwrap_or(0);
    lines[start..].iter().map(|line| (*line).to_owned()).collect()
}

/// All lines of a module, and before them those of the tables in the comments in front of it, with their titles.
fn module_lines(text: &str) -> Vec<String> {
    let (comments, module) = text.split_at(text.find("target datalayout").unwrap_or(text.len()));
    let comments: Vec<_> = comments.lines().collect();
    let mut lines = Vec::new();
    for (index, line) in comments.iter().enumerate() {
        if line.starts_with("; shader hash: ") {
            lines.push((*line).to_owned());
        }
        if line.starts_with("; Name  ") && index >= 2 {
            // A slip of dxc 1.8's.
            lines.push(comments[index - 2].replace("signature signature", "signature"));
            lines.extend(comments[index..].iter().take_while(|line| line.len() > 1).map(|line| (*line).to_owned()));
        }
    }
    lines.extend(module.lines().map(str::to_owned));
    lines
}

#[test]
fn dxbc_fixtures_as_fxc_lists_them() {
    check_fixtures(".dxbc.asm", 20, assembly_lines);
}

#[test]
fn dxil_fixtures_as_dxc_lists_them() {
    check_fixtures(".dxil.ll", 25, module_lines);
}

/// Programs of the corpus whose parts include one of these, about [`SAMPLE`] of them: of each stage some, spread over the
/// projects that they come from.
fn sample(corpus: &Path, parts: &[&str]) -> Vec<String> {
    let index = fs::read_to_string(corpus.join("index.tsv")).expect("the corpus has an index");
    let mut stages = BTreeMap::<&str, Vec<&str>>::new();
    for row in index.lines().skip(1) {
        let columns: Vec<_> = row.split('\t').collect();
        let [file, _, _, _, _, stage, _, held, ..] = columns[..] else { panic!("a row of another form: {row}") };
        let holds = |name: &str| held.split(',').any(|part| part.split(':').next() == Some(name));
        if !file.starts_with('_') && parts.iter().any(|name| holds(name)) {
            stages.entry(stage).or_default().push(file);
        }
    }
    let total: usize = stages.values().map(Vec::len).sum();
    let mut files = Vec::new();
    for of_stage in stages.values_mut() {
        of_stage.sort_unstable();
        // Rare stages are taken whole.
        let count = (of_stage.len() * SAMPLE / total).max(5).min(of_stage.len());
        files.extend((0..count).map(|index| of_stage[index * of_stage.len() / count].to_owned()));
    }
    files
}

/// Compares a sample of the corpus with what a compiler lists.
fn check_corpus(tool: &str, arguments: &[&str], parts: &[&str], lines: fn(&str) -> Vec<String>) {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let (corpus, tool) = (shared.join("corpus"), shared.join("tools").join(tool));
    if !corpus.is_dir() {
        eprintln!("skipped: there is no corpus at {}", corpus.display());
        return;
    }
    if !tool.is_file() {
        eprintln!("skipped: there is no compiler at {}", tool.display());
        return;
    }
    // A compiler that is not installed lists nothing of anything.
    let list = |path: &Path| {
        let run = Command::new(&tool).args(arguments).arg("-dumpbin").arg(path).stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&run.stdout).replace('\r', "");
        (run.status.success() && !text.trim().is_empty()).then_some(text)
    };
    let files = sample(&corpus, parts);
    let next = Mutex::new(files.iter());
    let (equal, unlisted, faults) = (Mutex::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let Some(file) = next.lock().unwrap().next() else { break };
            let path = corpus.join(file);
            let Some(theirs) = list(&path) else {
                unlisted.lock().unwrap().push(file);
                continue;
            };
            let difference = match disassemble(&fs::read(&path).unwrap()) {
                Ok(ours) => difference(&lines(&ours), &lines(&theirs)),
                Err(error) => Some(error.to_string()),
            };
            match difference {
                None => *equal.lock().unwrap() += 1,
                Some(difference)
                    if EXCEPTIONS.iter().any(|(known, what)| known == file && difference.contains(what)) => {}
                Some(difference) => faults.lock().unwrap().push(format!("{file}: {difference}")),
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from).min(4) {
            scope.spawn(work);
        }
    });
    let (equal, unlisted, faults) =
        (equal.into_inner().unwrap(), unlisted.into_inner().unwrap(), faults.into_inner().unwrap());
    if unlisted.len() == files.len() {
        eprintln!("skipped: {} is not installed: it lists nothing", tool.display());
        return;
    }
    println!("{equal} of {} programs are equal, {} are not listed: {unlisted:?}", files.len(), unlisted.len());
    assert!(
        faults.is_empty(),
        "{} listings differ, such as\n{}",
        faults.len(),
        faults[..faults.len().min(5)].join("\n")
    );
    assert!(equal >= SAMPLE * 9 / 10, "only {equal} programs were compared");
}

#[test]
fn dxbc_of_the_corpus_as_fxc_lists_it() {
    check_corpus("fxc", &[], &["SHEX", "SHDR"], assembly_lines);
}

#[test]
fn dxil_of_the_corpus_as_dxc_lists_it() {
    // The Linux library starts faster than the one under wine.
    check_corpus("dxc", &["-impl", "linux"], &["DXIL", "ILDB"], module_lines);
}

#[test]
fn bitcode_without_a_container() {
    let shader = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dxil/functions.dxil")).unwrap();
    let container = Container::parse(&shader).unwrap();
    let part = container.part(FourCc::DXIL).unwrap();
    let listing = disassemble(&shader).unwrap();
    let module = &listing[listing.find("target datalayout").unwrap()..];
    assert_eq!(disassemble(part.data).unwrap(), module);
    assert_eq!(disassemble(Bitcode::parse(part).unwrap().bytes).unwrap(), module);
}
