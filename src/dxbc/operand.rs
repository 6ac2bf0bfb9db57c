//! Operands: registers with indices and component selections, and immediate values.

use smallvec::SmallVec;

use super::token::{Tokens, bits};
use crate::{Error, Result};

/// Register files, numbered as `D3D10_SB_OPERAND_TYPE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum RegisterFile {
    /// `r#`
    Temp = 0,
    /// `v#`
    Input = 1,
    /// `o#`
    Output = 2,
    /// `x#[]`
    IndexableTemp = 3,
    /// `l(...)`
    Immediate32 = 4,
    /// `d(...)`
    Immediate64 = 5,
    /// `s#`
    Sampler = 6,
    /// `t#`
    Resource = 7,
    /// `cb#[]`
    ConstantBuffer = 8,
    /// `icb[]`
    ImmediateConstantBuffer = 9,
    /// `label#`
    Label = 10,
    /// `vPrim`
    InputPrimitiveId = 11,
    /// `oDepth`
    OutputDepth = 12,
    /// `null`
    Null = 13,
    /// `rasterizer`
    Rasterizer = 14,
    /// `oMask`
    OutputCoverageMask = 15,
    /// `m#`
    Stream = 16,
    /// `fb#`
    FunctionBody = 17,
    /// `ft#`
    FunctionTable = 18,
    /// `fp#`
    Interface = 19,
    FunctionInput = 20,
    FunctionOutput = 21,
    /// `vOutputControlPointID`
    OutputControlPointId = 22,
    /// `vForkInstanceID`
    ForkInstanceId = 23,
    /// `vJoinInstanceID`
    JoinInstanceId = 24,
    /// `vicp[][]`
    InputControlPoint = 25,
    /// `vocp[][]`
    OutputControlPoint = 26,
    /// `vpc[]`
    InputPatchConstant = 27,
    /// `vDomain`
    InputDomainPoint = 28,
    /// `this[]`
    ThisPointer = 29,
    /// `u#`
    UnorderedAccessView = 30,
    /// `g#`
    GroupSharedMemory = 31,
    /// `vThreadID`
    ThreadId = 32,
    /// `vThreadGroupID`
    ThreadGroupId = 33,
    /// `vThreadIDInGroup`
    ThreadIdInGroup = 34,
    /// `vCoverage`
    InputCoverageMask = 35,
    /// `vThreadIDInGroupFlattened`
    ThreadIdInGroupFlattened = 36,
    /// `vGSInstanceID`
    GsInstanceId = 37,
    /// `oDepthGE`
    OutputDepthGreaterEqual = 38,
    /// `oDepthLE`
    OutputDepthLessEqual = 39,
    /// `vCycleCounter`
    CycleCounter = 40,
    /// `oStencilRef`
    OutputStencilRef = 41,
    /// `vInnerCoverage`
    InnerCoverage = 42,
}

impl RegisterFile {
    /// The file of a number, if there is one.
    pub fn from_number(number: u32) -> Option<Self> {
        const FILES: [RegisterFile; 43] = {
            use RegisterFile::*;
            [
                Temp,
                Input,
                Output,
                IndexableTemp,
                Immediate32,
                Immediate64,
                Sampler,
                Resource,
                ConstantBuffer,
                ImmediateConstantBuffer,
                Label,
                InputPrimitiveId,
                OutputDepth,
                Null,
                Rasterizer,
                OutputCoverageMask,
                Stream,
                FunctionBody,
                FunctionTable,
                Interface,
                FunctionInput,
                FunctionOutput,
                OutputControlPointId,
                ForkInstanceId,
                JoinInstanceId,
                InputControlPoint,
                OutputControlPoint,
                InputPatchConstant,
                InputDomainPoint,
                ThisPointer,
                UnorderedAccessView,
                GroupSharedMemory,
                ThreadId,
                ThreadGroupId,
                ThreadIdInGroup,
                InputCoverageMask,
                ThreadIdInGroupFlattened,
                GsInstanceId,
                OutputDepthGreaterEqual,
                OutputDepthLessEqual,
                CycleCounter,
                OutputStencilRef,
                InnerCoverage,
            ]
        };
        FILES.get(number as usize).copied()
    }
}

/// Which components an operand takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Selection {
    /// The operand has no components.
    None,
    /// The register has one component.
    Scalar,
    /// Components that are written or declared: bit 0 is x.
    Mask(u8),
    /// For each of four components, the register's component that it reads.
    Swizzle([u8; 4]),
    /// One component, for all.
    Select(u8),
}

impl Selection {
    /// Which register component a source reads for its component `component`.
    pub fn source(self, component: u8) -> u8 {
        match self {
            Self::None | Self::Scalar => 0,
            // A source with a mask occurs in hand-made programs: it reads the components in place.
            Self::Mask(_) => component,
            Self::Swizzle(swizzle) => swizzle[component as usize & 3],
            Self::Select(component) => component,
        }
    }

    /// The components that a destination writes.
    pub fn mask(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Scalar => 1,
            Self::Mask(mask) => mask,
            Self::Swizzle(_) => 0xf,
            Self::Select(component) => 1 << component,
        }
    }
}

/// One index of a register: `base` plus, if it is relative, a component of another register.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// The immediate part. 64-bit immediates wrap to their low 32 bits, as addresses do.
    pub base: u32,
    /// The relative part.
    pub relative: Option<Box<Operand>>,
}

/// Source modifiers, and what else an operand's extended token says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modifiers {
    /// `|x|`, before the negation.
    pub absolute: bool,
    /// `-x`.
    pub negate: bool,
    /// `D3D11_SB_OPERAND_MIN_PRECISION`: 0 for full precision.
    pub min_precision: u8,
    /// The index may differ between the lanes of a wave (5.1).
    pub non_uniform: bool,
}

/// One operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// Which register file.
    pub file: RegisterFile,
    /// Components.
    pub selection: Selection,
    /// Indices of the register, outermost first.
    pub indices: SmallVec<[Index; 2]>,
    /// Modifiers.
    pub modifiers: Modifiers,
    /// Bits of an immediate value: four of 32 bits (a scalar in all of them), or two of 64, low word first.
    pub immediate: [u32; 4],
}

/// Operands nest through relative indices; the compiler nests them twice at most.
const MAX_NESTING: u32 = 4;

impl Operand {
    /// Reads one operand.
    pub fn read(tokens: &mut Tokens<'_>) -> Result<Self> {
        Self::read_nested(tokens, 0)
    }

    fn read_nested(tokens: &mut Tokens<'_>, depth: u32) -> Result<Self> {
        let offset = tokens.offset();
        let malformed = |what: String| Error::malformed(what).at_offset(offset);
        if depth > MAX_NESTING {
            return Err(malformed("relative indices nest too deep".into()));
        }
        let token = tokens.next()?;
        let number = bits(token, 12, 8);
        let file = RegisterFile::from_number(number)
            .ok_or_else(|| malformed(format!("unknown register file of an operand: {number}")))?;
        let selection = match (bits(token, 0, 2), bits(token, 2, 2)) {
            (0, _) => Selection::None,
            (1, _) => Selection::Scalar,
            (2, 0) => Selection::Mask(bits(token, 4, 4) as u8),
            (2, 1) => Selection::Swizzle([4, 6, 8, 10].map(|low| bits(token, low, 2) as u8)),
            (2, 2) => Selection::Select(bits(token, 4, 2) as u8),
            (2, mode) => return Err(malformed(format!("unknown component selection of an operand: {mode}"))),
            _ => return Err(malformed("an operand of N components".into())),
        };
        let mut modifiers = Modifiers::default();
        let mut extended = token;
        while bits(extended, 31, 1) == 1 {
            extended = tokens.next()?;
            match bits(extended, 0, 6) {
                0 => {}
                1 => {
                    let modifier = bits(extended, 6, 8);
                    if modifier > 3 {
                        return Err(malformed(format!("unknown modifier of an operand: {modifier}")));
                    }
                    modifiers = Modifiers {
                        negate: modifier & 1 != 0,
                        absolute: modifier & 2 != 0,
                        min_precision: bits(extended, 14, 3) as u8,
                        non_uniform: bits(extended, 17, 1) == 1,
                    };
                }
                kind => return Err(malformed(format!("unknown extended token of an operand: {kind}"))),
            }
        }
        let mut indices = SmallVec::new();
        for dimension in 0..bits(token, 20, 2) {
            let representation = bits(token, 22 + 3 * dimension, 3);
            let base = match representation {
                0 | 3 => tokens.next()?,
                // The high word comes first.
                1 | 4 => {
                    tokens.next()?;
                    tokens.next()?
                }
                2 => 0,
                _ => {
                    return Err(malformed(format!("unknown index representation of an operand: {representation}")));
                }
            };
            let relative = match representation {
                2..=4 => Some(Box::new(Self::read_nested(tokens, depth + 1)?)),
                _ => None,
            };
            indices.push(Index { base, relative });
        }
        let mut immediate = [0; 4];
        let words = match (file, selection) {
            (RegisterFile::Immediate32, Selection::Scalar) => 1,
            (RegisterFile::Immediate64, Selection::Scalar) => 2,
            (RegisterFile::Immediate32 | RegisterFile::Immediate64, Selection::None) => {
                return Err(malformed("an immediate value without components".into()));
            }
            (RegisterFile::Immediate32, _) => 4,
            // Four components of a double operand are two doubles.
            (RegisterFile::Immediate64, _) => 4,
            _ => 0,
        };
        for word in &mut immediate[..words] {
            *word = tokens.next()?;
        }
        match words {
            1 => immediate = [immediate[0]; 4],
            2 => immediate = [immediate[0], immediate[1], immediate[0], immediate[1]],
            _ => {}
        }
        Ok(Self { file, selection, indices, modifiers, immediate })
    }

    /// The register's number: the outermost index, if it is immediate.
    pub fn register(&self) -> Option<u32> {
        self.indices.first().filter(|index| index.relative.is_none()).map(|index| index.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[u32]) -> Result<(Operand, usize)> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut tokens = Tokens::new(&bytes);
        let operand = Operand::read(&mut tokens)?;
        Ok((operand, tokens.remaining()))
    }

    #[test]
    fn modifiers_and_swizzle() {
        // -|r3.wzyx| with minimum precision float16
        let (operand, rest) = read(&[0x8010_01b6 | 2, 1 | 3 << 6 | 1 << 14, 3]).unwrap();
        assert_eq!(rest, 0);
        assert_eq!(operand.file, RegisterFile::Temp);
        assert_eq!(operand.selection, Selection::Swizzle([3, 2, 1, 0]));
        assert_eq!(operand.register(), Some(3));
        assert!(operand.modifiers.negate && operand.modifiers.absolute);
        assert_eq!(operand.modifiers.min_precision, 1);
    }

    #[test]
    fn relative_indices() {
        // cb1[r0.y + 7].xyzw: 2 dimensions, the second immediate plus relative
        let (operand, rest) = read(&[0x0000_0e46 | 8 << 12 | 2 << 20 | 3 << 25, 1, 7, 0x0010_001a, 0]).unwrap();
        assert_eq!(rest, 0);
        assert_eq!(operand.register(), Some(1));
        assert_eq!(operand.indices[1].base, 7);
        let relative = operand.indices[1].relative.as_ref().unwrap();
        assert_eq!((relative.file, relative.selection), (RegisterFile::Temp, Selection::Select(1)));

        // A 64-bit immediate index: the low word is the second.
        let (operand, rest) = read(&[0x0000_0e46 | 1 << 20 | 1 << 22, 0, 5]).unwrap();
        assert_eq!((operand.register(), rest), (Some(5), 0));
    }

    #[test]
    fn immediates() {
        let (operand, _) = read(&[0x0000_4001, 7]).unwrap();
        assert_eq!(operand.immediate, [7; 4]);
        let (operand, _) = read(&[0x0000_5001, 1, 2]).unwrap();
        assert_eq!(operand.immediate, [1, 2, 1, 2]);
        assert!(read(&[0x0000_4002, 1, 2, 3]).is_err(), "the fourth word is missing");
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let words = vec![0x0010_0000 | 2 << 22 | 2; 1000];
        assert!(read(&words).unwrap_err().what.contains("too deep"));
    }
}
