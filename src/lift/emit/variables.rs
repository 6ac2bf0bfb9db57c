//! Variables of the program: indexable temporaries, group-shared memory, constant arrays. Every access carries its own
//! guard: an index out of range reads 0, and its write is dropped.

use std::{collections::BTreeMap, num::NonZeroU32};

use naga::{
    AddressSpace, ArraySize, BinaryOperator, Expression, GlobalVariable, Handle, LocalVariable, MathFunction, Scalar,
    ScalarKind, Span, TypeInner, valid::Capabilities,
};

use super::{
    Emission, FunctionEmitter, ModuleEmitter,
    atomic_variable::AtomicMemory,
    expression::{Expr, literal},
    function::Shape,
    sign::signature_kind,
    types,
};
use crate::{
    Error, Result,
    ir::{self, AtomicOp, FunctionId, Op, Type, Value, VariableId, VariableSpace},
};

/// Where a variable of the program is, and as what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Storage {
    /// Its place.
    place: Place,
    /// Type of the whole variable.
    ty: Handle<naga::Type>,
    /// An element, as it is stored: floats may be stored as their bits.
    element: Shape,
    /// Number of elements.
    len: u32,
    /// It is an array; a variable of one element is that element.
    array: bool,
    /// Its elements are atomics.
    atomic: bool,
    /// First value, among the module's constant expressions.
    init: Option<Handle<Expression>>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    /// A global variable of the module.
    Global(Handle<GlobalVariable>),
    /// A local variable of the one function that uses it, an entry point.
    Local,
}

/// How a variable is used.
#[derive(Debug, Default)]
struct Use {
    functions: Vec<FunctionId>,
    atomic: bool,
    /// An atomic operation compares as signed integers.
    signed: bool,
    /// One compares as unsigned integers.
    unsigned: bool,
}

impl ModuleEmitter<'_> {
    /// Declares the variables that functions use. `roots` are the functions of entry points: a thread's variables that one
    /// of them alone uses become its local variables.
    ///
    /// # Errors
    /// Names what naga cannot express.
    pub fn declare_variables(&mut self, functions: &[FunctionId], roots: &[FunctionId]) -> Result<()> {
        let program = self.program;
        for (id, usage) in variable_uses(&program.ir, functions) {
            let Some(variable) = program.ir.variables.get(id.index()) else {
                return Err(Error::internal(format!("no such variable: {}", id.0)));
            };
            let storage = self.declare_variable(id, variable, &usage, roots);
            let storage = storage.map_err(|mut error| {
                error.what = format!("{}: {}", error.what, variable.name);
                error
            })?;
            self.variables[id.index()] = Some(storage);
        }
        Ok(())
    }

    fn declare_variable(
        &mut self,
        id: VariableId,
        variable: &ir::Variable,
        usage: &Use,
        roots: &[FunctionId],
    ) -> Result<Storage> {
        let Some(scalar) = variable.element.scalar() else {
            return Err(Error::unsupported("variable of resources"));
        };
        let mut kind = signature_kind(variable.element);
        if usage.atomic {
            if !scalar.is_int() || scalar == ir::Scalar::I16 || variable.element.lanes() != 1 {
                return Err(Error::unsupported(format!("atomic operation on a variable of {}", variable.element)));
            }
            let wide = Capabilities::SHADER_INT64_ATOMIC_ALL_OPS;
            if scalar == ir::Scalar::I64 && !self.target.capabilities.contains(wide) {
                return Err(Error::unsupported(
                    "64-bit atomic operations on group-shared memory, which the target lacks",
                ));
            }
            if usage.signed && !usage.unsigned {
                kind = ScalarKind::Sint;
            }
        }
        let stored_as_bits = needs_bits(variable, scalar);
        if stored_as_bits {
            if scalar == ir::Scalar::F16 {
                return Err(Error::unsupported("constant array of halves that are not finite"));
            }
            kind = ScalarKind::Uint;
        }
        let naga_scalar = Scalar { kind, ..types::scalar(scalar, kind) };
        let element = Shape { scalar: naga_scalar, lanes: variable.element.lanes() };
        let element_type = if usage.atomic {
            self.ty(TypeInner::Atomic(element.scalar))
        } else {
            self.numeric(element.scalar, element.lanes)
        };
        let array = variable.len != 1 || variable.space == VariableSpace::Payload;
        let ty = if array {
            let len = NonZeroU32::new(variable.len).ok_or_else(|| Error::unsupported("variable without elements"))?;
            let stride = self.stride(element_type)?;
            // The byte size of a type must fit 32 bits.
            if u64::from(stride) * u64::from(variable.len) > u64::from(u32::MAX / 2) {
                return Err(Error::unsupported("variable of more than 2 GiB"));
            }
            self.ty(TypeInner::Array { base: element_type, size: ArraySize::Constant(len), stride })
        } else {
            element_type
        };
        let init = match &variable.initial {
            Some(initial) if variable.space != VariableSpace::GroupShared => {
                Some(self.initial_value(initial, element, ty, array, variable.len)?)
            }
            Some(_) => return Err(Error::unsupported("group-shared variable with initial values")),
            None => None,
        };
        let is_local = variable.space == VariableSpace::Thread
            && matches!(usage.functions[..], [function] if roots.contains(&function));
        let place = match variable.space {
            VariableSpace::Payload => Place::Global(self.payload(variable.len)?),
            _ if is_local => Place::Local,
            space => {
                let space = match space {
                    VariableSpace::GroupShared => AddressSpace::WorkGroup,
                    _ if self.ray_stages.is_payload(id) => AddressSpace::IncomingRayPayload,
                    _ => AddressSpace::Private,
                };
                let global = GlobalVariable {
                    name: Some(variable.name.clone()),
                    space,
                    binding: None,
                    ty,
                    init,
                    memory_decorations: naga::MemoryDecorations::empty(),
                };
                Place::Global(self.module.global_variables.append(global, Span::UNDEFINED))
            }
        };
        Ok(Storage { place, ty, element, len: variable.len, array, atomic: usage.atomic, init })
    }

    /// The global variable of a variable of the program; `None` if it is none, or not declared.
    pub fn variable_global(&self, variable: VariableId) -> Option<Handle<GlobalVariable>> {
        match self.variables.get(variable.index()).copied().flatten()?.place {
            Place::Global(handle) => Some(handle),
            Place::Local => None,
        }
    }

    /// Distance of an array's elements in bytes, as naga lays types out.
    fn stride(&self, element: Handle<naga::Type>) -> Result<u32> {
        let mut layouter = naga::proc::Layouter::default();
        layouter
            .update(self.module.to_ctx())
            .map_err(|error| Error::internal(format!("layout of an array: {error}")))?;
        Ok(layouter[element].to_stride())
    }

    fn initial_value(
        &mut self,
        initial: &[ir::Constant],
        element: Shape,
        ty: Handle<naga::Type>,
        array: bool,
        len: u32,
    ) -> Result<Handle<Expression>> {
        if initial.len() != len as usize {
            return Err(Error::internal(format!("variable of {len} elements with {} values", initial.len())));
        }
        let components: Option<Vec<_>> =
            initial.iter().map(|constant| self.constant_expression(element, &constant.0)).collect();
        let components = components.ok_or_else(|| Error::internal("initial value that is not finite"))?;
        if !array {
            return components.first().copied().ok_or_else(|| Error::internal("variable without a value"));
        }
        let compose = Expression::Compose { ty, components };
        Ok(self.module.global_expressions.append(compose, Span::UNDEFINED))
    }
}

/// An initial value is no literal of naga's: the variable holds bits instead.
fn needs_bits(variable: &ir::Variable, scalar: ir::Scalar) -> bool {
    let float = types::scalar(scalar, signature_kind(variable.element));
    let lanes = variable.initial.iter().flatten().flat_map(|constant| &constant.0);
    scalar.is_float() && lanes.copied().any(|bits| literal(float, bits).is_none())
}

fn variable_uses(module: &ir::Module, functions: &[FunctionId]) -> BTreeMap<VariableId, Use> {
    let mut uses: BTreeMap<VariableId, Use> = BTreeMap::new();
    for &id in functions {
        let function = &module.functions[id.index()];
        let insts = function.blocks.iter().flat_map(|block| &block.insts);
        for op in insts.filter_map(|&value| function.op(value)) {
            let (variable, atomic) = match *op {
                Op::LoadVariable { variable, .. } | Op::StoreVariable { variable, .. } => (variable, None),
                Op::AtomicVariable { variable, op, .. } => (variable, Some(op)),
                Op::DispatchMesh { payload, .. } => (payload, None),
                _ => continue,
            };
            let usage = uses.entry(variable).or_default();
            if !usage.functions.contains(&id) {
                usage.functions.push(id);
            }
            usage.atomic |= atomic.is_some();
            usage.signed |= matches!(atomic, Some(AtomicOp::SMin | AtomicOp::SMax));
            usage.unsigned |= matches!(atomic, Some(AtomicOp::UMin | AtomicOp::UMax));
        }
    }
    uses
}

/// Where an element is.
enum Element {
    /// In range.
    At(Expr),
    /// In range where the condition holds.
    Guarded {
        /// The index, `u32`.
        index: Expr,
        /// It is in range.
        in_range: Expr,
    },
    /// Out of range.
    Nowhere,
}

impl FunctionEmitter<'_, '_> {
    fn storage(&self, variable: VariableId) -> Result<Storage> {
        let storage = self.module.variables.get(variable.index()).copied().flatten();
        storage.ok_or_else(|| Error::internal(format!("variable not declared: {}", variable.0)))
    }

    /// Pointer to a whole variable.
    fn variable_pointer(&mut self, id: VariableId, storage: Storage) -> Expr {
        if let Some(&pointer) = self.variables.get(&id) {
            return pointer;
        }
        let pointer = match storage.place {
            Place::Global(handle) => self.pre(Expression::GlobalVariable(handle)),
            Place::Local => {
                let name = Some(self.module.program.ir.variables[id.index()].name.clone());
                let init = storage.init.map(|init| {
                    let constant = naga::Constant { name: None, ty: storage.ty, init };
                    let constant = self.module.module.constants.append(constant, Span::UNDEFINED);
                    self.pre(Expression::Constant(constant))
                });
                let local = LocalVariable { name, ty: storage.ty, init };
                let local = self.function.local_variables.append(local, Span::UNDEFINED);
                self.pre(Expression::LocalVariable(local))
            }
        };
        self.variables.insert(id, pointer);
        pointer
    }

    fn element(&mut self, id: VariableId, storage: Storage, index: Value) -> Result<Element> {
        let base = self.variable_pointer(id, storage);
        if let Some(index) = self.known_splat(index) {
            return Ok(match u32::try_from(index) {
                Ok(index) if index < storage.len => {
                    Element::At(if storage.array { self.val(Expression::AccessIndex { base, index }) } else { base })
                }
                _ => Element::Nowhere,
            });
        }
        let index = self.get_as(index, ScalarKind::Uint)?;
        let len = self.u32(storage.len);
        let in_range = self.binary(BinaryOperator::Less, index, len);
        Ok(Element::Guarded { index, in_range })
    }

    /// Pointer to an element at an index that is known to be in range.
    fn element_pointer(&mut self, base: Expr, storage: Storage, index: Expr) -> Expr {
        if storage.array { self.val(Expression::Access { base, index }) } else { base }
    }

    fn component_pointer(&mut self, element: Expr, storage: Storage, component: Option<u8>) -> Expr {
        match component {
            Some(component) if storage.element.lanes > 1 => {
                self.val(Expression::AccessIndex { base: element, index: u32::from(component) })
            }
            _ => element,
        }
    }

    /// Reads an element, or a component of one.
    ///
    /// # Errors
    /// An operand was not emitted, or the variable not declared: bugs.
    pub fn load_variable(
        &mut self,
        variable: VariableId,
        index: Value,
        component: Option<u8>,
        ty: Type,
    ) -> Result<Emission> {
        let storage = self.storage(variable)?;
        let shape = Shape { lanes: ty.lanes().max(1), ..storage.element };
        let loaded = match self.element(variable, storage, index)? {
            Element::At(element) => {
                let pointer = self.component_pointer(element, storage, component);
                self.load(pointer)
            }
            Element::Nowhere => self.zero_of(shape),
            Element::Guarded { index, in_range } => {
                let base = self.variable_pointer(variable, storage);
                let last = self.u32(storage.len - 1);
                let bounded = self.math(MathFunction::Min, &[index, last]);
                let element = self.element_pointer(base, storage, bounded);
                let pointer = self.component_pointer(element, storage, component);
                let value = self.load(pointer);
                let zero = self.zero_of(shape);
                self.select(in_range, value, zero)
            }
        };
        let kind = signature_kind(ty);
        let is_int = |kind| matches!(kind, ScalarKind::Sint | ScalarKind::Uint);
        if storage.element.scalar.kind == kind || is_int(kind) {
            return Ok(Emission { expr: loaded, kind: storage.element.scalar.kind });
        }
        Ok(Emission { expr: self.bitcast(loaded, kind), kind })
    }

    /// Bits of an element of 32 bits, `u32`; 0 out of range.
    ///
    /// # Errors
    /// The variable was not declared, or holds something else: bugs.
    pub fn variable_word(&mut self, variable: VariableId, index: Expr) -> Result<Expr> {
        let storage = self.storage(variable)?;
        if storage.element.lanes != 1 || storage.element.scalar.width != 4 {
            return Err(Error::internal("payload of other elements than words"));
        }
        let base = self.variable_pointer(variable, storage);
        let len = self.u32(storage.len);
        let in_range = self.binary(BinaryOperator::Less, index, len);
        let last = self.u32(storage.len - 1);
        let bounded = self.math(MathFunction::Min, &[index, last]);
        let element = self.element_pointer(base, storage, bounded);
        let loaded = self.load(element);
        let word = self.bits_as(loaded, storage.element.scalar.kind, ScalarKind::Uint);
        let zero = self.u32(0);
        Ok(self.select(in_range, word, zero))
    }

    /// Writes the bits of a number of 32 bits and some kind to an element.
    ///
    /// # Errors
    /// The variable was not declared, or is shorter: bugs.
    pub fn fill_variable(&mut self, variable: VariableId, index: u32, value: Expr, kind: ScalarKind) -> Result<()> {
        let storage = self.storage(variable)?;
        if index >= storage.len || storage.element.lanes != 1 || storage.element.scalar.width != 4 {
            return Err(Error::internal(format!("no such word of a variable: {index}")));
        }
        let base = self.variable_pointer(variable, storage);
        let element = if storage.array { self.val(Expression::AccessIndex { base, index }) } else { base };
        let value = self.bits_as(value, kind, storage.element.scalar.kind);
        self.store(element, value);
        Ok(())
    }

    /// Writes an element, or a component of one.
    ///
    /// # Errors
    /// An operand was not emitted, or the variable not declared: bugs.
    pub fn store_variable(
        &mut self,
        variable: VariableId,
        index: Value,
        component: Option<u8>,
        value: Value,
    ) -> Result<()> {
        let storage = self.storage(variable)?;
        let value = self.get_as(value, storage.element.scalar.kind)?;
        match self.element(variable, storage, index)? {
            Element::At(element) => {
                let pointer = self.component_pointer(element, storage, component);
                self.store(pointer, value);
            }
            Element::Nowhere => {}
            Element::Guarded { index, in_range } => {
                let base = self.variable_pointer(variable, storage);
                self.when(in_range, |emitter| {
                    let element = emitter.element_pointer(base, storage, index);
                    let pointer = emitter.component_pointer(element, storage, component);
                    emitter.store(pointer, value);
                });
            }
        }
        Ok(())
    }

    /// An atomic operation on an element; gives its old value.
    ///
    /// # Errors
    /// An operand was not emitted, or the variable not declared: bugs.
    pub fn atomic_variable(
        &mut self,
        op: AtomicOp,
        variable: VariableId,
        index: Value,
        value: Value,
        compare: Option<Value>,
    ) -> Result<Emission> {
        let storage = self.storage(variable)?;
        if !storage.atomic {
            return Err(Error::internal("atomic operation on a variable declared without"));
        }
        let kind = storage.element.scalar.kind;
        let base = self.variable_pointer(variable, storage);
        let memory = |pointer| AtomicMemory { pointer, scalar: storage.element.scalar };
        let expr = match self.element(variable, storage, index)? {
            Element::At(pointer) => self.atomic(memory(pointer), op, value, compare)?,
            Element::Nowhere => self.zero_of(storage.element),
            Element::Guarded { index, in_range } => self.value_when(in_range, storage.element, |emitter| {
                let pointer = emitter.element_pointer(base, storage, index);
                emitter.atomic(memory(pointer), op, value, compare)
            })?,
        };
        Ok(Emission { expr, kind })
    }
}
