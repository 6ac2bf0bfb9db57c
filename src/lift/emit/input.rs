//! Inputs of entry points: one argument for each register, whose number is its location.

use naga::{
    ArraySize, Binding, BuiltIn, Expression, Interpolation, Sampling, Scalar, ScalarKind, TypeInner,
    valid::Capabilities,
};

use super::{
    Emission, FunctionEmitter, ModuleEmitter,
    expression::Expr,
    io::{kind_of, scalar32},
};
use crate::{
    Error, Result,
    ir::{self, ElementId, EvaluateAt, Value},
    lift::link::{self, MAX_ROWS},
    reflection::{self, EntryPointInterface, SignatureElement, Stage, SystemValue},
};

/// A register's argument.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputRegister {
    /// The argument.
    pub expr: Expr,
    /// Kind of its scalars.
    pub kind: ScalarKind,
    /// Number of its lanes, from x.
    pub lanes: u8,
    /// How a pixel shader's register is interpolated.
    pub interpolation: reflection::Interpolation,
    /// The register at the three vertices of the triangle, where the pixel shader wants it there.
    pub vertices: Option<Expr>,
}

/// naga's terms for a mode.
pub(super) fn interpolation(mode: reflection::Interpolation) -> (Interpolation, Option<Sampling>) {
    use reflection::Interpolation as Mode;
    match mode {
        Mode::Constant => (Interpolation::Flat, None),
        Mode::Undefined | Mode::Linear => (Interpolation::Perspective, Some(Sampling::Center)),
        Mode::LinearCentroid => (Interpolation::Perspective, Some(Sampling::Centroid)),
        Mode::LinearSample => (Interpolation::Perspective, Some(Sampling::Sample)),
        Mode::LinearNoperspective => (Interpolation::Linear, Some(Sampling::Center)),
        Mode::LinearNoperspectiveCentroid => (Interpolation::Linear, Some(Sampling::Centroid)),
        Mode::LinearNoperspectiveSample => (Interpolation::Linear, Some(Sampling::Sample)),
    }
}

/// Set in the number of a pixel shader's register that is given for each primitive.
const PRIMITIVE: u32 = 1 << 31;

impl FunctionEmitter<'_, '_> {
    /// Declares the arguments for the registers of the inputs that the entry point reads.
    pub(super) fn begin_inputs(&mut self, interface: &EntryPointInterface) -> Result<()> {
        let used = self.input_uses();
        let elements: Vec<(ElementId, &SignatureElement)> = (0..)
            .map(ElementId)
            .zip(&interface.inputs)
            .filter(|(id, element)| used.contains_key(id) && is_register(interface.stage, element))
            .collect();
        match interface.stage {
            Stage::Vertex => self.declare_attributes(&elements)?,
            Stage::Pixel => self.declare_varyings(&elements)?,
            _ => {}
        }
        for (id, element) in elements {
            if used.get(&id).is_some_and(|dynamic| *dynamic) {
                self.copy_rows(id, element)?;
            }
        }
        Ok(())
    }

    /// The inputs that the function reads; `true` if it chooses rows at run time.
    fn input_uses(&self) -> std::collections::BTreeMap<ElementId, bool> {
        let mut uses = std::collections::BTreeMap::new();
        for &inst in self.ir.blocks.iter().flat_map(|block| &block.insts) {
            if let Some(
                ir::Op::LoadInput { signature: ir::SignatureKind::Input, element, row, .. }
                | ir::Op::EvaluateInput { element, row, .. }
                | ir::Op::LoadInputAtVertex { element, row, .. },
            ) = self.ir.op(inst)
            {
                *uses.entry(*element).or_insert(false) |= self.ir.as_scalar_constant(*row).is_none();
            }
        }
        uses
    }

    /// Vertex attributes: as many lanes as the elements of the register need, of their kind.
    fn declare_attributes(&mut self, elements: &[(ElementId, &SignatureElement)]) -> Result<()> {
        let mut registers = std::collections::BTreeMap::new();
        for (_, element) in elements {
            let lanes = (8 - element.mask.leading_zeros() as u8).clamp(1, 4);
            let kind = kind_of(element.component);
            for row in 0..element.rows.clamp(1, MAX_ROWS) {
                let Some(register) = register_of(element, row) else { continue };
                let (known_kind, known_lanes, _) =
                    registers.entry(register).or_insert_with(|| (kind, lanes, element_name(element, row)));
                if *known_kind != kind {
                    let what = format!("vertex input register of mixed types: v{register}");
                    return Err(Error::unsupported(what));
                }
                *known_lanes = lanes.max(*known_lanes);
            }
        }
        for (location, (kind, lanes, name)) in registers {
            let ty = self.module.numeric(scalar32(kind), lanes);
            let binding = Binding::Location {
                location,
                interpolation: None,
                sampling: None,
                blend_src: None,
                per_primitive: false,
            };
            let expr = self.argument(Some(name), ty, binding);
            let interpolation = reflection::Interpolation::Undefined;
            let register = InputRegister { expr, kind, lanes, interpolation, vertices: None };
            self.io.registers.insert(location, register);
        }
        Ok(())
    }

    /// A pixel shader's inputs: always four lanes, so that they match whatever vertex shader is emitted for them.
    fn declare_varyings(&mut self, elements: &[(ElementId, &SignatureElement)]) -> Result<()> {
        let at_vertices = self.registers_at_vertices(elements);
        let linked = self.module.target.pixel_inputs.as_ref();
        let is_primitive = |element: &SignatureElement| linked.is_some_and(|linked| linked.is_primitive(element));
        for per_primitive in [false, true] {
            let elements: Vec<&SignatureElement> = elements
                .iter()
                .map(|(_, element)| *element)
                .filter(|element| is_primitive(element) == per_primitive)
                .collect();
            for (number, register) in link::varying_registers(elements.iter().copied()) {
                let names: Vec<String> = elements
                    .iter()
                    .filter_map(|element| {
                        let row = number.checked_sub(element.register?)?;
                        (row < element.rows).then(|| element_name(element, row))
                    })
                    .collect();
                let location = match linked {
                    Some(linked) if per_primitive => linked.primitive_location(number).unwrap_or(number),
                    _ => number,
                };
                let kind = varying_kind(register.interpolation);
                let ty = self.module.numeric(scalar32(kind), 4);
                let interpolation = register.interpolation;
                if !per_primitive && at_vertices.contains(&number) {
                    let vertices = self.declare_at_vertices(location, ty, names.join("_"))?;
                    // What is not interpolated is that of the first vertex.
                    let expr = self.val(Expression::AccessIndex { base: vertices, index: 0 });
                    let vertices = Some(vertices);
                    self.io.registers.insert(number, InputRegister { expr, kind, lanes: 4, interpolation, vertices });
                    continue;
                }
                let binding = match per_primitive {
                    true => primitive_binding(location),
                    false => self.module.varying(location, register.interpolation),
                };
                let expr = self.argument(Some(names.join("_")), ty, binding);
                let key = if per_primitive { number | PRIMITIVE } else { number };
                self.io.registers.insert(key, InputRegister { expr, kind, lanes: 4, interpolation, vertices: None });
            }
        }
        Ok(())
    }

    /// The registers that the function reads at vertices.
    fn registers_at_vertices(&self, elements: &[(ElementId, &SignatureElement)]) -> std::collections::BTreeSet<u32> {
        let mut registers = std::collections::BTreeSet::new();
        for &inst in self.ir.blocks.iter().flat_map(|block| &block.insts) {
            let Some(ir::Op::LoadInputAtVertex { element, .. }) = self.ir.op(inst) else { continue };
            let element = elements.iter().find(|(id, _)| id == element).map(|(_, element)| element);
            if let Some(element) = element {
                registers.extend((0..element.rows.clamp(1, MAX_ROWS)).filter_map(|row| register_of(element, row)));
            }
        }
        registers
    }

    /// Declares a register at the three vertices of the triangle.
    fn declare_at_vertices(&mut self, location: u32, base: naga::Handle<naga::Type>, name: String) -> Result<Expr> {
        if !self.module.target.capabilities.contains(Capabilities::PER_VERTEX) {
            return Err(Error::unsupported("inputs at the vertices of a triangle, which the target lacks"));
        }
        let size = ArraySize::Constant(std::num::NonZeroU32::new(3).unwrap_or(std::num::NonZeroU32::MIN));
        let ty = self.module.ty(TypeInner::Array { base, size, stride: 16 });
        let interpolation = Some(Interpolation::PerVertex);
        let binding =
            Binding::Location { location, interpolation, sampling: None, blend_src: None, per_primitive: false };
        Ok(self.argument(Some(name), ty, binding))
    }

    /// [`ir::Op::LoadInputAtVertex`].
    pub(super) fn load_input_at_vertex(
        &mut self,
        interface: &EntryPointInterface,
        id: ElementId,
        row: Value,
        component: u8,
        vertex: u8,
        ty: ir::Type,
    ) -> Result<Emission> {
        let element = element_of(&interface.inputs, id)?;
        let row = self.ir.as_scalar_constant(row);
        let row = row.ok_or_else(|| Error::unsupported("input at a vertex whose row is chosen at run time"))?;
        let register = self.input_register(element, row as u32)?;
        let vertices = register.vertices;
        let base = vertices.ok_or_else(|| Error::unsupported("input at a vertex that is given for each primitive"))?;
        let (first, count) = (element.first_component() + component, ty.lanes());
        if first + count > 4 {
            return Err(Error::malformed(format!("input components beyond the register: {}", element.semantic)));
        }
        let value = self.val(Expression::AccessIndex { base, index: u32::from(vertex) });
        let value = self.lanes_from(value, 4, first, count);
        self.value_of_register(value, register.kind, ty)
    }

    /// Copies the rows of an element into an array: arguments cannot be indexed at run time.
    fn copy_rows(&mut self, id: ElementId, element: &SignatureElement) -> Result<()> {
        let rows = element.rows.clamp(1, MAX_ROWS);
        let mut values = Vec::new();
        for row in 0..rows {
            let register = self.input_register(element, row)?;
            values.push(self.bits_as_vec4(register));
        }
        let base = self.module.numeric(Scalar::U32, 4);
        let size = ArraySize::Constant(std::num::NonZeroU32::new(rows).unwrap_or(std::num::NonZeroU32::MIN));
        let ty = self.module.ty(TypeInner::Array { base, size, stride: 16 });
        let array = self.local(ty, Some(element_name(element, 0)));
        for (row, value) in (0..).zip(values) {
            let pointer = self.val(Expression::AccessIndex { base: array, index: row });
            self.store(pointer, value);
        }
        self.io.rows.insert(id, array);
        Ok(())
    }

    /// A register as `vec4<u32>`.
    fn bits_as_vec4(&mut self, register: InputRegister) -> Expr {
        let value = self.bits_as(register.expr, register.kind, ScalarKind::Uint);
        if register.lanes == 4 {
            return value;
        }
        let mut lanes = self.lanes(value, register.lanes);
        let zero = self.u32(0);
        lanes.resize(4, zero);
        self.vector_of(Scalar::U32, &lanes)
    }

    /// The register of an element's row.
    fn input_register(&self, element: &SignatureElement, row: u32) -> Result<InputRegister> {
        let linked = self.module.target.pixel_inputs.as_ref().filter(|_| self.stage == Stage::Pixel);
        let flag = if linked.is_some_and(|linked| linked.is_primitive(element)) { PRIMITIVE } else { 0 };
        register_of(element, row)
            .and_then(|register| self.io.registers.get(&(register | flag)).copied())
            .ok_or_else(|| Error::malformed(format!("input has no register: {} row {row}", element.semantic)))
    }

    /// [`ir::Op::LoadInput`] of the input signature.
    pub(super) fn load_input(
        &mut self,
        interface: &EntryPointInterface,
        id: ElementId,
        row: Value,
        component: u8,
        ty: ir::Type,
    ) -> Result<Emission> {
        let element = element_of(&interface.inputs, id)?;
        if !is_register(interface.stage, element) {
            return self.rasterizer_input(interface, element, component, ty);
        }
        let first = element.first_component() + component;
        let count = ty.lanes();
        if first + count > 4 {
            return Err(Error::malformed(format!("input components beyond the register: {}", element.semantic)));
        }
        let (value, kind, lanes) = match self.ir.as_scalar_constant(row) {
            Some(row) => {
                let register = self.input_register(element, row as u32)?;
                (register.expr, register.kind, register.lanes)
            }
            None => {
                let array = *self
                    .io
                    .rows
                    .get(&id)
                    .ok_or_else(|| Error::internal(format!("rows of the input were not copied: {id:?}")))?;
                let rows = element.rows.clamp(1, MAX_ROWS);
                (self.dynamic_row(array, row, rows)?, ScalarKind::Uint, 4)
            }
        };
        let missing = (first + count).saturating_sub(lanes);
        let value = if missing == 0 {
            self.lanes_from(value, lanes, first, count)
        } else {
            let mut all = self.lanes(value, lanes);
            let zero_type = self.module.numeric(scalar32(kind), 1);
            let zero = self.zero(zero_type);
            all.resize(usize::from(first + count), zero);
            self.vector_of(scalar32(kind), &all[usize::from(first)..])
        };
        self.value_of_register(value, kind, ty)
    }

    /// A row chosen at run time; out of range gives 0.
    fn dynamic_row(&mut self, array: Expr, row: Value, rows: u32) -> Result<Expr> {
        let row = self.get_as(row, ScalarKind::Uint)?;
        let count = self.u32(rows);
        let inside = self.binary(naga::BinaryOperator::Less, row, count);
        let zero_row = self.u32(0);
        let index = self.select(inside, row, zero_row);
        let pointer = self.val(Expression::Access { base: array, index });
        let value = self.load(pointer);
        let ty = self.module.numeric(Scalar::U32, 4);
        let zero = self.zero(ty);
        let inside = self.splat_to(inside, 4);
        Ok(self.select(inside, value, zero))
    }

    /// 32-bit lanes of a register as a value of the IR's type.
    pub(super) fn value_of_register(&mut self, value: Expr, kind: ScalarKind, ty: ir::Type) -> Result<Emission> {
        let emission = match ty.scalar() {
            Some(ir::Scalar::F32) => {
                Emission { expr: self.bits_as(value, kind, ScalarKind::Float), kind: ScalarKind::Float }
            }
            Some(ir::Scalar::F16) => {
                let value = self.bits_as(value, kind, ScalarKind::Float);
                let expr = self.val(Expression::As { expr: value, kind: ScalarKind::Float, convert: Some(2) });
                Emission { expr, kind: ScalarKind::Float }
            }
            Some(scalar @ (ir::Scalar::I32 | ir::Scalar::I16)) => {
                let emission = match kind {
                    ScalarKind::Float => {
                        Emission { expr: self.bits_as(value, kind, ScalarKind::Uint), kind: ScalarKind::Uint }
                    }
                    kind => Emission { expr: value, kind },
                };
                // The other side may have extended 16 bits in its own way.
                if scalar == ir::Scalar::I16 { self.rewrapped(emission, ty) } else { emission }
            }
            Some(ir::Scalar::Bool) => {
                let value = self.bits_as(value, kind, ScalarKind::Uint);
                let zero_type = self.module.numeric(Scalar::U32, ty.lanes());
                let zero = self.zero(zero_type);
                let expr = self.binary(naga::BinaryOperator::NotEqual, value, zero);
                Emission { expr, kind: ScalarKind::Bool }
            }
            _ => return Err(Error::unsupported(format!("type of a stage input: {ty}"))),
        };
        Ok(emission)
    }

    /// An input that is no register of the stage before.
    fn rasterizer_input(
        &mut self,
        interface: &EntryPointInterface,
        element: &SignatureElement,
        component: u8,
        ty: ir::Type,
    ) -> Result<Emission> {
        match element.system_value {
            SystemValue::Position => {
                let mut position = self.builtin(BuiltIn::Position { invariant: false })?;
                if runs_for_each_sample(interface) && !is_of_samples(element.interpolation) {
                    position = self.pixel_centre(position);
                }
                self.fragment_position(position, component, ty)
            }
            SystemValue::Barycentrics => {
                let value = self.barycentrics(interface, is_perspective(element))?;
                let value = self.lanes_from(value, 3, component, ty.lanes());
                self.value_of_register(value, ScalarKind::Float, ty)
            }
            system_value => self.system_value(interface, system_value, ty),
        }
    }

    /// The position with x and y at the pixel's centre (Direct3D 11.3 functional specification, 16.3), where WebGPU's is at
    /// the sample.
    fn pixel_centre(&mut self, position: Expr) -> Expr {
        let mut lanes = self.lanes(position, 4);
        let half = self.f32(0.5);
        for lane in &mut lanes[..2] {
            let corner = self.math(naga::MathFunction::Floor, &[*lane]);
            *lane = self.binary(naga::BinaryOperator::Add, corner, half);
        }
        self.vector_of(Scalar::F32, &lanes)
    }

    /// The barycentrics of the pixel's centre, with perspective or without. naga has one of them in an entry point: where
    /// the function reads those with perspective, the others are worked out from them.
    ///
    /// Those with perspective, divided by w, are as many times those without as the reciprocal of each vertex' w, which is
    /// constant: the vector of these w is upright on both derivatives, and what it scales adds up to 1.
    pub(super) fn barycentrics(&mut self, interface: &EntryPointInterface, perspective: bool) -> Result<Expr> {
        let reads = self.input_uses();
        let elements = (0..).map(ElementId).zip(&interface.inputs);
        let has_perspective = elements
            .filter(|(id, element)| element.system_value == SystemValue::Barycentrics && reads.contains_key(id))
            .any(|(_, element)| is_perspective(element));
        let value = self.builtin(BuiltIn::Barycentric { perspective: has_perspective })?;
        if perspective == has_perspective {
            return Ok(value);
        }
        use naga::{BinaryOperator as Op, DerivativeAxis as Axis, DerivativeControl as Control, MathFunction};
        let position = self.builtin(BuiltIn::Position { invariant: false })?;
        let reciprocal = self.lane(position, 4, 3);
        let reciprocal = self.splat_to(reciprocal, 3);
        let scaled = self.binary(Op::Multiply, value, reciprocal);
        let [x, y] = [Axis::X, Axis::Y]
            .map(|axis| self.val(Expression::Derivative { axis, ctrl: Control::Coarse, expr: scaled }));
        let upright = self.math(MathFunction::Cross, &[x, y]);
        let sum = self.math(MathFunction::Dot, &[scaled, upright]);
        let sum = self.splat_to(sum, 3);
        let parts = self.binary(Op::Multiply, scaled, upright);
        Ok(self.binary(Op::Divide, parts, sum))
    }

    /// Direct3D's position of the pixel: its w is the clip-space w, WebGPU's the reciprocal.
    fn fragment_position(&mut self, position: Expr, component: u8, ty: ir::Type) -> Result<Emission> {
        let count = ty.lanes();
        if component + count > 4 {
            return Err(Error::malformed("components beyond SV_Position"));
        }
        let value = if component + count < 4 {
            self.lanes_from(position, 4, component, count)
        } else {
            let mut lanes = self.lanes(position, 4);
            let one = self.f32(1.0);
            lanes[3] = self.binary(naga::BinaryOperator::Divide, one, lanes[3]);
            self.vector_of(Scalar::F32, &lanes[usize::from(component)..])
        };
        self.value_of_register(value, ScalarKind::Float, ty)
    }

    /// [`ir::Op::EvaluateInput`].
    pub(super) fn evaluate_input(
        &mut self,
        interface: &EntryPointInterface,
        id: ElementId,
        row: Value,
        component: u8,
        at: EvaluateAt,
        ty: ir::Type,
    ) -> Result<Emission> {
        let element = element_of(&interface.inputs, id)?;
        let value = self.load_input(interface, id, row, component, ty)?;
        let register = self.ir.as_scalar_constant(row).and_then(|row| register_of(element, row as u32));
        let mode =
            register.and_then(|register| self.io.registers.get(&register)).map(|register| register.interpolation);
        use reflection::Interpolation as Mode;
        match (at, mode) {
            (_, Some(Mode::Constant)) => Ok(value),
            (EvaluateAt::Centroid, Some(Mode::LinearCentroid | Mode::LinearNoperspectiveCentroid)) => Ok(value),
            (EvaluateAt::Centroid, _) => {
                self.module.note("EvaluateAttributeCentroid: taken where the input itself is interpolated");
                Ok(value)
            }
            (_, None) => Err(Error::unsupported("evaluation of an input whose row is chosen at run time")),
            (at, Some(mode)) => {
                let offset = match at {
                    EvaluateAt::Snapped(x, y) => [self.snapped(x)?, self.snapped(y)?],
                    EvaluateAt::Sample(sample) => {
                        let count = self.u32(self.module.target.samples);
                        self.standard_position(count, sample)?
                    }
                    EvaluateAt::Centroid => return Ok(value),
                };
                let perspective = !matches!(
                    mode,
                    Mode::LinearNoperspective | Mode::LinearNoperspectiveCentroid | Mode::LinearNoperspectiveSample
                );
                if ty.scalar() != Some(ir::Scalar::F16) {
                    return self.evaluate_away(value, ty, offset, perspective);
                }
                // The register is of 32 bits, as the position's w is.
                let wide = ty.with_scalar(ir::Scalar::F32);
                let value = self.load_input(interface, id, row, component, wide)?;
                let value = self.evaluate_away(value, wide, offset, perspective)?;
                self.value_of_register(value.expr, value.kind, ty)
            }
        }
    }

    /// An offset in sixteenths of a pixel, four bits with a sign, in pixels.
    fn snapped(&mut self, offset: Value) -> Result<Expr> {
        use naga::BinaryOperator as Op;
        let offset = self.get_as(offset, ScalarKind::Sint)?;
        let high = self.u32(28);
        let shifted = self.binary(Op::ShiftLeft, offset, high);
        let offset = self.binary(Op::ShiftRight, shifted, high);
        let offset = self.convert(offset, Scalar::F32);
        let sixteenth = self.f32(1.0 / 16.0);
        Ok(self.binary(Op::Multiply, offset, sixteenth))
    }

    /// An attribute some way from the pixel's centre: what is linear on the screen (the attribute over w, and 1 over w)
    /// is carried on by its derivatives.
    fn evaluate_away(
        &mut self,
        value: Emission,
        ty: ir::Type,
        offset: [Expr; 2],
        perspective: bool,
    ) -> Result<Emission> {
        use naga::{BinaryOperator as Op, DerivativeAxis as Axis, DerivativeControl as Control};
        let lanes = ty.lanes();
        let offset = offset.map(|offset| self.splat_to(offset, lanes));
        let moved = |emitter: &mut Self, value: Expr| {
            let mut sum = value;
            for (axis, offset) in [Axis::X, Axis::Y].into_iter().zip(offset) {
                let slope = emitter.val(Expression::Derivative { axis, ctrl: Control::Coarse, expr: value });
                let step = emitter.binary(Op::Multiply, slope, offset);
                sum = emitter.binary(Op::Add, sum, step);
            }
            sum
        };
        let expr = if perspective {
            let position = self.builtin(BuiltIn::Position { invariant: false })?;
            let reciprocal = self.lane(position, 4, 3);
            let reciprocal = self.splat_to(reciprocal, lanes);
            let product = self.binary(Op::Multiply, value.expr, reciprocal);
            let numerator = moved(self, product);
            let denominator = moved(self, reciprocal);
            self.binary(Op::Divide, numerator, denominator)
        } else {
            moved(self, value.expr)
        };
        Ok(Emission { expr, kind: value.kind })
    }
}

/// An element of a signature.
pub(super) fn element_of(elements: &[SignatureElement], id: ElementId) -> Result<&SignatureElement> {
    elements.get(id.index()).ok_or_else(|| Error::internal(format!("signature element out of range: {id:?}")))
}

/// The pixel shader runs for each sample: it asks which one, or for an input there.
fn runs_for_each_sample(interface: &EntryPointInterface) -> bool {
    let asks = |element: &SignatureElement| {
        element.system_value == SystemValue::SampleIndex || is_of_samples(element.interpolation)
    };
    interface.inputs.iter().any(asks)
}

/// The input is interpolated at each sample.
fn is_of_samples(interpolation: reflection::Interpolation) -> bool {
    use reflection::Interpolation as Mode;
    matches!(interpolation, Mode::LinearSample | Mode::LinearNoperspectiveSample)
}

/// The input is a register: not one that the pipeline makes itself.
fn is_register(stage: Stage, element: &SignatureElement) -> bool {
    match stage {
        Stage::Vertex => {
            !matches!(element.system_value, SystemValue::VertexId | SystemValue::InstanceId | SystemValue::ViewId)
                && element.register.is_some()
        }
        Stage::Pixel => link::is_varying(element),
        _ => element.register.is_some(),
    }
}

/// The element is interpolated with perspective.
fn is_perspective(element: &SignatureElement) -> bool {
    !matches!(
        element.interpolation,
        reflection::Interpolation::LinearNoperspective
            | reflection::Interpolation::LinearNoperspectiveCentroid
            | reflection::Interpolation::LinearNoperspectiveSample
    )
}

/// Number of a row's register.
pub(super) fn register_of(element: &SignatureElement, row: u32) -> Option<u32> {
    (row < element.rows.max(1)).then_some(())?;
    element.register?.checked_add(row)
}

/// Name for an element's row, as the HLSL has it: `TEXCOORD1`.
pub(super) fn element_name(element: &SignatureElement, row: u32) -> String {
    let index = element.semantic_indices.get(row as usize).copied().unwrap_or(row);
    format!("{}{index}", element.semantic)
}

/// Kind of a varying's scalars: constant registers may mix types, and travel as bits.
pub(super) fn varying_kind(mode: reflection::Interpolation) -> ScalarKind {
    match mode {
        reflection::Interpolation::Constant => ScalarKind::Uint,
        _ => ScalarKind::Float,
    }
}

/// Binding of what is given for each primitive.
pub(super) fn primitive_binding(location: u32) -> Binding {
    let interpolation = Some(naga::Interpolation::Flat);
    Binding::Location { location, interpolation, sampling: None, blend_src: None, per_primitive: true }
}

impl ModuleEmitter<'_> {
    /// Binding of a varying.
    pub(super) fn varying(&mut self, location: u32, mode: reflection::Interpolation) -> Binding {
        let (interpolation, mut sampling) = interpolation(mode);
        let interpolation = Some(interpolation);
        if sampling == Some(Sampling::Sample) && !self.target.capabilities.contains(Capabilities::MULTISAMPLED_SHADING)
        {
            self.note("interpolation at samples: taken at the pixel's centre, as the target cannot shade samples");
            sampling = Some(Sampling::Center);
        }
        Binding::Location { location, interpolation, sampling, blend_src: None, per_primitive: false }
    }
}
