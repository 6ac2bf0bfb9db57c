//! What dispatches and draws share: shader modules, and stages bound to their groups.

use std::cell::Cell;

use super::{
    bind::{Binder, BoundStage, Hazards, StageModule, specialize},
    device::{Gpu, Halt},
    format::{self, Case, ShaderStage},
    formats,
    resources::Resources,
};
use crate::{
    lift::{BindingModel, Emitted, LiftOptions, Program, Target, lift},
    reflection::Stage,
};

/// The first group of arrays of resources: one for each stage, after the stages' own groups, of which a draw has three at most.
const ARRAYS: u32 = 3;

/// Where a step runs, and on what.
pub struct Context<'a> {
    /// The device.
    pub gpu: &'a Gpu,
    /// The case.
    pub case: &'a Case,
    /// Its resources.
    pub resources: &'a Resources<'a>,
    /// The folder that file names start from.
    pub folder: &'a std::path::Path,
    /// What shaders may use, at most what the device has.
    pub capabilities: naga::valid::Capabilities,
    /// A shader uses number types of [`OPTIONAL_TYPES`].
    pub optional_types: &'a Cell<bool>,
}

/// Capabilities of number types that the lift lowers where a device lacks them.
pub const OPTIONAL_TYPES: naga::valid::Capabilities = naga::valid::Capabilities::FLOAT64
    .union(naga::valid::Capabilities::SHADER_INT64)
    .union(naga::valid::Capabilities::SHADER_FLOAT16);

impl Context<'_> {
    /// Lifts a shader.
    ///
    /// # Errors
    /// Its file cannot be read, does not lift, or holds another stage.
    pub fn lift(&self, shader: &format::Shader) -> Result<Program, Halt> {
        let path = self.folder.join(&shader.file);
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let options = LiftOptions { entry: shader.entry.clone(), classes: shader.classes.clone() };
        let program = lift(&bytes, &options).map_err(|error| format!("{}: {error}", shader.file))?;
        if shader.stage != ShaderStage::Library && Some(program.stage()) != stage_of(shader.stage) {
            return Err(Halt::Failed(format!(
                "{}: its stage is {:?}, not {:?}",
                shader.file,
                program.stage(),
                shader.stage
            )));
        }
        Ok(program)
    }

    /// A target that tells a program of what is bound to it, in a group of its own.
    ///
    /// # Errors
    /// A binding names a resource that is not there.
    pub fn target(
        &self,
        program: &Program,
        shader: &format::Shader,
        group: u32,
        hazards: &Hazards<'_>,
    ) -> Result<Target, Halt> {
        let mut target = Target {
            binding_model: BindingModel::PerStage { group, arrays: ARRAYS + group },
            capabilities: self.capabilities,
            entry: shader.entry.clone(),
            ..Default::default()
        };
        specialize(self.gpu, &self.case.bindings, self.resources, hazards, &program.interface, &mut target)?;
        Ok(target)
    }

    /// The target of a pixel shader, which is also told of what it draws to.
    ///
    /// # Errors
    /// A binding or an attachment names a resource that is not there.
    pub fn pixel_target(
        &self,
        program: &Program,
        shader: &format::Shader,
        group: u32,
        hazards: &Hazards<'_>,
        targets: &[String],
        depth: Option<&str>,
    ) -> Result<Target, Halt> {
        let mut target = self.target(program, shader, group, hazards)?;
        for name in targets {
            target.render_targets.push(match name.as_str() {
                "" => None,
                name => Some(formats::target_kind(self.resources.texture(name)?.texture.format())),
            });
        }
        target.depth_attachment = depth.is_some();
        if let Some(name) = targets.iter().map(String::as_str).chain(depth).find(|name| !name.is_empty()) {
            target.samples = self.resources.texture(name)?.texture.sample_count();
        }
        Ok(target)
    }

    /// Emits a program.
    ///
    /// # Errors
    /// The target cannot express it.
    pub fn emit(&self, program: Program, shader: &format::Shader, target: &Target) -> Result<StageModule, Halt> {
        let optional = !program.missing_types(self.capabilities - OPTIONAL_TYPES).is_empty();
        self.optional_types.set(self.optional_types.get() | optional);
        let emitted = program.emit(target).map_err(|error| format!("{}: {error}", shader.file))?;
        Ok(StageModule { stage: program.stage(), interface: program.interface, emitted })
    }

    /// The bind group of a stage.
    ///
    /// # Errors
    /// A binding does not fit what the module declares.
    pub fn bind(&self, module: &StageModule, hazards: &Hazards<'_>) -> Result<BoundStage, Halt> {
        let binder = Binder { gpu: self.gpu, bindings: &self.case.bindings, resources: self.resources, hazards };
        binder.bind(module).map_err(|halt| halt.within(&format!("{:?} shader", module.stage)))
    }

    /// wgpu's shader module.
    pub fn shader_module(&self, emitted: &Emitted) -> wgpu::ShaderModule {
        self.gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(emitted.module.clone())),
        })
    }

    /// The layout of stages' groups.
    pub fn pipeline_layout(&self, stages: &[&BoundStage]) -> wgpu::PipelineLayout {
        let mut layouts = Vec::new();
        for bound in stages.iter().flat_map(|stage| &stage.groups) {
            let number = bound.number as usize;
            layouts.resize(layouts.len().max(number + 1), None);
            layouts[number] = Some(&bound.layout);
        }
        self.gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &layouts,
            immediate_size: 0,
        })
    }
}

/// The reflection's name of a stage; libraries have none of their own.
fn stage_of(stage: ShaderStage) -> Option<Stage> {
    Some(match stage {
        ShaderStage::Vertex => Stage::Vertex,
        ShaderStage::Hull => Stage::Hull,
        ShaderStage::Domain => Stage::Domain,
        ShaderStage::Geometry => Stage::Geometry,
        ShaderStage::Pixel => Stage::Pixel,
        ShaderStage::Compute => Stage::Compute,
        ShaderStage::Amplification => Stage::Amplification,
        ShaderStage::Mesh => Stage::Mesh,
        ShaderStage::Library => return None,
    })
}
