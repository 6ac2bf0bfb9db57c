//! `CTAB` and `CLI4`: constants of the expressions of effects.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Part, enumeration::enumeration};
use crate::{Error, Result};

/// The `CTAB` part: a constant table of Direct3D 9 (`D3DXSHADER_CONSTANTTABLE` of `d3dx9shader.h`), seven 32-bit words, then
/// 20 bytes for each constant. Offsets count from the beginning of the part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstantTable<'a> {
    /// The compiler.
    pub creator: Cow<'a, str>,
    /// `D3DSHADER_VERSION_TOKEN`.
    pub version: u32,
    /// Compiler flags.
    pub flags: u32,
    /// Profile, such as `fx`.
    pub target: Cow<'a, str>,
    /// The constants.
    pub constants: Vec<TableConstant<'a>>,
}

/// A constant (`D3DXSHADER_CONSTANTINFO`, `D3DXSHADER_TYPEINFO`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableConstant<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Which registers.
    pub register_set: RegisterSet,
    /// First register.
    pub register: u16,
    /// Number of registers.
    pub register_count: u16,
    /// `D3DXPARAMETER_CLASS`.
    pub class: u16,
    /// `D3DXPARAMETER_TYPE`.
    pub ty: u16,
    /// Rows.
    pub rows: u16,
    /// Columns.
    pub columns: u16,
    /// Elements of an array.
    pub elements: u16,
    /// Members of a structure.
    pub members: u16,
}

enumeration! {
    /// `D3DXREGISTER_SET`.
    RegisterSet: u16 {
        BOOL = 0 "Bool",
        INT4 = 1 "Int4",
        FLOAT4 = 2 "Float4",
        SAMPLER = 3 "Sampler",
    }
}

impl<'a> ConstantTable<'a> {
    /// Reads the part.
    ///
    /// # Errors
    /// The table, a type or a text is not within the part.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let constant = |offset: usize| {
            let ty = part.size_at(offset + 12)?;
            let type_at = |field: usize| part.u16_at(ty.saturating_add(field));
            Ok::<_, Error>(TableConstant {
                name: part.text_at(part.size_at(offset)?)?,
                register_set: RegisterSet(part.u16_at(offset + 4)?),
                register: part.u16_at(offset + 6)?,
                register_count: part.u16_at(offset + 8)?,
                class: type_at(0)?,
                ty: type_at(2)?,
                rows: type_at(4)?,
                columns: type_at(6)?,
                elements: type_at(8)?,
                members: type_at(10)?,
            })
        };
        let constants = part.records(part.size_at(16)?, part.size_at(12)?, 20)?;
        Ok(Self {
            creator: part.text_at(part.size_at(4)?)?,
            version: part.u32_at(8)?,
            flags: part.u32_at(20)?,
            target: part.text_at(part.size_at(24)?)?,
            constants: constants.map(constant).collect::<Result<_>>()?,
        })
    }
}

/// The `CLI4` part: the number of literals, then as many 32-bit floats.
///
/// # Errors
/// The literals pass the end of the part.
pub fn literals(part: Part<'_>) -> Result<Vec<f32>> {
    part.records(4, part.size_at(0)?, 4)?.map(|offset| part.u32_at(offset).map(f32::from_bits)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::FourCc;

    #[test]
    fn table_and_literals() {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        let mut data = words(&[28, 64, 0x4658_0100, 1, 28, 0x100, 73, 67, 2 | 5 << 16, 1, 48, 0]);
        data.extend(words(&[1 | 3 << 16, 1 | 4 << 16, 1, 0]));
        data.extend(b"by\0tint\0\0fx\0");
        let table = ConstantTable::parse(Part { name: FourCc::CTAB, offset: 0, data: &data }).unwrap();
        assert_eq!((&table.creator[..], &table.target[..], table.version), ("by", "fx", 0x4658_0100));
        let tint = &table.constants[0];
        assert_eq!((&tint.name[..], tint.register_set, tint.register), ("tint", RegisterSet::FLOAT4, 5));
        assert_eq!((tint.register_count, tint.class, tint.ty, tint.rows, tint.columns), (1, 1, 3, 1, 4));
        for len in 0..data.len() {
            assert!(ConstantTable::parse(Part { name: FourCc::CTAB, offset: 0, data: &data[..len] }).is_err());
        }

        let data = [&2u32.to_le_bytes()[..], &1f32.to_le_bytes(), &0.5f32.to_le_bytes()].concat();
        let part = Part { name: FourCc::CLI4, offset: 0, data: &data };
        assert_eq!(literals(part).unwrap(), [1.0, 0.5]);
        assert!(literals(Part { data: &data[..11], ..part }).is_err());
    }
}
