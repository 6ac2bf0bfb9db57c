//! Describes interfaces in the records of the listings, with the numbers of Direct3D's reflection interfaces.

use bevy_dxshader::{
    container::{ComponentMask, Container, FourCc, InterpolationMode, PipelineState, ProgramHeader},
    reflection::{
        Binding, BufferLayout, ClassLinkage, ComponentType, EntryPointInterface, Field, FieldScalar, FieldShape,
        Format, Interface, InterfaceSlots, Interpolation, MinPrecision, ResourceClass, ResourceKind, SamplerMode,
        SignatureElement, Stage, SystemValue, TextureDimension,
    },
};

use crate::listing::Record;

/// `D3D11_SHADER_DESC`, `D3D12_SHADER_DESC`.
pub fn shader(interface: &Interface) -> Record {
    let entry = &interface.entry_points[0];
    let model = interface.shader_model;
    let mut record = Record::new("shader", format!("{}_{}_{}", interface.stage.profile(), model.major, model.minor));
    let facts = &entry.facts;
    let primitives = &facts.primitives;
    let mut set = |key: &str, value: Option<u32>| record.set(key, value.unwrap_or(0));
    match interface.stage {
        Stage::Geometry => {
            set("input_primitive", primitives.input_primitive);
            set("output_topology", primitives.output_topology);
            set("max_vertices", primitives.max_vertex_count);
            set("instances", primitives.instance_count);
        }
        Stage::Hull => {
            // D3D_PRIMITIVE_1_CONTROL_POINT_PATCH is 8.
            set("input_primitive", primitives.input_control_points.map(|points| 7 + points));
            set("control_points", primitives.output_control_points);
            set("output_primitive", primitives.tessellator_output);
            set("partitioning", primitives.tessellator_partitioning);
            set("domain", primitives.tessellator_domain);
        }
        Stage::Domain => {
            set("control_points", primitives.input_control_points);
            set("domain", primitives.tessellator_domain);
        }
        _ => {}
    }
    if let Some(size) = facts.thread_group_size {
        record.set("threads", size.map(|size| size.to_string()).join(","));
    }
    // D3D_SHADER_REQUIRES_EARLY_DEPTH_STENCIL stands where SFI0 has buffers of compute shaders 4.x.
    record.set("requires", interface.feature_flags.0 & !2 | u64::from(facts.early_depth_stencil) << 1);
    record
}

/// `D3D12_SHADER_INPUT_BIND_DESC`.
pub fn binding(binding: &Binding) -> Record {
    let mut record = Record::new("binding", binding.name.as_deref().unwrap_or("?"));
    let srv = binding.class == ResourceClass::Srv;
    let mut typed = |component, components: u8, dimension| {
        record.set("return", return_type(component));
        record.set("flags", (components - 1) << 2);
        record.set("dimension", dimension);
        if srv { 2 } else { 4 }
    };
    let ty = match binding.kind {
        ResourceKind::ConstantBuffer { .. } => 0,
        ResourceKind::TextureBuffer { .. } => 1,
        ResourceKind::Sampler { mode } => {
            record.set("flags", if mode == SamplerMode::Comparison { 2 } else { 0 });
            3
        }
        ResourceKind::Texture { dimension, component, components, samples, .. } => {
            let ty = typed(component, components, srv_dimension(dimension));
            // Of unordered-access views, Direct3D's reflection does not tell.
            record.set("samples", if srv { samples } else { 0 });
            ty
        }
        ResourceKind::TypedBuffer { component, components, .. } => typed(component, components, 1),
        ResourceKind::StructuredBuffer { stride, counter, .. } => {
            record.set("samples", stride);
            match (srv, counter) {
                (true, _) => 5,
                (false, false) => 6,
                (false, true) => 11,
            }
        }
        ResourceKind::RawBuffer { .. } => 7 + u32::from(!srv),
        ResourceKind::AccelerationStructure => 12,
        ResourceKind::FeedbackTexture { .. } => 13,
    };
    record
        .with("type", ty)
        .with("point", binding.register)
        .with("space", binding.space)
        .with("count", binding.count.unwrap_or(0))
}

/// `D3D_RESOURCE_RETURN_TYPE`.
fn return_type(component: ComponentType) -> u32 {
    use ComponentType::*;
    match component {
        UnormF16 | UnormF32 | UnormF64 => 1,
        SnormF16 | SnormF32 | SnormF64 => 2,
        I16 | I32 => 3,
        Bool | U16 | U32 => 4,
        F16 | F32 => 5,
        // D3D_RETURN_TYPE_MIXED
        Packed8x32 | Unknown | I64 | U64 => 6,
        F64 => 7,
    }
}

/// `D3D_SRV_DIMENSION`.
fn srv_dimension(dimension: TextureDimension) -> u32 {
    match dimension {
        TextureDimension::D1 => 2,
        TextureDimension::D1Array => 3,
        TextureDimension::D2 => 4,
        TextureDimension::D2Array => 5,
        TextureDimension::D2Multisampled => 6,
        TextureDimension::D2MultisampledArray => 7,
        TextureDimension::D3 => 8,
        TextureDimension::Cube => 9,
        TextureDimension::CubeArray => 10,
    }
}

/// `D3D12_SHADER_BUFFER_DESC`.
pub fn buffer(binding: &Binding, layout: &BufferLayout) -> Record {
    let ty = match binding.kind {
        ResourceKind::TextureBuffer { .. } => 1,
        ResourceKind::StructuredBuffer { .. } => 3,
        _ => 0,
    };
    let mut record =
        Record::new("buffer", binding.name.as_deref().unwrap_or("?")).with("type", ty).with("size", layout.size);
    record.fields = layout.fields.iter().map(variable).collect();
    record
}

/// The buffer of interface pointers.
pub fn interfaces(linkage: &ClassLinkage) -> Option<Record> {
    let mut record = Record::new("buffer", "$ThisPointer").with("type", 2);
    let field = |it: &InterfaceSlots| Record::new("field", &it.name).with("at", it.slot).with("size", it.count);
    record.fields = linkage.interfaces.iter().map(field).collect();
    (!linkage.is_empty()).then_some(record)
}

/// `D3D12_SHADER_VARIABLE_DESC`.
fn variable(field: &Field) -> Record {
    let used = match field.used {
        Some(used) => u8::from(used).to_string(),
        None => "unknown".into(),
    };
    let mut record = member(field).with("size", field.size).with("used", used);
    let default = field.default_value.iter().flatten().map(|byte| format!("{byte:02x}")).collect::<String>();
    record.set("default", default);
    record
}

/// A member of a structure: `D3D12_SHADER_TYPE_DESC` and its name.
fn member(field: &Field) -> Record {
    let mut record =
        Record::new("field", &field.name).with("at", field.offset).with("elements", field.ty.elements.unwrap_or(0));
    let (class, base, rows, columns) = shape(&field.ty.shape);
    for (key, value) in [("class", class), ("base", base), ("rows", rows), ("columns", columns)] {
        record.set(key, value);
    }
    record.set("type", field.ty.name.as_deref().unwrap_or_default());
    if let FieldShape::Struct(members) = &field.ty.shape {
        record.fields = members.iter().map(member).collect();
    }
    record
}

/// `D3D_SHADER_VARIABLE_CLASS`, `D3D_SHADER_VARIABLE_TYPE`, rows and columns.
fn shape(shape: &FieldShape) -> (u32, u32, u32, u32) {
    let scalar = |scalar| match scalar {
        FieldScalar::Bool => 1,
        FieldScalar::I32 => 2,
        FieldScalar::F32 => 3,
        FieldScalar::U32 => 19,
        FieldScalar::F64 => 39,
        FieldScalar::I16 => 58,
        FieldScalar::U16 => 59,
        FieldScalar::F16 => 60,
        FieldScalar::I64 => 61,
        FieldScalar::U64 => 62,
        FieldScalar::Unknown => u32::MAX,
    };
    match shape {
        FieldShape::Scalar(number) => (0, scalar(*number), 1, 1),
        FieldShape::Vector(number, count) => (1, scalar(*number), 1, (*count).into()),
        FieldShape::Matrix { scalar: number, rows, columns, row_major } => {
            (if *row_major { 2 } else { 3 }, scalar(*number), (*rows).into(), (*columns).into())
        }
        FieldShape::Struct(_) => (5, 0, 1, 0),
        FieldShape::Interface => (7, 37, 1, 4),
    }
}

/// `D3D12_SIGNATURE_PARAMETER_DESC` of each row of a signature.
pub fn signature(kind: &str, elements: &[SignatureElement], entry: &EntryPointInterface) -> Vec<Record> {
    let output = kind == "output" || kind == "patch" && entry.stage != Stage::Domain;
    let row = |element: &SignatureElement, row: u32| {
        let register = element.register.map_or("none".into(), |register| (register + row).to_string());
        let not_read = if output { element.mask & !element.used_mask } else { element.used_mask };
        Record::new(kind, &element.semantic)
            .with("index", element.semantic_indices[row as usize])
            .with("register", register)
            .with("value", d3d_name(element.system_value, entry))
            .with("component", component_type(element.component))
            .with("mask", element.mask)
            .with("rw_mask", not_read)
            .with("stream", element.stream)
            .with("min_precision", min_precision(element.min_precision))
    };
    elements.iter().flat_map(|element| (0..element.rows).map(move |number| row(element, number))).collect()
}

/// `D3D_REGISTER_COMPONENT_TYPE`.
fn component_type(component: ComponentType) -> u32 {
    match component {
        ComponentType::U32 | ComponentType::Bool => 1,
        ComponentType::I32 => 2,
        ComponentType::F32 => 3,
        ComponentType::U16 => 4,
        ComponentType::I16 => 5,
        ComponentType::F16 => 6,
        ComponentType::U64 => 7,
        ComponentType::I64 => 8,
        ComponentType::F64 => 9,
        _ => 0,
    }
}

/// `D3D_MIN_PRECISION`.
fn min_precision(precision: MinPrecision) -> u32 {
    match precision {
        MinPrecision::Default => 0,
        MinPrecision::Float16 => 1,
        MinPrecision::Float2_8 => 2,
        MinPrecision::Sint16 => 4,
        MinPrecision::Uint16 => 5,
        MinPrecision::Any16 => 0xf0,
        MinPrecision::Any10 => 0xf1,
    }
}

/// `D3D_NAME`.
fn d3d_name(value: SystemValue, entry: &EntryPointInterface) -> u32 {
    let domain = entry.facts.primitives.tessellator_domain;
    match value {
        SystemValue::Arbitrary => 0,
        SystemValue::Position => 1,
        SystemValue::ClipDistance => 2,
        SystemValue::CullDistance => 3,
        SystemValue::RenderTargetArrayIndex => 4,
        SystemValue::ViewportArrayIndex => 5,
        SystemValue::VertexId => 6,
        SystemValue::PrimitiveId => 7,
        SystemValue::InstanceId => 8,
        SystemValue::IsFrontFace => 9,
        SystemValue::SampleIndex => 10,
        // D3D_TESSELLATOR_DOMAIN: isoline, tri, quad. The factors of lines are told apart by their index, see below.
        SystemValue::TessFactor => [0, 15, 13, 11][domain.unwrap_or(0) as usize & 3],
        SystemValue::InsideTessFactor => [0, 0, 14, 12][domain.unwrap_or(0) as usize & 3],
        SystemValue::Barycentrics => 23,
        SystemValue::ShadingRate => 24,
        SystemValue::CullPrimitive => 25,
        SystemValue::Target => 64,
        SystemValue::Depth => 65,
        SystemValue::Coverage => 66,
        SystemValue::DepthGreaterEqual => 67,
        SystemValue::DepthLessEqual => 68,
        SystemValue::StencilRef => 69,
        SystemValue::InnerCoverage => 70,
        other => panic!("{other:?} has no number of D3D_NAME"),
    }
}

/// Signature elements as `PSV0` tells of them, from the interface, except for what only `PSV0` knows.
pub fn elements(entry: &EntryPointInterface, container: &Container<'_>) -> Vec<Record> {
    let tables = container.part(FourCc::PSV0).and_then(|part| PipelineState::parse(part).unwrap().tables().unwrap());
    let lists = [("input", &entry.inputs), ("output", &entry.outputs), ("patch", &entry.patch_constants)];
    let mut records = Vec::new();
    for (number, (kind, elements)) in lists.into_iter().enumerate() {
        let parts = tables.as_ref().map(|tables| [&tables.inputs, &tables.outputs, &tables.patch_constants][number]);
        if let Some(parts) = parts {
            assert_eq!(parts.len(), elements.len());
        }
        for (at, element) in elements.iter().enumerate() {
            let mode = match element.interpolation {
                Interpolation::Undefined => "",
                Interpolation::Constant => "nointerpolation",
                Interpolation::Linear => "linear",
                Interpolation::LinearCentroid => "centroid",
                Interpolation::LinearNoperspective => "noperspective",
                Interpolation::LinearNoperspectiveCentroid => "noperspective_centroid",
                Interpolation::LinearSample => "sample",
                Interpolation::LinearNoperspectiveSample => "noperspective_sample",
            };
            let mut record = Record::new("element", format!("{kind} {}", element.semantic)).with("mode", mode);
            record.set("index", element.semantic_indices[0]);
            if let Some(parts) = parts {
                let part = &parts[at];
                assert_eq!(part.interpolation, InterpolationMode(element.interpolation as u8));
                assert_eq!(part.semantic_indices, element.semantic_indices);
                assert_eq!(part.stream, element.stream);
                let lanes =
                    (0..4).filter(|lane| part.dynamic_mask >> lane & 1 == 1).map(|lane| char::from(b"xyzw"[lane]));
                record.set("dynamic", lanes.collect::<String>());
            }
            records.push(record);
        }
    }
    records
}

/// `PSVRuntimeInfo`, of the part, where the interface must say the same.
pub fn state(interface: &Interface, container: &Container<'_>) -> Option<Record> {
    let part = container.part(FourCc::PSV0)?;
    let state = PipelineState::parse(part).unwrap();
    let version = ProgramHeader::find(container).unwrap().version();
    let facts = state.facts(version).unwrap();
    let tables = state.tables().unwrap();
    let entry = &interface.entry_points[0];
    let mut record = Record::new("state", format!("{:?}", interface.stage));
    let mut set = |key: &str, value: u32| record.set(key, value);
    match (facts.wave_lanes, entry.facts.wave_size) {
        ((least, most), Some([size, 0, 0] | [size, _, _])) if least == most => {
            assert_eq!(size, least);
            set("WaveSize", least);
        }
        ((least, most), size) => {
            if let Some(size) = size {
                assert_eq!((least, most), (size[0], size[1]));
            }
            set("MinimumExpectedWaveLaneCount", least);
            set("MaximumExpectedWaveLaneCount", most);
        }
    }
    let primitives = &entry.facts.primitives;
    match interface.stage {
        Stage::Pixel => {
            set("DepthOutput", entry.facts.depth_output.is_some().into());
            set("SampleFrequency", entry.facts.sample_frequency.into());
            assert_eq!(facts.depth_output, entry.facts.depth_output.is_some());
            assert_eq!(facts.sample_frequency, entry.facts.sample_frequency);
        }
        Stage::Hull => {
            set("InputControlPointCount", primitives.input_control_points.unwrap());
            set("OutputControlPointCount", primitives.output_control_points.unwrap());
            assert_eq!(facts.input_control_points, primitives.input_control_points);
            assert_eq!(facts.output_control_points, primitives.output_control_points);
            assert_eq!(facts.tessellator_domain, primitives.tessellator_domain);
            assert_eq!(facts.tessellator_output, primitives.tessellator_output);
        }
        Stage::Domain => {
            set("InputControlPointCount", primitives.input_control_points.unwrap());
            assert_eq!(facts.input_control_points, primitives.input_control_points);
            assert_eq!(facts.tessellator_domain, primitives.tessellator_domain);
        }
        Stage::Geometry => {
            set("OutputStreamMask", facts.output_stream_mask.unwrap());
            let streams = entry.outputs.iter().fold(0, |mask, output| mask | 1 << output.stream);
            assert_eq!(facts.output_stream_mask, Some(streams));
            assert_eq!(facts.input_primitive, primitives.input_primitive);
            assert_eq!(facts.output_topology, primitives.output_topology);
        }
        Stage::Mesh | Stage::Amplification => {
            assert_eq!(facts.payload_size, primitives.payload_size);
            assert_eq!(facts.max_primitive_count, primitives.max_primitive_count);
            assert_eq!(facts.max_vertex_count, primitives.max_vertex_count);
        }
        _ => {}
    }
    set("OutputPositionPresent", facts.output_position.unwrap_or(false).into());
    if let Some(tables) = &tables {
        set("SigInputElements", tables.inputs.len() as u32);
        set("SigOutputElements", tables.outputs.len() as u32);
        set("SigPatchConstOrPrimElements", tables.patch_constants.len() as u32);
    }
    // Registers of each signature.
    let vectors = |elements: &[SignatureElement], stream: u8| {
        let ends = elements.iter().filter(|it| it.stream == stream).filter_map(|it| Some(it.register? + it.rows));
        ends.max().unwrap_or(0)
    };
    // The part's first version does not count them.
    if tables.is_some() {
        set("SigInputVectors", vectors(&entry.inputs, 0));
        for stream in 0..4 {
            set(&format!("SigOutputVectors[{stream}]"), vectors(&entry.outputs, stream));
        }
    }
    // Names of D3D_TESSELLATOR_DOMAIN and so on, as the disassembler spells them.
    let named = |names: &[&'static str], number: Option<u32>| number.map_or("", |number| names[number as usize]);
    match interface.stage {
        Stage::Hull => {
            record.set("Domain", named(&["undefined", "isoline", "tri", "quad"], primitives.tessellator_domain));
            let outputs = ["undefined", "point", "line", "triangle_cw", "triangle_ccw"];
            record.set("OutputPrimitive", named(&outputs, primitives.tessellator_output));
        }
        Stage::Geometry => {
            let inputs = ["undefined", "point", "line", "triangle", "", "", "lineadj", "triangleadj"];
            record.set("InputPrimitive", named(&inputs, primitives.input_primitive));
            let topologies = ["undefined", "point", "line", "line", "triangle", "triangle"];
            record.set("OutputTopology", named(&topologies, primitives.output_topology));
        }
        Stage::Mesh => record.set(
            "MeshOutputTopology",
            named(&["undefined", "point", "line", "line", "triangle"], primitives.output_topology),
        ),
        _ => {}
    }
    if let Some([x, y, z]) = facts.thread_group_size {
        record.set("NumThreads", format!("({x},{y},{z})"));
        assert_eq!(facts.thread_group_size, entry.facts.thread_group_size);
    }
    record.set("UsesViewID", if facts.uses_view_id == Some(true) { "true" } else { "" });
    record.set("EntryFunctionName", facts.entry_point.clone().unwrap_or_default());
    assert!(facts.entry_point.is_none_or(|name| name == entry.name));
    Some(record)
}

/// What the components of the outputs are computed of.
pub fn dependent(container: &Container<'_>) -> Vec<Record> {
    let tables = container.part(FourCc::PSV0).and_then(|part| PipelineState::parse(part).unwrap().tables().unwrap());
    let Some(tables) = tables else { return Vec::new() };
    let listed = |mask: &ComponentMask| (0..32 * mask.0.len()).filter(|&at| mask.contains(at)).collect::<Vec<_>>();
    let joined = |list: &[usize]| list.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let mut records = Vec::new();
    let mut push = |record: Record| {
        if !record.values.is_empty() {
            records.push(record);
        }
    };
    let geometry = ProgramHeader::find(container).unwrap().version().kind == Stage::Geometry as u16;
    let outputs = |stream: u8| if geometry { format!("outputs{stream}") } else { "outputs".into() };
    for mask in &tables.view_id_to_outputs {
        push(dependent_on(outputs(mask.stream), "view", &joined(&listed(&mask.mask))));
    }
    if let Some(mask) = &tables.view_id_to_patch_constants {
        push(dependent_on("patch".into(), "view", &joined(&listed(mask))));
    }
    // The part has, for each component that goes in, those that come out; the listing the other way round.
    let mut maps =
        tables.input_to_outputs.iter().map(|it| (outputs(it.stream), "inputs", &it.dependencies)).collect::<Vec<_>>();
    maps.extend(tables.input_to_patch_constants.iter().map(|it| ("patch".into(), "inputs", it)));
    maps.extend(tables.patch_constant_to_outputs.iter().map(|it| ("outputs".into(), "patch", it)));
    for (outputs, inputs, dependencies) in maps {
        for output in 0..128 {
            let sources = dependencies.0.iter().enumerate().filter(|(_, mask)| mask.contains(output)).map(|(at, _)| at);
            push(dependent_on(format!("{outputs} {output}"), inputs, &joined(&sources.collect::<Vec<_>>())));
        }
    }
    records
}

/// A list of components is not left out for being `0`: that is the first component.
fn dependent_on(outputs: String, key: &str, components: &str) -> Record {
    let mut record = Record::new("dependent", outputs);
    if !components.is_empty() {
        record.values.insert(key.into(), components.into());
    }
    record
}

/// Whether the interface tells of a container of DXIL.
pub fn is_dxil(interface: &Interface) -> bool {
    interface.format == Format::Dxil
}
