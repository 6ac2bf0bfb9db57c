//! Outputs of entry points: locals while the function runs, one structure where it returns.

use std::num::NonZeroU32;

use naga::{
    ArraySize, Binding, BuiltIn, Expression, FunctionResult, Handle, Scalar, ScalarKind, StructMember, Type, TypeInner,
    valid::Capabilities,
};

use super::{
    Emission, FunctionEmitter,
    expression::Expr,
    input::{element_name, element_of, register_of, varying_kind},
    io::{kind_of, scalar32},
};
use crate::{
    Error, Result,
    ir::{self, ElementId, Value},
    lift::{
        TargetKind,
        link::{self, MAX_ROWS},
    },
    reflection::{EntryPointInterface, SignatureElement, Stage, SystemValue},
};

/// Clip and cull distances of a vertex, at most.
const MAX_DISTANCES: usize = 8;

/// Render targets of a pixel shader, at most.
const MAX_TARGETS: u32 = 8;

/// An entry point's outputs.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    /// Where each element of the signature is kept, by [`ElementId`]; `None` for those that are never written.
    elements: Vec<Option<OutputElement>>,
    /// The result's members, in order.
    members: Vec<OutputMember>,
    /// The result's type.
    ty: Option<Handle<Type>>,
}

/// An element's local: a vector of its components, or an array of them.
#[derive(Clone, Copy, Debug)]
struct OutputElement {
    /// Pointer to the local.
    pointer: Expr,
    /// Kind of its scalars.
    kind: ScalarKind,
    /// Its components.
    lanes: u8,
    /// Number of its rows: an array if there is more than one.
    rows: u32,
}

/// What a member of the result is composed of.
#[derive(Clone, Debug)]
pub(super) struct OutputMember {
    /// Number of lanes.
    pub lanes: u8,
    /// Kind of its scalars.
    pub kind: ScalarKind,
    /// The member is an array of scalars.
    pub array: Option<Handle<Type>>,
    /// For each lane, where it comes from; `None` is zero.
    pub sources: Vec<Option<OutputLane>>,
}

/// One component of one row of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct OutputLane {
    pub element: ElementId,
    pub row: u32,
    pub component: u8,
}

/// A member in the making.
pub(super) struct NewMember {
    pub name: String,
    pub binding: Binding,
    pub member: OutputMember,
}

impl FunctionEmitter<'_, '_> {
    /// Declares the result, and locals for the outputs that the entry point writes.
    pub(super) fn begin_outputs(&mut self, interface: &EntryPointInterface) -> Result<()> {
        self.declare_output_locals(interface)?;
        let members = match interface.stage {
            Stage::Vertex => self.vertex_members(interface),
            Stage::Pixel => self.pixel_members(interface)?,
            _ => Vec::new(),
        };
        self.declare_result(members);
        Ok(())
    }

    /// Locals for the elements that are written.
    fn declare_output_locals(&mut self, interface: &EntryPointInterface) -> Result<()> {
        let mut written = vec![false; interface.outputs.len()];
        for &inst in self.ir.blocks.iter().flat_map(|block| &block.insts) {
            if let Some(ir::Op::StoreOutput { signature: ir::SignatureKind::Output, element, .. }) = self.ir.op(inst) {
                element_of(&interface.outputs, *element)?;
                written[element.index()] = true;
            }
        }
        for (element, written) in interface.outputs.iter().zip(written) {
            let local = written.then(|| {
                let kind = kind_of(element.component);
                let lanes = element.components().min(4);
                let rows = element.rows.clamp(1, MAX_ROWS);
                let mut ty = self.module.numeric(scalar32(kind), lanes);
                if let Some(size) = NonZeroU32::new(rows).filter(|rows| rows.get() > 1) {
                    let stride = if lanes == 3 { 16 } else { u32::from(lanes) * 4 };
                    ty = self.module.ty(TypeInner::Array { base: ty, size: ArraySize::Constant(size), stride });
                }
                let pointer = self.local(ty, Some(element_name(element, 0)));
                OutputElement { pointer, kind, lanes, rows }
            });
            self.io.outputs.elements.push(local);
        }
        Ok(())
    }

    /// Members of a vertex shader's result, or of one vertex of a mesh shader: the position, distances, and a varying for each register.
    pub(super) fn vertex_members(&mut self, interface: &EntryPointInterface) -> Vec<NewMember> {
        let mut members = Vec::new();
        let position = interface.outputs.iter().position(|output| output.system_value == SystemValue::Position);
        let sources = (0..4)
            .map(|component| Some(OutputLane { element: ElementId(position? as u32), row: 0, component }))
            .collect();
        members.push(NewMember {
            name: "position".into(),
            // Equal expressions in two programs give equal positions.
            binding: Binding::BuiltIn(BuiltIn::Position { invariant: true }),
            member: OutputMember { lanes: 4, kind: ScalarKind::Float, array: None, sources },
        });
        self.distance_members(interface, &mut members);
        for output in &interface.outputs {
            let lost = match output.system_value {
                SystemValue::RenderTargetArrayIndex => "every primitive goes to the first layer",
                SystemValue::ViewportArrayIndex => "every primitive goes to the first viewport",
                SystemValue::ShadingRate => "every primitive is shaded at the full rate",
                _ => continue,
            };
            self.module.note(format!("{}: {lost}, naga has no such output", output.semantic));
        }

        let registers = match &self.module.target.pixel_inputs {
            Some(inputs) => inputs.registers.clone(),
            None => {
                let outputs = interface.outputs.iter();
                link::varying_registers(outputs.filter(|output| output.system_value != SystemValue::Position))
            }
        };
        for (location, register) in registers {
            let mut sources = vec![None; 4];
            let mut names = Vec::new();
            for (id, element) in (0..).map(ElementId).zip(&interface.outputs) {
                let Some(row) = element.register.and_then(|first| location.checked_sub(first)) else { continue };
                if register_of(element, row).is_none() {
                    continue;
                }
                names.push(element_name(element, row));
                let components = (0..4).filter(|lane| element.mask & 1 << lane != 0);
                for (component, lane) in (0..).zip(components) {
                    sources[lane] = Some(OutputLane { element: id, row, component });
                }
            }
            if names.is_empty() {
                names.push(format!("register{location}"));
            }
            let kind = varying_kind(register.interpolation);
            members.push(NewMember {
                name: names.join("_"),
                binding: self.module.varying(location, register.interpolation),
                member: OutputMember { lanes: 4, kind, array: None, sources },
            });
        }
        members
    }

    /// Members for clip and cull distances.
    fn distance_members(&mut self, interface: &EntryPointInterface, members: &mut Vec<NewMember>) {
        let mut clip = distances(interface, SystemValue::ClipDistance);
        let mut cull = distances(interface, SystemValue::CullDistance);
        let capabilities = self.module.target.capabilities;
        if !cull.is_empty() && !capabilities.contains(Capabilities::CULL_DISTANCE) {
            self.module.note("SV_CullDistance: clips parts of primitives, as the target cannot cull whole ones");
            clip.append(&mut cull);
        }
        if !clip.is_empty() && !capabilities.contains(Capabilities::CLIP_DISTANCE) {
            self.module.note("SV_ClipDistance: nothing is clipped, as the target lacks clip distances");
            clip.clear();
        }
        for (sources, builtin, name) in
            [(clip, BuiltIn::ClipDistance, "clip_distances"), (cull, BuiltIn::CullDistance, "cull_distances")]
        {
            let sources: Vec<_> = sources.into_iter().take(MAX_DISTANCES).collect();
            let Some(size) = NonZeroU32::new(sources.len() as u32) else { continue };
            let base = self.module.numeric(Scalar::F32, 1);
            let array = self.module.ty(TypeInner::Array { base, size: ArraySize::Constant(size), stride: 4 });
            let lanes = sources.len() as u8;
            members.push(NewMember {
                name: name.into(),
                binding: Binding::BuiltIn(builtin),
                member: OutputMember { lanes, kind: ScalarKind::Float, array: Some(array), sources },
            });
        }
    }

    /// Members of a pixel shader's result: targets, depth, coverage.
    fn pixel_members(&mut self, interface: &EntryPointInterface) -> Result<Vec<NewMember>> {
        let mut members = Vec::new();
        let mut stencil = None;
        for (id, element) in (0..).map(ElementId).zip(&interface.outputs) {
            if self.io.outputs.elements[id.index()].is_none() {
                continue;
            }
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
            match element.system_value {
                SystemValue::Target => self.target_members(id, element, &mut members),
                SystemValue::Depth | SystemValue::DepthGreaterEqual | SystemValue::DepthLessEqual => {
                    if self.module.target.depth_attachment {
                        members.push(scalar("depth", BuiltIn::FragDepth, ScalarKind::Float));
                    }
                }
                SystemValue::Coverage => {
                    members.push(scalar("coverage", BuiltIn::SampleMask, ScalarKind::Uint));
                }
                SystemValue::StencilRef => stencil = Some(id),
                other => return Err(Error::unsupported(format!("pixel shader output: {other:?}"))),
            }
        }
        if let Some(id) = stencil {
            members.push(self.stencil_member(id, &members)?);
        }
        Ok(members)
    }

    /// The stencil reference as a target of its own, after all others: naga has no such output. A host copies it to the
    /// stencil aspect, or draws once for each reference; a pipeline without the target ignores it.
    fn stencil_member(&mut self, element: ElementId, members: &[NewMember]) -> Result<NewMember> {
        let used = members.iter().filter_map(|member| match member.binding {
            Binding::Location { location, .. } => Some(location),
            Binding::BuiltIn(_) => None,
        });
        let location = used.max().map_or(0, |last| last + 1);
        if location >= MAX_TARGETS {
            return Err(Error::unsupported("stencil reference beside as many targets as there are"));
        }
        self.module.note(format!(
            "SV_StencilRef: the low byte of a colour target of one unsigned integer, at location {location}"
        ));
        let sources = vec![Some(OutputLane { element, row: 0, component: 0 })];
        Ok(NewMember {
            name: "stencil_reference".into(),
            binding: Binding::Location {
                location,
                interpolation: None,
                sampling: None,
                blend_src: None,
                per_primitive: false,
            },
            member: OutputMember { lanes: 1, kind: ScalarKind::Uint, array: None, sources },
        })
    }

    /// Members for a pixel shader's render targets: always four lanes, of the kind of the target's.
    fn target_members(&mut self, id: ElementId, element: &SignatureElement, members: &mut Vec<NewMember>) {
        for row in 0..element.rows.clamp(1, MAX_ROWS) {
            let slot = element.semantic_indices.get(row as usize).copied().unwrap_or(row);
            let kind = match self.module.target.render_targets.get(slot as usize) {
                Some(Some(TargetKind::Float)) => ScalarKind::Float,
                Some(Some(TargetKind::Sint)) => ScalarKind::Sint,
                Some(Some(TargetKind::Uint)) => ScalarKind::Uint,
                Some(None) | None => kind_of(element.component),
            };
            let sources = (0..4)
                .map(|component| {
                    (component < element.components()).then_some(OutputLane { element: id, row, component })
                })
                .collect();
            members.push(NewMember {
                name: format!("target{slot}"),
                binding: Binding::Location {
                    location: slot,
                    interpolation: None,
                    sampling: None,
                    blend_src: None,
                    per_primitive: false,
                },
                member: OutputMember { lanes: 4, kind, array: None, sources },
            });
        }
    }

    /// Declares the result as a structure of the members.
    fn declare_result(&mut self, members: Vec<NewMember>) {
        if members.is_empty() {
            return;
        }
        let mut offset = 0;
        let mut declared = Vec::new();
        for NewMember { name, binding, member } in members {
            let ty = match member.array {
                Some(array) => array,
                None => self.module.numeric(scalar32(member.kind), member.lanes),
            };
            declared.push(StructMember { name: Some(name), ty, binding: Some(binding), offset });
            offset += (u32::from(member.lanes) * 4).next_multiple_of(16);
            self.io.outputs.members.push(member);
        }
        let inner = TypeInner::Struct { members: declared, span: offset };
        let ty = self.module.module.types.insert(Type { name: Some("Output".into()), inner }, naga::Span::UNDEFINED);
        self.io.outputs.ty = Some(ty);
        self.function.result = Some(FunctionResult { ty, binding: None });
    }

    /// The result, composed from the locals.
    pub(super) fn finish_outputs(&mut self) -> Result<Option<Expr>> {
        let Some(ty) = self.io.outputs.ty else { return Ok(None) };
        let members = std::mem::take(&mut self.io.outputs.members);
        let components = members.iter().map(|member| self.member_value(member)).collect();
        self.io.outputs.members = members;
        Ok(Some(self.val(Expression::Compose { ty, components })))
    }

    /// A member of the result.
    fn member_value(&mut self, member: &OutputMember) -> Expr {
        let ty = self.module.numeric(scalar32(member.kind), 1);
        if member.array.is_none()
            && let Some(whole) = self.whole_row(member)
        {
            return whole;
        }
        let lanes: Vec<Expr> = member
            .sources
            .iter()
            .map(|source| match source {
                Some(source) => self.output_lane(*source, member.kind),
                None => self.zero(ty),
            })
            .collect();
        match member.array {
            Some(ty) => self.val(Expression::Compose { ty, components: lanes }),
            None => self.vector_of(scalar32(member.kind), &lanes),
        }
    }

    /// A member that is one row of one element, lane by lane; or one that nothing is written to.
    fn whole_row(&mut self, member: &OutputMember) -> Option<Expr> {
        let written = |source: &Option<OutputLane>| {
            source.filter(|source| self.io.outputs.elements[source.element.index()].is_some())
        };
        let sources: Vec<_> = member.sources.iter().map(written).collect();
        if sources.iter().all(Option::is_none) {
            let ty = self.module.numeric(scalar32(member.kind), member.lanes);
            return Some(self.zero(ty));
        }
        let first = sources[0]?;
        let element = self.io.outputs.elements[first.element.index()]?;
        let same = |(lane, source): (u8, &Option<OutputLane>)| {
            source.is_some_and(|source| {
                source.element == first.element && source.row == first.row && source.component == lane
            })
        };
        if element.lanes != member.lanes || !(0..).zip(&sources).all(same) {
            return None;
        }
        let row = self.output_row(element, first.row);
        let value = self.load(row);
        Some(self.bits_as(value, element.kind, member.kind))
    }

    /// One component of what was written, as a kind; zero if the element never is.
    fn output_lane(&mut self, lane: OutputLane, kind: ScalarKind) -> Expr {
        let Some(element) =
            self.io.outputs.elements[lane.element.index()].filter(|element| lane.component < element.lanes)
        else {
            let ty = self.module.numeric(scalar32(kind), 1);
            return self.zero(ty);
        };
        let row = self.output_row(element, lane.row);
        let pointer = self.lane(row, element.lanes, lane.component);
        let value = self.load(pointer);
        self.bits_as(value, element.kind, kind)
    }

    /// Pointer to a row of an element.
    fn output_row(&mut self, element: OutputElement, row: u32) -> Expr {
        if element.rows == 1 {
            return element.pointer;
        }
        self.val(Expression::AccessIndex { base: element.pointer, index: row.min(element.rows - 1) })
    }

    /// [`ir::Op::StoreOutput`] of the output signature.
    pub(super) fn store_output(
        &mut self,
        interface: &EntryPointInterface,
        id: ElementId,
        row: Value,
        component: u8,
        value: Value,
    ) -> Result<()> {
        let signature = element_of(&interface.outputs, id)?;
        let element = self.io.outputs.elements[id.index()]
            .ok_or_else(|| Error::internal(format!("output without a place: {id:?}")))?;
        let ty = self.ir.ty(value);
        if component + ty.lanes() > element.lanes {
            return Err(Error::malformed(format!("output components beyond the element: {}", signature.semantic)));
        }
        let value = self.lanes_for_register(value, ty, element.kind)?;
        if element.rows > 1 && self.ir.as_scalar_constant(row).is_none() {
            let row = self.get_as(row, ScalarKind::Uint)?;
            let count = self.u32(element.rows);
            let inside = self.binary(naga::BinaryOperator::Less, row, count);
            self.when(inside, |emitter| {
                let pointer = emitter.val(Expression::Access { base: element.pointer, index: row });
                emitter.store_lanes(pointer, element.lanes, component, value, ty.lanes());
            });
            return Ok(());
        }
        let row = self.ir.as_scalar_constant(row).unwrap_or(0) as u32;
        if row >= element.rows {
            return Err(Error::malformed(format!("output row out of range: {} row {row}", signature.semantic)));
        }
        let pointer = self.output_row(element, row);
        self.store_lanes(pointer, element.lanes, component, value, ty.lanes());
        Ok(())
    }

    /// Stores `count` lanes from `first` of a vector of `lanes`.
    pub(super) fn store_lanes(&mut self, pointer: Expr, lanes: u8, first: u8, value: Expr, count: u8) {
        if count == lanes {
            self.store(pointer, value);
            return;
        }
        for lane in 0..count {
            let value = self.lane(value, count, lane);
            let pointer = self.lane(pointer, lanes, first + lane);
            self.store(pointer, value);
        }
    }

    /// A value of the IR as 32-bit lanes of a kind.
    pub(super) fn lanes_for_register(&mut self, value: Value, ty: ir::Type, kind: ScalarKind) -> Result<Expr> {
        let Emission { expr, kind: from } = self.get(value)?;
        match ty.scalar() {
            // Extended as the other side takes it.
            Some(ir::Scalar::I16) if kind != ScalarKind::Float => {
                Ok(self.cast(Emission { expr, kind: from }, ty, kind))
            }
            Some(ir::Scalar::F32 | ir::Scalar::I32 | ir::Scalar::I16) => Ok(self.bits_as(expr, from, kind)),
            Some(ir::Scalar::F16) => {
                let value = self.widened_halves(value)?;
                Ok(self.bits_as(value, ScalarKind::Float, kind))
            }
            _ => Err(Error::unsupported(format!("type of a stage output: {ty}"))),
        }
    }
}

/// The components of clip or cull distances, in the order of their semantic indices.
fn distances(interface: &EntryPointInterface, system_value: SystemValue) -> Vec<Option<OutputLane>> {
    let mut rows: Vec<(u32, ElementId, u32, u8)> = Vec::new();
    for (id, element) in (0..).map(ElementId).zip(&interface.outputs) {
        if element.system_value != system_value {
            continue;
        }
        for row in 0..element.rows.clamp(1, MAX_ROWS) {
            let index = element.semantic_indices.get(row as usize).copied().unwrap_or(row);
            rows.push((index, id, row, element.components()));
        }
    }
    rows.sort_by_key(|row| row.0);
    rows.into_iter()
        .flat_map(|(_, element, row, components)| {
            (0..components).map(move |component| Some(OutputLane { element, row, component }))
        })
        .collect()
}
