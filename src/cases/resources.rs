//! Buffers and textures of a case on the device.

use std::collections::BTreeMap;

use wgpu::{BufferUsages, Extent3d, TextureAspect, TextureFormat, TextureUsages};

use super::{
    accel::AccelResource,
    device::{Gpu, Halt},
    format::{Buffer, Case, Sampler, Texture, TextureShape},
    formats, samples, texels,
    values::ElementType,
};

/// Everything that a case names.
pub struct Resources<'a> {
    /// Buffers by name.
    pub buffers: BTreeMap<&'a str, BufferResource>,
    /// Textures by name.
    pub textures: BTreeMap<&'a str, TextureResource>,
    /// Acceleration structures by name.
    pub accels: BTreeMap<&'a str, AccelResource>,
    /// Samplers by name.
    pub samplers: &'a BTreeMap<String, Sampler>,
}

/// A buffer on the device.
pub struct BufferResource {
    /// The buffer: `size` rounded up to 4 bytes, at least 4.
    pub buffer: wgpu::Buffer,
    /// Bytes of its elements.
    pub size: u64,
    /// Type of its elements.
    pub ty: ElementType,
}

/// A texture on the device. 1D textures are 2D ones of height 1, cubes 2D ones of six layers.
pub struct TextureResource {
    /// The texture.
    pub texture: wgpu::Texture,
    /// Type in which its texels are written.
    pub ty: ElementType,
}

impl<'a> Resources<'a> {
    /// Creates and fills them.
    ///
    /// # Errors
    /// Names the resource that is faulty, or that the device cannot have.
    pub fn new(gpu: &Gpu, case: &'a Case) -> Result<Self, Halt> {
        let mut resources = Self {
            buffers: BTreeMap::new(),
            textures: BTreeMap::new(),
            accels: BTreeMap::new(),
            samplers: &case.samplers,
        };
        for (name, buffer) in &case.buffers {
            let buffer = create_buffer(gpu, name, buffer).map_err(|error| format!("buffer {name}: {error}"))?;
            resources.buffers.insert(name, buffer);
        }
        for (name, texture) in &case.textures {
            let texture = create_texture(gpu, name, texture).map_err(|halt| halt.within(&format!("texture {name}")))?;
            resources.textures.insert(name, texture);
        }
        for (name, accel) in &case.accels {
            let accel = AccelResource::new(gpu, name, accel, &resources)
                .map_err(|halt| halt.within(&format!("acceleration structure {name}")))?;
            resources.accels.insert(name, accel);
        }
        Ok(resources)
    }

    /// The buffer of a name.
    ///
    /// # Errors
    /// There is none.
    pub fn buffer(&self, name: &str) -> Result<&BufferResource, String> {
        self.buffers.get(name).ok_or_else(|| format!("there is no buffer {name}"))
    }

    /// The acceleration structure of a name.
    ///
    /// # Errors
    /// There is none.
    pub fn accel(&self, name: &str) -> Result<&AccelResource, Halt> {
        self.accels.get(name).ok_or_else(|| format!("there is no acceleration structure {name}").into())
    }

    /// The texture of a name.
    ///
    /// # Errors
    /// There is none.
    pub fn texture(&self, name: &str) -> Result<&TextureResource, String> {
        self.textures.get(name).ok_or_else(|| format!("there is no texture {name}"))
    }

    /// Reads a buffer, or one mip and layer of a texture: its bytes and the type of its elements. Of a multisampled
    /// texture, one `sample`, or the samples' average.
    ///
    /// # Errors
    /// There is no such resource, or it cannot be read.
    pub fn read(
        &self,
        gpu: &Gpu,
        name: &str,
        mip: u32,
        layer: u32,
        sample: Option<u32>,
    ) -> Result<(Vec<u8>, ElementType), Halt> {
        if let Some(resource) = self.buffers.get(name) {
            return Ok((gpu.read_buffer(&resource.buffer, resource.size)?, resource.ty));
        }
        let resource = self.textures.get(name).ok_or_else(|| format!("there is no resource {name}"))?;
        let bytes = match sample {
            Some(sample) => samples::read(gpu, &resource.texture, layer, sample),
            None => texels::read(gpu, &resource.texture, mip, layer),
        };
        let bytes = bytes.map_err(|halt| halt.within(&format!("texture {name}")))?;
        Ok((bytes, resource.ty))
    }
}

impl Halt {
    /// Puts the place in front of the reason.
    pub fn within(self, place: &str) -> Self {
        match self {
            Self::Failed(reason) => Self::Failed(format!("{place}: {reason}")),
            Self::Skipped(reason) => Self::Skipped(format!("{place}: {reason}")),
            Self::Lost(reason) => Self::Lost(format!("{place}: {reason}")),
        }
    }
}

fn create_buffer(gpu: &Gpu, name: &str, buffer: &Buffer) -> Result<BufferResource, String> {
    let largest = gpu.limits().max_buffer_size;
    let bytes = match (&buffer.data, buffer.fill, buffer.count) {
        (Some(data), None, None) => buffer.ty.encode(data)?,
        (None, fill, Some(count)) => {
            let size = u64::from(count) * buffer.ty.size() as u64;
            if size > largest {
                return Err(format!("{size} bytes are more than the device's {largest}"));
            }
            let fill = fill.unwrap_or(super::values::Number::Integer(0));
            buffer.ty.encode(&[fill])?.repeat(count as usize)
        }
        _ => return Err("it has neither `data` nor `count` and `fill`, or both".into()),
    };
    let size = bytes.len() as u64;
    let usage = BufferUsages::STORAGE
        | BufferUsages::VERTEX
        | BufferUsages::INDEX
        | BufferUsages::COPY_SRC
        | BufferUsages::COPY_DST;
    let buffer_resource = new_buffer(gpu, name, size, usage);
    write_buffer(gpu, &buffer_resource, &bytes);
    Ok(BufferResource { buffer: buffer_resource, size, ty: buffer.ty })
}

/// A buffer of zeros of at least `size` bytes: a positive multiple of 4.
pub fn new_buffer(gpu: &Gpu, name: &str, size: u64, usage: BufferUsages) -> wgpu::Buffer {
    gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(name),
        size: size.max(1).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT),
        usage,
        mapped_at_creation: false,
    })
}

/// Fills the beginning of a buffer.
pub fn write_buffer(gpu: &Gpu, buffer: &wgpu::Buffer, bytes: &[u8]) {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT as usize), 0);
    gpu.queue.write_buffer(buffer, 0, &padded);
}

fn create_texture(gpu: &Gpu, name: &str, texture: &Texture) -> Result<TextureResource, Halt> {
    let format =
        formats::texture_format(&texture.format).ok_or_else(|| format!("there is no format {}", texture.format))?;
    if !gpu.features().contains(format.required_features()) {
        return Err(Halt::Skipped(format!("the device lacks {:?}", format.required_features())));
    }
    let ty = texture.ty.unwrap_or_else(|| formats::element_type(format));
    let (width, height, depth_or_array_layers) = texture.size;
    let dimension = match texture.dimension {
        TextureShape::D1 if height != 1 => return Err("a 1D texture has height 1".into()),
        TextureShape::Cube if depth_or_array_layers % 6 != 0 => return Err("a cube has six layers".into()),
        TextureShape::D1 | TextureShape::D2 | TextureShape::Cube => wgpu::TextureDimension::D2,
        TextureShape::D3 => wgpu::TextureDimension::D3,
    };
    let resource = new_texture(
        gpu,
        name,
        format,
        dimension,
        Extent3d { width, height, depth_or_array_layers },
        texture.mips,
        texture.samples,
    );
    if let Some(data) = texture.data.as_ref().filter(|data| !data.is_empty()) {
        let bytes = ty.encode(data)?;
        if texture.samples > 1 {
            samples::write(gpu, &resource, &bytes)?;
        } else {
            texels::write(gpu, &resource, &bytes)?;
        }
    }
    Ok(TextureResource { texture: resource, ty })
}

/// A texture of zeros with every usage that its format has on the device.
pub fn new_texture(
    gpu: &Gpu,
    name: &str,
    format: TextureFormat,
    dimension: wgpu::TextureDimension,
    size: Extent3d,
    mips: u32,
    samples: u32,
) -> wgpu::Texture {
    let mut usage = gpu.adapter.get_texture_format_features(format).allowed_usages
        & (TextureUsages::COPY_SRC
            | TextureUsages::COPY_DST
            | TextureUsages::TEXTURE_BINDING
            | TextureUsages::STORAGE_BINDING
            | TextureUsages::RENDER_ATTACHMENT);
    if samples > 1 {
        usage -= TextureUsages::STORAGE_BINDING;
    }
    if dimension == wgpu::TextureDimension::D3 && format.is_compressed() {
        usage -= TextureUsages::RENDER_ATTACHMENT;
    }
    let twin = if format.is_srgb() { format.remove_srgb_suffix() } else { format.add_srgb_suffix() };
    let view_formats = if twin == format { vec![] } else { vec![twin] };
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(name),
        size,
        mip_level_count: mips,
        sample_count: samples,
        dimension,
        format,
        usage,
        view_formats: &view_formats,
    })
}

/// A copy of a texture, for a step that reads the texture and writes it at once.
///
/// # Errors
/// Its format cannot be copied.
pub fn copy_texture(gpu: &Gpu, texture: &wgpu::Texture) -> Result<wgpu::Texture, Halt> {
    let copy = new_texture(
        gpu,
        "copy",
        texture.format(),
        texture.dimension(),
        texture.size(),
        texture.mip_level_count(),
        texture.sample_count(),
    );
    let mut encoder = gpu.encoder();
    for mip in 0..texture.mip_level_count() {
        let place = |texture| wgpu::TexelCopyTextureInfo {
            texture,
            mip_level: mip,
            origin: wgpu::Origin3d::ZERO,
            aspect: TextureAspect::All,
        };
        let size = texture.size().mip_level_size(mip, texture.dimension());
        encoder.copy_texture_to_texture(place(texture), place(&copy), size.physical_size(texture.format()));
    }
    gpu.submit(encoder)?;
    Ok(copy)
}
