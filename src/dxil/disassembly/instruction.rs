//! Instructions.

use super::{Listing, attribute, metadata::Node};
use crate::{
    Error, Result,
    dxil::module::{
        Access, ArithmeticFlags, AtomicOperation, BinaryOperation, BlockId, CastOperation, Constant, Detail,
        FunctionId, Instruction, Operation, Ordering, Predicate, Tail, Type, ValueDef, ValueId,
    },
};

impl Listing<'_> {
    /// An instruction, with the comments behind it.
    pub(super) fn instruction(&mut self, number: u32) -> Result<()> {
        let body = self.body().ok_or_else(|| Error::internal("instruction of no function"))?;
        let instruction = &body.instructions[number as usize];
        self.push("  ");
        if let Some(result) = instruction.result {
            self.local_name(result)?;
            self.push(" = ");
        }
        self.operation(number, instruction)?;
        if let Some(&location) = body.annotations.locations.get(&number)
            && location.scope.is_some()
        {
            self.push(", !dbg ");
            self.node_reference(Node::Location(location))?;
        }
        for (kind, id) in self.attachments(number) {
            self.push(", ");
            self.attachment(kind, id)?;
        }
        match &instruction.op {
            Operation::Call { callee, arguments } => self.call_comment(number, *callee, arguments),
            _ => self.location_comment(number),
        }
    }

    fn operation(&mut self, number: u32, instruction: &Instruction) -> Result<()> {
        let access = match instruction.detail {
            Detail::Access(access) => access,
            _ => Access::default(),
        };
        match &instruction.op {
            Operation::Binary { op, a, b, .. } => {
                self.push(binary_name(*op));
                if let Detail::Arithmetic(flags) = instruction.detail {
                    self.arithmetic_flags(*op, flags);
                }
                self.operands_of_one_type(&[*a, *b])
            }
            Operation::Compare(predicate, a, b) => {
                let (opcode, name) = predicate_name(*predicate);
                self.push(opcode);
                if let (Detail::Arithmetic(flags), Predicate::Float(_)) = (instruction.detail, predicate) {
                    self.float_flags(flags);
                }
                self.push(" ");
                self.push(name);
                self.operands_of_one_type(&[*a, *b])
            }
            Operation::Cast(op, value) => {
                self.push(cast_name(*op));
                self.typed_operands(&[*value])?;
                self.push(" to ");
                self.ty(instruction.ty)
            }
            Operation::ElementPointer { base, indices } => {
                let inside = instruction.detail == Detail::InBounds;
                self.push(if inside { "getelementptr inbounds " } else { "getelementptr " });
                let pointee = self.module.types.pointee(self.type_of(*base)?);
                self.ty(pointee.ok_or_else(|| Error::malformed("address is no pointer"))?)?;
                self.push(",");
                self.typed_operands(&[*base])?;
                for &index in indices {
                    self.push(",");
                    self.typed_operands(&[index])?;
                }
                Ok(())
            }
            Operation::Select { condition, accept, reject } => {
                self.push("select");
                self.typed_operands(&[*condition, *accept, *reject])
            }
            Operation::ExtractElement(vector, index) => {
                self.push("extractelement");
                self.typed_operands(&[*vector, *index])
            }
            Operation::InsertElement(vector, element, index) => {
                self.push("insertelement");
                self.typed_operands(&[*vector, *element, *index])
            }
            Operation::ShuffleVector(a, b, mask) => {
                self.push("shufflevector");
                self.typed_operands(&[*a, *b, *mask])
            }
            Operation::ExtractValue(aggregate, indices) => {
                self.push("extractvalue");
                self.typed_operands(&[*aggregate])?;
                self.indices(indices)
            }
            Operation::InsertValue(aggregate, value, indices) => {
                self.push("insertvalue");
                self.typed_operands(&[*aggregate, *value])?;
                self.indices(indices)
            }
            Operation::Phi(incoming) => {
                self.push("phi ");
                self.ty(instruction.ty)?;
                for (index, &(value, block)) in incoming.iter().enumerate() {
                    self.push(if index > 0 { ", [ " } else { " [ " });
                    self.operand(value)?;
                    self.push(", ");
                    self.block_name(block)?;
                    self.push(" ]");
                }
                Ok(())
            }
            Operation::Allocate { ty, count } => {
                self.push("alloca ");
                let (alignment, argument) = match instruction.detail {
                    Detail::Allocation { alignment, argument } => (alignment, argument),
                    _ => (0, false),
                };
                if argument {
                    self.push("inalloca ");
                }
                self.ty(*ty)?;
                let value = self.value_of(*count)?;
                let one = matches!(value.def, ValueDef::Constant(Constant::Integer(1)));
                if !one || self.module.types.get(value.ty) != Some(&Type::Integer(32)) {
                    self.push(",");
                    self.typed_operands(&[*count])?;
                }
                self.alignment(alignment)
            }
            Operation::Load(pointer) => {
                self.memory_opcode("load", &access);
                self.push(" ");
                self.ty(instruction.ty)?;
                self.push(",");
                self.typed_operands(&[*pointer])?;
                self.ordering(&access, &[access.ordering])?;
                self.alignment(access.alignment)
            }
            Operation::Store { pointer, value } => {
                self.memory_opcode("store", &access);
                self.typed_operands(&[*value, *pointer])?;
                self.ordering(&access, &[access.ordering])?;
                self.alignment(access.alignment)
            }
            Operation::AtomicReadModifyWrite { op, pointer, value } => {
                self.push(if access.volatile { "atomicrmw volatile " } else { "atomicrmw " });
                self.push(atomic_name(*op));
                self.typed_operands(&[*pointer, *value])?;
                self.ordering(&access, &[access.ordering])
            }
            Operation::CompareExchange { pointer, compare, value } => {
                self.push("cmpxchg");
                self.push(if access.weak { " weak" } else { "" });
                self.push(if access.volatile { " volatile" } else { "" });
                self.typed_operands(&[*pointer, *compare, *value])?;
                self.ordering(&access, &[access.ordering, access.failure])
            }
            Operation::Call { callee, arguments } => self.call(number, instruction.detail, *callee, arguments),
            Operation::Fence => {
                self.push("fence");
                self.ordering(&access, &[access.ordering])
            }
            Operation::Return(None) => {
                self.push("ret void");
                Ok(())
            }
            Operation::Return(Some(value)) => {
                self.push("ret");
                self.typed_operands(&[*value])
            }
            Operation::Jump(block) => {
                self.push("br ");
                self.label(*block)
            }
            Operation::Branch { condition, accept, reject } => {
                self.push("br");
                self.typed_operands(&[*condition])?;
                self.push(", ");
                self.label(*accept)?;
                self.push(", ");
                self.label(*reject)
            }
            Operation::Switch { selector, cases, default } => {
                self.push("switch");
                self.typed_operands(&[*selector])?;
                self.push(", ");
                self.label(*default)?;
                self.push(" [");
                for &(value, block) in cases {
                    self.push("\n   ");
                    self.typed_operands(&[value])?;
                    self.push(", ");
                    self.label(block)?;
                }
                self.push("\n  ]");
                Ok(())
            }
            Operation::Unreachable => {
                self.push("unreachable");
                Ok(())
            }
        }
    }

    fn call(&mut self, number: u32, detail: Detail, callee: FunctionId, arguments: &[ValueId]) -> Result<()> {
        let Detail::Call { attributes, convention, tail } = detail else {
            return Err(Error::internal("call without its detail"));
        };
        self.push(match tail {
            Tail::No => "call ",
            Tail::May => "tail call ",
            Tail::Must => "musttail call ",
        });
        if self.convention(convention)? {
            self.push(" ");
        }
        let of_result = self.attributes(attributes, 0);
        if !of_result.is_empty() {
            let of_result = attribute::spelled(of_result, false)?;
            self.write(format_args!("{of_result} "))?;
        }
        let function = &self.module.functions[callee.index()];
        match self.module.types.get(function.ty) {
            Some(Type::Function { variadic: true, .. }) => self.ty(function.ty)?,
            Some(Type::Function { result, .. }) => self.ty(*result)?,
            _ => return Err(Error::malformed("call of no function type")),
        }
        self.push(" ");
        self.function_name(callee)?;
        self.push("(");
        for (index, &argument) in arguments.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            if argument == ValueId::NONE {
                let id = self.body().and_then(|body| body.annotations.arguments.get(&(number, index as u32)));
                let id = *id.ok_or_else(|| Error::malformed("metadata of a call is missing"))?;
                self.push("metadata");
                self.parameter_attributes(attributes, index)?;
                self.push(" ");
                self.metadata(id)?;
            } else {
                let ty = self.type_of(argument)?;
                self.ty(ty)?;
                self.parameter_attributes(attributes, index)?;
                self.push(" ");
                self.operand(argument)?;
            }
        }
        self.push(")");
        self.attribute_reference(attributes)
    }

    /// Values with their types, each with a space in front and a comma between.
    fn typed_operands(&mut self, operands: &[ValueId]) -> Result<()> {
        for (index, &operand) in operands.iter().enumerate() {
            self.push(if index > 0 { ", " } else { " " });
            self.typed_operand(operand)?;
        }
        Ok(())
    }

    /// Values of one type, which stands in front.
    fn operands_of_one_type(&mut self, operands: &[ValueId]) -> Result<()> {
        let types = operands.iter().map(|&operand| self.type_of(operand)).collect::<Result<Vec<_>>>()?;
        let canonical = |ty| self.module.types.canonical(ty);
        if types.windows(2).any(|pair| canonical(pair[0]) != canonical(pair[1])) {
            return self.typed_operands(operands);
        }
        self.push(" ");
        self.ty(types[0])?;
        for (index, &operand) in operands.iter().enumerate() {
            self.push(if index > 0 { ", " } else { " " });
            self.operand(operand)?;
        }
        Ok(())
    }

    fn indices(&mut self, indices: &[u32]) -> Result<()> {
        indices.iter().try_for_each(|index| self.write(format_args!(", {index}")))
    }

    fn label(&mut self, block: BlockId) -> Result<()> {
        self.push("label ");
        self.block_name(block)
    }

    fn alignment(&mut self, alignment: u32) -> Result<()> {
        match alignment {
            0 => Ok(()),
            _ => self.write(format_args!(", align {alignment}")),
        }
    }

    fn memory_opcode(&mut self, name: &str, access: &Access) {
        self.push(name);
        self.push(if access.ordering == Ordering::NotAtomic { "" } else { " atomic" });
        self.push(if access.volatile { " volatile" } else { "" });
    }

    /// Scope and order of an atomic access.
    fn ordering(&mut self, access: &Access, orderings: &[Ordering]) -> Result<()> {
        if access.ordering == Ordering::NotAtomic {
            return Ok(());
        }
        if access.single_thread {
            self.push(" singlethread");
        }
        for ordering in orderings {
            self.push(match ordering {
                Ordering::NotAtomic => return Err(Error::malformed("atomic access without an order")),
                Ordering::Unordered => " unordered",
                Ordering::Monotonic => " monotonic",
                Ordering::Acquire => " acquire",
                Ordering::Release => " release",
                Ordering::AcquireRelease => " acq_rel",
                Ordering::SequentiallyConsistent => " seq_cst",
            });
        }
        Ok(())
    }

    /// What may be assumed of an operation.
    pub(super) fn arithmetic_flags(&mut self, op: BinaryOperation, flags: ArithmeticFlags) {
        use BinaryOperation as Op;
        let bit = |number: u32| flags.0 >> number & 1 != 0;
        match op {
            Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem => self.float_flags(flags),
            Op::Add | Op::Sub | Op::Mul | Op::Shl => {
                self.push(if bit(0) { " nuw" } else { "" });
                self.push(if bit(1) { " nsw" } else { "" });
            }
            Op::UDiv | Op::SDiv | Op::LShr | Op::AShr => self.push(if bit(0) { " exact" } else { "" }),
            Op::URem | Op::SRem | Op::And | Op::Or | Op::Xor => {}
        }
    }

    fn float_flags(&mut self, ArithmeticFlags(flags): ArithmeticFlags) {
        if flags & 1 != 0 {
            self.push(" fast");
            return;
        }
        for (bit, name) in [(1, " nnan"), (2, " ninf"), (3, " nsz"), (4, " arcp")] {
            self.push(if flags >> bit & 1 != 0 { name } else { "" });
        }
    }
}

/// Opcode of a binary operation.
pub(super) fn binary_name(op: BinaryOperation) -> &'static str {
    match op {
        BinaryOperation::Add => "add",
        BinaryOperation::Sub => "sub",
        BinaryOperation::Mul => "mul",
        BinaryOperation::UDiv => "udiv",
        BinaryOperation::SDiv => "sdiv",
        BinaryOperation::URem => "urem",
        BinaryOperation::SRem => "srem",
        BinaryOperation::Shl => "shl",
        BinaryOperation::LShr => "lshr",
        BinaryOperation::AShr => "ashr",
        BinaryOperation::And => "and",
        BinaryOperation::Or => "or",
        BinaryOperation::Xor => "xor",
        BinaryOperation::FAdd => "fadd",
        BinaryOperation::FSub => "fsub",
        BinaryOperation::FMul => "fmul",
        BinaryOperation::FDiv => "fdiv",
        BinaryOperation::FRem => "frem",
    }
}

/// Opcode of a conversion.
pub(super) fn cast_name(op: CastOperation) -> &'static str {
    match op {
        CastOperation::Trunc => "trunc",
        CastOperation::ZExt => "zext",
        CastOperation::SExt => "sext",
        CastOperation::FpToUi => "fptoui",
        CastOperation::FpToSi => "fptosi",
        CastOperation::UiToFp => "uitofp",
        CastOperation::SiToFp => "sitofp",
        CastOperation::FpTrunc => "fptrunc",
        CastOperation::FpExt => "fpext",
        CastOperation::PtrToInt => "ptrtoint",
        CastOperation::IntToPtr => "inttoptr",
        CastOperation::Bitcast => "bitcast",
        CastOperation::AddressSpaceCast => "addrspacecast",
    }
}

/// Opcode of a comparison and name of its predicate.
pub(super) fn predicate_name(predicate: Predicate) -> (&'static str, &'static str) {
    /// By equal (1), greater (2), less (4), unordered (8).
    const FLOAT: [&str; 16] = [
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "uno", "ueq", "ugt", "uge", "ult", "ule", "une",
        "true",
    ];
    let name = match predicate {
        Predicate::Float(relations) => return ("fcmp", FLOAT[usize::from(relations & 15)]),
        Predicate::Eq => "eq",
        Predicate::Ne => "ne",
        Predicate::UGt => "ugt",
        Predicate::UGe => "uge",
        Predicate::ULt => "ult",
        Predicate::ULe => "ule",
        Predicate::SGt => "sgt",
        Predicate::SGe => "sge",
        Predicate::SLt => "slt",
        Predicate::SLe => "sle",
    };
    ("icmp", name)
}

fn atomic_name(op: AtomicOperation) -> &'static str {
    match op {
        AtomicOperation::Exchange => "xchg",
        AtomicOperation::Add => "add",
        AtomicOperation::Sub => "sub",
        AtomicOperation::And => "and",
        AtomicOperation::Nand => "nand",
        AtomicOperation::Or => "or",
        AtomicOperation::Xor => "xor",
        AtomicOperation::Max => "max",
        AtomicOperation::Min => "min",
        AtomicOperation::UMax => "umax",
        AtomicOperation::UMin => "umin",
    }
}
