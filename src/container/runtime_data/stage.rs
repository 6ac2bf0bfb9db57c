//! What stages of the graphics and compute pipelines add to a function: experimental, after validator 1.8.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{TableKind, reader::Record};
use crate::{
    Result,
    container::{DxilComponentType, HexBytes, InterpolationMode, SemanticKind, ShaderKind},
};

/// Facts of a stage (`VSInfo` to `ASInfo`). A field that a stage lacks is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageInfo<'a> {
    /// Elements of the input signature.
    pub inputs: Vec<RuntimeElement<'a>>,
    /// Elements of the output signature.
    pub outputs: Vec<RuntimeElement<'a>>,
    /// Elements of the patch-constant or primitive signature.
    pub patch_constants: Vec<RuntimeElement<'a>>,
    /// Masks of the components that depend on others, in the order in which the stage's record has them.
    pub masks: Vec<HexBytes<'a>>,
    /// Threads of a group: x, y, z, those that are left out are 1.
    pub num_threads: Vec<u32>,
    /// The other numbers of the record, by name.
    pub numbers: Vec<(Cow<'a, str>, u32)>,
}

/// One signature element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeElement<'a> {
    /// Semantic name.
    pub semantic: Cow<'a, str>,
    /// Semantic index of each row.
    pub semantic_indices: Vec<u32>,
    /// Meaning to the pipeline.
    pub kind: SemanticKind,
    /// Type of a component.
    pub component_type: DxilComponentType,
    /// Interpolation.
    pub interpolation: InterpolationMode,
    /// First register, if it has one.
    pub row: Option<u8>,
    /// First component.
    pub column: u8,
    /// Components of a row.
    pub columns: u8,
    /// Output stream.
    pub stream: u8,
    /// Components that are read or written.
    pub usage_mask: u8,
    /// Components that are indexed dynamically.
    pub dynamic_mask: u8,
}

/// Where a stage's record has its fields: signatures, masks of 8 bytes, thread counts, numbers with their widths.
struct Layout {
    table: TableKind,
    signatures: [Option<usize>; 3],
    masks: &'static [usize],
    threads: Option<usize>,
    numbers: &'static [(&'static str, usize, u8)],
}

fn layout(kind: ShaderKind) -> Option<Layout> {
    let layout =
        |table, signatures, masks, threads, numbers| Some(Layout { table, signatures, masks, threads, numbers });
    match kind {
        ShaderKind::VERTEX => layout(TableKind::VS_INFO, [Some(0), Some(4), None], &[8], None, &[]),
        ShaderKind::PIXEL => layout(TableKind::PS_INFO, [Some(0), Some(4), None], &[], None, &[]),
        ShaderKind::HULL => layout(
            TableKind::HS_INFO,
            [Some(0), Some(4), Some(8)],
            &[12, 20, 28, 36],
            None,
            &[
                ("input control points", 44, 1),
                ("output control points", 45, 1),
                ("tessellator domain", 46, 1),
                ("tessellator output primitive", 47, 1),
            ],
        ),
        ShaderKind::DOMAIN => layout(
            TableKind::DS_INFO,
            [Some(0), Some(4), Some(8)],
            &[12, 20, 28],
            None,
            &[("input control points", 36, 1), ("tessellator domain", 37, 1)],
        ),
        ShaderKind::GEOMETRY => layout(
            TableKind::GS_INFO,
            [Some(0), Some(4), None],
            &[8, 16],
            None,
            &[
                ("input primitive", 24, 1),
                ("output topology", 25, 1),
                ("max vertex count", 26, 1),
                ("output stream mask", 27, 1),
            ],
        ),
        ShaderKind::COMPUTE => layout(TableKind::CS_INFO, [None; 3], &[], Some(0), &[("group-shared bytes", 4, 4)]),
        ShaderKind::MESH => layout(
            TableKind::MS_INFO,
            [None, Some(0), Some(4)],
            &[8, 16],
            Some(24),
            &[
                ("group-shared bytes", 28, 4),
                ("group-shared bytes of a view", 32, 4),
                ("payload bytes", 36, 4),
                ("max output vertices", 40, 2),
                ("max output primitives", 42, 2),
                ("output topology", 44, 1),
            ],
        ),
        ShaderKind::AMPLIFICATION => layout(
            TableKind::AS_INFO,
            [None; 3],
            &[],
            Some(0),
            &[("group-shared bytes", 4, 4), ("payload bytes", 8, 4)],
        ),
        _ => None,
    }
}

/// The facts that a function's field refers to, if its record has the field and refers to any.
pub(super) fn read<'a>(kind: ShaderKind, function: &Record<'_, 'a>, field: usize) -> Result<Option<StageInfo<'a>>> {
    let Some(layout) = layout(kind) else { return Ok(None) };
    // Validator 1.8 knows the field for nodes only, and leaves it 0 elsewhere: without the table it means nothing.
    if !function.has(field + 4) || !function.has_table(layout.table) {
        return Ok(None);
    }
    let Some(record) = function.record(layout.table, field)? else { return Ok(None) };
    let elements = |field: Option<usize>| match field {
        Some(field) => record.records(TableKind::SIGNATURE_ELEMENT, field, element),
        None => Ok(Vec::new()),
    };
    let number = |&(name, field, width): &(&'static str, usize, u8)| {
        let value = match width {
            1 => record.u8(field)?.into(),
            2 => record.u16(field)?.into(),
            _ => record.u32(field)?,
        };
        Ok((Cow::Borrowed(name), value))
    };
    Ok(Some(StageInfo {
        inputs: elements(layout.signatures[0])?,
        outputs: elements(layout.signatures[1])?,
        patch_constants: elements(layout.signatures[2])?,
        masks: layout.masks.iter().map(|&field| record.bytes(field)).collect::<Result<_>>()?,
        num_threads: layout.threads.map(|field| record.array(field)).transpose()?.unwrap_or_default(),
        numbers: layout.numbers.iter().map(number).collect::<Result<_>>()?,
    }))
}

fn element<'a>(record: Record<'_, 'a>) -> Result<RuntimeElement<'a>> {
    let (columns, masks, row) = (record.u8(12)?, record.u8(13)?, record.u8(11)?);
    Ok(RuntimeElement {
        semantic: record.text(0)?,
        semantic_indices: record.array(4)?,
        kind: SemanticKind(record.u8(8)?),
        component_type: DxilComponentType(record.u8(9)?.into()),
        interpolation: InterpolationMode(record.u8(10)?),
        row: (row != u8::MAX).then_some(row),
        column: columns >> 2 & 3,
        columns: (columns & 3) + 1,
        stream: columns >> 4 & 3,
        usage_mask: masks & 0xf,
        dynamic_mask: masks >> 4,
    })
}
