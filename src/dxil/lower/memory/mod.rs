//! Variables and addresses: allocas, group-shared and constant globals become arrays of scalars.
//!
//! An address is a variable and an index into it. Nested arrays, structures and vectors are laid out scalar by scalar;
//! memory that holds scalars of several types, or is accessed as another type than it was declared with, is laid out in
//! 32-bit words, of which a 64-bit scalar takes two and every other one.

mod access;
mod address;
mod chosen;
mod roots;

pub use chosen::ChosenPointer;
pub use roots::{Roots, SHARED_SPACE, is_shared};

use smallvec::SmallVec;

use self::roots::Root;
use super::{FunctionLowering, Lowered, MAX_SCALARS, ModuleLowering, llvm};
use crate::{
    Error, Result,
    dxil::reflect,
    ir::{Constant, Scalar, Type, Value, Variable, VariableId, VariableSpace},
};

/// Most elements of a variable: group-shared memory ends at 32 KiB, constant tables far below this.
const MAX_ELEMENTS: u64 = 1 << 20;

/// Most elements of all variables together, for files that declare many.
const MAX_TOTAL: u64 = 1 << 22;

/// Most words of a payload: 16 KiB, where 16-bit numbers take a word each.
const MAX_PAYLOAD: u64 = 8192;

/// The variable that some memory became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    variable: VariableId,
    /// Type of an element.
    scalar: Scalar,
    /// Elements are 32-bit words, else scalars.
    words: bool,
}

/// An address.
#[derive(Clone, Copy, Debug)]
pub struct Pointer {
    /// The variable.
    pub storage: Storage,
    /// The first element, `i32`.
    pub index: Value,
    /// Type of what is there.
    pub pointee: llvm::TypeId,
}

impl Storage {
    /// Elements that a value of a type takes.
    fn size(&self, types: &llvm::Types, ty: llvm::TypeId) -> u64 {
        if self.words { types.words(ty) } else { types.scalars(ty) }
    }
}

impl ModuleLowering<'_> {
    /// Makes the variable for some memory.
    fn allocate(
        &mut self,
        root: Root,
        name: String,
        space: VariableSpace,
        ty: llvm::TypeId,
        count: u64,
        initial: Option<Vec<(Scalar, u64)>>,
    ) -> Result<Storage> {
        let (scalar, words) = match self.module.types.leaf(ty) {
            // Whoever shares it knows its layout.
            _ if space == VariableSpace::Interface => (Scalar::I32, true),
            llvm::Leaf::Uniform(leaf) if !self.roots.is_reinterpreted(root) => match self.scalar(leaf)? {
                Scalar::Bool => (Scalar::I32, true),
                scalar => (scalar, false),
            },
            _ => (Scalar::I32, true),
        };
        let variable = VariableId(self.ir.variables.len() as u32);
        let storage = Storage { variable, scalar, words };
        // A structure of nothing has an address too.
        let len = storage.size(&self.module.types, ty).saturating_mul(count).max(1);
        if len > MAX_ELEMENTS || self.elements + len > MAX_TOTAL {
            return Err(Error::unsupported(format!("size of a variable: {len} elements")));
        }
        self.elements += len;
        let initial = initial.filter(|scalars| !scalars.is_empty()).map(|scalars| {
            let mut elements = Vec::with_capacity(len as usize);
            for (scalar, bits) in scalars {
                if words && scalar.bits() == 64 {
                    elements.push(element(bits & 0xffff_ffff));
                    elements.push(element(bits >> 32));
                } else {
                    elements.push(element(mask(bits, scalar)));
                }
            }
            elements
        });
        if initial.as_ref().is_some_and(|initial| initial.len() as u64 != len) {
            return Err(Error::malformed("initial value of another size than its variable"));
        }
        let element = Type::Scalar(scalar);
        self.ir.variables.push(Variable { name, space, element, len: len as u32, initial });
        Ok(storage)
    }

    /// A variable of `i32`s that all functions share with whoever runs their stage, of so many elements at least.
    pub fn interface_variable(&mut self, name: &'static str, len: u32) -> VariableId {
        if let Some(&id) = self.interface_variables.get(name) {
            let variable = &mut self.ir.variables[id.index()];
            variable.len = variable.len.max(len);
            return id;
        }
        let id = VariableId(self.ir.variables.len() as u32);
        let (space, element) = (VariableSpace::Interface, Type::I32);
        self.ir.variables.push(Variable { name: name.to_owned(), space, element, len, initial: None });
        self.interface_variables.insert(name, id);
        id
    }

    /// A variable of `i32`s that functions share, of a name of the lift's own.
    pub fn named_variable(&mut self, name: &str, space: VariableSpace, len: u32) -> VariableId {
        if let Some(&id) = self.named_variables.get(name) {
            return id;
        }
        let id = VariableId(self.ir.variables.len() as u32);
        self.ir.variables.push(Variable { name: name.to_owned(), space, element: Type::I32, len, initial: None });
        self.named_variables.insert(name.to_owned(), id);
        id
    }

    /// The variable of what a helper function's parameter points to. HLSL's `inout` and `out` are copies in and out: who
    /// calls the function writes the variable before and reads it after. Functions do not call themselves.
    pub(super) fn parameter_storage(
        &mut self,
        function: llvm::FunctionId,
        number: u32,
        ty: llvm::TypeId,
    ) -> Result<Storage> {
        if let Some(&storage) = self.parameter_storages.get(&(function, number)) {
            return Ok(storage);
        }
        let pointee = match self.module.types.get(ty) {
            Some(&llvm::Type::Pointer { pointee, space: 0 }) => pointee,
            Some(llvm::Type::Pointer { space, .. }) => {
                return Err(Error::unsupported(format!("parameter of a function in address space: {space}")));
            }
            _ => return Err(Error::malformed("argument of another type than its parameter")),
        };
        let name = reflect::undecorated(&self.module.functions[function.index()].name);
        let name = format!("{name}_parameter{number}");
        let root = Root::Parameter(function, number);
        let storage = self.allocate(root, name, self.call_space(function), pointee, 1, None)?;
        self.parameter_storages.insert((function, number), storage);
        Ok(storage)
    }

    /// A function may write to what its parameter points to.
    pub(super) fn writes_parameter(&mut self, function: llvm::FunctionId, number: u32) -> bool {
        let (module, roots) = (self.module, &self.roots);
        let written = self.written_parameters.entry(function).or_insert_with(|| roots.written(module, function));
        written.contains(&number)
    }

    /// The variable of what a function returns that is no number or vector: it writes it, and who called it reads it.
    pub(super) fn result_storage(&mut self, function: llvm::FunctionId, ty: llvm::TypeId) -> Result<Storage> {
        if let Some(&storage) = self.result_storages.get(&function) {
            return Ok(storage);
        }
        let name = format!("{}_result", reflect::undecorated(&self.module.functions[function.index()].name));
        let storage = self.allocate(Root::Result(function), name, self.call_space(function), ty, 1, None)?;
        self.result_storages.insert(function, storage);
        Ok(storage)
    }

    /// Space of the variables by which a function and its callers hand on values: others see them, if the function is
    /// theirs or they may call it.
    fn call_space(&self, function: llvm::FunctionId) -> VariableSpace {
        match self.module.functions[function.index()].body {
            Some(_) if !self.exports.contains(&function) => VariableSpace::Thread,
            _ => VariableSpace::Interface,
        }
    }

    /// The variable of a global variable.
    fn global_storage(&mut self, id: llvm::GlobalId) -> Result<Storage> {
        if let Some(&storage) = self.storages.get(&id) {
            return Ok(storage);
        }
        let module = self.module;
        let global = module.globals.get(id.index()).ok_or_else(|| Error::malformed("unknown global variable"))?;
        let space = match (global.space, global.constant) {
            (SHARED_SPACE, _) => VariableSpace::GroupShared,
            (0, true) => VariableSpace::Constant,
            (0, false) => VariableSpace::Thread,
            (space, _) => return Err(Error::unsupported(format!("global variable in address space: {space}"))),
        };
        let initial = match global.initializer.and_then(|initializer| module.constant(initializer)) {
            Some((_, llvm::Constant::Undefined | llvm::Constant::Null)) => None,
            Some((ty, constant)) if space != VariableSpace::GroupShared => {
                if module.types.get(ty) != module.types.get(global.ty) {
                    return Err(Error::malformed("initial value of another type than its variable"));
                }
                if module.types.scalars(ty) > MAX_ELEMENTS {
                    return Err(Error::unsupported(format!("size of a variable: {}", module.types.scalars(ty))));
                }
                let mut scalars = Vec::new();
                self.flatten(None, ty, constant, 0, &mut scalars)?;
                Some(scalars)
            }
            Some(_) => None,
            None if space == VariableSpace::Constant => {
                return Err(Error::unsupported(format!("external constant: {}", global.name)));
            }
            None => None,
        };
        let name = reflect::undecorated(&global.name).to_owned();
        let storage = self.allocate(Root::Global(id), name, space, global.ty, 1, initial)?;
        self.storages.insert(id, storage);
        Ok(storage)
    }
}

/// Bits that a scalar keeps.
fn mask(bits: u64, scalar: Scalar) -> u64 {
    match scalar.bits() {
        64 => bits,
        width => bits & ((1 << width) - 1),
    }
}

fn element(bits: u64) -> Constant {
    Constant(SmallVec::from_slice(&[bits]))
}
