//! `RDEF` to bindings.

use std::{borrow::Cow, collections::HashMap};

use super::layouts::Layouts;
use crate::{
    Result,
    container::{BindingRecord, BufferRecord, ResourceDefinitions},
    reflection::{
        Binding, BufferLayout, ComponentType, ResourceClass, ResourceKind, SamplerMode, TextureDimension, UavFlags,
    },
};

/// `D3D_SIF_COMPARISON_SAMPLER`.
const COMPARISON_SAMPLER: u32 = 0x2;
/// Position of `D3D_SIF_TEXTURE_COMPONENTS`, two bits that hold the number of components less one.
const TEXTURE_COMPONENTS_SHIFT: u32 = 2;

/// `D3D_CBUFFER_TYPE`.
const CONSTANT_BUFFER: u32 = 0;
const TEXTURE_BUFFER: u32 = 1;
const STRUCTURED_ELEMENT: u32 = 3;

/// The bindings that `RDEF` lists, in its order, with the layouts of their buffers.
///
/// Shader Model 5.1 leaves out what only the tokens tell: whether an unordered-access view is coherent or ordered.
pub(in crate::reflection) fn read(
    definitions: &ResourceDefinitions<'_>,
    shader_model_5_1: bool,
) -> Result<Vec<Binding>> {
    let mut layouts = Layouts::new(definitions);
    let mut buffers = Buffers::new();
    for buffer in definitions.buffers()? {
        let buffer = buffer?;
        layouts.charge(buffer.offset, buffer.name.len())?;
        buffers.entry((buffer.ty, buffer.name.clone())).or_insert(buffer);
    }
    definitions.bindings()?.map(|record| binding(&record?, &buffers, &mut layouts, shader_model_5_1)).collect()
}

/// Buffers by `D3D_CBUFFER_TYPE` and name.
type Buffers<'a> = HashMap<(u32, Cow<'a, str>), BufferRecord<'a>>;

/// The buffer of a binding: it has its name, for an array of structured buffers that of its first element, for a
/// `TextureBuffer<T>` the name after two dollar signs.
fn buffer_of<'b, 'a>(record: &BindingRecord<'a>, ty: u32, buffers: &'b Buffers<'a>) -> Option<&'b BufferRecord<'a>> {
    buffers.get(&(ty, record.name.clone())).or_else(|| {
        let name = match ty {
            STRUCTURED_ELEMENT => format!("{}[0]", record.name),
            TEXTURE_BUFFER => format!("$${}", record.name),
            _ => return None,
        };
        buffers.get(&(ty, Cow::Owned(name)))
    })
}

fn binding<'a>(
    record: &BindingRecord<'a>,
    buffers: &Buffers<'a>,
    layouts: &mut Layouts<'_, 'a>,
    shader_model_5_1: bool,
) -> Result<Binding> {
    layouts.charge(record.offset, record.name.len())?;
    let mut layout_of = |ty: u32| -> Result<Option<BufferLayout>> {
        buffer_of(record, ty, buffers).map(|buffer| layouts.buffer(buffer, &record.name)).transpose()
    };
    let flags = UavFlags::default();
    let (class, kind, layout) = match record.ty {
        0 => {
            let layout = layout_of(CONSTANT_BUFFER)?;
            let size = layout.as_ref().map_or(0, |layout| layout.size);
            (ResourceClass::Cbv, ResourceKind::ConstantBuffer { size }, layout)
        }
        1 => {
            let layout = layout_of(TEXTURE_BUFFER)?;
            let size = layout.as_ref().map_or(0, |layout| layout.size);
            (ResourceClass::Srv, ResourceKind::TextureBuffer { size }, layout)
        }
        2 => (ResourceClass::Srv, typed(record)?, None),
        3 => {
            let comparison = record.flags & COMPARISON_SAMPLER != 0;
            let mode = if comparison { SamplerMode::Comparison } else { SamplerMode::Default };
            (ResourceClass::Sampler, ResourceKind::Sampler { mode }, None)
        }
        4 => (ResourceClass::Uav, typed(record)?, None),
        5 | 6 | 9 | 10 | 11 => {
            let class = if record.ty == 5 { ResourceClass::Srv } else { ResourceClass::Uav };
            let counter = matches!(record.ty, 9..=11);
            let kind = ResourceKind::StructuredBuffer { stride: record.samples_or_stride, counter, flags };
            (class, kind, layout_of(STRUCTURED_ELEMENT)?)
        }
        7 => (ResourceClass::Srv, ResourceKind::RawBuffer { flags }, None),
        8 => (ResourceClass::Uav, ResourceKind::RawBuffer { flags }, None),
        12 => (ResourceClass::Srv, ResourceKind::AccelerationStructure, None),
        code => {
            let what = format!("unknown type of binding {}: {code}", record.name);
            return Err(layouts.part().malformed(record.offset + 4, what));
        }
    };
    Ok(Binding {
        name: Some(record.name.clone().into_owned()),
        class,
        space: record.space,
        register: record.register,
        count: match record.count {
            // Arrays without a bound: 0, and of constant buffers all bits set.
            0 | u32::MAX if shader_model_5_1 => None,
            count => Some(count.max(1)),
        },
        kind,
        layout,
    })
}

/// Textures and typed buffers, read or written.
fn typed(record: &BindingRecord<'_>) -> Result<ResourceKind> {
    let component = match record.return_type {
        1 => ComponentType::UnormF32,
        2 => ComponentType::SnormF32,
        3 => ComponentType::I32,
        4 => ComponentType::U32,
        5 => ComponentType::F32,
        7 => ComponentType::F64,
        _ => ComponentType::Unknown,
    };
    let components = (record.flags >> TEXTURE_COMPONENTS_SHIFT & 3) as u8 + 1;
    let flags = UavFlags::default();
    let dimension = match record.dimension {
        // D3D_SRV_DIMENSION_BUFFER and _BUFFEREX
        1 | 11 => return Ok(ResourceKind::TypedBuffer { component, components, flags }),
        2 => TextureDimension::D1,
        3 => TextureDimension::D1Array,
        4 => TextureDimension::D2,
        5 => TextureDimension::D2Array,
        6 => TextureDimension::D2Multisampled,
        7 => TextureDimension::D2MultisampledArray,
        8 => TextureDimension::D3,
        9 => TextureDimension::Cube,
        10 => TextureDimension::CubeArray,
        code => {
            let what = format!("unknown dimension of texture {}: {code}", record.name);
            return Err(crate::Error::malformed(what)
                .in_part(crate::container::FourCc::RDEF)
                .at_offset(record.offset + 12));
        }
    };
    let samples = if dimension.is_multisampled() { u8::try_from(record.samples_or_stride).unwrap_or(0) } else { 0 };
    Ok(ResourceKind::Texture { dimension, component, components, samples, flags })
}
