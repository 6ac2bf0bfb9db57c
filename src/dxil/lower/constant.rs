//! Constants.

use smallvec::SmallVec;

use super::{
    ChosenPointer, Descriptor, FunctionLowering, Lowered, ModuleLowering, NOWHERE, RecordPointer,
    descriptor::UNDEFINED, llvm, record::RECORD_SPACE, value::MAX_SCALARS,
};
use crate::{
    Error, Result,
    dxil::module::Expression,
    ir::{Scalar, Type},
};

/// Constants nest deeper in no program: the limit bounds recursion.
const MAX_DEPTH: u32 = 64;

impl ModuleLowering<'_> {
    /// Bits of a number of type `ty`, as the IR's scalar has them.
    fn bits(&self, ty: llvm::TypeId, constant: &llvm::Constant) -> Result<u64> {
        let bits = match constant {
            llvm::Constant::Undefined | llvm::Constant::Null => 0,
            llvm::Constant::Integer(value) => *value as u64,
            llvm::Constant::Float(bits) => *bits,
            _ => return Err(Error::unsupported("constant expression as a number of a table")),
        };
        Ok(self.converted_bits(ty, bits))
    }

    /// Bits of LLVM's number as bits of the IR's scalar.
    fn converted_bits(&self, ty: llvm::TypeId, bits: u64) -> u64 {
        match self.module.types.get(ty) {
            Some(llvm::Type::Half) if !self.native_16_bit => {
                u64::from(half::f16::from_bits(bits as u16).to_f32().to_bits())
            }
            Some(llvm::Type::Integer(8)) => bits & 0xff,
            _ => bits,
        }
    }

    /// Appends the scalars of a constant: type and bits of each.
    pub(super) fn flatten(
        &self,
        body: Option<&llvm::Body>,
        ty: llvm::TypeId,
        constant: &llvm::Constant,
        depth: u32,
        scalars: &mut Vec<(Scalar, u64)>,
    ) -> Result<()> {
        let types = &self.module.types;
        if depth > MAX_DEPTH {
            return Err(Error::malformed("constants are nested too deep"));
        }
        // What a constant holds is as much as its type says, so that the type bounds it.
        let count = match types.get(ty) {
            Some(llvm::Type::Array { len, .. }) => *len,
            Some(llvm::Type::Vector { len, .. }) => u64::from(*len),
            Some(llvm::Type::Struct { fields, .. }) => fields.len() as u64,
            _ => 0,
        };
        let members = match constant {
            llvm::Constant::Aggregate(members) => members.len() as u64,
            llvm::Constant::Data(data) => data.len() as u64,
            _ => count,
        };
        if members != count {
            return Err(Error::malformed("constant of more or fewer members than its type"));
        }
        let element = |index: u64| types.element(ty, index).ok_or_else(|| Error::malformed("constant of no aggregate"));
        match constant {
            llvm::Constant::Undefined | llvm::Constant::Null => {
                self.zeros(ty, scalars)?;
            }
            llvm::Constant::Aggregate(members) => {
                for (index, member) in members.iter().enumerate() {
                    let element = element(index as u64)?;
                    match self.module.value(body, *member).map(|value| (value.ty, &value.def)) {
                        Some((ty, llvm::ValueDef::Constant(constant))) if types.get(ty) == types.get(element) => {
                            self.flatten(body, ty, constant, depth + 1, scalars)?;
                        }
                        _ => return Err(Error::malformed("member of a constant is no constant of its type")),
                    }
                }
            }
            llvm::Constant::Data(data) => {
                let element = element(0)?;
                let scalar = self.scalar(element)?;
                scalars.extend(data.iter().map(|&bits| (scalar, self.converted_bits(element, bits))));
            }
            constant => scalars.push((self.scalar(ty)?, self.bits(ty, constant)?)),
        }
        Ok(())
    }

    /// Appends zeros for all scalars of a type. Callers have bounded their number.
    fn zeros(&self, ty: llvm::TypeId, scalars: &mut Vec<(Scalar, u64)>) -> Result<()> {
        let count = self.module.types.scalars(ty);
        match self.module.types.leaf(ty) {
            llvm::Leaf::None => {}
            llvm::Leaf::Uniform(leaf) => {
                let scalar = self.scalar(leaf)?;
                scalars.extend((0..count).map(|_| (scalar, 0)));
            }
            llvm::Leaf::Mixed => {
                let mut types = Vec::new();
                self.push_scalar_types(ty, &mut types)?;
                scalars.extend(types.into_iter().map(|scalar| (scalar, 0)));
            }
        }
        Ok(())
    }
}

impl FunctionLowering<'_, '_> {
    /// A constant of type `ty`.
    pub(super) fn constant(&mut self, ty: llvm::TypeId, constant: &llvm::Constant, depth: u32) -> Result<Lowered> {
        if let llvm::Constant::Expression(expression) = constant {
            if depth > MAX_DEPTH {
                return Err(Error::malformed("constants are nested too deep"));
            }
            return self.expression(ty, expression, depth);
        }
        match *self.llvm_type(ty)? {
            _ if self.parent.is_resource(ty) => {
                let numbers = [self.function.i32(UNDEFINED), self.function.i32(0)];
                return Ok(Lowered::Descriptor(Descriptor { numbers, non_uniform: false }));
            }
            // Whatever it leads to: nothing.
            llvm::Type::Pointer { pointee, space: RECORD_SPACE } => {
                return Ok(Lowered::Record(RecordPointer { byte: self.function.i32(NOWHERE), pointee }));
            }
            llvm::Type::Pointer { pointee, .. } => {
                let (variable, index) = (self.function.i32(UNDEFINED), self.function.i32(0));
                let storages = SmallVec::new();
                return Ok(Lowered::ChosenPointer(ChosenPointer { storages, variable, index, pointee }));
            }
            _ => {}
        }
        if self.parent.module.types.scalars(ty) > MAX_SCALARS {
            return Err(Error::unsupported("value of very many numbers"));
        }
        let mut scalars = Vec::new();
        self.parent.flatten(Some(self.body), ty, constant, depth, &mut scalars)?;
        let values: SmallVec<[_; 4]> =
            scalars.into_iter().map(|(scalar, bits)| self.function.constant(Type::Scalar(scalar), &[bits])).collect();
        Ok(Lowered::Scalars(values))
    }

    /// An operand of a constant expression.
    fn operand(&mut self, id: llvm::ValueId, depth: u32) -> Result<Lowered> {
        match self.as_constant(id) {
            Some(constant) => {
                let ty = self.type_of(id)?;
                self.constant(ty, constant, depth + 1)
            }
            None => self.value(id),
        }
    }

    fn expression(&mut self, ty: llvm::TypeId, expression: &Expression, depth: u32) -> Result<Lowered> {
        match expression {
            Expression::ElementPointer { base, indices, .. } => {
                let from = self.type_of(*base)?;
                let lowered = self.operand(*base, depth)?;
                self.element_pointer(lowered, from, indices)
            }
            Expression::Cast(op, value) => {
                let from = self.type_of(*value)?;
                let lowered = self.operand(*value, depth)?;
                self.cast(*op, lowered, from, ty)
            }
            Expression::Binary { op, a, b, .. } => {
                let a = self.operand(*a, depth)?;
                let b = self.operand(*b, depth)?;
                self.binary(*op, ty, &a, &b, false)
            }
            Expression::Compare(predicate, a, b) => {
                let predicate = llvm::Predicate::decode(u64::from(*predicate));
                let predicate = predicate.ok_or_else(|| Error::malformed("unknown comparison"))?;
                let operands = self.type_of(*a)?;
                let a = self.operand(*a, depth)?;
                let b = self.operand(*b, depth)?;
                self.compare(predicate, operands, &a, &b)
            }
            Expression::Select(condition, accept, reject) => {
                let condition = self.operand(*condition, depth)?;
                let accept = self.operand(*accept, depth)?;
                let reject = self.operand(*reject, depth)?;
                self.select(&condition, &accept, &reject)
            }
            Expression::Other(code) => Err(Error::unsupported(format!("constant expression: code {code}"))),
        }
    }
}
