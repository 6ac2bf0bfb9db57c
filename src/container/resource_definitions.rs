//! `RDEF`: resource definitions of Shader Model 4 and 5: bindings, and constant buffers with their fields.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Part;
use crate::Result;

/// Magic before the record sizes of Shader Model 5.0 (`RD11`).
const SIZES_5_0: u32 = u32::from_le_bytes(*b"RD11");
/// Magic before the record sizes of Shader Model 5.1.
const SIZES_5_1: u32 = 0x2544_1313;

/// The `RDEF` part. Offsets in it count from its beginning.
///
/// The header is seven 32-bit words: number and offset of the constant buffers, number and offset of the bindings, version
/// token, compiler flags, offset of the compiler's name. From Shader Model 5.0 on a magic and the sizes of all records
/// follow; before it the sizes are fixed.
#[derive(Clone, Copy, Debug)]
pub struct ResourceDefinitions<'a> {
    part: Part<'a>,
    sizes: RecordSizes,
}

/// Bytes of each kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RecordSizes {
    buffer: usize,
    binding: usize,
    variable: usize,
    ty: usize,
    member: usize,
}

impl RecordSizes {
    /// Shader Model 4, and at the same time the least that a record can have.
    const SHADER_MODEL_4: Self = Self { buffer: 24, binding: 32, variable: 24, ty: 16, member: 12 };
}

/// One binding (`D3D12_SHADER_INPUT_BIND_DESC`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BindingRecord<'a> {
    /// Byte offset of the record in the part.
    pub offset: usize,
    /// Name.
    pub name: Cow<'a, str>,
    /// `D3D_SHADER_INPUT_TYPE`.
    pub ty: u32,
    /// `D3D_RESOURCE_RETURN_TYPE`.
    pub return_type: u32,
    /// `D3D_SRV_DIMENSION`.
    pub dimension: u32,
    /// Samples of a multisampled texture, bytes of a structured buffer's element, else `u32::MAX` or 0.
    pub samples_or_stride: u32,
    /// First register.
    pub register: u32,
    /// Number of registers; 0 is an unbounded array in Shader Model 5.1.
    pub count: u32,
    /// `D3D_SHADER_INPUT_FLAGS`.
    pub flags: u32,
    /// Register space.
    pub space: u32,
}

/// One constant buffer, texture buffer, interface table or structured element (`D3D12_SHADER_BUFFER_DESC`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferRecord<'a> {
    /// Byte offset of the record in the part.
    pub offset: usize,
    /// Name: that of its binding.
    pub name: Cow<'a, str>,
    /// Bytes, padded.
    pub size: u32,
    /// `D3D_CBUFFER_TYPE`.
    pub ty: u32,
    variables: (usize, usize),
}

/// One variable of a buffer (`D3D12_SHADER_VARIABLE_DESC`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableRecord<'a> {
    /// Byte offset of the record in the part.
    pub offset: usize,
    /// Name.
    pub name: Cow<'a, str>,
    /// Byte offset in the buffer.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// `D3D_SHADER_VARIABLE_FLAGS`.
    pub flags: u32,
    /// Where its type is: see [`ResourceDefinitions::type_at`].
    pub ty: usize,
    /// Its initial value, `size` bytes.
    pub default_value: Option<&'a [u8]>,
}

/// One type (`D3D12_SHADER_TYPE_DESC`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeRecord<'a> {
    /// Byte offset of the record in the part.
    pub offset: usize,
    /// `D3D_SHADER_VARIABLE_CLASS`.
    pub class: u16,
    /// `D3D_SHADER_VARIABLE_TYPE`.
    pub base: u16,
    /// Rows of a matrix, else 1.
    pub rows: u16,
    /// Columns of a matrix, components of a vector, else 1.
    pub columns: u16,
    /// Elements of an array, or 0.
    pub elements: u16,
    /// Name, from Shader Model 5.0 on.
    pub name: Option<Cow<'a, str>>,
    members: (usize, usize),
}

/// One member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberRecord<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Where its type is: see [`ResourceDefinitions::type_at`].
    pub ty: usize,
    /// Byte offset in the structure.
    pub start: u32,
}

impl<'a> ResourceDefinitions<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// The part ends early, or names sizes that no record can have.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let least = RecordSizes::SHADER_MODEL_4;
        let mut sizes = least;
        // The seven words are there even where the part lists nothing.
        part.bytes_at(0, 28)?;
        if let Ok(SIZES_5_0 | SIZES_5_1) = part.u32_at(28) {
            let size_at = |offset: usize, least: usize| {
                let size = part.size_at(offset)?;
                if size < least {
                    return Err(part.malformed(offset, format!("records are too small: {size} bytes, not {least}")));
                }
                Ok(size)
            };
            sizes.buffer = size_at(36, least.buffer)?;
            sizes.binding = size_at(40, least.binding)?;
            sizes.variable = size_at(44, least.variable)?;
            sizes.ty = size_at(48, least.ty)?;
            sizes.member = size_at(52, least.member)?;
        }
        Ok(Self { part, sizes })
    }

    /// The part.
    pub fn part(&self) -> Part<'a> {
        self.part
    }

    /// Compiler flags (`D3DCOMPILE_*`).
    ///
    /// # Errors
    /// Never after a successful [`ResourceDefinitions::parse`].
    pub fn flags(&self) -> Result<u32> {
        self.part.u32_at(20)
    }

    /// Name and version of the compiler.
    ///
    /// # Errors
    /// It is not within the part.
    pub fn creator(&self) -> Result<Cow<'a, str>> {
        self.part.text_at(self.part.size_at(24)?)
    }

    /// The bindings, in file order: samplers, textures and buffers, unordered-access views, constant buffers.
    ///
    /// # Errors
    /// The table, or the name of a record, is not within the part.
    pub fn bindings(&self) -> Result<impl Iterator<Item = Result<BindingRecord<'a>>> + use<'a>> {
        let this = *self;
        let table = self.part.records(self.part.size_at(12)?, self.part.size_at(8)?, self.sizes.binding)?;
        Ok(table.map(move |offset| this.binding(offset)))
    }

    /// The buffers, in file order.
    ///
    /// # Errors
    /// The table, or the name of a record, is not within the part.
    pub fn buffers(&self) -> Result<impl Iterator<Item = Result<BufferRecord<'a>>> + use<'a>> {
        let this = *self;
        let table = self.part.records(self.part.size_at(4)?, self.part.size_at(0)?, self.sizes.buffer)?;
        Ok(table.map(move |offset| this.buffer(offset)))
    }

    /// The variables of a buffer, in file order.
    ///
    /// # Errors
    /// The table, or a name or value of a record, is not within the part.
    pub fn variables(
        &self,
        buffer: &BufferRecord<'_>,
    ) -> Result<impl Iterator<Item = Result<VariableRecord<'a>>> + use<'a>> {
        let this = *self;
        let (first, count) = buffer.variables;
        Ok(self.part.records(first, count, self.sizes.variable)?.map(move |offset| this.variable(offset)))
    }

    /// The type at an offset.
    ///
    /// # Errors
    /// It, or its name, is not within the part.
    pub fn type_at(&self, offset: usize) -> Result<TypeRecord<'a>> {
        let part = &self.part;
        part.bytes_at(offset, self.sizes.ty)?;
        let name = match self.sizes.ty {
            36.. => match part.size_at(offset + 32)? {
                0 => None,
                name => Some(part.text_at(name)?),
            },
            _ => None,
        };
        Ok(TypeRecord {
            offset,
            class: part.u16_at(offset)?,
            base: part.u16_at(offset + 2)?,
            rows: part.u16_at(offset + 4)?,
            columns: part.u16_at(offset + 6)?,
            elements: part.u16_at(offset + 8)?,
            name,
            members: (part.size_at(offset + 12)?, part.u16_at(offset + 10)?.into()),
        })
    }

    /// The members of a structure, in file order.
    ///
    /// # Errors
    /// The table, or the name of a record, is not within the part.
    pub fn members(&self, ty: &TypeRecord<'_>) -> Result<impl Iterator<Item = Result<MemberRecord<'a>>> + use<'a>> {
        let part = self.part;
        let (first, count) = ty.members;
        Ok(part.records(first, count, self.sizes.member)?.map(move |offset| {
            Ok(MemberRecord {
                name: part.text_at(part.size_at(offset)?)?,
                ty: part.size_at(offset + 4)?,
                start: part.u32_at(offset + 8)?,
            })
        }))
    }

    fn binding(&self, offset: usize) -> Result<BindingRecord<'a>> {
        let part = &self.part;
        Ok(BindingRecord {
            offset,
            name: part.text_at(part.size_at(offset)?)?,
            ty: part.u32_at(offset + 4)?,
            return_type: part.u32_at(offset + 8)?,
            dimension: part.u32_at(offset + 12)?,
            samples_or_stride: part.u32_at(offset + 16)?,
            register: part.u32_at(offset + 20)?,
            count: part.u32_at(offset + 24)?,
            flags: part.u32_at(offset + 28)?,
            space: if self.sizes.binding >= 40 { part.u32_at(offset + 32)? } else { 0 },
        })
    }

    fn buffer(&self, offset: usize) -> Result<BufferRecord<'a>> {
        let part = &self.part;
        Ok(BufferRecord {
            offset,
            name: part.text_at(part.size_at(offset)?)?,
            size: part.u32_at(offset + 12)?,
            ty: part.u32_at(offset + 20)?,
            variables: (part.size_at(offset + 8)?, part.size_at(offset + 4)?),
        })
    }

    fn variable(&self, offset: usize) -> Result<VariableRecord<'a>> {
        let part = &self.part;
        let size = part.u32_at(offset + 8)?;
        let default_value = match part.size_at(offset + 20)? {
            0 => None,
            value => Some(part.bytes_at(value, size as usize)?),
        };
        Ok(VariableRecord {
            offset,
            name: part.text_at(part.size_at(offset)?)?,
            start: part.u32_at(offset + 4)?,
            size,
            flags: part.u32_at(offset + 12)?,
            ty: part.size_at(offset + 16)?,
            default_value,
        })
    }
}
