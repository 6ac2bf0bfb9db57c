//! Texels to and from textures.

use wgpu::{BufferUsages, Extent3d, TextureUsages};

use super::{
    device::{Gpu, Halt},
    formats,
    resources::{new_buffer, new_texture, write_buffer},
};

/// Rows and bytes of one mip of one layer, as a case stores it: without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MipLayout {
    /// Texels, rounded up to whole blocks.
    size: Extent3d,
    bytes_per_row: u32,
    /// Rows of blocks in a slice.
    rows: u32,
}

impl MipLayout {
    fn new(texture: &wgpu::Texture, mip: u32) -> Result<Self, Halt> {
        let format = texture.format();
        let block_bytes = format
            .block_copy_size(Some(formats::main_aspect(format)))
            .ok_or_else(|| Halt::Skipped(format!("texels of {format:?} cannot be copied")))?;
        let (block_width, block_height) = format.block_dimensions();
        let mut size = texture.size().mip_level_size(mip, texture.dimension()).physical_size(format);
        if texture.dimension() != wgpu::TextureDimension::D3 {
            size.depth_or_array_layers = 1;
        }
        Ok(Self { size, bytes_per_row: size.width / block_width * block_bytes, rows: size.height / block_height })
    }

    /// Bytes of all its slices.
    fn bytes(self) -> u64 {
        u64::from(self.bytes_per_row) * u64::from(self.rows) * u64::from(self.size.depth_or_array_layers)
    }
}

/// Fills a texture with its texels: layer after layer, in each its mips, in each mip its slices and rows.
///
/// # Errors
/// The bytes are not as many as the texture's, or the device cannot take them.
pub fn write(gpu: &Gpu, texture: &wgpu::Texture, bytes: &[u8]) -> Result<(), Halt> {
    let layers = if texture.dimension() == wgpu::TextureDimension::D3 { 1 } else { texture.depth_or_array_layers() };
    let mips = (0..texture.mip_level_count()).map(|mip| MipLayout::new(texture, mip)).collect::<Result<Vec<_>, _>>()?;
    let expected = mips.iter().map(|mip| mip.bytes()).sum::<u64>() * u64::from(layers);
    if expected != bytes.len() as u64 {
        return Err(Halt::Failed(format!("its texels are {expected} bytes, but its data {}", bytes.len())));
    }
    let mut rest = bytes;
    for layer in 0..layers {
        for (mip, layout) in (0..).zip(&mips) {
            let (texels, after) = rest.split_at(layout.bytes() as usize);
            rest = after;
            if texture.usage().contains(TextureUsages::COPY_DST) && can_upload(texture.format()) {
                gpu.queue.write_texture(
                    wgpu::TexelCopyTextureInfo {
                        texture,
                        mip_level: mip,
                        origin: wgpu::Origin3d { x: 0, y: 0, z: layer },
                        aspect: formats::main_aspect(texture.format()),
                    },
                    texels,
                    wgpu::TexelCopyBufferLayout {
                        offset: 0,
                        bytes_per_row: Some(layout.bytes_per_row),
                        rows_per_image: Some(layout.rows),
                    },
                    layout.size,
                );
            } else {
                draw_depth(gpu, texture, mip, layer, texels)?;
            }
        }
    }
    Ok(())
}

/// wgpu copies into textures of all formats but those with a depth of 24 or 32 bits.
fn can_upload(format: wgpu::TextureFormat) -> bool {
    !format.has_depth_aspect() || format == wgpu::TextureFormat::Depth16Unorm
}

/// Gives each texel of a depth texture its value from a buffer.
const DEPTH_SHADER: &str = "
    @group(0) @binding(0) var<storage> depths: array<f32>;
    @group(0) @binding(1) var<storage> width: array<u32>;

    @vertex fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
        return vec4(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
    }

    @fragment fn depth(@builtin(position) position: vec4<f32>) -> @builtin(frag_depth) f32 {
        let texel = vec2<u32>(position.xy);
        return depths[texel.y * width[0] + texel.x];
    }
";

/// Draws the values of one mip and layer into a depth texture.
fn draw_depth(gpu: &Gpu, texture: &wgpu::Texture, mip: u32, layer: u32, texels: &[u8]) -> Result<(), Halt> {
    let format = texture.format();
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("depth upload"),
        source: wgpu::ShaderSource::Wgsl(DEPTH_SHADER.into()),
    });
    let pipeline = gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("depth upload"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: Default::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Always),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            targets: &[],
        }),
        multiview_mask: None,
        cache: None,
    });
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
    let depths = new_buffer(gpu, "depths", texels.len() as u64, usage);
    write_buffer(gpu, &depths, texels);
    let width = new_buffer(gpu, "width", 4, usage);
    let extent = texture.size().mip_level_size(mip, texture.dimension());
    write_buffer(gpu, &width, &extent.width.to_le_bytes());
    let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: depths.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: width.as_entire_binding() },
        ],
    });
    let view = texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2),
        base_mip_level: mip,
        mip_level_count: Some(1),
        base_array_layer: layer,
        array_layer_count: Some(1),
        ..Default::default()
    });
    let mut encoder = gpu.encoder();
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: &view,
            depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Store }),
            stencil_ops: format
                .has_stencil_aspect()
                .then_some(wgpu::Operations { load: wgpu::LoadOp::Clear(0), store: wgpu::StoreOp::Store }),
        }),
        ..Default::default()
    });
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.draw(0..3, 0..1);
    drop(pass);
    gpu.submit(encoder)
}

/// Reads all texels, in the order in which [`write`] takes them.
///
/// # Errors
/// The device cannot read them.
pub fn read_all(gpu: &Gpu, texture: &wgpu::Texture) -> Result<Vec<u8>, Halt> {
    let layers = if texture.dimension() == wgpu::TextureDimension::D3 { 1 } else { texture.depth_or_array_layers() };
    let mut texels = Vec::new();
    for layer in 0..layers {
        for mip in 0..texture.mip_level_count() {
            texels.append(&mut read(gpu, texture, mip, layer)?);
        }
    }
    Ok(texels)
}

/// Reads the texels of one mip and layer, of a 3D texture all slices. Several samples are averaged first.
///
/// # Errors
/// There is no such mip or layer, or the device cannot read it.
pub fn read(gpu: &Gpu, texture: &wgpu::Texture, mip: u32, layer: u32) -> Result<Vec<u8>, Halt> {
    if mip >= texture.mip_level_count() {
        return Err(Halt::Failed(format!("it has no mip {mip}")));
    }
    let flat = texture.dimension() != wgpu::TextureDimension::D3;
    if layer >= if flat { texture.depth_or_array_layers() } else { 1 } {
        return Err(Halt::Failed(format!("it has no layer {layer}")));
    }
    if texture.sample_count() > 1 {
        return read(gpu, &resolve(gpu, texture, layer)?, 0, 0);
    }
    let layout = MipLayout::new(texture, mip)?;
    let padded_row = layout.bytes_per_row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let rows = layout.rows * layout.size.depth_or_array_layers;
    let size = u64::from(padded_row) * u64::from(rows);
    let buffer = new_buffer(gpu, "texels", size, BufferUsages::COPY_SRC | BufferUsages::COPY_DST);
    let mut encoder = gpu.encoder();
    encoder.copy_texture_to_buffer(
        wgpu::TexelCopyTextureInfo {
            texture,
            mip_level: mip,
            origin: wgpu::Origin3d { x: 0, y: 0, z: layer },
            aspect: formats::main_aspect(texture.format()),
        },
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(padded_row),
                rows_per_image: Some(layout.rows),
            },
        },
        layout.size,
    );
    gpu.submit(encoder)?;
    let padded = gpu.read_buffer(&buffer, size)?;
    let rows = padded.chunks_exact(padded_row as usize);
    Ok(rows.flat_map(|row| &row[..layout.bytes_per_row as usize]).copied().collect())
}

/// The average of a texture's samples.
fn resolve(gpu: &Gpu, texture: &wgpu::Texture, layer: u32) -> Result<wgpu::Texture, Halt> {
    if texture.format().has_depth_aspect() {
        return Err(Halt::Skipped("reading a multisampled depth texture".into()));
    }
    let size = Extent3d { depth_or_array_layers: 1, ..texture.size() };
    let target = new_texture(gpu, "resolved", texture.format(), texture.dimension(), size, 1, 1);
    let view = texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2),
        base_array_layer: layer,
        array_layer_count: Some(1),
        ..Default::default()
    });
    let mut encoder = gpu.encoder();
    drop(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &view,
            depth_slice: None,
            resolve_target: Some(&target.create_view(&Default::default())),
            ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
        })],
        ..Default::default()
    }));
    gpu.submit(encoder)?;
    Ok(target)
}
