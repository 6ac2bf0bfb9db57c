//! Dispatches.

use super::{
    bind::{Hazards, StageModule},
    device::Halt,
    format::{Shader, ShaderStage},
    pipeline::Context,
};

impl Context<'_> {
    /// Runs a compute shader on so many thread groups, or a shader of a stage that is run as one.
    ///
    /// # Errors
    /// Says why it cannot run.
    pub fn dispatch(&self, shaders: &[Shader], groups: [u32; 3]) -> Result<(), Halt> {
        use ShaderStage::{Compute, Domain, Geometry, Hull, Library};
        let [shader @ Shader { stage: Compute | Library | Hull | Domain | Geometry, .. }] = shaders else {
            return Err("a dispatch takes one compute, hull, domain or geometry shader".into());
        };
        let program = self.lift(shader)?;
        let mut hazards = Hazards::default();
        hazards.add(&self.case.bindings, &program.interface);
        let target = self.target(&program, shader, 0, &hazards)?;
        self.dispatch_module(&self.emit(program, shader, &target)?, groups, &hazards)
    }

    /// Runs an emitted compute shader.
    ///
    /// # Errors
    /// As for [`Self::dispatch`].
    pub fn dispatch_module(&self, module: &StageModule, groups: [u32; 3], hazards: &Hazards<'_>) -> Result<(), Halt> {
        let bound = self.bind(module, hazards)?;
        let pipeline = self.gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&self.pipeline_layout(&[&bound])),
            module: &self.shader_module(&module.emitted),
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let mut encoder = self.gpu.encoder();
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        for bound in &bound.groups {
            pass.set_bind_group(bound.number, &bound.group, &[]);
        }
        let [x, y, z] = groups;
        pass.dispatch_workgroups(x, y, z);
        drop(pass);
        self.gpu.submit(encoder)?;
        bound.write_back(self.gpu)
    }
}
