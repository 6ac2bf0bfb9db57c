//! Inspections as text for people.

mod root;

use std::fmt::{self, Write};

use super::{
    inspect::Inspection,
    style::{ERROR, HEADING, NAME, PLACE, paint, state},
};
use crate::{
    container::feature_names,
    reflection::{
        Binding, BufferLayout, ComponentType, EntryPointInterface, FeedbackKind, Field, FieldScalar, FieldShape,
        FieldType, Interpolation, MinPrecision, NodeFacts, NodeId, ResourceClass, ResourceKind, SamplerMode,
        SignatureElement, SystemValue, TextureDimension, UavFlags,
    },
};

/// `D3D_PRIMITIVE`; patches follow, from 8 on.
const PRIMITIVES: &[&str] =
    &["undefined", "point", "line", "triangle", "4", "5", "line with adjacency", "triangle with adjacency"];
/// `D3D_PRIMITIVE_TOPOLOGY`.
const TOPOLOGIES: &[&str] = &["undefined", "points", "lines", "line strip", "triangles", "triangle strip"];
/// `D3D_TESSELLATOR_DOMAIN`.
const DOMAINS: &[&str] = &["undefined", "isoline", "triangle", "quad"];
/// `D3D_TESSELLATOR_PARTITIONING`.
const PARTITIONINGS: &[&str] = &["undefined", "integer", "powers of 2", "fractional odd", "fractional even"];
/// `D3D_TESSELLATOR_OUTPUT_PRIMITIVE`.
const TESSELLATOR_OUTPUTS: &[&str] =
    &["undefined", "points", "lines", "clockwise triangles", "counter-clockwise triangles"];

/// The whole inspection.
pub(super) fn describe(inspection: &Inspection) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_inspection(&mut out, inspection);
    out
}

fn write_inspection(out: &mut String, inspection: &Inspection) -> fmt::Result {
    match (inspection.stage, &inspection.model) {
        (Some(stage), Some(model)) => {
            write!(out, "{}", paint(HEADING, format_args!("{stage}_{}", model.replace('.', "_"))))?
        }
        _ => write!(out, "{}", paint(HEADING, "no program"))?,
    }
    if let Some(version) = &inspection.dxil_version {
        write!(out, ", DXIL {version}")?;
    }
    write!(out, ", {} bytes, digest {}", inspection.size, state(inspection.digest))?;
    if inspection.trailing > 0 {
        write!(out, ", {} bytes after the container", inspection.trailing)?;
    }
    writeln!(out)?;
    if let Some(hash) = &inspection.shader_hash {
        let state = inspection.hash_state.map_or_else(String::new, |name| format!(", {}", state(name)));
        writeln!(out, "hash {hash}{state}")?;
    }
    if let Some(name) = &inspection.debug_name {
        writeln!(out, "debug information in {name}")?;
    }
    if let Some(pdb) = &inspection.pdb {
        writeln!(out, "PDB file {pdb}, sources: {}", inspection.sources.join(", "))?;
    }
    writeln!(out, "\n{}", paint(HEADING, "parts"))?;
    for part in &inspection.parts {
        let name = paint(NAME, format!("{:<6}", part.name));
        let place = paint(PLACE, format!("at {:#x}", part.offset));
        writeln!(out, "  {name}{:>10} bytes {place}", part.size)?;
    }
    if let Some(reason) = &inspection.reason {
        writeln!(out, "\n{}", paint(ERROR, reason))?;
    }
    if !inspection.disagreements.is_empty() {
        writeln!(out, "\nparts that disagree")?;
    }
    for disagreement in &inspection.disagreements {
        writeln!(out, "  {disagreement}")?;
    }
    let Some(interface) = &inspection.interface else { return Ok(()) };
    if interface.feature_flags.0 != 0 {
        writeln!(out, "\n{}", paint(HEADING, "requires"))?;
    }
    for name in feature_names(interface.feature_flags.0) {
        writeln!(out, "  {name}")?;
    }
    for entry in &interface.entry_points {
        write_entry_point(out, entry)?;
        root::write_export(out, interface, entry)?;
        root::write_bindings(out, &entry.root_bindings)?;
    }
    if !interface.bindings.is_empty() {
        writeln!(out, "\n{}", paint(HEADING, "bindings"))?;
    }
    for binding in &interface.bindings {
        write_binding(out, binding)?;
    }
    if let Some(signature) = &interface.root_signature {
        writeln!(out, "\n{}", paint(HEADING, format_args!("root signature {}", signature.version)))?;
        root::write_signature(out, signature, 2)?;
    }
    root::write_subobjects(out, &interface.subobjects)
}

fn write_node(out: &mut String, node: &NodeFacts) -> fmt::Result {
    let name = |id: &NodeId| format!("{}[{}]", id.name, id.index);
    let launch = format!("{:?}", node.launch).to_lowercase();
    let entry = if node.is_program_entry { ", entry of the graph" } else { "" };
    writeln!(out, "  node {}, {launch}{entry}", name(&node.id))?;
    for (text, grid) in [("dispatch grid", node.dispatch_grid), ("dispatch grid at most", node.max_dispatch_grid)] {
        if let Some([x, y, z]) = grid {
            writeln!(out, "  {text}: {x} x {y} x {z}")?;
        }
    }
    if let Some(depth) = node.max_recursion_depth {
        writeln!(out, "  recursion depth at most: {depth}")?;
    }
    if let Some(index) = node.local_root_arguments_table_index {
        writeln!(out, "  local root arguments: table index {index}")?;
    }
    if let Some(id) = &node.share_input_of {
        writeln!(out, "  shares the input of {}", name(id))?;
    }
    for (text, all) in [("input", &node.inputs), ("output", &node.outputs)] {
        for io in all {
            write!(out, "  {text}")?;
            if let Some(id) = &io.id {
                write!(out, " to {}", name(id))?;
            }
            match io.array_size {
                Some(u32::MAX) => write!(out, " and all after it")?,
                Some(size) => write!(out, " and after it, {size} in all")?,
                None => {}
            }
            write!(out, ": records of {} bytes", io.record_size)?;
            if let Some(count) = io.max_records {
                write!(out, ", {count} at most")?;
            }
            if let Some(field) = io.dispatch_grid {
                write!(out, ", dispatch grid at byte {}", field.offset)?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

fn write_entry_point(out: &mut String, entry: &EntryPointInterface) -> fmt::Result {
    let stage = format!("{:?}", entry.stage).to_lowercase();
    writeln!(out, "\n{}", paint(HEADING, format_args!("entry point {} ({stage})", entry.name)))?;
    let facts = &entry.facts;
    if let Some([x, y, z]) = facts.thread_group_size {
        writeln!(out, "  thread group {x} x {y} x {z}")?;
    }
    if let Some([min, max, preferred]) = facts.wave_size {
        writeln!(out, "  wave size {min} to {max}, preferred {preferred}")?;
    }
    if facts.early_depth_stencil {
        writeln!(out, "  early depth and stencil test")?;
    }
    if facts.sample_frequency {
        writeln!(out, "  runs once per sample")?;
    }
    if let Some(depth) = facts.depth_output {
        writeln!(out, "  writes depth: {depth:?}")?;
    }
    let primitives = &facts.primitives;
    for (name, value, names) in [
        ("input primitive", primitives.input_primitive, PRIMITIVES),
        ("output topology", primitives.output_topology, TOPOLOGIES),
        ("vertices at most", primitives.max_vertex_count, &[][..]),
        ("primitives at most", primitives.max_primitive_count, &[]),
        ("instances", primitives.instance_count, &[]),
        ("input control points", primitives.input_control_points, &[]),
        ("output control points", primitives.output_control_points, &[]),
        ("tessellator domain", primitives.tessellator_domain, DOMAINS),
        ("tessellator partitioning", primitives.tessellator_partitioning, PARTITIONINGS),
        ("tessellator output", primitives.tessellator_output, TESSELLATOR_OUTPUTS),
        ("bytes of payload", primitives.payload_size, &[]),
    ] {
        let Some(value) = value else { continue };
        match names.get(value as usize) {
            Some(word) => writeln!(out, "  {name}: {word}")?,
            None => writeln!(out, "  {name}: {value}")?,
        }
    }
    if let Some(factor) = primitives.max_tessellation_factor {
        writeln!(out, "  tessellation factor at most: {factor}")?;
    }
    if let Some(node) = &facts.node {
        write_node(out, node)?;
    }
    for (name, elements) in [
        ("inputs", &entry.inputs),
        ("outputs", &entry.outputs),
        ("patch constants or primitives", &entry.patch_constants),
    ] {
        if !elements.is_empty() {
            writeln!(out, "  {name}")?;
        }
        for element in elements {
            write_element(out, element)?;
        }
    }
    Ok(())
}

fn write_element(out: &mut String, element: &SignatureElement) -> fmt::Result {
    let first = element.semantic_indices.first().copied().unwrap_or(0);
    let mut name = format!("{}{first}", element.semantic);
    if element.rows > 1 {
        name += &format!("[{}]", element.rows);
    }
    let register = element.register.map_or_else(|| "-".to_owned(), |register| register.to_string());
    let name = paint(NAME, format!("{name:<28}"));
    write!(out, "    {name} {register:>3}.{} ", mask(element.mask))?;
    write!(out, "{:<5}", component_name(element.component))?;
    if element.min_precision != MinPrecision::Default {
        write!(out, " at least {:?}", element.min_precision)?;
    }
    if element.used_mask != element.mask {
        let used = mask(element.used_mask);
        write!(out, " used {}", if element.used_mask == 0 { "none" } else { used.trim_end() })?;
    }
    if element.system_value != SystemValue::Arbitrary {
        write!(out, " {:?}", element.system_value)?;
    }
    if element.interpolation != Interpolation::Undefined {
        write!(out, " {:?}", element.interpolation)?;
    }
    if element.stream > 0 {
        write!(out, " stream {}", element.stream)?;
    }
    writeln!(out)
}

/// `xyz `: always four characters.
fn mask(mask: u8) -> String {
    "xyzw".chars().enumerate().map(|(bit, name)| if mask >> bit & 1 == 1 { name } else { ' ' }).collect()
}

fn write_binding(out: &mut String, binding: &Binding) -> fmt::Result {
    let register = register(letter(binding.class), binding.space, binding.register, binding.count);
    let name = paint(NAME, format!("{:<28}", binding.name.as_deref().unwrap_or("(unnamed)")));
    writeln!(out, "  {register:<14} {name} {}", kind_name(binding.class, &binding.kind))?;
    match &binding.layout {
        Some(layout) => write_layout(out, layout),
        None => Ok(()),
    }
}

/// Letter of a register class.
fn letter(class: ResourceClass) -> char {
    match class {
        ResourceClass::Cbv => 'b',
        ResourceClass::Srv => 't',
        ResourceClass::Uav => 'u',
        ResourceClass::Sampler => 's',
    }
}

/// `t3[4], space1`.
fn register(class: char, space: u32, register: u32, count: Option<u32>) -> String {
    let mut text = format!("{class}{register}");
    match count {
        Some(1) => {}
        Some(count) => text += &format!("[{count}]"),
        None => text += "[]",
    }
    if space > 0 {
        text += &format!(", space{space}");
    }
    text
}

fn kind_name(class: ResourceClass, kind: &ResourceKind) -> String {
    let read_write = if class == ResourceClass::Uav { "RW" } else { "" };
    match *kind {
        ResourceKind::ConstantBuffer { size } => format!("constant buffer, {size} bytes"),
        ResourceKind::TextureBuffer { size } => format!("texture buffer, {size} bytes"),
        ResourceKind::Sampler { mode } => match mode {
            SamplerMode::Default => "SamplerState".into(),
            SamplerMode::Comparison => "SamplerComparisonState".into(),
            SamplerMode::Mono => "SamplerState, monochrome".into(),
        },
        ResourceKind::Texture { dimension, component, components, samples, flags } => {
            let dimension = match dimension {
                TextureDimension::D1 => "1D",
                TextureDimension::D1Array => "1DArray",
                TextureDimension::D2 => "2D",
                TextureDimension::D2Array => "2DArray",
                TextureDimension::D2Multisampled => "2DMS",
                TextureDimension::D2MultisampledArray => "2DMSArray",
                TextureDimension::D3 => "3D",
                TextureDimension::Cube => "Cube",
                TextureDimension::CubeArray => "CubeArray",
            };
            let samples = if samples > 0 { format!(", {samples}") } else { String::new() };
            format!(
                "{read_write}Texture{dimension}<{}{components}{samples}>{}",
                component_name(component),
                Flags(flags)
            )
        }
        ResourceKind::TypedBuffer { component, components, flags } => {
            format!("{read_write}Buffer<{}{components}>{}", component_name(component), Flags(flags))
        }
        ResourceKind::RawBuffer { flags } => format!("{read_write}ByteAddressBuffer{}", Flags(flags)),
        ResourceKind::StructuredBuffer { stride, counter, flags } => {
            let counter = if counter { ", with counter" } else { "" };
            format!("{read_write}StructuredBuffer, {stride} bytes an element{counter}{}", Flags(flags))
        }
        ResourceKind::AccelerationStructure => "RaytracingAccelerationStructure".into(),
        ResourceKind::FeedbackTexture { arrayed, feedback } => {
            let feedback = match feedback {
                FeedbackKind::MinMip => "MIN_MIP",
                FeedbackKind::MipRegionUsed => "MIP_REGION_USED",
            };
            format!("FeedbackTexture2D{}<SAMPLER_FEEDBACK_{feedback}>", if arrayed { "Array" } else { "" })
        }
    }
}

struct Flags(UavFlags);

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.globally_coherent {
            f.write_str(", globally coherent")?;
        }
        if self.0.rasterizer_ordered {
            f.write_str(", rasterizer ordered")?;
        }
        Ok(())
    }
}

fn component_name(component: ComponentType) -> &'static str {
    match component {
        ComponentType::Bool => "bool",
        ComponentType::I16 => "i16",
        ComponentType::U16 => "u16",
        ComponentType::I32 => "int",
        ComponentType::U32 => "uint",
        ComponentType::I64 => "i64",
        ComponentType::U64 => "u64",
        ComponentType::F16 => "half",
        ComponentType::F32 => "float",
        ComponentType::F64 => "double",
        ComponentType::SnormF16 => "snorm half",
        ComponentType::UnormF16 => "unorm half",
        ComponentType::SnormF32 => "snorm float",
        ComponentType::UnormF32 => "unorm float",
        ComponentType::SnormF64 => "snorm double",
        ComponentType::UnormF64 => "unorm double",
        ComponentType::Packed8x32 => "packed8x32",
        ComponentType::Unknown => "unknown",
    }
}

fn write_layout(out: &mut String, layout: &BufferLayout) -> fmt::Result {
    layout.fields.iter().try_for_each(|field| write_field(out, field, 3))
}

fn write_field(out: &mut String, field: &Field, depth: usize) -> fmt::Result {
    let indent = 2 * depth;
    let array = field.ty.elements.map_or_else(String::new, |elements| format!("[{elements}]"));
    let declaration = format!("{} {}{array}", type_name(&field.ty), field.name);
    write!(out, "{:indent$}{:>6}  {declaration}", "", field.offset)?;
    if let Some(value) = &field.default_value {
        write!(out, " = {}", default_text(&field.ty, value))?;
    }
    if field.used == Some(false) {
        write!(out, "  (unused)")?;
    }
    writeln!(out)?;
    match &field.ty.shape {
        FieldShape::Struct(members) => members.iter().try_for_each(|member| write_field(out, member, depth + 1)),
        _ => Ok(()),
    }
}

fn type_name(ty: &FieldType) -> String {
    match &ty.shape {
        FieldShape::Scalar(scalar) => scalar.name().into(),
        FieldShape::Vector(scalar, count) => format!("{}{count}", scalar.name()),
        FieldShape::Matrix { scalar, rows, columns, row_major } => {
            let order = if *row_major { "row_major " } else { "" };
            format!("{order}{}{rows}x{columns}", scalar.name())
        }
        FieldShape::Struct(_) => format!("struct {}", ty.name.as_deref().unwrap_or("(unnamed)")),
        FieldShape::Interface => "interface".into(),
    }
}

/// A default value's numbers in memory order, padding included.
fn default_text(ty: &FieldType, value: &[u8]) -> String {
    let scalar = match ty.shape {
        FieldShape::Scalar(scalar) | FieldShape::Vector(scalar, _) | FieldShape::Matrix { scalar, .. } => scalar,
        FieldShape::Struct(_) | FieldShape::Interface => FieldScalar::Unknown,
    };
    let numbers = match scalar {
        FieldScalar::F64 => {
            value.as_chunks::<8>().0.iter().map(|&bytes| f64::from_le_bytes(bytes).to_string()).collect()
        }
        _ => value
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&bytes| match scalar {
                FieldScalar::F32 => f32::from_le_bytes(bytes).to_string(),
                FieldScalar::I32 => i32::from_le_bytes(bytes).to_string(),
                FieldScalar::Bool => (u32::from_le_bytes(bytes) != 0).to_string(),
                FieldScalar::U32 => u32::from_le_bytes(bytes).to_string(),
                _ => format!("{:#010x}", u32::from_le_bytes(bytes)),
            })
            .collect::<Vec<_>>(),
    };
    match &numbers[..] {
        [number] => number.clone(),
        numbers => format!("({})", numbers.join(", ")),
    }
}
