//! Addresses of variables and of their parts.

use super::{FunctionLowering, Lowered, MAX_PAYLOAD, MAX_SCALARS, Pointer, Root, Storage, llvm};
use crate::{
    Error, Result,
    ir::{ConvertOp, Op, Scalar, Type, Value, Variable, VariableId, VariableSpace},
};

impl FunctionLowering<'_, '_> {
    /// Address of a global variable, or the resource that it stands for.
    pub(in crate::dxil::lower) fn global(&mut self, id: llvm::GlobalId) -> Result<Lowered> {
        if let Some(&binding) = self.parent.resources.get(&id) {
            let index = self.function.i32(0);
            return Ok(Lowered::Resource { binding, descriptor: self.descriptor(binding, index, false) });
        }
        let storage = self.parent.global_storage(id)?;
        let pointee = self.parent.module.globals[id.index()].ty;
        Ok(Lowered::Pointer(Pointer { storage, index: self.function.i32(0), pointee }))
    }

    /// Memory of the thread.
    pub(in crate::dxil::lower) fn alloca(
        &mut self,
        number: u32,
        ty: llvm::TypeId,
        count: llvm::ValueId,
    ) -> Result<Lowered> {
        let storage = self.alloca_storage(number, ty, count)?;
        Ok(Lowered::Pointer(Pointer { storage, index: self.function.i32(0), pointee: ty }))
    }

    pub(super) fn alloca_storage(&mut self, number: u32, ty: llvm::TypeId, count: llvm::ValueId) -> Result<Storage> {
        if let Some(&storage) = self.storages.get(&number) {
            return Ok(storage);
        }
        let count = self.as_integer(count).filter(|count| *count > 0);
        let count = count.ok_or_else(|| Error::unsupported("alloca of a number that is not constant"))?;
        let root = Root::Alloca(self.id, number);
        let name = self.name_of(number).map_or_else(|| format!("local{number}"), str::to_owned);
        let storage = self.parent.allocate(root, name, VariableSpace::Thread, ty, count as u64, None)?;
        self.storages.insert(number, storage);
        Ok(storage)
    }

    /// What a parameter of a ray tracing stage points to: a variable that is shared with whoever calls the stage.
    pub(in crate::dxil::lower) fn parameter(
        &mut self,
        number: u32,
        name: &str,
        pointee: llvm::TypeId,
    ) -> Result<Lowered> {
        let root = Root::Parameter(self.id, number);
        let name = format!("{}_{name}", self.function.name);
        let storage = self.parent.allocate(root, name, VariableSpace::Interface, pointee, 1, None)?;
        self.parameters.insert(number, storage);
        Ok(Lowered::Pointer(Pointer { storage, index: self.function.i32(0), pointee }))
    }

    /// Copies what an address leads to into a variable of words that is shared with the callee, and gives the
    /// address there. The variable is as long as its longest content.
    pub fn share(&mut self, pointer: Pointer, name: &'static str) -> Result<Pointer> {
        let words = self.parent.module.types.words(pointer.pointee).clamp(1, MAX_SCALARS) as u32;
        let variable = self.parent.interface_variable(name, words);
        let shared = self.words_at(variable, pointer.pointee);
        self.copy(pointer, shared)?;
        Ok(shared)
    }

    /// The beginning of a variable of words, as an address of some type.
    pub fn words_at(&mut self, variable: VariableId, pointee: llvm::TypeId) -> Pointer {
        let storage = Storage { variable, scalar: Scalar::I32, words: true };
        Pointer { storage, index: self.function.i32(0), pointee }
    }

    /// What an address leads to, in words: each number takes one, one of 64 bits two.
    ///
    /// # Errors
    /// It has more than `most`.
    pub fn words(&mut self, pointer: Pointer, most: u32) -> Result<Vec<Value>> {
        let count = self.parent.module.types.words(pointer.pointee);
        if count > u64::from(most) {
            return Err(Error::unsupported(format!("attributes of {count} words")));
        }
        let variable = self.parent.named_variable("words", VariableSpace::Thread, most);
        let words = self.words_at(variable, pointer.pointee);
        self.copy(pointer, words)?;
        let load = |index: u32| {
            let mut build = self.build();
            let index = build.i32(index);
            build.push(Op::LoadVariable { variable, index, component: None }, Type::I32)
        };
        Ok((0..count as u32).map(load).collect())
    }

    /// Copies what one address leads to into what another does, which has the same type.
    pub fn copy(&mut self, from: Pointer, to: Pointer) -> Result<()> {
        let value = self.load(from, from.pointee)?;
        self.store(to, value.scalars()?)
    }

    /// Address of the payload that a mesh shader reads: words, in one variable of the module.
    pub fn mesh_payload(&mut self, pointee: llvm::TypeId) -> Result<Pointer> {
        let words = self.parent.module.types.words(pointee);
        if words == 0 || words > MAX_PAYLOAD {
            return Err(Error::unsupported(format!("size of a payload: {words} words")));
        }
        let variables = &mut self.parent.ir.variables;
        let known = variables.iter().position(|variable| variable.space == VariableSpace::Payload);
        let index = known.unwrap_or(variables.len());
        if known.is_none() {
            let element = Type::I32;
            let space = VariableSpace::Payload;
            variables.push(Variable { name: "payload".into(), space, element, len: words as u32, initial: None });
        }
        if u64::from(variables[index].len) != words {
            return Err(Error::malformed("payloads of different sizes"));
        }
        let storage = Storage { variable: VariableId(index as u32), scalar: Scalar::I32, words: true };
        Ok(Pointer { storage, index: self.function.i32(0), pointee })
    }

    /// The variable, first element and number of words of the payload that an amplification shader hands on.
    pub fn sent_payload(&self, pointer: Pointer) -> Result<(VariableId, Value, u32)> {
        let Pointer { storage, index, pointee } = pointer;
        let words = self.parent.module.types.words(pointee);
        let variable = &self.parent.ir.variables[storage.variable.index()];
        if !matches!(variable.space, VariableSpace::GroupShared | VariableSpace::Thread) {
            return Err(Error::unsupported(format!("payload in a variable of another kind: {:?}", variable.space)));
        }
        if !storage.words || words > u64::from(variable.len) {
            return Err(Error::internal("payload that is not laid out in words"));
        }
        if words > MAX_PAYLOAD {
            return Err(Error::unsupported(format!("size of a payload: {words} words")));
        }
        Ok((storage.variable, index, words as u32))
    }

    /// Address of what a function returns.
    pub(in crate::dxil::lower) fn result_pointer(
        &mut self,
        function: llvm::FunctionId,
        ty: llvm::TypeId,
    ) -> Result<Pointer> {
        let storage = self.parent.result_storage(function, ty)?;
        Ok(Pointer { storage, index: self.function.i32(0), pointee: ty })
    }

    /// An index of LLVM as an `i32`.
    pub(in crate::dxil::lower) fn index(&mut self, id: llvm::ValueId) -> Result<Value> {
        if let Some(constant) = self.as_integer(id) {
            return Ok(self.function.i32(constant as u32));
        }
        let index = self.scalar(id)?;
        match self.function.ty(index).scalar() {
            Some(Scalar::I32) => Ok(index),
            Some(Scalar::I64) => Ok(self.build().convert(ConvertOp::Trunc, index, Scalar::I32)),
            Some(Scalar::I16) => Ok(self.build().convert(ConvertOp::SExt, index, Scalar::I32)),
            _ => Err(Error::malformed("index is no integer")),
        }
    }

    /// Address of a part of what an address of type `from` leads to.
    pub(in crate::dxil::lower) fn element_pointer(
        &mut self,
        base: Lowered,
        from: llvm::TypeId,
        indices: &[llvm::ValueId],
    ) -> Result<Lowered> {
        match base {
            Lowered::Resource { binding, descriptor } => {
                let descriptor = self.element_descriptor(descriptor, from, indices)?;
                Ok(Lowered::Resource { binding, descriptor })
            }
            Lowered::Descriptor(descriptor) => {
                self.element_descriptor(descriptor, from, indices).map(Lowered::Descriptor)
            }
            Lowered::Record(pointer) => self.record_part(pointer, indices),
            Lowered::Pointer(pointer) => self.element_of_variable(pointer, indices).map(Lowered::Pointer),
            Lowered::ChosenPointer(mut chosen) => {
                // All variables are laid out alike. Where there is none, any type has the parts.
                let storage = chosen.storages.first().copied();
                let storage = storage.unwrap_or(Storage { variable: VariableId(0), scalar: Scalar::I32, words: true });
                let pointer = Pointer { storage, index: chosen.index, pointee: chosen.pointee };
                Pointer { index: chosen.index, pointee: chosen.pointee, .. } =
                    self.element_of_variable(pointer, indices)?;
                Ok(Lowered::ChosenPointer(chosen))
            }
            _ => Err(Error::malformed("address of a part of no address")),
        }
    }

    fn element_of_variable(&mut self, pointer: Pointer, indices: &[llvm::ValueId]) -> Result<Pointer> {
        let types = &self.parent.module.types;
        let Pointer { storage, mut index, mut pointee } = pointer;
        for (position, &step) in indices.iter().enumerate() {
            let (unit, offset) = if position == 0 {
                (storage.size(types, pointee), 0)
            } else {
                match self.llvm_type(pointee)? {
                    llvm::Type::Array { element, .. } | llvm::Type::Vector { element, .. } => {
                        pointee = *element;
                        (storage.size(types, pointee), 0)
                    }
                    llvm::Type::Struct { fields, .. } => {
                        let field = self.as_integer(step).and_then(|field| usize::try_from(field).ok());
                        let field = field.filter(|field| *field < fields.len());
                        let field = field.ok_or_else(|| Error::malformed("no such field"))?;
                        let before = fields[..field].iter().map(|field| storage.size(types, *field));
                        pointee = fields[field];
                        (0, before.fold(0u64, u64::saturating_add))
                    }
                    _ => return Err(Error::malformed("address of a part of a number")),
                }
            };
            let too_large = |_| Error::unsupported("address beyond 32 bits");
            let unit = u32::try_from(unit).map_err(too_large)?;
            let offset = u32::try_from(offset).map_err(too_large)?;
            if unit != 0 {
                let step = self.index(step)?;
                let step = self.scale(step, unit);
                index = self.add(index, step);
            }
            let offset = self.function.i32(offset);
            index = self.add(index, offset);
        }
        Ok(Pointer { storage, index, pointee })
    }
}
