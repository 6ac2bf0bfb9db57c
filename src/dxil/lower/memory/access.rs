//! Reads, writes and atomic operations.

use smallvec::SmallVec;

use super::{FunctionLowering, Lowered, Pointer, Storage, llvm};
use crate::{
    Error, Result,
    ir::{AtomicOp, BinaryOp, CompareOp, ConvertOp, Op, Scalar, Type, Value, VariableSpace},
};

impl FunctionLowering<'_, '_> {
    /// Reads a value of type `ty` from where an address leads.
    pub(in crate::dxil::lower) fn load_from(&mut self, place: &Lowered, ty: llvm::TypeId) -> Result<Lowered> {
        match place {
            Lowered::Pointer(pointer) => self.load(*pointer, ty),
            Lowered::ChosenPointer(pointer) => self.load_chosen(pointer, ty),
            Lowered::Record(pointer) => self.load_record(*pointer, ty),
            Lowered::Resource { .. } | Lowered::Descriptor(_) => Ok(place.clone()),
            _ => Err(Error::malformed("load from no address")),
        }
    }

    /// Writes a value of type `ty` to where an address leads.
    pub(in crate::dxil::lower) fn store_to(
        &mut self,
        place: &Lowered,
        ty: llvm::TypeId,
        values: &[Value],
    ) -> Result<()> {
        match place {
            Lowered::Pointer(pointer) => self.store(*pointer, values),
            Lowered::ChosenPointer(pointer) => self.store_chosen(pointer, values),
            Lowered::Record(pointer) => self.store_record(*pointer, ty, values),
            _ => Err(Error::malformed("store to no address")),
        }
    }

    /// Reads a value of type `ty`.
    pub(in crate::dxil::lower) fn load(&mut self, pointer: Pointer, ty: llvm::TypeId) -> Result<Lowered> {
        let scalars = self.parent.scalar_types(ty)?;
        let mut values = SmallVec::new();
        let mut offset = 0;
        for scalar in scalars {
            let step = self.function.i32(offset);
            let index = self.add(pointer.index, step);
            values.push(self.load_scalar(pointer.storage, index, scalar)?);
            offset += words(pointer.storage, scalar);
        }
        Ok(Lowered::Scalars(values))
    }

    /// Writes a value.
    pub(in crate::dxil::lower) fn store(&mut self, pointer: Pointer, values: &[Value]) -> Result<()> {
        let mut offset = 0;
        for &value in values {
            let scalar = self.function.ty(value).scalar().ok_or_else(|| Error::internal("store of no number"))?;
            let step = self.function.i32(offset);
            let index = self.add(pointer.index, step);
            self.store_scalar(pointer.storage, index, value, scalar)?;
            offset += words(pointer.storage, scalar);
        }
        Ok(())
    }

    fn load_scalar(&mut self, storage: Storage, index: Value, scalar: Scalar) -> Result<Value> {
        let Storage { variable, scalar: element, words } = storage;
        let load = |this: &mut Self, index: Value| {
            this.build().push(Op::LoadVariable { variable, index, component: None }, Type::Scalar(element))
        };
        let value = load(self, index);
        if scalar == element {
            return Ok(value);
        }
        if words && scalar.bits() == 64 {
            let one = self.function.i32(1);
            let next = self.add(index, one);
            let high = load(self, next);
            let mut build = self.build();
            let pair = build.compose(&[value, high]);
            return Ok(build.push(Op::Convert(ConvertOp::Bitcast, pair), Type::Scalar(scalar)));
        }
        let mut build = self.build();
        match scalar {
            Scalar::Bool if words => {
                let zero = build.i32(0);
                Ok(build.compare(CompareOp::INe, value, zero))
            }
            Scalar::I16 | Scalar::F16 if words => {
                let low = build.convert(ConvertOp::Trunc, value, Scalar::I16);
                Ok(build.bitcast(low, scalar))
            }
            _ if scalar.bits() == element.bits() => Ok(build.bitcast(value, scalar)),
            _ => Err(Error::unsupported("memory read as another type than it was declared with")),
        }
    }

    fn store_scalar(&mut self, storage: Storage, index: Value, value: Value, scalar: Scalar) -> Result<()> {
        let Storage { variable, scalar: element, words } = storage;
        let store = |this: &mut Self, index: Value, value: Value| {
            this.build().effect(Op::StoreVariable { variable, index, component: None, value });
        };
        if scalar == element {
            store(self, index, value);
            return Ok(());
        }
        if words && scalar.bits() == 64 {
            let pair = self.build().push(Op::Convert(ConvertOp::Bitcast, value), Type::Vector(Scalar::I32, 2));
            let low = self.build().extract(pair, 0);
            store(self, index, low);
            let high = self.build().extract(pair, 1);
            let one = self.function.i32(1);
            let next = self.add(index, one);
            store(self, next, high);
            return Ok(());
        }
        let mut build = self.build();
        let word = match scalar {
            Scalar::Bool if words => build.convert(ConvertOp::ZExt, value, Scalar::I32),
            Scalar::I16 | Scalar::F16 if words => {
                let bits = build.bitcast(value, Scalar::I16);
                build.convert(ConvertOp::ZExt, bits, Scalar::I32)
            }
            _ if scalar.bits() == element.bits() => build.bitcast(value, element),
            _ => return Err(Error::unsupported("memory written as another type than it was declared with")),
        };
        store(self, index, word);
        Ok(())
    }

    /// Atomic operation on group-shared memory or a record; the old value.
    pub(in crate::dxil::lower) fn atomic(
        &mut self,
        place: &Lowered,
        op: llvm::AtomicOperation,
        value: Value,
    ) -> Result<Value> {
        let (op, value) = match op {
            llvm::AtomicOperation::Sub => (AtomicOp::Add, self.build().unary(crate::ir::UnaryOp::INeg, value)),
            llvm::AtomicOperation::Nand => return Err(Error::unsupported("atomic nand")),
            llvm::AtomicOperation::Exchange => (AtomicOp::Exchange, value),
            llvm::AtomicOperation::Add => (AtomicOp::Add, value),
            llvm::AtomicOperation::And => (AtomicOp::And, value),
            llvm::AtomicOperation::Or => (AtomicOp::Or, value),
            llvm::AtomicOperation::Xor => (AtomicOp::Xor, value),
            llvm::AtomicOperation::Max => (AtomicOp::SMax, value),
            llvm::AtomicOperation::Min => (AtomicOp::SMin, value),
            llvm::AtomicOperation::UMax => (AtomicOp::UMax, value),
            llvm::AtomicOperation::UMin => (AtomicOp::UMin, value),
        };
        self.atomic_at(place, op, value, None)
    }

    /// Atomic exchange where memory equals `compare`: the old value, and whether it was equal.
    pub(in crate::dxil::lower) fn compare_exchange(
        &mut self,
        place: &Lowered,
        compare: Value,
        value: Value,
    ) -> Result<Lowered> {
        let old = self.atomic_at(place, AtomicOp::CompareExchange, value, Some(compare))?;
        let equal = self.build().compare(CompareOp::IEq, old, compare);
        Ok(Lowered::Scalars(SmallVec::from_slice(&[old, equal])))
    }

    /// Atomic operation at an address; the old value.
    fn atomic_at(&mut self, place: &Lowered, op: AtomicOp, value: Value, compare: Option<Value>) -> Result<Value> {
        match place {
            Lowered::Pointer(pointer) => self.atomic_variable(*pointer, op, value, compare),
            Lowered::ChosenPointer(pointer) => self.atomic_chosen(pointer, op, value, compare),
            Lowered::Record(pointer) => self.atomic_record(*pointer, op, value, compare),
            _ => Err(Error::malformed("atomic operation on no address")),
        }
    }

    pub(super) fn atomic_variable(
        &mut self,
        pointer: Pointer,
        op: AtomicOp,
        value: Value,
        compare: Option<Value>,
    ) -> Result<Value> {
        let Storage { variable, scalar, .. } = pointer.storage;
        if self.parent.ir.variables[variable.index()].space != VariableSpace::GroupShared {
            return self.plain_atomic(pointer, op, value, compare);
        }
        let ty = self.function.ty(value);
        if ty != Type::Scalar(scalar) || !scalar.is_int() {
            return Err(Error::unsupported("atomic operation on group-shared memory of another type"));
        }
        let index = pointer.index;
        Ok(self.build().push(Op::AtomicVariable { op, variable, index, value, compare }, ty))
    }

    /// An atomic operation on memory of the thread, where nobody else is.
    fn plain_atomic(&mut self, pointer: Pointer, op: AtomicOp, value: Value, compare: Option<Value>) -> Result<Value> {
        let scalar = self.function.ty(value).scalar().ok_or_else(|| Error::internal("atomic on no number"))?;
        let old = self.load_scalar(pointer.storage, pointer.index, scalar)?;
        let mut build = self.build();
        let binary = match op {
            AtomicOp::Add => Some(BinaryOp::IAdd),
            AtomicOp::And => Some(BinaryOp::And),
            AtomicOp::Or => Some(BinaryOp::Or),
            AtomicOp::Xor => Some(BinaryOp::Xor),
            AtomicOp::SMin => Some(BinaryOp::SMin),
            AtomicOp::SMax => Some(BinaryOp::SMax),
            AtomicOp::UMin => Some(BinaryOp::UMin),
            AtomicOp::UMax => Some(BinaryOp::UMax),
            AtomicOp::Exchange | AtomicOp::CompareExchange => None,
        };
        let new = match (binary, compare) {
            (Some(binary), _) => build.binary(binary, old, value),
            (None, Some(compare)) => {
                let equal = build.compare(CompareOp::IEq, old, compare);
                build.select(equal, value, old)
            }
            (None, None) => value,
        };
        self.store_scalar(pointer.storage, pointer.index, new, scalar)?;
        Ok(old)
    }
}

/// Elements that a scalar takes.
fn words(storage: Storage, scalar: Scalar) -> u32 {
    if storage.words && scalar.bits() == 64 { 2 } else { 1 }
}
