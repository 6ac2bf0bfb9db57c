//! What a pixel shader reads from the vertex shader before it: Direct3D declares interpolation in the pixel shader alone
//! and matches by register, WebGPU wants both sides to agree. A vertex shader is therefore emitted for its pixel shader.

use std::collections::{BTreeMap, BTreeSet};

use super::{PixelInputRegister, PixelInputs, Program};
use crate::{
    Error, ErrorKind, Result,
    ir::{self, ElementId, FunctionId, Op, SignatureKind},
    reflection::{ComponentType, EntryPointInterface, Interpolation, SignatureElement, Stage, SystemValue},
};

/// What the pixel shader reads, for [`Target::pixel_inputs`](super::Target::pixel_inputs) of the vertex or mesh shader.
/// Registers and components that it does not write read as zeros.
///
/// # Errors
/// [`ErrorKind::Mismatch`] if a program is of another stage, or if a semantic that the pixel shader reads is written to
/// another register, or from another component on, than it is read from; names the semantic.
pub fn link(vertex: &Program, pixel: &Program) -> Result<PixelInputs> {
    let stage = if vertex.stage() == Stage::Mesh { Stage::Mesh } else { Stage::Vertex };
    let (_, vertex_interface) = entry_of(vertex, stage)?;
    let mut inputs = pixel_inputs(pixel)?;
    if stage == Stage::Mesh {
        let primitive = |element: &SignatureElement| {
            vertex_interface.patch_constants.iter().any(|output| {
                output.semantic.eq_ignore_ascii_case(&element.semantic)
                    && output.semantic_indices.iter().any(|index| element.semantic_indices.contains(index))
            })
        };
        (inputs.primitive_elements, inputs.elements) = inputs.elements.into_iter().partition(primitive);
        inputs.registers = varying_registers(inputs.elements.iter());
        inputs.primitive_registers = varying_registers(inputs.primitive_elements.iter());
    }
    for element in &inputs.elements {
        check_element(element, vertex_interface)?;
    }
    Ok(inputs)
}

/// What a pixel shader reads of whatever stage comes before it.
///
/// # Errors
/// [`ErrorKind::Mismatch`] if the program is no pixel shader.
pub fn pixel_inputs(pixel: &Program) -> Result<PixelInputs> {
    let (entry, interface) = entry_of(pixel, Stage::Pixel)?;
    let used = used_inputs(&pixel.ir, entry.function);
    let elements = interface.inputs.iter().enumerate();
    let elements = elements
        .filter(|(index, element)| used.contains(&ElementId(*index as u32)) && is_varying(element))
        .map(|(_, element)| element);
    let registers = varying_registers(elements.clone());
    Ok(PixelInputs { registers, elements: elements.cloned().collect(), ..Default::default() })
}

/// The first entry point of a stage.
fn entry_of(program: &Program, stage: Stage) -> Result<(&ir::EntryPoint, &EntryPointInterface)> {
    let mut entries = program.ir.entry_points.iter().zip(&program.interface.entry_points);
    entries
        .find(|(entry, _)| entry.stage == stage)
        .ok_or_else(|| Error::new(ErrorKind::Mismatch, format!("linked program of another stage: {stage:?} wanted")))
}

/// Inputs that a function or one that it calls reads.
pub(super) fn used_inputs(module: &ir::Module, function: FunctionId) -> BTreeSet<ElementId> {
    let mut used = BTreeSet::new();
    let mut reached = BTreeSet::from([function]);
    let mut pending = vec![function];
    while let Some(id) = pending.pop() {
        let Some(function) = module.functions.get(id.index()) else { continue };
        for &inst in function.blocks.iter().flat_map(|block| &block.insts) {
            match function.op(inst) {
                Some(
                    Op::LoadInput { signature: SignatureKind::Input, element, .. }
                    | Op::EvaluateInput { element, .. }
                    | Op::LoadInputAtVertex { element, .. },
                ) => {
                    used.insert(*element);
                }
                Some(Op::Call(callee, _)) if reached.insert(*callee) => pending.push(*callee),
                _ => {}
            }
        }
    }
    used
}

/// A pixel shader's input that the stage before writes: not one that the rasterizer makes.
pub(super) fn is_varying(element: &SignatureElement) -> bool {
    !matches!(
        element.system_value,
        SystemValue::Position
            | SystemValue::IsFrontFace
            | SystemValue::SampleIndex
            | SystemValue::Coverage
            | SystemValue::InnerCoverage
            | SystemValue::PrimitiveId
            | SystemValue::Barycentrics
            | SystemValue::ViewId
            | SystemValue::ShadingRate
    ) && element.register.is_some()
}

/// The registers of some elements, each with one mode: constant if an element in it is constant or of integers.
pub(super) fn varying_registers<'a>(
    elements: impl Iterator<Item = &'a SignatureElement>,
) -> BTreeMap<u32, PixelInputRegister> {
    let mut registers = BTreeMap::new();
    for element in elements {
        let Some(first) = element.register else { continue };
        let interpolation = interpolation_of(element);
        for register in first..first.saturating_add(element.rows.min(MAX_ROWS)) {
            let mode = registers.entry(register).or_insert(PixelInputRegister { interpolation });
            if interpolation == Interpolation::Constant {
                mode.interpolation = interpolation;
            }
        }
    }
    registers
}

/// Rows of an element at most: Direct3D has 32 registers.
pub(super) const MAX_ROWS: u32 = 32;

/// How an element is interpolated, where the signature does not say: integers are not, floats linearly.
fn interpolation_of(element: &SignatureElement) -> Interpolation {
    match element.interpolation {
        _ if !is_float(element.component) => Interpolation::Constant,
        Interpolation::Undefined => Interpolation::Linear,
        interpolation => interpolation,
    }
}

/// Components are floats, or of a type that is not told.
pub(super) fn is_float(component: ComponentType) -> bool {
    !matches!(
        component,
        ComponentType::Bool
            | ComponentType::I16
            | ComponentType::U16
            | ComponentType::I32
            | ComponentType::U32
            | ComponentType::I64
            | ComponentType::U64
            | ComponentType::Packed8x32
    )
}

/// Sees that the vertex shader, if it writes the semantic at all, writes it to where the pixel shader reads it.
fn check_element(element: &SignatureElement, vertex: &EntryPointInterface) -> Result<()> {
    let Some(first) = element.register else { return Ok(()) };
    for (row, &index) in element.semantic_indices.iter().enumerate() {
        let register = first.saturating_add(row as u32);
        let written = vertex.outputs.iter().filter_map(|output| {
            let same = output.semantic.eq_ignore_ascii_case(&element.semantic);
            let row = output.semantic_indices.iter().position(|&other| same && other == index)?;
            Some((output.register?.saturating_add(row as u32), output.mask))
        });
        // Components that are read but not written are zeros. Elements whose names are lost share one of their register's.
        let fits = |&(written, mask): &(u32, u8)| {
            let begins_alike = mask.trailing_zeros() == element.mask.trailing_zeros();
            written == register && (begins_alike || mask & element.used_mask == element.used_mask)
        };
        let Some((written_register, written_mask)) = written.clone().next() else { continue };
        if !written.clone().any(|place| fits(&place)) {
            let read = place(register, element.used_mask);
            let written = place(written_register, written_mask);
            let semantic = format!("{}{index}", element.semantic);
            let what = format!("semantic is written and read at different places: {semantic}, o{written} and v{read}");
            return Err(Error::new(ErrorKind::Mismatch, what));
        }
    }
    Ok(())
}

/// Register and components of a pixel shader's input that a row of a mesh shader's primitive output goes to: those of
/// the same semantic.
pub(super) fn primitive_place(inputs: &PixelInputs, output: &SignatureElement, row: u32) -> Option<(u32, u8)> {
    let index = output.semantic_indices.get(row as usize).copied().unwrap_or(row);
    inputs.primitive_elements.iter().find_map(|input| {
        let same = input.semantic.eq_ignore_ascii_case(&output.semantic);
        let row = input.semantic_indices.iter().position(|&other| same && other == index)?;
        Some((input.register?.checked_add(row as u32)?, input.mask))
    })
}

/// `3.xyz`.
fn place(register: u32, mask: u8) -> String {
    let lanes = "xyzw".chars().enumerate().filter(|(lane, _)| mask & 1 << lane != 0).map(|(_, name)| name);
    format!("{register}.{}", lanes.collect::<String>())
}
