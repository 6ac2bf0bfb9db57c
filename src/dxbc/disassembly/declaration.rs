//! Declarations and custom data.

use super::{
    Listing,
    instruction::{dimension, return_types},
    literal::{LiteralKind, write_float},
    names,
    operand::Precision,
};
use crate::{
    Error, Result,
    dxbc::{
        opcode::Opcode,
        operand::{Operand, Selection},
        statement::Statement,
        token::{Tokens, bits},
    },
};

/// `D3D10_SB_RESOURCE_DIMENSION_TEXTURE2DMS`: the declaration has a sample count, 0 where it is left open.
const TEXTURE_2D_MULTISAMPLED: u32 = 4;
/// `D3D10_SB_RESOURCE_DIMENSION_TEXTURE2DMSARRAY`
const TEXTURE_2D_MULTISAMPLED_ARRAY: u32 = 9;

/// `name` of `names`, or its number.
fn named(names: &[&str], number: u32) -> String {
    names.get(number as usize).map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

impl Listing {
    pub(super) fn declaration(&mut self, statement: Statement<'_>) -> Result<()> {
        use Opcode as Op;
        let Statement { opcode, token, tokens, .. } = statement;
        let tokens = &mut tokens.clone();
        let control = |low, width| bits(token, low, width);
        self.text.push_str(opcode.name());
        match opcode {
            Op::DclResource | Op::DclUavTyped => {
                self.write(format_args!("_{}", dimension(control(11, 5))))?;
                if opcode == Op::DclUavTyped {
                    self.uav_flags(token);
                } else if matches!(control(11, 5), TEXTURE_2D_MULTISAMPLED | TEXTURE_2D_MULTISAMPLED_ARRAY) {
                    self.write(format_args!("({})", control(16, 7)))?;
                }
                let operand = Operand::read(tokens)?;
                let returned = tokens.next()?;
                let types = return_types([0, 4, 8, 12].map(|low| bits(returned, low, 4)));
                self.write(format_args!(" {types} "))?;
                self.resource(&operand)?;
                self.space(tokens)
            }
            Op::DclResourceRaw | Op::DclUavRaw => {
                if opcode == Op::DclUavRaw {
                    self.uav_flags(token);
                }
                self.text.push(' ');
                let operand = Operand::read(tokens)?;
                self.resource(&operand)?;
                self.space(tokens)
            }
            Op::DclResourceStructured | Op::DclUavStructured => {
                if opcode == Op::DclUavStructured {
                    self.uav_flags(token);
                    if control(23, 1) == 1 {
                        self.text.push_str("_opc");
                    }
                }
                self.text.push(' ');
                let operand = Operand::read(tokens)?;
                self.resource(&operand)?;
                let stride = tokens.next()?;
                self.write(format_args!(", {stride}"))?;
                self.space(tokens)
            }
            Op::DclSampler => {
                self.text.push(' ');
                let operand = Operand::read(tokens)?;
                self.resource(&operand)?;
                self.write(format_args!(", mode_{}", named(&names::SAMPLER_MODES, control(11, 4))))?;
                self.space(tokens)
            }
            Op::DclConstantBuffer => {
                let operand = Operand::read(tokens)?;
                self.text.push(' ');
                let rows = if self.layout_5_1 {
                    self.resource(&operand)?;
                    tokens.next()?
                } else {
                    let [register, rows] = &operand.indices[..] else {
                        return Err(Error::malformed("dcl_constantbuffer without a size"));
                    };
                    self.write(format_args!("CB{}", register.base))?;
                    rows.base
                };
                // The size is not known where it is 0.
                match rows {
                    0 => self.text.push_str("[*]"),
                    _ => self.write(format_args!("[{rows}]"))?,
                }
                self.text.push_str(if control(11, 1) == 1 { ", dynamicIndexed" } else { ", immediateIndexed" });
                self.space(tokens)
            }
            Op::DclInputPs | Op::DclInputPsSgv | Op::DclInputPsSiv => {
                self.write(format_args!(" {}", named(&names::INTERPOLATIONS, control(11, 4))))?;
                self.signature_register(tokens)
            }
            Op::DclInput | Op::DclInputSgv | Op::DclInputSiv | Op::DclOutput | Op::DclOutputSgv | Op::DclOutputSiv => {
                self.signature_register(tokens)
            }
            Op::DclIndexRange => {
                self.text.push(' ');
                let operand = Operand::read(tokens)?;
                self.operand(&operand, LiteralKind::Int, Precision::Of(0))?;
                let count = tokens.next()?;
                self.write(format_args!(" {count}"))
            }
            Op::DclIndexableTemp => {
                let (register, count, components) = (tokens.next()?, tokens.next()?, tokens.next()?);
                self.write(format_args!(" x{register}[{count}], {components}"))
            }
            Op::DclGlobalFlags => {
                let flags: Vec<&str> = names::GLOBAL_FLAGS
                    .iter()
                    .enumerate()
                    .filter(|(flag, _)| control(11 + *flag as u32, 1) == 1)
                    .map(|(_, name)| *name)
                    .collect();
                self.write(format_args!(" {}", flags.join(" | ")))
            }
            Op::DclGsInputPrimitive => {
                let name = match control(11, 6) {
                    1 => "point".to_owned(),
                    2 => "line".to_owned(),
                    3 => "triangle".to_owned(),
                    6 => "lineadj".to_owned(),
                    7 => "triangleadj".to_owned(),
                    patch => format!("patch{}", patch.saturating_sub(7)),
                };
                self.write(format_args!(" {name}"))
            }
            Op::DclGsOutputPrimitiveTopology => {
                self.write(format_args!(" {}", named(&names::TOPOLOGIES, control(11, 7))))
            }
            Op::DclInputControlPointCount | Op::DclOutputControlPointCount => {
                self.write(format_args!(" {}", control(11, 6)))
            }
            Op::DclTessDomain => self.write(format_args!(" {}", named(&names::DOMAINS, control(11, 2)))),
            Op::DclTessPartitioning => self.write(format_args!(" {}", named(&names::PARTITIONINGS, control(11, 3)))),
            Op::DclTessOutputPrimitive => {
                self.write(format_args!(" {}", named(&names::OUTPUT_PRIMITIVES, control(11, 3))))
            }
            Op::DclHsMaxTessFactor => {
                self.text.push_str(" l(");
                write_float(f64::from(f32::from_bits(tokens.next()?)), &mut self.text);
                self.text.push(')');
                Ok(())
            }
            Op::DclThreadGroup => {
                let (x, y, z) = (tokens.next()?, tokens.next()?, tokens.next()?);
                self.write(format_args!(" {x}, {y}, {z}"))
            }
            Op::DclTgsmRaw | Op::DclTgsmStructured => {
                self.text.push(' ');
                let operand = Operand::read(tokens)?;
                self.register(&operand)?;
                while !tokens.is_empty() {
                    let number = tokens.next()?;
                    self.write(format_args!(", {number}"))?;
                }
                Ok(())
            }
            Op::DclStream => {
                self.text.push(' ');
                let operand = Operand::read(tokens)?;
                self.register(&operand)
            }
            Op::DclFunctionBody => {
                let body = tokens.next()?;
                self.write(format_args!(" fb{body}"))
            }
            Op::DclFunctionTable => {
                let (table, count) = (tokens.next()?, tokens.next()?);
                self.write(format_args!(" ft{table} = "))?;
                self.list("fb", count, tokens)
            }
            Op::DclInterface => {
                if bits(token, 11, 1) == 1 {
                    self.text.push_str("_dynamicindexed");
                }
                let (interface, functions, lengths) = (tokens.next()?, tokens.next()?, tokens.next()?);
                self.write(format_args!(" fp{interface}[{}][{functions}] = ", bits(lengths, 16, 16)))?;
                self.list("ft", bits(lengths, 0, 16), tokens)
            }
            // One number.
            Op::DclTemps
            | Op::DclMaxOutputVertexCount
            | Op::DclGsInstanceCount
            | Op::DclHsForkPhaseInstanceCount
            | Op::DclHsJoinPhaseInstanceCount => {
                let number = tokens.next()?;
                self.write(format_args!(" {number}"))
            }
            _ => Err(Error::internal(format!("{} is no declaration", opcode.name()))),
        }
    }

    /// Immediate constant buffers and messages; other data is not part of the program, and is not written.
    pub(super) fn custom_data(&mut self, statement: Statement<'_>) -> Result<bool> {
        const IMMEDIATE_CONSTANT_BUFFER: u32 = 3;
        const SHADER_MESSAGE: u32 = 4;
        let mut tokens = statement.tokens;
        match bits(statement.token, 11, 21) {
            IMMEDIATE_CONSTANT_BUFFER => {}
            SHADER_MESSAGE => return self.shader_message(tokens).map(|()| true),
            _ => return Ok(false),
        }
        self.text.push_str("dcl_immediateConstantBuffer { ");
        while tokens.remaining() >= 4 {
            self.text.push_str("{ ");
            for component in 0..4 {
                if component > 0 {
                    self.text.push_str(", ");
                }
                LiteralKind::Untyped.write(tokens.next()?, &mut self.text);
            }
            self.text.push('}');
            if tokens.remaining() >= 4 {
                self.text.push_str(",\n                              ");
            }
        }
        self.text.push_str(" }");
        Ok(true)
    }

    /// `t0`, or `T0[4:7]`.
    fn resource(&mut self, operand: &Operand) -> Result<()> {
        if !self.layout_5_1 {
            return self.register(operand);
        }
        let [id, lower, upper] = &operand.indices[..] else {
            return Err(Error::malformed("a range of registers without its ends"));
        };
        let mut register = operand.clone();
        register.indices.truncate(1);
        register.indices[0] = id.clone();
        self.register(&register)?;
        match upper.base {
            u32::MAX => self.write(format_args!("[{}:*]", lower.base)),
            upper => self.write(format_args!("[{}:{upper}]", lower.base)),
        }
    }

    fn space(&mut self, tokens: &mut Tokens<'_>) -> Result<()> {
        if !self.layout_5_1 {
            return Ok(());
        }
        // Some compilers write a return type for raw buffers too: the space is last.
        let mut space = tokens.next()?;
        while !tokens.is_empty() {
            space = tokens.next()?;
        }
        self.write(format_args!(", space={space}"))
    }

    fn uav_flags(&mut self, token: u32) {
        if bits(token, 16, 1) == 1 {
            self.text.push_str("_glc");
        }
        if bits(token, 17, 1) == 1 {
            self.text.push_str("_rov");
        }
    }

    /// A register of a signature, and its system value if it has one.
    fn signature_register(&mut self, tokens: &mut Tokens<'_>) -> Result<()> {
        let operand = Operand::read(tokens)?;
        self.text.push(' ');
        self.register(&operand)?;
        if operand.selection != Selection::Mask(0) {
            self.selection(operand.selection);
        }
        self.min_precision(operand.modifiers.min_precision);
        if !tokens.is_empty() {
            let name = named(&names::SYSTEM_VALUES, bits(tokens.next()?, 0, 16));
            self.write(format_args!(", {name}"))?;
        }
        Ok(())
    }

    /// `{ft0, ft1}`
    fn list(&mut self, prefix: &str, count: u32, tokens: &mut Tokens<'_>) -> Result<()> {
        self.text.push('{');
        for index in 0..count {
            if index > 0 {
                self.text.push_str(", ");
            }
            let number = tokens.next()?;
            self.write(format_args!("{prefix}{number}"))?;
        }
        self.text.push('}');
        Ok(())
    }
}
