//! Stage inputs and outputs.
//!
//! DXIL moves them number by number. Loads of one row become one load at the beginning of the function, stores of one
//! row in one block one store.

use std::collections::BTreeMap;

use super::Call;
use crate::{
    Error, Result,
    dxil::{
        lower::{FunctionLowering, Lowered},
        module as llvm,
    },
    ir::{BinaryOp, ElementId, EvaluateAt, Op, Scalar, SignatureKind, Type, Value},
    reflection::{SignatureElement, SystemValue},
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// `dx.op.loadInput`.
const LOAD_INPUT: i64 = 4;

/// What a function has loaded, and what it has still to store.
#[derive(Debug, Default)]
pub struct Signatures {
    /// Rows that are loaded at the beginning: first component, and the components.
    loaded: BTreeMap<(u32, u32), (u8, Value)>,
    /// Numbers to store, by signature, element and row: one for each component.
    pending: BTreeMap<(u8, u32, u32), [Option<Value>; 4]>,
}

/// Place of one number: element, row, component.
struct Place {
    element: ElementId,
    row: Value,
    component: u8,
}

impl FunctionLowering<'_, '_> {
    /// Loads, at the beginning of the function, each row of an input that it takes numbers of.
    pub fn load_inputs(&mut self) -> Result<()> {
        let module = self.parent.module;
        let body = self.body;
        let mut rows: BTreeMap<(u32, u32), (u8, llvm::TypeId)> = BTreeMap::new();
        for instruction in &body.instructions {
            let llvm::Operation::Call { callee, arguments } = &instruction.op else { continue };
            let [number, element, row, component, vertex] = arguments.as_slice() else { continue };
            if !module.functions[callee.index()].name.starts_with("dx.op.")
                || self.as_integer(*number) != Some(LOAD_INPUT)
                || !self.is_undefined(*vertex)
            {
                continue;
            }
            let constants = [element, row, component].map(|id| self.as_integer(*id));
            let [Some(element), Some(row), Some(component @ 0..4)] = constants else { continue };
            let entry = rows.entry((element as u32, row as u32)).or_insert((0, instruction.ty));
            if module.types.get(entry.1) == module.types.get(instruction.ty) {
                entry.0 |= 1 << component;
            }
        }
        for ((element, row), (mask, ty)) in rows {
            let Some(declared) = self.entry().ok().and_then(|entry| entry.inputs.get(element as usize)) else {
                continue;
            };
            let first = mask.trailing_zeros() as u8;
            let lanes = 8 - mask.leading_zeros() as u8 - first;
            if row >= declared.rows || first + lanes > declared.components() {
                continue;
            }
            let ty = Type::new(self.parent.scalar(ty)?, lanes);
            let row_value = self.function.i32(row);
            let op = Op::LoadInput {
                signature: SignatureKind::Input,
                element: ElementId(element),
                row: row_value,
                component: first,
                vertex: None,
            };
            let value = self.build().push(op, ty);
            self.signatures.loaded.insert((element, row), (first, value));
        }
        Ok(())
    }

    /// Stores what has still to be stored.
    pub fn flush_outputs(&mut self) -> Result<()> {
        for ((signature, element, row), components) in std::mem::take(&mut self.signatures.pending) {
            let signature = if signature == 0 { SignatureKind::Output } else { SignatureKind::PatchConstant };
            let row = self.function.i32(row);
            let mut start = 0;
            while start < 4 {
                let Some(first) = components[start] else {
                    start += 1;
                    continue;
                };
                // A run of components of one type.
                let ty = self.function.ty(first);
                let run = components[start..].iter().map_while(|value| *value);
                let run: Vec<Value> = run.take_while(|value| self.function.ty(*value) == ty).collect();
                let value = self.build().compose(&run);
                let element = ElementId(element);
                let component = start as u8;
                self.build().effect(Op::StoreOutput { signature, element, row, component, vertex: None, value });
                start += run.len();
            }
        }
        Ok(())
    }

    /// The place that three arguments name: element, row, component.
    fn place(&mut self, call: &Call<'_>, elements: &[SignatureElement]) -> Result<Place> {
        let element = call.constant(self, 0)?;
        let declared = elements.get(element as usize);
        let declared = declared.ok_or_else(|| Error::malformed(format!("no such element: {element}")))?;
        let row = call.i32(self, 1)?;
        if self.function.as_scalar_constant(row).is_some_and(|row| row >= u64::from(declared.rows)) {
            return Err(Error::malformed(format!("no such row of element: {element}")));
        }
        let component = call.constant(self, 2)?;
        if component >= u32::from(declared.components()) {
            return Err(Error::malformed(format!("no such component of element: {element}")));
        }
        Ok(Place { element: ElementId(element), row, component: component as u8 })
    }

    /// Remembers a number to store, or stores it if its row is not constant.
    fn store_element(
        &mut self,
        signature: SignatureKind,
        place: &Place,
        vertex: Option<Value>,
        value: Value,
    ) -> Result<()> {
        let scalar = self.function.ty(value).scalar();
        if scalar.is_none_or(|scalar| scalar == Scalar::Bool) {
            return Err(Error::malformed("output is no number"));
        }
        let &Place { element, row, component } = place;
        match self.function.as_scalar_constant(row) {
            Some(row) if vertex.is_none() => {
                let key = (u8::from(signature == SignatureKind::PatchConstant), element.0, row as u32);
                self.signatures.pending.entry(key).or_default()[component as usize] = Some(value);
            }
            _ => {
                self.flush_outputs()?;
                self.build().effect(Op::StoreOutput { signature, element, row, component, vertex, value });
            }
        }
        Ok(())
    }

    /// A vertex or instance id without where the draw begins, which naga's has in it and the program asks for apart.
    fn without_start_of_draw(&mut self, place: &Place, value: Value) -> Value {
        let element = self.entry().ok().and_then(|entry| entry.inputs.get(place.element.index()));
        let component = match element.map(|element| element.system_value) {
            Some(SystemValue::VertexId) => 0,
            Some(SystemValue::InstanceId) => 1,
            _ => return value,
        };
        if self.function.ty(value) != Type::I32 {
            return value;
        }
        match self.draw_argument(component) {
            Some(start) => self.build().binary(BinaryOp::ISub, value, start),
            None => value,
        }
    }

    fn load_element(
        &mut self,
        call: &Call<'_>,
        signature: SignatureKind,
        place: &Place,
        vertex: Option<Value>,
    ) -> Result<Option<Lowered>> {
        let ty = Type::Scalar(call.result_scalar(self)?);
        let &Place { element, row, component } = place;
        let value = self.build().push(Op::LoadInput { signature, element, row, component, vertex }, ty);
        Ok(Some(Lowered::scalar(value)))
    }
}

/// Element, row, component, vertex.
pub fn load_input(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let place = f.place(call, &f.entry()?.inputs)?;
    let vertex = call.optional(f, 3)?;
    if vertex.is_some_and(|vertex| f.function.ty(vertex) != Type::I32) {
        return Err(Error::malformed("vertex is no i32"));
    }
    let ty = Type::Scalar(call.result_scalar(f)?);
    if let (None, Some(row)) = (vertex, f.function.as_scalar_constant(place.row))
        && let Some(&(first, vector)) = f.signatures.loaded.get(&(place.element.0, row as u32))
        && f.function.ty(vector).scalar() == ty.scalar()
        && place.component >= first
    {
        let value = f.build().extract(vector, place.component - first);
        return Ok(Some(Lowered::scalar(f.without_start_of_draw(&place, value))));
    }
    let lowered = f.load_element(call, SignatureKind::Input, &place, vertex)?;
    let value = lowered.map(|lowered| lowered.one()).transpose()?;
    Ok(value.map(|value| Lowered::scalar(f.without_start_of_draw(&place, value))))
}

/// Element, row, component, value.
pub fn store_output(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let place = f.place(call, &f.entry()?.outputs)?;
    let value = call.number(f, 3)?;
    f.store_element(SignatureKind::Output, &place, None, value)?;
    Ok(None)
}

/// Element, row, component, control point.
pub fn load_output_control_point(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    // A domain shader's control points are its inputs, a hull shader's its outputs.
    let hull = f.entry()?.stage == crate::reflection::Stage::Hull;
    let (signature, elements) = match hull {
        true => (SignatureKind::Output, &f.entry()?.outputs),
        false => (SignatureKind::Input, &f.entry()?.inputs),
    };
    let place = f.place(call, elements)?;
    let vertex = call.i32(f, 3)?;
    f.flush_outputs()?;
    f.load_element(call, signature, &place, Some(vertex))
}

/// Element, row, component.
pub fn load_patch_constant(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let place = f.place(call, &f.entry()?.patch_constants)?;
    f.flush_outputs()?;
    f.load_element(call, SignatureKind::PatchConstant, &place, None)
}

/// Element, row, component, value.
pub fn store_patch_constant(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let place = f.place(call, &f.entry()?.patch_constants)?;
    let value = call.number(f, 3)?;
    f.store_element(SignatureKind::PatchConstant, &place, None, value)?;
    Ok(None)
}

/// Element, row, component, value, vertex.
pub fn store_vertex_output(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let place = f.place(call, &f.entry()?.outputs)?;
    let value = call.number(f, 3)?;
    let vertex = call.i32(f, 4)?;
    f.store_element(SignatureKind::Output, &place, Some(vertex), value)?;
    Ok(None)
}

/// Element, row, component, value, primitive.
pub fn store_primitive_output(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let place = f.place(call, &f.entry()?.patch_constants)?;
    let value = call.number(f, 3)?;
    let primitive = call.i32(f, 4)?;
    f.store_element(SignatureKind::PatchConstant, &place, Some(primitive), value)?;
    Ok(None)
}

/// Element, row, component, and where: two offsets, a sample, or nothing for the centroid.
pub fn evaluate(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let Place { element, row, component } = f.place(call, &f.entry()?.inputs)?;
    let at = match call.len() {
        3 => EvaluateAt::Centroid,
        4 => EvaluateAt::Sample(call.i32(f, 3)?),
        5 => EvaluateAt::Snapped(call.i32(f, 3)?, call.i32(f, 4)?),
        _ => return Err(Error::malformed("number of arguments")),
    };
    let scalar = call.result_scalar(f)?;
    if !scalar.is_float() {
        return Err(Error::malformed("interpolation of integers"));
    }
    let value = f.build().push(Op::EvaluateInput { element, row, component, at }, Type::Scalar(scalar));
    Ok(Some(Lowered::scalar(value)))
}

/// Element, row, component, vertex.
pub fn attribute_at_vertex(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let Place { element, row, component } = f.place(call, &f.entry()?.inputs)?;
    let vertex = call.constant(f, 3)?;
    if vertex > 2 {
        return Err(Error::malformed(format!("no such vertex: {vertex}")));
    }
    let ty = Type::Scalar(call.result_scalar(f)?);
    let op = Op::LoadInputAtVertex { element, row, component, vertex: vertex as u8 };
    Ok(Some(Lowered::scalar(f.build().push(op, ty))))
}

/// Stream.
pub fn emit(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let stream = call.constant(f, 0)?;
    if stream > 3 {
        return Err(Error::malformed(format!("no such stream: {stream}")));
    }
    f.flush_outputs()?;
    // EmitStream, CutStream, EmitThenCutStream.
    let (emit, cut) = (call.number != 98, call.number != 97);
    f.build().effect(Op::EmitVertex { stream: stream as u8, emit, cut });
    Ok(None)
}
