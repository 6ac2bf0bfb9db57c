//! Tests of the format.

use super::*;
use crate::cases::values::Number;

#[test]
fn the_documented_example() {
    let case = Case::parse(
        r#"(
        about: "clamp on int4 and float4",
        requires: ["SHADER_F16"],
        wave: 8,
        shaders: [(stage: Compute, file: "clamp.dxil", entry: Some("main"))],
        buffers: {
            "In0":  (type: I32, data: [100, 90, 0, 8]),
            "Out0": (type: I32, fill: 0, count: 4),
            "Args": (type: F32, data: [1.5, NaN, inf, -inf, -0.0]),
            "Raw":  (type: U32, data: [0x7fc00001, 0x80000000]),
        },
        textures: {
            "Tex": (dimension: D2, format: "Rgba8Unorm", size: (4, 4, 1), mips: 1, samples: 1, type: U8, data: [/* .. */]),
            "Rt":  (dimension: D2, format: "Rgba32Float", size: (4, 1, 1)),
        },
        samplers: {
            "Lin": (min: Linear, mag: Linear, mip: Nearest, address: (Repeat, Repeat, ClampToEdge), compare: None,
                    lod: (0.0, 32.0), anisotropy: 1, border: TransparentBlack),
        },
        accels: { "Scene": (instances: [(triangles: "Verts", indices: None, transform: [1, 0], id: 0, mask: 255, flags: 0)]) },
        bindings: [
            (class: Srv, register: 0, space: 0, view: Structured(stride: 16), of: ["In0"]),
            (class: Uav, register: 0, view: Raw, of: ["Out0"], counter: Some("Count")),
            (class: Srv, register: 1, view: Typed(format: "Rgba32Float"), of: ["Args"], range: Some((0, 4))),
            (class: Srv, register: 3, view: Typed(format: "Rgba32Float"), of: ["Args"], range: (0, 4)),
            (class: Cbv, register: 0, view: Constant, of: ["Args"]),
            (class: Srv, register: 2, view: Texture(format: None, mips: None, layers: (1, 2)), of: ["Tex"]),
            (class: Sampler, register: 0, of: ["Lin"]),
            (class: Srv, register: 8, of: ["A", "", "C"], view: Texture()),
            (class: Srv, register: 9, of: ["Scene"], view: Accel),
        ],
        run: Dispatch(1, 1, 1),
        expect: [
            (of: "Out0", values: [0, 0, 0, 8], rule: Exact),
            (of: "Out1", from: 4, values: [0.1, NaN], rule: Ulp(2), as: U32),
            (of: "Out1", values: [[1], [2]], rule: OneOf),
        ],
    )"#,
    )
    .unwrap();
    assert_eq!(case.wave, Some(8));
    let args = case.buffers["Args"].data.as_ref().unwrap();
    assert!(matches!(args[1], Number::Float(value) if value.is_nan()));
    assert!(matches!(args[3], Number::Float(f64::NEG_INFINITY)));
    assert!(matches!(args[4], Number::Float(value) if value == 0.0 && value.is_sign_negative()));
    assert!(matches!(case.buffers["Raw"].data.as_ref().unwrap()[0], Number::Integer(0x7fc0_0001)));
    assert_eq!(case.bindings[3].range, Some((0, 4)));
    assert!(matches!(case.bindings[5].view, Some(View::Texture { layers: Some((1, 2)), mips: None, .. })));
    assert!(matches!(case.run.0[..], [Step::Dispatch(1, 1, 1)]));
    assert_eq!(case.expect[1].rule, Rule::Ulp(2));
    assert_eq!(case.expect[2].values.0.len(), 2);
}

#[test]
fn all_steps() {
    let case = Case::parse(
        r#"(run: [
            // A comment with "DrawMesh(1, 2, 3)".
            Draw(vertices: 3, instances: 1, topology: TriangleList,
                 inputs: [(semantic: "POSITION", index: 0, buffer: "Verts", format: "Float32x3", offset: 0, stride: 12, per_instance: false)],
                 indices: Some("Idx"), targets: ["Rt", ""], depth: None, depth_compare: LessEqual, depth_write: true,
                 depth_clear: 1.0, clear: [(0, 0, 0, 0)], viewport: (0, 0, 4, 4), cull: Back, front: CounterClockwise, patch_control_points: None),
            DrawMesh(1, 2, 3, targets: ["Rt"]),
            Rays(4, 5, 6, tables: (raygen: "r", miss: ["m"], hit_groups: [(closest: "c", any: "a", intersection: None)], callable: []), payload: 16, recursion: 1),
            With(shaders: [(stage: Compute, file: "a.dxbc")], run: [Dispatch(1, 2, 3), Dispatch(4, 5, 6)]),
        ])"#,
    )
    .unwrap();
    let [Step::Draw(draw), Step::DrawMesh(mesh), Step::Rays(rays), Step::With(with)] = &case.run.0[..] else {
        panic!("{:?}", case.run)
    };
    assert_eq!(draw.viewport.map(|viewport| viewport.max_depth), Some(1.0));
    assert_eq!((mesh.x, mesh.y, mesh.z, mesh.targets.len()), (1, 2, 3, 1));
    assert_eq!((rays.width, rays.depth, rays.payload), (4, 6, 16));
    assert!(matches!(with.run.0[..], [Step::Dispatch(..), Step::Dispatch(4, 5, 6)]));
}

#[test]
fn unknown_fields_are_errors() {
    assert!(Case::parse("(run: Dispatch(1, 1, 1), exptect: [])").is_err());
    assert!(Case::parse("(run: Draw(vertices: 3, vertexes: 3))").is_err());
    assert!(Case::parse(r#"(run: Dispatch(1, 1, 1), buffers: { "A": (type: F32, dat: []) })"#).is_err());
    assert!(
        Case::parse(
            r#"(run: Dispatch(1, 1, 1), bindings: [(class: Srv, register: 0, view: Texture(mip: 1), of: [])])"#
        )
        .is_err()
    );
}
