//! Metadata blocks, of modules and of functions.

use super::{ModuleReader, Type, TypeId, ValueId};
use crate::{
    Result,
    dxil::{
        bitcode::Entry,
        module::{Annotations, Metadata, MetadataId, MetadataOperand},
    },
};

/// Codes of the records (`bitc::MetadataCodes`).
mod code {
    pub const STRING: u32 = 1;
    pub const VALUE: u32 = 2;
    pub const NODE: u32 = 3;
    pub const NAME: u32 = 4;
    pub const DISTINCT_NODE: u32 = 5;
    pub const KIND: u32 = 6;
    pub const LOCATION: u32 = 7;
    pub const OLD_NODE: u32 = 8;
    pub const OLD_FN_NODE: u32 = 9;
    pub const NAMED_NODE: u32 = 10;
    pub const ATTACHMENT: u32 = 11;
    pub const GENERIC_DEBUG: u32 = 12;
    pub const LAST_DEBUG: u32 = 32;
}

impl ModuleReader<'_> {
    /// Reads a metadata block (`METADATA_BLOCK_ID`) of the module or of a function.
    pub(super) fn read_metadata(&mut self) -> Result<Vec<Metadata>> {
        self.reader.enter()?;
        let mut name = None;
        let mut metadata = Vec::new();
        loop {
            match self.next()? {
                Entry::End => return Ok(metadata),
                Entry::Block(_) => self.reader.skip()?,
                Entry::Record => metadata.extend(self.read_metadata_record(&mut name)?),
            }
        }
    }

    /// The metadata of the record, unless it says something else.
    fn read_metadata_record(&mut self, name: &mut Option<String>) -> Result<Option<Metadata>> {
        let record = &self.record;
        let metadata = match record.code {
            code::STRING => Metadata::String(record.text(0)),
            code::VALUE => Metadata::Value(ValueId(record.index(1)?)),
            // Members are ids + 1; 0 is nothing.
            code::NODE | code::DISTINCT_NODE => {
                let member = |index: usize| {
                    Ok(match record.index(index)?.checked_sub(1) {
                        Some(id) => MetadataOperand::Metadata(MetadataId(id)),
                        None => MetadataOperand::Null,
                    })
                };
                let mut members = Vec::with_capacity(record.operands.len());
                for index in 0..record.operands.len() {
                    members.push(member(index)?);
                }
                Metadata::Node { distinct: record.code == code::DISTINCT_NODE, members }
            }
            // Members are types with values; one of type metadata is a metadata id.
            code::OLD_NODE | code::OLD_FN_NODE => {
                let member = |pair: usize| {
                    let value = record.index(2 * pair + 1)?;
                    Ok(match self.module.types.get(TypeId(record.index(2 * pair)?)) {
                        Some(Type::Metadata) => MetadataOperand::Metadata(MetadataId(value)),
                        Some(Type::Void) => MetadataOperand::Null,
                        Some(_) => MetadataOperand::Value(ValueId(value)),
                        None => return Err(record.malformed("unknown type")),
                    })
                };
                let members = (0..record.operands.len() / 2).map(member).collect::<Result<_>>()?;
                Metadata::Node { distinct: false, members }
            }
            code::NAME => {
                *name = Some(record.text(0));
                return Ok(None);
            }
            code::NAMED_NODE => {
                let name = name.take().ok_or_else(|| record.malformed("named metadata without a name"))?;
                let ids = (0..record.operands.len()).map(|index| record.index(index).map(MetadataId));
                let ids = ids.collect::<Result<Vec<_>>>()?;
                let named = &mut self.module.named_metadata;
                match named.iter_mut().find(|named| named.0 == name) {
                    Some(named) => named.1.extend(ids),
                    None => named.push((name, ids)),
                }
                return Ok(None);
            }
            code::KIND => {
                self.module.metadata_kinds.insert(record.index(0)?, record.text(1));
                return Ok(None);
            }
            code::LOCATION | code::GENERIC_DEBUG..=code::LAST_DEBUG => {
                Metadata::Debug(record.code, record.operands.clone())
            }
            _ => return Err(record.malformed("unknown metadata record")),
        };
        Ok(Some(metadata))
    }

    /// Reads what is attached to a function's instructions: `[instruction, (kind, node)...]`, or `[(kind, node)...]`
    /// for the function itself.
    pub(super) fn read_attachments(&mut self, annotations: &mut Annotations) -> Result<()> {
        self.reader.enter()?;
        loop {
            match self.next()? {
                Entry::End => return Ok(()),
                Entry::Block(_) => self.reader.skip()?,
                Entry::Record if self.record.code == code::ATTACHMENT => {
                    let record = &self.record;
                    let first = record.operands.len() % 2;
                    let attached = match first {
                        0 => &mut annotations.function,
                        _ => annotations.attachments.entry(record.index(0)?).or_default(),
                    };
                    for index in (first..record.operands.len()).step_by(2) {
                        attached.push((record.index(index)?, MetadataId(record.index(index + 1)?)));
                    }
                }
                Entry::Record => {}
            }
        }
    }
}
