//! LLVM's own instructions.

use smallvec::SmallVec;

use super::{FunctionLowering, Lowered, Pointer, RecordPointer, llvm};
use crate::{
    Error, Result,
    dxil::op,
    ir::{Barrier, BinaryOp, Builder, CompareOp, ConvertOp, Op, Scalar, Type, UnaryOp, Value},
};

/// Types of numbers that the IR does not tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Narrow {
    /// The IR's type has the same width.
    No,
    /// 8-bit integer in an `i32`, zero-extended.
    Byte,
    /// Minimum-precision integer in an `i32`, whose upper half may hold anything.
    Minimum,
    /// Minimum-precision float in an `f32`.
    Half,
}

impl FunctionLowering<'_, '_> {
    /// Lowers one instruction that ends no block.
    pub(super) fn lower_instruction(&mut self, number: u32) -> Result<()> {
        let body = self.body;
        let instruction = &body.instructions[number as usize];
        self.origin = number;
        // Without "fast", LLVM's own arithmetic is precise; calls carry metadata.
        self.precise = instruction.precise
            || matches!(
                instruction.op,
                llvm::Operation::Binary {
                    op: llvm::BinaryOperation::FAdd
                        | llvm::BinaryOperation::FSub
                        | llvm::BinaryOperation::FMul
                        | llvm::BinaryOperation::FDiv
                        | llvm::BinaryOperation::FRem,
                    fast: false,
                    ..
                }
            );
        let lowered = self.operation(number, instruction)?;
        self.precise = false;
        if let Some(result) = instruction.result {
            let lowered = lowered.ok_or_else(|| Error::malformed("result of an operation that has none"))?;
            if let Lowered::Scalars(scalars) = &lowered {
                // Later instructions rely on the type that the module gives the value.
                let types = self.parent.scalar_types(instruction.ty)?;
                let fits = types.len() == scalars.len()
                    && types.iter().zip(scalars).all(|(ty, value)| self.function.ty(*value) == Type::Scalar(*ty));
                if !fits {
                    return Err(Error::malformed("instruction gives another type than the module says"));
                }
                if scalars.len() <= 4
                    && let Some(name) = self.name_of(number).map(str::to_owned)
                {
                    self.name(scalars, &name);
                }
            }
            let index = (result.0 - body.first) as usize;
            self.values[index] = Some(lowered);
        }
        Ok(())
    }

    fn operation(&mut self, number: u32, instruction: &llvm::Instruction) -> Result<Option<Lowered>> {
        let ty = instruction.ty;
        Ok(Some(match &instruction.op {
            llvm::Operation::Binary { op, a, b, fast } => {
                let a = self.value(*a)?;
                let b = self.value(*b)?;
                self.binary(*op, ty, &a, &b, *fast)?
            }
            llvm::Operation::Cast(op, value) => {
                let from = self.type_of(*value)?;
                let lowered = self.value(*value)?;
                self.cast(*op, lowered, from, ty)?
            }
            llvm::Operation::Compare(predicate, a, b) => {
                let operands = self.type_of(*a)?;
                let a = self.value(*a)?;
                let b = self.value(*b)?;
                self.compare(*predicate, operands, &a, &b)?
            }
            llvm::Operation::Select { condition, accept, reject } => {
                let condition = self.value(*condition)?;
                let accept = self.value(*accept)?;
                let reject = self.value(*reject)?;
                self.select(&condition, &accept, &reject)?
            }
            llvm::Operation::Phi(_) => self.phi(number, instruction)?,
            llvm::Operation::ExtractValue(aggregate, indices) => {
                let from = self.type_of(*aggregate)?;
                let (start, count) = self.member(from, indices)?;
                let lowered = self.value(*aggregate)?;
                let members = lowered.scalars()?.get(start..start + count);
                let members = members.ok_or_else(|| Error::malformed("no such member"))?;
                Lowered::Scalars(SmallVec::from_slice(members))
            }
            llvm::Operation::InsertValue(aggregate, value, indices) => {
                let (start, count) = self.member(ty, indices)?;
                let lowered = self.value(*aggregate)?;
                let member = self.value(*value)?;
                let mut scalars: SmallVec<[Value; 4]> = SmallVec::from_slice(lowered.scalars()?);
                let member = member.scalars()?;
                let place = scalars.get_mut(start..start + count).filter(|place| place.len() == member.len());
                place.ok_or_else(|| Error::malformed("no such member"))?.copy_from_slice(member);
                Lowered::Scalars(scalars)
            }
            llvm::Operation::ExtractElement(vector, index) => {
                let lowered = self.value(*vector)?;
                let scalars: SmallVec<[Value; 4]> = SmallVec::from_slice(lowered.scalars()?);
                match self.as_integer(*index) {
                    Some(index) => {
                        let value = usize::try_from(index).ok().and_then(|index| scalars.get(index));
                        // An index out of range gives an undefined value.
                        let value = value.or(scalars.first());
                        Lowered::scalar(*value.ok_or_else(|| Error::malformed("vector of nothing"))?)
                    }
                    None => {
                        let index = self.scalar(*index)?;
                        let scalar = Type::Scalar(self.parent.scalar(ty)?);
                        let mut build = self.build();
                        if scalars.len() > 4 {
                            // One after another; an index out of range gives an undefined value.
                            let mut value = scalars[0];
                            for (position, &other) in scalars.iter().enumerate().skip(1) {
                                let position = build.i32(position as u32);
                                let here = build.compare(CompareOp::IEq, index, position);
                                value = build.select(here, other, value);
                            }
                            return Ok(Some(Lowered::scalar(value)));
                        }
                        if scalars.is_empty() {
                            return Err(Error::malformed("vector of nothing"));
                        }
                        let vector = build.compose(&scalars);
                        match scalars.len() {
                            1 => Lowered::scalar(vector),
                            _ => Lowered::scalar(build.push(Op::ExtractDynamic(vector, index), scalar)),
                        }
                    }
                }
            }
            llvm::Operation::InsertElement(vector, element, index) => {
                let lowered = self.value(*vector)?;
                let element = self.scalar(*element)?;
                let mut scalars: SmallVec<[Value; 4]> = SmallVec::from_slice(lowered.scalars()?);
                match self.as_integer(*index) {
                    Some(index) => {
                        let place = usize::try_from(index).ok().and_then(|index| scalars.get_mut(index));
                        *place.ok_or_else(|| Error::malformed("no such element"))? = element;
                    }
                    None => {
                        let index = self.scalar(*index)?;
                        for (position, place) in scalars.iter_mut().enumerate() {
                            let mut build = self.build();
                            let position = build.i32(position as u32);
                            let here = build.compare(CompareOp::IEq, index, position);
                            *place = build.select(here, element, *place);
                        }
                    }
                }
                Lowered::Scalars(scalars)
            }
            llvm::Operation::ShuffleVector(a, b, mask) => {
                let a = self.value(*a)?;
                let b = self.value(*b)?;
                let sources: Vec<Value> = a.scalars()?.iter().chain(b.scalars()?).copied().collect();
                let lanes = self.value(*mask)?;
                let mut scalars = SmallVec::new();
                for &lane in lanes.scalars()? {
                    let lane = self.function.as_scalar_constant(lane);
                    let lane = lane.ok_or_else(|| Error::malformed("mask of a shuffle is not constant"))?;
                    let value = sources.get(lane as usize).or(sources.first());
                    scalars.push(*value.ok_or_else(|| Error::malformed("vector of nothing"))?);
                }
                Lowered::Scalars(scalars)
            }
            llvm::Operation::Allocate { ty, count } => self.alloca(number, *ty, *count)?,
            llvm::Operation::ElementPointer { base, indices } => {
                let base = self.value(*base)?;
                let mut lowered = self.element_pointer(base, indices)?;
                if let Lowered::Resource { non_uniform, .. } = &mut lowered {
                    *non_uniform |= instruction.non_uniform;
                }
                lowered
            }
            llvm::Operation::Load(pointer) => match self.value(*pointer)? {
                Lowered::Pointer(pointer) if self.llvm_type(ty)?.is_handle() => {
                    let number = self.load(pointer, ty)?.one()?;
                    self.descriptor(number)
                }
                Lowered::Pointer(pointer) => self.load(pointer, ty)?,
                Lowered::Record(pointer) => self.load_record(pointer, ty)?,
                resource @ Lowered::Resource { .. } => resource,
                _ => return Err(Error::malformed("load from no address")),
            },
            llvm::Operation::Store { pointer, value } => {
                let (place, ty) = (self.value(*pointer)?, self.type_of(*value)?);
                let value = self.value(*value)?;
                match place {
                    Lowered::Pointer(pointer) => self.store(pointer, value.scalars()?)?,
                    Lowered::Record(pointer) => self.store_record(pointer, ty, value.scalars()?)?,
                    _ => return Err(Error::malformed("store to no address")),
                }
                return Ok(None);
            }
            llvm::Operation::AtomicReadModifyWrite { op, pointer, value } => {
                let place = self.value(*pointer)?;
                let value = self.scalar(*value)?;
                Lowered::scalar(self.atomic(&place, *op, value)?)
            }
            llvm::Operation::CompareExchange { pointer, compare, value } => {
                let place = self.value(*pointer)?;
                let compare = self.scalar(*compare)?;
                let value = self.scalar(*value)?;
                self.compare_exchange(&place, compare, value)?
            }
            llvm::Operation::Call { callee, arguments } => return self.call(instruction, *callee, arguments),
            // Others see what was written before, as after HLSL's `AllMemoryBarrier`.
            llvm::Operation::Fence => {
                let barrier = Barrier { group_sync: false, group_shared: true, uav_group: true, uav_global: true };
                self.build().effect(Op::Barrier(barrier));
                return Ok(None);
            }
            llvm::Operation::Return(_)
            | llvm::Operation::Jump(_)
            | llvm::Operation::Branch { .. }
            | llvm::Operation::Switch { .. }
            | llvm::Operation::Unreachable => return Err(Error::internal("terminator within a block")),
        }))
    }

    fn call(
        &mut self,
        instruction: &llvm::Instruction,
        callee: llvm::FunctionId,
        arguments: &[llvm::ValueId],
    ) -> Result<Option<Lowered>> {
        let module = self.parent.module;
        let name = &module.functions[callee.index()].name;
        if name.starts_with("dx.op.") {
            return op::lower(self, instruction, arguments);
        }
        if name.starts_with("llvm.dbg.") || name.starts_with("llvm.lifetime.") {
            return Ok(None);
        }
        if name.starts_with("llvm.") || name.starts_with("dx.") {
            return Err(Error::unsupported(format!("call of an intrinsic: {name}")));
        }
        let id = self.parent.function(callee)?;
        let Some(llvm::Type::Function { params, .. }) = module.types.get(module.functions[callee.index()].ty) else {
            return Err(Error::internal("function of no function type"));
        };
        let mut args: SmallVec<[Value; 4]> = SmallVec::new();
        // What parameters point to, and what the callee knows it as.
        let mut copies: SmallVec<[(Pointer, Pointer); 2]> = SmallVec::new();
        for (number, (&argument, &param)) in (0..).zip(arguments.iter().zip(params)) {
            match self.value(argument)? {
                Lowered::Pointer(pointer) => {
                    let storage = self.parent.parameter_storage(callee, number, param)?;
                    let pointee = module.types.pointee(param).unwrap_or(pointer.pointee);
                    if module.types.get(pointee) != module.types.get(pointer.pointee) {
                        return Err(Error::malformed("argument of another type than its parameter"));
                    }
                    copies.push((pointer, Pointer { storage, index: self.function.i32(0), pointee }));
                }
                Lowered::Record(pointer) => args.push(pointer.byte),
                lowered => args.extend_from_slice(lowered.scalars()?),
            }
        }
        for &(pointer, known) in &copies {
            self.copy(pointer, known)?;
        }
        self.flush_outputs()?;
        let ty = self.parent.ir.functions[id.index()].result;
        // The callee may be the function that is being lowered, whose place is taken: its own result then.
        let ty = if callee == self.id { self.function.result } else { ty };
        let value = self.build().push(Op::Call(id, args), ty);
        for &(pointer, known) in &copies {
            self.copy(known, pointer)?;
        }
        if ty == Type::Void {
            let nothing = instruction.result.map(|_| Lowered::Scalars(SmallVec::new()));
            return Ok(nothing);
        }
        Ok(Some(self.take_apart(value, u64::MAX, &[])))
    }

    /// Where the scalars of a member are among those of the whole.
    fn member(&self, mut ty: llvm::TypeId, indices: &[u32]) -> Result<(usize, usize)> {
        let types = &self.parent.module.types;
        let mut start = 0u64;
        for &index in indices {
            let before = match self.llvm_type(ty)? {
                llvm::Type::Array { element, .. } => u64::from(index).saturating_mul(types.scalars(*element)),
                llvm::Type::Struct { fields, .. } => {
                    let before = fields.iter().take(index as usize).map(|field| types.scalars(*field));
                    before.fold(0u64, u64::saturating_add)
                }
                _ => return Err(Error::malformed("member of a number")),
            };
            start = start.saturating_add(before);
            ty = types.element(ty, u64::from(index)).ok_or_else(|| Error::malformed("no such member"))?;
        }
        let count = types.scalars(ty);
        if start.saturating_add(count) > super::value::MAX_SCALARS {
            return Err(Error::unsupported("value of very many numbers"));
        }
        Ok((start as usize, count as usize))
    }

    /// Type of a scalar, or of the elements of a vector.
    fn element_type(&self, ty: llvm::TypeId) -> Result<llvm::TypeId> {
        Ok(match self.llvm_type(ty)? {
            llvm::Type::Vector { element, .. } => *element,
            _ => ty,
        })
    }

    fn narrow(&self, ty: llvm::TypeId) -> Narrow {
        match self.parent.module.types.get(ty) {
            Some(llvm::Type::Integer(8)) => Narrow::Byte,
            Some(llvm::Type::Integer(16)) if !self.parent.native_16_bit => Narrow::Minimum,
            Some(llvm::Type::Half) if !self.parent.native_16_bit => Narrow::Half,
            _ => Narrow::No,
        }
    }

    /// The low bits of a narrow integer, the others 0.
    fn zero_extended(&mut self, value: Value, narrow: Narrow) -> Value {
        if narrow != Narrow::Minimum {
            return value;
        }
        let mut build = self.build();
        let mask = build.i32(0xffff);
        build.binary(BinaryOp::And, value, mask)
    }

    /// The low bits of a narrow integer, the others as its sign.
    fn sign_extended(&mut self, value: Value, narrow: Narrow) -> Value {
        let bits = match narrow {
            Narrow::Byte => 24,
            Narrow::Minimum => 16,
            Narrow::No | Narrow::Half => return value,
        };
        let mut build = self.build();
        let count = build.i32(bits);
        let high = build.binary(BinaryOp::Shl, value, count);
        build.binary(BinaryOp::AShr, high, count)
    }

    /// A binary operation, element by element.
    pub(super) fn binary(
        &mut self,
        op: llvm::BinaryOperation,
        ty: llvm::TypeId,
        a: &Lowered,
        b: &Lowered,
        fast: bool,
    ) -> Result<Lowered> {
        let narrow = self.narrow(self.element_type(ty)?);
        let (a, b) = (a.scalars()?, b.scalars()?);
        if a.len() != b.len() {
            return Err(Error::malformed("operands of different types"));
        }
        let mut scalars = SmallVec::new();
        for (&a, &b) in a.iter().zip(b) {
            if self.function.ty(a) != self.function.ty(b) {
                return Err(Error::malformed("operands of different types"));
            }
            scalars.push(self.binary_scalar(op, narrow, a, b, fast)?);
        }
        Ok(Lowered::Scalars(scalars))
    }

    fn binary_scalar(
        &mut self,
        op: llvm::BinaryOperation,
        narrow: Narrow,
        a: Value,
        b: Value,
        fast: bool,
    ) -> Result<Value> {
        use llvm::BinaryOperation as Llvm;
        let scalar = self.function.ty(a).scalar().ok_or_else(|| Error::malformed("operand is no number"))?;
        let float = matches!(op, Llvm::FAdd | Llvm::FSub | Llvm::FMul | Llvm::FDiv | Llvm::FRem);
        if float != scalar.is_float() {
            return Err(Error::malformed("operands of another type than the operation's"));
        }
        if scalar == Scalar::Bool {
            let op = match op {
                Llvm::And | Llvm::Mul => BinaryOp::And,
                Llvm::Or => BinaryOp::Or,
                Llvm::Xor | Llvm::Add | Llvm::Sub => BinaryOp::Xor,
                _ => return Err(Error::unsupported(format!("operation on bool: {op:?}"))),
            };
            if op == BinaryOp::Xor && self.function.as_scalar_constant(b) == Some(1) {
                return Ok(self.build().unary(UnaryOp::Not, a));
            }
            return Ok(self.build().binary(op, a, b));
        }
        if narrow == Narrow::Byte && !matches!(op, Llvm::And | Llvm::Or | Llvm::Xor) {
            return Err(Error::unsupported(format!("operation on 8-bit integers: {op:?}")));
        }
        let (a, b) = match op {
            // Bits above the sixteenth would come in.
            Llvm::UDiv | Llvm::URem | Llvm::LShr => (self.zero_extended(a, narrow), self.zero_extended(b, narrow)),
            Llvm::SDiv | Llvm::SRem | Llvm::AShr => (self.sign_extended(a, narrow), self.sign_extended(b, narrow)),
            _ => (a, b),
        };
        let constant = |value: Value| self.function.as_scalar_constant(value);
        let ones = match scalar.bits() {
            64 => u64::MAX,
            bits => (1 << bits) - 1,
        };
        let sign = 1u64 << (scalar.bits() - 1);
        match op {
            Llvm::Sub if constant(a) == Some(0) => return Ok(self.build().unary(UnaryOp::INeg, b)),
            Llvm::Xor if constant(b) == Some(ones) => return Ok(self.build().unary(UnaryOp::Not, a)),
            // -0 - x is the negation; 0 - x too where the sign of zero does not matter.
            Llvm::FSub if constant(a) == Some(sign) || (fast && constant(a) == Some(0)) => {
                return Ok(self.build().unary(UnaryOp::FNeg, b));
            }
            _ => {}
        }
        let op = match op {
            Llvm::Add => BinaryOp::IAdd,
            Llvm::Sub => BinaryOp::ISub,
            Llvm::Mul => BinaryOp::IMul,
            Llvm::UDiv => BinaryOp::UDiv,
            Llvm::SDiv => BinaryOp::SDiv,
            Llvm::URem => BinaryOp::URem,
            Llvm::SRem => BinaryOp::SRem,
            Llvm::Shl => BinaryOp::Shl,
            Llvm::LShr => BinaryOp::LShr,
            Llvm::AShr => BinaryOp::AShr,
            Llvm::And => BinaryOp::And,
            Llvm::Or => BinaryOp::Or,
            Llvm::Xor => BinaryOp::Xor,
            Llvm::FAdd => BinaryOp::FAdd,
            Llvm::FSub => BinaryOp::FSub,
            Llvm::FMul => BinaryOp::FMul,
            Llvm::FDiv => BinaryOp::FDiv,
            Llvm::FRem => BinaryOp::FRem,
        };
        Ok(self.build().binary(op, a, b))
    }

    /// A comparison, element by element.
    pub(super) fn compare(
        &mut self,
        predicate: llvm::Predicate,
        operands: llvm::TypeId,
        a: &Lowered,
        b: &Lowered,
    ) -> Result<Lowered> {
        let narrow = self.narrow(self.element_type(operands)?);
        let (a, b) = (a.scalars()?, b.scalars()?);
        if a.len() != b.len() {
            return Err(Error::malformed("operands of different types"));
        }
        let mut scalars = SmallVec::new();
        for (&a, &b) in a.iter().zip(b) {
            if self.function.ty(a) != self.function.ty(b) {
                return Err(Error::malformed("operands of different types"));
            }
            scalars.push(self.compare_scalar(predicate, narrow, a, b)?);
        }
        Ok(Lowered::Scalars(scalars))
    }

    fn compare_scalar(&mut self, predicate: llvm::Predicate, narrow: Narrow, a: Value, b: Value) -> Result<Value> {
        use llvm::Predicate as Llvm;
        let scalar = self.function.ty(a).scalar().ok_or_else(|| Error::malformed("operand is no number"))?;
        if matches!(predicate, Llvm::Float(_)) != scalar.is_float() {
            return Err(Error::malformed("operands of another type than the comparison's"));
        }
        if scalar == Scalar::Bool {
            return self.compare_bool(predicate, a, b);
        }
        let (a, b) = match predicate {
            Llvm::SGt | Llvm::SGe | Llvm::SLt | Llvm::SLe => {
                (self.sign_extended(a, narrow), self.sign_extended(b, narrow))
            }
            Llvm::Float(_) => (a, b),
            _ => (self.zero_extended(a, narrow), self.zero_extended(b, narrow)),
        };
        let mut build = self.build();
        let op = match predicate {
            Llvm::Float(relations) => return Ok(float_compare(&mut build, relations, a, b)),
            Llvm::Eq => CompareOp::IEq,
            Llvm::Ne => CompareOp::INe,
            Llvm::UGt => CompareOp::UGt,
            Llvm::UGe => CompareOp::UGe,
            Llvm::ULt => CompareOp::ULt,
            Llvm::ULe => CompareOp::ULe,
            Llvm::SGt => CompareOp::SGt,
            Llvm::SGe => CompareOp::SGe,
            Llvm::SLt => CompareOp::SLt,
            Llvm::SLe => CompareOp::SLe,
        };
        Ok(build.compare(op, a, b))
    }

    /// `bool`s compare as integers of one bit: unsigned 0 and 1, signed 0 and -1.
    fn compare_bool(&mut self, predicate: llvm::Predicate, a: Value, b: Value) -> Result<Value> {
        use llvm::Predicate as Llvm;
        let mut build = self.build();
        let (greater, or_equal) = match predicate {
            Llvm::Eq => return Ok(build.compare(CompareOp::IEq, a, b)),
            Llvm::Ne => return Ok(build.compare(CompareOp::INe, a, b)),
            Llvm::UGt | Llvm::SLt => ((a, b), false),
            Llvm::ULt | Llvm::SGt => ((b, a), false),
            Llvm::UGe | Llvm::SLe => ((a, b), true),
            Llvm::ULe | Llvm::SGe => ((b, a), true),
            Llvm::Float(_) => return Err(Error::malformed("operands of another type than the comparison's")),
        };
        let not = build.unary(UnaryOp::Not, greater.1);
        Ok(build.binary(if or_equal { BinaryOp::Or } else { BinaryOp::And }, greater.0, not))
    }

    /// A choice, element by element.
    pub(super) fn select(&mut self, condition: &Lowered, accept: &Lowered, reject: &Lowered) -> Result<Lowered> {
        let conditions: SmallVec<[Value; 4]> = SmallVec::from_slice(condition.scalars()?);
        match (accept, reject) {
            (Lowered::Pointer(accept), Lowered::Pointer(reject)) if accept.storage == reject.storage => {
                let condition = condition.one()?;
                let index = self.build().select(condition, accept.index, reject.index);
                let mut pointer = *accept;
                pointer.index = index;
                Ok(Lowered::Pointer(pointer))
            }
            (Lowered::Record(accept), Lowered::Record(reject)) => {
                let condition = condition.one()?;
                let byte = self.build().select(condition, accept.byte, reject.byte);
                Ok(Lowered::Record(RecordPointer { byte, ..*accept }))
            }
            (Lowered::Pointer(_), Lowered::Pointer(_)) => {
                Err(Error::unsupported("address that may lead to several variables"))
            }
            (
                &Lowered::Resource { binding, index: accept, non_uniform },
                &Lowered::Resource { binding: other, index: reject, non_uniform: also },
            ) if binding == other => {
                let condition = condition.one()?;
                let index = self.build().select(condition, accept, reject);
                Ok(Lowered::Resource { binding, index, non_uniform: non_uniform || also })
            }
            (
                &Lowered::Descriptor { index: accept, non_uniform },
                &Lowered::Descriptor { index: reject, non_uniform: also },
            ) => {
                let condition = condition.one()?;
                let index = self.build().select(condition, accept, reject);
                Ok(Lowered::Descriptor { index, non_uniform: non_uniform || also })
            }
            (Lowered::Handle(accept), Lowered::Handle(reject)) if accept.value == reject.value => {
                Ok(Lowered::Handle(*accept))
            }
            (Lowered::Handle(accept), Lowered::Handle(reject)) if accept.binding == reject.binding => {
                let condition = condition.one()?;
                self.select_handle(condition, *accept, *reject)
            }
            (Lowered::Handle(_), _) | (Lowered::Resource { .. }, _) => {
                Err(Error::unsupported("choice between different resources"))
            }
            (accept, reject) => {
                let (accept, reject) = (accept.scalars()?, reject.scalars()?);
                if accept.len() != reject.len() || (conditions.len() != 1 && conditions.len() != accept.len()) {
                    return Err(Error::malformed("operands of different types"));
                }
                let mut scalars = SmallVec::new();
                for (index, (&accept, &reject)) in accept.iter().zip(reject).enumerate() {
                    let condition = conditions[if conditions.len() == 1 { 0 } else { index }];
                    let fits = self.function.ty(condition) == Type::BOOL
                        && self.function.ty(accept) == self.function.ty(reject);
                    if !fits {
                        return Err(Error::malformed("operands of different types"));
                    }
                    scalars.push(self.build().select(condition, accept, reject));
                }
                Ok(Lowered::Scalars(scalars))
            }
        }
    }

    /// A conversion.
    pub(super) fn cast(
        &mut self,
        op: llvm::CastOperation,
        value: Lowered,
        from: llvm::TypeId,
        to: llvm::TypeId,
    ) -> Result<Lowered> {
        use llvm::CastOperation as Cast;
        match (op, value) {
            (Cast::Bitcast | Cast::AddressSpaceCast, Lowered::Pointer(mut pointer)) => {
                let pointee = self.parent.module.types.pointee(to);
                pointer.pointee = pointee.ok_or_else(|| Error::malformed("conversion of an address to a number"))?;
                Ok(Lowered::Pointer(pointer))
            }
            (Cast::Bitcast, Lowered::Record(mut pointer)) => {
                let pointee = self.parent.module.types.pointee(to);
                pointer.pointee = pointee.ok_or_else(|| Error::malformed("conversion of an address to a number"))?;
                Ok(Lowered::Record(pointer))
            }
            (Cast::Bitcast | Cast::AddressSpaceCast, resource @ Lowered::Resource { .. }) => Ok(resource),
            (Cast::PtrToInt | Cast::IntToPtr | Cast::AddressSpaceCast, _) => {
                Err(Error::unsupported("conversion between addresses and integers"))
            }
            (Cast::Bitcast, value) => self.bitcast(value.scalars()?, from, to),
            (op, value) => {
                let (from, to) = (self.element_type(from)?, self.element_type(to)?);
                let mut scalars = SmallVec::new();
                for &value in value.scalars()? {
                    scalars.push(self.convert(op, value, from, to)?);
                }
                Ok(Lowered::Scalars(scalars))
            }
        }
    }

    /// The same bits as numbers of another type.
    fn bitcast(&mut self, values: &[Value], from: llvm::TypeId, to: llvm::TypeId) -> Result<Lowered> {
        let (narrow_from, narrow_to) = (self.narrow(self.element_type(from)?), self.narrow(self.element_type(to)?));
        let types = self.parent.scalar_types(to)?;
        let mut build = self.build();
        let convert = |op: ConvertOp, build: &mut Builder<'_>, to: Scalar| {
            values.iter().map(|&value| build.convert(op, value, to)).collect()
        };
        let scalars: SmallVec<[Value; 4]> = match (narrow_from, narrow_to) {
            (Narrow::Half, Narrow::Minimum) => convert(ConvertOp::F32ToF16Bits, &mut build, Scalar::I32),
            (Narrow::Minimum, Narrow::Half) => convert(ConvertOp::F16BitsToF32, &mut build, Scalar::F32),
            _ => match (values, types.as_slice()) {
                (values, types) if values.len() == types.len() => {
                    let mut scalars = SmallVec::new();
                    for (&value, &to) in values.iter().zip(types) {
                        let from = build.ty(value).scalar();
                        if from.is_none_or(|from| from.bits() != to.bits()) {
                            return Err(Error::malformed("bitcast between types of different sizes"));
                        }
                        scalars.push(build.bitcast(value, to));
                    }
                    scalars
                }
                ([low, high], [to]) if to.bits() == 64 && build.ty(*low) == build.ty(*high) => {
                    if build.ty(*low).scalar().is_none_or(|scalar| scalar.bits() != 32) {
                        return Err(Error::malformed("bitcast between types of different sizes"));
                    }
                    let words = [build.bitcast(*low, Scalar::I32), build.bitcast(*high, Scalar::I32)];
                    let pair = build.compose(&words);
                    SmallVec::from_slice(&[build.push(Op::Convert(ConvertOp::Bitcast, pair), Type::Scalar(*to))])
                }
                ([whole], [to, other]) if to == other && to.bits() == 32 => {
                    if build.ty(*whole).scalar().is_none_or(|scalar| scalar.bits() != 64) {
                        return Err(Error::malformed("bitcast between types of different sizes"));
                    }
                    let pair = build.push(Op::Convert(ConvertOp::Bitcast, *whole), Type::Vector(Scalar::I32, 2));
                    (0..2)
                        .map(|lane| {
                            let word = build.extract(pair, lane);
                            build.bitcast(word, *to)
                        })
                        .collect()
                }
                _ => return Err(Error::unsupported("bitcast between vectors of different lengths")),
            },
        };
        Ok(Lowered::Scalars(scalars))
    }

    fn convert(
        &mut self,
        op: llvm::CastOperation,
        value: Value,
        from: llvm::TypeId,
        to: llvm::TypeId,
    ) -> Result<Value> {
        use llvm::CastOperation as Cast;
        let (narrow_from, narrow_to) = (self.narrow(from), self.narrow(to));
        let width = |ty: llvm::TypeId| match self.parent.module.types.get(ty) {
            Some(llvm::Type::Integer(width)) => *width,
            _ => 0,
        };
        let resizes = match op {
            Cast::Trunc => width(from) > width(to),
            Cast::ZExt | Cast::SExt => width(from) < width(to),
            _ => true,
        };
        let (from, to) = (self.parent.scalar(from)?, self.parent.scalar(to)?);
        if self.function.ty(value) != Type::Scalar(from) {
            return Err(Error::malformed("operand of another type than the conversion's"));
        }
        let (integers, floats) = match op {
            Cast::Trunc | Cast::ZExt | Cast::SExt => (!from.is_float() && !to.is_float(), true),
            Cast::FpToUi | Cast::FpToSi => (!to.is_float(), from.is_float()),
            Cast::UiToFp | Cast::SiToFp => (!from.is_float(), to.is_float()),
            _ => (true, from.is_float() && to.is_float()),
        };
        if !integers || !floats || !resizes {
            return Err(Error::malformed("conversion between other types than its own"));
        }
        let value = match op {
            Cast::ZExt | Cast::UiToFp => self.zero_extended(value, narrow_from),
            Cast::SExt | Cast::SiToFp => self.sign_extended(value, narrow_from),
            _ => value,
        };
        let mut build = self.build();
        let resize = |op: ConvertOp, build: &mut Builder<'_>, value: Value| {
            if from == to { value } else { build.convert(op, value, to) }
        };
        // Integers of one bit are the IR's bool.
        let to_bool = |build: &mut Builder<'_>, value: Value| {
            let zero = build.zero(build.ty(value));
            build.compare(CompareOp::INe, value, zero)
        };
        let from_bool = |build: &mut Builder<'_>, value: Value, one: f64| {
            let bits = match to {
                Scalar::F16 => u64::from(half::f16::from_f64(one).to_bits()),
                Scalar::F64 => one.to_bits(),
                _ => u64::from((one as f32).to_bits()),
            };
            let one = build.function.constant(Type::Scalar(to), &[bits]);
            let zero = build.zero(Type::Scalar(to));
            build.select(value, one, zero)
        };
        let value = match op {
            Cast::Trunc if to == Scalar::Bool => {
                let one = build.function.constant(Type::Scalar(from), &[1]);
                let bit = build.binary(BinaryOp::And, value, one);
                to_bool(&mut build, bit)
            }
            Cast::Trunc => resize(ConvertOp::Trunc, &mut build, value),
            Cast::ZExt => resize(ConvertOp::ZExt, &mut build, value),
            Cast::SExt => resize(ConvertOp::SExt, &mut build, value),
            Cast::FpToUi | Cast::FpToSi if to == Scalar::Bool => {
                let integer = build.convert(ConvertOp::FToS, value, Scalar::I32);
                to_bool(&mut build, integer)
            }
            Cast::FpToUi => build.convert(ConvertOp::FToU, value, to),
            Cast::FpToSi => build.convert(ConvertOp::FToS, value, to),
            Cast::UiToFp if from == Scalar::Bool => from_bool(&mut build, value, 1.0),
            Cast::SiToFp if from == Scalar::Bool => from_bool(&mut build, value, -1.0),
            Cast::UiToFp => build.convert(ConvertOp::UToF, value, to),
            Cast::SiToFp => build.convert(ConvertOp::SToF, value, to),
            Cast::FpTrunc | Cast::FpExt => resize(ConvertOp::FToF, &mut build, value),
            Cast::PtrToInt | Cast::IntToPtr | Cast::Bitcast | Cast::AddressSpaceCast => {
                return Err(Error::internal("conversion that is none of numbers"));
            }
        };
        if narrow_to == Narrow::Byte && !matches!(op, Cast::ZExt | Cast::SExt) {
            let mask = build.i32(0xff);
            return Ok(build.binary(BinaryOp::And, value, mask));
        }
        Ok(value)
    }
}

/// A comparison of floats: true if the operands are in one of the relations (bit 0 equal, 1 greater, 2 less, 3
/// unordered).
fn float_compare(build: &mut Builder<'_>, relations: u8, a: Value, b: Value) -> Value {
    let ordered = |build: &mut Builder<'_>, relations: u8| match relations {
        0b001 => build.compare(CompareOp::FEq, a, b),
        0b010 => build.compare(CompareOp::FGt, a, b),
        0b011 => build.compare(CompareOp::FGe, a, b),
        0b100 => build.compare(CompareOp::FLt, a, b),
        0b101 => build.compare(CompareOp::FLe, a, b),
        0b110 => {
            let less = build.compare(CompareOp::FLt, a, b);
            let greater = build.compare(CompareOp::FGt, a, b);
            build.binary(BinaryOp::Or, less, greater)
        }
        0b111 => {
            let nan = unordered(build, a, b);
            build.unary(UnaryOp::Not, nan)
        }
        _ => build.function.constant(Type::BOOL, &[0]),
    };
    match relations {
        0b1000 => unordered(build, a, b),
        // FNe is true for NaN already.
        0b1110 => build.compare(CompareOp::FNe, a, b),
        0b1111 => build.function.constant(Type::BOOL, &[1]),
        0b0000..=0b0111 => ordered(build, relations),
        // Unordered or some relations: not the other relations.
        _ => {
            let others = ordered(build, !relations & 0b111);
            build.unary(UnaryOp::Not, others)
        }
    }
}

/// One of two floats is NaN.
fn unordered(build: &mut Builder<'_>, a: Value, b: Value) -> Value {
    let is_nan = |build: &mut Builder<'_>, value: Value| build.convert(ConvertOp::IsNan, value, Scalar::Bool);
    let first = is_nan(build, a);
    if a == b {
        return first;
    }
    let second = is_nan(build, b);
    build.binary(BinaryOp::Or, first, second)
}
