//! From LLVM modules to IR.
//!
//! [`ModuleLowering`] holds what all functions share; [`FunctionLowering`] lowers one, in `impl` files by subject:
//! `block` (the graph and phis), `instruction` (LLVM's instructions), `constant`, `memory` (variables and addresses),
//! `descriptor` (resources as numbers), and [`op`](super::op) (DXIL's operations).

mod block;
mod constant;
mod conversion;
mod descriptor;
mod function;
mod instruction;
mod memory;
mod number;
mod record;
mod value;

pub use descriptor::{Descriptor, HEAP, Handle, resource_class};
pub use function::FunctionLowering;
pub use memory::{ChosenPointer, Pointer};
pub use record::{NOWHERE, RecordPointer};
pub use value::{Lowered, MAX_SCALARS};

use std::collections::{HashMap, HashSet, VecDeque};

use self::{
    descriptor::Source,
    memory::{Roots, Storage},
    record::RecordLayout,
};
use super::{module as llvm, names::LocalNames, reflect};
use crate::{
    Error, ErrorKind, Result,
    ir::{self, BindingId, Scalar, Type},
    lift::Note,
    reflection::{Interface, ResourceClass, Stage},
};

/// What the functions of a module share while they are lowered.
pub struct ModuleLowering<'a> {
    /// What is lowered.
    pub module: &'a llvm::Module,
    /// Its interface.
    pub interface: &'a Interface,
    /// Names of its locals.
    pub names: &'a LocalNames,
    /// Halves and 16-bit integers are what they are; else they are minimum precision and become 32 bits wide.
    pub native_16_bit: bool,
    /// What it becomes.
    pub ir: ir::Module,
    /// What was lowered as an approximation.
    pub notes: Vec<Note>,
    /// Functions that have a place in `ir`.
    functions: HashMap<llvm::FunctionId, ir::FunctionId>,
    /// Of these, the ones that are not lowered yet.
    queue: VecDeque<llvm::FunctionId>,
    /// Entry point (its index) that each function belongs to, if it is one of an entry point's own.
    owners: HashMap<llvm::FunctionId, usize>,
    /// Bindings by class and range id.
    ranges: HashMap<(ResourceClass, u32), BindingId>,
    /// Bindings of descriptor heaps.
    heap: HashMap<reflect::HeapProperties, BindingId>,
    /// Global variables that stand for resources, in libraries.
    resources: HashMap<llvm::GlobalId, BindingId>,
    /// Types of resource objects: what libraries before Shader Model 6.6 make handles of.
    objects: HashSet<llvm::TypeId>,
    /// Resources that are handed on as numbers somewhere, once it is asked for.
    handed_on: Option<Vec<Source>>,
    /// Variables of global variables.
    storages: HashMap<llvm::GlobalId, Storage>,
    /// Variables that are shared with whoever runs a ray tracing stage, by name.
    interface_variables: HashMap<&'static str, ir::VariableId>,
    /// Functions without contents that stand for what whoever runs a ray tracing stage does, by name.
    callbacks: HashMap<&'static str, ir::FunctionId>,
    /// Variables of other uses, by name.
    named_variables: HashMap<String, ir::VariableId>,
    /// How types lie in records of work graphs, once it is asked for.
    record_layout: Option<RecordLayout>,
    /// Variables of what helper functions' parameters point to, by function and number.
    parameter_storages: HashMap<(llvm::FunctionId, u32), Storage>,
    /// Parameters that lead to what functions write, by function.
    written_parameters: HashMap<llvm::FunctionId, HashSet<u32>>,
    /// Variables of what functions return that is no number or vector.
    result_storages: HashMap<llvm::FunctionId, Storage>,
    /// Functions of a library that others call: what their parameters point to is shared with these.
    exports: HashSet<llvm::FunctionId>,
    /// Elements of all variables.
    elements: u64,
    /// What addresses lead to.
    roots: Roots,
}

/// Lowers the entry points of a module that `interface` lists, and functions that it exports, with notes on what is only
/// approximately right.
///
/// # Errors
/// Names the function and instruction that has no lowering.
pub fn lower(
    module: &llvm::Module,
    interface: &Interface,
    exports: &[llvm::FunctionId],
    names: &LocalNames,
) -> Result<(ir::Module, Vec<Note>)> {
    let stage = interface.stage;
    let records = reflect::EntryRecord::all(module, stage)?;
    let mut this = ModuleLowering {
        module,
        interface,
        names,
        native_16_bit: reflect::is_native_16_bit(module),
        ir: ir::Module::default(),
        notes: Vec::new(),
        functions: HashMap::new(),
        queue: VecDeque::new(),
        owners: HashMap::new(),
        ranges: HashMap::new(),
        heap: HashMap::new(),
        resources: HashMap::new(),
        objects: descriptor::object_types(module),
        handed_on: None,
        storages: HashMap::new(),
        interface_variables: HashMap::new(),
        callbacks: HashMap::new(),
        named_variables: HashMap::new(),
        record_layout: None,
        parameter_storages: HashMap::new(),
        written_parameters: HashMap::new(),
        result_storages: HashMap::new(),
        exports: exports.iter().copied().collect(),
        elements: 0,
        roots: Roots::new(module),
    };
    this.read_ranges()?;
    for (index, entry) in interface.entry_points.iter().enumerate() {
        let record = records.iter().find(|record| record.name == entry.name && record.stage == entry.stage);
        let record = record.ok_or_else(|| Error::internal(format!("no record of the entry point: {}", entry.name)))?;
        let mut own = |function: llvm::FunctionId| {
            let ty = this.module.functions[function.index()].ty;
            match this.module.types.get(ty) {
                Some(llvm::Type::Function { params, result, .. })
                    if params.len() <= parameters(entry.stage).len()
                        && this.module.types.get(*result) == Some(&llvm::Type::Void) => {}
                _ => return Err(Error::unsupported(format!("entry point with parameters: {:?}", entry.stage))),
            }
            this.owners.entry(function).or_insert(index);
            this.function(function)
        };
        let function = own(record.function)?;
        let patch_constant_functions = record.patch_constant_function.map(own).transpose()?.into_iter().collect();
        this.ir.entry_points.push(ir::EntryPoint { stage: entry.stage, function, patch_constant_functions });
    }
    let (open, inlined): (Vec<_>, Vec<_>) = exports.iter().partition(|export| !this.takes_resources(**export));
    for &export in inlined {
        let what = "function with resources as parameters, which exists for those who inline it";
        if open.is_empty() {
            return Err(Error::unsupported(what).in_function(this.name(export)));
        }
        this.note(&format!("{}: left out: a {what}", this.name(export)));
    }
    for &export in open {
        this.function(export).map_err(|error| error.in_function(this.name(export)))?;
    }
    while let Some(function) = this.queue.pop_front() {
        this.lower_function(function).map_err(|error| error.in_function(this.name(function)))?;
    }
    this.reject_recursion()?;
    Ok((this.ir, this.notes))
}

/// Parameters that entry points of a stage may have: addresses of what the pipeline hands over.
fn parameters(stage: Stage) -> &'static [&'static str] {
    match stage {
        Stage::ClosestHit | Stage::AnyHit => &["payload", "attributes"],
        Stage::Miss => &["payload"],
        Stage::Callable => &["parameter"],
        _ => &[],
    }
}

impl<'a> ModuleLowering<'a> {
    /// The place of a function in the IR, which it gets with its first use.
    pub fn function(&mut self, function: llvm::FunctionId) -> Result<ir::FunctionId> {
        if let Some(&id) = self.functions.get(&function) {
            return Ok(id);
        }
        let data = &self.module.functions[function.index()];
        let Some(llvm::Type::Function { result, params, .. }) = self.module.types.get(data.ty) else {
            return Err(Error::internal("function of no function type"));
        };
        let id = ir::FunctionId(self.ir.functions.len() as u32);
        let mut lowered = ir::Function::new(self.name(function), self.result_type(*result)?);
        if data.body.is_some() {
            self.queue.push_back(function);
        } else {
            self.leave_open(&mut lowered, params)?;
        }
        self.ir.functions.push(lowered);
        self.functions.insert(function, id);
        Ok(id)
    }

    /// Gives a function that another library defines parameters, and no contents: it returns 0. Whoever links the
    /// libraries gives it its contents.
    fn leave_open(&mut self, function: &mut ir::Function, params: &[llvm::TypeId]) -> Result<()> {
        if self.interface.stage != Stage::Library {
            return Err(Error::malformed(format!("function without a body: {}", function.name)));
        }
        self.note(&format!("{}: a function without contents, which another library defines", function.name));
        let entry = function.entry;
        for &param in params {
            match self.module.types.get(param) {
                Some(llvm::Type::Pointer { space: record::RECORD_SPACE, .. }) => {
                    function.add_param(entry, Type::I32);
                }
                // See `parameter_storage`.
                Some(llvm::Type::Pointer { .. }) => {}
                _ => {
                    for scalar in self.value_types(param)? {
                        function.add_param(entry, Type::Scalar(scalar));
                    }
                }
            }
        }
        let result = function.result;
        let value = (result != Type::Void).then(|| function.zero(result));
        function.blocks[entry.index()].terminator = ir::Terminator::Return(value);
        Ok(())
    }

    /// The function without contents that stands for what whoever runs a ray tracing stage does.
    pub fn callback(&mut self, name: &'static str) -> ir::FunctionId {
        let functions = &mut self.ir.functions;
        *self.callbacks.entry(name).or_insert_with(|| {
            let mut function = ir::Function::new(name, Type::Void);
            function.blocks[0].terminator = ir::Terminator::Return(None);
            functions.push(function);
            ir::FunctionId(functions.len() as u32 - 1)
        })
    }

    /// Notes an approximation, once.
    pub fn note(&mut self, text: &str) {
        if self.notes.iter().all(|note| note.text != text) {
            self.notes.push(Note::new(text));
        }
    }

    fn name(&self, function: llvm::FunctionId) -> String {
        reflect::undecorated(&self.module.functions[function.index()].name).to_owned()
    }

    /// Type that a function of the IR returns for one of LLVM's: none for structures and arrays that are no vector, which
    /// go through [`memory`].
    fn result_type(&self, ty: llvm::TypeId) -> Result<Type> {
        let scalars = self.value_types(ty)?;
        Ok(match scalars.as_slice() {
            // Targets may have pairs of words for 64 bits: four words are a vector.
            [scalar, rest @ ..]
                if rest.len() < if scalar.bits() == 64 { 2 } else { 4 } && rest.iter().all(|other| other == scalar) =>
            {
                Type::new(*scalar, scalars.len() as u8)
            }
            _ => Type::Void,
        })
    }

    fn lower_function(&mut self, function: llvm::FunctionId) -> Result<()> {
        let id = self.functions[&function];
        let owner = self.owners.get(&function).copied();
        let placeholder = ir::Function::new(String::new(), Type::Void);
        let target = std::mem::replace(&mut self.ir.functions[id.index()], placeholder);
        let module = self.module;
        let data = &module.functions[function.index()];
        let body = data.body.as_ref().ok_or_else(|| Error::internal("function without a body"))?;
        let names = self.names.in_function(module, data);
        let lowered = FunctionLowering::new(self, function, body, target, owner, names).lower(data)?;
        self.ir.functions[id.index()] = lowered;
        Ok(())
    }

    /// Maps range ids and global variables of `dx.resources` to bindings.
    fn read_ranges(&mut self) -> Result<()> {
        for (number, properties) in (0..).zip(reflect::heap_kinds(self.module)?) {
            let same = |binding: &crate::reflection::Binding| {
                binding.is_heap() && binding.space == crate::reflection::HEAP_SPACE + number
            };
            let binding = self.interface.bindings.iter().position(same);
            let binding = binding.ok_or_else(|| Error::internal("the interface lacks a descriptor heap"))?;
            self.heap.insert(properties, BindingId(binding as u32));
        }
        let Some(resources) = self.module.named("dx.resources").next() else { return Ok(()) };
        let mut position = 0;
        for (list, class) in reflect::CLASSES.into_iter().enumerate() {
            for node in resources.nodes(list) {
                let record = reflect::RangeRecord::read(&node)?;
                let matches = |binding: &crate::reflection::Binding| {
                    binding.class == class && binding.space == record.space && binding.register == record.lower_bound
                };
                let bindings = &self.interface.bindings;
                let binding = match bindings.get(position) {
                    Some(binding) if matches(binding) => Some(BindingId(position as u32)),
                    _ => bindings.iter().position(matches).map(|index| BindingId(index as u32)),
                };
                position += 1;
                let Some(binding) = binding else {
                    return Err(Error::internal("the interface lacks a resource of the module"));
                };
                self.ranges.insert((class, record.id), binding);
                if let Some(llvm::ValueDef::Global(global)) =
                    record.variable.and_then(|value| self.without_casts(value))
                {
                    self.resources.insert(*global, binding);
                }
            }
        }
        Ok(())
    }

    /// What a value is, without the conversions around it.
    fn without_casts(&self, mut value: llvm::ValueId) -> Option<&'a llvm::ValueDef> {
        // Constants can refer to each other in circles.
        for _ in 0..16 {
            match &self.module.values.get(value.index())?.def {
                llvm::ValueDef::Constant(llvm::Constant::Expression(llvm::Expression::Cast(_, inner))) => {
                    value = *inner;
                }
                def => return Some(def),
            }
        }
        None
    }

    /// The binding of a range id.
    pub fn range(&self, class: ResourceClass, id: u32) -> Result<BindingId> {
        let binding = self.ranges.get(&(class, id)).copied();
        binding.ok_or_else(|| Error::malformed(format!("handle of no declared resource: {class:?} {id}")))
    }

    /// The binding of a kind of resources of a descriptor heap.
    pub fn heap_binding(&self, properties: reflect::HeapProperties) -> Result<BindingId> {
        let binding = self.heap.get(&properties).copied();
        binding.ok_or_else(|| Error::unsupported("descriptor of a heap of a kind that is not constant"))
    }

    /// The binding of a range of registers.
    pub fn binding(&self, class: ResourceClass, space: u32, lower_bound: u32, upper_bound: u32) -> Result<BindingId> {
        let same = |binding: &crate::reflection::Binding| {
            let upper = binding.count.map_or(u32::MAX, |count| binding.register.wrapping_add(count).wrapping_sub(1));
            binding.class == class && binding.space == space && binding.register == lower_bound && upper == upper_bound
        };
        let exact = self.interface.bindings.iter().position(same).map(|index| BindingId(index as u32));
        let binding = exact.or_else(|| self.interface.binding_at(class, space, lower_bound));
        binding.ok_or_else(|| {
            Error::malformed(format!("handle of no declared resource: {class:?} {lower_bound}, space {space}"))
        })
    }

    /// Type that a scalar of LLVM becomes.
    pub fn scalar(&self, ty: llvm::TypeId) -> Result<Scalar> {
        Ok(match self.module.types.get(ty) {
            Some(llvm::Type::Integer(1)) => Scalar::Bool,
            Some(llvm::Type::Integer(16)) if self.native_16_bit => Scalar::I16,
            Some(llvm::Type::Integer(8 | 16 | 32)) => Scalar::I32,
            Some(llvm::Type::Integer(64)) => Scalar::I64,
            Some(llvm::Type::Half) if self.native_16_bit => Scalar::F16,
            Some(llvm::Type::Half | llvm::Type::Float) => Scalar::F32,
            Some(llvm::Type::Double) => Scalar::F64,
            Some(llvm::Type::Integer(bits)) => {
                return Err(Error::unsupported(format!("integer of another width: {bits} bits")));
            }
            Some(llvm::Type::Pointer { .. }) => return Err(Error::unsupported("pointer as a value")),
            // See `descriptor`, `op::node` and `op::hit_object`.
            Some(ty) if ty.opaque_words().is_some() => Scalar::I32,
            ty => return Err(Error::unsupported(format!("type of a value: {ty:?}"))),
        })
    }

    /// Types of the scalars of a value, in order.
    pub fn scalar_types(&self, ty: llvm::TypeId) -> Result<Vec<Scalar>> {
        if self.module.types.scalars(ty) > MAX_SCALARS {
            return Err(Error::unsupported("value of very many numbers"));
        }
        let mut scalars = Vec::new();
        self.push_scalar_types(ty, &mut scalars)?;
        Ok(scalars)
    }

    /// Types of the scalars that stand for a value of the type, where it is no part of another: of resource objects those
    /// of a descriptor.
    fn value_types(&self, ty: llvm::TypeId) -> Result<Vec<Scalar>> {
        if self.is_resource(ty) { Ok(vec![Scalar::I32; 2]) } else { self.scalar_types(ty) }
    }

    fn push_scalar_types(&self, ty: llvm::TypeId, scalars: &mut Vec<Scalar>) -> Result<()> {
        // A type without scalars may still have very many elements.
        if self.module.types.scalars(ty) == 0 {
            return Ok(());
        }
        match self.module.types.get(ty) {
            Some(llvm::Type::Array { element, len }) => {
                for _ in 0..*len {
                    self.push_scalar_types(*element, scalars)?;
                }
            }
            Some(llvm::Type::Vector { element, len }) => {
                for _ in 0..*len {
                    self.push_scalar_types(*element, scalars)?;
                }
            }
            Some(ty) if ty.opaque_words().is_some() => {
                scalars.extend((0..ty.opaque_words().unwrap_or(0)).map(|_| Scalar::I32));
            }
            Some(llvm::Type::Struct { fields, .. }) => {
                for field in fields {
                    self.push_scalar_types(*field, scalars)?;
                }
            }
            _ => scalars.push(self.scalar(ty)?),
        }
        Ok(())
    }

    /// Rejects functions that call themselves, on whatever way: neither Direct3D nor naga knows recursion.
    fn reject_recursion(&self) -> Result<()> {
        let callees = |function: &ir::Function| {
            let mut callees = Vec::new();
            for &value in function.blocks.iter().flat_map(|block| &block.insts) {
                if let Some(ir::Op::Call(callee, _)) = function.op(value) {
                    callees.push(callee.index());
                }
            }
            callees
        };
        let graph: Vec<Vec<usize>> = self.ir.functions.iter().map(callees).collect();
        // Functions without callers left are taken away, until none is left or all that are left call each other.
        let mut callers = vec![0usize; graph.len()];
        for &callee in graph.iter().flatten() {
            callers[callee] += 1;
        }
        let mut free: Vec<usize> = (0..graph.len()).filter(|&index| callers[index] == 0).collect();
        let mut taken = 0;
        while let Some(index) = free.pop() {
            taken += 1;
            for &callee in &graph[index] {
                callers[callee] -= 1;
                if callers[callee] == 0 {
                    free.push(callee);
                }
            }
        }
        if taken < graph.len() {
            return Err(Error::new(ErrorKind::Malformed, "functions call themselves"));
        }
        Ok(())
    }
}
