//! Names of formats, and what a texture format says of its texels.

use wgpu::{TextureAspect, TextureFormat, VertexFormat};

use super::values::ElementType;
use crate::lift::TargetKind;

/// The texture format of a name, as `wgpu::TextureFormat` spells it.
pub fn texture_format(name: &str) -> Option<TextureFormat> {
    use TextureFormat::*;
    // wgpu reads names only with its serde feature, which this crate does not need for anything else.
    const ALL: &[TextureFormat] = &[
        R8Unorm,
        R8Snorm,
        R8Uint,
        R8Sint,
        R16Uint,
        R16Sint,
        R16Unorm,
        R16Snorm,
        R16Float,
        Rg8Unorm,
        Rg8Snorm,
        Rg8Uint,
        Rg8Sint,
        R32Uint,
        R32Sint,
        R32Float,
        Rg16Uint,
        Rg16Sint,
        Rg16Unorm,
        Rg16Snorm,
        Rg16Float,
        Rgba8Unorm,
        Rgba8UnormSrgb,
        Rgba8Snorm,
        Rgba8Uint,
        Rgba8Sint,
        Bgra8Unorm,
        Bgra8UnormSrgb,
        Rgb9e5Ufloat,
        Rgb10a2Uint,
        Rgb10a2Unorm,
        Rg11b10Ufloat,
        R64Uint,
        Rg32Uint,
        Rg32Sint,
        Rg32Float,
        Rgba16Uint,
        Rgba16Sint,
        Rgba16Unorm,
        Rgba16Snorm,
        Rgba16Float,
        Rgba32Uint,
        Rgba32Sint,
        Rgba32Float,
        Stencil8,
        Depth16Unorm,
        Depth24Plus,
        Depth24PlusStencil8,
        Depth32Float,
        Depth32FloatStencil8,
        Bc1RgbaUnorm,
        Bc1RgbaUnormSrgb,
        Bc2RgbaUnorm,
        Bc2RgbaUnormSrgb,
        Bc3RgbaUnorm,
        Bc3RgbaUnormSrgb,
        Bc4RUnorm,
        Bc4RSnorm,
        Bc5RgUnorm,
        Bc5RgSnorm,
        Bc6hRgbUfloat,
        Bc6hRgbFloat,
        Bc7RgbaUnorm,
        Bc7RgbaUnormSrgb,
    ];
    ALL.iter().copied().find(|format| format!("{format:?}") == name)
}

/// The vertex format of a name, as `wgpu::VertexFormat` spells it.
pub fn vertex_format(name: &str) -> Option<VertexFormat> {
    use VertexFormat::*;
    const ALL: &[VertexFormat] = &[
        Uint8,
        Uint8x2,
        Uint8x4,
        Sint8,
        Sint8x2,
        Sint8x4,
        Unorm8,
        Unorm8x2,
        Unorm8x4,
        Snorm8,
        Snorm8x2,
        Snorm8x4,
        Uint16,
        Uint16x2,
        Uint16x4,
        Sint16,
        Sint16x2,
        Sint16x4,
        Unorm16,
        Unorm16x2,
        Unorm16x4,
        Snorm16,
        Snorm16x2,
        Snorm16x4,
        Float16,
        Float16x2,
        Float16x4,
        Float32,
        Float32x2,
        Float32x3,
        Float32x4,
        Uint32,
        Uint32x2,
        Uint32x3,
        Uint32x4,
        Sint32,
        Sint32x2,
        Sint32x3,
        Sint32x4,
        Float64,
        Float64x2,
        Float64x3,
        Float64x4,
        Unorm10_10_10_2,
        Unorm8x4Bgra,
    ];
    ALL.iter().copied().find(|format| format!("{format:?}") == name)
}

/// The type in which a case writes a format's texels unless it says otherwise: the type of a component, or the unsigned
/// integer that holds a packed texel or the bytes of a block.
pub fn element_type(format: TextureFormat) -> ElementType {
    let name = format!("{format:?}");
    let has = |part: &str| name.contains(part);
    if has("Depth32") {
        return ElementType::F32;
    }
    if has("Rgb10a2") || has("Rg11b10") || has("Rgb9e5") || has("Depth24") {
        return ElementType::U32;
    }
    if format.is_compressed() || has("Stencil8") {
        return ElementType::U8;
    }
    let width = if has("64") {
        64
    } else if has("32") {
        32
    } else if has("16") {
        16
    } else {
        8
    };
    match (width, has("Float"), has("Sint") || has("Snorm")) {
        (64, ..) => ElementType::U64,
        (32, true, _) => ElementType::F32,
        (32, _, true) => ElementType::I32,
        (32, ..) => ElementType::U32,
        (16, true, _) => ElementType::F16,
        (16, _, true) => ElementType::I16,
        (16, ..) => ElementType::U16,
        (_, _, true) => ElementType::I8,
        _ => ElementType::U8,
    }
}

/// Kind of the components of a render target.
pub fn target_kind(format: TextureFormat) -> TargetKind {
    match format.sample_type(None, None) {
        Some(wgpu::TextureSampleType::Uint) => TargetKind::Uint,
        Some(wgpu::TextureSampleType::Sint) => TargetKind::Sint,
        _ => TargetKind::Float,
    }
}

/// The aspect of a format that shaders read and cases check: the colour, else the depth, else the stencil.
pub fn main_aspect(format: TextureFormat) -> TextureAspect {
    if format.has_depth_aspect() && format.has_stencil_aspect() { TextureAspect::DepthOnly } else { TextureAspect::All }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(texture_format("Rgba8UnormSrgb"), Some(TextureFormat::Rgba8UnormSrgb));
        assert_eq!(texture_format("rgba8unorm"), None);
        assert_eq!(vertex_format("Unorm10_10_10_2"), Some(VertexFormat::Unorm10_10_10_2));
    }

    #[test]
    fn element_types() {
        let type_of = |name| element_type(texture_format(name).unwrap());
        assert_eq!(type_of("Rgba8UnormSrgb"), ElementType::U8);
        assert_eq!(type_of("Rg8Snorm"), ElementType::I8);
        assert_eq!(type_of("R16Unorm"), ElementType::U16);
        assert_eq!(type_of("Rgba16Float"), ElementType::F16);
        assert_eq!(type_of("R32Sint"), ElementType::I32);
        assert_eq!(type_of("Rgb10a2Unorm"), ElementType::U32);
        assert_eq!(type_of("Depth16Unorm"), ElementType::U16);
        assert_eq!(type_of("Depth32FloatStencil8"), ElementType::F32);
        assert_eq!(type_of("Bc7RgbaUnorm"), ElementType::U8);
        assert_eq!(type_of("R64Uint"), ElementType::U64);
    }
}
