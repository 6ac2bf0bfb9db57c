//! The assembler is proven by the disassembler: what a real program's listing is assembled to is the program.

use std::{fs, path::Path};

use super::*;
use crate::{
    container::{Container, ContainerWriter, FourCc},
    dxbc::{
        disassemble,
        operand::{Operand, RegisterFile},
        program_part,
        statement::{Extended, Statement, Statements},
    },
};

/// A statement: its opcode token without the length, and the words behind it.
#[derive(Debug, PartialEq)]
struct Words {
    token: u32,
    extended: Extended,
    words: Vec<u32>,
    /// It has a literal of doubles.
    doubles: bool,
}

/// The statements of a program that its listing shows.
fn words(part: &[u8]) -> Result<Vec<Words>> {
    let mut statements = Statements::new(part)?;
    let mut found = Vec::new();
    while let Some(Statement { opcode, token, extended, tokens, .. }) = statements.next()? {
        if opcode == Opcode::CustomData && token >> 11 != 3 {
            continue;
        }
        let mut operands = tokens.clone();
        let mut doubles = false;
        for _ in opcode.operands() {
            doubles |= Operand::read(&mut operands)?.file == RegisterFile::Immediate64;
        }
        // The compiler writes a token too many behind some instructions.
        let padding = if opcode.operands().is_empty() { 0 } else { operands.remaining() };
        let mut tokens = tokens;
        let words = (0..tokens.remaining() - padding).map(|_| tokens.next()).collect::<Result<_>>()?;
        let length = if opcode == Opcode::CustomData { 0 } else { 0x7f << 24 };
        found.push(Words { token: token & !length, extended, words, doubles });
    }
    Ok(found)
}

/// The words differ in digits that listings do not show, at most.
fn is_near(a: u32, b: u32) -> bool {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    a == b || (x - y).abs() <= 5e-7 + x.abs() * 1e-6 || x.is_nan() && y.is_nan()
}

fn are_alike(a: &Words, b: &Words) -> bool {
    a.token == b.token
        && a.extended == b.extended
        && a.words.len() == b.words.len()
        && (a.doubles || a.words.iter().zip(&b.words).all(|(a, b)| is_near(*a, *b)))
}

/// Assembles what a program is disassembled to; tells the first difference.
fn round_trip(part: &[u8]) -> Result<(), String> {
    let listing = disassemble(part).map_err(|error| error.to_string())?;
    // Messages to the debug layer are custom data, which is not assembled.
    let is_message = |line: &&str| ["printf ", "errorf "].iter().any(|name| line.trim_start().starts_with(name));
    let listing = listing.lines().filter(|line| !is_message(line)).collect::<Vec<_>>().join("\n");
    let assembled = assemble(&listing).map_err(|error| error.to_string())?;
    let ours = words(&assembled).map_err(|error| error.to_string())?;
    let theirs = words(part).map_err(|error| error.to_string())?;
    if let Some((ours, theirs)) = ours.iter().zip(&theirs).find(|(ours, theirs)| !are_alike(ours, theirs)) {
        return Err(format!("{theirs:x?} became {ours:x?}"));
    }
    (ours.len() == theirs.len())
        .then_some(())
        .ok_or_else(|| format!("{} statements became {}", theirs.len(), ours.len()))
}

fn shaders(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            shaders(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "dxbc") {
            found.push(path);
        }
    }
}

#[test]
fn listings_assemble_to_their_programs() {
    /// Real programs, one of so many.
    const STEP: usize = 4;
    /// Of another compiler, which gives a raw buffer a return type that listings do not show.
    const OTHER: &str = "ba116542366c4daf";
    let mut found = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    shaders(&root.join("tests/fixtures"), &mut found);
    let corpus = root.join("../shared/corpus");
    if corpus.exists() {
        let mut real = Vec::new();
        shaders(&corpus, &mut real);
        real.sort();
        found.extend(real.into_iter().step_by(STEP));
    }
    let mut count = 0;
    for path in found.iter().filter(|path| !path.to_string_lossy().contains(OTHER)) {
        let bytes = fs::read(path).unwrap();
        let container = Container::parse(&bytes);
        let Ok(part) = container.and_then(|container| program_part(&container)) else { continue };
        if disassemble(part.data).is_err() {
            // Damaged on purpose.
            continue;
        }
        if let Err(difference) = round_trip(part.data) {
            panic!("{}: {difference}", path.display());
        }
        count += 1;
    }
    assert!(count > 150, "{count}");
}

#[test]
fn literals_are_exact_in_hexadecimal() {
    let text = "cs_5_0\nadd r0.xy, l(0x7fc00001, -1, 1.500000, 0), -|r1.yxyy| // comment\ndmov r0.xy, d(0x7ff0000000000001, -0.5l)";
    let words: Vec<u32> =
        assemble(text).unwrap().chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let add = [0x0b00_0000, 0x0010_0032, 0, 0x4002, 0x7fc0_0001, u32::MAX, 0x3fc0_0000, 0, 0x8010_0516, 0xc1, 1];
    let dmov = [0x0800_00c7, 0x0010_0032, 0, 0x5002, 1, 0x7ff0_0000, 0, 0xbfe0_0000];
    let header = [5 << 16 | 0x50, 2 + add.len() as u32 + dmov.len() as u32];
    let expected: Vec<u32> = header.iter().chain(&add).chain(&dmov).copied().collect();
    assert_eq!(words, expected, "{words:x?}");
}

#[test]
fn what_cannot_be_read_is_named_with_its_line() {
    for (line, told) in [
        ("addd r0.x, r0.x, r0.x", "unknown instruction: addd"),
        ("add r0.x, r0.x", "wrong number of operands"),
        ("mov r0.yx, r0.x", "components of a mask out of order"),
        ("mov r0.x, q0.x", "unknown register: q0.x"),
        ("mov r0.x, r0[.x", "unknown register"),
        ("mov r0.x, l(1, 2)", "an immediate value of neither"),
        ("mov r0.x, l(0x1ffffffff)", "not a number of 32 bits"),
        ("mov r0.x, r0.x {half}", "unknown mark of an operand: half"),
        ("mov r0.x, x0[x0[x0[x0[x0[x0[r0.x].x].x].x].x].x].x", "nest too deep"),
        ("dcl_resource_texture5d (float,float,float,float) t0", "unknown name: texture5d"),
        ("dcl_temp 1", "unknown declaration: dcl_temp"),
        ("ld_indexable(texture2d) r0.x, r0.x, t0.x", "in parentheses is missing"),
    ] {
        let error = assemble(&format!("ps_5_0\n\n{line}\n")).unwrap_err().to_string();
        assert!(error.contains("line 3 of the assembly") && error.contains(told), "{line}: {error}");
    }
    for text in ["", "ps_6_0", "xs_5_0", "ps_5_0_level_9_1"] {
        assert!(assemble(text).is_err(), "{text}");
    }
}

/// The fixtures that are assembled by hand: `NAME.dxasm` beside the container `NAME.dxbc`, which is written anew with
/// `UPDATE_FIXTURES=1`.
#[test]
fn fixtures_are_what_they_are_assembled_from() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/assembled");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "dxasm") {
            continue;
        }
        let part = assemble(&fs::read_to_string(&path).unwrap());
        let part = part.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let bytes = ContainerWriter::new().push(FourCc::SHEX, part).write().unwrap();
        let shader = path.with_extension("dxbc");
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            fs::write(&shader, &bytes).unwrap();
        }
        assert!(fs::read(&shader).ok() == Some(bytes), "{}: UPDATE_FIXTURES=1 writes it anew", shader.display());
        count += 1;
    }
    assert!(count > 10, "{count}");
}
