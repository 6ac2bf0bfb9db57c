//! Reflection of our own shaders against what Microsoft's `D3DReflect` says of them (the `.json` files beside them).

use std::{collections::BTreeMap, fs, path::Path};

use bevy_dxshader::{
    container::{Container, DigestState},
    reflect,
    reflection::{
        Binding, BufferLayout, ComponentType, Field, FieldScalar, FieldShape, FieldType, Format, Interface,
        ResourceClass, ResourceKind, SamplerMode, SignatureElement, Stage, SystemValue, TextureDimension,
    },
};
use serde_json::Value;

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/reflection").join(name)).unwrap()
}

fn expected(name: &str) -> Value {
    serde_json::from_slice(&fixture(name)).unwrap()
}

fn number(value: &Value, key: &str) -> u32 {
    value[key].as_i64().unwrap_or_else(|| panic!("{key} of {value}")) as u32
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap()
}

#[test]
fn agrees_with_the_compiler() {
    for name in ["constants", "resources", "spaces", "varyings", "varyings_4_0", "streams", "patch", "depth"] {
        let bytes = fixture(&format!("{name}.dxbc"));
        assert_eq!(Container::parse(&bytes).unwrap().digest_state(), DigestState::Ok, "{name}");
        let interface = reflect(&bytes).unwrap();
        let expected = expected(&format!("{name}.json"));
        assert_eq!(interface.format, Format::Dxbc);
        let version = number(&expected, "version");
        assert_eq!(interface.stage as u32, version >> 16, "{name}");
        assert_eq!(u32::from(interface.shader_model.major), version >> 4 & 0xf, "{name}");
        assert_eq!(u32::from(interface.shader_model.minor), version & 0xf, "{name}");

        compare_bindings(name, &interface, &expected);
        let [entry] = &interface.entry_points[..] else { panic!("{name}: one entry point") };
        compare_signature(name, &entry.inputs, list(&expected, "inputs"), false, entry.stage);
        compare_signature(name, &entry.outputs, list(&expected, "outputs"), true, entry.stage);
        compare_signature(name, &entry.patch_constants, list(&expected, "patch_constants"), true, entry.stage);
    }
}

fn compare_bindings(name: &str, interface: &Interface, expected: &Value) {
    let bindings = list(expected, "bindings");
    assert_eq!(interface.bindings.len(), bindings.len(), "{name}");
    let buffers = list(expected, "buffers");
    for binding in bindings {
        let label = format!("{name}: {}", text(binding, "name"));
        let ours = interface.bindings.iter().find(|ours| ours.name.as_deref() == Some(text(binding, "name")));
        let ours = ours.unwrap_or_else(|| panic!("{label} is missing"));
        assert_eq!(ours.register, number(binding, "point"), "{label}");
        let count = number(binding, "count");
        assert_eq!(ours.count, (count > 0).then_some(count), "{label}");
        compare_kind(&label, ours, binding);

        let buffer = buffers.iter().find(|buffer| text(buffer, "name") == text(binding, "name"));
        assert_eq!(ours.layout.is_some(), buffer.is_some(), "{label}");
        if let (Some(layout), Some(buffer)) = (&ours.layout, buffer) {
            compare_layout(&label, layout, buffer);
        }
    }
}

/// Spells the kind in the numbers of `D3D_SHADER_INPUT_TYPE`, `D3D_RESOURCE_RETURN_TYPE` and `D3D_SRV_DIMENSION`.
fn compare_kind(label: &str, ours: &Binding, expected: &Value) {
    let return_type = |component| match component {
        ComponentType::UnormF32 => 1,
        ComponentType::SnormF32 => 2,
        ComponentType::I32 => 3,
        ComponentType::U32 => 4,
        ComponentType::F32 => 5,
        ComponentType::F64 => 7,
        other => panic!("{label}: {other:?}"),
    };
    let typed = if ours.class == ResourceClass::Srv { 2 } else { 4 };
    let got = match ours.kind {
        ResourceKind::ConstantBuffer { .. } => (0, None, None),
        ResourceKind::TextureBuffer { .. } => (1, None, None),
        ResourceKind::Sampler { mode } => {
            assert_eq!(mode == SamplerMode::Comparison, number(expected, "flags") & 2 != 0, "{label}");
            (3, None, None)
        }
        ResourceKind::Texture { dimension, component, components, samples, .. } => {
            assert_eq!(u32::from(components), (number(expected, "flags") >> 2 & 3) + 1, "{label}");
            if dimension.is_multisampled() {
                assert_eq!(u32::from(samples), number(expected, "samples"), "{label}");
            }
            let dimension = match dimension {
                TextureDimension::D1 => 2,
                TextureDimension::D1Array => 3,
                TextureDimension::D2 => 4,
                TextureDimension::D2Array => 5,
                TextureDimension::D2Multisampled => 6,
                TextureDimension::D2MultisampledArray => 7,
                TextureDimension::D3 => 8,
                TextureDimension::Cube => 9,
                TextureDimension::CubeArray => 10,
            };
            (typed, Some(return_type(component)), Some(dimension))
        }
        ResourceKind::TypedBuffer { component, components, .. } => {
            assert_eq!(u32::from(components), (number(expected, "flags") >> 2 & 3) + 1, "{label}");
            (typed, Some(return_type(component)), Some(1))
        }
        ResourceKind::RawBuffer { .. } => (if ours.class == ResourceClass::Srv { 7 } else { 8 }, None, None),
        ResourceKind::StructuredBuffer { stride, counter, .. } => {
            assert_eq!(stride, number(expected, "samples"), "{label}");
            let ty = number(expected, "type");
            assert_eq!(counter, ty >= 9, "{label}");
            assert_eq!(ours.class == ResourceClass::Srv, ty == 5, "{label}");
            (ty, None, None)
        }
        other => panic!("{label}: {other:?}"),
    };
    assert_eq!(got.0, number(expected, "type"), "{label}");
    if let (_, Some(return_type), Some(dimension)) = got {
        assert_eq!((return_type, dimension), (number(expected, "return"), number(expected, "dimension")), "{label}");
    }
}

fn compare_layout(label: &str, layout: &BufferLayout, expected: &Value) {
    assert_eq!(layout.size, number(expected, "size"), "{label}");
    let variables = list(expected, "variables");
    if let [variable] = variables
        && (text(variable, "name") == "$Element" || text(variable, "name") == text(expected, "name"))
        && number(&variable["type"], "class") == 5
    {
        return compare_members(label, &layout.fields, list(&variable["type"], "members"));
    }
    assert_eq!(layout.fields.len(), variables.len(), "{label}");
    for (field, variable) in layout.fields.iter().zip(variables) {
        let label = format!("{label}.{}", field.name);
        assert_eq!(field.name, text(variable, "name"), "{label}");
        assert_eq!((field.offset, field.size), (number(variable, "offset"), number(variable, "size")), "{label}");
        assert_eq!(field.used, Some(number(variable, "flags") & 2 != 0), "{label}");
        assert_eq!(field.default_value.is_some(), variable["default"].as_bool().unwrap(), "{label}");
        compare_type(&label, &field.ty, &variable["type"]);
    }
}

fn compare_members(label: &str, fields: &[Field], members: &[Value]) {
    assert_eq!(fields.len(), members.len(), "{label}");
    for (field, member) in fields.iter().zip(members) {
        let label = format!("{label}.{}", field.name);
        assert_eq!(field.name, text(member, "name"), "{label}");
        assert_eq!(field.offset, number(&member["type"], "offset"), "{label}");
        compare_type(&label, &field.ty, &member["type"]);
    }
}

/// Spells the type in the numbers of `D3D_SHADER_VARIABLE_CLASS` and `D3D_SHADER_VARIABLE_TYPE`.
fn compare_type(label: &str, ty: &FieldType, expected: &Value) {
    let scalar = |scalar| match scalar {
        FieldScalar::Bool => 1,
        FieldScalar::I32 => 2,
        FieldScalar::F32 => 3,
        FieldScalar::U32 => 19,
        FieldScalar::F64 => 39,
        other => panic!("{label}: {other:?}"),
    };
    let got = match &ty.shape {
        FieldShape::Scalar(number) => (0, scalar(*number), 1, 1),
        FieldShape::Vector(number, count) => (1, scalar(*number), 1, (*count).into()),
        FieldShape::Matrix { scalar: number, rows, columns, row_major } => {
            (if *row_major { 2 } else { 3 }, scalar(*number), (*rows).into(), (*columns).into())
        }
        FieldShape::Struct(members) => {
            compare_members(label, members, list(expected, "members"));
            (5, 0, 1, number(expected, "columns"))
        }
        FieldShape::Interface => panic!("{label}"),
    };
    let numbers = ["class", "type", "rows", "columns"].map(|key| number(expected, key));
    assert_eq!(got, numbers.into(), "{label}");
    assert_eq!(ty.elements.unwrap_or(0), number(expected, "elements"), "{label}");
    if !text(expected, "name").is_empty() {
        assert_eq!(ty.name.as_deref(), Some(text(expected, "name")), "{label}");
    }
}

fn compare_signature(name: &str, ours: &[SignatureElement], expected: &[Value], outputs: bool, stage: Stage) {
    assert_eq!(ours.len(), expected.len(), "{name}");
    for (element, expected) in ours.iter().zip(expected) {
        let label = format!("{name}: {} {}", text(expected, "semantic"), number(expected, "index"));
        assert_eq!(element.semantic, text(expected, "semantic"), "{label}");
        assert_eq!(element.semantic_indices, [number(expected, "index")], "{label}");
        assert_eq!(element.register.unwrap_or(u32::MAX), number(expected, "register"), "{label}");
        assert_eq!(u32::from(element.mask), number(expected, "mask"), "{label}");
        assert_eq!(u32::from(element.stream), number(expected, "stream"), "{label}");
        let second = number(expected, "rw_mask") & u32::from(element.mask);
        let used = if outputs { u32::from(element.mask) & !second } else { second };
        assert_eq!(u32::from(element.used_mask), used, "{label}");
        let component = match element.component {
            ComponentType::U32 => 1,
            ComponentType::I32 => 2,
            ComponentType::F32 => 3,
            other => panic!("{label}: {other:?}"),
        };
        assert_eq!(component, number(expected, "component_type"), "{label}");
        let system_value = match element.system_value {
            SystemValue::Arbitrary => vec![0],
            SystemValue::Position => vec![1],
            SystemValue::ClipDistance => vec![2],
            SystemValue::RenderTargetArrayIndex => vec![4],
            SystemValue::VertexId => vec![6],
            SystemValue::PrimitiveId => vec![7],
            SystemValue::InstanceId => vec![8],
            SystemValue::IsFrontFace => vec![9],
            SystemValue::SampleIndex => vec![10],
            SystemValue::TessFactor => vec![11, 13, 15, 16],
            SystemValue::InsideTessFactor => vec![12, 14],
            SystemValue::Target => vec![64],
            SystemValue::Coverage => vec![66],
            SystemValue::DepthGreaterEqual => vec![67],
            other => panic!("{label}: {other:?} in {stage:?}"),
        };
        assert!(system_value.contains(&number(expected, "sysvalue")), "{label}: {:?}", element.system_value);
    }
}

#[test]
fn spaces_and_defaults() {
    let interface = reflect(&fixture("spaces.dxbc")).unwrap();
    let spaces: BTreeMap<_, _> =
        interface.bindings.iter().map(|binding| (binding.name.as_deref().unwrap(), binding.space)).collect();
    let expected = [("draws", 2), ("samplers", 5), ("single", 0), ("targets", 3), ("textures", 1)];
    assert_eq!(spaces, expected.into());

    let interface = reflect(&fixture("constants.dxbc")).unwrap();
    let material = interface.bindings.iter().find(|binding| binding.name.as_deref() == Some("Material")).unwrap();
    let fields = &material.layout.as_ref().unwrap().fields;
    let floats = |field: &Field| {
        let bytes = field.default_value.as_ref().unwrap();
        bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect::<Vec<_>>()
    };
    assert_eq!(floats(&fields[0]), [1.0, 0.5, 0.25, 1.0]);
    assert_eq!(floats(&fields[1]), [0.75]);

    // Sizes of members are not stored: these follow from the rules of packing.
    let frame = interface.bindings.iter().find(|binding| binding.name.as_deref() == Some("Frame")).unwrap();
    let scene = &frame.layout.as_ref().unwrap().fields[0];
    let FieldShape::Struct(members) = &scene.ty.shape else { panic!("{scene:?}") };
    assert_eq!((members[0].size, members[0].ty.stride), (420, 144));
    let FieldShape::Struct(members) = &members[0].ty.shape else { panic!("{members:?}") };
    let extents = members.iter().map(|member| (member.offset, member.size)).collect::<Vec<_>>();
    assert_eq!(extents, [(0, 12), (12, 4), (16, 64), (80, 28), (112, 20)]);
}

/// The bytes with a part's name made unknown, as if the part had been stripped.
fn without(bytes: &[u8], part: &[u8; 4]) -> Vec<u8> {
    let container = Container::parse(bytes).unwrap();
    let mut stripped = bytes.to_vec();
    for part in container.parts().filter(|candidate| candidate.name.0 == *part) {
        stripped[part.offset - 8..part.offset - 4].copy_from_slice(b"none");
    }
    assert_ne!(stripped, bytes, "the part is there");
    stripped
}

/// The tokens declare all that a stripped `RDEF` said, except names, layouts and the number of a texel's components.
#[test]
fn tokens_replace_resource_definitions() {
    for name in ["constants.dxbc", "resources.dxbc", "spaces.dxbc", "patch.dxbc"] {
        let bytes = fixture(name);
        let full = reflect(&bytes).unwrap();
        let stripped = reflect(&without(&bytes, b"RDEF")).unwrap();
        let comparable = |binding: &Binding| {
            let mut kind = binding.kind;
            match &mut kind {
                ResourceKind::Texture { components, .. } | ResourceKind::TypedBuffer { components, .. } => {
                    *components = 4
                }
                _ => {}
            }
            // Tokens declare a texture buffer as a typed buffer of mixed types.
            if let ResourceKind::TextureBuffer { .. } = kind {
                kind = ResourceKind::TypedBuffer {
                    component: ComponentType::Unknown,
                    components: 4,
                    flags: Default::default(),
                };
            }
            ((binding.class, binding.space, binding.register), (binding.count, kind))
        };
        let of = |interface: &Interface| interface.bindings.iter().map(comparable).collect::<BTreeMap<_, _>>();
        let (full_bindings, mut stripped_bindings) = (of(&full), of(&stripped));
        for (register, (_, kind)) in &mut stripped_bindings {
            // Of a constant buffer only the rows that are used are declared.
            if let (ResourceKind::ConstantBuffer { size }, Some((_, ResourceKind::ConstantBuffer { size: full }))) =
                (&mut *kind, full_bindings.get(register))
            {
                assert!(*size > 0 && *size <= *full, "{name} {register:?}: {size} of {full}");
                *size = *full;
            }
        }
        assert_eq!(stripped_bindings, full_bindings, "{name}");
        assert_eq!(stripped.entry_points[0].facts, full.entry_points[0].facts, "{name}");
    }
}

/// The tokens declare the registers and system values of stripped signatures.
#[test]
fn tokens_replace_signatures() {
    for name in ["varyings.dxbc", "varyings_4_0.dxbc", "constants.dxbc"] {
        let bytes = fixture(name);
        let full = reflect(&bytes).unwrap();
        let stripped = reflect(&without(&without(&bytes, b"ISGN"), b"OSGN")).unwrap();
        let registers = |elements: &[SignatureElement]| {
            let mut masks = BTreeMap::<_, u8>::new();
            for element in elements.iter().filter(|element| element.used_mask != 0) {
                for row in 0..element.rows {
                    *masks.entry(element.register.map(|register| register + row)).or_default() |= element.used_mask;
                }
            }
            masks
        };
        let [full, stripped] = [full, stripped].map(|mut interface| interface.entry_points.remove(0));
        assert_eq!(registers(&stripped.inputs), registers(&full.inputs), "{name}");
        assert_eq!(registers(&stripped.outputs), registers(&full.outputs), "{name}");
    }
}

/// What both compilers make of one source tells the same.
#[test]
fn both_formats_agree() {
    for name in ["constants", "resources", "spaces", "varyings", "streams", "patch", "depth"] {
        let dxbc = reflect(&fixture(&format!("{name}.dxbc"))).unwrap();
        let dxil = reflect(&fixture(&format!("{name}.dxil"))).unwrap();
        assert_eq!(dxil.format, Format::Dxil);
        assert_eq!(dxil.stage, dxbc.stage, "{name}");

        let (dxbc_entry, dxil_entry) = (&dxbc.entry_points[0], &dxil.entry_points[0]);
        let mut facts = dxil_entry.facts.clone();
        // fxc leaves the default of 64 and, as here, lower limits undeclared.
        facts.primitives.max_tessellation_factor = dxbc_entry.facts.primitives.max_tessellation_factor;
        assert_eq!(facts, dxbc_entry.facts, "{name}");

        // By semantic: dxc packs otherwise.
        let elements = |elements: &[SignatureElement], system_values: bool| {
            let mut found = BTreeMap::new();
            for element in elements {
                for &index in &element.semantic_indices {
                    let system_value = system_values.then_some(element.system_value);
                    let value = (element.mask.count_ones(), element.component, element.stream, system_value);
                    found.insert((element.semantic.to_uppercase(), index), value);
                }
            }
            found
        };
        let signatures = [
            (&dxbc_entry.inputs, &dxil_entry.inputs),
            (&dxbc_entry.outputs, &dxil_entry.outputs),
            (&dxbc_entry.patch_constants, &dxil_entry.patch_constants),
        ];
        for (dxbc, dxil) in signatures {
            assert_eq!(elements(dxil, true), elements(dxbc, true), "{name}");
        }

        for binding in &dxbc.bindings {
            // fxc lists the elements of an array that are used, each by itself.
            let label = binding.name.as_deref().unwrap().split('[').next().unwrap();
            let other = dxil.bindings.iter().find(|other| other.name.as_deref() == Some(label));
            let other = other.unwrap_or_else(|| panic!("{name}: {label} is missing"));
            assert_eq!(other.kind, binding.kind, "{name}: {label}");
            assert_eq!((other.class, other.space), (binding.class, binding.space), "{name}: {label}");
            if binding.name.as_deref() == Some(label) {
                assert_eq!((other.register, other.count), (binding.register, binding.count), "{name}: {label}");
            }
            let shape = |layout: &Option<BufferLayout>| {
                layout.clone().map(|mut layout| {
                    layout.fields.iter_mut().for_each(plain);
                    layout
                })
            };
            assert_eq!(shape(&other.layout), shape(&binding.layout), "{name}: {label}");
        }
    }
}

/// A field without what only one of the compilers tells: defaults, use, names of types, and signs of bare elements.
fn plain(field: &mut Field) {
    field.default_value = None;
    field.used = None;
    field.ty.name = None;
    if let FieldShape::Struct(members) = &mut field.ty.shape {
        members.iter_mut().for_each(plain);
    }
    if field.name == "$Element" {
        match &mut field.ty.shape {
            FieldShape::Scalar(scalar) | FieldShape::Vector(scalar, _) if *scalar == FieldScalar::U32 => {
                *scalar = FieldScalar::I32;
            }
            _ => {}
        }
    }
}
