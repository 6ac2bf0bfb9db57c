//! LLVM's own instructions.

use smallvec::SmallVec;

use super::{ChosenPointer, FunctionLowering, Lowered, Pointer, RecordPointer, llvm, memory::is_shared};
use crate::{
    Error, Result,
    dxil::op,
    ir::{Barrier, CompareOp, Op, Type, Value},
};
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
            let lowered = match lowered {
                Lowered::Scalars(scalars) => self.of_scalars(instruction.ty, scalars),
                lowered => lowered,
            };
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
                let from = self.type_of(*base)?;
                let base = self.value(*base)?;
                let mut lowered = self.element_pointer(base, from, indices)?;
                if let Lowered::Resource { descriptor, .. } | Lowered::Descriptor(descriptor) = &mut lowered {
                    descriptor.non_uniform |= instruction.non_uniform;
                }
                lowered
            }
            llvm::Operation::Load(pointer) => {
                let place = self.value(*pointer)?;
                self.load_from(&place, ty)?
            }
            llvm::Operation::Store { pointer, value } => {
                let (place, ty) = (self.value(*pointer)?, self.type_of(*value)?);
                let value = self.value(*value)?;
                self.store_to(&place, ty, value.scalars()?)?;
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
            return op::lower(self, instruction, name, arguments);
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
        // What parameters point to, what the callee knows it as, and whether it writes there.
        let mut copies: SmallVec<[(Lowered, Pointer, bool); 2]> = SmallVec::new();
        for (number, (&argument, &param)) in (0..).zip(arguments.iter().zip(params)) {
            match self.value(argument)? {
                address @ (Lowered::Pointer(_) | Lowered::ChosenPointer(_)) => {
                    let (&Lowered::Pointer(Pointer { pointee, .. })
                    | &Lowered::ChosenPointer(ChosenPointer { pointee, .. })) = &address
                    else {
                        continue;
                    };
                    let of_parameter = module.types.pointee(param).unwrap_or(pointee);
                    if module.types.get(of_parameter) != module.types.get(pointee) {
                        return Err(Error::malformed("argument of another type than its parameter"));
                    }
                    if is_shared(module, param) {
                        args.extend(self.shared_arguments(callee, number, &address)?);
                        continue;
                    }
                    let storage = self.parent.parameter_storage(callee, number, param)?;
                    let known = Pointer { storage, index: self.function.i32(0), pointee };
                    copies.push((address, known, self.parent.writes_parameter(callee, number)));
                }
                Lowered::Record(pointer) => args.push(pointer.byte),
                Lowered::Resource { descriptor, .. } | Lowered::Descriptor(descriptor)
                    if let Some(pointee) = module.types.pointee(param) =>
                {
                    let storage = self.parent.parameter_storage(callee, number, param)?;
                    let place = Pointer { storage, index: self.function.i32(0), pointee };
                    self.store_descriptor(place, descriptor)?;
                }
                lowered => args.extend_from_slice(lowered.scalars()?),
            }
        }
        for (address, known, _) in &copies {
            let value = self.load_from(address, known.pointee)?;
            self.store(*known, value.scalars()?)?;
        }
        self.flush_outputs()?;
        let ty = self.parent.ir.functions[id.index()].result;
        // The callee may be the function that is being lowered, whose place is taken: its own result then.
        let ty = if callee == self.id { self.function.result } else { ty };
        let value = self.build().push(Op::Call(id, args), ty);
        for (address, known, _) in copies.iter().filter(|copy| copy.2) {
            let value = self.load(*known, known.pointee)?;
            self.store_to(address, known.pointee, value.scalars()?)?;
        }
        if ty == Type::Void {
            if instruction.result.is_none() {
                return Ok(None);
            }
            if module.types.scalars(instruction.ty) == 0 {
                return Ok(Some(Lowered::Scalars(SmallVec::new())));
            }
            let place = self.result_pointer(callee, instruction.ty)?;
            return self.load(place, instruction.ty).map(Some);
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

    /// A choice, element by element.
    pub(super) fn select(&mut self, condition: &Lowered, accept: &Lowered, reject: &Lowered) -> Result<Lowered> {
        let conditions: SmallVec<[Value; 4]> = SmallVec::from_slice(condition.scalars()?);
        match (accept, reject) {
            (Lowered::Pointer(_) | Lowered::ChosenPointer(_), Lowered::Pointer(_) | Lowered::ChosenPointer(_)) => {
                let condition = condition.one()?;
                self.select_pointer(condition, accept, reject)
            }
            (Lowered::Record(accept), Lowered::Record(reject)) => {
                let condition = condition.one()?;
                let byte = self.build().select(condition, accept.byte, reject.byte);
                Ok(Lowered::Record(RecordPointer { byte, ..*accept }))
            }
            (
                Lowered::Handle(_) | Lowered::Resource { .. } | Lowered::Descriptor(_),
                Lowered::Handle(_) | Lowered::Resource { .. } | Lowered::Descriptor(_),
            ) => {
                let condition = condition.one()?;
                self.select_resource(condition, accept, reject)
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
}
