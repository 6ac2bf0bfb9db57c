//! Constants of an LLVM module.

use super::{ArithmeticFlags, BinaryOperation, CastOperation, ValueId};

/// A constant; its type stands beside it.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// Any value will do.
    Undefined,
    /// Zero in every number.
    Null,
    /// An integer, sign-extended to 64 bits.
    Integer(i64),
    /// Bits of a float.
    Float(u64),
    /// An array, vector or structure of constants.
    Aggregate(Vec<ValueId>),
    /// An array or vector of numbers: their bits.
    Data(Vec<u64>),
    /// An operation on constants.
    Expression(Expression),
}

/// An operation on constants.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// Two numbers.
    Binary {
        /// Which operation.
        op: BinaryOperation,
        /// First operand.
        a: ValueId,
        /// Second operand.
        b: ValueId,
        /// What may be assumed of the operation.
        flags: ArithmeticFlags,
    },
    /// Conversion to the constant's type.
    Cast(CastOperation, ValueId),
    /// Address of a part.
    ElementPointer {
        /// The whole.
        base: ValueId,
        /// The way to the part.
        indices: Vec<ValueId>,
        /// No step leaves the object.
        in_bounds: bool,
    },
    /// Choice.
    Select(ValueId, ValueId, ValueId),
    /// Comparison.
    Compare(u32, ValueId, ValueId),
    /// Operations on vectors and others that no compiler leaves in DXIL; the code of the record.
    Other(u32),
}
