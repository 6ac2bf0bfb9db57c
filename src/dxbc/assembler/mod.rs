//! From assembly in the spelling of [`disassemble`](super::disassemble) to tokens.
//!
//! Listings show floats with six digits. What needs other bits is written as a hexadecimal word, in any place: `l(0x7fc00001)`,
//! `d(0x3ff0000000000000)`. `//` begins a comment.

mod declaration;
mod instruction;
mod operand;

use super::opcode::Opcode;
use crate::{
    Error, Result,
    reflection::{ShaderModel, Stage},
};

/// A program's tokens, as the contents of a `SHEX` part (`SHDR` for Shader Model 4).
///
/// Messages to the debug layer (`printf`, `errorf`) are no part of it.
///
/// # Errors
/// Names the line and what is wrong with it.
pub fn assemble(text: &str) -> Result<Vec<u8>> {
    let mut lines = lines(text).into_iter();
    let Some((number, profile)) = lines.next() else { return Err(Error::malformed("assembly without a profile")) };
    let (stage, model) = version(&profile).ok_or_else(|| at_line(error("unknown profile", &profile), number))?;
    let mut assembler = Assembler { words: Vec::new(), ranges: (model.major, model.minor) >= (5, 1) };
    for (number, line) in lines {
        assembler.statement(&line).map_err(|error| at_line(error, number))?;
    }
    let kind = match stage {
        Stage::Pixel => 0,
        Stage::Vertex => 1,
        Stage::Geometry => 2,
        Stage::Hull => 3,
        Stage::Domain => 4,
        Stage::Library => 0xfff0,
        _ => 5,
    };
    let header = [kind << 16 | u32::from(model.major) << 4 | u32::from(model.minor), assembler.words.len() as u32 + 2];
    Ok(header.iter().chain(&assembler.words).flat_map(|word| word.to_le_bytes()).collect())
}

/// Something in the text that cannot be read.
fn error(what: &str, text: &str) -> Error {
    Error::malformed(format!("{what}: {text}"))
}

/// Names the line, counted from 1.
fn at_line(mut error: Error, number: usize) -> Error {
    error.what = format!("line {number} of the assembly: {}", error.what);
    error
}

/// Statements with the numbers of their lines. An immediate constant buffer takes several lines, and becomes one.
fn lines(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::<(usize, String)>::new();
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        match lines.last_mut() {
            Some((_, last)) if is_open => {
                last.push(' ');
                last.push_str(line);
            }
            _ => lines.push((index + 1, line.to_owned())),
        }
        let balance = |text: &str| text.matches('{').count() > text.matches('}').count();
        is_open = lines.last().is_some_and(|(_, last)| balance(last));
    }
    lines
}

/// `ps_5_0`
fn version(profile: &str) -> Option<(Stage, ShaderModel)> {
    let mut parts = profile.split('_');
    let stage = match parts.next()? {
        "ps" => Stage::Pixel,
        "vs" => Stage::Vertex,
        "gs" => Stage::Geometry,
        "hs" => Stage::Hull,
        "ds" => Stage::Domain,
        "cs" => Stage::Compute,
        "lib" => Stage::Library,
        _ => return None,
    };
    let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let known = matches!((major, minor), (4 | 5, 0 | 1)) && parts.next().is_none();
    known.then_some((stage, ShaderModel { major, minor }))
}

/// The tokens so far.
struct Assembler {
    words: Vec<u32>,
    /// Resources are ranges with spaces (Shader Model 5.1).
    ranges: bool,
}

impl Assembler {
    fn statement(&mut self, line: &str) -> Result<()> {
        if line.starts_with("dcl_") { self.declaration(line) } else { self.instruction(line) }
    }

    /// Appends a statement: its opcode token, with the length that all of its tokens have.
    fn push(&mut self, opcode: Opcode, controls: u32, rest: &[u32]) -> Result<()> {
        const MAX_LENGTH: usize = 127;
        let length = rest.len() + 1;
        if length > MAX_LENGTH {
            // The length is a token of its own.
            self.words.extend([opcode as u32 | controls | 1 << 31, length as u32 + 1]);
        } else {
            self.words.push(opcode as u32 | controls | (length as u32) << 24);
        }
        self.words.extend(rest);
        Ok(())
    }
}

/// Number of a name in a table.
fn number(names: &[&str], name: &str) -> Result<u32> {
    let found = names.iter().position(|known| *known == name).map(|number| number as u32);
    found.or_else(|| name.parse().ok()).ok_or_else(|| error("unknown name", name))
}

/// A decimal number, or a hexadecimal one with `0x`.
fn integer(text: &str) -> Result<u32> {
    let text = text.trim();
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse::<u32>().ok().or_else(|| text.parse::<i32>().ok().map(|number| number as u32)),
    };
    parsed.ok_or_else(|| error("not a number of 32 bits", text))
}

/// The parts of a list, at commas that stand in no brackets.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0i32;
    let mut parts = Vec::new();
    let mut begin = 0;
    for (index, character) in text.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[begin..index].trim());
                begin = index + 1;
            }
            _ => {}
        }
    }
    let last = text[begin..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

#[cfg(test)]
mod tests;
