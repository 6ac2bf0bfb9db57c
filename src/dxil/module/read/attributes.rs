//! Attribute blocks.

use super::{Attribute, ModuleReader};
use crate::{
    Result,
    dxil::{bitcode::Entry, module::AttributeList},
};

impl ModuleReader<'_> {
    /// Reads the groups of attributes (`PARAMATTR_GROUP_BLOCK_ID`): `[number, index, attributes...]`.
    pub(super) fn read_attribute_groups(&mut self) -> Result<()> {
        self.reader.enter()?;
        loop {
            match self.next()? {
                Entry::End => return Ok(()),
                Entry::Block(_) => self.reader.skip()?,
                Entry::Record if self.record.code == 3 => {
                    let number = self.record.index(0)?;
                    let group = (self.record.index(1)?, self.read_attribute_group()?);
                    self.attribute_groups.insert(number, group);
                }
                Entry::Record => {}
            }
        }
    }

    /// The attributes of a group: `0, number`, `1, number, value`, `3, characters, 0` or
    /// `4, characters, 0, characters, 0`.
    fn read_attribute_group(&self) -> Result<Vec<Attribute>> {
        let record = &self.record;
        let mut attributes = Vec::new();
        let mut at = 2;
        let text = |at: &mut usize| {
            let start = *at;
            while record.operand(*at)? != 0 {
                *at += 1;
            }
            *at += 1;
            let bytes: Vec<u8> = record.operands[start..*at - 1].iter().map(|&character| character as u8).collect();
            Ok::<_, crate::Error>(String::from_utf8_lossy(&bytes).into_owned())
        };
        while at < record.operands.len() {
            let form = record.operand(at)?;
            at += 1;
            attributes.push(match form {
                0 => {
                    at += 1;
                    Attribute::Flag(record.operand(at - 1)?)
                }
                1 => {
                    at += 2;
                    Attribute::Number(record.operand(at - 2)?, record.operand(at - 1)?)
                }
                3 => Attribute::Text(text(&mut at)?, String::new()),
                4 => Attribute::Text(text(&mut at)?, text(&mut at)?),
                _ => return Err(record.malformed("unknown form of an attribute")),
            });
        }
        Ok(attributes)
    }

    /// Reads the lists of groups that functions and calls refer to (`PARAMATTR_BLOCK_ID`): `[groups...]`.
    pub(super) fn read_attributes(&mut self) -> Result<()> {
        self.reader.enter()?;
        loop {
            match self.next()? {
                Entry::End => return Ok(()),
                Entry::Block(_) => self.reader.skip()?,
                Entry::Record => {
                    let mut list = AttributeList::default();
                    // Code 1 is of LLVM before 3.3, which had no groups.
                    if self.record.code == 2 {
                        for index in 0..self.record.operands.len() {
                            let group = self.attribute_groups.get(&self.record.index(index)?);
                            let group = group.ok_or_else(|| self.record.malformed("unknown group of attributes"))?;
                            list.add(group.0, &group.1);
                        }
                    }
                    self.module.attributes.push(list);
                }
            }
        }
    }
}
