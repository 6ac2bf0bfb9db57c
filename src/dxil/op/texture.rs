//! Textures: sampled, gathered, loaded, stored, measured.

use smallvec::SmallVec;

use super::{Call, buffer};
use crate::{
    Error, Result,
    dxil::lower::{FunctionLowering, Handle, Lowered},
    ir::{ConvertOp, Gather, Op, Sample, SampleLevel, Scalar, Type, Value},
    reflection::{ResourceKind, TextureDimension},
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// Numbers of the operations that share a lowering.
mod number {
    pub const SAMPLE: u32 = 60;
    pub const SAMPLE_BIAS: u32 = 61;
    pub const SAMPLE_LEVEL: u32 = 62;
    pub const SAMPLE_GRAD: u32 = 63;
    pub const SAMPLE_CMP: u32 = 64;
    pub const SAMPLE_CMP_LEVEL_ZERO: u32 = 65;
    pub const TEXTURE_GATHER_CMP: u32 = 74;
    pub const TEXTURE_2DMS_GET_SAMPLE_POSITION: u32 = 75;
    pub const SAMPLE_CMP_LEVEL: u32 = 224;
    pub const TEXTURE_STORE_SAMPLE: u32 = 225;
    pub const SAMPLE_CMP_GRAD: u32 = 254;
    pub const SAMPLE_CMP_BIAS: u32 = 255;
}

/// A texture's handle and shape.
fn texture(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<(Handle, TextureDimension)> {
    let handle = f.handle_argument(call, 0)?;
    match f.kind(handle) {
        ResourceKind::Texture { dimension, .. } => Ok((handle, dimension)),
        ResourceKind::FeedbackTexture { .. } => Err(Error::unsupported("feedback texture")),
        kind => Err(Error::malformed(format!("resource is no texture: {kind:?}"))),
    }
}

fn sampler(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Value> {
    let handle = f.handle_argument(call, 1)?;
    match f.kind(handle) {
        ResourceKind::Sampler { .. } => Ok(handle.value),
        kind => Err(Error::malformed(format!("resource is no sampler: {kind:?}"))),
    }
}

/// A texture that is sampled, and its shape.
fn sampled(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<(Value, TextureDimension)> {
    let (handle, dimension) = texture(f, call)?;
    if f.is_uav(handle) || dimension.is_multisampled() {
        return Err(Error::malformed("sampling of a texture that cannot be sampled"));
    }
    Ok((handle.value, dimension))
}

/// Components of a coordinate with the array layer.
fn lanes(dimension: TextureDimension) -> u8 {
    dimension.coordinates() + u8::from(dimension.is_arrayed())
}

/// Offsets in texels, from an argument on; nothing if they are undefined or 0.
fn offset(
    f: &mut Lowering<'_, '_>,
    call: &Call<'_>,
    start: usize,
    dimension: TextureDimension,
) -> Result<Option<Value>> {
    let mut values: SmallVec<[Value; 4]> = SmallVec::new();
    let mut any = false;
    for index in start..start + dimension.coordinates() as usize {
        let value = match call.optional(f, index)? {
            Some(value) if f.function.ty(value) == Type::I32 => value,
            Some(_) => return Err(Error::malformed("offset is no i32")),
            None => f.function.i32(0),
        };
        any |= f.function.as_scalar_constant(value) != Some(0);
        values.push(value);
    }
    Ok(any.then(|| f.build().compose(&values)))
}

/// An `f32` argument, unless it is undefined or not there.
fn optional_f32(f: &mut Lowering<'_, '_>, call: &Call<'_>, index: usize) -> Result<Option<Value>> {
    match call.optional(f, index)? {
        Some(value) if f.function.ty(value) != Type::F32 => Err(Error::malformed("argument is no f32")),
        value => Ok(value),
    }
}

/// Texture, sampler, four coordinates, three offsets, and then what the operation takes beside.
pub fn sample(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    const REST: usize = 9;
    let (texture, dimension) = sampled(f, call)?;
    let sampler = sampler(f, call)?;
    let coordinates = call.vector(f, 2, lanes(dimension), Scalar::F32)?;
    let offset = offset(f, call, 6, dimension)?;
    let gradient = |f: &mut Lowering<'_, '_>, start: usize| -> Result<SampleLevel> {
        let count = dimension.coordinates();
        let x = call.vector(f, start, count, Scalar::F32)?;
        let y = call.vector(f, start + 3, count, Scalar::F32)?;
        Ok(SampleLevel::Gradient(x, y))
    };
    let (level, compare, clamp) = match call.number {
        number::SAMPLE => (SampleLevel::Implicit, None, Some(REST)),
        number::SAMPLE_BIAS => (SampleLevel::Bias(call.f32(f, REST)?), None, Some(REST + 1)),
        number::SAMPLE_LEVEL => (SampleLevel::Level(call.f32(f, REST)?), None, None),
        number::SAMPLE_GRAD => (gradient(f, REST)?, None, Some(REST + 6)),
        number::SAMPLE_CMP => (SampleLevel::Implicit, Some(call.f32(f, REST)?), Some(REST + 1)),
        number::SAMPLE_CMP_LEVEL_ZERO => (SampleLevel::Zero, Some(call.f32(f, REST)?), None),
        number::SAMPLE_CMP_LEVEL => (SampleLevel::Level(call.f32(f, REST + 1)?), Some(call.f32(f, REST)?), None),
        number::SAMPLE_CMP_BIAS => {
            (SampleLevel::Bias(call.f32(f, REST + 1)?), Some(call.f32(f, REST)?), Some(REST + 2))
        }
        number::SAMPLE_CMP_GRAD => (gradient(f, REST + 1)?, Some(call.f32(f, REST)?), Some(REST + 7)),
        number => return Err(Error::internal(format!("operation is no sample: {number}"))),
    };
    let level = match level {
        SampleLevel::Level(level) if f.function.as_scalar_constant(level) == Some(0) => SampleLevel::Zero,
        level => level,
    };
    let min_lod = match clamp {
        Some(index) => optional_f32(f, call, index)?,
        None => None,
    };
    // A clamp to level 0 clamps nothing.
    let min_lod = min_lod.filter(|&value| f.function.as_scalar_constant(value) != Some(0));
    let scalar = call.result_scalar(f)?;
    if scalar == Scalar::Bool || (compare.is_some() && !scalar.is_float()) {
        return Err(Error::malformed("sample of another type"));
    }
    let ty = if compare.is_some() { Type::Scalar(scalar) } else { Type::Vector(scalar, 4) };
    let sample = Sample { texture, sampler, coordinates, level, compare, offset, min_lod };
    let value = f.build().push(Op::Sample(Box::new(sample)), ty);
    let used = f.members_used(call.result);
    let mut rest: SmallVec<[Value; 4]> = SmallVec::new();
    if compare.is_some() {
        // Only the first component of a comparison means something.
        let zero = f.function.zero(ty);
        rest.extend([zero; 3]);
    }
    rest.push(f.function.i32(1));
    Ok(Some(f.take_apart(value, used, &rest)))
}

/// Texture, sampler, coordinates and offset of a gather, of the first component.
fn footprint(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Gather> {
    let (texture, dimension) = sampled(f, call)?;
    let sampler = sampler(f, call)?;
    if dimension.coordinates() < 2 || dimension == TextureDimension::D3 {
        return Err(Error::malformed("gather of a texture that is not two-dimensional"));
    }
    let coordinates = call.vector(f, 2, lanes(dimension), Scalar::F32)?;
    let cube = matches!(dimension, TextureDimension::Cube | TextureDimension::CubeArray);
    let offset = if cube { None } else { offset(f, call, 6, dimension)? };
    Ok(Gather { texture, sampler, coordinates, component: 0, compare: None, offset })
}

/// Texture, sampler, four coordinates, two offsets, component, value to compare with.
pub fn gather(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let gather = footprint(f, call)?;
    let component = call.constant(f, 8)?;
    if component > 3 {
        return Err(Error::malformed(format!("no such component: {component}")));
    }
    let compare = match call.number {
        number::TEXTURE_GATHER_CMP => Some(call.f32(f, 9)?),
        _ => None,
    };
    let scalar = call.result_scalar(f)?;
    if scalar == Scalar::Bool {
        return Err(Error::malformed("gather of another type"));
    }
    let gather = Gather { component: component as u8, compare, ..gather };
    let value = f.build().push(Op::Gather(Box::new(gather)), Type::Vector(scalar, 4));
    let status = f.function.i32(1);
    Ok(Some(f.take_apart(value, f.members_used(call.result), &[status])))
}

/// Texture, sampler, coordinates, offset: texels as they are stored, of 16, 32 or 64 bits. Direct3D wants a view of an
/// integer format of that size, with two components for 64 bits: the texels are its components.
pub fn gather_raw(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let gather = footprint(f, call)?;
    let scalar = call.result_scalar(f)?;
    if !scalar.is_int() {
        return Err(Error::malformed("raw gather of no integers"));
    }
    let words = Type::Vector(Scalar::I32, 4);
    let low = f.build().push(Op::Gather(Box::new(gather.clone())), words);
    let mut texels: SmallVec<[Value; 4]> = SmallVec::new();
    if scalar == Scalar::I64 {
        f.parent.note("GatherRaw of 64 bits: the texture is bound with a format of two 32-bit components");
        let high = f.build().push(Op::Gather(Box::new(Gather { component: 1, ..gather })), words);
        for lane in 0..4 {
            let mut build = f.build();
            let words = [build.extract(low, lane), build.extract(high, lane)];
            let pair = build.compose(&words);
            texels.push(build.push(Op::Convert(ConvertOp::Bitcast, pair), Type::Scalar(Scalar::I64)));
        }
    } else {
        for lane in 0..4 {
            let mut build = f.build();
            let word = build.extract(low, lane);
            texels.push(if scalar == Scalar::I16 { build.convert(ConvertOp::Trunc, word, scalar) } else { word });
        }
    }
    texels.push(f.function.i32(1));
    Ok(Some(Lowered::Scalars(texels)))
}

/// Feedback map, texture, sampler, coordinates: nothing, as where no map is bound.
pub fn write_feedback(f: &mut Lowering<'_, '_>, _call: &Call<'_>) -> Result<Option<Lowered>> {
    f.parent.note("sampler feedback is not collected: naga has no feedback maps, as if none were bound");
    Ok(None)
}

/// Texture, level or sample, three coordinates, three offsets.
pub fn load(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (handle, dimension) = texture(f, call)?;
    let coordinates = call.vector(f, 2, lanes(dimension), Scalar::I32)?;
    let offset = offset(f, call, 5, dimension)?;
    let multisampled = dimension.is_multisampled();
    let selector = match call.optional(f, 1)? {
        Some(value) if f.function.ty(value) == Type::I32 => value,
        Some(_) => return Err(Error::malformed("level is no i32")),
        None => f.function.i32(0),
    };
    let sample = multisampled.then_some(selector);
    let level = (!multisampled && !f.is_uav(handle)).then_some(selector);
    let scalar = call.result_scalar(f)?;
    if scalar == Scalar::Bool {
        return Err(Error::malformed("texel of bools"));
    }
    let used = f.members_used(call.result);
    let count = (64 - (used & 0xf).leading_zeros()).max(1) as u8;
    let op = Op::LoadTexture { handle: handle.value, coordinates, level, sample, offset };
    let value = f.build().push(op, Type::new(scalar, count));
    let mut rest: SmallVec<[Value; 4]> = SmallVec::new();
    for _ in count..4 {
        rest.push(f.function.zero(Type::Scalar(scalar)));
    }
    rest.push(f.function.i32(1));
    Ok(Some(f.take_apart(value, used, &rest)))
}

/// Texture, three coordinates, four numbers, mask, and a sample in `TextureStoreSample`.
pub fn store(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (handle, dimension) = texture(f, call)?;
    if !f.is_uav(handle) {
        return Err(Error::malformed("write to a resource that is no unordered-access view"));
    }
    let coordinates = call.vector(f, 1, lanes(dimension), Scalar::I32)?;
    let value = buffer::texel(f, call, 4)?;
    let sample = match (call.number, dimension.is_multisampled()) {
        (number::TEXTURE_STORE_SAMPLE, true) => Some(call.i32(f, 9)?),
        (_, true) => Some(f.function.i32(0)),
        (_, false) => None,
    };
    f.build().effect(Op::StoreTexture { handle: handle.value, coordinates, sample, value });
    Ok(None)
}

/// Texture, sampler, three coordinates, clamped.
pub fn calculate_lod(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (texture, dimension) = sampled(f, call)?;
    let sampler = sampler(f, call)?;
    let coordinates = call.vector(f, 2, dimension.coordinates(), Scalar::F32)?;
    let clamped = call.constant(f, 5)? != 0;
    let value = f.build().push(Op::CalculateLod { texture, sampler, coordinates, clamped }, Type::F32);
    Ok(Some(Lowered::scalar(value)))
}

/// Resource, level: four numbers.
pub fn dimensions(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let handle = f.handle_argument(call, 0)?;
    let used = f.members_used(call.result);
    let zero = f.function.i32(0);
    match f.kind(handle) {
        ResourceKind::Texture { dimension, .. } => {
            let has_levels = !f.is_uav(handle) && !dimension.is_multisampled();
            let level = match call.optional(f, 1)? {
                Some(level) if f.function.ty(level) != Type::I32 => return Err(Error::malformed("level is no i32")),
                level => has_levels.then(|| level.unwrap_or(zero)),
            };
            let op = Op::TextureSize { handle: handle.value, level };
            let size = f.build().push(op, Type::Vector(Scalar::I32, 4));
            let mut lowered = f.take_apart(size, used, &[]);
            // The last number is the levels, or the samples.
            if let Lowered::Scalars(scalars) = &mut lowered
                && dimension.is_multisampled()
                && used & 8 != 0
            {
                scalars[3] = f.build().push(Op::SampleCount(Some(handle.value)), Type::I32);
            }
            Ok(Some(lowered))
        }
        ResourceKind::TypedBuffer { .. }
        | ResourceKind::RawBuffer { .. }
        | ResourceKind::StructuredBuffer { .. }
        | ResourceKind::TextureBuffer { .. } => {
            let size = f.build().push(Op::BufferSize { handle: handle.value }, Type::I32);
            let stride = match f.kind(handle) {
                ResourceKind::StructuredBuffer { stride, .. } => f.function.i32(stride),
                _ => zero,
            };
            Ok(Some(Lowered::Scalars(SmallVec::from_slice(&[size, stride, zero, zero]))))
        }
        kind => Err(Error::unsupported(format!("dimensions of a resource: {kind:?}"))),
    }
}

/// Texture and sample, or sample of the render target: two numbers.
pub fn sample_position(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (handle, sample) = match call.number {
        number::TEXTURE_2DMS_GET_SAMPLE_POSITION => (Some(texture(f, call)?.0.value), call.i32(f, 1)?),
        _ => (None, call.i32(f, 0)?),
    };
    let position = f.build().push(Op::SamplePosition { handle, sample }, Type::Vector(Scalar::F32, 2));
    Ok(Some(f.take_apart(position, f.members_used(call.result), &[])))
}

pub fn render_target_sample_count(f: &mut Lowering<'_, '_>, _call: &Call<'_>) -> Result<Option<Lowered>> {
    Ok(Some(Lowered::scalar(f.build().push(Op::SampleCount(None), Type::I32))))
}
