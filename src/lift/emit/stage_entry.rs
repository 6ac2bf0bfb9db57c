//! The compute shader by which a stage that naga lacks is run: a thread takes a state from a buffer into the private
//! variables of [`super::stage_state`], runs the stage, and puts what it wrote back. The layout of a state is
//! [`StageStateLayout`].

use naga::{
    AddressSpace, BinaryOperator, Binding, Block, BuiltIn, Expression, Function, FunctionArgument, GlobalVariable,
    Handle, Literal, LocalVariable, MemoryDecorations, Range, ResourceBinding, Scalar, ShaderStage, Span, Statement,
    StorageAccess, StructMember, Type, TypeInner,
};

use super::{ModuleEmitter, expression::Expr, module::Entry};
use crate::{
    Error, Result,
    ir::{self, BindingId, SignatureKind},
    lift::{BindingRole, EmittedResource, EmittedType},
    reflection::{
        STAGE_ROW, STAGE_SPACE, STAGE_STATES, STAGE_THREADS, Stage, StageRegisters, StageStateLayout, SystemValue,
    },
};

/// The states' type, and where its members are.
struct StateType {
    states: Handle<Type>,
    inputs: u32,
    patch_constants: Option<u32>,
    outputs: u32,
    strips: Option<u32>,
}

/// Name of the local variables that count.
const INDEX: &str = "stage_index";

/// Members of every state.
const VALUES: u32 = 0;
const DOMAIN_LOCATION: u32 = 1;

impl ModuleEmitter<'_> {
    /// The binding of the states, if the program has one.
    pub(super) fn stage_binding(&self) -> Option<BindingId> {
        let bindings = &self.program.interface.bindings;
        let index = bindings.iter().position(|binding| binding.space == STAGE_SPACE)?;
        Some(BindingId(index as u32))
    }

    /// The entry point that runs the stage over states. The functions of the stage have been emitted.
    ///
    /// # Errors
    /// A function is missing, or the states have no place: bugs.
    pub fn stage_entry_point(&mut self, entry: Entry<'_>, layout: &StageStateLayout) -> Result<()> {
        let ty = self.state_type(layout);
        let states = self.declare_states(&ty, layout.size)?;
        let function = |id: ir::FunctionId| {
            let function = self.functions.get(id.index()).copied().flatten();
            function.ok_or_else(|| Error::internal(format!("function of a stage not emitted: {}", id.0)))
        };
        let main = function(entry.point.function)?;
        let phases = entry.point.patch_constant_functions.iter().map(|&id| function(id)).collect::<Result<Vec<_>>>()?;

        let id = FunctionArgument {
            name: Some("id".to_owned()),
            ty: self.numeric(Scalar::U32, 3),
            binding: Some(Binding::BuiltIn(BuiltIn::GlobalInvocationId)),
        };
        let word = self.numeric(Scalar::U32, 1);
        let mut code = Code { function: Function::default(), block: Block::new(), word };
        code.function.arguments.push(id);
        code.function.name = Some(entry.name.to_owned());
        let id = code.expression(Expression::FunctionArgument(0));
        let number = code.value(Expression::AccessIndex { base: id, index: 0 });
        let states = code.expression(Expression::GlobalVariable(states));
        let count = code.value(Expression::ArrayLength(states));
        let beyond = code.binary(BinaryOperator::GreaterEqual, number, count);
        let mut leave = Block::new();
        leave.push(Statement::Return { value: None }, Span::UNDEFINED);
        code.statement(Statement::If { condition: beyond, accept: leave, reject: Block::new() });
        let state = code.value(Expression::Access { base: states, index: number });

        self.take_inputs(&mut code, state, &ty, layout, entry.interface.stage);
        if entry.interface.stage == Stage::Hull {
            let points = layout.outputs.vertices.unwrap_or(1);
            let points = code.literal(points);
            let control_point = self.stage_state.values.get(&SystemValue::OutputControlPointId).copied();
            code.count_to(points, |code, point| {
                if let Some(global) = control_point {
                    let pointer = code.expression(Expression::GlobalVariable(global));
                    code.statement(Statement::Store { pointer, value: point });
                }
                code.call(main);
            });
            phases.into_iter().for_each(|phase| code.call(phase));
        } else {
            code.call(main);
        }
        self.give_outputs(&mut code, state, &ty, layout, entry.interface.stage);

        let mut function = code.function;
        function.body = code.block;
        self.module.entry_points.push(naga::EntryPoint {
            name: entry.name.to_owned(),
            stage: ShaderStage::Compute,
            early_depth_test: None,
            workgroup_size: [STAGE_THREADS, 1, 1],
            workgroup_size_overrides: None,
            function,
            mesh_info: None,
            task_payload: None,
            incoming_ray_payload: None,
        });
        self.note(format!("{:?} shader: emitted as a compute shader over {STAGE_STATES}", entry.interface.stage));
        Ok(())
    }

    /// The structure of a state, and a buffer of any number of them.
    fn state_type(&mut self, layout: &StageStateLayout) -> StateType {
        let row = self.numeric(Scalar::U32, 4);
        let location = self.numeric(Scalar::F32, 4);
        let mut members = Vec::new();
        let mut member = |name: &str, ty: Handle<Type>, offset: u32| {
            members.push(StructMember { name: Some(name.to_owned()), ty, binding: None, offset });
            members.len() as u32 - 1
        };
        member("values", row, VALUES * STAGE_ROW);
        member("domain_location", location, DOMAIN_LOCATION * STAGE_ROW);
        let inputs = member("inputs", self.register_types(&layout.inputs).0, layout.inputs.offset);
        let patch_constants = layout
            .patch_constants
            .as_ref()
            .map(|constants| member("patch_constants", self.register_types(constants).0, constants.offset));
        let outputs = member("outputs", self.register_types(&layout.outputs).0, layout.outputs.offset);
        let strips = layout.strips.map(|(offset, count)| {
            let word = self.numeric(Scalar::U32, 1);
            member("strips", self.array(word, 4, count), offset)
        });
        let state =
            Type { name: Some("StageState".to_owned()), inner: TypeInner::Struct { members, span: layout.size } };
        let base = self.module.types.insert(state, Span::UNDEFINED);
        let states = self.ty(TypeInner::Array { base, size: naga::ArraySize::Dynamic, stride: layout.size });
        StateType { states, inputs, patch_constants, outputs, strips }
    }

    /// The buffer of states.
    fn declare_states(&mut self, ty: &StateType, size: u32) -> Result<Handle<GlobalVariable>> {
        let place = self.stage_binding().zip(self.stage_slot);
        let (binding, slot) = place.ok_or_else(|| Error::internal("states of a stage without a place"))?;
        let resource = EmittedResource {
            binding,
            role: BindingRole::Resource,
            slot,
            ty: EmittedType::Storage { read_only: false, element: size },
            count: None,
        };
        // Entry points of a library share the place.
        if !self.resources.contains(&resource) {
            self.resources.push(resource);
        }
        let global = GlobalVariable {
            name: Some(STAGE_STATES.to_owned()),
            space: AddressSpace::Storage { access: StorageAccess::LOAD | StorageAccess::STORE },
            binding: Some(ResourceBinding { group: slot.group, binding: slot.binding }),
            ty: ty.states,
            init: None,
            memory_decorations: MemoryDecorations::empty(),
        };
        Ok(self.module.global_variables.append(global, Span::UNDEFINED))
    }

    /// Fills the private variables that the stage reads.
    fn take_inputs(&self, code: &mut Code, state: Expr, ty: &StateType, layout: &StageStateLayout, stage: Stage) {
        let places = [
            (SystemValue::PrimitiveId, VALUES, Some(0)),
            (SystemValue::GsInstanceId, VALUES, Some(1)),
            (SystemValue::ViewId, VALUES, Some(2)),
            (SystemValue::DomainLocation, DOMAIN_LOCATION, None),
        ];
        for (value, member, component) in places {
            let Some(&global) = self.stage_state.values.get(&value) else { continue };
            let row = code.value(Expression::AccessIndex { base: state, index: member });
            let value = match component {
                Some(index) => {
                    let pointer = code.value(Expression::AccessIndex { base: row, index });
                    code.value(Expression::Load { pointer })
                }
                None => {
                    use naga::SwizzleComponent::{X, Y, Z};
                    let vector = code.value(Expression::Load { pointer: row });
                    code.value(Expression::Swizzle { size: naga::VectorSize::Tri, vector, pattern: [X, Y, Z, X] })
                }
            };
            let pointer = code.expression(Expression::GlobalVariable(global));
            code.statement(Statement::Store { pointer, value });
        }
        let patch = ty.patch_constants.zip(layout.patch_constants.as_ref()).filter(|_| stage == Stage::Domain);
        let signatures = [
            Some((SignatureKind::Input, ty.inputs, &layout.inputs)),
            patch.map(|(member, registers)| (SignatureKind::PatchConstant, member, registers)),
        ];
        for (kind, member, registers) in signatures.into_iter().flatten() {
            let Some(variable) = self.stage_state.signatures.get(&kind) else { continue };
            let from = code.value(Expression::AccessIndex { base: state, index: member });
            let to = code.expression(Expression::GlobalVariable(variable.global));
            code.copy_registers(from, to, registers, None);
        }
    }

    /// Puts what the stage wrote into its state.
    fn give_outputs(&self, code: &mut Code, state: Expr, ty: &StateType, layout: &StageStateLayout, stage: Stage) {
        if stage == Stage::Geometry {
            let Some(emitted) = self.stage_state.emitted else {
                // It emits nothing: whatever the host left there, no vertex is its.
                let zero = code.literal(0);
                return code.store_count(state, zero);
            };
            let count = code.expression(Expression::GlobalVariable(emitted.count));
            let count = code.value(Expression::Load { pointer: count });
            code.store_count(state, count);
            let from = code.expression(Expression::GlobalVariable(emitted.vertices));
            let to = code.value(Expression::AccessIndex { base: state, index: ty.outputs });
            code.copy_registers(from, to, &layout.outputs, Some(count));
            if let Some(member) = ty.strips {
                let from = code.expression(Expression::GlobalVariable(emitted.strips));
                let to = code.value(Expression::AccessIndex { base: state, index: member });
                code.count_to(count, |code, index| code.copy_element(from, to, index));
            }
            return;
        }
        let patch = ty.patch_constants.zip(layout.patch_constants.as_ref()).filter(|_| stage == Stage::Hull);
        let signatures = [
            Some((SignatureKind::Output, ty.outputs, &layout.outputs)),
            patch.map(|(member, registers)| (SignatureKind::PatchConstant, member, registers)),
        ];
        for (kind, member, registers) in signatures.into_iter().flatten() {
            let Some(variable) = self.stage_state.signatures.get(&kind) else { continue };
            let from = code.expression(Expression::GlobalVariable(variable.global));
            let to = code.value(Expression::AccessIndex { base: state, index: member });
            code.copy_registers(from, to, registers, None);
        }
    }
}

/// A naga function in the making that has no IR.
struct Code {
    function: Function,
    block: Block,
    /// `u32`.
    word: Handle<Type>,
}

impl Code {
    fn statement(&mut self, statement: Statement) {
        self.block.push(statement, Span::UNDEFINED);
    }

    /// An expression that needs no statement to be evaluated.
    fn expression(&mut self, expression: Expression) -> Expr {
        self.function.expressions.append(expression, Span::UNDEFINED)
    }

    /// An expression that is evaluated here.
    fn value(&mut self, expression: Expression) -> Expr {
        let value = self.expression(expression);
        self.statement(Statement::Emit(Range::new_from_bounds(value, value)));
        value
    }

    fn literal(&mut self, value: u32) -> Expr {
        self.expression(Expression::Literal(Literal::U32(value)))
    }

    fn binary(&mut self, op: BinaryOperator, left: Expr, right: Expr) -> Expr {
        self.value(Expression::Binary { op, left, right })
    }

    fn call(&mut self, function: Handle<Function>) {
        self.statement(Statement::Call { function, arguments: Vec::new(), result: None });
    }

    /// `for (index = 0; index < limit; index++) { body(index) }`
    fn count_to(&mut self, limit: Expr, body: impl FnOnce(&mut Self, Expr)) {
        let local = LocalVariable { name: Some(INDEX.to_owned()), ty: self.word, init: None };
        let local = self.function.local_variables.append(local, Span::UNDEFINED);
        let pointer = self.expression(Expression::LocalVariable(local));
        let value = self.literal(0);
        self.statement(Statement::Store { pointer, value });
        let outer = std::mem::take(&mut self.block);

        let index = self.value(Expression::Load { pointer });
        let ended = self.binary(BinaryOperator::GreaterEqual, index, limit);
        let mut leave = Block::new();
        leave.push(Statement::Break, Span::UNDEFINED);
        self.statement(Statement::If { condition: ended, accept: leave, reject: Block::new() });
        body(self, index);
        let inner = std::mem::take(&mut self.block);

        let index = self.value(Expression::Load { pointer });
        let one = self.literal(1);
        let value = self.binary(BinaryOperator::Add, index, one);
        self.statement(Statement::Store { pointer, value });
        let continuing = std::mem::replace(&mut self.block, outer);
        self.statement(Statement::Loop { body: inner, continuing, break_if: None });
    }

    /// `to[index] = from[index]`
    fn copy_element(&mut self, from: Expr, to: Expr, index: Expr) {
        let from = self.value(Expression::Access { base: from, index });
        let value = self.value(Expression::Load { pointer: from });
        let pointer = self.value(Expression::Access { base: to, index });
        self.statement(Statement::Store { pointer, value });
    }

    /// Copies registers one by one: a large array is no value that drivers like. Of so many vertices, or of all.
    fn copy_registers(&mut self, from: Expr, to: Expr, registers: &StageRegisters, vertices: Option<Expr>) {
        let count = self.literal(registers.registers);
        let Some(all) = registers.vertices else {
            return self.count_to(count, |code, index| code.copy_element(from, to, index));
        };
        let vertices = vertices.unwrap_or_else(|| self.literal(all));
        self.count_to(vertices, |code, vertex| {
            let from = code.value(Expression::Access { base: from, index: vertex });
            let to = code.value(Expression::Access { base: to, index: vertex });
            code.count_to(count, |code, index| code.copy_element(from, to, index));
        });
    }

    /// Says how many vertices were emitted.
    fn store_count(&mut self, state: Expr, value: Expr) {
        let row = self.value(Expression::AccessIndex { base: state, index: VALUES });
        let pointer = self.value(Expression::AccessIndex { base: row, index: 3 });
        self.statement(Statement::Store { pointer, value });
    }
}
