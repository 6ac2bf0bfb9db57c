//! Function bodies.

use super::{FunctionId, ModuleReader, Type, TypeId, Value, ValueDef, ValueId, block, constants::sign_rotated};
use crate::{
    Error, Result,
    dxil::{
        bitcode::Entry,
        module::{
            Access, ArithmeticFlags, AtomicOperation, BinaryOperation, BlockId, Body, CastOperation, Detail,
            Instruction, Location, MetadataId, Operation, Ordering, Predicate, Tail,
        },
    },
};

/// Bit of a call's calling convention that says that the function type stands in the record.
const CALL_EXPLICIT_TYPE: u64 = 1 << 15;
/// Bit of a call's calling convention that says that it must give up the caller's frame.
const CALL_MUST_TAIL: u64 = 1 << 14;
/// Bit of an alloca's alignment that says that the memory is made to be passed as an argument.
const ALLOCA_ARGUMENT: u64 = 1 << 5;
/// Bit of an alloca's alignment that says that the record's type is that of the memory, not of its address.
const ALLOCA_EXPLICIT_TYPE: u64 = 1 << 6;

/// Builds one body.
struct BodyReader<'r, 'a> {
    reader: &'r mut ModuleReader<'a>,
    body: Body,
    /// Number of blocks, as declared.
    blocks: u32,
    /// First instruction of the current block.
    start: u32,
    /// Position in the record.
    at: usize,
    /// The type of instructions without a result.
    void: TypeId,
    /// What the record says beyond the operation.
    detail: Detail,
    /// The last debug location.
    location: Option<Location>,
}

impl ModuleReader<'_> {
    /// Reads the body of a function (`FUNCTION_BLOCK_ID`).
    pub(super) fn read_body(&mut self, function: FunctionId) -> Result<Body> {
        self.reader.enter()?;
        let first = self.module.values.len() as u32;
        let ty = self.module.functions[function.index()].ty;
        let Some(Type::Function { params, .. }) = self.module.types.get(ty) else {
            return Err(self.record.malformed("function is of no function type"));
        };
        let arguments = params.iter().enumerate();
        let values = arguments.map(|(index, &ty)| Value { ty, def: ValueDef::Argument(index as u32) }).collect();
        let void = self.module.types.intern(Type::Void)?;
        let body = Body { first, values, ..Body::default() };
        let mut this =
            BodyReader { reader: self, body, blocks: 0, start: 0, at: 0, void, detail: Detail::None, location: None };
        this.read()?;
        Ok(this.body)
    }
}

impl BodyReader<'_, '_> {
    fn read(&mut self) -> Result<()> {
        loop {
            match self.reader.next()? {
                Entry::End => break,
                Entry::Block(block::CONSTANTS) => {
                    let constants = self.reader.read_constants(self.next_value())?;
                    self.body.values.extend(constants);
                }
                Entry::Block(block::METADATA_ATTACHMENT) => {
                    self.reader.read_attachments(&mut self.body.annotations)?;
                }
                Entry::Block(block::METADATA) => {
                    let metadata = self.reader.read_metadata()?;
                    self.body.annotations.metadata.extend(metadata);
                }
                Entry::Block(block::VALUE_SYMBOL_TABLE) => self.read_names()?,
                Entry::Block(block::USE_LIST) => self.read_use_lists()?,
                Entry::Block(_) => self.reader.reader.skip()?,
                Entry::Record => {
                    let number = self.body.instructions.len() as u32;
                    self.read_record().map_err(|error| error.at_instruction(number))?;
                }
            }
        }
        if self.start as usize != self.body.instructions.len() {
            return Err(Error::malformed("last block of a function does not end"));
        }
        if self.body.blocks.len() != self.blocks as usize || self.blocks == 0 {
            return Err(Error::malformed("function has not as many blocks as it declares"));
        }
        for (&number, attached) in &self.body.annotations.attachments {
            let Some(instruction) = self.body.instructions.get_mut(number as usize) else { continue };
            for (kind, _) in attached {
                match self.reader.module.metadata_kinds.get(kind).map(String::as_str) {
                    Some("dx.precise") => instruction.precise = true,
                    Some("dx.nonuniform") => instruction.non_uniform = true,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Names of the function's values and blocks: `ENTRY: [value, characters]`, `BBENTRY: [block, characters]`.
    fn read_names(&mut self) -> Result<()> {
        self.reader.reader.enter()?;
        loop {
            match self.reader.next()? {
                Entry::End => return Ok(()),
                Entry::Block(_) => self.reader.reader.skip()?,
                Entry::Record => {
                    let record = &self.reader.record;
                    match record.code {
                        1 => {
                            self.body.annotations.names.insert(ValueId(record.index(0)?), record.text(1));
                        }
                        2 => {
                            self.body.annotations.block_names.insert(BlockId(record.index(0)?), record.text(1));
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// Order of uses: `[positions..., value]`, or `[positions..., block]`, which alone is kept.
    fn read_use_lists(&mut self) -> Result<()> {
        self.reader.reader.enter()?;
        loop {
            match self.reader.next()? {
                Entry::End => return Ok(()),
                Entry::Block(_) => self.reader.reader.skip()?,
                Entry::Record if self.reader.record.code == 2 => {
                    let record = &self.reader.record;
                    let positions = record.operands.len().saturating_sub(1);
                    let block = BlockId(record.index(positions)?);
                    let positions = (0..positions).map(|index| record.index(index)).collect::<Result<_>>()?;
                    self.body.annotations.block_uses.insert(block, positions);
                }
                Entry::Record => {}
            }
        }
    }

    /// The location of the instruction before: `DEBUG_LOC: [line, column, scope + 1, inlined at + 1]`.
    fn read_location(&mut self) -> Result<()> {
        let number = self.body.instructions.len().checked_sub(1);
        let number = number.ok_or_else(|| self.malformed("location of no instruction"))? as u32;
        let record = &self.reader.record;
        if record.code == 35 {
            let id = |index: usize| Ok::<_, Error>(record.index(index)?.checked_sub(1).map(MetadataId));
            let (line, column) = (record.index(0)?, record.index(1)?);
            self.location = Some(Location { line, column, scope: id(2)?, inlined_at: id(3)? });
        }
        if let Some(location) = self.location {
            self.body.annotations.locations.insert(number, location);
        }
        Ok(())
    }

    /// Id of the value that comes next.
    fn next_value(&self) -> u32 {
        self.body.first + self.body.values.len() as u32
    }

    fn malformed(&self, what: &str) -> Error {
        self.reader.record.malformed(what)
    }

    /// The next operand of the record.
    fn operand(&mut self) -> Result<u64> {
        self.at += 1;
        self.reader.record.operand(self.at - 1)
    }

    /// Number of operands that are left.
    fn left(&self) -> usize {
        self.reader.record.operands.len().saturating_sub(self.at)
    }

    fn ty(&mut self) -> Result<TypeId> {
        self.at += 1;
        self.reader.type_operand(self.at - 1)
    }

    /// A value whose type is known.
    fn value(&mut self) -> Result<ValueId> {
        let number = self.operand()?;
        let id = if self.reader.relative {
            // Relative ids are 32-bit numbers that wrap for forward references.
            self.next_value().wrapping_sub(number as u32)
        } else {
            u32::try_from(number).map_err(|_| self.malformed("value id exceeds 32 bits"))?
        };
        Ok(ValueId(id))
    }

    /// A value, with its type if it comes later.
    fn typed_value(&mut self) -> Result<(ValueId, TypeId)> {
        let id = self.value()?;
        if id.0 >= self.next_value() {
            let ty = self.ty()?;
            return Ok((id, ty));
        }
        let value = self.reader.module.value(Some(&self.body), id);
        let ty = value.ok_or_else(|| self.malformed("unknown value"))?.ty;
        Ok((id, ty))
    }

    fn block(&mut self) -> Result<BlockId> {
        let number = self.operand()?;
        match u32::try_from(number) {
            Ok(block) if block < self.blocks => Ok(BlockId(block)),
            _ => Err(self.malformed("unknown block")),
        }
    }

    fn read_record(&mut self) -> Result<()> {
        self.at = 0;
        match self.reader.record.code {
            // DECLAREBLOCKS.
            1 => {
                let blocks = self.reader.record.index(0)?;
                self.blocks = blocks;
                return Ok(());
            }
            // DEBUG_LOC_AGAIN, DEBUG_LOC.
            33 | 35 => return self.read_location(),
            _ => {}
        }
        self.detail = Detail::None;
        let (op, ty) = self.read_operation()?;
        let terminator = op.is_terminator();
        let result = (ty != self.void).then(|| ValueId(self.next_value()));
        if result.is_some() {
            let def = ValueDef::Instruction(self.body.instructions.len() as u32);
            self.body.values.push(Value { ty, def });
        }
        self.body.instructions.push(Instruction {
            op,
            ty,
            result,
            precise: false,
            non_uniform: false,
            detail: self.detail,
        });
        if terminator {
            let end = self.body.instructions.len() as u32;
            self.body.blocks.push(self.start..end);
            self.start = end;
        }
        Ok(())
    }

    /// The operation of the record and the type of its result.
    fn read_operation(&mut self) -> Result<(Operation, TypeId)> {
        let void = self.void;
        Ok(match self.reader.record.code {
            // BINOP: [a, b, opcode, flags].
            2 => {
                let (a, ty) = self.typed_value()?;
                let b = self.value()?;
                let code = self.operand()?;
                let float = self.reader.is_float(ty);
                let op = BinaryOperation::decode(code, float);
                let op = op.ok_or_else(|| self.malformed("unknown binary operation"))?;
                // Bit 0 of a float's flags is "unsafe algebra", which stands for all of them.
                let flags = if self.left() > 0 { self.operand()? } else { 0 };
                self.detail = Detail::Arithmetic(ArithmeticFlags(flags as u8));
                let fast = float && flags & 1 != 0;
                (Operation::Binary { op, a, b, fast }, ty)
            }
            // CAST: [value, type, opcode].
            3 => {
                let (value, _) = self.typed_value()?;
                let ty = self.ty()?;
                let op = CastOperation::decode(self.operand()?);
                (Operation::Cast(op.ok_or_else(|| self.malformed("unknown conversion"))?, value), ty)
            }
            // GEP: [inbounds, type, base, indices]; the older forms have neither of the first two.
            code @ (4 | 30 | 43) => {
                let in_bounds = match code {
                    43 => self.operand()? != 0,
                    code => code == 30,
                };
                if code == 43 {
                    self.ty()?;
                }
                if in_bounds {
                    self.detail = Detail::InBounds;
                }
                let (base, ty) = self.typed_value()?;
                let mut indices = Vec::new();
                while self.left() > 0 {
                    indices.push(self.typed_value()?.0);
                }
                let ty = self.element_pointer_type(ty, &indices)?;
                (Operation::ElementPointer { base, indices }, ty)
            }
            // SELECT: [accept, reject, condition], the condition with its type in the newer form.
            code @ (5 | 29) => {
                let (accept, ty) = self.typed_value()?;
                let reject = self.value()?;
                let condition = if code == 29 { self.typed_value()?.0 } else { self.value()? };
                (Operation::Select { condition, accept, reject }, ty)
            }
            // EXTRACTELT: [vector, index].
            6 => {
                let (vector, ty) = self.typed_value()?;
                let (index, _) = self.typed_value()?;
                let element = self.vector_element(ty)?;
                (Operation::ExtractElement(vector, index), element)
            }
            // INSERTELT: [vector, element, index].
            7 => {
                let (vector, ty) = self.typed_value()?;
                let element = self.value()?;
                let (index, _) = self.typed_value()?;
                (Operation::InsertElement(vector, element, index), ty)
            }
            // SHUFFLEVEC: [a, b, mask].
            8 => {
                let (a, ty) = self.typed_value()?;
                let b = self.value()?;
                let (mask, mask_ty) = self.typed_value()?;
                let element = self.vector_element(ty)?;
                let len = match self.reader.module.types.get(mask_ty) {
                    Some(Type::Vector { len, .. }) => *len,
                    _ => return Err(self.malformed("mask of a shuffle is no vector")),
                };
                let ty = self.reader.module.types.intern(Type::Vector { element, len })?;
                (Operation::ShuffleVector(a, b, mask), ty)
            }
            // CMP: [a, b, predicate].
            9 | 28 => {
                let (a, ty) = self.typed_value()?;
                let b = self.value()?;
                let predicate = Predicate::decode(self.operand()?);
                let predicate = predicate.ok_or_else(|| self.malformed("unknown comparison"))?;
                if self.left() > 0 {
                    self.detail = Detail::Arithmetic(ArithmeticFlags(self.operand()? as u8));
                }
                if matches!(predicate, Predicate::Float(_)) != self.reader.is_float(ty) {
                    return Err(self.malformed("comparison of operands of another type"));
                }
                let boolean = self.reader.module.types.intern(Type::Integer(1))?;
                let ty = match self.reader.module.types.get(ty) {
                    Some(&Type::Vector { len, .. }) => {
                        self.reader.module.types.intern(Type::Vector { element: boolean, len })?
                    }
                    _ => boolean,
                };
                (Operation::Compare(predicate, a, b), ty)
            }
            // RET: [value].
            10 if self.left() == 0 => (Operation::Return(None), void),
            10 => (Operation::Return(Some(self.typed_value()?.0)), void),
            // BR: [block] or [accept, reject, condition].
            11 => {
                let accept = self.block()?;
                if self.left() == 0 {
                    return Ok((Operation::Jump(accept), void));
                }
                let reject = self.block()?;
                let condition = self.value()?;
                (Operation::Branch { condition, accept, reject }, void)
            }
            // SWITCH: [type, selector, default, (constant, block)...]; the constants' ids are absolute.
            12 => {
                let ty = self.operand()?;
                if ty >> 16 == 0x4b5 {
                    return Err(Error::unsupported("switch over ranges of cases"));
                }
                let selector = self.value()?;
                let default = self.block()?;
                let mut cases = Vec::new();
                while self.left() > 0 {
                    let case = self.operand()?;
                    let case = u32::try_from(case).map_err(|_| self.malformed("unknown value"))?;
                    cases.push((ValueId(case), self.block()?));
                }
                (Operation::Switch { selector, cases, default }, void)
            }
            15 => (Operation::Unreachable, void),
            // PHI: [type, (value, block)...]; the values are relative and sign-rotated.
            16 => {
                let ty = self.ty()?;
                let mut incoming = Vec::new();
                while self.left() > 0 {
                    let value = if self.reader.relative {
                        let distance = sign_rotated(self.operand()?);
                        ValueId(self.next_value().wrapping_sub(distance as u32))
                    } else {
                        self.value()?
                    };
                    incoming.push((value, self.block()?));
                }
                (Operation::Phi(incoming), ty)
            }
            // ALLOCA: [type, type of the count, count, alignment and flags]; the count's id is absolute.
            19 => {
                let declared = self.ty()?;
                self.ty()?;
                let count = self.reader.record.index(2)?;
                let flags = self.reader.record.operand(3)?;
                let ty = if flags & ALLOCA_EXPLICIT_TYPE != 0 {
                    declared
                } else {
                    let pointee = self.reader.module.types.pointee(declared);
                    pointee.ok_or_else(|| self.malformed("address of memory is no pointer"))?
                };
                let alignment = self.reader.alignment(flags & (ALLOCA_ARGUMENT - 1))?;
                self.detail = Detail::Allocation { alignment, argument: flags & ALLOCA_ARGUMENT != 0 };
                let pointer = self.reader.module.types.intern(Type::Pointer { pointee: ty, space: 0 })?;
                (Operation::Allocate { ty, count: ValueId(count) }, pointer)
            }
            // LOAD: [pointer, type, alignment, volatile] and LOADATOMIC, which adds two; without the type before 3.7.
            code @ (20 | 41) => {
                let (pointer, pointer_ty) = self.typed_value()?;
                let rest = if code == 20 { 2 } else { 4 };
                let ty = if self.left() > rest { self.ty()? } else { self.pointee(pointer_ty)? };
                self.access(code == 41)?;
                (Operation::Load(pointer), ty)
            }
            // STORE: [pointer, value, alignment, volatile]; the older forms leave out the value's type.
            code @ (24 | 42 | 44 | 45) => {
                let (pointer, _) = self.typed_value()?;
                let value = if code >= 44 { self.typed_value()?.0 } else { self.value()? };
                self.access(matches!(code, 42 | 45))?;
                (Operation::Store { pointer, value }, void)
            }
            // EXTRACTVAL: [aggregate, indices].
            26 => {
                let (aggregate, ty) = self.typed_value()?;
                let (indices, ty) = self.member(ty)?;
                (Operation::ExtractValue(aggregate, indices), ty)
            }
            // INSERTVAL: [aggregate, value, indices].
            27 => {
                let (aggregate, ty) = self.typed_value()?;
                let (value, _) = self.typed_value()?;
                let (indices, _) = self.member(ty)?;
                (Operation::InsertValue(aggregate, value, indices), ty)
            }
            // CALL: [attributes, calling convention, function type, function, arguments].
            34 => self.read_call()?,
            // FENCE: [ordering, scope].
            36 => {
                let ordering = Ordering::decode(self.operand()?);
                let single_thread = self.operand()? == 0;
                self.detail = Detail::Access(Access { ordering, single_thread, ..Access::default() });
                (Operation::Fence, void)
            }
            // CMPXCHG: [pointer, compare, value, volatile, ordering, scope, ordering of failure, weak]; the older form
            // leaves out the operands' type.
            code @ (37 | 46) => {
                let (pointer, pointer_ty) = self.typed_value()?;
                let (compare, ty) = match code {
                    46 => self.typed_value()?,
                    _ => (self.value()?, self.pointee(pointer_ty)?),
                };
                let value = self.value()?;
                let volatile = self.operand()? != 0;
                let ordering = Ordering::decode(self.operand()?);
                let single_thread = self.operand()? == 0;
                let failure = if self.left() > 0 { Ordering::decode(self.operand()?) } else { ordering };
                let weak = self.left() > 0 && self.operand()? != 0;
                let access = Access { volatile, ordering, failure, single_thread, weak, alignment: 0 };
                self.detail = Detail::Access(access);
                let boolean = self.reader.module.types.intern(Type::Integer(1))?;
                let fields = vec![ty, boolean];
                let ty = self.reader.module.types.intern(Type::Struct { name: None, packed: false, fields })?;
                (Operation::CompareExchange { pointer, compare, value }, ty)
            }
            // ATOMICRMW: [pointer, value, operation, volatile, ordering, scope].
            38 => {
                let (pointer, pointer_ty) = self.typed_value()?;
                let value = self.value()?;
                let op = AtomicOperation::decode(self.operand()?);
                let op = op.ok_or_else(|| self.malformed("unknown atomic operation"))?;
                let volatile = self.operand()? != 0;
                let ordering = Ordering::decode(self.operand()?);
                let single_thread = self.operand()? == 0;
                let access = Access { volatile, ordering, single_thread, ..Access::default() };
                self.detail = Detail::Access(access);
                (Operation::AtomicReadModifyWrite { op, pointer, value }, self.pointee(pointer_ty)?)
            }
            code => {
                return Err(Error::unsupported(format!("LLVM instruction that DXIL does not have: code {code}"))
                    .at_offset(self.reader.record.offset));
            }
        })
    }

    fn read_call(&mut self) -> Result<(Operation, TypeId)> {
        let attributes = self.reader.record.index(0)?.checked_sub(1);
        self.at += 1;
        let flags = self.operand()?;
        let explicit = flags & CALL_EXPLICIT_TYPE != 0;
        let tail = match (flags & CALL_MUST_TAIL != 0, flags & 1 != 0) {
            (true, _) => Tail::Must,
            (false, true) => Tail::May,
            (false, false) => Tail::No,
        };
        let convention = ((flags & (CALL_MUST_TAIL - 1)) >> 1) as u32;
        self.detail = Detail::Call { attributes, convention, tail };
        let declared = if explicit { Some(self.ty()?) } else { None };
        let (callee, pointer_ty) = self.typed_value()?;
        let ty = match declared {
            Some(ty) => ty,
            None => self.pointee(pointer_ty)?,
        };
        let function = match self.reader.module.value(Some(&self.body), callee).map(|value| &value.def) {
            Some(ValueDef::Function(function)) => *function,
            _ => return Err(Error::unsupported("call through a pointer").at_offset(self.reader.record.offset)),
        };
        let Some(Type::Function { result, params, variadic }) = self.reader.module.types.get(ty) else {
            return Err(self.malformed("call of no function type"));
        };
        let (result, count, variadic) = (*result, params.len(), *variadic);
        let is_metadata = |param: &TypeId| self.reader.module.types.get(*param) == Some(&Type::Metadata);
        let metadata: Vec<bool> = params.iter().map(is_metadata).collect();
        if self.reader.module.functions[function.index()].ty != ty {
            return Err(self.malformed("call of another type than the function's"));
        }
        if self.left() < count {
            return Err(self.malformed("call with too few arguments"));
        }
        let mut arguments = Vec::with_capacity(count);
        let number = self.body.instructions.len() as u32;
        for metadata in metadata {
            let value = self.value()?;
            if metadata {
                // What is counted as a value's id is the metadata's.
                let position = (number, arguments.len() as u32);
                self.body.annotations.arguments.insert(position, MetadataId(value.0));
                arguments.push(ValueId::NONE);
            } else {
                arguments.push(value);
            }
        }
        while variadic && self.left() > 0 {
            arguments.push(self.typed_value()?.0);
        }
        Ok((Operation::Call { callee: function, arguments }, result))
    }

    /// The end of a load's or store's record: alignment and volatile; ordering and scope if it is atomic.
    fn access(&mut self, atomic: bool) -> Result<()> {
        let alignment = self.operand()?;
        let alignment = self.reader.alignment(alignment)?;
        let volatile = self.operand()? != 0;
        let mut access = Access { alignment, volatile, ..Access::default() };
        if atomic {
            access.ordering = Ordering::decode(self.operand()?);
            access.single_thread = self.operand()? == 0;
        }
        self.detail = Detail::Access(access);
        Ok(())
    }

    fn pointee(&self, pointer: TypeId) -> Result<TypeId> {
        self.reader.module.types.pointee(pointer).ok_or_else(|| self.malformed("address is no pointer"))
    }

    fn vector_element(&self, vector: TypeId) -> Result<TypeId> {
        match self.reader.module.types.get(vector) {
            Some(Type::Vector { element, .. }) => Ok(*element),
            _ => Err(self.malformed("operand is no vector")),
        }
    }

    /// The rest of the record as the way to a member, and the member's type.
    fn member(&mut self, mut ty: TypeId) -> Result<(Vec<u32>, TypeId)> {
        let mut indices = Vec::new();
        while self.left() > 0 {
            let index = self.operand()?;
            let inside = match self.reader.module.types.get(ty) {
                Some(Type::Array { len, .. }) => index < *len,
                Some(Type::Struct { .. }) => true,
                _ => false,
            };
            let element = self.reader.module.types.element(ty, index).filter(|_| inside);
            ty = element.ok_or_else(|| self.malformed("no such member"))?;
            indices.push(index as u32);
        }
        Ok((indices, ty))
    }

    /// Type of the address of a part.
    fn element_pointer_type(&mut self, base: TypeId, indices: &[ValueId]) -> Result<TypeId> {
        let Some(&Type::Pointer { pointee, space }) = self.reader.module.types.get(base) else {
            return Err(self.malformed("address is no pointer"));
        };
        let mut ty = pointee;
        for &index in indices.iter().skip(1) {
            let field = match self.reader.module.value(Some(&self.body), index).map(|value| &value.def) {
                Some(ValueDef::Constant(super::super::Constant::Integer(field))) => *field as u64,
                // Only structures need to know.
                _ => 0,
            };
            let element = self.reader.module.types.element(ty, field);
            ty = element.ok_or_else(|| self.malformed("no such part"))?;
        }
        self.reader.module.types.intern(Type::Pointer { pointee: ty, space })
    }
}
