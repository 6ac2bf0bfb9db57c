//! `Aon9`, `XNAS`, `XNAP`: programs of Shader Model 2 for feature level 9, and how Direct3D 11's registers fill theirs.

use serde::{Deserialize, Serialize};

use super::{HexBytes, Part, enumeration::enumeration};
use crate::{Error, Result};

/// A level-9 program. `XNAS` and `XNAP` are forms of it that older tools wrote.
///
/// Four 32-bit words (length of the part, version token, length and offset of the tokens), then for five tables their count
/// and offset in 16 bits each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level9Program<'a> {
    /// `D3DSHADER_VERSION_TOKEN`: 0xffff or 0xfffe in the upper half for pixel and vertex shaders, then the version.
    pub version: u32,
    /// Constant buffers' registers to constants.
    pub constants: Vec<ConstantMapping>,
    /// Constant buffers' components to loop counters.
    pub loops: Vec<LoopMapping>,
    /// A table of which no file is known that fills it.
    pub unknown: u16,
    /// Samplers and textures to level-9 samplers.
    pub samplers: Vec<SamplerMapping>,
    /// Constants that the runtime provides.
    pub runtime_constants: Vec<RuntimeConstant>,
    /// The tokens of `d3d9types.h`, from the version token on.
    pub tokens: HexBytes<'a>,
}

/// Registers of a constant buffer that become constants: 12 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstantMapping {
    /// Constant buffer.
    pub buffer: u16,
    /// First register in it.
    pub register: u16,
    /// Number of registers.
    pub count: u16,
    /// First constant.
    pub constant: u16,
    /// What each component is converted from.
    pub conversions: [DataConversion; 4],
}

enumeration! {
    /// What a component of a constant is in its constant buffer; it becomes a float.
    DataConversion: u8 {
        FLOAT = 0 "float",
        BOOL = 1 "bool",
        INT = 2 "int",
        UINT = 3 "uint",
    }
}

/// A component of a constant buffer that becomes a loop counter: 8 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopMapping {
    /// Constant buffer.
    pub buffer: u16,
    /// Register in it.
    pub register: u16,
    /// Component.
    pub component: u16,
    /// Loop counter.
    pub counter: u16,
}

/// A texture and a sampler that become a level-9 sampler: 4 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplerMapping {
    /// Texture.
    pub texture: u8,
    /// Sampler.
    pub sampler: u8,
    /// Level-9 sampler.
    pub target: u8,
}

/// A constant that the runtime provides: 4 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeConstant {
    /// Which: 0 the offset of a vertex shader's position (half a pixel).
    pub source: u16,
    /// Constant.
    pub constant: u16,
}

impl<'a> Level9Program<'a> {
    /// Reads the part.
    ///
    /// # Errors
    /// A table or the tokens are not within the part.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let table = |index: usize, len: usize| {
            let entry = 16 + 4 * index;
            part.records(part.u16_at(entry + 2)?.into(), part.u16_at(entry)?.into(), len)
        };
        let u8_at = |offset| part.u8_at(offset);
        let u16_at = |offset| part.u16_at(offset);
        let constant = |offset| {
            Ok::<_, Error>(ConstantMapping {
                buffer: u16_at(offset)?,
                register: u16_at(offset + 2)?,
                count: u16_at(offset + 4)?,
                constant: u16_at(offset + 6)?,
                conversions: [u8_at(offset + 8)?, u8_at(offset + 9)?, u8_at(offset + 10)?, u8_at(offset + 11)?]
                    .map(DataConversion),
            })
        };
        let counter = |offset| {
            Ok::<_, Error>(LoopMapping {
                buffer: u16_at(offset)?,
                register: u16_at(offset + 2)?,
                component: u16_at(offset + 4)?,
                counter: u16_at(offset + 6)?,
            })
        };
        let sampler = |offset| {
            Ok::<_, Error>(SamplerMapping {
                texture: u8_at(offset)?,
                sampler: u8_at(offset + 1)?,
                target: u8_at(offset + 2)?,
            })
        };
        let runtime =
            |offset| Ok::<_, Error>(RuntimeConstant { source: u16_at(offset)?, constant: u16_at(offset + 2)? });
        Ok(Self {
            version: part.u32_at(4)?,
            constants: table(0, 12)?.map(constant).collect::<Result<_>>()?,
            loops: table(1, 8)?.map(counter).collect::<Result<_>>()?,
            unknown: u16_at(24)?,
            samplers: table(3, 4)?.map(sampler).collect::<Result<_>>()?,
            runtime_constants: table(4, 4)?.map(runtime).collect::<Result<_>>()?,
            tokens: part.bytes_at(part.size_at(12)?, part.size_at(8)?)?.into(),
        })
    }
}
