//! What draws draw to, with the state of a pipeline that belongs to it.

use wgpu::TextureUsages;

use super::{
    bind::compare_function,
    device::Halt,
    format::{Compare, Face, Viewport, Winding},
    pipeline::Context,
    resources::new_texture,
};

impl Context<'_> {
    /// What a draw draws to: colour targets, where `""` is a hole, a depth texture, and the viewport that tells the size
    /// where there are none.
    ///
    /// # Errors
    /// There is no such texture, or it cannot be drawn to.
    pub fn attachments(
        &self,
        targets: &[String],
        depth: Option<&str>,
        viewport: Option<Viewport>,
    ) -> Result<Attachments, Halt> {
        let mut attachments = Attachments { colors: vec![], depth: None, samples: 1, placeholder: false };
        for name in targets {
            attachments.colors.push(match name.as_str() {
                "" => None,
                name => {
                    let texture = &self.resources.texture(name)?.texture;
                    attachments.samples = texture.sample_count();
                    let slice = (texture.dimension() == wgpu::TextureDimension::D3).then_some(0);
                    Some(Attachment::new(texture, slice))
                }
            });
        }
        if let Some(name) = depth {
            let texture = &self.resources.texture(name)?.texture;
            if !texture.format().is_depth_stencil_format() {
                return Err(Halt::Failed(format!("{:?} of texture {name} is no depth format", texture.format())));
            }
            attachments.samples = texture.sample_count();
            attachments.depth = Some(Attachment::new(texture, None));
        }
        if attachments.colors.iter().all(Option::is_none) && attachments.depth.is_none() {
            // wgpu takes the size of a pass from its attachments; Direct3D draws without any.
            let viewport = viewport.ok_or("a draw without targets needs a viewport")?;
            let largest = self.gpu.limits().max_texture_dimension_2d as f32;
            let texels = |end: f32| end.ceil().clamp(1.0, largest) as u32;
            let size = wgpu::Extent3d {
                width: texels(viewport.x + viewport.width),
                height: texels(viewport.y + viewport.height),
                depth_or_array_layers: 1,
            };
            let format = wgpu::TextureFormat::R8Unorm;
            let texture = new_texture(self.gpu, "no target", format, wgpu::TextureDimension::D2, size, 1, 1);
            attachments.colors = vec![Some(Attachment::new(&texture, None))];
            attachments.placeholder = true;
        }
        Ok(attachments)
    }
}

/// What a draw draws to.
pub struct Attachments {
    colors: Vec<Option<Attachment>>,
    depth: Option<Attachment>,
    /// Samples of each.
    pub samples: u32,
    /// The one colour stands for none.
    placeholder: bool,
}

impl Attachments {
    /// Colour targets of a pipeline.
    pub fn color_targets(&self) -> Vec<Option<wgpu::ColorTargetState>> {
        let state = |color: &Attachment| wgpu::ColorTargetState {
            format: color.format,
            blend: None,
            write_mask: if self.placeholder { wgpu::ColorWrites::empty() } else { wgpu::ColorWrites::ALL },
        };
        self.colors.iter().map(|color| color.as_ref().map(state)).collect()
    }

    /// Depth test of a pipeline.
    pub fn depth_stencil(&self, write: bool, compare: Compare) -> Option<wgpu::DepthStencilState> {
        self.depth.as_ref().map(|depth| wgpu::DepthStencilState {
            format: depth.format,
            depth_write_enabled: Some(write),
            depth_compare: Some(compare_function(compare)),
            stencil: Default::default(),
            bias: Default::default(),
        })
    }

    /// A pass that clears them.
    pub fn pass<'e>(
        &self,
        encoder: &'e mut wgpu::CommandEncoder,
        clear: &[(f64, f64, f64, f64)],
        depth_clear: f32,
        viewport: Option<Viewport>,
    ) -> wgpu::RenderPass<'e> {
        let colors = self.colors.iter().enumerate().map(|(slot, color)| {
            color.as_ref().map(|color| {
                let (r, g, b, a) = clear.get(slot).copied().unwrap_or_default();
                wgpu::RenderPassColorAttachment {
                    view: &color.view,
                    depth_slice: color.slice,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a }),
                        store: wgpu::StoreOp::Store,
                    },
                }
            })
        });
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &colors.collect::<Vec<_>>(),
            depth_stencil_attachment: self.depth.as_ref().map(|depth| wgpu::RenderPassDepthStencilAttachment {
                view: &depth.view,
                depth_ops: depth.format.has_depth_aspect().then_some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(depth_clear),
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: depth
                    .format
                    .has_stencil_aspect()
                    .then_some(wgpu::Operations { load: wgpu::LoadOp::Clear(0), store: wgpu::StoreOp::Store }),
            }),
            ..Default::default()
        });
        if let Some(viewport) = viewport {
            pass.set_viewport(
                viewport.x,
                viewport.y,
                viewport.width,
                viewport.height,
                viewport.min_depth,
                viewport.max_depth,
            );
        }
        pass
    }
}

/// Culling of a pipeline.
pub fn culling(front: Winding, cull: Option<Face>) -> wgpu::PrimitiveState {
    wgpu::PrimitiveState {
        front_face: match front {
            Winding::Clockwise => wgpu::FrontFace::Cw,
            Winding::CounterClockwise => wgpu::FrontFace::Ccw,
        },
        cull_mode: cull.map(|face| match face {
            Face::Front => wgpu::Face::Front,
            Face::Back => wgpu::Face::Back,
        }),
        ..Default::default()
    }
}

struct Attachment {
    view: wgpu::TextureView,
    format: wgpu::TextureFormat,
    slice: Option<u32>,
}

impl Attachment {
    fn new(texture: &wgpu::Texture, slice: Option<u32>) -> Self {
        let view = texture.create_view(&wgpu::TextureViewDescriptor {
            dimension: Some(match slice {
                Some(_) => wgpu::TextureViewDimension::D3,
                None => wgpu::TextureViewDimension::D2,
            }),
            usage: Some(TextureUsages::RENDER_ATTACHMENT),
            mip_level_count: Some(1),
            array_layer_count: Some(1),
            ..Default::default()
        });
        Self { view, format: texture.format(), slice }
    }
}
