//! The stage interface: arguments and results of entry points, and the operations on them.

use std::collections::BTreeMap;

use naga::{
    Binding, BuiltIn, ConservativeDepth, EarlyDepthTest, Expression, FunctionArgument, GlobalVariable, Handle, Scalar,
    ScalarKind, ShaderStage, Type, valid::Capabilities,
};

use super::{Emission, FunctionEmitter, ModuleEmitter, expression::Expr, input::InputRegister, output::Outputs};
use crate::{
    Error, Result,
    ir::{self, ElementId},
    reflection::{ComponentType, DepthOutput, EntryPointInterface, Stage},
};

/// What a function knows of its stage interface.
#[derive(Debug, Default)]
pub(super) struct IoState {
    /// Built-in arguments that exist already.
    pub builtins: Vec<(BuiltIn, Expr)>,
    /// Input registers, by number.
    pub registers: BTreeMap<u32, InputRegister>,
    /// Arrays of the rows of inputs whose rows are chosen at run time.
    pub rows: BTreeMap<ElementId, Expr>,
    /// Where outputs are kept until the end.
    pub outputs: Outputs,
    /// An amplification shader's result, `vec3<u32>`.
    pub mesh_groups: Option<Expr>,
}

/// A built-in input that functions want which are no entry points.
#[derive(Clone, Debug)]
pub(super) struct HelperBuiltin {
    builtin: BuiltIn,
    /// The private variable that holds it.
    global: Handle<GlobalVariable>,
    /// The functions.
    users: Vec<ir::FunctionId>,
}

/// What an entry point declares besides its function.
#[derive(Debug)]
pub(super) struct EntryRecord {
    /// Its stage.
    pub stage: ShaderStage,
    /// Threads of a group; zeros in other stages.
    pub workgroup_size: [u32; 3],
    /// When a pixel shader's depth test is made.
    pub early_depth_test: Option<EarlyDepthTest>,
}

impl ModuleEmitter<'_> {
    /// What an entry point declares; `None` for a stage that naga lacks: its program becomes a plain function.
    /// `flattened`: the thread group is to be declared as (x*y*z, 1, 1), see [`FunctionEmitter::flattened`].
    ///
    /// # Errors
    /// Names what the target cannot express.
    pub fn entry_record(
        &mut self,
        function: ir::FunctionId,
        interface: &EntryPointInterface,
        flattened: bool,
    ) -> Result<Option<EntryRecord>> {
        let stage = match interface.stage {
            _ if let Some(stage) = self.ray_stages.get(function) => stage.stage,
            Stage::Vertex => ShaderStage::Vertex,
            Stage::Pixel => ShaderStage::Fragment,
            Stage::Compute | Stage::Node => ShaderStage::Compute,
            Stage::Mesh => ShaderStage::Mesh,
            Stage::Amplification => ShaderStage::Task,
            _ => return Ok(None),
        };
        let mut workgroup_size = [0; 3];
        if stage.compute_like() {
            workgroup_size = interface.facts.group_size();
            if flattened {
                workgroup_size = [workgroup_size.iter().fold(1, |size, &side| size.saturating_mul(side)), 1, 1];
            }
        }
        let early_depth_test = self.early_depth_test(interface);
        Ok(Some(EntryRecord { stage, workgroup_size, early_depth_test }))
    }

    /// The variable of a built-in input, for a function that is no entry point.
    fn helper_builtin(
        &mut self,
        user: ir::FunctionId,
        builtin: BuiltIn,
        name: &str,
        ty: Handle<Type>,
    ) -> Handle<GlobalVariable> {
        let known = self.helper_builtins.iter_mut().find(|known| known.builtin == builtin);
        if let Some(known) = known {
            if !known.users.contains(&user) {
                known.users.push(user);
            }
            return known.global;
        }
        let global = self.private(format!("{name}_of_thread"), ty);
        self.helper_builtins.push(HelperBuiltin { builtin, global, users: vec![user] });
        global
    }

    /// When a pixel shader's depth test is made.
    fn early_depth_test(&mut self, interface: &EntryPointInterface) -> Option<EarlyDepthTest> {
        if interface.stage != Stage::Pixel {
            return None;
        }
        let capable = self.target.capabilities.contains(Capabilities::EARLY_DEPTH_TEST);
        if interface.facts.early_depth_stencil {
            if capable {
                return Some(EarlyDepthTest::Force);
            }
            self.note("earlydepthstencil: the target cannot force the depth test before the shader");
        }
        // A hint, not a value: without the capability nothing is lost.
        let conservative = match interface.facts.depth_output? {
            DepthOutput::Any => return None,
            DepthOutput::GreaterEqual => ConservativeDepth::GreaterEqual,
            DepthOutput::LessEqual => ConservativeDepth::LessEqual,
        };
        (capable && self.target.depth_attachment).then_some(EarlyDepthTest::Allow { conservative })
    }
}

impl FunctionEmitter<'_, '_> {
    /// Begins an entry point: its arguments, its result, and locals for its outputs.
    ///
    /// # Errors
    /// Names what the target cannot express.
    pub fn begin_entry(&mut self, stage: Stage, interface: &EntryPointInterface) -> Result<()> {
        match stage {
            Stage::Vertex | Stage::Pixel | Stage::Compute => {}
            Stage::Mesh => return self.begin_mesh(interface),
            Stage::Amplification => return self.begin_amplification(interface),
            Stage::RayGeneration | Stage::Miss | Stage::AnyHit | Stage::ClosestHit => return self.begin_ray_stage(),
            _ => return Err(Error::unsupported(format!("stage: {stage:?}"))),
        }
        self.begin_inputs(interface)?;
        self.begin_outputs(interface)
    }

    /// The entry point's result, composed from its outputs where it returns; `None` if it has none.
    ///
    /// # Errors
    /// Names what the target cannot express.
    pub fn finish_entry(&mut self) -> Result<Option<Expr>> {
        match self.stage {
            Stage::Amplification => self.finish_amplification().map(Some),
            _ => self.finish_outputs(),
        }
    }

    /// An operation on the stage interface; `ty` is its result's type.
    ///
    /// # Errors
    /// Names what has no lowering.
    pub fn io_op(&mut self, op: &ir::Op, ty: ir::Type) -> Result<Option<Emission>> {
        let known = [Stage::Vertex, Stage::Pixel, Stage::Compute, Stage::Mesh, Stage::Amplification];
        if !known.contains(&self.stage) {
            return self.state_op(op, ty);
        }
        let interface = self
            .entry
            .ok_or_else(|| Error::unsupported("stage interface in a function that is not the entry point"))?;
        match *op {
            ir::Op::LoadInput { signature: ir::SignatureKind::Input, element, row, component, vertex: None } => {
                self.load_input(interface, element, row, component, ty).map(Some)
            }
            ir::Op::EvaluateInput { element, row, component, at } => {
                self.evaluate_input(interface, element, row, component, at, ty).map(Some)
            }
            ir::Op::LoadInputAtVertex { element, row, component, vertex } => {
                self.load_input_at_vertex(interface, element, row, component, vertex, ty).map(Some)
            }
            ir::Op::StoreOutput {
                signature: ir::SignatureKind::Output,
                element,
                row,
                component,
                vertex: None,
                value,
            } => {
                self.store_output(interface, element, row, component, value)?;
                Ok(None)
            }
            ir::Op::StoreOutput { signature, element, row, component, vertex: Some(vertex), value }
                if self.stage == Stage::Mesh =>
            {
                self.store_mesh_output(interface, signature, element, row, component, vertex, value)?;
                Ok(None)
            }
            ir::Op::SystemValue(system_value) => self.system_value(interface, system_value, ty).map(Some),
            ir::Op::LoadInput { .. } | ir::Op::StoreOutput { .. } => {
                Err(Error::unsupported(format!("signature access in stage: {:?}", interface.stage)))
            }
            _ => Err(Error::internal(format!("no operation on the stage interface: {op:?}"))),
        }
    }

    /// A built-in input of the entry point; its argument is added at the first use. The expression has naga's type of
    /// the built-in, unsigned where it is an integer. In a function that an entry point calls, a private variable, which
    /// the entry point fills when it begins.
    ///
    /// # Errors
    /// The target lacks the built-in.
    pub fn builtin(&mut self, builtin: BuiltIn) -> Result<Expr> {
        if let Some(&(_, expr)) = self.io.builtins.iter().find(|(other, _)| *other == builtin) {
            return Ok(expr);
        }
        let none = Capabilities::empty();
        let (name, scalar, lanes, capability) = match builtin {
            BuiltIn::Position { .. } => ("position", Scalar::F32, 4, none),
            BuiltIn::FrontFacing => ("front_facing", Scalar::BOOL, 1, none),
            BuiltIn::VertexIndex => ("vertex_index", Scalar::U32, 1, none),
            BuiltIn::InstanceIndex => ("instance_index", Scalar::U32, 1, none),
            BuiltIn::SampleMask => ("sample_mask", Scalar::U32, 1, none),
            BuiltIn::SampleIndex => ("sample_index", Scalar::U32, 1, Capabilities::MULTISAMPLED_SHADING),
            BuiltIn::PrimitiveIndex => ("primitive_index", Scalar::U32, 1, Capabilities::PRIMITIVE_INDEX),
            BuiltIn::ViewIndex => ("view_index", Scalar::U32, 1, Capabilities::MULTIVIEW),
            BuiltIn::Barycentric { .. } => ("barycentrics", Scalar::F32, 3, Capabilities::SHADER_BARYCENTRICS),
            BuiltIn::GlobalInvocationId => ("dispatch_thread_id", Scalar::U32, 3, none),
            BuiltIn::LocalInvocationId => ("group_thread_id", Scalar::U32, 3, none),
            BuiltIn::LocalInvocationIndex => ("group_index", Scalar::U32, 1, none),
            BuiltIn::WorkGroupId => ("group_id", Scalar::U32, 3, none),
            BuiltIn::NumWorkGroups => ("group_count", Scalar::U32, 3, none),
            BuiltIn::NumSubgroups => ("wave_count", Scalar::U32, 1, Capabilities::SUBGROUP),
            BuiltIn::SubgroupId => ("wave", Scalar::U32, 1, Capabilities::SUBGROUP),
            BuiltIn::SubgroupSize => ("lane_count", Scalar::U32, 1, Capabilities::SUBGROUP),
            BuiltIn::SubgroupInvocationId => ("lane", Scalar::U32, 1, Capabilities::SUBGROUP),
            _ => return Err(Error::unsupported(format!("built-in input: {builtin:?}"))),
        };
        if !self.module.target.capabilities.contains(capability) {
            return Err(Error::unsupported(format!("built-in input that the target lacks: {builtin:?}")));
        }
        let ty = self.module.numeric(scalar, lanes);
        if self.entry.is_none() {
            let global = self.module.helper_builtin(self.id, builtin, name, ty);
            let pointer = self.pre(Expression::GlobalVariable(global));
            return Ok(self.load(pointer));
        }
        let expr = self.argument(Some(name.into()), ty, Binding::BuiltIn(builtin));
        self.io.builtins.push((builtin, expr));
        Ok(expr)
    }

    /// Fills the variables by which functions that the entry point calls know its built-in inputs.
    ///
    /// # Errors
    /// The target lacks a built-in.
    pub fn share_builtins(&mut self, callees: &[ir::FunctionId]) -> Result<()> {
        for index in 0..self.module.helper_builtins.len() {
            let HelperBuiltin { builtin, global, ref users } = self.module.helper_builtins[index];
            if users.iter().any(|user| callees.contains(user)) {
                let value = self.builtin(builtin)?;
                let pointer = self.pre(Expression::GlobalVariable(global));
                self.store(pointer, value);
            }
        }
        Ok(())
    }

    /// Adds an argument to the entry point.
    pub fn argument(&mut self, name: Option<String>, ty: naga::Handle<naga::Type>, binding: Binding) -> Expr {
        let index = self.function.arguments.len() as u32;
        self.function.arguments.push(FunctionArgument { name, ty, binding: Some(binding) });
        self.pre(Expression::FunctionArgument(index))
    }
}

/// Kind of an element's components in naga.
pub(super) fn kind_of(component: ComponentType) -> ScalarKind {
    match component {
        ComponentType::Bool | ComponentType::U16 | ComponentType::U32 | ComponentType::Packed8x32 => ScalarKind::Uint,
        ComponentType::I16 | ComponentType::I32 => ScalarKind::Sint,
        _ => ScalarKind::Float,
    }
}

/// A 32-bit scalar of a kind.
pub(super) fn scalar32(kind: ScalarKind) -> Scalar {
    Scalar { kind, width: 4 }
}
