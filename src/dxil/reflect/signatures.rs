//! Signatures of entry points.

use crate::{
    Error, Result,
    dxil::module::Node,
    reflection::{ComponentType, Interpolation, MinPrecision, SignatureElement, SystemValue},
};

/// Members of an element's tuple.
const ID: usize = 0;
const NAME: usize = 1;
const TYPE: usize = 2;
const SYSTEM_VALUE: usize = 3;
const INDICES: usize = 4;
const INTERPOLATION: usize = 5;
const ROWS: usize = 6;
const COLUMNS: usize = 7;
const START_ROW: usize = 8;
const START_COLUMN: usize = 9;
const EXTENDED: usize = 10;

/// Tags of an element's extended properties.
mod tag {
    pub const OUTPUT_STREAM: u32 = 0;
    pub const USAGE_MASK: u32 = 3;
}

/// Reads one signature of an entry point: elements in the order of their ids.
pub(super) fn read(signatures: &Node<'_>, index: usize, native_16_bit: bool) -> Result<Vec<SignatureElement>> {
    let mut elements = Vec::new();
    for node in signatures.nodes(index) {
        if node.u32(ID)? as usize != elements.len() {
            return Err(Error::malformed("dx.entryPoints: signature elements are out of order"));
        }
        elements.push(element(&node, native_16_bit)?);
    }
    Ok(elements)
}

fn element(node: &Node<'_>, native_16_bit: bool) -> Result<SignatureElement> {
    let malformed = |what: &str| Error::malformed(format!("dx.entryPoints: signature element: {what}"));
    let semantic = node.string(NAME).ok_or_else(|| malformed("no name"))?.to_owned();
    let (component, min_precision) = component(node.u32(TYPE)?, native_16_bit);
    let rows = node.u32(ROWS)?;
    let columns = node.u32(COLUMNS)?;
    if rows == 0 || rows > 32 || columns == 0 || columns > 4 {
        return Err(malformed("rows or columns"));
    }
    // -1 where the element has no register.
    let start_row = node.integer(START_ROW).filter(|row| *row >= 0).map(|row| row as u32);
    let start_column = node.integer(START_COLUMN).filter(|column| (0..4).contains(column)).unwrap_or(0) as u32;
    if start_column + columns > 4 {
        return Err(malformed("columns"));
    }
    let mask = ((1u8 << columns) - 1) << start_column;

    let mut semantic_indices = match node.node(INDICES) {
        Some(indices) => (0..indices.len()).map(|row| indices.u32(row)).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    if semantic_indices.is_empty() {
        semantic_indices.push(0);
    }
    while semantic_indices.len() < rows as usize {
        semantic_indices.push(semantic_indices.last().map_or(0, |last| last.wrapping_add(1)));
    }
    semantic_indices.truncate(rows as usize);

    let mut stream = 0;
    let mut used_mask = 0;
    if let Some(extended) = node.node(EXTENDED) {
        for (tag, at) in extended.tags() {
            match tag {
                tag::OUTPUT_STREAM => stream = extended.u32(at)? as u8 & 3,
                // From the element's own first column on.
                tag::USAGE_MASK => used_mask = ((extended.u32(at)? as u8 & 0xf) << start_column) & mask,
                _ => {}
            }
        }
    }
    Ok(SignatureElement {
        semantic,
        semantic_indices,
        register: start_row,
        rows,
        mask,
        used_mask,
        component,
        min_precision,
        system_value: system_value(node.u32(SYSTEM_VALUE)?),
        interpolation: interpolation(node.u32(INTERPOLATION)?),
        stream,
    })
}

/// A pixel shader that reads this runs once for each sample.
pub(super) fn is_per_sample(input: &SignatureElement) -> bool {
    let interpolation =
        matches!(input.interpolation, Interpolation::LinearSample | Interpolation::LinearNoperspectiveSample);
    interpolation || input.system_value == SystemValue::SampleIndex
}

/// `DXIL::ComponentType` of an element. Minimum-precision types are 32 bits wide and say which precision they ask for;
/// registers hold booleans as 32-bit integers.
fn component(number: u32, native_16_bit: bool) -> (ComponentType, MinPrecision) {
    match (super::resources::component(number), native_16_bit) {
        (ComponentType::F16, false) => (ComponentType::F32, MinPrecision::Float16),
        (ComponentType::I16, false) => (ComponentType::I32, MinPrecision::Sint16),
        (ComponentType::U16, false) => (ComponentType::U32, MinPrecision::Uint16),
        (ComponentType::Bool, _) => (ComponentType::U32, MinPrecision::Default),
        (component, _) => (component, MinPrecision::Default),
    }
}

/// `DXIL::InterpolationMode`.
fn interpolation(number: u32) -> Interpolation {
    match number {
        1 => Interpolation::Constant,
        2 => Interpolation::Linear,
        3 => Interpolation::LinearCentroid,
        4 => Interpolation::LinearNoperspective,
        5 => Interpolation::LinearNoperspectiveCentroid,
        6 => Interpolation::LinearSample,
        7 => Interpolation::LinearNoperspectiveSample,
        _ => Interpolation::Undefined,
    }
}

/// `DXIL::SemanticKind`.
fn system_value(number: u32) -> SystemValue {
    use SystemValue::*;
    const KINDS: [SystemValue; 33] = [
        Arbitrary,
        VertexId,
        InstanceId,
        Position,
        RenderTargetArrayIndex,
        ViewportArrayIndex,
        ClipDistance,
        CullDistance,
        OutputControlPointId,
        DomainLocation,
        PrimitiveId,
        GsInstanceId,
        SampleIndex,
        IsFrontFace,
        Coverage,
        InnerCoverage,
        Target,
        Depth,
        DepthLessEqual,
        DepthGreaterEqual,
        StencilRef,
        DispatchThreadId,
        GroupId,
        GroupIndex,
        GroupThreadId,
        TessFactor,
        InsideTessFactor,
        ViewId,
        Barycentrics,
        ShadingRate,
        CullPrimitive,
        StartVertexLocation,
        StartInstanceLocation,
    ];
    KINDS.get(number as usize).copied().unwrap_or(Arbitrary)
}
