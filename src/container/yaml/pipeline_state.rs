//! `PSV0`, as `PSVInfo`.

use super::{Map, Node, named};
use crate::{
    Result,
    container::{
        Bitcode, Container, Dependencies, FourCc, Part, PipelineElement, PipelineState, ProgramVersion, SemanticKind,
        ShaderKind, StreamDependencies, StreamMask,
    },
};

/// `PSVInfo`. LLVM shows the fields of `PSVRuntimeInfo` as they are stored.
pub(super) fn info<'a>(container: &Container<'a>, part: Part<'a>) -> Result<Map<'a>> {
    let state = PipelineState::parse(part)?;
    let version = state.version().min(3);
    let byte = |offset: usize| part.u8_at(PipelineState::INFO + offset);
    let half = |offset: usize| part.u16_at(PipelineState::INFO + offset);
    let word = |offset: usize| part.u32_at(PipelineState::INFO + offset);
    // The part's first version does not say its stage. The header is there even where the bitcode was left out.
    let unknown = ProgramVersion { kind: u16::MAX, major: 0, minor: 0 };
    let program = container.part(FourCc::DXIL).map(Bitcode::parse).transpose()?;
    let program = program.map_or(unknown, |program| program.version);
    let stage = if version == 0 { ShaderKind(program.kind.into()) } else { ShaderKind(byte(24)?.into()) };

    let mut map = Map::default();
    map.set("Version", version);
    map.set("ShaderStage", stage.0);
    match stage {
        ShaderKind::PIXEL => {
            map.set("DepthOutput", byte(0)?);
            map.set("SampleFrequency", byte(1)?);
        }
        ShaderKind::VERTEX => map.set("OutputPositionPresent", byte(0)?),
        ShaderKind::GEOMETRY => {
            map.set("InputPrimitive", word(0)?);
            map.set("OutputTopology", word(4)?);
            map.set("OutputStreamMask", word(8)?);
            map.set("OutputPositionPresent", byte(12)?);
        }
        ShaderKind::HULL => {
            map.set("InputControlPointCount", word(0)?);
            map.set("OutputControlPointCount", word(4)?);
            map.set("TessellatorDomain", word(8)?);
            map.set("TessellatorOutputPrimitive", word(12)?);
        }
        ShaderKind::DOMAIN => {
            map.set("InputControlPointCount", word(0)?);
            map.set("OutputPositionPresent", byte(4)?);
            map.set("TessellatorDomain", word(8)?);
        }
        ShaderKind::MESH => {
            map.set("GroupSharedBytesUsed", word(0)?);
            map.set("GroupSharedBytesDependentOnViewID", word(4)?);
            map.set("PayloadSizeInBytes", word(8)?);
            map.set("MaxOutputVertices", half(12)?);
            map.set("MaxOutputPrimitives", half(14)?);
        }
        ShaderKind::AMPLIFICATION => map.set("PayloadSizeInBytes", word(0)?),
        _ => {}
    }
    map.set("MinimumWaveLaneCount", word(16)?);
    map.set("MaximumWaveLaneCount", word(20)?);
    if version >= 1 {
        map.set("UsesViewID", byte(25)?);
        match stage {
            ShaderKind::GEOMETRY => map.set("MaxVertexCount", half(26)?),
            ShaderKind::HULL | ShaderKind::DOMAIN => map.set("SigPatchConstOrPrimVectors", byte(26)?),
            ShaderKind::MESH => {
                map.set("SigPrimVectors", byte(26)?);
                map.set("MeshOutputTopology", byte(27)?);
            }
            _ => {}
        }
        map.set("SigInputVectors", byte(31)?);
        map.set("SigOutputVectors", Node::row([byte(32)?, byte(33)?, byte(34)?, byte(35)?]));
    }
    if version >= 2 {
        map.set("NumThreadsX", word(36)?);
        map.set("NumThreadsY", word(40)?);
        map.set("NumThreadsZ", word(44)?);
    }
    if version >= 3 {
        let name = state.facts(program)?.entry_point.unwrap_or_default();
        map.set("EntryName", Node::Text(name.into()));
    }
    resources(&mut map, &state, version)?;
    if let Some(tables) = state.tables()? {
        map.set("SigInputElements", elements(&part, tables.inputs)?);
        map.set("SigOutputElements", elements(&part, tables.outputs)?);
        map.set("SigPatchOrPrimElements", elements(&part, tables.patch_constants)?);
        if byte(25)? != 0 {
            map.set("OutputVectorMasks", masks(&tables.view_id_to_outputs));
            if stage == ShaderKind::HULL {
                let mask = tables.view_id_to_patch_constants.unwrap_or_default();
                map.set("PatchOrPrimMasks", Node::hex_row(mask.0));
            }
        }
        map.set("InputOutputMap", maps(&tables.input_to_outputs));
        if stage == ShaderKind::HULL {
            map.set("InputPatchMap", flat(tables.input_to_patch_constants.as_ref()));
        }
        if stage == ShaderKind::DOMAIN {
            map.set("PatchOutputMap", flat(tables.patch_constant_to_outputs.as_ref()));
        }
    }
    Ok(map)
}

/// Resources. LLVM takes the length of a record where there is none for that of its newest form.
fn resources<'a>(map: &mut Map<'a>, state: &PipelineState<'a>, version: u8) -> Result<()> {
    const NEWEST_LEN: usize = 24;
    let part = &state.part;
    let table = PipelineState::INFO + state.info_len;
    let count = part.size_at(table)?;
    map.set("ResourceStride", if count > 0 { part.size_at(table + 4)? } else { NEWEST_LEN });
    let mut maps = Vec::new();
    for resource in state.resources()? {
        let resource = resource?;
        let mut map = Map::default();
        map.set("Type", named(part, table, resource.ty.name(), "type of resource")?);
        map.set("Space", resource.space);
        map.set("LowerBound", resource.lower);
        map.set("UpperBound", resource.upper);
        if version >= 2 {
            let kind = resource.kind.unwrap_or_default();
            map.set("Kind", named(part, table, kind.name(), "kind of resource")?);
            let mut flags = Map::default();
            flags.set("UsedByAtomic64", resource.flags.is_some_and(|flags| flags & 1 != 0));
            map.set("Flags", flags);
        }
        maps.push(map);
    }
    map.set("Resources", maps);
    Ok(())
}

fn elements<'a>(part: &Part<'a>, elements: Vec<PipelineElement<'a>>) -> Result<Vec<Map<'a>>> {
    let map = |element: PipelineElement<'a>| {
        let mut map = Map::default();
        map.set("Name", Node::Text(element.semantic));
        map.set("Indices", Node::row(element.semantic_indices));
        map.set("StartRow", element.row);
        map.set("Cols", element.columns);
        map.set("StartCol", element.column);
        map.set("Allocated", element.allocated);
        // LLVM names no more than these.
        let kind = element.kind.name().filter(|_| element.kind <= SemanticKind::CULL_PRIMITIVE);
        map.set("Kind", named(part, 0, kind, "kind of semantic")?);
        map.set("ComponentType", named(part, 0, element.component_type.name(), "component type")?);
        map.set("Interpolation", named(part, 0, element.interpolation.name(), "interpolation mode")?);
        map.set("DynamicMask", Node::Plain(format!("0x{:X}", element.dynamic_mask).into()));
        map.set("Stream", element.stream);
        Ok(map)
    };
    elements.into_iter().map(map).collect()
}

/// One row a stream, of four streams.
fn masks<'a>(masks: &[StreamMask]) -> Vec<Node<'a>> {
    let stream = |stream| masks.iter().filter(move |mask| mask.stream == stream);
    (0..4).map(|index| Node::hex_row(stream(index).flat_map(|mask| mask.mask.0.iter().copied()))).collect()
}

/// One row a stream, of four streams.
fn maps<'a>(maps: &[StreamDependencies]) -> Vec<Node<'a>> {
    (0..4).map(|stream| flat(maps.iter().find(|map| map.stream == stream).map(|map| &map.dependencies))).collect()
}

/// The masks one after the other.
fn flat<'a>(dependencies: Option<&Dependencies>) -> Node<'a> {
    Node::hex_row(dependencies.iter().flat_map(|dependencies| &dependencies.0).flat_map(|mask| mask.0.iter().copied()))
}
