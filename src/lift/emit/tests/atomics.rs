//! 64-bit atomics of devices that have all of them, some or none.

use naga::{ImageClass, StorageFormat, TypeInner, valid::Capabilities};

use super::*;
use crate::{
    Result,
    ir::{AtomicOp, BufferAddress, Scalar},
    lift::EmittedType,
};

const FLAGS: UavFlags = UavFlags { globally_coherent: false, rasterizer_ordered: false };
const ALL: Capabilities = Capabilities::SHADER_INT64_ATOMIC_ALL_OPS;
const SOME: Capabilities = Capabilities::SHADER_INT64_ATOMIC_MIN_MAX;
const TEXTURES: Capabilities = Capabilities::TEXTURE_INT64_ATOMIC;

/// A target with 64-bit integers and, of 64-bit atomics, those alone that are given.
fn target(capabilities: Capabilities) -> Target {
    let others = Target::default().capabilities - (ALL | SOME | TEXTURES);
    Target { capabilities: others | Capabilities::SHADER_INT64 | capabilities, ..Target::default() }
}

/// A compute shader of one atomic operation on a raw buffer; a word of it is read too, or the old value is written to it.
fn buffer(op: AtomicOp, ty: Type, read: bool, keep: bool) -> Program {
    Sketch::new(Stage::Compute).binding(ResourceClass::Uav, 0, ResourceKind::RawBuffer { flags: FLAGS }).program(
        |builder| {
            let handle = handle(builder, 0);
            let index = builder.push(Op::SystemValue(SystemValue::GroupIndex), Type::I32);
            let address = BufferAddress::Byte(index);
            let wide = builder.convert(ir::ConvertOp::ZExt, index, Scalar::I64);
            let value = if ty == Type::I32 { index } else { wide };
            let old = builder.push(Op::AtomicBuffer { op, handle, address, value, compare: None }, ty);
            if read {
                let value = builder.push(Op::LoadBuffer { handle, address }, Type::I32);
                builder.effect(Op::StoreBuffer { handle, address, value });
            }
            if keep {
                builder.effect(Op::StoreBuffer { handle, address, value: old });
            }
        },
    )
}

/// One of an unsigned maximum on a texture.
fn texture(op: AtomicOp) -> Program {
    let kind = ResourceKind::Texture {
        dimension: TextureDimension::D2,
        component: ComponentType::U32,
        components: 2,
        samples: 0,
        flags: FLAGS,
    };
    Sketch::new(Stage::Compute).binding(ResourceClass::Uav, 0, kind).program(|builder| {
        let handle = handle(builder, 0);
        let index = builder.push(Op::SystemValue(SystemValue::GroupIndex), Type::I32);
        let coordinates = builder.splat(index, 2);
        let value = builder.convert(ir::ConvertOp::ZExt, index, Scalar::I64);
        builder.push(Op::AtomicTexture { op, handle, coordinates, value, compare: None }, Type::Scalar(Scalar::I64));
    })
}

fn refusal<T>(result: Result<T>) -> String {
    let error = result.err().expect("refused");
    assert_eq!(error.kind, ErrorKind::Unsupported);
    error.to_string()
}

#[test]
fn a_buffer_with_64_bit_atomics_has_64_bit_elements() {
    let wide = emit_for(&buffer(AtomicOp::Add, Type::Scalar(Scalar::I64), true, true), &target(ALL | SOME));
    assert_eq!(wide.resources[0].ty, EmittedType::Storage { read_only: false, element: 8 });
    assert!(wide.notes.iter().any(|note| note.text.contains("no multiple of 8 bytes")));
    let narrow = emit_for(&buffer(AtomicOp::Add, Type::I32, true, true), &target(ALL | SOME));
    assert_eq!(narrow.resources[0].ty, EmittedType::Storage { read_only: false, element: 4 });
    assert!(narrow.notes.is_empty());
}

#[test]
fn some_devices_have_64_bit_minima_and_maxima_without_a_result() {
    let wide = Type::Scalar(Scalar::I64);
    let emitted = buffer(AtomicOp::UMax, wide, false, false).emit(&target(SOME)).unwrap();
    // The validator knows what such a device has.
    let capabilities = Capabilities::SHADER_INT64 | SOME;
    let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
    validator.validate(&emitted.module).unwrap();
    for (op, read, keep) in
        [(AtomicOp::Add, false, false), (AtomicOp::UMax, true, false), (AtomicOp::UMax, false, true)]
    {
        let text = refusal(buffer(op, wide, read, keep).emit(&target(SOME)));
        assert!(text.contains("other than minima or maxima without a result"), "{text}");
    }
    let text = refusal(buffer(AtomicOp::UMax, wide, false, false).emit(&target(Capabilities::empty())));
    assert!(text.contains("64-bit atomic operations, which the target lacks: u0"), "{text}");
}

#[test]
fn textures_have_minima_and_maxima_of_unsigned_64_bit_integers() {
    let native = emit_for(&texture(AtomicOp::UMax), &target(ALL | TEXTURES));
    let is_wide = |inner: &TypeInner| {
        matches!(inner, TypeInner::Image { class: ImageClass::Storage { format: StorageFormat::R64Uint, .. }, .. })
    };
    assert!(native.module.types.iter().any(|(_, ty)| is_wide(&ty.inner)));
    for (op, capabilities) in [(AtomicOp::UMax, ALL), (AtomicOp::SMax, ALL | TEXTURES), (AtomicOp::Or, ALL | TEXTURES)]
    {
        let buffer = emit_for(&texture(op), &target(capabilities));
        assert!(matches!(buffer.resources[0].ty, EmittedType::TexelBuffer { .. }), "{op:?}");
    }
}

/// DXIL's `uint64_t` is a `uint` in the declaration, of which a second component is accessed.
#[test]
fn texels_of_64_bits_are_declared_as_of_32() {
    let kind = |components| ResourceKind::TypedBuffer { component: ComponentType::U32, components, flags: FLAGS };
    let stride = |components: u8, read: &[u8], stored: &[u8]| {
        let program = Sketch::new(Stage::Compute).binding(ResourceClass::Uav, 0, kind(components)).program(|builder| {
            let handle = handle(builder, 0);
            let index = builder.push(Op::SystemValue(SystemValue::GroupIndex), Type::I32);
            let address = BufferAddress::Element(index);
            let texel = builder.push(Op::LoadBuffer { handle, address }, Type::Vector(Scalar::I32, 4));
            let sum = read.iter().fold(index, |sum, &lane| {
                let number = builder.extract(texel, lane);
                builder.binary(ir::BinaryOp::IAdd, sum, number)
            });
            let values = [index, sum];
            let value = builder.compose(&[0, 1, 2, 3].map(|lane: usize| values[usize::from(stored[lane])]));
            builder.effect(Op::StoreBuffer { handle, address, value });
        });
        let module = emit(&program).module;
        let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), Capabilities::all());
        let info = validator.validate(&module).unwrap();
        let text = naga::back::wgsl::write_string(&module, &info, naga::back::wgsl::WriterFlags::empty()).unwrap();
        // The number of texels is that of words, divided by those of a texel.
        let (_, rest) = text.split_once("arrayLength((&u0_))").unwrap();
        let divisor = rest.strip_prefix(" / ").and_then(|rest| rest.split_once('u'));
        divisor.map_or(1, |(words, _)| words.parse().unwrap())
    };
    assert_eq!(stride(1, &[0], &[0, 0, 0, 0]), 1);
    assert_eq!(stride(1, &[0, 1], &[0, 0, 0, 0]), 2);
    assert_eq!(stride(1, &[0], &[0, 1, 0, 1]), 2);
    assert_eq!(stride(2, &[0, 1], &[0, 1, 0, 0]), 2);
    assert_eq!(stride(2, &[0, 3], &[0, 1, 0, 0]), 4);
}
