//! From the tokens of a part to typed declarations and instructions.

use smallvec::SmallVec;

use super::{
    declaration::{self, Declaration},
    opcode::Opcode,
    operand::Operand,
    statement::{Statement, Statements},
    token::{Tokens, bits},
};
use crate::{
    Error, Result,
    reflection::{ShaderModel, Stage},
};

/// A tokenized program.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenProgram {
    /// Stage.
    pub stage: Stage,
    /// Shader Model.
    pub model: ShaderModel,
    /// One phase, except in hull shaders.
    pub phases: Vec<Phase>,
}

impl TokenProgram {
    /// All declarations of all phases, in file order.
    pub fn declarations(&self) -> impl Iterator<Item = &Declared> {
        self.phases.iter().flat_map(|phase| &phase.declarations)
    }
}

/// Part of a program: all of it, or one phase of a hull shader.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Which.
    pub kind: PhaseKind,
    /// Its declarations, in file order.
    pub declarations: Vec<Declared>,
    /// Its instructions, in file order.
    pub instructions: Vec<Instruction>,
}

/// What a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// The whole of a program, or what precedes the first phase of a hull shader.
    Main,
    /// `hs_decls`: declarations for all phases.
    Declarations,
    /// `hs_control_point_phase`: runs for each output control point.
    ControlPoint,
    /// `hs_fork_phase`: writes patch constants.
    Fork,
    /// `hs_join_phase`: writes patch constants, and reads what the fork phases wrote.
    Join,
}

/// A declaration and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// Byte offset in the part.
    pub offset: usize,
    /// What it says.
    pub declaration: Declaration,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// What it does.
    pub opcode: Opcode,
    /// Number among the instructions of the program, from 0.
    pub number: u32,
    /// Byte offset in the part.
    pub offset: usize,
    /// The result is clamped to 0..1.
    pub saturate: bool,
    /// The opcode token, for controls of single opcodes.
    pub token: u32,
    /// Offset in texels, of sampling instructions.
    pub texel_offset: Option<[i8; 3]>,
    /// `D3D10_SB_RESOURCE_DIMENSION` of the resource that is read, and `D3D10_SB_RESOURCE_RETURN_TYPE` of its first component,
    /// where the instruction repeats them: resources of class instances may have no other declaration.
    pub resource: Option<(u32, u32)>,
    /// Of `fcall`, the place of the function in its table.
    pub function: u32,
    /// The operands, as [`Opcode::operands`] lists them.
    pub operands: SmallVec<[Operand; 4]>,
}

impl Instruction {
    /// The condition holds if the operand is not zero (`if_nz`); else if it is zero (`if_z`).
    pub fn tests_nonzero(&self) -> bool {
        bits(self.token, 18, 1) == 1
    }

    /// Components of the results that must be computed as written.
    pub fn precise_mask(&self) -> u8 {
        bits(self.token, 19, 4) as u8
    }

    /// What `resinfo` and `sampleinfo` return.
    pub fn return_type(&self) -> u32 {
        bits(self.token, 11, 2)
    }

    /// An error in this instruction.
    pub fn place(&self, error: Error) -> Error {
        error.at_offset(self.offset).at_instruction(self.number)
    }

    /// The instruction has no lowering.
    pub fn unsupported(&self, details: &str) -> Error {
        self.place(Error::unsupported(format!("{}: {details}", self.opcode.name())))
    }

    /// The instruction contradicts the format.
    pub fn malformed(&self, details: &str) -> Error {
        self.place(Error::malformed(format!("{}: {details}", self.opcode.name())))
    }
}

/// Reads a `SHDR` or `SHEX` part.
///
/// # Errors
/// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) with the offset of the token that contradicts the format.
pub fn decode(part: &[u8]) -> Result<TokenProgram> {
    decode_parts(part, false)
}

/// Reads what a `SHDR` or `SHEX` part tells of its interface: declarations, and of the instructions those that use the
/// counter of a buffer, which no declaration tells.
///
/// # Errors
/// As for [`decode`], of what is read.
pub fn decode_interface(part: &[u8]) -> Result<TokenProgram> {
    decode_parts(part, true)
}

fn decode_parts(part: &[u8], interface_alone: bool) -> Result<TokenProgram> {
    let mut statements = Statements::new(part)?;
    let (stage, model) = (statements.stage, statements.model);
    let mut reader = Reader {
        layout_5_1: (model.major, model.minor) >= (5, 1),
        phases: vec![Phase { kind: PhaseKind::Main, declarations: Vec::new(), instructions: Vec::new() }],
        number: 0,
        interface_alone,
    };
    while let Some(statement) = statements.next()? {
        let offset = statement.offset;
        reader.statement(statement).map_err(|error| error.at_offset(offset))?;
    }
    share_subroutines(&mut reader.phases)?;
    Ok(TokenProgram { stage, model, phases: reader.phases })
}

/// Instructions that [`share_subroutines`] copies, at most.
const MAX_SHARED: usize = 1 << 18;

/// Subroutines stand behind the last phase of a hull shader, but every phase may call them: gives them to each.
fn share_subroutines(phases: &mut [Phase]) -> Result<()> {
    let Some((last, others)) = phases.split_last_mut() else { return Ok(()) };
    let Some(begin) = last.instructions.iter().position(|instruction| instruction.opcode == Opcode::Label) else {
        return Ok(());
    };
    let shared = &last.instructions[begin..];
    if shared.len().saturating_mul(others.len()) > MAX_SHARED {
        return Err(shared[0].malformed("subroutines of too many phases"));
    }
    for phase in others {
        if !phase.instructions.is_empty() {
            phase.instructions.extend_from_slice(shared);
        }
    }
    Ok(())
}

struct Reader {
    layout_5_1: bool,
    /// The phases so far; there is always one.
    phases: Vec<Phase>,
    /// Number of the next instruction.
    number: u32,
    /// What tells nothing of the interface is passed over.
    interface_alone: bool,
}

impl Reader {
    /// Reads what stands behind an opcode token.
    fn statement(&mut self, statement: Statement<'_>) -> Result<()> {
        let Statement { opcode, offset, token, extended, mut tokens } = statement;
        if opcode == Opcode::CustomData {
            return self.custom_data(bits(token, 11, 21), tokens, offset);
        }
        let kind = match opcode {
            Opcode::HsDecls => Some(PhaseKind::Declarations),
            Opcode::HsControlPointPhase => Some(PhaseKind::ControlPoint),
            Opcode::HsForkPhase => Some(PhaseKind::Fork),
            Opcode::HsJoinPhase => Some(PhaseKind::Join),
            _ => None,
        };
        if let Some(kind) = kind {
            self.phases.push(Phase { kind, declarations: Vec::new(), instructions: Vec::new() });
            return Ok(());
        }
        if opcode.is_declaration() {
            let declaration = declaration::read(opcode, token, &mut tokens, self.layout_5_1)?;
            self.phase().declarations.push(Declared { offset, declaration });
        } else if self.interface_alone && !matches!(opcode, Opcode::ImmAtomicAlloc | Opcode::ImmAtomicConsume) {
            self.number += 1;
            return Ok(());
        } else {
            let mut operands = SmallVec::new();
            let mut function = 0;
            if opcode == Opcode::InterfaceCall {
                function = tokens.next()?;
                operands.push(Operand::read(&mut tokens)?);
            }
            for _ in opcode.operands() {
                operands.push(Operand::read(&mut tokens)?);
            }
            let saturate = bits(token, 13, 1) == 1 && has_saturate(opcode);
            let number = self.number;
            self.number += 1;
            self.phase().instructions.push(Instruction {
                opcode,
                number,
                offset,
                saturate,
                token,
                texel_offset: extended.texel_offset,
                resource: extended
                    .dimension
                    .zip(extended.return_type)
                    .map(|(dimension, types)| (dimension.0, types[0])),
                function,
                operands,
            });
        }
        let padded = matches!(
            opcode,
            Opcode::SamplePos
                | Opcode::SampleLFeedback
                | Opcode::SampleCLzFeedback
                | Opcode::SampleClampFeedback
                | Opcode::SampleBClampFeedback
                | Opcode::SampleDClampFeedback
                | Opcode::SampleCClampFeedback
        );
        if padded && tokens.remaining() == 1 {
            // The compiler writes a token too many.
            tokens.next()?;
        }
        if !tokens.is_empty() {
            let what = format!("{} is longer than its operands: {} tokens", opcode.name(), tokens.remaining());
            return Err(Error::malformed(what).at_offset(tokens.offset()));
        }
        Ok(())
    }

    fn custom_data(&mut self, class: u32, mut tokens: Tokens<'_>, offset: usize) -> Result<()> {
        const IMMEDIATE_CONSTANT_BUFFER: u32 = 3;
        if class != IMMEDIATE_CONSTANT_BUFFER || self.interface_alone {
            // Comments, debug information, messages of the debug layer, and the constants that Direct3D 9's clip
            // planes are in: none changes what the program computes.
            return Ok(());
        }
        if !tokens.remaining().is_multiple_of(4) {
            let what = format!("an immediate constant buffer of partial rows: {} words", tokens.remaining());
            return Err(Error::malformed(what).at_offset(offset));
        }
        let mut rows = Vec::with_capacity(tokens.remaining() / 4);
        while !tokens.is_empty() {
            rows.push([tokens.next()?, tokens.next()?, tokens.next()?, tokens.next()?]);
        }
        let declaration = Declaration::ImmediateConstantBuffer(rows);
        self.phase().declarations.push(Declared { offset, declaration });
        Ok(())
    }

    fn phase(&mut self) -> &mut Phase {
        self.phases.last_mut().expect("the first phase is made with the reader")
    }
}

/// Bit 13 of the opcode token means saturation, not another control.
fn has_saturate(opcode: Opcode) -> bool {
    opcode != Opcode::Sync
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(stage: u32, model: u32, words: &[u32]) -> Vec<u8> {
        let header = [stage << 16 | model, words.len() as u32 + 2];
        header.iter().chain(words).flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn instruction_with_offsets() {
        // sample_aoffimmi(-1,2,0) r0.xyzw, v0.xyxx, t1.xyzw, s2
        let words = [
            69 | 11 << 24 | 1 << 31,
            1 | 0xf << 9 | 2 << 13,
            0x0010_00f2,
            0,
            0x0010_1046,
            0,
            0x0010_7e46,
            1,
            0x0010_6000,
            2,
            0x0000_0000,
        ];
        let error = decode(&part(0, 0x50, &words)).unwrap_err();
        assert!(error.what.contains("longer than its operands"), "{error}");

        let mut words = words[..10].to_vec();
        words[0] = 69 | 10 << 24 | 1 << 31;
        let program = decode(&part(0, 0x50, &words)).unwrap();
        let instruction = &program.phases[0].instructions[0];
        assert_eq!(instruction.opcode, Opcode::Sample);
        assert_eq!(instruction.texel_offset, Some([-1, 2, 0]));
        assert_eq!(instruction.operands.len(), 4);
    }

    #[test]
    fn constant_buffer_of_5_1() {
        // dcl_constantbuffer CB3[2:5][16], immediateIndexed, space=7
        let words = [89 | 7 << 24, 0x0030_8e46, 3, 2, 5, 16, 7];
        let program = decode(&part(5, 0x51, &words)).unwrap();
        let range = declaration::RegisterRange { id: 3, space: 7, register: 2, count: Some(4) };
        assert_eq!(program.phases[0].declarations[0].declaration, Declaration::ConstantBuffer { range, rows: 16 });
    }

    #[test]
    fn lengths_are_checked() {
        assert!(decode(&[]).is_err());
        assert!(decode(&part(0, 0x50, &[58])).unwrap_err().what.contains("length is 0"));
        assert!(decode(&part(0, 0x50, &[58 | 9 << 24])).unwrap_err().what.contains("longer than the program"));
        // customdata with a length below its header
        assert!(decode(&part(0, 0x50, &[53 | 3 << 11, 1])).is_err());
        assert!(decode(&part(0, 0x50, &[2047 | 1 << 24])).unwrap_err().what.contains("unknown opcode"));
        let mut short = part(0, 0x50, &[58 | 1 << 24]);
        short[4] = 9;
        assert!(decode(&short).unwrap_err().what.contains("does not fit"));
    }

    #[test]
    fn phases_of_a_hull_shader() {
        let words = [113 | 1 << 24, 147 | 3 << 11 | 1 << 24, 115 | 1 << 24, 62 | 1 << 24];
        let program = decode(&part(3, 0x50, &words)).unwrap();
        let kinds: Vec<_> = program.phases.iter().map(|phase| phase.kind).collect();
        assert_eq!(kinds, [PhaseKind::Main, PhaseKind::Declarations, PhaseKind::Fork]);
        assert_eq!(program.phases[1].declarations[0].declaration, Declaration::InputControlPointCount(3));
    }
}
