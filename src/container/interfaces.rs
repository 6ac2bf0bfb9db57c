//! `IFCE`: interfaces and classes of dynamic linkage.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Part;
use crate::{Error, Result};

/// The `IFCE` part of Shader Model 5: which classes fill the interfaces of a program.
///
/// Seven 32-bit words are known of the header: number of instances, of class types, of slot records and of slots, offset of
/// the names, of the class types, of the slot records. Instances follow the class types.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interfaces<'a> {
    /// Number of slots, more than records where there are arrays of interfaces.
    pub slot_count: u32,
    /// The classes.
    pub types: Vec<ClassType<'a>>,
    /// Variables that are instances of classes.
    pub instances: Vec<ClassInstance<'a>>,
    /// The interfaces.
    pub slots: Vec<InterfaceSlot>,
}

/// A class: 12 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassType<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Its number.
    pub id: u16,
    /// 16-byte rows that an instance has in its constant buffer.
    pub constant_buffer_stride: u16,
    /// Textures of an instance.
    pub texture_stride: u16,
    /// Samplers of an instance.
    pub sampler_stride: u16,
}

/// An instance of a class: 16 bytes. A resource that it does not have is `u16::MAX`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassInstance<'a> {
    /// Name of the variable.
    pub name: Cow<'a, str>,
    /// Number of its class.
    pub ty: u16,
    /// Constant buffer.
    pub constant_buffer: u16,
    /// First row in the constant buffer.
    pub constant_buffer_offset: u16,
    /// First texture.
    pub texture: u16,
    /// First sampler.
    pub sampler: u16,
}

/// An interface, or an array of interfaces: 16 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceSlot {
    /// Slots that it covers.
    pub span: u32,
    /// The classes that can fill it.
    pub type_ids: Vec<u16>,
    /// For each of them, the number of its function table.
    pub table_ids: Vec<u32>,
}

impl<'a> Interfaces<'a> {
    /// Reads the part.
    ///
    /// # Errors
    /// A table or a name is not within the part.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let (instances, types, records) = (part.size_at(0)?, part.size_at(4)?, part.size_at(8)?);
        let (first_type, first_record) = (part.size_at(20)?, part.size_at(24)?);
        let first_instance = first_type.saturating_add(types.saturating_mul(12));
        let class = |offset: usize| {
            Ok::<_, Error>(ClassType {
                name: part.text_at(part.size_at(offset)?)?,
                id: part.u16_at(offset + 4)?,
                constant_buffer_stride: part.u16_at(offset + 6)?,
                texture_stride: part.u16_at(offset + 8)?,
                sampler_stride: part.u16_at(offset + 10)?,
            })
        };
        let instance = |offset: usize| {
            Ok::<_, Error>(ClassInstance {
                name: part.text_at(part.size_at(offset)?)?,
                ty: part.u16_at(offset + 4)?,
                constant_buffer: part.u16_at(offset + 8)?,
                constant_buffer_offset: part.u16_at(offset + 10)?,
                texture: part.u16_at(offset + 12)?,
                sampler: part.u16_at(offset + 14)?,
            })
        };
        // Lists of slots may overlap: together they hold no more than the part has room for.
        let mut room = part.data.len();
        let slot = |offset: usize| {
            let count = part.size_at(offset + 4)?;
            let type_ids = part.records(part.size_at(offset + 8)?, count, 2)?;
            let table_ids = part.records(part.size_at(offset + 12)?, count, 4)?;
            room = room
                .checked_sub(6 * count)
                .ok_or_else(|| part.malformed(offset, format!("interfaces share their classes: {count}")))?;
            Ok::<_, Error>(InterfaceSlot {
                span: part.u32_at(offset)?,
                type_ids: type_ids.map(|offset| part.u16_at(offset)).collect::<Result<_>>()?,
                table_ids: table_ids.map(|offset| part.u32_at(offset)).collect::<Result<_>>()?,
            })
        };
        Ok(Self {
            slot_count: part.u32_at(12)?,
            types: part.records(first_type, types, 12)?.map(class).collect::<Result<_>>()?,
            instances: part.records(first_instance, instances, 16)?.map(instance).collect::<Result<_>>()?,
            slots: part.records(first_record, records, 16)?.map(slot).collect::<Result<_>>()?,
        })
    }
}
