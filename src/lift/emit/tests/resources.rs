use naga::{StorageAccess, StorageFormat};

use super::*;
use crate::{
    ir::{AtomicOp, BufferAddress, Gather, Sample, SampleLevel, Scalar},
    lift::{
        BindingRole, CompareFunction, Comparison, EmittedResource, EmittedType, Register, ResourceSpecialization,
        SamplerKind, TextureSample, ViewDimension,
    },
    reflection::SamplerMode,
};

const F32X4: Type = Type::Vector(Scalar::F32, 4);
const I32X4: Type = Type::Vector(Scalar::I32, 4);
const FLAGS: UavFlags = UavFlags { globally_coherent: false, rasterizer_ordered: false };

fn texture(dimension: TextureDimension, component: ComponentType) -> ResourceKind {
    ResourceKind::Texture { dimension, component, components: 4, samples: 0, flags: FLAGS }
}

fn sampler() -> ResourceKind {
    ResourceKind::Sampler { mode: SamplerMode::Default }
}

/// A pixel shader with a `float4` input at register 0, and a `float4` target.
fn pixel() -> Sketch {
    Sketch::new(Stage::Pixel)
        .input(element("TEXCOORD", 0, 0, 0b1111, ComponentType::F32, SystemValue::Arbitrary))
        .output(element("SV_Target", 0, 0, 0b1111, ComponentType::F32, SystemValue::Target))
}

/// A compute shader that writes to a raw buffer, u0, at its thread's place.
fn compute() -> Sketch {
    Sketch::new(Stage::Compute).binding(ResourceClass::Uav, 0, ResourceKind::RawBuffer { flags: FLAGS })
}

/// The thread's number.
fn thread(builder: &mut Builder<'_>) -> Value {
    builder.push(Op::SystemValue(SystemValue::GroupIndex), Type::I32)
}

/// Writes to u0.
fn keep(builder: &mut Builder<'_>, value: Value) {
    let address = BufferAddress::Byte(thread(builder));
    let handle = handle(builder, 0);
    builder.effect(Op::StoreBuffer { handle, address, value });
}

#[test]
fn constants_have_the_kind_that_most_loads_want() {
    let program =
        pixel().binding(ResourceClass::Cbv, 0, ResourceKind::ConstantBuffer { size: 40 }).program(|builder| {
            let buffer = handle(builder, 0);
            let row = builder.i32(1);
            let fixed = builder.push(Op::LoadConstant { handle: buffer, row, offset: 4 }, Type::Vector(Scalar::F32, 3));
            let beyond = builder.i32(3);
            let none = builder.push(Op::LoadConstant { handle: buffer, row: beyond, offset: 0 }, Type::F32);
            let coordinate = load_input(builder, 0, 0, Type::F32);
            let row = builder.convert(ir::ConvertOp::FToU, coordinate, Scalar::I32);
            let chosen =
                builder.push(Op::LoadConstant { handle: buffer, row, offset: 0 }, Type::Vector(Scalar::I32, 2));
            let chosen = builder.bitcast(chosen, Scalar::F32);
            let (x, y) = (builder.extract(fixed, 0), builder.extract(chosen, 1));
            let value = builder.compose(&[x, y, none, x]);
            store_output(builder, 0, 0, value);
        });
    let emitted = emit(&program);
    assert_eq!(emitted.resources.len(), 1);
    assert_eq!(emitted.resources[0].ty, EmittedType::Uniform { size: 48 });
}

#[test]
fn buffers_of_every_kind_and_width() {
    let program = compute()
        .binding(ResourceClass::Srv, 0, ResourceKind::RawBuffer { flags: FLAGS })
        .binding(ResourceClass::Srv, 1, ResourceKind::StructuredBuffer { stride: 20, counter: false, flags: FLAGS })
        .binding(
            ResourceClass::Srv,
            2,
            ResourceKind::TypedBuffer { component: ComponentType::F32, components: 3, flags: FLAGS },
        )
        .program(|builder| {
            let index = thread(builder);
            for ty in
                [F32X4, I32X4, Type::Vector(Scalar::F64, 2), Type::Scalar(Scalar::I64), Type::Vector(Scalar::F16, 3)]
            {
                let raw = handle(builder, 1);
                let value = builder.push(Op::LoadBuffer { handle: raw, address: BufferAddress::Byte(index) }, ty);
                keep(builder, value);
            }
            let structured = handle(builder, 2);
            let offset = builder.i32(12);
            for offset in [offset, index] {
                let address = BufferAddress::Structured(index, offset);
                let value = builder.push(Op::LoadBuffer { handle: structured, address }, F32X4);
                keep(builder, value);
            }
            let typed = handle(builder, 3);
            let value = builder.push(Op::LoadBuffer { handle: typed, address: BufferAddress::Element(index) }, F32X4);
            keep(builder, value);
            for binding in 0..4 {
                let buffer = handle(builder, binding);
                let size = builder.push(Op::BufferSize { handle: buffer }, Type::I32);
                keep(builder, size);
            }
        });
    let emitted = emit(&program);
    let types: Vec<_> = emitted.resources.iter().map(|resource| resource.ty).collect();
    let storage = |read_only| EmittedType::Storage { read_only, element: 4 };
    assert_eq!(types, [storage(true), storage(true), storage(true), storage(false)]);
}

#[test]
fn a_shader_resource_can_be_declared_read_write() {
    let program =
        compute().binding(ResourceClass::Srv, 0, ResourceKind::RawBuffer { flags: FLAGS }).program(|builder| {
            let index = thread(builder);
            let raw = handle(builder, 1);
            let value = builder.push(Op::LoadBuffer { handle: raw, address: BufferAddress::Byte(index) }, Type::I32);
            keep(builder, value);
        });
    let register = Register { class: ResourceClass::Srv, space: 0, register: 0 };
    let known = ResourceSpecialization { read_write: true, ..Default::default() };
    let target = Target { resources: [(register, known)].into(), ..Target::default() };
    assert_eq!(emit_for(&program, &target).resources[0].ty, EmittedType::Storage { read_only: false, element: 4 });
}

#[test]
fn typed_buffers_of_every_format() {
    use StorageFormat as F;
    for format in [
        F::R8Unorm,
        F::R8Sint,
        F::Rg8Snorm,
        F::R16Float,
        F::Rg16Uint,
        F::Rgba8Unorm,
        F::Bgra8Unorm,
        F::Rgb10a2Unorm,
        F::Rgb10a2Uint,
        F::Rg11b10Ufloat,
        F::Rgba16Float,
        F::Rgba16Snorm,
        F::Rg32Sint,
        F::Rgba32Float,
    ] {
        let kind = naga::Scalar::from(format).kind;
        let (component, ty) = match kind {
            naga::ScalarKind::Float => (ComponentType::F32, F32X4),
            _ => (ComponentType::U32, I32X4),
        };
        let program = compute()
            .binding(ResourceClass::Uav, 1, ResourceKind::TypedBuffer { component, components: 4, flags: FLAGS })
            .program(|builder| {
                let index = thread(builder);
                let typed = handle(builder, 1);
                let address = BufferAddress::Element(index);
                let value = builder.push(Op::LoadBuffer { handle: typed, address }, ty);
                builder.effect(Op::StoreBuffer { handle: typed, address, value });
                let size = builder.push(Op::BufferSize { handle: typed }, Type::I32);
                keep(builder, size);
            });
        let register = Register { class: ResourceClass::Uav, space: 0, register: 1 };
        let known = ResourceSpecialization { format: Some(format), ..Default::default() };
        emit_for(&program, &Target { resources: [(register, known)].into(), ..Target::default() });
    }
}

#[test]
fn atomics_and_counters() {
    let program = compute()
        .binding(ResourceClass::Uav, 1, ResourceKind::StructuredBuffer { stride: 8, counter: true, flags: FLAGS })
        .program(|builder| {
            let index = thread(builder);
            let structured = handle(builder, 1);
            let offset = builder.i32(4);
            let address = BufferAddress::Structured(index, offset);
            for op in [AtomicOp::Add, AtomicOp::SMin, AtomicOp::UMax, AtomicOp::Exchange, AtomicOp::CompareExchange] {
                let compare = (op == AtomicOp::CompareExchange).then_some(index);
                let op = Op::AtomicBuffer { op, handle: structured, address, value: index, compare };
                let old = builder.push(op, Type::I32);
                keep(builder, old);
            }
            for increment in [true, false] {
                let slot = builder.push(Op::UpdateCounter { handle: structured, increment }, Type::I32);
                keep(builder, slot);
            }
            let half = builder.convert(ir::ConvertOp::Trunc, index, Scalar::I16);
            builder.effect(Op::StoreBuffer { handle: structured, address, value: half });
        });
    let emitted = emit(&program);
    let roles: Vec<_> = emitted.resources.iter().map(|resource| (resource.role, resource.slot.group)).collect();
    assert_eq!(roles, [(BindingRole::Resource, 3), (BindingRole::Resource, 3), (BindingRole::Counter, 4)]);
}

#[test]
fn arrays_of_bindings() {
    let mut sketch = compute()
        .binding(ResourceClass::Cbv, 0, ResourceKind::ConstantBuffer { size: 32 })
        .binding(ResourceClass::Srv, 0, ResourceKind::RawBuffer { flags: FLAGS })
        .binding(ResourceClass::Srv, 8, texture(TextureDimension::D2, ComponentType::F32));
    sketch.bindings[1].count = Some(4);
    sketch.bindings[2].count = Some(8);
    sketch.bindings[3].count = None;
    let program = sketch.program(|builder| {
        let index = thread(builder);
        let element = |builder: &mut Builder<'_>, binding| {
            builder.push(Op::Handle { binding: BindingId(binding), index, non_uniform: true }, Type::Handle)
        };
        let constants = element(builder, 1);
        let value = builder.push(Op::LoadConstant { handle: constants, row: index, offset: 0 }, F32X4);
        keep(builder, value);
        let buffer = element(builder, 2);
        let value = builder.push(Op::LoadBuffer { handle: buffer, address: BufferAddress::Byte(index) }, Type::I32);
        keep(builder, value);
        let texture = element(builder, 3);
        let coordinates = builder.splat(index, 2);
        let level = Some(builder.i32(0));
        let op = Op::LoadTexture { handle: texture, coordinates, level, sample: None, offset: None };
        let value = builder.push(op, F32X4);
        keep(builder, value);
    });
    let emitted = emit(&program);
    let counts: Vec<_> = emitted.resources.iter().map(|resource| resource.count).collect();
    assert_eq!(counts, [Some(4), Some(8), Some(0), None]);
}

#[test]
fn texels_of_every_shape() {
    use TextureDimension as D;
    for dimension in [D::D1, D::D1Array, D::D2, D::D2Array, D::D2Multisampled, D::D3] {
        for component in [ComponentType::F32, ComponentType::I32, ComponentType::U32] {
            let lanes = dimension.coordinates() + u8::from(dimension.is_arrayed());
            let program = compute().binding(ResourceClass::Srv, 0, texture(dimension, component)).program(|builder| {
                let index = thread(builder);
                let image = handle(builder, 1);
                let coordinates = builder.splat(index, lanes);
                let multi = dimension.is_multisampled();
                let ty = if component == ComponentType::F32 { F32X4 } else { I32X4 };
                let offset = builder.splat(index, dimension.coordinates());
                let op = Op::LoadTexture {
                    handle: image,
                    coordinates,
                    level: (!multi).then_some(index),
                    sample: multi.then_some(index),
                    offset: (!multi).then_some(offset),
                };
                let value = builder.push(op, ty);
                keep(builder, value);
                let level = (!multi).then_some(index);
                let size = builder.push(Op::TextureSize { handle: image, level }, I32X4);
                keep(builder, size);
                let samples = builder.push(Op::SampleCount(Some(image)), Type::I32);
                keep(builder, samples);
                if multi {
                    let op = Op::SamplePosition { handle: Some(image), sample: index };
                    let position = builder.push(op, Type::Vector(Scalar::F32, 2));
                    keep(builder, position);
                }
            });
            emit(&program);
        }
    }
}

#[test]
fn storage_textures_take_their_access_from_their_use() {
    use TextureDimension as D;
    for dimension in [D::D1, D::D1Array, D::D2, D::D2Array, D::D3] {
        let lanes = dimension.coordinates() + u8::from(dimension.is_arrayed());
        let program = compute()
            .binding(ResourceClass::Uav, 1, texture(dimension, ComponentType::UnormF32))
            .binding(ResourceClass::Uav, 2, texture(dimension, ComponentType::U32))
            .program(|builder| {
                let index = thread(builder);
                let coordinates = builder.splat(index, lanes);
                let unorm = handle(builder, 1);
                let value = builder.zero(F32X4);
                builder.effect(Op::StoreTexture { handle: unorm, coordinates, sample: None, value });
                let counts = handle(builder, 2);
                let op = AtomicOp::UMax;
                let op = Op::AtomicTexture { op, handle: counts, coordinates, value: index, compare: None };
                builder.push(op, Type::I32);
                let op = Op::LoadTexture { handle: counts, coordinates, level: None, sample: None, offset: None };
                let value = builder.push(op, I32X4);
                keep(builder, value);
                let size = builder.push(Op::TextureSize { handle: unorm, level: None }, I32X4);
                keep(builder, size);
            });
        let emitted = emit(&program);
        let EmittedType::StorageTexture { format, access, .. } = emitted.resources[1].ty else { panic!() };
        assert_eq!((format, access), (StorageFormat::Rgba8Unorm, StorageAccess::STORE));
        let EmittedType::StorageTexture { format, access, .. } = emitted.resources[2].ty else { panic!() };
        assert_eq!(
            (format, access),
            (StorageFormat::R32Uint, StorageAccess::LOAD | StorageAccess::STORE | StorageAccess::ATOMIC)
        );
    }
}

#[test]
fn a_buffer_stands_for_a_texture_whose_old_values_are_wanted() {
    use TextureDimension as D;
    for dimension in [D::D1, D::D1Array, D::D2, D::D2Array, D::D3] {
        let lanes = dimension.coordinates() + u8::from(dimension.is_arrayed());
        let program =
            compute().binding(ResourceClass::Uav, 1, texture(dimension, ComponentType::I32)).program(|builder| {
                let index = thread(builder);
                let coordinates = builder.splat(index, lanes);
                let counts = handle(builder, 1);
                for op in [AtomicOp::Add, AtomicOp::UMin, AtomicOp::Exchange, AtomicOp::CompareExchange] {
                    let compare = (op == AtomicOp::CompareExchange).then_some(index);
                    let op = Op::AtomicTexture { op, handle: counts, coordinates, value: index, compare };
                    let old = builder.push(op, Type::I32);
                    keep(builder, old);
                }
                let op = Op::LoadTexture { handle: counts, coordinates, level: None, sample: None, offset: None };
                let value = builder.push(op, I32X4);
                builder.effect(Op::StoreTexture { handle: counts, coordinates, sample: None, value });
                let size = builder.push(Op::TextureSize { handle: counts, level: None }, I32X4);
                keep(builder, size);
            });
        let emitted = emit(&program);
        let EmittedType::TexelBuffer { format, .. } = emitted.resources[1].ty else { panic!() };
        assert_eq!(format, StorageFormat::R32Sint);
        assert!(emitted.notes.iter().any(|note| note.text.contains("stands for the texture")));
    }
}

#[test]
fn samples_at_every_level_of_every_shape() {
    use TextureDimension as D;
    for dimension in [D::D1, D::D1Array, D::D2, D::D2Array, D::D3, D::Cube, D::CubeArray] {
        for offset in [false, true] {
            let cube = matches!(dimension, D::Cube | D::CubeArray);
            let program = pixel()
                .binding(ResourceClass::Srv, 0, texture(dimension, ComponentType::F32))
                .binding(ResourceClass::Sampler, 0, sampler())
                .program(|builder| {
                    let axes = dimension.coordinates();
                    let all = load_input(builder, 0, 0, F32X4);
                    let x = builder.extract(all, 0);
                    let order: Vec<u8> = (0..axes + u8::from(dimension.is_arrayed())).collect();
                    let coordinates = builder.swizzle(all, &order);
                    let gradient = builder.splat(x, axes);
                    let (texture, sampler) = (handle(builder, 0), handle(builder, 1));
                    let chosen = builder.convert(ir::ConvertOp::FToS, x, Scalar::I32);
                    let offsets = [builder.i32(3), builder.i32(100), chosen].map(|lane| builder.splat(lane, axes));
                    let mut sum = builder.zero(F32X4);
                    for level in [
                        SampleLevel::Implicit,
                        SampleLevel::Bias(x),
                        SampleLevel::Level(x),
                        SampleLevel::Zero,
                        SampleLevel::Gradient(gradient, gradient),
                    ] {
                        for min_lod in [None, Some(x)] {
                            let offsets: Vec<_> = match offset && !cube {
                                true => offsets.map(Some).to_vec(),
                                false => vec![None],
                            };
                            for offset in offsets {
                                let compare = None;
                                let sample = Sample { texture, sampler, coordinates, level, compare, offset, min_lod };
                                let value = builder.push(Op::Sample(Box::new(sample)), F32X4);
                                sum = builder.binary(ir::BinaryOp::FAdd, sum, value);
                            }
                        }
                    }
                    let order: Vec<u8> = (0..axes).collect();
                    let coordinates = builder.swizzle(all, &order);
                    for clamped in [false, true] {
                        let op = Op::CalculateLod { texture, sampler, coordinates, clamped };
                        let level = builder.push(op, Type::F32);
                        let level = builder.splat(level, 4);
                        sum = builder.binary(ir::BinaryOp::FAdd, sum, level);
                    }
                    store_output(builder, 0, 0, sum);
                });
            emit(&program);
        }
    }
}

#[test]
fn a_texture_sampled_both_ways_is_of_depth_and_its_sampler_has_a_twin() {
    use TextureDimension as D;
    for dimension in [D::D2, D::D2Array, D::Cube, D::CubeArray] {
        let program = pixel()
            .binding(ResourceClass::Srv, 0, texture(dimension, ComponentType::F32))
            .binding(ResourceClass::Sampler, 0, sampler())
            .program(|builder| {
                let axes = dimension.coordinates();
                let all = load_input(builder, 0, 0, F32X4);
                let x = builder.extract(all, 0);
                let order: Vec<u8> = (0..axes + u8::from(dimension.is_arrayed())).collect();
                let coordinates = builder.swizzle(all, &order);
                let gradient = builder.splat(x, axes);
                let (texture, sampler) = (handle(builder, 0), handle(builder, 1));
                let mut sum = builder.zero(F32X4);
                for level in [
                    SampleLevel::Implicit,
                    SampleLevel::Bias(x),
                    SampleLevel::Level(x),
                    SampleLevel::Zero,
                    SampleLevel::Gradient(gradient, gradient),
                ] {
                    for compare in [None, Some(x)] {
                        let (offset, min_lod) = (None, None);
                        let sample = Sample { texture, sampler, coordinates, level, compare, offset, min_lod };
                        let ty = if compare.is_some() { Type::F32 } else { F32X4 };
                        let value = builder.push(Op::Sample(Box::new(sample)), ty);
                        let value = if compare.is_some() { builder.splat(value, 4) } else { value };
                        sum = builder.binary(ir::BinaryOp::FAdd, sum, value);
                    }
                }
                for compare in [None, Some(x)] {
                    for component in [0, 3] {
                        let offset = None;
                        let component = if compare.is_some() { 0 } else { component };
                        let gather = Gather { texture, sampler, coordinates, component, compare, offset };
                        let value = builder.push(Op::Gather(Box::new(gather)), F32X4);
                        sum = builder.binary(ir::BinaryOp::FAdd, sum, value);
                    }
                }
                store_output(builder, 0, 0, sum);
            });
        let emitted = emit(&program);
        assert_eq!(emitted.resources.len(), 3);
        let EmittedType::Texture { sample, dimension: view, .. } = emitted.resources[0].ty else { panic!() };
        assert_eq!(sample, TextureSample::Depth);
        assert_eq!(view == ViewDimension::CubeArray, dimension == D::CubeArray);
        assert_eq!(emitted.resources[1].ty, EmittedType::Sampler { kind: SamplerKind::Filtering });
        assert_eq!(emitted.resources[2].role, BindingRole::ComparisonSampler);
    }
}

#[test]
fn a_sampler_that_only_compares_has_its_own_place() {
    let program = pixel()
        .binding(ResourceClass::Srv, 0, texture(TextureDimension::D2, ComponentType::F32))
        .binding(ResourceClass::Sampler, 3, sampler())
        .program(|builder| {
            let all = load_input(builder, 0, 0, F32X4);
            let (coordinates, reference) = (builder.swizzle(all, &[0, 1]), builder.extract(all, 2));
            let (texture, sampler) = (handle(builder, 0), handle(builder, 1));
            let (level, compare, offset, min_lod) = (SampleLevel::Zero, Some(reference), None, None);
            let sample = Sample { texture, sampler, coordinates, level, compare, offset, min_lod };
            let value = builder.push(Op::Sample(Box::new(sample)), Type::F32);
            store_output(builder, 0, 0, value);
        });
    let emitted = emit(&program);
    let sampler = &emitted.resources[1];
    assert_eq!((sampler.role, sampler.slot.binding), (BindingRole::Resource, 3));
    assert_eq!(sampler.ty, EmittedType::Sampler { kind: SamplerKind::Comparison });
}

#[test]
fn integers_are_gathered_and_sampled() {
    let program = pixel()
        .binding(ResourceClass::Srv, 0, texture(TextureDimension::D2Array, ComponentType::I32))
        .binding(ResourceClass::Sampler, 0, sampler())
        .program(|builder| {
            let all = load_input(builder, 0, 0, F32X4);
            let coordinates = builder.swizzle(all, &[0, 1, 2]);
            let (texture, sampler) = (handle(builder, 0), handle(builder, 1));
            let chosen = builder.extract(all, 3);
            let chosen = builder.convert(ir::ConvertOp::FToS, chosen, Scalar::I32);
            let offset = Some(builder.splat(chosen, 2));
            let gather = Gather { texture, sampler, coordinates, component: 2, compare: None, offset };
            let gathered = builder.push(Op::Gather(Box::new(gather)), I32X4);
            let (level, compare, min_lod) = (SampleLevel::Implicit, None, None);
            let sample = Sample { texture, sampler, coordinates, level, compare, offset, min_lod };
            let sampled = builder.push(Op::Sample(Box::new(sample)), I32X4);
            let value = builder.binary(ir::BinaryOp::IAdd, gathered, sampled);
            let value = builder.convert(ir::ConvertOp::SToF, value, Scalar::F32);
            store_output(builder, 0, 0, value);
        });
    emit(&program);
}

#[test]
fn a_sampler_has_a_twin_for_textures_that_cannot_be_filtered() {
    let program = pixel()
        .binding(ResourceClass::Srv, 0, texture(TextureDimension::D2, ComponentType::I32))
        .binding(ResourceClass::Srv, 1, texture(TextureDimension::D2, ComponentType::F32))
        .binding(ResourceClass::Sampler, 2, sampler())
        .program(|builder| {
            let all = load_input(builder, 0, 0, F32X4);
            let coordinates = builder.swizzle(all, &[0, 1]);
            let (integers, floats, sampler) = (handle(builder, 0), handle(builder, 1), handle(builder, 2));
            let (compare, offset, min_lod) = (None, None, None);
            let gather = Gather { texture: integers, sampler, coordinates, component: 0, compare, offset };
            let gathered = builder.push(Op::Gather(Box::new(gather)), I32X4);
            let gathered = builder.convert(ir::ConvertOp::SToF, gathered, Scalar::F32);
            let level = SampleLevel::Zero;
            let sample = Sample { texture: floats, sampler, coordinates, level, compare, offset, min_lod };
            let sampled = builder.push(Op::Sample(Box::new(sample)), F32X4);
            let value = builder.binary(ir::BinaryOp::FAdd, gathered, sampled);
            store_output(builder, 0, 0, value);
        });
    let samplers = |target: &Target| {
        let emitted = program.emit(target).unwrap();
        let of_sampler = |it: &EmittedResource| match it.ty {
            EmittedType::Sampler { kind } => Some((it.slot.binding, it.role, kind)),
            _ => None,
        };
        (emitted.resources.iter().filter_map(of_sampler).collect::<Vec<_>>(), emitted.notes)
    };
    let mut target = Target::default();
    let filtering = (2, BindingRole::Resource, SamplerKind::Filtering);
    let unfiltered = (0x4002, BindingRole::UnfilteredSampler, SamplerKind::NonFiltering);
    assert_eq!(samplers(&target).0, [filtering, unfiltered]);
    // With nothing to filter it has the register's own place.
    let known = ResourceSpecialization { unfilterable: true, ..Default::default() };
    target.resources.insert(Register { class: ResourceClass::Srv, space: 0, register: 1 }, known);
    let (samplers, notes) = samplers(&target);
    assert_eq!(samplers, [(2, BindingRole::Resource, SamplerKind::NonFiltering)]);
    assert!(notes.iter().any(|note| note.text.contains("cannot be filtered")), "{notes:?}");
}

#[test]
fn a_resource_chosen_at_run_time_is_refused_by_name() {
    let program =
        compute().binding(ResourceClass::Uav, 1, ResourceKind::RawBuffer { flags: FLAGS }).program(|builder| {
            let (first, second) = (handle(builder, 0), handle(builder, 1));
            let condition = builder.zero(Type::BOOL);
            let chosen = builder.push(Op::Select { condition, accept: first, reject: second }, Type::Handle);
            let size = builder.push(Op::BufferSize { handle: chosen }, Type::I32);
            keep(builder, size);
        });
    assert_eq!(program.emit(&Target::default()).unwrap_err().kind, ErrorKind::Unsupported);
}

#[test]
fn compute_shaders_find_implicit_levels_from_their_neighbours() {
    let program = compute()
        .binding(ResourceClass::Srv, 0, texture(TextureDimension::D2, ComponentType::F32))
        .binding(ResourceClass::Sampler, 0, sampler())
        .program(|builder| {
            let ids = builder.push(Op::SystemValue(SystemValue::GroupThreadId), Type::Vector(Scalar::I32, 3));
            let ids = builder.swizzle(ids, &[0, 1]);
            let coordinates = builder.convert(ir::ConvertOp::UToF, ids, Scalar::F32);
            let (texture, sampler) = (handle(builder, 1), handle(builder, 2));
            let (level, compare, offset, min_lod) = (SampleLevel::Implicit, None, None, None);
            let sample = Sample { texture, sampler, coordinates, level, compare, offset, min_lod };
            let value = builder.push(Op::Sample(Box::new(sample)), F32X4);
            keep(builder, value);
            let op = Op::CalculateLod { texture, sampler, coordinates, clamped: true };
            let level = builder.push(op, Type::F32);
            keep(builder, level);
        });
    let emitted = emit(&program);
    assert!(emitted.notes.is_empty(), "{:?}", emitted.notes);
    assert_eq!(emitted.module.entry_points[0].workgroup_size, [32, 1, 1]);
    let mut target = Target::default();
    target.capabilities.remove(naga::valid::Capabilities::SUBGROUP);
    assert_eq!(program.emit(&target).unwrap_err().kind, ErrorKind::Unsupported);
}

#[test]
fn depth_textures_read_as_red() {
    use TextureDimension as D;
    for dimension in [D::D2, D::D2Array, D::D2Multisampled] {
        let lanes = dimension.coordinates() + u8::from(dimension.is_arrayed());
        let program =
            compute().binding(ResourceClass::Srv, 0, texture(dimension, ComponentType::F32)).program(|builder| {
                let index = thread(builder);
                let image = handle(builder, 1);
                let coordinates = builder.splat(index, lanes);
                let multi = dimension.is_multisampled();
                let (level, sample) = ((!multi).then_some(index), multi.then_some(index));
                let op = Op::LoadTexture { handle: image, coordinates, level, sample, offset: None };
                let value = builder.push(op, F32X4);
                keep(builder, value);
            });
        let register = Register { class: ResourceClass::Srv, space: 0, register: 0 };
        let known = ResourceSpecialization { depth: true, ..Default::default() };
        let emitted = emit_for(&program, &Target { resources: [(register, known)].into(), ..Target::default() });
        let EmittedType::Texture { sample, .. } = emitted.resources[0].ty else { panic!() };
        assert_eq!(sample, TextureSample::Depth);
    }
}

#[test]
fn comparisons_with_colour_textures_need_a_known_sampler() {
    let program = pixel()
        .binding(ResourceClass::Srv, 0, texture(TextureDimension::CubeArray, ComponentType::F32))
        .binding(ResourceClass::Sampler, 0, sampler())
        .program(|builder| {
            let all = load_input(builder, 0, 0, F32X4);
            let reference = builder.extract(all, 0);
            let (texture, sampler) = (handle(builder, 0), handle(builder, 1));
            let (level, compare, offset, min_lod) = (SampleLevel::Zero, Some(reference), None, None);
            let sample = Sample { texture, sampler, coordinates: all, level, compare, offset, min_lod };
            let sampled = builder.push(Op::Sample(Box::new(sample)), Type::F32);
            let gather = Gather { texture, sampler, coordinates: all, component: 0, compare, offset };
            let gathered = builder.push(Op::Gather(Box::new(gather)), F32X4);
            let sampled = builder.splat(sampled, 4);
            let sum = builder.binary(ir::BinaryOp::FAdd, sampled, gathered);
            store_output(builder, 0, 0, sum);
        });
    let place = |class| Register { class, space: 0, register: 0 };
    let color = ResourceSpecialization { color: true, ..Default::default() };
    let mut target = Target { resources: [(place(ResourceClass::Srv), color)].into(), ..Target::default() };
    assert_eq!(program.emit(&target).unwrap_err().kind, ErrorKind::Unsupported);
    let comparison = Some(Comparison { function: CompareFunction::LessEqual, linear: true });
    let known = ResourceSpecialization { comparison, ..Default::default() };
    target.resources.insert(place(ResourceClass::Sampler), known);
    let emitted = emit_for(&program, &target);
    assert_eq!(emitted.resources[1].ty, EmittedType::Sampler { kind: SamplerKind::Filtering });
}

#[test]
fn counters_of_an_array_of_buffers() {
    let kind = ResourceKind::StructuredBuffer { stride: 4, counter: true, flags: FLAGS };
    let mut sketch = compute().binding(ResourceClass::Uav, 1, kind);
    sketch.bindings[1].count = Some(4);
    let program = sketch.program(|builder| {
        let index = thread(builder);
        let op = Op::Handle { binding: BindingId(1), index, non_uniform: false };
        let element = builder.push(op, Type::Handle);
        let slot = builder.push(Op::UpdateCounter { handle: element, increment: true }, Type::I32);
        keep(builder, slot);
    });
    let emitted = emit(&program);
    let counter = emitted.resources.iter().find(|resource| resource.role == BindingRole::Counter).unwrap();
    assert_eq!(counter.count, Some(4));
}
