//! Texels of multisampled textures, sample by sample: wgpu copies none of them, so they are drawn.

use wgpu::{Extent3d, TextureFormat, TextureSampleType, TextureUsages};

use super::{
    device::{Gpu, Halt},
    resources::new_texture,
    texels,
};

/// Fills a texture of several samples: of each layer all texels of the first sample, then those of the next.
///
/// # Errors
/// The bytes are not as many as the texture's, or the device cannot draw to its format.
pub fn write(gpu: &Gpu, texture: &wgpu::Texture, bytes: &[u8]) -> Result<(), Halt> {
    let (layers, samples) = (texture.depth_or_array_layers(), texture.sample_count());
    let planes = layers as usize * samples as usize;
    if !bytes.len().is_multiple_of(planes) || bytes.is_empty() {
        return Err(Halt::Failed(format!(
            "its data are {} bytes, for {layers} layers of {samples} samples",
            bytes.len()
        )));
    }
    let plane = plane_texture(gpu, texture);
    for (index, texels) in (0..).zip(bytes.chunks_exact(bytes.len() / planes)) {
        texels::write(gpu, &plane, texels)?;
        copy(gpu, &plane, texture, Place { layer: index / samples, sample: index % samples })?;
    }
    Ok(())
}

/// Reads all texels of one sample of a layer.
///
/// # Errors
/// There is no such sample, or the device cannot draw to its format.
pub fn read(gpu: &Gpu, texture: &wgpu::Texture, layer: u32, sample: u32) -> Result<Vec<u8>, Halt> {
    if sample >= texture.sample_count() {
        return Err(Halt::Failed(format!("it has no sample {sample}")));
    }
    let plane = plane_texture(gpu, texture);
    copy(gpu, texture, &plane, Place { layer, sample })?;
    texels::read(gpu, &plane, 0, 0)
}

/// A texture for one sample of one layer.
fn plane_texture(gpu: &Gpu, texture: &wgpu::Texture) -> wgpu::Texture {
    let size = Extent3d { depth_or_array_layers: 1, ..texture.size() };
    new_texture(gpu, "one sample", texture.format(), texture.dimension(), size, 1, 1)
}

/// Where texels lie in a multisampled texture.
#[derive(Clone, Copy)]
struct Place {
    layer: u32,
    sample: u32,
}

/// Draws the texels of one texture into another, of which one has several samples.
fn copy(gpu: &Gpu, source: &wgpu::Texture, target: &wgpu::Texture, place: Place) -> Result<(), Halt> {
    let format = source.format();
    if !target.usage().contains(TextureUsages::RENDER_ATTACHMENT)
        || !source.usage().contains(TextureUsages::TEXTURE_BINDING)
    {
        return Err(Halt::Skipped(format!("data of multisampled textures of {format:?}")));
    }
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("copy of samples"),
        source: wgpu::ShaderSource::Wgsl(shader(format, source.sample_count() > 1, place.sample)?.into()),
    });
    let depth = format.has_depth_aspect();
    let color_targets = [Some(wgpu::ColorTargetState { format, blend: None, write_mask: wgpu::ColorWrites::ALL })];
    let pipeline = gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("copy of samples"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: Default::default(),
        depth_stencil: depth.then(|| wgpu::DepthStencilState {
            format,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Always),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState {
            count: target.sample_count(),
            mask: if target.sample_count() > 1 { 1 << place.sample } else { !0 },
            ..Default::default()
        },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            targets: if depth { &[] } else { &color_targets },
        }),
        multiview_mask: None,
        cache: None,
    });
    let view = |texture: &wgpu::Texture| {
        let layer = if texture.sample_count() > 1 { place.layer } else { 0 };
        texture.create_view(&wgpu::TextureViewDescriptor {
            dimension: Some(wgpu::TextureViewDimension::D2),
            base_array_layer: layer,
            array_layer_count: Some(1),
            ..Default::default()
        })
    };
    let (from, to) = (view(source), view(target));
    let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&from) }],
    });
    // Other samples stay as they are.
    let colors = [Some(wgpu::RenderPassColorAttachment {
        view: &to,
        depth_slice: None,
        resolve_target: None,
        ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
    })];
    let mut encoder = gpu.encoder();
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: if depth { &[] } else { &colors },
        depth_stencil_attachment: depth.then(|| wgpu::RenderPassDepthStencilAttachment {
            view: &to,
            depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store }),
            stencil_ops: format
                .has_stencil_aspect()
                .then_some(wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store }),
        }),
        ..Default::default()
    });
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.draw(0..3, 0..1);
    drop(pass);
    gpu.submit(encoder)
}

/// Gives each pixel the texel in its place, of one sample if there are several.
fn shader(format: TextureFormat, several: bool, sample: u32) -> Result<String, Halt> {
    let (several, index) = if several { ("multisampled_", sample) } else { ("", 0) };
    let kind = match format.sample_type(None, None) {
        Some(TextureSampleType::Float { .. }) => "f32",
        Some(TextureSampleType::Sint) => "i32",
        Some(TextureSampleType::Uint) => "u32",
        Some(TextureSampleType::Depth) => "",
        None => return Err(Halt::Skipped(format!("data of multisampled textures of {format:?}"))),
    };
    let (texture, result) = match kind {
        "" => (format!("texture_depth_{several}2d"), "@builtin(frag_depth) f32".into()),
        _ => (format!("texture_{several}2d<{kind}>"), format!("@location(0) vec4<{kind}>")),
    };
    Ok(format!(
        "@group(0) @binding(0) var source: {texture};

        @vertex fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {{
            return vec4(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
        }}

        @fragment fn texel(@builtin(position) position: vec4<f32>) -> {result} {{
            return textureLoad(source, vec2<i32>(position.xy), {index});
        }}"
    ))
}
