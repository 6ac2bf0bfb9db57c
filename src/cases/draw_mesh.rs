//! Draws with mesh shaders.

use super::{
    attachments::culling,
    bind::Hazards,
    device::Halt,
    format::{DrawMesh, Shader, ShaderStage},
    pipeline::Context,
};
use crate::lift::link;

impl Context<'_> {
    /// Draws with a mesh shader, and an amplification shader before it if there is one.
    ///
    /// # Errors
    /// Says why it cannot be drawn.
    pub fn draw_mesh(&self, shaders: &[Shader], draw: &DrawMesh) -> Result<(), Halt> {
        if !self.gpu.features().contains(wgpu::Features::EXPERIMENTAL_MESH_SHADER) {
            return Err(Halt::Skipped("the device lacks EXPERIMENTAL_MESH_SHADER".into()));
        }
        let find = |stage| shaders.iter().find(|shader| shader.stage == stage);
        for shader in shaders {
            if !matches!(shader.stage, ShaderStage::Amplification | ShaderStage::Mesh | ShaderStage::Pixel) {
                return Err(Halt::Failed(format!("a draw with mesh shaders has no {:?} shader", shader.stage)));
            }
        }
        let mesh_shader = find(ShaderStage::Mesh).ok_or("a draw with mesh shaders needs one")?;
        let mesh = self.lift(mesh_shader)?;
        let lifted = |stage| find(stage).map(|shader| Ok::<_, Halt>((shader, self.lift(shader)?))).transpose();
        let amplification = lifted(ShaderStage::Amplification)?;
        let pixel = lifted(ShaderStage::Pixel)?;

        let mut hazards = Hazards::default();
        hazards.targets.extend(draw.targets.iter().chain(&draw.depth).map(String::as_str));
        hazards.add(&self.case.bindings, &mesh.interface);
        for (_, program) in amplification.iter().chain(&pixel) {
            hazards.add(&self.case.bindings, &program.interface);
        }

        let mut mesh_target = self.target(&mesh, mesh_shader, 0, &hazards)?;
        let mut group = 1;
        let pixel = match pixel {
            Some((shader, program)) => {
                let linked = link(&mesh, &program).map_err(|error| format!("linking: {error}"))?;
                mesh_target.pixel_inputs = Some(linked.clone());
                let depth = draw.depth.as_deref();
                let mut target = self.pixel_target(&program, shader, group, &hazards, &draw.targets, depth)?;
                target.pixel_inputs = Some(linked);
                group += 1;
                Some(self.emit(program, shader, &target)?)
            }
            None => None,
        };
        let amplification = match amplification {
            Some((shader, program)) => {
                let target = self.target(&program, shader, group, &hazards)?;
                Some(self.emit(program, shader, &target)?)
            }
            None => None,
        };
        let mesh = self.emit(mesh, mesh_shader, &mesh_target)?;

        let attachments = self.attachments(&draw.targets, draw.depth.as_deref(), draw.viewport)?;
        let stages = std::iter::once(&mesh).chain(&pixel).chain(&amplification);
        let groups = stages.map(|stage| self.bind(stage, &hazards)).collect::<Result<Vec<_>, _>>()?;
        let color_targets = attachments.color_targets();
        let mesh_module = self.shader_module(&mesh.emitted);
        let pixel_module = pixel.as_ref().map(|pixel| self.shader_module(&pixel.emitted));
        let amplification_module = amplification.as_ref().map(|stage| self.shader_module(&stage.emitted));
        let pipeline = self.gpu.device.create_mesh_pipeline(&wgpu::MeshPipelineDescriptor {
            label: None,
            layout: Some(&self.pipeline_layout(&groups.iter().collect::<Vec<_>>())),
            task: amplification_module.as_ref().map(|module| wgpu::TaskState {
                module,
                entry_point: None,
                compilation_options: Default::default(),
            }),
            mesh: wgpu::MeshState { module: &mesh_module, entry_point: None, compilation_options: Default::default() },
            primitive: culling(draw.front, draw.cull),
            depth_stencil: attachments.depth_stencil(draw.depth_write, draw.depth_compare),
            multisample: wgpu::MultisampleState { count: attachments.samples, ..Default::default() },
            fragment: pixel_module.as_ref().map(|module| wgpu::FragmentState {
                module,
                entry_point: None,
                compilation_options: Default::default(),
                targets: &color_targets,
            }),
            multiview: None,
            cache: None,
        });

        let mut encoder = self.gpu.encoder();
        let mut pass = attachments.pass(&mut encoder, &draw.clear, draw.depth_clear, draw.viewport);
        pass.set_pipeline(&pipeline);
        for bound in groups.iter().flat_map(|stage| &stage.groups) {
            pass.set_bind_group(bound.number, &bound.group, &[]);
        }
        pass.draw_mesh_tasks(draw.x, draw.y, draw.z);
        drop(pass);
        self.gpu.submit(encoder)?;
        groups.iter().try_for_each(|bound| bound.write_back(self.gpu))
    }
}
