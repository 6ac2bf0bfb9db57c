//! Stages that naga lacks: geometry, hull and domain shaders become plain functions. What the pipeline would hand
//! them, and what they would hand on, are private variables, which [`super::stage_entry`] fills before and takes after.
//!
//! Registers are `vec4<u32>`, whatever their elements hold. A geometry shader's vertices are kept one after another with
//! a word for each: the stream in bits 0 and 1, and bit 2 if the vertex joins the strip before it.
//!
//! Ray tracing stages that are no stages of naga's ([`super::ray_stage`]) need none of this: they have no signatures, and
//! what they share with the pipeline are variables of their program already, see
//! [`VariableSpace::Interface`](ir::VariableSpace::Interface) and `dxil/op/ray.rs`.

use std::{collections::HashMap, num::NonZeroU32};

use naga::{
    AddressSpace, ArraySize, BinaryOperator, Expression, GlobalVariable, Handle, MemoryDecorations, Scalar, ScalarKind,
    Span, Type, TypeInner,
};

use super::{Emission, FunctionEmitter, ModuleEmitter, expression::Expr, input::element_of, types::vector_size};
use crate::{
    Error, Result,
    ir::{self, ElementId, SignatureKind, Value},
    lift::link::MAX_ROWS,
    reflection::{
        EntryPointInterface, STAGE_ROW, SignatureElement, Stage, StageRegisters, StageStateLayout, SystemValue,
    },
};

/// The private variables of a stage.
#[derive(Debug, Default)]
pub(super) struct StageState {
    /// Registers of each signature.
    pub signatures: HashMap<SignatureKind, Registers>,
    /// Values outside the signatures.
    pub values: HashMap<SystemValue, Handle<GlobalVariable>>,
    /// What a geometry shader emitted.
    pub emitted: Option<EmittedVertices>,
}

/// The registers of a signature.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    pub global: Handle<GlobalVariable>,
    /// Type of the registers of one vertex.
    ty: Handle<Type>,
    /// Number of vertices, if there are several.
    pub vertices: Option<u32>,
    /// Registers of a vertex.
    pub count: u32,
    /// First register of each element.
    first: Vec<Option<u32>>,
}

impl Registers {
    /// First register of an element.
    fn first(&self, id: ElementId) -> Result<u32> {
        let first = self.first.get(id.0 as usize).copied().flatten();
        first.ok_or_else(|| Error::malformed(format!("element without a register: {id:?}")))
    }
}

/// What a geometry shader emitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct EmittedVertices {
    /// Number of vertices.
    pub count: Handle<GlobalVariable>,
    /// Their registers.
    pub vertices: Handle<GlobalVariable>,
    /// A word for each.
    pub strips: Handle<GlobalVariable>,
    /// A bit for each stream: its next vertex joins the strip before it.
    joins: Handle<GlobalVariable>,
    /// Room for so many.
    pub limit: u32,
}

/// Registers of a signature as the stage's state has them; functions of libraries have theirs for one run alone.
fn place(interface: &EntryPointInterface, kind: SignatureKind) -> Result<StageRegisters> {
    match (StageStateLayout::of(interface), kind) {
        (Some(layout), SignatureKind::Input) => Ok(layout.inputs),
        (Some(layout), SignatureKind::Output) => Ok(layout.outputs),
        (Some(layout), SignatureKind::PatchConstant) => {
            layout.patch_constants.ok_or_else(|| Error::malformed("patch constants of a geometry shader"))
        }
        (None, SignatureKind::Input) => Ok(StageRegisters::new(&interface.inputs, None)),
        (None, SignatureKind::Output) => Ok(StageRegisters::new(&interface.outputs, None)),
        (None, SignatureKind::PatchConstant) => Ok(StageRegisters::new(&interface.patch_constants, None)),
    }
}

impl ModuleEmitter<'_> {
    /// An array; of at least one element.
    pub(super) fn array(&mut self, base: Handle<Type>, stride: u32, len: u32) -> Handle<Type> {
        let size = ArraySize::Constant(NonZeroU32::new(len).unwrap_or(NonZeroU32::MIN));
        self.ty(TypeInner::Array { base, size, stride })
    }

    /// A private variable.
    pub(super) fn private(&mut self, name: impl Into<String>, ty: Handle<Type>) -> Handle<GlobalVariable> {
        let global = GlobalVariable {
            name: Some(name.into()),
            space: AddressSpace::Private,
            binding: None,
            ty,
            init: None,
            memory_decorations: MemoryDecorations::empty(),
        };
        self.module.global_variables.append(global, Span::UNDEFINED)
    }

    /// The type of registers of as many vertices as there are, and that of one vertex.
    pub(super) fn register_types(&mut self, registers: &StageRegisters) -> (Handle<Type>, Handle<Type>) {
        let row = self.numeric(Scalar::U32, 4);
        let one = self.array(row, STAGE_ROW, registers.registers);
        match registers.vertices {
            Some(vertices) => (self.array(one, registers.registers * STAGE_ROW, vertices), one),
            None => (one, one),
        }
    }

    /// The registers of a signature, declared at the first use.
    fn registers(&mut self, interface: &EntryPointInterface, kind: SignatureKind) -> Result<Registers> {
        if let Some(registers) = self.stage_state.signatures.get(&kind) {
            return Ok(registers.clone());
        }
        let name = match kind {
            SignatureKind::Input => "stage_inputs",
            SignatureKind::Output => "stage_outputs",
            SignatureKind::PatchConstant => "stage_patch_constants",
        };
        let mut place = place(interface, kind)?;
        if interface.stage == Stage::Geometry && kind == SignatureKind::Output {
            // Those of the vertex that is emitted next.
            place.vertices = None;
        }
        let (whole, ty) = self.register_types(&place);
        let global = self.private(name, whole);
        let registers = Registers { global, ty, vertices: place.vertices, count: place.registers, first: place.first };
        self.stage_state.signatures.insert(kind, registers.clone());
        Ok(registers)
    }

    /// What a geometry shader emitted, declared at the first use.
    fn emitted_vertices(&mut self, interface: &EntryPointInterface) -> Result<EmittedVertices> {
        if let Some(emitted) = self.stage_state.emitted {
            return Ok(emitted);
        }
        let limit = place(interface, SignatureKind::Output)?.vertices.unwrap_or(1);
        let registers = self.registers(interface, SignatureKind::Output)?;
        let vertices = self.array(registers.ty, registers.count * STAGE_ROW, limit);
        let word = self.numeric(Scalar::U32, 1);
        let strips = self.array(word, 4, limit);
        let emitted = EmittedVertices {
            count: self.private("emitted_count", word),
            vertices: self.private("emitted_vertices", vertices),
            strips: self.private("emitted_strips", strips),
            joins: self.private("emitted_joins", word),
            limit,
        };
        self.stage_state.emitted = Some(emitted);
        Ok(emitted)
    }
}

impl<'a> FunctionEmitter<'_, 'a> {
    /// The interface of the stage that the function runs in.
    fn stage_interface(&self) -> Result<&'a EntryPointInterface> {
        let interface = self.module.stage_interface.filter(|interface| interface.stage == self.stage);
        interface.ok_or_else(|| Error::internal("function without a stage"))
    }

    /// An operation on the stage interface of a stage that naga lacks.
    pub(super) fn state_op(&mut self, op: &ir::Op, ty: ir::Type) -> Result<Option<Emission>> {
        let interface = self.stage_interface()?;
        match *op {
            ir::Op::LoadInput { signature, element, row, component, vertex } => {
                self.load_state(interface, signature, element, row, component, vertex, ty).map(Some)
            }
            ir::Op::StoreOutput { signature, element, row, component, vertex, value } => {
                self.store_state(interface, signature, element, row, component, vertex, value)?;
                Ok(None)
            }
            ir::Op::SystemValue(value) => self.state_value(value, ty).map(Some),
            _ => Err(Error::unsupported(format!("operation in stage: {:?}", self.stage))),
        }
    }

    /// Pointer to a register, and whether it exists where that is not known.
    fn state_register(
        &mut self,
        interface: &EntryPointInterface,
        kind: SignatureKind,
        id: ElementId,
        row: Value,
        vertex: Option<Value>,
    ) -> Result<(Expr, Option<Expr>)> {
        let elements = match kind {
            SignatureKind::Input => &interface.inputs,
            SignatureKind::Output => &interface.outputs,
            SignatureKind::PatchConstant => &interface.patch_constants,
        };
        let element = element_of(elements, id)?;
        let registers = self.module.registers(interface, kind)?;
        let base = self.pre(Expression::GlobalVariable(registers.global));
        let mut inside = None;
        let base = match registers.vertices {
            None => base,
            Some(count) => {
                let vertex = match vertex {
                    Some(vertex) => self.get_as(vertex, ScalarKind::Uint)?,
                    // A control point shader writes its own.
                    None => {
                        let id = self.state_global(SystemValue::OutputControlPointId)?;
                        self.load(id)
                    }
                };
                let (vertex, exists) = self.confined_index(vertex, count);
                inside = exists;
                self.val(Expression::Access { base, index: vertex })
            }
        };
        let first = registers.first(id)?;
        let rows = element.rows.clamp(1, MAX_ROWS);
        let pointer = match self.ir.as_scalar_constant(row) {
            Some(row) if row < u64::from(rows) => self.val(Expression::AccessIndex { base, index: first + row as u32 }),
            Some(row) => {
                return Err(Error::malformed(format!("row out of range: {} row {row}", element.semantic)));
            }
            None => {
                let row = self.get_as(row, ScalarKind::Uint)?;
                let (row, exists) = self.confined_index(row, rows);
                inside = self.both(inside, exists);
                let index = self.plus(row, first);
                self.val(Expression::Access { base, index })
            }
        };
        Ok((pointer, inside))
    }

    /// An index below a count: itself, or 0 where it is not; and whether it is, unless that is known.
    fn confined_index(&mut self, index: Expr, count: u32) -> (Expr, Option<Expr>) {
        if let Expression::Literal(naga::Literal::U32(value)) = self.function.expressions[index]
            && value < count
        {
            return (index, None);
        }
        let limit = self.u32(count);
        let inside = self.binary(BinaryOperator::Less, index, limit);
        let zero = self.u32(0);
        (self.select(inside, index, zero), Some(inside))
    }

    #[allow(clippy::too_many_arguments)]
    fn load_state(
        &mut self,
        interface: &EntryPointInterface,
        kind: SignatureKind,
        id: ElementId,
        row: Value,
        component: u8,
        vertex: Option<Value>,
        ty: ir::Type,
    ) -> Result<Emission> {
        let (pointer, inside) = self.state_register(interface, kind, id, row, vertex)?;
        let first = self.first_component(interface, kind, id)? + component;
        let count = ty.lanes();
        if first + count > 4 {
            return Err(Error::malformed(format!("components beyond the register: {kind:?} {id:?}")));
        }
        let value = self.load(pointer);
        let mut value = self.lanes_from(value, 4, first, count);
        if let Some(inside) = inside {
            let naga_type = self.module.numeric(Scalar::U32, count);
            let zero = self.zero(naga_type);
            let inside = self.splat_to(inside, count);
            value = self.select(inside, value, zero);
        }
        self.value_of_register(value, ScalarKind::Uint, ty)
    }

    #[allow(clippy::too_many_arguments)]
    fn store_state(
        &mut self,
        interface: &EntryPointInterface,
        kind: SignatureKind,
        id: ElementId,
        row: Value,
        component: u8,
        vertex: Option<Value>,
        value: Value,
    ) -> Result<()> {
        let first = self.first_component(interface, kind, id)? + component;
        let ty = self.ir.ty(value);
        if first + ty.lanes() > 4 {
            return Err(Error::malformed(format!("components beyond the register: {kind:?} {id:?}")));
        }
        let value = self.lanes_for_register(value, ty, ScalarKind::Uint)?;
        let (pointer, inside) = self.state_register(interface, kind, id, row, vertex)?;
        match inside {
            Some(inside) => {
                self.when(inside, |emitter| emitter.store_lanes(pointer, 4, first, value, ty.lanes()));
            }
            None => self.store_lanes(pointer, 4, first, value, ty.lanes()),
        }
        Ok(())
    }

    /// First component of an element's registers.
    fn first_component(&self, interface: &EntryPointInterface, kind: SignatureKind, id: ElementId) -> Result<u8> {
        let elements: &[SignatureElement] = match kind {
            SignatureKind::Input => &interface.inputs,
            SignatureKind::Output => &interface.outputs,
            SignatureKind::PatchConstant => &interface.patch_constants,
        };
        Ok(element_of(elements, id)?.first_component())
    }

    /// Pointer to a value outside the signatures.
    fn state_global(&mut self, value: SystemValue) -> Result<Expr> {
        let (name, inner) = match value {
            SystemValue::DomainLocation => {
                ("stage_domain_location", TypeInner::Vector { size: vector_size(3), scalar: Scalar::F32 })
            }
            SystemValue::OutputControlPointId => ("stage_control_point_id", TypeInner::Scalar(Scalar::U32)),
            SystemValue::PrimitiveId => ("stage_primitive_id", TypeInner::Scalar(Scalar::U32)),
            SystemValue::GsInstanceId => ("stage_instance_id", TypeInner::Scalar(Scalar::U32)),
            SystemValue::ViewId => ("stage_view_id", TypeInner::Scalar(Scalar::U32)),
            _ => return Err(Error::unsupported(format!("system value in stage {:?}: {value:?}", self.stage))),
        };
        let global = match self.module.stage_state.values.get(&value) {
            Some(&global) => global,
            None => {
                let ty = self.module.ty(inner);
                let global = self.module.private(name, ty);
                self.module.stage_state.values.insert(value, global);
                global
            }
        };
        Ok(self.pre(Expression::GlobalVariable(global)))
    }

    fn state_value(&mut self, value: SystemValue, ty: ir::Type) -> Result<Emission> {
        let pointer = self.state_global(value)?;
        let loaded = self.load(pointer);
        let (kind, lanes) = match value {
            SystemValue::DomainLocation => (ScalarKind::Float, 3),
            _ => (ScalarKind::Uint, 1),
        };
        let value = self.lanes_from(loaded, lanes, 0, ty.lanes().min(lanes));
        self.value_of_register(value, kind, ty)
    }

    /// [`ir::Op::EmitVertex`].
    ///
    /// # Errors
    /// The stage emits no vertices.
    pub fn emit_vertex(&mut self, stream: u8, emit: bool, cut: bool) -> Result<()> {
        let interface = self.stage_interface()?;
        if interface.stage != Stage::Geometry || stream > 3 {
            return Err(Error::malformed(format!("emission of vertices: stream {stream}")));
        }
        let emitted = self.module.emitted_vertices(interface)?;
        let joins = self.pre(Expression::GlobalVariable(emitted.joins));
        let bit = self.u32(1 << stream);
        if emit {
            let outputs = self.module.registers(interface, SignatureKind::Output)?;
            let count = self.pre(Expression::GlobalVariable(emitted.count));
            let number = self.load(count);
            let limit = self.u32(emitted.limit);
            let room = self.binary(BinaryOperator::Less, number, limit);
            self.when(room, |emitter| {
                let vertices = emitter.pre(Expression::GlobalVariable(emitted.vertices));
                let vertex = emitter.val(Expression::Access { base: vertices, index: number });
                let outputs = emitter.pre(Expression::GlobalVariable(outputs.global));
                let registers = emitter.load(outputs);
                emitter.store(vertex, registers);
                let strips = emitter.pre(Expression::GlobalVariable(emitted.strips));
                let strip = emitter.val(Expression::Access { base: strips, index: number });
                let joined = emitter.load(joins);
                let joined = emitter.shifted_right(joined, u32::from(stream));
                let one = emitter.u32(1);
                let joined = emitter.binary(BinaryOperator::And, joined, one);
                let joined = emitter.times(joined, 4);
                let word = emitter.plus(joined, u32::from(stream));
                emitter.store(strip, word);
                let next = emitter.plus(number, 1);
                emitter.store(count, next);
            });
            let before = self.load(joins);
            let after = self.binary(BinaryOperator::InclusiveOr, before, bit);
            self.store(joins, after);
        }
        if cut {
            let before = self.load(joins);
            let others = self.u32(!(1 << stream));
            let after = self.binary(BinaryOperator::And, before, others);
            self.store(joins, after);
        }
        Ok(())
    }
}
