use naga::BuiltIn;

use super::*;
use crate::lift::{PixelInputRegister, PixelInputs, TargetKind, link};

const F32X4: Type = Type::Vector(ir::Scalar::F32, 4);
const F32X2: Type = Type::Vector(ir::Scalar::F32, 2);

/// The members of the entry point's result.
fn members(emitted: &Emitted) -> &[naga::StructMember] {
    let result = emitted.module.entry_points[0].function.result.as_ref().expect("a result");
    match &emitted.module.types[result.ty].inner {
        naga::TypeInner::Struct { members, .. } => members,
        other => panic!("{other:?}"),
    }
}

fn location_of(binding: &Option<naga::Binding>) -> Option<(u32, Option<naga::Interpolation>, Option<naga::Sampling>)> {
    match *binding.as_ref()? {
        naga::Binding::Location { location, interpolation, sampling, .. } => Some((location, interpolation, sampling)),
        naga::Binding::BuiltIn(_) => None,
    }
}

fn vertex_program() -> Program {
    Sketch::new(Stage::Vertex)
        .input(element("POSITION", 0, 0, 0b0111, ComponentType::F32, SystemValue::Arbitrary))
        .input(element("ID", 0, 1, 0b0001, ComponentType::U32, SystemValue::Arbitrary))
        .output(element("SV_Position", 0, 0, 0b1111, ComponentType::F32, SystemValue::Position))
        .output(element("TEXCOORD", 0, 1, 0b0011, ComponentType::F32, SystemValue::Arbitrary))
        .output(element("TEXCOORD", 1, 1, 0b1100, ComponentType::F32, SystemValue::Arbitrary))
        .output(element("ID", 0, 2, 0b0001, ComponentType::U32, SystemValue::Arbitrary))
        .program(|builder| {
            let xyz = load_input(builder, 0, 0, Type::Vector(ir::Scalar::F32, 3));
            let lanes: Vec<Value> = (0..3).map(|lane| builder.extract(xyz, lane)).collect();
            let one = builder.f32(1.0);
            let position = builder.compose(&[lanes[0], lanes[1], lanes[2], one]);
            store_output(builder, 0, 0, position);
            let xy = builder.compose(&lanes[..2]);
            store_output(builder, 1, 0, xy);
            let id = load_input(builder, 1, 0, Type::I32);
            store_output(builder, 3, 0, id);
        })
}

#[test]
fn vertex_registers_become_four_lanes_at_their_numbers() {
    let emitted = emit(&vertex_program());
    let arguments = &emitted.module.entry_points[0].function.arguments;
    let locations: Vec<_> = arguments.iter().filter_map(|argument| location_of(&argument.binding)).collect();
    assert_eq!(locations.iter().map(|location| location.0).collect::<Vec<_>>(), [0, 1]);
    let members = members(&emitted);
    assert_eq!(members[0].binding, Some(naga::Binding::BuiltIn(BuiltIn::Position { invariant: true })));
    let varyings: Vec<_> = members.iter().filter_map(|member| location_of(&member.binding)).collect();
    assert_eq!(
        varyings,
        [
            (1, Some(naga::Interpolation::Perspective), Some(naga::Sampling::Center)),
            (2, Some(naga::Interpolation::Flat), None)
        ]
    );
    assert_eq!(emitted.module.types[members[1].ty].inner, vec4(naga::Scalar::F32));
    assert_eq!(emitted.module.types[members[2].ty].inner, vec4(naga::Scalar::U32));
}

#[test]
fn a_vertex_shader_is_emitted_for_what_its_pixel_shader_reads() {
    let mut centroid = element("TEXCOORD", 1, 1, 0b1100, ComponentType::F32, SystemValue::Arbitrary);
    centroid.interpolation = Interpolation::LinearCentroid;
    let pixel = Sketch::new(Stage::Pixel)
        .input(element("SV_Position", 0, 0, 0b1111, ComponentType::F32, SystemValue::Position))
        .input(centroid)
        .input(element("EXTRA", 0, 5, 0b0001, ComponentType::F32, SystemValue::Arbitrary))
        .input(element("UNREAD", 0, 6, 0b0001, ComponentType::F32, SystemValue::Arbitrary))
        .output(element("SV_Target", 0, 0, 0b1111, ComponentType::F32, SystemValue::Target))
        .program(|builder| {
            let zw = load_input(builder, 1, 0, F32X2);
            let w = load_input(builder, 0, 3, Type::F32);
            let extra = load_input(builder, 2, 0, Type::F32);
            let (x, y) = (builder.extract(zw, 0), builder.extract(zw, 1));
            let color = builder.compose(&[x, y, w, extra]);
            store_output(builder, 0, 0, color);
        });
    let inputs = link(&vertex_program(), &pixel).unwrap();
    assert_eq!(
        inputs.registers.into_iter().collect::<Vec<_>>(),
        [
            (1, PixelInputRegister { interpolation: Interpolation::LinearCentroid }),
            (5, PixelInputRegister { interpolation: Interpolation::Linear }),
        ]
    );
    let inputs = link(&vertex_program(), &pixel).unwrap();
    let vertex = emit_for(&vertex_program(), &Target { pixel_inputs: Some(inputs), ..Target::default() });
    let pixel = emit(&pixel);
    let written: Vec<_> = members(&vertex).iter().filter_map(|member| location_of(&member.binding)).collect();
    let arguments = &pixel.module.entry_points[0].function.arguments;
    let read: Vec<_> = arguments.iter().filter_map(|argument| location_of(&argument.binding)).collect();
    assert_eq!(written, read);
}

#[test]
fn link_names_a_semantic_that_is_written_elsewhere() {
    let pixel = Sketch::new(Stage::Pixel)
        .input(element("TEXCOORD", 1, 2, 0b0011, ComponentType::F32, SystemValue::Arbitrary))
        .output(element("SV_Target", 0, 0, 0b1111, ComponentType::F32, SystemValue::Target))
        .program(|builder| {
            let xy = load_input(builder, 0, 0, F32X2);
            store_output(builder, 0, 0, xy);
        });
    let error = link(&vertex_program(), &pixel).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Mismatch);
    assert!(error.what.contains("TEXCOORD1, o1.zw and v2.xy"), "{error}");
    assert_eq!(link(&pixel, &vertex_program()).unwrap_err().kind, ErrorKind::Mismatch);
}

#[test]
fn a_vertex_shader_without_position_gets_one() {
    let program = Sketch::new(Stage::Vertex).program(|_| {});
    let emitted = emit(&program);
    assert_eq!(members(&emitted)[0].binding, Some(naga::Binding::BuiltIn(BuiltIn::Position { invariant: true })));
}

#[test]
fn distances_are_packed_in_the_order_of_their_indices() {
    let program = Sketch::new(Stage::Vertex)
        .output(element("SV_ClipDistance", 1, 1, 0b0011, ComponentType::F32, SystemValue::ClipDistance))
        .output(element("SV_ClipDistance", 0, 1, 0b0100, ComponentType::F32, SystemValue::ClipDistance))
        .program(|builder| {
            let half = builder.f32(0.5);
            store_output(builder, 1, 0, half);
            let pair = builder.splat(half, 2);
            store_output(builder, 0, 0, pair);
        });
    let emitted = emit(&program);
    let member = &members(&emitted)[1];
    assert_eq!(member.binding, Some(naga::Binding::BuiltIn(BuiltIn::ClipDistance)));
    let naga::TypeInner::Array { size, .. } = emitted.module.types[member.ty].inner else { panic!() };
    assert_eq!(size, naga::ArraySize::Constant(std::num::NonZeroU32::new(3).unwrap()));
    let mut target = Target::default();
    target.capabilities.remove(naga::valid::Capabilities::CLIP_DISTANCE);
    let emitted = emit_for(&program, &target);
    assert!(emitted.notes.iter().any(|note| note.text.contains("SV_ClipDistance")));
}

#[test]
fn pixel_inputs_of_the_rasterizer() {
    let program = Sketch::new(Stage::Pixel)
        .input(element("SV_IsFrontFace", 0, 1, 0b0001, ComponentType::U32, SystemValue::IsFrontFace))
        .input(element("SV_SampleIndex", 0, 1, 0b0010, ComponentType::U32, SystemValue::SampleIndex))
        .input(element("SV_PrimitiveID", 0, 1, 0b0100, ComponentType::U32, SystemValue::PrimitiveId))
        .output(element("SV_Target", 0, 0, 0b1111, ComponentType::U32, SystemValue::Target))
        .output(SignatureElement {
            register: None,
            ..element("SV_Coverage", 0, 0, 0b0001, ComponentType::U32, SystemValue::Coverage)
        })
        .output(SignatureElement {
            register: None,
            ..element("SV_Depth", 0, 0, 0b0001, ComponentType::F32, SystemValue::Depth)
        })
        .program(|builder| {
            let lanes = [0, 1, 2].map(|input| load_input(builder, input, 0, Type::I32));
            let mask = builder.push(Op::SystemValue(SystemValue::Coverage), Type::I32);
            let value = builder.compose(&[lanes[0], lanes[1], lanes[2], mask]);
            store_output(builder, 0, 0, value);
            store_output(builder, 1, 0, mask);
            let depth = builder.f32(0.5);
            store_output(builder, 2, 0, depth);
        });
    assert_eq!(members(&emit(&program)).len(), 3);
    let target = Target { depth_attachment: false, render_targets: vec![Some(TargetKind::Sint)], ..Target::default() };
    let emitted = emit_for(&program, &target);
    let members = members(&emitted);
    assert_eq!(members.len(), 2);
    assert_eq!(emitted.module.types[members[0].ty].inner, vec4(naga::Scalar::I32));
}

#[test]
fn mixed_types_of_a_register_travel_as_bits() {
    let constant = |semantic, mask, component| SignatureElement {
        interpolation: Interpolation::Constant,
        ..element(semantic, 0, 3, mask, component, SystemValue::Arbitrary)
    };
    let program = Sketch::new(Stage::Pixel)
        .input(constant("A", 0b0001, ComponentType::F32))
        .input(constant("B", 0b0110, ComponentType::I32))
        .output(element("SV_Target", 0, 0, 0b0111, ComponentType::F32, SystemValue::Target))
        .program(|builder| {
            let a = load_input(builder, 0, 0, Type::F32);
            let b = load_input(builder, 1, 0, Type::Vector(ir::Scalar::I32, 2));
            let b = builder.convert(ir::ConvertOp::SToF, b, ir::Scalar::F32);
            let (x, y) = (builder.extract(b, 0), builder.extract(b, 1));
            let value = builder.compose(&[a, x, y]);
            store_output(builder, 0, 0, value);
        });
    let emitted = emit(&program);
    let arguments = &emitted.module.entry_points[0].function.arguments;
    assert_eq!(arguments.len(), 1);
    assert_eq!(location_of(&arguments[0].binding), Some((3, Some(naga::Interpolation::Flat), None)));
    assert_eq!(emitted.module.types[arguments[0].ty].inner, vec4(naga::Scalar::U32));
}

#[test]
fn rows_are_chosen_at_run_time() {
    let rows = |semantic, register, system_value| SignatureElement {
        rows: 3,
        semantic_indices: vec![0, 1, 2],
        ..element(semantic, 0, register, 0b0111, ComponentType::F32, system_value)
    };
    let program = Sketch::new(Stage::Vertex)
        .input(rows("BONE", 0, SystemValue::Arbitrary))
        .input(element("INDEX", 0, 3, 0b0001, ComponentType::U32, SystemValue::Arbitrary))
        .output(rows("OUT", 0, SystemValue::Arbitrary))
        .program(|builder| {
            let row = load_input(builder, 1, 0, Type::I32);
            let (signature, element) = (SignatureKind::Input, ElementId(0));
            let ty = Type::Vector(ir::Scalar::F32, 3);
            let value = builder.push(Op::LoadInput { signature, element, row, component: 0, vertex: None }, ty);
            let (signature, element) = (SignatureKind::Output, ElementId(0));
            builder.effect(Op::StoreOutput { signature, element, row, component: 0, vertex: None, value });
        });
    let emitted = emit(&program);
    assert_eq!(members(&emitted).len(), 4);
}

#[test]
fn inputs_are_evaluated_at_an_offset() {
    let program = Sketch::new(Stage::Pixel)
        .input(element("TEXCOORD", 0, 1, 0b0011, ComponentType::F32, SystemValue::Arbitrary))
        .output(element("SV_Target", 0, 0, 0b0011, ComponentType::F32, SystemValue::Target))
        .program(|builder| {
            let row = builder.i32(0);
            let at = ir::EvaluateAt::Snapped(builder.i32(3), builder.i32(-4i32 as u32));
            let op = Op::EvaluateInput { element: ElementId(0), row, component: 0, at };
            let value = builder.push(op, F32X2);
            store_output(builder, 0, 0, value);
        });
    emit(&program);
}

#[test]
fn compute_ids() {
    let program = Sketch::new(Stage::Compute)
        .binding(ResourceClass::Uav, 0, ResourceKind::RawBuffer { flags: UavFlags::default() })
        .program(|builder| {
            let ty = Type::Vector(ir::Scalar::I32, 3);
            let buffer = handle(builder, 0);
            let address = builder.push(Op::SystemValue(SystemValue::GroupIndex), Type::I32);
            for system_value in [SystemValue::GroupId, SystemValue::GroupThreadId, SystemValue::DispatchThreadId] {
                let value = builder.push(Op::SystemValue(system_value), ty);
                let address = ir::BufferAddress::Byte(address);
                builder.effect(Op::StoreBuffer { handle: buffer, address, value });
            }
        });
    let emitted = emit(&program);
    assert_eq!(emitted.module.entry_points[0].workgroup_size, [8, 4, 1]);
}

#[test]
fn an_output_beyond_its_element_is_an_error() {
    let program = Sketch::new(Stage::Pixel)
        .output(element("SV_Target", 0, 0, 0b0011, ComponentType::F32, SystemValue::Target))
        .program(|builder| {
            let value = builder.zero(F32X4);
            store_output(builder, 0, 0, value);
        });
    assert_eq!(program.emit(&Target::default()).unwrap_err().kind, ErrorKind::Malformed);
}

#[test]
fn pixel_inputs_alone_decide_the_varyings() {
    let registers = [(9, PixelInputRegister { interpolation: Interpolation::Constant })].into();
    let inputs = PixelInputs { registers, ..Default::default() };
    let emitted = emit_for(&vertex_program(), &Target { pixel_inputs: Some(inputs), ..Target::default() });
    let varyings: Vec<_> = members(&emitted).iter().filter_map(|member| location_of(&member.binding)).collect();
    assert_eq!(varyings, [(9, Some(naga::Interpolation::Flat), None)]);
}

#[test]
fn a_geometry_shader_keeps_what_it_emits() {
    let mut sketch = Sketch::new(Stage::Geometry)
        .input(element("SV_Position", 0, 0, 0b1111, ComponentType::F32, SystemValue::Position))
        .output(element("SV_Position", 0, 0, 0b1111, ComponentType::F32, SystemValue::Position))
        .output(element("ID", 0, 1, 0b0001, ComponentType::U32, SystemValue::Arbitrary));
    sketch.interface.facts.primitives.input_primitive = Some(3);
    sketch.interface.facts.primitives.max_vertex_count = Some(4);
    let program = sketch.program(|builder| {
        let (row, component) = (builder.i32(0), 0);
        let id = builder.push(Op::SystemValue(SystemValue::PrimitiveId), Type::I32);
        let vertex = Some(id);
        let (signature, element) = (SignatureKind::Input, ElementId(0));
        let position = builder.push(Op::LoadInput { signature, element, row, component, vertex }, F32X4);
        store_output(builder, 0, 0, position);
        store_output(builder, 1, 0, id);
        builder.effect(Op::EmitVertex { stream: 1, emit: true, cut: true });
    });
    let emitted = emit(&program);
    assert!(emitted.module.entry_points.is_empty());
    let names: Vec<_> =
        emitted.module.global_variables.iter().filter_map(|(_, global)| global.name.as_deref()).collect();
    for name in ["stage_inputs", "stage_outputs", "stage_primitive_id", "emitted_vertices", "emitted_strips"] {
        assert!(names.contains(&name), "{names:?}");
    }
}

#[test]
fn a_control_point_shader_writes_its_own_point() {
    let mut sketch = Sketch::new(Stage::Hull)
        .input(element("POINT", 0, 0, 0b0111, ComponentType::F32, SystemValue::Arbitrary))
        .output(element("POINT", 0, 0, 0b0111, ComponentType::F32, SystemValue::Arbitrary));
    sketch.interface.facts.primitives.input_control_points = Some(3);
    sketch.interface.facts.primitives.output_control_points = Some(3);
    let program = sketch.program(|builder| {
        let (row, component) = (builder.i32(0), 0);
        let vertex = Some(builder.push(Op::SystemValue(SystemValue::OutputControlPointId), Type::I32));
        let (signature, element) = (SignatureKind::Input, ElementId(0));
        let ty = Type::Vector(ir::Scalar::F32, 3);
        let point = builder.push(Op::LoadInput { signature, element, row, component, vertex }, ty);
        store_output(builder, 0, 0, point);
    });
    emit(&program);
}

#[test]
fn both_stages_agree_where_the_target_cannot_shade_samples() {
    let mut sample = element("TEXCOORD", 1, 1, 0b1100, ComponentType::F32, SystemValue::Arbitrary);
    sample.interpolation = Interpolation::LinearNoperspectiveSample;
    let pixel = Sketch::new(Stage::Pixel)
        .input(sample)
        .output(element("SV_Target", 0, 0, 0b0011, ComponentType::F32, SystemValue::Target))
        .program(|builder| {
            let zw = load_input(builder, 0, 0, F32X2);
            store_output(builder, 0, 0, zw);
        });
    let mut target = Target { pixel_inputs: Some(link(&vertex_program(), &pixel).unwrap()), ..Target::default() };
    target.capabilities.remove(naga::valid::Capabilities::MULTISAMPLED_SHADING);
    let (vertex, pixel) = (emit_for(&vertex_program(), &target), emit_for(&pixel, &target));
    let expected = (1, Some(naga::Interpolation::Linear), Some(naga::Sampling::Center));
    let written: Vec<_> = members(&vertex).iter().filter_map(|member| location_of(&member.binding)).collect();
    assert_eq!(written, [expected]);
    assert_eq!(location_of(&pixel.module.entry_points[0].function.arguments[0].binding), Some(expected));
}

#[test]
fn samples_of_the_render_target_are_known_to_the_target() {
    let program = Sketch::new(Stage::Pixel)
        .input(element("TEXCOORD", 0, 1, 0b0011, ComponentType::F32, SystemValue::Arbitrary))
        .output(element("SV_Target", 0, 0, 0b1111, ComponentType::F32, SystemValue::Target))
        .program(|builder| {
            let count = builder.push(Op::SampleCount(None), Type::I32);
            let position = builder.push(Op::SamplePosition { handle: None, sample: count }, F32X2);
            let row = builder.i32(0);
            let at = ir::EvaluateAt::Sample(count);
            let value = builder.push(Op::EvaluateInput { element: ElementId(0), row, component: 0, at }, F32X2);
            let lanes = [position, value].map(|pair| [builder.extract(pair, 0), builder.extract(pair, 1)]);
            let color = builder.compose(&lanes.concat());
            store_output(builder, 0, 0, color);
        });
    emit_for(&program, &Target { samples: 4, ..Target::default() });
}
