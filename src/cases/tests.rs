//! The runner on its own: modules written in WGSL stand for lifted ones, so that what these tests find is the runner's.

use std::{cell::Cell, path::Path};

use super::{
    bind::{Hazards, StageModule},
    compare::compare,
    device::{Gpu, Halt},
    draw::DrawModules,
    format::{Case, Expectation, Step},
    pipeline::Context,
    report::Mismatch,
    resources::Resources,
};
use crate::{
    ir::BindingId,
    lift::{
        BindingRole, Emitted, EmittedResource, EmittedType, ResourceSlot, SamplerKind, TextureSample, ViewDimension,
    },
    reflection::{
        Binding, ComponentType, EntryPointInterface, Format, Interface, Interpolation, MinPrecision, ResourceClass,
        ResourceKind, SamplerMode, ShaderModel, SignatureElement, Stage, SystemValue, TextureDimension, UavFlags,
    },
};

/// A module whose resources are bindings 0, 1, .. of its group.
fn module(
    stage: Stage,
    group: u32,
    wgsl: &str,
    resources: &[(ResourceClass, u32, ResourceKind, EmittedType)],
) -> StageModule {
    let bindings = resources.iter().map(|&(class, register, ref kind, _)| Binding {
        name: None,
        class,
        space: 0,
        register,
        count: Some(1),
        kind: *kind,
        layout: None,
    });
    let input = SignatureElement {
        semantic: "POSITION".into(),
        semantic_indices: vec![0],
        register: Some(3),
        rows: 1,
        mask: 15,
        used_mask: 15,
        component: ComponentType::F32,
        min_precision: MinPrecision::Default,
        system_value: SystemValue::Arbitrary,
        interpolation: Interpolation::Undefined,
        stream: 0,
    };
    let interface = Interface {
        entry_points: vec![EntryPointInterface { inputs: vec![input], ..EntryPointInterface::new("main", stage) }],
        bindings: bindings.collect(),
        ..Interface::new(Format::Dxbc, ShaderModel { major: 5, minor: 0 }, stage)
    };
    let emitted = resources.iter().zip(0..).map(|(&(.., ty), index)| EmittedResource {
        binding: BindingId(index),
        role: BindingRole::Resource,
        slot: ResourceSlot { group, binding: index },
        ty,
        count: None,
    });
    let emitted =
        Emitted { module: naga::front::wgsl::parse_str(wgsl).unwrap(), resources: emitted.collect(), notes: vec![] };
    StageModule { stage, interface, emitted }
}

/// Runs a case's only step with modules of its own. `None` where there is no device at all.
fn run(case: &str, modules: impl FnOnce() -> Vec<StageModule>) -> Option<Result<Vec<Mismatch>, Halt>> {
    let gpu = match Gpu::new() {
        Ok(gpu) => gpu,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return None;
        }
    };
    let case = Case::parse(case).unwrap();
    let mut modules = modules().into_iter();
    Some(gpu.checked(|| {
        let resources = Resources::new(&gpu, &case)?;
        let context = Context {
            gpu: &gpu,
            case: &case,
            resources: &resources,
            folder: Path::new(""),
            capabilities: gpu.capabilities,
            optional_types: &Cell::new(false),
        };
        let first = modules.next().ok_or("no module")?;
        let mut hazards = Hazards::default();
        hazards.add(&case.bindings, &first.interface);
        match &case.run.0[..] {
            [Step::Dispatch(x, y, z)] => context.dispatch_module(&first, [*x, *y, *z], &hazards)?,
            [Step::Draw(draw)] => {
                context.draw_modules(&DrawModules { vertex: first, pixel: modules.next() }, draw, &hazards)?;
            }
            _ => return Err("one step".into()),
        }
        let mut mismatches = vec![];
        for expectation in &case.expect {
            let Expectation { of, mip, layer, sample, .. } = expectation;
            let (bytes, ty) = resources.read(&gpu, of, *mip, *layer, *sample)?;
            mismatches.extend(compare(expectation, ty, &bytes)?);
        }
        Ok(mismatches)
    }))
}

const STORAGE: EmittedType = EmittedType::Storage { read_only: false, element: 4 };
const READ_ONLY: EmittedType = EmittedType::Storage { read_only: true, element: 4 };

fn raw() -> ResourceKind {
    ResourceKind::RawBuffer { flags: UavFlags::default() }
}

#[test]
fn views_show_parts_of_buffers() {
    let case = r#"(
        buffers: {
            "In": (type: U32, data: [1, 2, 3, 4, 5]),
            "Out": (type: U32, fill: 9, count: 8),
            "Args": (type: F32, data: [0.5]),
        },
        bindings: [
            (class: Srv, register: 2, view: Raw, of: ["In"], range: (1, 3)),
            (class: Uav, register: 0, view: Structured(stride: 8), of: ["Out"], range: (1, 2)),
            (class: Cbv, register: 0, view: Constant, of: ["Args"]),
            (class: Uav, register: 7, view: Raw, of: ["NotThere"]),
        ],
        run: Dispatch(1, 1, 1),
        expect: [
            (of: "Out", values: [9, 9, 3, 4, 2, 0, 9, 9]),
            (of: "Out", from: 1, values: [8], rule: Ulp(1)),
            (of: "Out", from: 2, values: [3, 4, 5]),
        ],
    )"#;
    let wgsl = "
        @group(0) @binding(0) var<storage, read> input: array<u32>;
        @group(0) @binding(1) var<storage, read_write> output: array<u32>;
        @group(0) @binding(2) var<uniform> args: array<vec4<f32>, 4>;
        @group(0) @binding(3) var<storage, read> unbound: array<u32>;
        @compute @workgroup_size(1) fn main() {
            output[0] = arrayLength(&input);
            output[1] = arrayLength(&output);
            output[2] = u32((args[0].x + args[3].y) * 4.0);
            output[3] = unbound[0];
        }";
    let modules = || {
        let constants = ResourceKind::ConstantBuffer { size: 64 };
        vec![module(
            Stage::Compute,
            0,
            wgsl,
            &[
                (ResourceClass::Srv, 2, raw(), READ_ONLY),
                (ResourceClass::Uav, 0, raw(), STORAGE),
                (ResourceClass::Cbv, 0, constants, EmittedType::Uniform { size: 64 }),
                (ResourceClass::Srv, 3, raw(), READ_ONLY),
            ],
        )]
    };
    let Some(result) = run(case, modules) else { return };
    let mismatches = result.unwrap();
    assert_eq!(mismatches.len(), 1, "{mismatches:?}");
    assert_eq!((mismatches[0].element, mismatches[0].got.as_str(), mismatches[0].expected.as_str()), (4, "2", "5"));
}

#[test]
fn textures_keep_their_mips_and_layers() {
    let case = r#"(
        buffers: { "Out": (type: F32, fill: -1, count: 8) },
        textures: {
            "Tex": (dimension: D2, format: "R8Unorm", size: (2, 2, 2), mips: 2,
                    data: [0, 51, 102, 153, 255, 1, 2, 3, 4, 204]),
            "Line": (dimension: D1, format: "Rgba32Float", size: (2, 1, 1), data: [0, 0, 0, 0, 1, 2, 3, 4]),
            "Depth": (dimension: D2, format: "Depth32Float", size: (2, 2, 1), data: [0.125, 0.25, 0.5, 1]),
            "Block": (dimension: D3, format: "R32Float", size: (1, 2, 2), data: [1, 2, 3, 4]),
        },
        samplers: { "Lin": (min: Linear, mag: Linear) },
        bindings: [
            (class: Srv, register: 0, view: Texture(), of: ["Tex"]),
            (class: Srv, register: 1, of: ["Line"]),
            (class: Srv, register: 2, of: ["Depth"]),
            (class: Srv, register: 3, of: ["Block"]),
            (class: Sampler, register: 0, of: ["Lin"]),
            (class: Uav, register: 0, view: Raw, of: ["Out"]),
        ],
        run: Dispatch(1, 1, 1),
        expect: [
            (of: "Out", values: [0.6, 1.0, 0.8, 4, 0.5, 3, 1.5, 0], rule: Ulp(2)),
            (of: "Tex", layer: 1, mip: 1, values: [204]),
            (of: "Tex", values: [0, 51, 102, 153]),
            (of: "Depth", from: 3, values: [1]),
            (of: "Block", values: [1, 2, 3, 4]),
        ],
    )"#;
    let wgsl = "
        @group(0) @binding(0) var tex: texture_2d_array<f32>;
        @group(0) @binding(1) var line: texture_2d<f32>;
        @group(0) @binding(2) var depth: texture_depth_2d;
        @group(0) @binding(3) var block: texture_3d<f32>;
        @group(0) @binding(4) var lin: sampler;
        @group(0) @binding(5) var<storage, read_write> output: array<f32>;
        @group(0) @binding(6) var unbound: texture_2d<f32>;
        @compute @workgroup_size(1) fn main() {
            output[0] = textureLoad(tex, vec2(1, 1), 0, 0).x;
            output[1] = textureLoad(tex, vec2(0, 0), 0, 0).x + textureLoad(tex, vec2(0, 0), 0, 1).x * 0.0 + 1.0;
            output[2] = textureLoad(tex, vec2(0, 0), 1, 1).x;
            output[3] = textureLoad(line, vec2(1, 0), 0).w;
            output[4] = textureLoad(depth, vec2(0, 1), 0);
            output[5] = textureLoad(block, vec3(0, 0, 1), 0).x;
            output[6] = textureSampleLevel(block, lin, vec3(0.5, 0.5, 0.25), 0.0).x;
            output[7] = textureLoad(unbound, vec2(0, 0), 0).x;
        }";
    let modules = || {
        let texture = |dimension| ResourceKind::Texture {
            dimension,
            component: ComponentType::F32,
            components: 4,
            samples: 0,
            flags: UavFlags::default(),
        };
        let emitted = |dimension, sample| EmittedType::Texture { dimension, sample, multisampled: false };
        let float = TextureSample::Float { filterable: true };
        vec![module(
            Stage::Compute,
            0,
            wgsl,
            &[
                (ResourceClass::Srv, 0, texture(TextureDimension::D2Array), emitted(ViewDimension::D2Array, float)),
                (ResourceClass::Srv, 1, texture(TextureDimension::D1), emitted(ViewDimension::D2, float)),
                (
                    ResourceClass::Srv,
                    2,
                    texture(TextureDimension::D2),
                    emitted(ViewDimension::D2, TextureSample::Depth),
                ),
                (ResourceClass::Srv, 3, texture(TextureDimension::D3), emitted(ViewDimension::D3, float)),
                (
                    ResourceClass::Sampler,
                    0,
                    ResourceKind::Sampler { mode: SamplerMode::Default },
                    EmittedType::Sampler { kind: SamplerKind::Filtering },
                ),
                (ResourceClass::Uav, 0, raw(), STORAGE),
                (ResourceClass::Srv, 9, texture(TextureDimension::D2), emitted(ViewDimension::D2, float)),
            ],
        )]
    };
    let Some(result) = run(case, modules) else { return };
    let mismatches = result.unwrap();
    assert_eq!(mismatches, []);
}

#[test]
fn draws() {
    let case = r#"(
        buffers: {
            "Verts": (type: F32, data: [7, -1, 1, 7, 3, 1, 7, -1, -3]),
            "Idx": (type: U16, data: [0, 1, 2]),
        },
        textures: {
            "Rt": (dimension: D2, format: "Rgba8Unorm", size: (4, 2, 1)),
            "Depth": (dimension: D2, format: "Depth32Float", size: (4, 2, 1)),
        },
        run: Draw(
            vertices: 3, indices: "Idx", targets: ["", "Rt"], depth: "Depth", viewport: (0, 0, 2, 2), cull: Back,
            clear: [(0, 0, 0, 0), (0, 0, 1, 0)],
            inputs: [(semantic: "position", buffer: "Verts", format: "Float32x2", offset: 4, stride: 12)],
        ),
        expect: [
            (of: "Rt", values: [255, 51, 0, 255, 255, 51, 0, 255, 0, 0, 255, 0, 0, 0, 255, 0]),
            (of: "Depth", values: [0.25, 0.25, 1, 1]),
        ],
    )"#;
    let vertex = "
        @vertex fn main(@location(3) position: vec2<f32>) -> @builtin(position) vec4<f32> {
            return vec4(position, 0.25, 1.0);
        }";
    let pixel = "
        @fragment fn main() -> @location(1) vec4<f32> { return vec4(1.0, 0.2, 0.0, 1.0); }";
    let modules = || vec![module(Stage::Vertex, 0, vertex, &[]), module(Stage::Pixel, 1, pixel, &[])];
    let Some(result) = run(case, modules) else { return };
    assert_eq!(result.unwrap(), []);
}

#[test]
fn errors_of_wgpu_are_failures() {
    let case = r#"(run: Dispatch(1, 1, 1))"#;
    let wgsl = "
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(1) fn main() { output[0] = 1; }";
    let Some(result) = run(case, || vec![module(Stage::Compute, 0, wgsl, &[])]) else { return };
    let Err(Halt::Failed(reason)) = result else { panic!("{result:?}") };
    assert!(reason.contains("binding"), "{reason}");
}
