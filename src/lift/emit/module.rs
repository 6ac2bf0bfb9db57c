//! What a module has once, and the order in which its functions are emitted.

use std::collections::HashMap;

use naga::{Constant, FunctionArgument, FunctionResult, Handle, Scalar, Span, valid::Capabilities};

use super::{
    Emission, FunctionEmitter,
    expression::Expr,
    function::Shape,
    io::{HelperBuiltin, IoState},
    mesh::MeshState,
    plan::Plan,
    ray_stage::RayStages,
    resources::ResourceState,
    sign::signature_kind,
    stage_state::StageState,
    variables::Storage,
    wave::LaneUse,
};
use crate::{
    Error, ErrorKind, Result, ir,
    lift::{
        Emitted, EmittedResource, Note, Program, ResourceSlot, Target,
        structure::{Tree, structure},
    },
    reflection::{DenormalMode, EntryPointInterface, Stage, StageStateLayout},
};

/// A naga module in the making.
pub(super) struct ModuleEmitter<'a> {
    /// What is emitted.
    pub program: &'a Program,
    /// For which target.
    pub target: &'a Target,
    /// The module so far.
    pub module: naga::Module,
    /// What must be bound to it.
    pub resources: Vec<EmittedResource>,
    /// How its resources are declared.
    pub resource_state: ResourceState,
    /// The private variables of a stage that naga lacks.
    pub stage_state: StageState,
    /// The interface of the entry point that is emitted.
    pub stage_interface: Option<&'a EntryPointInterface>,
    /// Place of the buffer by which such a stage is run.
    pub stage_slot: Option<ResourceSlot>,
    /// Entry points that become ray tracing stages of naga's.
    pub ray_stages: RayStages,
    /// The outputs and the payload of a mesh or amplification shader.
    pub mesh: MeshState,
    /// Functions that are emitted, by [`ir::FunctionId`].
    pub functions: Vec<Option<Handle<naga::Function>>>,
    /// Where the program's variables are, by [`ir::VariableId`].
    pub variables: Vec<Option<Storage>>,
    /// Vectors of constants that exist already.
    pub constants: HashMap<(Shape, Vec<u64>), Handle<Constant>>,
    /// The `bool` that says whether the lane was not discarded, where several functions need it.
    pub alive: Option<Handle<naga::GlobalVariable>>,
    /// Built-in inputs that functions want which are no entry points.
    pub helper_builtins: Vec<HelperBuiltin>,
    /// What a user may want to know.
    pub notes: Vec<Note>,
}

/// One of a program's entry points, chosen to be emitted.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub point: &'a ir::EntryPoint,
    pub interface: &'a EntryPointInterface,
    pub name: &'a str,
}

impl<'a> ModuleEmitter<'a> {
    /// An empty module.
    pub fn new(program: &'a Program, target: &'a Target) -> Self {
        Self {
            program,
            target,
            module: naga::Module::default(),
            resources: Vec::new(),
            resource_state: ResourceState::default(),
            stage_state: StageState::default(),
            stage_interface: None,
            stage_slot: None,
            ray_stages: RayStages::default(),
            mesh: MeshState::default(),
            functions: vec![None; program.ir.functions.len()],
            variables: vec![None; program.ir.variables.len()],
            constants: HashMap::new(),
            alive: None,
            helper_builtins: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Tells the user something, once.
    pub fn note(&mut self, text: impl Into<String>) {
        let note = Note::new(text);
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Emits the program's entry points and everything that they need.
    ///
    /// # Errors
    /// Names what the target cannot express.
    pub fn emit(mut self) -> Result<Emitted> {
        let entries = self.entries()?;
        let roots: Vec<ir::FunctionId> = entries
            .iter()
            .flat_map(|entry| {
                std::iter::once(entry.point.function).chain(entry.point.patch_constant_functions.iter().copied())
            })
            .collect();
        for &entry in &entries {
            let order = call_order(&self.program.ir, &[entry.point.function])?;
            self.choose_ray_stage(entry, &order);
        }
        // A library without entry points is its functions.
        let all: Vec<ir::FunctionId> = (0..self.functions.len() as u32).map(ir::FunctionId).collect();
        let order = call_order(&self.program.ir, if entries.is_empty() { &all } else { &roots })?;
        self.declare_resources(&order)?;
        self.declare_variables(&order, &roots)?;
        let stage = entries.first().map_or(self.program.interface.stage, |entry| run_as(entry.point.stage));
        let lanes = LaneUse::of(&self.program.ir, &order, stage);
        for &id in order.iter().filter(|id| !roots.contains(id)) {
            self.plain_function(id, stage, lanes)?;
        }
        for entry in entries {
            self.entry_point(entry)?;
        }
        let mut resources = self.resources;
        resources.sort_by_key(|resource| resource.slot);
        Ok(Emitted { module: self.module, resources, notes: self.notes })
    }

    /// The entry points that the target asks for.
    fn entries(&self) -> Result<Vec<Entry<'a>>> {
        let program = self.program;
        let all = program.ir.entry_points.iter().zip(&program.interface.entry_points);
        let all = all.map(|(point, interface)| Entry { point, interface, name: &interface.name });
        let Some(wanted) = &self.target.entry else { return Ok(all.collect()) };
        let mut entries: Vec<Entry<'a>> = all.collect();
        if entries.len() > 1 {
            entries.retain(|entry| entry.name == wanted);
        }
        for entry in &mut entries {
            entry.name = "main";
        }
        if entries.is_empty() && !program.ir.entry_points.is_empty() {
            return Err(Error::new(ErrorKind::Mismatch, format!("no entry point of that name: {wanted}")));
        }
        Ok(entries)
    }

    fn entry_point(&mut self, entry: Entry<'a>) -> Result<()> {
        let Entry { point, interface, name } = entry;
        let stage = run_as(point.stage);
        match interface.facts.denormals {
            DenormalMode::Any => {}
            DenormalMode::Preserve => self.note("denormals are to be kept: naga cannot say so, the driver decides"),
            DenormalMode::FlushToZero => {
                self.note("denormals are to be flushed: naga cannot say so, the driver decides")
            }
        }
        let order = call_order(&self.program.ir, &[point.function])?;
        let lanes = LaneUse::of(&self.program.ir, &order, stage);
        let flattened = lanes.flattens(interface);
        let record = self.entry_record(point.function, interface, flattened)?;
        // Each entry point of a library has a state of its own, which its functions are emitted for: two hull shaders may
        // share one of patch constants.
        self.stage_state = StageState::default();
        self.stage_interface = Some(interface);
        for &phase in &point.patch_constant_functions {
            self.functions[phase.index()] = None;
            self.plain_function(phase, stage, lanes)?;
        }
        let Some(record) = record else {
            self.plain_function(point.function, stage, lanes)?;
            let layout = StageStateLayout::of(interface).filter(|_| self.stage_slot.is_some());
            return match layout {
                Some(layout) => self.stage_entry_point(entry, &layout),
                None => {
                    self.note(format!("{stage:?} shader: emitted as a plain function"));
                    Ok(())
                }
            };
        };
        let (mut emitter, tree) = self.function(point.function, stage)?;
        emitter.entry = Some(interface);
        emitter.flattened = flattened;
        emitter.quads = flattened && lanes.derivatives;
        let in_place = |error: Error| error.in_function(name);
        emitter.begin_entry(stage, interface).map_err(in_place)?;
        emitter.share_builtins(&order).map_err(in_place)?;
        let mut function = emitter.finish(&tree, lanes).map_err(in_place)?;
        function.name = Some(name.to_owned());
        let mesh_info = self.mesh_info();
        let has_payload = matches!(stage, Stage::Amplification | Stage::Mesh);
        let incoming_ray_payload = self.incoming_ray_payload(point.function);
        self.module.entry_points.push(naga::EntryPoint {
            name: name.to_owned(),
            stage: record.stage,
            early_depth_test: record.early_depth_test,
            workgroup_size: record.workgroup_size,
            workgroup_size_overrides: None,
            function,
            mesh_info,
            task_payload: self.mesh.payload.filter(|_| has_payload),
            incoming_ray_payload,
        });
        Ok(())
    }

    /// Emits a function that is called, or whose stage naga lacks.
    fn plain_function(&mut self, id: ir::FunctionId, stage: Stage, lanes: LaneUse) -> Result<()> {
        if self.functions[id.index()].is_some() {
            return Ok(());
        }
        let (mut emitter, tree) = self.function(id, stage)?;
        let ir = emitter.ir;
        for &param in &ir.blocks[ir.entry.index()].params {
            let kind = signature_kind(ir.ty(param));
            if ir.ty(param).scalar().is_none() {
                return Err(Error::unsupported("resource as argument of a function").in_function(&*ir.name));
            }
            let shape = emitter.shape(ir.ty(param), kind);
            let ty = emitter.module.numeric(shape.scalar, shape.lanes);
            let index = emitter.function.arguments.len() as u32;
            emitter.function.arguments.push(FunctionArgument {
                name: ir.names.get(&param).cloned(),
                ty,
                binding: None,
            });
            let expr = emitter.pre(naga::Expression::FunctionArgument(index));
            emitter.set(param, Emission { expr, kind });
        }
        if ir.result != ir::Type::Void {
            let shape = emitter.shape(ir.result, signature_kind(ir.result));
            let ty = emitter.module.numeric(shape.scalar, shape.lanes);
            emitter.function.result = Some(FunctionResult { ty, binding: None });
        }
        let function = emitter.finish(&tree, lanes).map_err(|error| error.in_function(&*ir.name))?;
        let handle = self.module.functions.append(function, Span::UNDEFINED);
        self.functions[id.index()] = Some(handle);
        Ok(())
    }

    /// The target has the types of the values that a function uses.
    fn check_types(&mut self, function: &ir::Function, plan: &Plan) -> Result<()> {
        for (value, uses) in function.values.iter().zip(&plan.uses) {
            let (capability, name) = match value.ty.scalar() {
                _ if *uses == 0 => continue,
                Some(ir::Scalar::I64) => (Capabilities::SHADER_INT64, "64-bit integers"),
                Some(ir::Scalar::F64) => (Capabilities::FLOAT64, "64-bit floats"),
                Some(ir::Scalar::F16) => (Capabilities::SHADER_FLOAT16, "16-bit floats"),
                _ => continue,
            };
            if !self.target.capabilities.contains(capability) {
                return Err(Error::unsupported(format!("type that the target lacks: {name}")));
            }
            if capability == Capabilities::SHADER_FLOAT16 {
                // The WGSL writer enables halves where it finds their type; expressions and literals need none.
                self.numeric(Scalar::F16, 1);
            }
        }
        Ok(())
    }

    /// Begins a function: structures it and plans its values.
    fn function(&mut self, id: ir::FunctionId, stage: Stage) -> Result<(FunctionEmitter<'_, 'a>, Tree)> {
        let program = self.program;
        let ir = program
            .ir
            .functions
            .get(id.index())
            .ok_or_else(|| Error::internal(format!("no such function: {}", id.0)))?;
        let count = ir.values.len();
        let tree = structure(ir).map_err(|error| error.in_function(&*ir.name))?;
        let plan = Plan::new(ir, &tree);
        self.check_types(ir, &plan).map_err(|error| error.in_function(&*ir.name))?;
        let emitter = FunctionEmitter {
            module: self,
            id,
            ir,
            function: naga::Function { name: Some(ir.name.clone()), ..Default::default() },
            block: naga::Block::new(),
            values: vec![None; count],
            casts: vec![None; count],
            scope: Vec::new(),
            plan,
            locals: HashMap::new(),
            constants: HashMap::new(),
            flags: Vec::new(),
            variables: HashMap::new(),
            ray_queries: HashMap::new(),
            alive: None,
            stage,
            entry: None,
            io: IoState::default(),
            flattened: false,
            quads: false,
        };
        Ok((emitter, tree))
    }
}

impl FunctionEmitter<'_, '_> {
    /// Emits the body, and gives the function.
    fn finish(mut self, tree: &Tree, lanes: LaneUse) -> Result<naga::Function> {
        self.prepare_discard(lanes);
        self.body(tree)?;
        self.function.body = self.block;
        Ok(self.function)
    }

    /// Calls another function.
    ///
    /// # Errors
    /// The callee was not emitted, or takes something else: bugs.
    pub fn call(&mut self, id: ir::FunctionId, args: &[ir::Value], ty: ir::Type) -> Result<Option<Emission>> {
        let function = self.module.functions.get(id.index()).copied().flatten();
        let function = function.ok_or_else(|| Error::internal(format!("call of a function not emitted: {}", id.0)))?;
        let arguments: Vec<Expr> =
            args.iter().map(|&arg| self.get_as(arg, signature_kind(self.ir.ty(arg)))).collect::<Result<_>>()?;
        let result = (ty != ir::Type::Void).then(|| self.pre(naga::Expression::CallResult(function)));
        self.statement(naga::Statement::Call { function, arguments, result });
        Ok(result.map(|expr| Emission { expr, kind: signature_kind(ty) }))
    }
}

/// The stage as which naga has a stage: a node of a work graph is a compute shader.
fn run_as(stage: Stage) -> Stage {
    match stage {
        Stage::Node => Stage::Compute,
        stage => stage,
    }
}

/// The functions that `roots` reach, callees before callers.
fn call_order(module: &ir::Module, roots: &[ir::FunctionId]) -> Result<Vec<ir::FunctionId>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let callees = |id: ir::FunctionId| -> Result<Vec<ir::FunctionId>> {
        let function =
            module.functions.get(id.index()).ok_or_else(|| Error::internal(format!("no such function: {}", id.0)))?;
        let insts = function.blocks.iter().flat_map(|block| &block.insts);
        Ok(insts
            .filter_map(|&value| match function.op(value) {
                Some(&ir::Op::Call(callee, _)) => Some(callee),
                _ => None,
            })
            .collect())
    };
    let mut states = vec![State::New; module.functions.len()];
    let mut order = Vec::new();
    for &root in roots {
        let mut stack = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(id) = next.take() {
                match states.get(id.index()) {
                    Some(State::Open) => {
                        let name = module.functions[id.index()].name.clone();
                        return Err(Error::unsupported("function that calls itself").in_function(name));
                    }
                    Some(State::Done) => {}
                    _ => {
                        let callees = callees(id)?;
                        states[id.index()] = State::Open;
                        stack.push((id, callees));
                    }
                }
            }
            match stack.last_mut() {
                None => break,
                Some((id, callees)) => match callees.pop() {
                    Some(callee) => next = Some(callee),
                    None => {
                        states[id.index()] = State::Done;
                        order.push(*id);
                        stack.pop();
                    }
                },
            }
        }
    }
    Ok(order)
}
