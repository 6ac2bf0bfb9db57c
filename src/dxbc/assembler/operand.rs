//! Operands.

use super::{error, integer};
use crate::{
    Result,
    dxbc::{disassembly::names, operand::RegisterFile},
};

/// What the components after a register are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Components {
    /// Of a destination or a declaration: a mask.
    Mask,
    /// Of a source: four are a swizzle, one is for all.
    Source,
}

/// A register and what is selected of it.
pub struct Register<'t> {
    pub file: RegisterFile,
    /// Indices, as text.
    pub indices: Vec<&'t str>,
    /// Letters of the components.
    pub components: &'t str,
}

/// Splits a register: `cb0[r1.x + 2].xyz` in file, indices `0` and `r1.x + 2`, and `xyz`.
pub fn register(text: &str, ranges: bool) -> Result<Register<'_>> {
    let unknown = || error("unknown register", text);
    let name_end = text.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(name_end);
    let files = (0..).map_while(RegisterFile::from_number);
    let file = files
        .filter(|file| !matches!(file, RegisterFile::Immediate32 | RegisterFile::Immediate64))
        .find(|file| names::register(*file, ranges) == name)
        .ok_or_else(unknown)?;
    let mut indices = Vec::new();
    let digits = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    if digits > 0 {
        indices.push(&rest[..digits]);
        rest = &rest[digits..];
    }
    while let Some(inner) = rest.strip_prefix('[') {
        let mut depth = 1;
        let end = inner.find(|character| {
            depth += match character {
                '[' => 1,
                ']' => -1,
                _ => 0,
            };
            depth == 0
        });
        let end = end.ok_or_else(unknown)?;
        indices.push(inner[..end].trim());
        rest = &inner[end + 1..];
    }
    let components = match rest.strip_prefix('.') {
        Some(components) => components,
        None if rest.is_empty() => "",
        None => return Err(unknown()),
    };
    if indices.len() > 3 {
        return Err(error("a register of too many dimensions", text));
    }
    Ok(Register { file, indices, components })
}

/// The register has one component, so that none is named.
fn is_scalar(file: RegisterFile) -> bool {
    use RegisterFile::*;
    matches!(
        file,
        InputPrimitiveId
            | OutputDepth
            | OutputDepthGreaterEqual
            | OutputDepthLessEqual
            | OutputCoverageMask
            | OutputStencilRef
            | OutputControlPointId
            | ForkInstanceId
            | JoinInstanceId
            | InputCoverageMask
            | InnerCoverage
            | ThreadIdInGroupFlattened
            | GsInstanceId
    )
}

/// Bits 0 to 11 of an operand token: number and selection of components.
fn selection(register: &Register<'_>, components: Components) -> Result<u32> {
    let letters = register.components;
    let number = |letter: char| {
        "xyzw".find(letter).map(|number| number as u32).ok_or_else(|| error("unknown component", letters))
    };
    let numbers = letters.chars().map(number).collect::<Result<Vec<_>>>()?;
    Ok(match (&numbers[..], components) {
        ([], _) => u32::from(is_scalar(register.file)),
        ([lane], Components::Source) => 2 | 2 << 2 | lane << 4,
        ([x, y, z, w], Components::Source) => 2 | 1 << 2 | x << 4 | y << 6 | z << 8 | w << 10,
        (lanes, _) => {
            if !lanes.is_sorted_by(|a, b| a < b) {
                return Err(error("components of a mask out of order", letters));
            }
            2 | lanes.iter().fold(0, |mask, lane| mask | 1 << lane) << 4
        }
    })
}

/// What stands before and after an operand.
struct Marks<'t> {
    text: &'t str,
    /// The extended token, 0 for none.
    extended: u32,
}

/// Takes modifiers and braces from an operand.
fn marks(text: &str) -> Result<Marks<'_>> {
    let mut extended = 0;
    let mut text = text.trim();
    if let Some(rest) = text.strip_prefix('-')
        && !rest.starts_with(|character: char| character.is_ascii_digit())
    {
        extended |= 1 << 6;
        text = rest;
    }
    if let Some(inner) = text.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')) {
        extended |= 2 << 6;
        text = inner;
    }
    while let Some(begin) = text.strip_suffix('}').and_then(|inner| inner.rfind('{')) {
        let inside = text[begin + 1..text.len() - 1].trim();
        let name = inside.split(" as ").next().unwrap_or(inside).trim();
        match (name, (1..=5).find(|number| names::precision(*number) == Some(name))) {
            ("nonuniform", _) => extended |= 1 << 17,
            ("def32", _) => {}
            (_, Some(number)) => extended |= u32::from(number) << 14,
            _ => return Err(error("unknown mark of an operand", inside)),
        }
        text = text[..begin].trim_end();
    }
    // D3D10_SB_EXTENDED_OPERAND_MODIFIER
    Ok(Marks { text, extended: if extended == 0 { 0 } else { extended | 1 } })
}

/// How deep relative indices may nest: as deep as they are read.
const MAX_NESTING: u32 = 4;

/// Appends an operand.
pub fn operand(text: &str, components: Components, ranges: bool, words: &mut Vec<u32>) -> Result<()> {
    nested(text, components, ranges, words, 0)
}

fn nested(text: &str, components: Components, ranges: bool, words: &mut Vec<u32>, depth: u32) -> Result<()> {
    if depth > MAX_NESTING {
        return Err(error("relative indices nest too deep", text));
    }
    let Marks { text, extended } = marks(text)?;
    let more = if extended == 0 { 0 } else { 1 << 31 };
    let put = |token: u32, words: &mut Vec<u32>| {
        words.push(token | more);
        if extended != 0 {
            words.push(extended);
        }
    };
    if let Some(values) = text.strip_prefix("l(").and_then(|rest| rest.strip_suffix(')')) {
        let values: Vec<_> = values.split(',').map(literal).collect::<Result<_>>()?;
        let count = match values.len() {
            1 => 1,
            4 => 2,
            _ => return Err(error("an immediate value of neither one nor four components", text)),
        };
        put((RegisterFile::Immediate32 as u32) << 12 | count, words);
        words.extend(values);
        return Ok(());
    }
    if let Some(values) = text.strip_prefix("d(").and_then(|rest| rest.strip_suffix(')')) {
        let values: Vec<_> = values.split(',').map(double).collect::<Result<_>>()?;
        let count = match values.len() {
            1 => 1,
            2 => 2,
            _ => return Err(error("an immediate value of neither one nor two doubles", text)),
        };
        put((RegisterFile::Immediate64 as u32) << 12 | count, words);
        words.extend(values.iter().flat_map(|bits| [*bits as u32, (*bits >> 32) as u32]));
        return Ok(());
    }
    let register = register(text, ranges)?;
    let mut token = (register.file as u32) << 12 | (register.indices.len() as u32) << 20;
    token |= selection(&register, components)?;
    let mut after = Vec::new();
    for (dimension, index) in register.indices.iter().enumerate() {
        let (relative, base) = match index.rsplit_once(" + ") {
            Some((relative, base)) => (Some(relative), integer(base)?),
            None => match integer(index) {
                Ok(base) => (None, base),
                Err(_) => (Some(*index), 0),
            },
        };
        // D3D10_SB_OPERAND_INDEX_REPRESENTATION: immediate, relative, or their sum.
        let representation = match (relative, base) {
            (None, _) => 0,
            (Some(_), 0) => 2,
            (Some(_), _) => 3,
        };
        token |= representation << (22 + 3 * dimension);
        if representation != 2 {
            after.push(base);
        }
        if let Some(relative) = relative {
            nested(relative, Components::Source, ranges, &mut after, depth + 1)?;
        }
    }
    put(token, words);
    words.extend(after);
    Ok(())
}

/// The bits of a word: an integer, or a float as C's `%f` spells it.
pub fn literal(text: &str) -> Result<u32> {
    let text = text.trim();
    match float(text) {
        Some(value) => Ok((value as f32).to_bits()),
        None => integer(text),
    }
}

/// The bits of a double: `1.500000l`, or a hexadecimal number.
fn double(text: &str) -> Result<u64> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).map_err(|_| error("not a number of 64 bits", text));
    }
    let value = float(text.strip_suffix('l').unwrap_or(text)).ok_or_else(|| error("not a double", text))?;
    Ok(value.to_bits())
}

/// A number with a decimal point, and what Microsoft's C library writes for what is no number.
fn float(text: &str) -> Option<f64> {
    let (sign, magnitude) = match text.strip_prefix('-') {
        Some(magnitude) => (-1.0, magnitude),
        None => (1.0, text),
    };
    let value = match magnitude {
        "1.#INF00" => f64::INFINITY,
        "1.#QNAN0" => f64::NAN,
        _ if magnitude.contains('.') => magnitude.parse().ok()?,
        _ => return None,
    };
    Some(f64::copysign(value, sign))
}
