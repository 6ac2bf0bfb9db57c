//! The type block.

use super::{ModuleReader, Type, TypeId};
use crate::{Result, dxil::bitcode::Entry};

impl ModuleReader<'_> {
    /// Reads the type table (`TYPE_BLOCK_ID_NEW`).
    pub(super) fn read_types(&mut self) -> Result<()> {
        self.reader.enter()?;
        let mut name = String::new();
        loop {
            match self.next()? {
                Entry::End => return Ok(()),
                Entry::Block(_) => self.reader.skip()?,
                Entry::Record => {
                    let offset = self.record.offset;
                    if let Some(ty) = self.read_type(&mut name)? {
                        self.module.types.push(ty).map_err(|error| error.at_offset(offset))?;
                    }
                }
            }
        }
    }

    /// A type of the record, unless it says something else.
    fn read_type(&mut self, name: &mut String) -> Result<Option<Type>> {
        let record = &self.record;
        // Types may point to later ones; Types::push rejects later ones that are contained by value.
        let types = |start: usize| {
            (start..record.operands.len()).map(|index| record.index(index).map(TypeId)).collect::<Result<Vec<_>>>()
        };
        Ok(Some(match record.code {
            // NUMENTRY.
            1 => return Ok(None),
            2 => Type::Void,
            3 => Type::Float,
            4 => Type::Double,
            5 => Type::Label,
            6 => Type::Opaque { name: std::mem::take(name) },
            7 => Type::Integer(record.index(0)?),
            8 => Type::Pointer { pointee: TypeId(record.index(0)?), space: record.index(1).unwrap_or(0) },
            10 => Type::Half,
            11 => Type::Array { len: record.operand(0)?, element: TypeId(record.index(1)?) },
            12 => Type::Vector { len: record.index(0)?, element: TypeId(record.index(1)?) },
            16 => Type::Metadata,
            13 => Type::Foreign("x86_fp80"),
            14 => Type::Foreign("fp128"),
            15 => Type::Foreign("ppc_fp128"),
            17 => Type::Foreign("x86_mmx"),
            // STRUCT_ANON: [packed, fields].
            18 => Type::Struct { name: None, packed: record.operand(0)? != 0, fields: types(1)? },
            // STRUCT_NAME: a name for the next structure.
            19 => {
                *name = record.text(0);
                return Ok(None);
            }
            // STRUCT_NAMED: [packed, fields].
            20 => {
                let packed = record.operand(0)? != 0;
                Type::Struct { name: Some(std::mem::take(name)), packed, fields: types(1)? }
            }
            // FUNCTION: [variadic, result, parameters]; the older form has an attribute before the result.
            21 => {
                let variadic = record.operand(0)? != 0;
                Type::Function { variadic, result: TypeId(record.index(1)?), params: types(2)? }
            }
            9 => {
                let variadic = record.operand(0)? != 0;
                Type::Function { variadic, result: TypeId(record.index(2)?), params: types(3)? }
            }
            _ => return Err(record.malformed("unknown type record")),
        }))
    }
}
