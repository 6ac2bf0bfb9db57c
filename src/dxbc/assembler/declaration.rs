//! Declarations and immediate constant buffers.

use super::{
    Assembler, error,
    instruction::return_types,
    integer, number,
    operand::{Components, literal, operand, register},
    split,
};
use crate::{
    Result,
    dxbc::{disassembly::names, opcode::Opcode, operand::RegisterFile},
};

impl Assembler {
    pub(super) fn declaration(&mut self, line: &str) -> Result<()> {
        use Opcode as Op;
        let (keyword, rest) = line.split_once(' ').unwrap_or((line, ""));
        if keyword == "dcl_immediateConstantBuffer" {
            return self.immediate_constants(rest);
        }
        let operands = split(rest);
        let wrong = || error("operands of a declaration", line);
        let at = |index: usize| operands.get(index).copied().ok_or_else(wrong);
        let (keyword, mut controls) = keyword_controls(keyword);
        let opcode = opcode(keyword).ok_or_else(|| error("unknown declaration", keyword))?;
        let mut words = Vec::new();
        match opcode {
            Op::DclResource | Op::DclUavTyped => {
                let stem = if opcode == Op::DclResource { "dcl_resource_" } else { "dcl_uav_typed_" };
                let shape = keyword.strip_prefix(stem).ok_or_else(wrong)?;
                let (shape, samples) = match shape.split_once('(') {
                    Some((shape, samples)) => (shape, integer(samples.trim_end_matches(')'))?),
                    None => (shape, 0),
                };
                controls |= number(&names::DIMENSIONS, shape)? << 11 | samples << 16;
                let (types, place) =
                    at(0)?.strip_prefix('(').and_then(|rest| rest.split_once(')')).ok_or_else(wrong)?;
                self.resource(place.trim(), &mut words)?;
                words.push(return_types(types)?);
                self.space(&operands, &mut words)?;
            }
            Op::DclResourceRaw | Op::DclUavRaw => {
                self.resource(at(0)?, &mut words)?;
                self.space(&operands, &mut words)?;
            }
            Op::DclResourceStructured | Op::DclUavStructured => {
                self.resource(at(0)?, &mut words)?;
                words.push(integer(at(1)?)?);
                self.space(&operands, &mut words)?;
            }
            Op::DclSampler => {
                self.resource(at(0)?, &mut words)?;
                let mode = at(1)?.strip_prefix("mode_").ok_or_else(wrong)?;
                controls |= number(&names::SAMPLER_MODES, mode)? << 11;
                self.space(&operands, &mut words)?;
            }
            Op::DclConstantBuffer => {
                controls |= u32::from(at(1)? == "dynamicIndexed") << 11;
                let (place, rows) =
                    at(0)?.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')).ok_or_else(wrong)?;
                let rows = if rows == "*" { 0 } else { integer(rows)? };
                if self.ranges {
                    self.range(place, ALL_COMPONENTS, &mut words)?;
                    words.push(rows);
                } else {
                    let buffer = integer(place.strip_prefix("CB").ok_or_else(wrong)?)?;
                    words.extend([token(RegisterFile::ConstantBuffer, 2) | ALL_COMPONENTS, buffer, rows]);
                }
                self.space(&operands, &mut words)?;
            }
            Op::DclInputPs | Op::DclInputPsSgv | Op::DclInputPsSiv => {
                let (mode, place) = at(0)?.rsplit_once(' ').ok_or_else(wrong)?;
                // `v0.x {min16f}`
                let (mode, place) = match mode.rsplit_once(' ') {
                    Some((mode, place)) if at(0)?.ends_with('}') && !place.is_empty() => {
                        (mode, &at(0)?[mode.len() + 1..])
                    }
                    _ => (mode, place),
                };
                controls |= number(&names::INTERPOLATIONS, mode)? << 11;
                operand(place, Components::Mask, self.ranges, &mut words)?;
                self.system_value(&operands, &mut words)?;
            }
            Op::DclInput | Op::DclInputSgv | Op::DclInputSiv | Op::DclOutput | Op::DclOutputSgv | Op::DclOutputSiv => {
                operand(at(0)?, Components::Mask, self.ranges, &mut words)?;
                self.system_value(&operands, &mut words)?;
            }
            Op::DclIndexRange => {
                let (place, count) = at(0)?.rsplit_once(' ').ok_or_else(wrong)?;
                operand(place, Components::Mask, self.ranges, &mut words)?;
                words.push(integer(count)?);
            }
            Op::DclIndexableTemp => {
                let place = register(at(0)?, self.ranges)?;
                let [temp, count] = place.indices[..] else { return Err(wrong()) };
                words.extend([integer(temp)?, integer(count)?, integer(at(1)?)?]);
            }
            Op::DclGlobalFlags => {
                for flag in rest.split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
                    controls |= 1 << (11 + number(&names::GLOBAL_FLAGS, flag)?);
                }
            }
            Op::DclGsInputPrimitive => {
                controls |= match rest {
                    "point" => 1,
                    "line" => 2,
                    "triangle" => 3,
                    "lineadj" => 6,
                    "triangleadj" => 7,
                    patch => integer(patch.strip_prefix("patch").ok_or_else(wrong)?)? + 7,
                } << 11;
            }
            Op::DclGsOutputPrimitiveTopology => controls |= number(&names::TOPOLOGIES, rest)? << 11,
            Op::DclInputControlPointCount | Op::DclOutputControlPointCount => controls |= integer(rest)? << 11,
            Op::DclTessDomain => controls |= number(&names::DOMAINS, rest)? << 11,
            Op::DclTessPartitioning => controls |= number(&names::PARTITIONINGS, rest)? << 11,
            Op::DclTessOutputPrimitive => controls |= number(&names::OUTPUT_PRIMITIVES, rest)? << 11,
            Op::DclHsMaxTessFactor => {
                words
                    .push(literal(rest.strip_prefix("l(").and_then(|rest| rest.strip_suffix(')')).ok_or_else(wrong)?)?);
            }
            Op::DclTgsmRaw | Op::DclTgsmStructured => {
                operand(at(0)?, Components::Mask, self.ranges, &mut words)?;
                words.extend(operands[1..].iter().map(|number| integer(number)).collect::<Result<Vec<_>>>()?);
            }
            Op::DclStream => operand(rest, Components::Mask, self.ranges, &mut words)?,
            Op::DclFunctionBody => words.push(prefixed(rest, "fb")?),
            Op::DclFunctionTable => {
                let (table, bodies) = rest.split_once(" = ").ok_or_else(wrong)?;
                let bodies = list(bodies, "fb")?;
                words.extend([prefixed(table, "ft")?, bodies.len() as u32]);
                words.extend(bodies);
            }
            Op::DclInterface => {
                let (interface, tables) = rest.split_once(" = ").ok_or_else(wrong)?;
                let interface = register(interface, self.ranges)?;
                let [slot, elements, functions] = interface.indices[..] else { return Err(wrong()) };
                let tables = list(tables, "ft")?;
                let lengths = integer(elements)? << 16 | tables.len() as u32;
                words.extend([integer(slot)?, integer(functions)?, lengths]);
                words.extend(tables);
            }
            // Numbers.
            _ => words.extend(operands.iter().map(|number| integer(number)).collect::<Result<Vec<_>>>()?),
        }
        self.push(opcode, controls, &words)
    }

    /// `{ { 1.000000, 0, 0, 0}, { 0, 0, 0, 0} }`
    fn immediate_constants(&mut self, text: &str) -> Result<()> {
        const IMMEDIATE_CONSTANT_BUFFER: u32 = 3;
        let values = text.split(['{', '}', ',']).map(str::trim).filter(|value| !value.is_empty());
        let values = values.map(literal).collect::<Result<Vec<_>>>()?;
        if !values.len().is_multiple_of(4) {
            return Err(error("an immediate constant buffer of partial rows", text));
        }
        self.words.extend([Opcode::CustomData as u32 | IMMEDIATE_CONSTANT_BUFFER << 11, values.len() as u32 + 2]);
        self.words.extend(values);
        Ok(())
    }

    /// The place of a resource: `t0`, or `T0[4:7]`.
    fn resource(&self, text: &str, words: &mut Vec<u32>) -> Result<()> {
        if self.ranges {
            return self.range(text, 0, words);
        }
        operand(text, Components::Mask, false, words)
    }

    /// `T0[4:7]`, `T0[4:*]`
    fn range(&self, text: &str, components: u32, words: &mut Vec<u32>) -> Result<()> {
        let place = register(text, true)?;
        let wrong = || error("not a range of registers", text);
        let [id, range] = place.indices[..] else { return Err(wrong()) };
        let (first, last) = range.split_once(':').ok_or_else(wrong)?;
        let last = if last == "*" { u32::MAX } else { integer(last)? };
        words.extend([token(place.file, 3) | components, integer(id)?, integer(first)?, last]);
        Ok(())
    }

    /// `space=1`, which is last.
    fn space(&self, operands: &[&str], words: &mut Vec<u32>) -> Result<()> {
        if self.ranges {
            let space = operands.last().and_then(|last| last.strip_prefix("space="));
            words.push(integer(space.ok_or_else(|| error("a resource without a space", &operands.join(", ")))?)?);
        }
        Ok(())
    }

    /// The name behind a register.
    fn system_value(&self, operands: &[&str], words: &mut Vec<u32>) -> Result<()> {
        if let Some(name) = operands.get(1) {
            words.push(number(&names::SYSTEM_VALUES, name)?);
        }
        Ok(())
    }
}

/// Operand token of a register with immediate indices and without components.
fn token(file: RegisterFile, indices: u32) -> u32 {
    (file as u32) << 12 | indices << 20
}

/// Four components, in order.
const ALL_COMPONENTS: u32 = 0xe46;

/// Takes what the end of a keyword says of a view or an interface from it.
fn keyword_controls(keyword: &str) -> (&str, u32) {
    let (mut keyword, mut controls) = (keyword, 0);
    if keyword == "dcl_interface_dynamicindexed" {
        return ("dcl_interface", 1 << 11);
    }
    if keyword.starts_with("dcl_uav") {
        for (suffix, bit) in [("_opc", 23), ("_rov", 17), ("_glc", 16)] {
            if let Some(before) = keyword.strip_suffix(suffix) {
                keyword = before;
                controls |= 1 << bit;
            }
        }
    }
    (keyword, controls)
}

/// The opcode of a keyword: its name, or that with the shape of a typed resource.
fn opcode(keyword: &str) -> Option<Opcode> {
    let exact = (0..256)
        .filter_map(Opcode::from_number)
        .filter(|opcode| opcode.is_declaration())
        .find(|opcode| opcode.name() == keyword);
    exact.or_else(|| {
        let typed = [("dcl_resource_", Opcode::DclResource), ("dcl_uav_typed_", Opcode::DclUavTyped)];
        typed.into_iter().find(|(stem, _)| keyword.starts_with(stem)).map(|(_, opcode)| opcode)
    })
}

/// `fb3`
fn prefixed(text: &str, prefix: &str) -> Result<u32> {
    integer(text.trim().strip_prefix(prefix).ok_or_else(|| error("unknown register", text))?)
}

/// `{ft0, ft1}`
fn list(text: &str, prefix: &str) -> Result<Vec<u32>> {
    let inner = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let inner = inner.ok_or_else(|| error("not a list in braces", text))?;
    inner.split(',').map(|name| prefixed(name, prefix)).collect()
}
