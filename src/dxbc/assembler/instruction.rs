//! Instructions.

use super::{
    Assembler, error, integer, number,
    operand::{Components, operand},
    split,
};
use crate::{
    Result,
    dxbc::{
        disassembly::names,
        opcode::{Opcode, Role},
    },
};

/// An instruction's name with what its controls and extended tokens say, and its operands.
struct Statement<'t> {
    opcode: Opcode,
    controls: u32,
    /// Kinds and contents of extended opcode tokens, without the bit that tells of another.
    extended: Vec<u32>,
    operands: &'t str,
}

impl Assembler {
    pub(super) fn instruction(&mut self, line: &str) -> Result<()> {
        let Statement { opcode, controls, extended, operands } = statement(line)?;
        let mut words = Vec::new();
        for (index, token) in extended.iter().enumerate() {
            let more = if index + 1 < extended.len() { 1 << 31 } else { 0 };
            words.push(token | more);
        }
        let operands = split(operands);
        if opcode == Opcode::InterfaceCall {
            // The function's number stands last, and first in the tokens.
            let [call] = operands[..] else { return Err(error("operands of fcall", line)) };
            let (interface, function) = call.rsplit_once('[').ok_or_else(|| error("operands of fcall", line))?;
            words.push(integer(function.trim_end_matches(']'))?);
            operand(interface, Components::Source, self.ranges, &mut words)?;
            return self.push(opcode, controls, &words);
        }
        if operands.len() != opcode.operands().len() {
            return Err(error("wrong number of operands", line));
        }
        for (index, (text, role)) in operands.iter().zip(opcode.operands()).enumerate() {
            let written = *role == Role::Destination || (*role == Role::Memory && index == 0);
            let components = if written { Components::Mask } else { Components::Source };
            operand(text, components, self.ranges, &mut words)?;
        }
        let more = if extended.is_empty() { 0 } else { 1 << 31 };
        self.push(opcode, controls | more, &words)
    }
}

fn statement(line: &str) -> Result<Statement<'_>> {
    let name_end = line.find([' ', '(']).unwrap_or(line.len());
    let (mnemonic, mut rest) = line.split_at(name_end);
    let mut controls = 0;
    if let Some(after) = rest.strip_prefix(" [precise") {
        let (mask, after) = after.split_once(']').ok_or_else(|| error("an open bracket", line))?;
        let letters = mask.trim_matches(['(', ')']);
        let mask = match letters {
            "" => 0xf,
            _ => (0..4)
                .filter(|lane| letters.contains(['x', 'y', 'z', 'w'][*lane]))
                .fold(0, |mask, lane| mask | 1 << lane),
        };
        controls |= mask << 19;
        rest = after;
    }
    let mut groups = Vec::new();
    while let Some(inner) = rest.strip_prefix('(') {
        let (group, after) = inner.split_once(')').ok_or_else(|| error("an open parenthesis", line))?;
        groups.push(group);
        rest = after;
    }
    // The type of a size, behind everything else.
    let mut name = mnemonic;
    for (suffix, number) in [("_rcpFloat", 1), ("_uint", if mnemonic.starts_with("sampleinfo") { 1 } else { 2 })] {
        if let Some(after) = rest.strip_prefix(suffix) {
            rest = after;
            controls |= number << 11;
        } else if let Some(before) = name.strip_suffix(suffix)
            && ["resinfo", "sampleinfo"].iter().any(|known| before.starts_with(known))
        {
            name = before;
            controls |= number << 11;
        }
    }
    if name.starts_with("sync") {
        let mut flags = name.trim_start_matches("sync");
        for (bit, flag) in names::SYNC_FLAGS {
            if let Some(after) = flags.strip_prefix(flag) {
                controls |= 1 << bit;
                flags = after;
            }
        }
        if !flags.is_empty() {
            return Err(error("unknown instruction", mnemonic));
        }
        return Ok(Statement { opcode: Opcode::Sync, controls, extended: Vec::new(), operands: rest });
    }
    let mut take = |suffix: &str| {
        let before = name.strip_suffix(suffix);
        name = before.unwrap_or(name);
        before.is_some()
    };
    let indexable = take("_indexable");
    let has_offset = take("_aoffimmi");
    if take("_sat") {
        controls |= 1 << 13;
    }
    let opcode = match opcode(name) {
        Some(opcode) => opcode,
        None => {
            let nonzero = name.strip_suffix("_nz");
            controls |= if nonzero.is_some() { 1 << 18 } else { 0 };
            let tested = nonzero.or_else(|| name.strip_suffix("_z")).and_then(opcode);
            tested.ok_or_else(|| error("unknown instruction", mnemonic))?
        }
    };
    let mut groups = groups.into_iter();
    let mut group = || groups.next().ok_or_else(|| error("something in parentheses is missing", line));
    let mut extended = Vec::new();
    if has_offset {
        let offsets = group()?.split(',').map(|offset| Ok(integer(offset)? & 0xf)).collect::<Result<Vec<_>>>()?;
        let [u, v, w] = offsets[..] else { return Err(error("not three offsets", line)) };
        extended.push(1 | u << 9 | v << 13 | w << 17);
    }
    if indexable {
        let mut shape = group()?.split(", stride=");
        let dimension = number(&names::DIMENSIONS, shape.next().unwrap_or_default().trim())?;
        let stride = shape.next().map_or(Ok(0), integer)?;
        extended.push(2 | dimension << 6 | (stride & 0xfff) << 11);
        extended.push(3 | return_types(group()?)? << 6);
    }
    if groups.next().is_some() {
        return Err(error("something in parentheses is too much", line));
    }
    Ok(Statement { opcode, controls, extended, operands: rest })
}

fn opcode(name: &str) -> Option<Opcode> {
    (0..256).filter_map(Opcode::from_number).find(|opcode| opcode.name() == name)
}

/// `float,float,float,float`: four bits each.
pub(super) fn return_types(text: &str) -> Result<u32> {
    let types = text.split(',').map(|name| number(&names::RETURN_TYPES, name.trim())).collect::<Result<Vec<_>>>()?;
    match types[..] {
        [x, y, z, w] => Ok(x | y << 4 | z << 8 | w << 12),
        _ => Err(error("not four types", text)),
    }
}
