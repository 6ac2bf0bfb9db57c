//! Records of work graphs: bytes of one buffer, laid out as LLVM lays out its types.

use smallvec::SmallVec;

use super::{FunctionLowering, Lowered, ModuleLowering, llvm};
use crate::{
    Error, Result,
    ir::{AtomicOp, BinaryOp, BufferAddress, CompareOp, ConvertOp, Op, Scalar, Type, Value},
};

/// LLVM's address space of records.
pub const RECORD_SPACE: u32 = 6;

/// A byte that no buffer has: reads give 0 there, and writes are dropped.
pub const NOWHERE: u32 = 0x8000_0000;

/// An address in the buffer of records.
#[derive(Clone, Copy, Debug)]
pub struct RecordPointer {
    /// The byte, `i32`.
    pub byte: Value,
    /// Type of what is there.
    pub pointee: llvm::TypeId,
}

/// Sizes and alignments of types in records.
#[derive(Clone, Debug, Default)]
pub struct RecordLayout {
    /// Size and alignment in bytes, by type.
    types: Vec<(u32, u32)>,
}

impl RecordLayout {
    /// Lays out all types of a module. Types that others contain by value come before them.
    fn new(types: &llvm::Types, native_16_bit: bool) -> Self {
        let mut layout = Self::default();
        for (_, ty) in types.iter() {
            let scalar = |bytes: u32| (bytes, bytes);
            layout.types.push(match ty {
                llvm::Type::Half | llvm::Type::Integer(16) if native_16_bit => scalar(2),
                llvm::Type::Double | llvm::Type::Integer(64) => scalar(8),
                llvm::Type::Array { element, len } => {
                    let (size, alignment) = layout.of(*element);
                    (size.saturating_mul(u32::try_from(*len).unwrap_or(u32::MAX)), alignment)
                }
                llvm::Type::Vector { element, len } => {
                    let (size, alignment) = layout.of(*element);
                    (size.saturating_mul(*len), alignment)
                }
                llvm::Type::Struct { fields, .. } => {
                    let end = fields.iter().fold(0u32, |end, field| layout.after(end, *field));
                    let alignment = fields.iter().map(|field| layout.of(*field).1).max().unwrap_or(1);
                    (end.checked_next_multiple_of(alignment).unwrap_or(u32::MAX), alignment)
                }
                _ => scalar(4),
            });
        }
        layout
    }

    fn of(&self, ty: llvm::TypeId) -> (u32, u32) {
        self.types.get(ty.index()).copied().unwrap_or((4, 4))
    }

    /// Bytes of a type.
    pub fn size(&self, ty: llvm::TypeId) -> u32 {
        self.of(ty).0
    }

    /// Where a field begins that follows others, which end at a byte.
    fn begin(&self, end: u32, field: llvm::TypeId) -> u32 {
        end.checked_next_multiple_of(self.of(field).1.max(1)).unwrap_or(u32::MAX)
    }

    /// Where such a field ends.
    fn after(&self, end: u32, field: llvm::TypeId) -> u32 {
        self.begin(end, field).saturating_add(self.size(field))
    }

    /// Bytes at which the scalars of a type begin, in order.
    fn scalars(&self, types: &llvm::Types, ty: llvm::TypeId, start: u32, bytes: &mut Vec<u32>) {
        // A type without scalars may still have very many elements.
        if types.scalars(ty) == 0 {
            return;
        }
        match types.get(ty) {
            Some(llvm::Type::Array { element, .. } | llvm::Type::Vector { element, .. }) => {
                for number in 0..types.scalars(ty) / types.scalars(*element) {
                    let start = start.saturating_add(self.size(*element).saturating_mul(number as u32));
                    self.scalars(types, *element, start, bytes);
                }
            }
            Some(llvm::Type::Struct { fields, .. }) => {
                let mut end = 0;
                for &field in fields {
                    self.scalars(types, field, start.saturating_add(self.begin(end, field)), bytes);
                    end = self.after(end, field);
                }
            }
            _ => bytes.push(start),
        }
    }
}

impl ModuleLowering<'_> {
    /// How types lie in records.
    pub fn record_layout(&mut self) -> &RecordLayout {
        let (module, native_16_bit) = (self.module, self.native_16_bit);
        self.record_layout.get_or_insert_with(|| RecordLayout::new(&module.types, native_16_bit))
    }
}

impl FunctionLowering<'_, '_> {
    /// Address of a part of a record.
    pub(super) fn record_part(&mut self, pointer: RecordPointer, indices: &[llvm::ValueId]) -> Result<Lowered> {
        let RecordPointer { mut byte, mut pointee } = pointer;
        for (position, &step) in indices.iter().enumerate() {
            if position > 0 {
                match self.llvm_type(pointee)? {
                    llvm::Type::Array { element, .. } | llvm::Type::Vector { element, .. } => pointee = *element,
                    llvm::Type::Struct { fields, .. } => {
                        let field = self.as_integer(step).and_then(|field| usize::try_from(field).ok());
                        let field = field.filter(|field| *field < fields.len());
                        let field = field.ok_or_else(|| Error::malformed("no such field"))?;
                        let layout = self.parent.record_layout();
                        let end = fields[..field].iter().fold(0, |end, field| layout.after(end, *field));
                        let offset = layout.begin(end, fields[field]);
                        let offset = self.function.i32(offset);
                        byte = self.add(byte, offset);
                        pointee = fields[field];
                        continue;
                    }
                    _ => return Err(Error::malformed("address of a part of a number")),
                }
            }
            let size = self.parent.record_layout().size(pointee);
            let step = self.index(step)?;
            let offset = self.scale(step, size);
            byte = self.add(byte, offset);
        }
        Ok(Lowered::Record(RecordPointer { byte, pointee }))
    }

    /// Addresses of the scalars of a type.
    fn record_scalars(&mut self, pointer: RecordPointer, ty: llvm::TypeId) -> Result<Vec<(BufferAddress, Scalar)>> {
        let scalars = self.parent.scalar_types(ty)?;
        let mut bytes = Vec::with_capacity(scalars.len());
        let types = &self.parent.module.types;
        self.parent.record_layout().scalars(types, ty, 0, &mut bytes);
        let address = |(byte, scalar): (u32, Scalar)| {
            let offset = self.function.i32(byte);
            (BufferAddress::Byte(self.add(pointer.byte, offset)), scalar)
        };
        Ok(bytes.into_iter().zip(scalars).map(address).collect())
    }

    /// Reads a value of type `ty`.
    pub(super) fn load_record(&mut self, pointer: RecordPointer, ty: llvm::TypeId) -> Result<Lowered> {
        let mut values = SmallVec::new();
        for (address, scalar) in self.record_scalars(pointer, ty)? {
            let handle = self.records()?;
            let stored = if scalar == Scalar::Bool { Scalar::I32 } else { scalar };
            let mut build = self.build();
            let value = build.push(Op::LoadBuffer { handle, address }, Type::Scalar(stored));
            values.push(if scalar == Scalar::Bool {
                let zero = build.i32(0);
                build.compare(CompareOp::INe, value, zero)
            } else {
                value
            });
        }
        Ok(Lowered::Scalars(values))
    }

    /// Writes a value of type `ty`.
    pub(super) fn store_record(&mut self, pointer: RecordPointer, ty: llvm::TypeId, values: &[Value]) -> Result<()> {
        let places = self.record_scalars(pointer, ty)?;
        if places.len() != values.len() {
            return Err(Error::malformed("value of another type than its address"));
        }
        for ((address, scalar), &value) in places.into_iter().zip(values) {
            let handle = self.records()?;
            let mut build = self.build();
            let value = if scalar == Scalar::Bool { build.convert(ConvertOp::ZExt, value, Scalar::I32) } else { value };
            build.effect(Op::StoreBuffer { handle, address, value });
        }
        Ok(())
    }

    /// Atomic operation on a number of a record; the old value.
    pub(super) fn atomic_record(
        &mut self,
        pointer: RecordPointer,
        op: AtomicOp,
        value: Value,
        compare: Option<Value>,
    ) -> Result<Value> {
        let ty = self.function.ty(value);
        if !ty.scalar().is_some_and(|scalar| scalar.is_int() && scalar.bits() >= 32) {
            return Err(Error::unsupported(format!("atomic operation on a record's {ty}")));
        }
        let handle = self.records()?;
        let address = BufferAddress::Byte(pointer.byte);
        Ok(self.build().push(Op::AtomicBuffer { op, handle, address, value, compare }, ty))
    }

    /// A side of a grid in a record, as `i32`: `width` bytes of it.
    pub fn grid_side(&mut self, record: Value, offset: u32, width: u32) -> Result<Value> {
        let handle = self.records()?;
        let word = self.function.i32(offset & !3);
        let address = BufferAddress::Byte(self.add(record, word));
        let mut build = self.build();
        let side = build.push(Op::LoadBuffer { handle, address }, Type::I32);
        if width == 4 {
            return Ok(side);
        }
        let (shift, mask) = (build.i32((offset & 3) * 8), build.i32(0xffff));
        let side = build.binary(BinaryOp::LShr, side, shift);
        Ok(build.binary(BinaryOp::And, side, mask))
    }
}
