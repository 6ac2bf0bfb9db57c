//! What a stage writes in place of what was bound, and how it gets back there.

use wgpu::Extent3d;

use crate::{
    cases::{
        device::{Gpu, Halt},
        resources::write_buffer,
        texels,
    },
    lift::TEXEL_BUFFER_HEADER,
};

/// What the stage writes in place of what was bound.
pub enum WriteBack {
    /// A copy of a part of a buffer.
    Part { copy: wgpu::Buffer, buffer: wgpu::Buffer, buffer_size: u64, offset: u64, size: u64 },
    /// A buffer that stands for a texture.
    Texels { copy: wgpu::Buffer, texture: wgpu::Texture, part: TexturePart },
    /// A copy of a texture in the view's format.
    View { copy: wgpu::Texture, texture: wgpu::Texture },
}

/// A mip level and layers of a texture, and how they lie in a buffer.
#[derive(Clone, Copy)]
pub struct TexturePart {
    /// The mip level.
    pub mip: u32,
    /// The first layer.
    pub first_layer: u32,
    /// Texels and layers.
    pub size: Extent3d,
    /// Bytes of a row.
    pub pitch: u32,
}

impl TexturePart {
    /// The part of the texture.
    pub fn of_texture<'t>(&self, texture: &'t wgpu::Texture) -> wgpu::TexelCopyTextureInfo<'t> {
        wgpu::TexelCopyTextureInfo {
            texture,
            mip_level: self.mip,
            origin: wgpu::Origin3d { x: 0, y: 0, z: self.first_layer },
            aspect: wgpu::TextureAspect::All,
        }
    }

    /// The part in the buffer.
    pub fn of_buffer<'b>(&self, buffer: &'b wgpu::Buffer) -> wgpu::TexelCopyBufferInfo<'b> {
        wgpu::TexelCopyBufferInfo {
            buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: TEXEL_BUFFER_HEADER.into(),
                bytes_per_row: Some(self.pitch),
                rows_per_image: Some(self.size.height),
            },
        }
    }
}

impl WriteBack {
    /// Writes the copy back to where it came from.
    ///
    /// # Errors
    /// The device is lost.
    pub fn write_back(&self, gpu: &Gpu) -> Result<(), Halt> {
        match self {
            WriteBack::Part { copy, buffer, buffer_size, offset, size } => {
                let written = gpu.read_buffer(copy, *size)?;
                let mut whole = gpu.read_buffer(buffer, *buffer_size)?;
                let (start, end) = (*offset as usize, (offset + size) as usize);
                whole[start..end].copy_from_slice(&written);
                write_buffer(gpu, buffer, &whole);
            }
            WriteBack::Texels { copy, texture, part } => {
                let mut encoder = gpu.encoder();
                encoder.copy_buffer_to_texture(part.of_buffer(copy), part.of_texture(texture), part.size);
                gpu.submit(encoder)?;
            }
            WriteBack::View { copy, texture } => texels::write(gpu, texture, &texels::read_all(gpu, copy)?)?,
        }
        Ok(())
    }
}
