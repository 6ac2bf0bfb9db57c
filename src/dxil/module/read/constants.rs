//! Constants blocks, of modules and of functions.

use super::{ModuleReader, Type, TypeId, Value, ValueDef, ValueId};
use crate::{
    Error, Result,
    dxil::{
        bitcode::{Entry, Record},
        module::{ArithmeticFlags, BinaryOperation, CastOperation, Constant, Expression},
    },
};

/// Undoes the sign rotation of integers: bit 0 is the sign.
pub(super) fn sign_rotated(value: u64) -> i64 {
    match value {
        // "Minus zero" is the smallest number.
        1 => i64::MIN,
        _ if value & 1 == 1 => (value >> 1).wrapping_neg() as i64,
        _ => (value >> 1) as i64,
    }
}

impl ModuleReader<'_> {
    /// Reads a constants block. The constants are numbered from `first` on; they may refer to later ones.
    pub(super) fn read_constants(&mut self, first: u32) -> Result<Vec<Value>> {
        self.reader.enter()?;
        let mut constants = Vec::new();
        let mut ty = None;
        loop {
            match self.next()? {
                Entry::End => return Ok(constants),
                Entry::Block(_) => self.reader.skip()?,
                // SETTYPE.
                Entry::Record if self.record.code == 1 => ty = Some(self.type_operand(0)?),
                Entry::Record => {
                    let ty = ty.ok_or_else(|| self.record.malformed("constant without a type"))?;
                    let constant = self.read_constant(ty)?;
                    if first as usize + constants.len() >= u32::MAX as usize {
                        return Err(self.record.malformed("too many values"));
                    }
                    constants.push(Value { ty, def: ValueDef::Constant(constant) });
                }
            }
        }
    }

    fn read_constant(&self, ty: TypeId) -> Result<Constant> {
        let record = &self.record;
        let value = |index: usize| record.index(index).map(ValueId);
        let values = |start: usize| (start..record.operands.len()).map(value).collect::<Result<Vec<_>>>();
        let float = self.is_float(ty);
        Ok(match record.code {
            2 => Constant::Null,
            3 => Constant::Undefined,
            4 => Constant::Integer(sign_rotated(record.operand(0)?)),
            5 => match record.operands.as_slice() {
                [word] => Constant::Integer(sign_rotated(*word)),
                _ => return Err(Error::unsupported("integer wider than 64 bits").at_offset(record.offset)),
            },
            6 => Constant::Float(record.operand(0)?),
            7 => Constant::Aggregate(values(0)?),
            8 => Constant::Data(record.operands.clone()),
            // CSTRING: the final zero is left out.
            9 => Constant::Data(record.operands.iter().copied().chain([0]).collect()),
            22 => Constant::Data(record.operands.clone()),
            10 => {
                let op = BinaryOperation::decode(record.operand(0)?, float);
                let op = op.ok_or_else(|| record.malformed("unknown operation in a constant"))?;
                let flags = ArithmeticFlags(record.operands.get(3).map_or(0, |&flags| flags as u8));
                Constant::Expression(Expression::Binary { op, a: value(1)?, b: value(2)?, flags })
            }
            11 => {
                let op = CastOperation::decode(record.operand(0)?);
                let op = op.ok_or_else(|| record.malformed("unknown conversion in a constant"))?;
                Constant::Expression(Expression::Cast(op, value(2)?))
            }
            // GEP: [type of the whole, if the count is odd; then type and value of each operand].
            12 | 20 => {
                let mut operands = pairs(record, record.operands.len() % 2)?;
                if operands.is_empty() {
                    return Err(record.malformed("address of nothing"));
                }
                let base = operands.remove(0);
                Constant::Expression(Expression::ElementPointer {
                    base,
                    indices: operands,
                    in_bounds: record.code == 20,
                })
            }
            13 => Constant::Expression(Expression::Select(value(0)?, value(1)?, value(2)?)),
            17 => Constant::Expression(Expression::Compare(record.index(3)?, value(1)?, value(2)?)),
            14..=16 | 18 | 19 | 21 | 23 => Constant::Expression(Expression::Other(record.code)),
            _ => return Err(record.malformed("unknown constant record")),
        })
    }

    /// It is a float or a vector of floats.
    pub(super) fn is_float(&self, ty: TypeId) -> bool {
        match self.module.types.get(ty) {
            Some(Type::Vector { element, .. }) => self.module.types.get(*element).is_some_and(Type::is_float),
            Some(ty) => ty.is_float(),
            None => false,
        }
    }
}

/// Values of the type-value pairs from `start` on.
fn pairs(record: &Record, start: usize) -> Result<Vec<ValueId>> {
    (start + 1..record.operands.len()).step_by(2).map(|index| record.index(index).map(ValueId)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_carry_their_sign_below() {
        assert_eq!(sign_rotated(0), 0);
        assert_eq!(sign_rotated(2), 1);
        assert_eq!(sign_rotated(3), -1);
        assert_eq!(sign_rotated(1), i64::MIN);
        assert_eq!(sign_rotated(u64::MAX - 1), i64::MAX);
    }
}
