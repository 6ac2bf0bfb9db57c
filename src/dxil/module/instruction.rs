//! Instructions of an LLVM function.

use super::{BlockId, FunctionId, TypeId, ValueId};

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// What it does.
    pub op: Operation,
    /// Type of its result.
    pub ty: TypeId,
    /// The value that its result is; `None` if it has none.
    pub result: Option<ValueId>,
    /// Metadata says that it must not be refactored (`dx.precise`).
    pub precise: bool,
    /// Metadata says that its index may differ between lanes (`dx.nonuniform`).
    pub non_uniform: bool,
    /// What its record says beyond the operation. Only listings need it.
    pub detail: Detail,
}

/// What the record of an instruction says beyond its operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    #[default]
    None,
    /// Arithmetic, comparison of floats: what may be assumed.
    Arithmetic(ArithmeticFlags),
    /// Address of a part: no step leaves the object.
    InBounds,
    /// Memory of the thread.
    Allocation {
        /// Alignment in bytes; 0 if none is given.
        alignment: u32,
        /// It is made to be passed as an argument.
        argument: bool,
    },
    /// Access to memory.
    Access(Access),
    /// Call.
    Call {
        /// Position in [`Module::attributes`](super::Module::attributes).
        attributes: Option<u32>,
        /// Calling convention, in LLVM's numbering; 0 is C's.
        convention: u32,
        /// The caller's frame may be, or must be, given up.
        tail: Tail,
    },
}

/// Whether a call may reuse its caller's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// No.
    #[default]
    No,
    /// It may.
    May,
    /// It must.
    Must,
}

/// What an optimizer may assume of arithmetic: the record's bits, whose meaning depends on the operation.
///
/// Integers: bit 0 no unsigned wrap, bit 1 no signed wrap; for divisions and shifts to the right, bit 0 exact. Floats: bit
/// 0 unsafe algebra (all of the others), bit 1 no NaN, bit 2 no infinity, bit 3 no signed zero, bit 4 reciprocals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArithmeticFlags(pub u8);

/// How memory is accessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Alignment in bytes; 0 if none is given.
    pub alignment: u32,
    /// It must not be removed or moved.
    pub volatile: bool,
    /// Order against others' accesses.
    pub ordering: Ordering,
    /// Order where an exchange does not take place.
    pub failure: Ordering,
    /// Others are those of the same thread only.
    pub single_thread: bool,
    /// The exchange may fail without a reason.
    pub weak: bool,
}

/// Memory orders, in the numbering of `AtomicOrderingCodes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Ordering {
    #[default]
    NotAtomic,
    Unordered,
    Monotonic,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

impl Ordering {
    /// From the record's number.
    pub(in crate::dxil) fn decode(code: u64) -> Self {
        match code {
            0 => Self::NotAtomic,
            1 => Self::Unordered,
            2 => Self::Monotonic,
            3 => Self::Acquire,
            4 => Self::Release,
            5 => Self::AcquireRelease,
            _ => Self::SequentiallyConsistent,
        }
    }
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Two numbers.
    Binary {
        /// Which operation.
        op: BinaryOperation,
        /// First operand.
        a: ValueId,
        /// Second operand.
        b: ValueId,
        /// Floats: the result may be refactored (`fast`).
        fast: bool,
    },
    /// Conversion.
    Cast(CastOperation, ValueId),
    /// Address of a part (`getelementptr`).
    ElementPointer {
        /// Address of the whole.
        base: ValueId,
        /// The way to the part.
        indices: Vec<ValueId>,
    },
    /// Choice.
    Select {
        /// Condition.
        condition: ValueId,
        /// Taken where it is true.
        accept: ValueId,
        /// Taken where it is false.
        reject: ValueId,
    },
    /// Element of a vector.
    ExtractElement(ValueId, ValueId),
    /// Vector with one element replaced: vector, element, index.
    InsertElement(ValueId, ValueId, ValueId),
    /// Elements of two vectors by a constant mask.
    ShuffleVector(ValueId, ValueId, ValueId),
    /// Comparison.
    Compare(Predicate, ValueId, ValueId),
    /// Member of a structure or array.
    ExtractValue(ValueId, Vec<u32>),
    /// Structure or array with one member replaced: aggregate, member, the way to it.
    InsertValue(ValueId, ValueId, Vec<u32>),
    /// Value that depends on the block that control came from.
    Phi(Vec<(ValueId, BlockId)>),
    /// Memory of the thread.
    Allocate {
        /// Type of what it holds.
        ty: TypeId,
        /// Number of these, a constant.
        count: ValueId,
    },
    /// Read from memory.
    Load(ValueId),
    /// Write to memory.
    Store {
        /// Address.
        pointer: ValueId,
        /// Value.
        value: ValueId,
    },
    /// Atomic operation.
    AtomicReadModifyWrite {
        /// Which operation.
        op: AtomicOperation,
        /// Address.
        pointer: ValueId,
        /// Operand.
        value: ValueId,
    },
    /// Atomic exchange where memory equals `compare`: a structure of the old value and whether it was equal.
    CompareExchange {
        /// Address.
        pointer: ValueId,
        /// What memory must hold.
        compare: ValueId,
        /// What is written.
        value: ValueId,
    },
    /// Call.
    Call {
        /// The function.
        callee: FunctionId,
        /// Arguments; [`ValueId::NONE`] for those of type `metadata`, which are no values.
        arguments: Vec<ValueId>,
    },
    /// Memory fence.
    Fence,
    /// Return.
    Return(Option<ValueId>),
    /// Goes to a block.
    Jump(BlockId),
    /// Goes to one of two blocks.
    Branch {
        /// Condition.
        condition: ValueId,
        /// Taken if it is true.
        accept: BlockId,
        /// Taken if it is false.
        reject: BlockId,
    },
    /// Goes to one of several blocks.
    Switch {
        /// Selector.
        selector: ValueId,
        /// Constants and where they lead.
        cases: Vec<(ValueId, BlockId)>,
        /// Taken if none matches.
        default: BlockId,
    },
    /// Never reached.
    Unreachable,
}

impl Operation {
    /// It ends a block.
    pub fn is_terminator(&self) -> bool {
        matches!(self, Self::Return(_) | Self::Jump(_) | Self::Branch { .. } | Self::Switch { .. } | Self::Unreachable)
    }

    /// Calls `f` on each value that is used.
    pub fn for_each_operand(&self, mut f: impl FnMut(ValueId)) {
        match self {
            Self::Binary { a, b, .. } | Self::Compare(_, a, b) | Self::ExtractElement(a, b) => {
                f(*a);
                f(*b);
            }
            Self::Cast(_, a) | Self::Load(a) | Self::ExtractValue(a, _) | Self::Return(Some(a)) => f(*a),
            Self::ElementPointer { base, indices } => {
                f(*base);
                indices.iter().copied().for_each(f);
            }
            Self::Select { condition, accept, reject } => {
                f(*condition);
                f(*accept);
                f(*reject);
            }
            Self::InsertElement(a, b, c) | Self::ShuffleVector(a, b, c) => {
                f(*a);
                f(*b);
                f(*c);
            }
            Self::InsertValue(a, b, _) => {
                f(*a);
                f(*b);
            }
            Self::Phi(incoming) => incoming.iter().for_each(|(value, _)| f(*value)),
            Self::Allocate { count, .. } => f(*count),
            Self::Store { pointer, value } | Self::AtomicReadModifyWrite { pointer, value, .. } => {
                f(*pointer);
                f(*value);
            }
            Self::CompareExchange { pointer, compare, value } => {
                f(*pointer);
                f(*compare);
                f(*value);
            }
            Self::Call { arguments, .. } => {
                arguments.iter().copied().filter(|value| *value != ValueId::NONE).for_each(f);
            }
            Self::Branch { condition, .. } => f(*condition),
            Self::Switch { selector, .. } => f(*selector),
            Self::Fence | Self::Return(None) | Self::Jump(_) | Self::Unreachable => {}
        }
    }

    /// Blocks that a terminator leads to.
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Self::Jump(block) => vec![*block],
            Self::Branch { accept, reject, .. } => vec![*accept, *reject],
            Self::Switch { cases, default, .. } => cases.iter().map(|case| case.1).chain([*default]).collect(),
            _ => Vec::new(),
        }
    }
}

/// Binary operations, in the numbering of `BinaryOpcodes`, those of floats apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOperation {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

impl BinaryOperation {
    /// From the record's number.
    pub(in crate::dxil) fn decode(code: u64, float: bool) -> Option<Self> {
        Some(match (code, float) {
            (0, true) => Self::FAdd,
            (1, true) => Self::FSub,
            (2, true) => Self::FMul,
            (4, true) => Self::FDiv,
            (6, true) => Self::FRem,
            (0, false) => Self::Add,
            (1, false) => Self::Sub,
            (2, false) => Self::Mul,
            (3, false) => Self::UDiv,
            (4, false) => Self::SDiv,
            (5, false) => Self::URem,
            (6, false) => Self::SRem,
            (7, false) => Self::Shl,
            (8, false) => Self::LShr,
            (9, false) => Self::AShr,
            (10, false) => Self::And,
            (11, false) => Self::Or,
            (12, false) => Self::Xor,
            _ => return None,
        })
    }
}

/// Conversions, in the numbering of `CastOpcodes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CastOperation {
    Trunc,
    ZExt,
    SExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    FpTrunc,
    FpExt,
    PtrToInt,
    IntToPtr,
    Bitcast,
    AddressSpaceCast,
}

impl CastOperation {
    /// From the record's number.
    pub(in crate::dxil) fn decode(code: u64) -> Option<Self> {
        Some(match code {
            0 => Self::Trunc,
            1 => Self::ZExt,
            2 => Self::SExt,
            3 => Self::FpToUi,
            4 => Self::FpToSi,
            5 => Self::UiToFp,
            6 => Self::SiToFp,
            7 => Self::FpTrunc,
            8 => Self::FpExt,
            9 => Self::PtrToInt,
            10 => Self::IntToPtr,
            11 => Self::Bitcast,
            12 => Self::AddressSpaceCast,
            _ => return None,
        })
    }
}

/// Comparisons, in the numbering of LLVM's `CmpInst::Predicate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Predicate {
    /// Floats: bit 0 equal, bit 1 greater, bit 2 less, bit 3 unordered: true if the operands are in one of these
    /// relations.
    Float(u8),
    Eq,
    Ne,
    UGt,
    UGe,
    ULt,
    ULe,
    SGt,
    SGe,
    SLt,
    SLe,
}

impl Predicate {
    /// From the record's number.
    pub(in crate::dxil) fn decode(code: u64) -> Option<Self> {
        Some(match code {
            0..=15 => Self::Float(code as u8),
            32 => Self::Eq,
            33 => Self::Ne,
            34 => Self::UGt,
            35 => Self::UGe,
            36 => Self::ULt,
            37 => Self::ULe,
            38 => Self::SGt,
            39 => Self::SGe,
            40 => Self::SLt,
            41 => Self::SLe,
            _ => return None,
        })
    }
}

/// Atomic operations, in the numbering of `RMWOperations`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AtomicOperation {
    Exchange,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
}

impl AtomicOperation {
    /// From the record's number.
    pub(in crate::dxil) fn decode(code: u64) -> Option<Self> {
        Some(match code {
            0 => Self::Exchange,
            1 => Self::Add,
            2 => Self::Sub,
            3 => Self::And,
            4 => Self::Nand,
            5 => Self::Or,
            6 => Self::Xor,
            7 => Self::Max,
            8 => Self::Min,
            9 => Self::UMax,
            10 => Self::UMin,
            _ => return None,
        })
    }
}
