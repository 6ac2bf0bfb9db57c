//! Mesh and amplification shaders as naga's mesh and task stages.
//!
//! A mesh shader's outputs are one group-shared structure: an array of vertices, one of primitives, and their numbers.
//! Each vertex is laid out as a vertex shader's result is; each primitive holds its indices, whether it is culled, and a
//! register for each location. The payload is an array of words, of the same length in both stages.

use std::{
    collections::{BTreeMap, HashMap},
    num::NonZeroU32,
};

use naga::{
    AddressSpace, ArraySize, BinaryOperator, Binding, Block, BuiltIn, Expression, FunctionResult, GlobalVariable,
    Handle, MemoryDecorations, Scalar, ScalarKind, Span, Statement, StructMember, Type, TypeInner, valid::Capabilities,
};

use super::{
    FunctionEmitter, ModuleEmitter,
    expression::Expr,
    input::{element_name, element_of, primitive_binding, varying_kind},
    io::scalar32,
    output::{NewMember, OutputLane, OutputMember},
    types::vector_size,
};
use crate::{
    Error, Result,
    ir::{self, ElementId, SignatureKind, Value, VariableId},
    lift::link::{self, MAX_ROWS},
    reflection::{EntryPointInterface, SystemValue},
};

/// Vertices, and primitives, of a group at most (`D3D12_MS_MAX_OUTPUT...`: 256 of each).
const MAX_OUTPUTS: u32 = 256;

/// Members of the structure of all outputs.
const VERTICES: u32 = 0;
const PRIMITIVES: u32 = 1;
const VERTEX_COUNT: u32 = 2;
const PRIMITIVE_COUNT: u32 = 3;

/// The primitive's member that holds its indices.
const INDICES: u32 = 0;

/// What a module has for mesh and amplification shaders.
#[derive(Debug, Default)]
pub(super) struct MeshState {
    /// What one stage hands to the other.
    pub payload: Option<Handle<GlobalVariable>>,
    /// A mesh shader's outputs.
    outputs: Option<MeshOutputs>,
}

/// A mesh shader's outputs.
#[derive(Clone, Debug)]
struct MeshOutputs {
    global: Handle<GlobalVariable>,
    /// Number of vertices, and of primitives, at most.
    counts: [u32; 2],
    /// Vertices of a primitive.
    corners: u8,
    /// Where each number that is written goes; others nobody reads.
    places: [HashMap<OutputLane, Place>; 2],
}

/// Where a number is kept in its vertex or primitive.
#[derive(Clone, Copy, Debug)]
struct Place {
    member: u32,
    /// Lane of the member, if it is no scalar.
    lane: Option<u32>,
    kind: ScalarKind,
}

/// A register of what a mesh shader gives for each primitive.
#[derive(Default)]
struct PrimitiveRegister {
    /// Where each component comes from.
    sources: [Option<OutputLane>; 4],
    names: Vec<String>,
    /// Some of it are integers: it travels as bits.
    integers: bool,
}

impl ModuleEmitter<'_> {
    /// The payload, of at least so many words, declared at the first use.
    ///
    /// # Errors
    /// It was declared smaller: a bug.
    pub(super) fn payload(&mut self, words: u32) -> Result<Handle<GlobalVariable>> {
        if let Some(payload) = self.mesh.payload {
            return Ok(payload);
        }
        // A stage that leaves the payload alone does not tell its words, but its bytes.
        let entries = self.program.interface.entry_points.iter();
        let bytes = entries.filter_map(|entry| entry.facts.primitives.payload_size).max().unwrap_or(0);
        let words = words.max(bytes.min(MAX_PAYLOAD_BYTES).div_ceil(4));
        let base = self.numeric(Scalar::U32, 1);
        let ty = self.mesh_array(base, 4, words);
        let payload = self.mesh_global("payload", AddressSpace::TaskPayload, ty);
        self.mesh.payload = Some(payload);
        Ok(payload)
    }

    /// An array; of at least one element.
    fn mesh_array(&mut self, base: Handle<Type>, stride: u32, len: u32) -> Handle<Type> {
        let size = ArraySize::Constant(NonZeroU32::new(len).unwrap_or(NonZeroU32::MIN));
        self.ty(TypeInner::Array { base, size, stride })
    }

    fn mesh_global(&mut self, name: &str, space: AddressSpace, ty: Handle<Type>) -> Handle<GlobalVariable> {
        let global = GlobalVariable {
            name: Some(name.into()),
            space,
            binding: None,
            ty,
            init: None,
            memory_decorations: MemoryDecorations::empty(),
        };
        self.module.global_variables.append(global, Span::UNDEFINED)
    }

    /// What naga wants to know of a mesh shader besides its function.
    pub(super) fn mesh_info(&mut self) -> Option<naga::MeshStageInfo> {
        let outputs = self.mesh.outputs.take()?;
        Some(self.module.analyze_mesh_shader_info(outputs.global).0)
    }

    /// A structure of members that all begin at multiples of 16 bytes, and its size.
    fn mesh_struct(&mut self, name: &str, members: Vec<(String, Binding, Handle<Type>, u32)>) -> (Handle<Type>, u32) {
        let mut span = 0u32;
        let mut declared = Vec::new();
        for (name, binding, ty, size) in members {
            declared.push(StructMember { name: Some(name), ty, binding: Some(binding), offset: span });
            span = span.saturating_add(size.next_multiple_of(16));
        }
        let inner = TypeInner::Struct { members: declared, span };
        (self.module.types.insert(Type { name: Some(name.into()), inner }, Span::UNDEFINED), span)
    }

    /// The structure of one vertex or primitive, after members that are no part of a signature; and where it keeps what.
    fn mesh_record(
        &mut self,
        name: &str,
        mut fields: Vec<(String, Binding, Handle<Type>, u32)>,
        members: Vec<NewMember>,
    ) -> (Handle<Type>, u32, HashMap<OutputLane, Place>) {
        let mut places = HashMap::new();
        for NewMember { name, binding, member } in members {
            let index = fields.len() as u32;
            for (lane, source) in (0..).zip(&member.sources) {
                let lane = (member.lanes > 1 || member.array.is_some()).then_some(lane);
                let place = Place { member: index, lane, kind: member.kind };
                if let Some(source) = source {
                    places.insert(*source, place);
                }
            }
            let ty = match (member.array, member.kind) {
                (Some(array), _) => array,
                (None, ScalarKind::Bool) => self.numeric(Scalar::BOOL, 1),
                (None, kind) => self.numeric(scalar32(kind), member.lanes),
            };
            fields.push((name, binding, ty, u32::from(member.lanes) * 4));
        }
        let (ty, span) = self.mesh_struct(name, fields);
        (ty, span, places)
    }

    /// The members of a primitive that its signature makes; `free` is the first location that no vertex output has.
    fn primitive_members(&mut self, interface: &EntryPointInterface, free: u32) -> Vec<NewMember> {
        let mut members = Vec::new();
        let mut registers: BTreeMap<u32, PrimitiveRegister> = BTreeMap::new();
        for (id, element) in (0..).map(ElementId).zip(&interface.patch_constants) {
            let scalar = |name: &str, builtin, kind| NewMember {
                name: name.into(),
                binding: Binding::BuiltIn(builtin),
                member: OutputMember {
                    lanes: 1,
                    kind,
                    array: None,
                    sources: vec![Some(OutputLane { element: id, row: 0, component: 0 })],
                },
            };
            let lost = match element.system_value {
                SystemValue::CullPrimitive => {
                    members.push(scalar("cull", BuiltIn::CullPrimitive, ScalarKind::Bool));
                    continue;
                }
                SystemValue::PrimitiveId if self.target.capabilities.contains(Capabilities::PRIMITIVE_INDEX) => {
                    members.push(scalar("primitive_id", BuiltIn::PrimitiveIndex, ScalarKind::Uint));
                    continue;
                }
                SystemValue::PrimitiveId => Some("no pixel shader reads it, as the target lacks primitive indices"),
                SystemValue::RenderTargetArrayIndex => Some("every primitive goes to the first layer"),
                SystemValue::ViewportArrayIndex => Some("every primitive goes to the first viewport"),
                SystemValue::ShadingRate => Some("every primitive is shaded at the full rate"),
                _ => None,
            };
            if let Some(lost) = lost {
                self.note(format!("{}: {lost}", element.semantic));
            }
            for row in 0..element.rows.clamp(1, MAX_ROWS) {
                let place = match &self.target.pixel_inputs {
                    Some(inputs) => link::primitive_place(inputs, element, row),
                    None if lost.is_some() => None,
                    None => element.register.and_then(|first| Some((first.checked_add(row)?, element.mask))),
                };
                let Some((register, mask)) = place else { continue };
                let PrimitiveRegister { sources, names, integers } = registers.entry(register).or_default();
                names.push(element_name(element, row));
                *integers |= !link::is_float(element.component);
                let lanes = (0..4).filter(|lane| mask & 1 << lane != 0);
                for (component, lane) in (0..element.components()).zip(lanes) {
                    sources[lane] = Some(OutputLane { element: id, row, component });
                }
            }
        }
        for (register, PrimitiveRegister { sources, names, integers }) in registers {
            let linked = self.target.pixel_inputs.as_ref();
            let location = match linked {
                Some(inputs) => inputs.primitive_location(register),
                None => free.checked_add(register),
            };
            let Some(location) = location else { continue };
            let kind = match linked.and_then(|inputs| inputs.primitive_registers.get(&register)) {
                Some(register) => varying_kind(register.interpolation),
                None if integers => ScalarKind::Uint,
                None => ScalarKind::Float,
            };
            members.push(NewMember {
                name: names.join("_"),
                binding: primitive_binding(location),
                member: OutputMember { lanes: 4, kind, array: None, sources: sources.to_vec() },
            });
        }
        members
    }
}

/// Bytes of a payload at most (`D3D12_MS_MAX_PAYLOAD`): 16 KiB.
const MAX_PAYLOAD_BYTES: u32 = 16384;

/// The location of a member, if it has one.
fn location_of(member: &NewMember) -> Option<u32> {
    match member.binding {
        Binding::Location { location, .. } => Some(location),
        Binding::BuiltIn(_) => None,
    }
}

impl FunctionEmitter<'_, '_> {
    /// Rejects targets without mesh shaders.
    fn expect_mesh_shaders(&self) -> Result<()> {
        if self.module.target.capabilities.contains(Capabilities::MESH_SHADER) {
            return Ok(());
        }
        Err(Error::unsupported(format!("stage that the target lacks: {:?}", self.stage)))
    }

    /// Begins a mesh shader: its outputs and its payload.
    ///
    /// # Errors
    /// Names what the target cannot express.
    pub(super) fn begin_mesh(&mut self, interface: &EntryPointInterface) -> Result<()> {
        self.expect_mesh_shaders()?;
        let facts = &interface.facts.primitives;
        if facts.payload_size.is_some_and(|bytes| bytes > 0) {
            self.module.payload(0)?;
        }
        // D3D_PRIMITIVE_TOPOLOGY: lists of lines and of triangles. A shader whose topology is undefined has no indices, and
        // thus no primitives of any kind.
        let (corners, builtin) = match facts.output_topology {
            Some(2) => (2, BuiltIn::LineIndices),
            Some(4) | None => (3, BuiltIn::TriangleIndices),
            other => return Err(Error::unsupported(format!("topology of a mesh shader: {other:?}"))),
        };
        let counts = [facts.max_vertex_count, facts.max_primitive_count];
        let counts = counts.map(|count| count.unwrap_or(MAX_OUTPUTS).clamp(1, MAX_OUTPUTS));

        let vertex_members = self.vertex_members(interface);
        let free = vertex_members.iter().filter_map(location_of).max().map_or(0, |last| last.saturating_add(1));
        let primitive_members = self.module.primitive_members(interface, free);

        let (vertex, vertex_span, vertex_places) = self.module.mesh_record("Vertex", Vec::new(), vertex_members);
        let indices = self.module.numeric(Scalar::U32, corners);
        let indices = vec![("indices".to_owned(), Binding::BuiltIn(builtin), indices, 16)];
        let (primitive, primitive_span, primitive_places) =
            self.module.mesh_record("Primitive", indices, primitive_members);
        let [vertices, primitives] = [(vertex, vertex_span, counts[0]), (primitive, primitive_span, counts[1])]
            .map(|(base, span, count)| (self.module.mesh_array(base, span, count), span.saturating_mul(count)));
        let word = self.module.numeric(Scalar::U32, 1);
        let field = |name: &str, builtin, ty, size| (name.to_owned(), Binding::BuiltIn(builtin), ty, size);
        let (ty, _) = self.module.mesh_struct(
            "MeshOutput",
            vec![
                field("vertices", BuiltIn::Vertices, vertices.0, vertices.1),
                field("primitives", BuiltIn::Primitives, primitives.0, primitives.1),
                field("vertex_count", BuiltIn::VertexCount, word, 4),
                field("primitive_count", BuiltIn::PrimitiveCount, word, 4),
            ],
        );
        let global = self.module.mesh_global("mesh_output", AddressSpace::WorkGroup, ty);
        let places = [vertex_places, primitive_places];
        self.module.mesh.outputs = Some(MeshOutputs { global, counts, corners, places });
        Ok(())
    }

    /// The mesh shader's outputs.
    fn mesh_outputs(&self) -> Result<&MeshOutputs> {
        let outputs = self.entry.and(self.module.mesh.outputs.as_ref());
        outputs.ok_or_else(|| Error::unsupported("mesh output in a function that is not the entry point"))
    }

    /// [`ir::Op::SetMeshOutputCounts`].
    ///
    /// # Errors
    /// The function is no mesh shader.
    pub(super) fn set_mesh_output_counts(&mut self, vertices: Value, primitives: Value) -> Result<()> {
        let MeshOutputs { global, .. } = *self.mesh_outputs()?;
        for (member, count) in [(VERTEX_COUNT, vertices), (PRIMITIVE_COUNT, primitives)] {
            let count = self.get_as(count, ScalarKind::Uint)?;
            let base = self.pre(Expression::GlobalVariable(global));
            let pointer = self.val(Expression::AccessIndex { base, index: member });
            self.store(pointer, count);
        }
        Ok(())
    }

    /// [`ir::Op::EmitIndices`].
    ///
    /// # Errors
    /// The function is no mesh shader.
    pub(super) fn emit_indices(&mut self, primitive: Value, indices: &[Value]) -> Result<()> {
        let outputs = self.mesh_outputs()?;
        let (global, counts, corners) = (outputs.global, outputs.counts, outputs.corners);
        if indices.len() != usize::from(corners) {
            return Err(Error::malformed(format!("indices of a primitive: {}, not {corners}", indices.len())));
        }
        let last = self.u32(counts[0] - 1);
        let mut lanes = Vec::new();
        for &index in indices {
            let known = self.ir.as_scalar_constant(index).is_some_and(|index| index < u64::from(counts[0]));
            let index = self.get_as(index, ScalarKind::Uint)?;
            lanes.push(if known { index } else { self.math(naga::MathFunction::Min, &[index, last]) });
        }
        let value = self.vector_of(Scalar::U32, &lanes);
        self.mesh_element(global, PRIMITIVES, counts[1], primitive, |emitter, base| {
            let pointer = emitter.val(Expression::AccessIndex { base, index: INDICES });
            emitter.store(pointer, value);
        })
    }

    /// Carries out `body` with the pointer to a vertex or primitive, where it exists.
    fn mesh_element(
        &mut self,
        global: Handle<GlobalVariable>,
        member: u32,
        count: u32,
        index: Value,
        body: impl FnOnce(&mut Self, Expr),
    ) -> Result<()> {
        let array = |emitter: &mut Self| {
            let base = emitter.pre(Expression::GlobalVariable(global));
            emitter.val(Expression::AccessIndex { base, index: member })
        };
        match self.ir.as_scalar_constant(index) {
            Some(index) if index < u64::from(count) => {
                let base = array(self);
                let pointer = self.val(Expression::AccessIndex { base, index: index as u32 });
                body(self, pointer);
            }
            Some(_) => {}
            None => {
                let index = self.get_as(index, ScalarKind::Uint)?;
                let limit = self.u32(count);
                let inside = self.binary(BinaryOperator::Less, index, limit);
                self.when(inside, |emitter| {
                    let base = array(emitter);
                    let pointer = emitter.val(Expression::Access { base, index });
                    body(emitter, pointer);
                });
            }
        }
        Ok(())
    }

    /// [`ir::Op::StoreOutput`] of a mesh shader's vertex or primitive.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn store_mesh_output(
        &mut self,
        interface: &EntryPointInterface,
        signature: SignatureKind,
        id: ElementId,
        row: Value,
        component: u8,
        vertex: Value,
        value: Value,
    ) -> Result<()> {
        let (list, elements) = match signature {
            SignatureKind::Output => (0, &interface.outputs),
            SignatureKind::PatchConstant => (1, &interface.patch_constants),
            SignatureKind::Input => return Err(Error::internal("inputs are not written")),
        };
        let element = element_of(elements, id)?;
        let ty = self.ir.ty(value);
        if component + ty.lanes() > element.components() {
            return Err(Error::malformed(format!("output components beyond the element: {}", element.semantic)));
        }
        let known = self.ir.as_scalar_constant(row);
        let rows = match known {
            Some(row) if row < u64::from(element.rows.clamp(1, MAX_ROWS)) => row as u32..row as u32 + 1,
            Some(row) => {
                return Err(Error::malformed(format!("output row out of range: {} row {row}", element.semantic)));
            }
            None => 0..element.rows.clamp(1, MAX_ROWS),
        };
        let outputs = self.mesh_outputs()?;
        let (global, count) = (outputs.global, outputs.counts[list]);
        let mut stores: Vec<(u32, u8, Place)> = Vec::new();
        for row in rows {
            for lane in 0..ty.lanes() {
                let source = OutputLane { element: id, row, component: component + lane };
                if let Some(&place) = outputs.places[list].get(&source) {
                    stores.push((row, lane, place));
                }
            }
        }
        if stores.is_empty() {
            return Ok(());
        }
        let bits = self.lanes_for_register(value, ty, ScalarKind::Uint)?;
        let row = match known {
            Some(_) => None,
            None => Some(self.get_as(row, ScalarKind::Uint)?),
        };
        let member = if list == 0 { VERTICES } else { PRIMITIVES };
        self.mesh_element(global, member, count, vertex, |emitter, base| {
            for (number, lane, place) in stores {
                let bits = emitter.lane(bits, ty.lanes(), lane);
                let value = match place.kind {
                    ScalarKind::Bool => {
                        let zero = emitter.u32(0);
                        emitter.binary(BinaryOperator::NotEqual, bits, zero)
                    }
                    kind => emitter.bits_as(bits, ScalarKind::Uint, kind),
                };
                let store = |emitter: &mut Self| {
                    let mut pointer = emitter.val(Expression::AccessIndex { base, index: place.member });
                    if let Some(lane) = place.lane {
                        pointer = emitter.val(Expression::AccessIndex { base: pointer, index: lane });
                    }
                    emitter.store(pointer, value);
                };
                match row {
                    None => store(emitter),
                    Some(row) => {
                        let number = emitter.u32(number);
                        let this = emitter.binary(BinaryOperator::Equal, row, number);
                        emitter.when(this, store);
                    }
                }
            }
        })
    }

    /// Begins an amplification shader: its result and its payload.
    ///
    /// # Errors
    /// The target lacks mesh shaders.
    pub(super) fn begin_amplification(&mut self, _interface: &EntryPointInterface) -> Result<()> {
        self.expect_mesh_shaders()?;
        let insts = self.ir.blocks.iter().flat_map(|block| &block.insts);
        let words = insts.filter_map(|&inst| match self.ir.op(inst) {
            Some(&ir::Op::DispatchMesh { words, .. }) => Some(words),
            _ => None,
        });
        let words = words.max().unwrap_or(0);
        self.module.payload(words)?;
        let ty = self.module.ty(TypeInner::Vector { size: vector_size(3), scalar: Scalar::U32 });
        self.io.mesh_groups = Some(self.local(ty, Some("mesh_groups".into())));
        self.function.result = Some(FunctionResult { ty, binding: Some(Binding::BuiltIn(BuiltIn::MeshTaskSize)) });
        Ok(())
    }

    /// An amplification shader's result.
    pub(super) fn finish_amplification(&mut self) -> Result<Expr> {
        let groups = self.io.mesh_groups.ok_or_else(|| Error::internal("amplification shader without a result"))?;
        Ok(self.load(groups))
    }

    /// [`ir::Op::DispatchMesh`]: the threads of the group share the words of a group-shared payload out among them; of a
    /// payload of the thread, the first writes all.
    ///
    /// # Errors
    /// The function is no amplification shader.
    pub(super) fn dispatch_mesh(
        &mut self,
        groups: [Value; 3],
        payload: VariableId,
        first: Value,
        words: u32,
    ) -> Result<()> {
        let what = "start of mesh shaders in a function that is no amplification shader";
        let (Some(interface), Some(result)) = (self.entry, self.io.mesh_groups) else {
            return Err(Error::unsupported(what));
        };
        let mut sides = Vec::new();
        for side in groups {
            sides.push(self.get_as(side, ScalarKind::Uint)?);
        }
        let sides = self.vector_of(Scalar::U32, &sides);
        self.store(result, sides);
        let global = self.module.payload(words)?;
        let first = self.get_as(first, ScalarKind::Uint)?;
        self.barrier(ir::Barrier { group_sync: true, group_shared: true, ..ir::Barrier::default() });
        let thread = self.builtin(BuiltIn::LocalInvocationIndex)?;
        let threads = interface.facts.thread_group_size.unwrap_or([1; 3]);
        let threads = threads.iter().fold(1u32, |size, &side| size.saturating_mul(side.max(1)));
        let word = self.module.numeric(Scalar::U32, 1);
        let counter = self.local(word, Some("word".into()));
        let shared = self.module.program.ir.variables[payload.index()].space == ir::VariableSpace::GroupShared;
        // All words of a thread's own payload are the first thread's turn: the others begin past the end.
        let (begin, step) = if shared {
            (thread, threads)
        } else {
            let past = self.u32(words);
            (self.binary(BinaryOperator::Multiply, thread, past), 1)
        };
        self.store(counter, begin);
        let body = self.nested(|emitter| {
            let number = emitter.load(counter);
            let limit = emitter.u32(words);
            let done = emitter.binary(BinaryOperator::GreaterEqual, number, limit);
            let mut accept = Block::new();
            accept.push(Statement::Break, Span::UNDEFINED);
            emitter.statement(Statement::If { condition: done, accept, reject: Block::new() });
            let from = emitter.binary(BinaryOperator::Add, first, number);
            let value = emitter.variable_word(payload, from)?;
            let base = emitter.pre(Expression::GlobalVariable(global));
            let pointer = emitter.val(Expression::Access { base, index: number });
            emitter.store(pointer, value);
            let next = emitter.plus(number, step);
            emitter.store(counter, next);
            Ok::<(), Error>(())
        })?;
        self.statement(Statement::Loop { body, continuing: Block::new(), break_if: None });
        Ok(())
    }
}
