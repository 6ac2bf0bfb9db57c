//! Addresses that may lead into several variables: a number tells into which. An access is one to each variable, but
//! where it is not meant, at an index that no variable has.

use smallvec::SmallVec;

use super::{
    FunctionLowering, Pointer, Storage, llvm,
    roots::{MAX_VARIABLES, Root},
};
use crate::{
    Error, Result,
    dxil::lower::{Lowered, record::NOWHERE},
    ir::{AtomicOp, Block, CompareOp, Type, Value, VariableId, VariableSpace},
};

/// An address that may lead into several variables, laid out alike; none if it is undefined.
#[derive(Clone, Debug)]
pub struct ChosenPointer {
    /// The variables.
    pub storages: SmallVec<[Storage; 4]>,
    /// Number of the variable, `i32`.
    pub variable: Value,
    /// The first element, `i32`.
    pub index: Value,
    /// Type of what is there.
    pub pointee: llvm::TypeId,
}

impl FunctionLowering<'_, '_> {
    /// The variables that an address may lead into, whichever way control took.
    pub(in crate::dxil::lower) fn storages_of(
        &mut self,
        function: llvm::FunctionId,
        value: llvm::ValueId,
    ) -> Result<SmallVec<[Storage; 4]>> {
        let roots = self.parent.roots.of(self.parent.module, function, value);
        if roots.is_empty() || roots.len() > MAX_VARIABLES {
            return Err(Error::unsupported("address that may lead to very many variables, or to none"));
        }
        roots.into_iter().map(|root| self.storage_of(root)).collect()
    }

    /// The variable of some memory.
    fn storage_of(&mut self, root: Root) -> Result<Storage> {
        match root {
            Root::Global(id) if !self.parent.resources.contains_key(&id) => self.parent.global_storage(id),
            Root::Alloca(function, number) if function == self.id => match self.body.instructions[number as usize].op {
                llvm::Operation::Allocate { ty, count } => self.alloca_storage(number, ty, count),
                _ => Err(Error::internal("root of an address is no alloca")),
            },
            Root::Parameter(function, number) if function == self.id && self.parameters.contains_key(&number) => {
                Ok(self.parameters[&number])
            }
            _ => Err(Error::unsupported("address of memory of another function")),
        }
    }

    /// The address that leads into one of several variables, or the only one.
    fn pointer_into(
        &mut self,
        storages: SmallVec<[Storage; 4]>,
        variable: Value,
        index: Value,
        pointee: llvm::TypeId,
    ) -> Lowered {
        match storages[..] {
            [storage] => Lowered::Pointer(Pointer { storage, index, pointee }),
            _ => Lowered::ChosenPointer(ChosenPointer { storages, variable, index, pointee }),
        }
    }

    /// An address that comes as parameters of a block: the element, after the variable if there are several.
    pub(in crate::dxil::lower) fn pointer_parameter(
        &mut self,
        block: Block,
        storages: SmallVec<[Storage; 4]>,
        pointee: llvm::TypeId,
    ) -> Lowered {
        let several = storages.len() > 1;
        let variable = if several { self.function.add_param(block, Type::I32) } else { self.function.i32(0) };
        let index = self.function.add_param(block, Type::I32);
        self.pointer_into(storages, variable, index, pointee)
    }

    /// An address that a function's parameter is: one of group-shared memory, which all functions share.
    pub(in crate::dxil::lower) fn shared_parameter(&mut self, number: u32, pointee: llvm::TypeId) -> Result<Lowered> {
        let storages = self.storages_of(self.id, llvm::ValueId(self.body.first + number))?;
        Ok(self.pointer_parameter(self.function.entry, storages, pointee))
    }

    /// Arguments for [`shared_parameter`](Self::shared_parameter) of a function that is called.
    pub(in crate::dxil::lower) fn shared_arguments(
        &mut self,
        callee: llvm::FunctionId,
        number: u32,
        address: &Lowered,
    ) -> Result<SmallVec<[Value; 2]>> {
        let Some(body) = &self.parent.module.functions[callee.index()].body else {
            return Err(Error::unsupported("address of group-shared memory for a function without a body"));
        };
        let storages = self.storages_of(callee, llvm::ValueId(body.first + number))?;
        let numbers = self.address_numbers(address).ok_or_else(|| Error::malformed("value is no address"))?;
        Ok(SmallVec::from_slice(if storages.len() > 1 { &numbers } else { &numbers[1..] }))
    }

    /// What an address brings for the parameters of another.
    pub(in crate::dxil::lower) fn pointer_arguments(
        &mut self,
        lowered: &Lowered,
        parameter: &Lowered,
    ) -> Result<SmallVec<[Value; 2]>> {
        let numbers = self.address_numbers(lowered).ok_or_else(|| Error::malformed("value is no address"))?;
        Ok(match parameter {
            // An undefined address may be one of resources.
            Lowered::ChosenPointer(_) | Lowered::Descriptor(_) => SmallVec::from_slice(&numbers),
            Lowered::Pointer(_) => SmallVec::from_slice(&numbers[1..]),
            _ => return Err(Error::malformed("phi of values of another type")),
        })
    }

    /// An address as two numbers: variable and element.
    fn address_numbers(&mut self, lowered: &Lowered) -> Option<[Value; 2]> {
        match lowered {
            Lowered::Pointer(pointer) => Some([self.function.i32(pointer.storage.variable.0), pointer.index]),
            Lowered::ChosenPointer(pointer) => Some([pointer.variable, pointer.index]),
            _ => None,
        }
    }

    /// One of two addresses that may lead into different variables.
    pub(in crate::dxil::lower) fn select_pointer(
        &mut self,
        condition: Value,
        accept: &Lowered,
        reject: &Lowered,
    ) -> Result<Lowered> {
        let mut storages: SmallVec<[Storage; 4]> = SmallVec::new();
        let mut pointee = None;
        for lowered in [accept, reject] {
            let (of, ty) = match lowered {
                Lowered::Pointer(pointer) => (std::slice::from_ref(&pointer.storage), pointer.pointee),
                Lowered::ChosenPointer(pointer) => (&pointer.storages[..], pointer.pointee),
                _ => return Err(Error::malformed("choice between an address and something else")),
            };
            for storage in of {
                if !storages.contains(storage) {
                    storages.push(*storage);
                }
            }
            pointee = pointee.or(Some(ty));
        }
        let numbers = self.address_numbers(accept).zip(self.address_numbers(reject));
        let (Some(([variable, index], [other, other_index])), Some(pointee)) = (numbers, pointee) else {
            return Err(Error::internal("address without numbers"));
        };
        if storages.len() > MAX_VARIABLES {
            return Err(Error::unsupported("address that may lead to very many variables, or to none"));
        }
        let mut choose = |a: Value, b: Value| if a == b { a } else { self.build().select(condition, a, b) };
        let index = choose(index, other_index);
        let variable = if storages.len() > 1 { choose(variable, other) } else { variable };
        Ok(self.pointer_into(storages, variable, index, pointee))
    }

    /// The address in each variable, and whether it is meant.
    fn alternatives(&mut self, pointer: &ChosenPointer) -> Vec<(Value, Pointer)> {
        let &ChosenPointer { ref storages, variable, index, pointee } = pointer;
        let mut alternative = |&storage: &Storage| {
            let VariableId(number) = storage.variable;
            let mut build = self.build();
            let number = build.i32(number);
            let is_meant = build.compare(CompareOp::IEq, variable, number);
            (is_meant, Pointer { storage, index, pointee })
        };
        storages.iter().map(&mut alternative).collect()
    }

    /// The addresses in all variables, each at an index that it does not have where it is not meant.
    fn guarded_alternatives(&mut self, pointer: &ChosenPointer) -> Vec<(Value, Pointer)> {
        let mut alternatives = self.alternatives(pointer);
        for (is_meant, pointer) in &mut alternatives {
            let mut build = self.build();
            let nowhere = build.i32(NOWHERE);
            pointer.index = build.select(*is_meant, pointer.index, nowhere);
        }
        alternatives
    }

    /// Reads a value of type `ty`.
    pub(in crate::dxil::lower) fn load_chosen(&mut self, pointer: &ChosenPointer, ty: llvm::TypeId) -> Result<Lowered> {
        // An index beyond a variable that is not meant gives 0.
        let mut chosen: Option<SmallVec<[Value; 4]>> = None;
        for (is_meant, pointer) in self.alternatives(pointer) {
            let here = self.load(pointer, ty)?;
            let here = here.scalars()?;
            chosen = Some(match chosen {
                None => SmallVec::from_slice(here),
                Some(others) => {
                    let pairs = here.iter().zip(&others);
                    pairs.map(|(&here, &other)| self.build().select(is_meant, here, other)).collect()
                }
            });
        }
        if let Some(scalars) = chosen {
            return Ok(Lowered::Scalars(scalars));
        }
        let scalars = self.parent.scalar_types(ty)?;
        Ok(Lowered::Scalars(scalars.into_iter().map(|scalar| self.function.zero(Type::Scalar(scalar))).collect()))
    }

    /// Writes a value.
    pub(in crate::dxil::lower) fn store_chosen(&mut self, pointer: &ChosenPointer, values: &[Value]) -> Result<()> {
        for (_, pointer) in self.guarded_alternatives(pointer) {
            // Nobody writes to constants.
            let variable = &self.parent.ir.variables[pointer.storage.variable.index()];
            if variable.space != VariableSpace::Constant {
                self.store(pointer, values)?;
            }
        }
        Ok(())
    }

    /// Atomic operation; the old value.
    pub(super) fn atomic_chosen(
        &mut self,
        pointer: &ChosenPointer,
        op: AtomicOp,
        value: Value,
        compare: Option<Value>,
    ) -> Result<Value> {
        let mut chosen = None;
        for (is_meant, pointer) in self.guarded_alternatives(pointer) {
            let old = self.atomic_variable(pointer, op, value, compare)?;
            chosen = Some(match chosen {
                None => old,
                Some(other) => self.build().select(is_meant, old, other),
            });
        }
        let ty = self.function.ty(value);
        Ok(chosen.unwrap_or_else(|| self.function.zero(ty)))
    }
}
