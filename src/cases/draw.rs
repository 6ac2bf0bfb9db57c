//! Draws with vertex and pixel shaders.

use std::collections::BTreeMap;

use wgpu::BufferUsages;

use super::{
    attachments::culling,
    bind::{Hazards, StageModule},
    device::Halt,
    format::{Draw, Shader, ShaderStage, Topology},
    formats,
    pipeline::Context,
    resources::{new_buffer, write_buffer},
    values::ElementType,
};
use crate::{
    lift::link,
    reflection::{Interface, SignatureElement},
};

/// The emitted stages of a draw.
pub struct DrawModules {
    /// The vertex shader.
    pub vertex: StageModule,
    /// The pixel shader, unless the draw writes depth alone.
    pub pixel: Option<StageModule>,
}

/// Vertex buffers of a draw: attributes that share a buffer, a stride and a step mode.
struct VertexBuffer<'a> {
    name: &'a str,
    stride: u64,
    per_instance: bool,
    attributes: Vec<wgpu::VertexAttribute>,
}

impl Context<'_> {
    /// Draws.
    ///
    /// # Errors
    /// Says why it cannot be drawn.
    pub fn draw(&self, shaders: &[Shader], draw: &Draw) -> Result<(), Halt> {
        let find = |stage| shaders.iter().find(|shader| shader.stage == stage);
        for shader in shaders {
            if !matches!(shader.stage, ShaderStage::Vertex | ShaderStage::Pixel) {
                return Err(Halt::Skipped(format!("draws with {:?} shaders", shader.stage)));
            }
        }
        let vertex_shader = find(ShaderStage::Vertex).ok_or("a draw needs a vertex shader")?;
        let vertex = self.lift(vertex_shader)?;
        let pixel = find(ShaderStage::Pixel).map(|shader| Ok::<_, Halt>((shader, self.lift(shader)?))).transpose()?;

        let mut hazards = Hazards::default();
        hazards.targets.extend(draw.targets.iter().chain(&draw.depth).map(String::as_str));
        hazards.add(&self.case.bindings, &vertex.interface);
        if let Some((_, pixel)) = &pixel {
            hazards.add(&self.case.bindings, &pixel.interface);
        }

        let mut vertex_target = self.target(&vertex, vertex_shader, 0, &hazards)?;
        let pixel = match pixel {
            Some((shader, program)) => {
                let linked = link(&vertex, &program).map_err(|error| format!("linking: {error}"))?;
                vertex_target.pixel_inputs = Some(linked);
                let target = self.pixel_target(&program, shader, 1, &hazards, &draw.targets, draw.depth.as_deref())?;
                Some(self.emit(program, shader, &target)?)
            }
            None => None,
        };
        let vertex = self.emit(vertex, vertex_shader, &vertex_target)?;
        self.draw_modules(&DrawModules { vertex, pixel }, draw, &hazards)
    }

    /// Draws with emitted shaders.
    ///
    /// # Errors
    /// As for [`Self::draw`].
    pub fn draw_modules(&self, modules: &DrawModules, draw: &Draw, hazards: &Hazards<'_>) -> Result<(), Halt> {
        let device = &self.gpu.device;
        let vertex_buffers = vertex_buffers(draw, &modules.vertex.interface)?;
        let layouts = vertex_buffers.iter().map(|buffer| wgpu::VertexBufferLayout {
            array_stride: buffer.stride,
            step_mode: if buffer.per_instance { wgpu::VertexStepMode::Instance } else { wgpu::VertexStepMode::Vertex },
            attributes: &buffer.attributes,
        });
        let layouts = layouts.collect::<Vec<_>>();
        let index_format = draw.indices.as_deref().map(|name| self.index_format(name)).transpose()?;

        let attachments = self.attachments(&draw.targets, draw.depth.as_deref(), draw.viewport)?;
        let vertex_bound = self.bind(&modules.vertex, hazards)?;
        let pixel_bound = modules.pixel.as_ref().map(|pixel| self.bind(pixel, hazards)).transpose()?;
        let groups = std::iter::once(&vertex_bound).chain(&pixel_bound).collect::<Vec<_>>();

        let color_targets = attachments.color_targets();
        let vertex_module = self.shader_module(&modules.vertex.emitted);
        let pixel_module = modules.pixel.as_ref().map(|pixel| self.shader_module(&pixel.emitted));
        let topology = topology(draw.topology)?;
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: Some(&self.pipeline_layout(&groups)),
            vertex: wgpu::VertexState {
                module: &vertex_module,
                entry_point: None,
                compilation_options: Default::default(),
                buffers: &layouts,
            },
            primitive: wgpu::PrimitiveState {
                topology,
                strip_index_format: index_format.filter(|_| topology.is_strip()),
                ..culling(draw.front, draw.cull)
            },
            depth_stencil: attachments.depth_stencil(draw.depth_write, draw.depth_compare),
            multisample: wgpu::MultisampleState { count: attachments.samples, ..Default::default() },
            fragment: pixel_module.as_ref().map(|module| wgpu::FragmentState {
                module,
                entry_point: None,
                compilation_options: Default::default(),
                targets: &color_targets,
            }),
            multiview_mask: None,
            cache: None,
        });

        // A buffer cannot be vertex or index data and writable at once.
        let readable = |name: &str| -> Result<wgpu::Buffer, Halt> {
            let resource = self.resources.buffer(name)?;
            if !hazards.unordered.contains(name) {
                return Ok(resource.buffer.clone());
            }
            let bytes = self.gpu.read_buffer(&resource.buffer, resource.size)?;
            let usage = BufferUsages::VERTEX | BufferUsages::INDEX | BufferUsages::COPY_DST;
            let copy = new_buffer(self.gpu, name, resource.size, usage);
            write_buffer(self.gpu, &copy, &bytes);
            Ok(copy)
        };
        let vertex_data = vertex_buffers.iter().map(|buffer| readable(buffer.name)).collect::<Result<Vec<_>, _>>()?;
        let index_data = draw.indices.as_deref().map(readable).transpose()?;

        let mut encoder = self.gpu.encoder();
        let mut pass = attachments.pass(&mut encoder, &draw.clear, draw.depth_clear, draw.viewport);
        pass.set_pipeline(&pipeline);
        for bound in groups.iter().flat_map(|stage| &stage.groups) {
            pass.set_bind_group(bound.number, &bound.group, &[]);
        }
        for (slot, buffer) in (0..).zip(&vertex_data) {
            pass.set_vertex_buffer(slot, buffer.slice(..));
        }
        let (first_vertex, first_instance) = draw.start;
        let instances = first_instance..first_instance.saturating_add(draw.instances);
        if let (Some(format), Some(buffer)) = (index_format, &index_data) {
            let base_vertex = i32::try_from(first_vertex).map_err(|_| format!("no base vertex: {first_vertex}"))?;
            pass.set_index_buffer(buffer.slice(..), format);
            pass.draw_indexed(0..draw.vertices, base_vertex, instances);
        } else {
            pass.draw(first_vertex..first_vertex.saturating_add(draw.vertices), instances);
        }
        drop(pass);
        self.gpu.submit(encoder)?;
        groups.iter().try_for_each(|bound| bound.write_back(self.gpu))
    }

    fn index_format(&self, name: &str) -> Result<wgpu::IndexFormat, String> {
        match self.resources.buffer(name)?.ty {
            ElementType::U16 => Ok(wgpu::IndexFormat::Uint16),
            ElementType::U32 => Ok(wgpu::IndexFormat::Uint32),
            ty => Err(format!("indices of type {ty:?}")),
        }
    }
}

/// Groups a draw's attributes by buffer. The location of an attribute is the register of its signature element.
fn vertex_buffers<'a>(draw: &'a Draw, interface: &Interface) -> Result<Vec<VertexBuffer<'a>>, Halt> {
    let inputs = interface.entry_points.first().map_or(&[][..], |entry| &entry.inputs);
    let mut buffers = BTreeMap::new();
    for input in &draw.inputs {
        let format = formats::vertex_format(&input.format)
            .ok_or_else(|| format!("there is no vertex format {}", input.format))?;
        let stride = input.stride.unwrap_or(format.size());
        let Some(location) = inputs.iter().find_map(|element| register_of(element, &input.semantic, input.index))
        else {
            continue;
        };
        let buffer = buffers.entry((input.buffer.as_str(), stride, input.per_instance)).or_insert(VertexBuffer {
            name: &input.buffer,
            stride,
            per_instance: input.per_instance,
            attributes: Vec::new(),
        });
        buffer.attributes.push(wgpu::VertexAttribute { format, offset: input.offset, shader_location: location });
    }
    Ok(buffers.into_values().collect())
}

/// The register of a semantic, if it is the element's.
fn register_of(element: &SignatureElement, semantic: &str, index: u32) -> Option<u32> {
    if !element.semantic.eq_ignore_ascii_case(semantic) {
        return None;
    }
    let row = element.semantic_indices.iter().position(|&row_index| row_index == index)?;
    element.register?.checked_add(row as u32)
}

fn topology(topology: Topology) -> Result<wgpu::PrimitiveTopology, Halt> {
    Ok(match topology {
        Topology::PointList => wgpu::PrimitiveTopology::PointList,
        Topology::LineList => wgpu::PrimitiveTopology::LineList,
        Topology::LineStrip => wgpu::PrimitiveTopology::LineStrip,
        Topology::TriangleList => wgpu::PrimitiveTopology::TriangleList,
        Topology::TriangleStrip => wgpu::PrimitiveTopology::TriangleStrip,
        other => return Err(Halt::Skipped(format!("topology {other:?}"))),
    })
}
