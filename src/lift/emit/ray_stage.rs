//! Ray tracing stages as naga's: ray generation, miss, closest-hit and any-hit shaders that need only what naga can say.
//!
//! naga 29 has these stages, the values that the pipeline hands them, and the payload that comes in. Its statement for
//! tracing rays has no hit group and no miss shader (<https://github.com/gfx-rs/wgpu/issues/8894>), there are no attributes of hits, no ray flags, and nothing that an
//! any-hit shader could decide by. An entry point that needs one of these stays a function, and a note says why. So do
//! intersection and callable shaders, which naga lacks.
//!
//! The body is the same either way: it finds the pipeline's values in private variables, see `dxil/op/ray.rs`. naga's
//! entry point fills them from its arguments, and its payload is in [`AddressSpace::IncomingRayPayload`], in the words that
//! all stages of a pipeline share.

use std::{collections::HashMap, num::NonZeroU32};

use naga::{
    AddressSpace, ArraySize, Binding, BuiltIn, Expression, GlobalVariable, Handle, MemoryDecorations, Scalar,
    ScalarKind, ShaderStage, Span, Type, TypeInner, VectorSize, valid::Capabilities,
};

use super::{FunctionEmitter, ModuleEmitter, module::Entry, wave::LaneUse};
use crate::{
    Result,
    ir::{self, FunctionId, Op, VariableId, VariableSpace},
    reflection::Stage,
};

/// The entry points that become naga's stages.
#[derive(Debug, Default)]
pub(super) struct RayStages {
    stages: HashMap<FunctionId, RayStage>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct RayStage {
    /// naga's stage.
    pub stage: ShaderStage,
    /// Variables that it fills, from what.
    values: Vec<(VariableId, &'static RayValue)>,
    /// The payload, if it uses it.
    payload: Option<VariableId>,
}

/// A value that the pipeline hands over.
#[derive(Debug)]
struct RayValue {
    /// Name of the program's variable.
    name: &'static str,
    builtin: BuiltIn,
    kind: ScalarKind,
    shape: RayShape,
    /// Who has it.
    stages: RayValueStages,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RayShape {
    Scalar,
    /// Of three components.
    Vector,
    /// Of three rows and four columns: the variable has it row by row, naga column by column.
    Matrix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RayValueStages {
    All,
    /// Those that a ray leads to: miss, closest-hit, any-hit.
    OfRays,
    /// Closest-hit and any-hit.
    OfHits,
}

/// What naga calls the values of the pipeline.
const VALUES: [RayValue; 15] = {
    use RayShape::{Matrix, Scalar, Vector};
    use RayValueStages::{All, OfHits, OfRays};
    use ScalarKind::{Float, Uint};
    const fn value(
        name: &'static str,
        builtin: BuiltIn,
        kind: ScalarKind,
        shape: RayShape,
        stages: RayValueStages,
    ) -> RayValue {
        RayValue { name, builtin, kind, shape, stages }
    }
    [
        value("dispatch_rays_index", BuiltIn::RayInvocationId, Uint, Vector, All),
        value("dispatch_rays_dimensions", BuiltIn::NumRayInvocations, Uint, Vector, All),
        value("world_ray_origin", BuiltIn::WorldRayOrigin, Float, Vector, OfRays),
        value("world_ray_direction", BuiltIn::WorldRayDirection, Float, Vector, OfRays),
        value("ray_t_min", BuiltIn::RayTmin, Float, Scalar, OfRays),
        value("ray_t_current", BuiltIn::RayTCurrentMax, Float, Scalar, OfRays),
        value("object_ray_origin", BuiltIn::ObjectRayOrigin, Float, Vector, OfHits),
        value("object_ray_direction", BuiltIn::ObjectRayDirection, Float, Vector, OfHits),
        value("object_to_world", BuiltIn::ObjectToWorld, Float, Matrix, OfHits),
        value("world_to_object", BuiltIn::WorldToObject, Float, Matrix, OfHits),
        value("instance_id", BuiltIn::InstanceCustomData, Uint, Scalar, OfHits),
        value("instance_index", BuiltIn::InstanceIndex, Uint, Scalar, OfHits),
        value("geometry_index", BuiltIn::GeometryIndex, Uint, Scalar, OfHits),
        value("primitive_index", BuiltIn::PrimitiveIndex, Uint, Scalar, OfHits),
        value("hit_kind", BuiltIn::HitKind, Uint, Scalar, OfHits),
    ]
};

impl RayValue {
    /// The value in a variable of that name.
    fn of(name: &str) -> Option<&'static Self> {
        const { &VALUES }.iter().find(|value| value.name == name)
    }

    /// A stage has it.
    fn is_in(&self, stage: ShaderStage) -> bool {
        match self.stages {
            RayValueStages::All => true,
            RayValueStages::OfRays => stage != ShaderStage::RayGeneration,
            RayValueStages::OfHits => matches!(stage, ShaderStage::AnyHit | ShaderStage::ClosestHit),
        }
    }

    /// Words of its variable.
    fn words(&self) -> u32 {
        match self.shape {
            RayShape::Scalar => 1,
            RayShape::Vector => 3,
            RayShape::Matrix => 12,
        }
    }
}

impl RayStages {
    /// Of the functions of entry points.
    pub fn get(&self, function: FunctionId) -> Option<&RayStage> {
        self.stages.get(&function)
    }

    /// The variable is the payload of one of them.
    pub fn is_payload(&self, variable: VariableId) -> bool {
        self.stages.values().any(|stage| stage.payload == Some(variable))
    }
}

impl ModuleEmitter<'_> {
    /// Finds out whether an entry point becomes a stage of naga's; `order` are the functions that it reaches. Notes why, if it
    /// does not.
    pub(super) fn choose_ray_stage(&mut self, entry: Entry<'_>, order: &[FunctionId]) {
        let stage = match entry.point.stage {
            Stage::RayGeneration => ShaderStage::RayGeneration,
            Stage::Miss => ShaderStage::Miss,
            Stage::AnyHit => ShaderStage::AnyHit,
            Stage::ClosestHit => ShaderStage::ClosestHit,
            _ => return,
        };
        if !self.target.capabilities.contains(Capabilities::RAY_TRACING_PIPELINE) {
            return;
        }
        match ray_stage(&self.program.ir, stage, entry.point.function, order) {
            Ok(stage) => {
                self.ray_stages.stages.insert(entry.point.function, stage);
            }
            Err(lack) => self.note(format!("{}: naga's ray tracing stages lack {lack}", entry.interface.name)),
        }
    }

    /// The payload that comes in; one that is never used is declared all the same, as naga wants one.
    pub(super) fn incoming_ray_payload(&mut self, function: FunctionId) -> Option<Handle<GlobalVariable>> {
        let stage = self.ray_stages.get(function)?;
        if stage.stage == ShaderStage::RayGeneration {
            return None;
        }
        if let Some(payload) = stage.payload {
            return self.variable_global(payload);
        }
        let name = payload_name(&self.program.ir, function);
        let declared = self.program.ir.variables.iter().find(|variable| variable.name == name);
        let len = declared.and_then(|variable| NonZeroU32::new(variable.len)).unwrap_or(NonZeroU32::MIN);
        let base = self.numeric(Scalar::U32, 1);
        let ty = self.ty(TypeInner::Array { base, size: ArraySize::Constant(len), stride: 4 });
        let global = GlobalVariable {
            name: Some(name),
            space: AddressSpace::IncomingRayPayload,
            binding: None,
            ty,
            init: None,
            memory_decorations: MemoryDecorations::empty(),
        };
        Some(self.module.global_variables.append(global, Span::UNDEFINED))
    }

    /// naga's type of a value.
    fn ray_value_type(&mut self, value: &RayValue) -> Handle<Type> {
        let scalar = Scalar { kind: value.kind, width: 4 };
        match value.shape {
            RayShape::Scalar => self.numeric(scalar, 1),
            RayShape::Vector => self.numeric(scalar, 3),
            RayShape::Matrix => self.ty(TypeInner::Matrix { columns: VectorSize::Quad, rows: VectorSize::Tri, scalar }),
        }
    }
}

/// Name of the variable of an entry point's payload.
fn payload_name(module: &ir::Module, function: FunctionId) -> String {
    format!("{}_payload", module.functions[function.index()].name)
}

/// An entry point as a stage of naga's, or what naga lacks for it.
fn ray_stage(
    module: &ir::Module,
    stage: ShaderStage,
    function: FunctionId,
    order: &[FunctionId],
) -> std::result::Result<RayStage, String> {
    let payload_name = payload_name(module, function);
    let mut found = RayStage { stage, values: Vec::new(), payload: None };
    if LaneUse::of(module, order, Stage::RayGeneration).derivatives {
        return Err("derivatives".into());
    }
    if module.functions.iter().any(|caller| calls(caller, function)) {
        return Err("entry points that are called".into());
    }
    for function in order.iter().map(|id| &module.functions[id.index()]) {
        let insts = function.blocks.iter().flat_map(|block| &block.insts);
        for op in insts.filter_map(|&inst| function.op(inst)) {
            let (&Op::LoadVariable { variable, .. } | &Op::StoreVariable { variable, .. }) = op else { continue };
            let Some(declared) = module.variables.get(variable.index()) else { continue };
            if declared.space != VariableSpace::Interface {
                continue;
            }
            if let Some(value) = RayValue::of(&declared.name)
                && value.is_in(stage)
                && declared.len == value.words()
            {
                if found.values.iter().all(|&(known, _)| known != variable) {
                    found.values.push((variable, value));
                }
                continue;
            }
            // The hit counts, as it does without a word.
            let accepts = match *op {
                Op::StoreVariable { value, .. } => function.as_scalar_constant(value) == Some(0),
                _ => false,
            };
            if declared.name == "hit_decision" && accepts {
                continue;
            }
            let is_payload = declared.name == payload_name && stage != ShaderStage::RayGeneration;
            if is_payload && found.payload.is_none_or(|payload| payload == variable) {
                found.payload = Some(variable);
                continue;
            }
            return Err(lack(&declared.name));
        }
    }
    Ok(found)
}

fn calls(caller: &ir::Function, callee: FunctionId) -> bool {
    let mut insts = caller.blocks.iter().flat_map(|block| &block.insts);
    insts.any(|&inst| matches!(caller.op(inst), Some(&Op::Call(called, _)) if called == callee))
}

/// What an entry point that uses a variable needs and naga lacks.
fn lack(variable: &str) -> String {
    match variable {
        "hit_decision" => "decisions on hits".into(),
        "ray_flags" => "the ray's flags".into(),
        "trace_ray_operands" | "trace_ray_payload" => "hit groups and miss shaders of TraceRay".into(),
        "call_shader_operands" | "call_shader_parameter" => "CallShader".into(),
        _ if variable.ends_with("_attributes") => "attributes of hits".into(),
        _ => variable.to_owned(),
    }
}

impl FunctionEmitter<'_, '_> {
    /// Begins a ray tracing stage of naga's: its arguments go to where the body looks for them.
    ///
    /// # Errors
    /// A variable was not declared: a bug.
    pub(super) fn begin_ray_stage(&mut self) -> Result<()> {
        let Some(stage) = self.module.ray_stages.get(self.id) else { return Ok(()) };
        for (variable, value) in stage.values.clone() {
            let ty = self.module.ray_value_type(value);
            let argument = self.argument(Some(value.name.into()), ty, Binding::BuiltIn(value.builtin));
            let words: Vec<_> = match value.shape {
                RayShape::Scalar => vec![argument],
                RayShape::Vector => self.lanes(argument, 3),
                RayShape::Matrix => {
                    let columns = [0, 1, 2, 3].map(|column| {
                        let column = self.val(Expression::AccessIndex { base: argument, index: column });
                        self.lanes(column, 3)
                    });
                    (0..3).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
                }
            };
            for (index, word) in (0..).zip(words) {
                self.fill_variable(variable, index, word, value.kind)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use naga::valid::{ValidationFlags, Validator};

    use super::*;
    use crate::{
        Target,
        lift::{Emitted, LiftOptions},
    };

    fn emitted(bytes: &[u8], capabilities: Capabilities) -> Emitted {
        let program = crate::lift(bytes, &LiftOptions::default()).unwrap();
        let emitted = program.emit(&Target { capabilities, ..Target::default() }).unwrap();
        Validator::new(ValidationFlags::all(), capabilities).validate(&emitted.module).unwrap();
        emitted
    }

    fn entry<'m>(module: &'m naga::Module, name: &str) -> &'m naga::EntryPoint {
        let found = module.entry_points.iter().find(|entry| entry.name == name);
        found.unwrap_or_else(|| panic!("no entry point: {name}"))
    }

    /// Built-in arguments of an entry point.
    fn builtins(entry: &naga::EntryPoint) -> Vec<BuiltIn> {
        let bindings = entry.function.arguments.iter().map(|argument| argument.binding.as_ref());
        bindings
            .map(|binding| match binding {
                Some(&Binding::BuiltIn(builtin)) => builtin,
                other => panic!("{}: {other:?}", entry.name),
            })
            .collect()
    }

    /// Words of the payload that comes in.
    fn payload_words(module: &naga::Module, entry: &naga::EntryPoint) -> Option<u32> {
        let global = &module.global_variables[entry.incoming_ray_payload?];
        assert_eq!(global.space, AddressSpace::IncomingRayPayload);
        match module.types[global.ty].inner {
            TypeInner::Array { size: ArraySize::Constant(len), .. } => Some(len.get()),
            ref other => panic!("{}: {other:?}", entry.name),
        }
    }

    #[test]
    fn stages_that_naga_can_say_are_nagas() {
        let bytes = include_bytes!("../../../tests/fixtures/dxil/ray_stages.dxil");
        let emitted = emitted(bytes, Capabilities::all());
        let module = &emitted.module;
        for (name, stage, payload, values) in [
            ("generate", ShaderStage::RayGeneration, None, &[BuiltIn::NumRayInvocations, BuiltIn::RayInvocationId][..]),
            (
                "missed",
                ShaderStage::Miss,
                Some(6),
                &[BuiltIn::WorldRayOrigin, BuiltIn::WorldRayDirection, BuiltIn::RayTmin, BuiltIn::RayTCurrentMax],
            ),
            ("missed_in_silence", ShaderStage::Miss, Some(6), &[]),
            ("any_hit", ShaderStage::AnyHit, Some(6), &[BuiltIn::PrimitiveIndex]),
            (
                "closest_hit",
                ShaderStage::ClosestHit,
                Some(6),
                &[
                    BuiltIn::ObjectRayOrigin,
                    BuiltIn::ObjectRayDirection,
                    BuiltIn::ObjectToWorld,
                    BuiltIn::WorldToObject,
                    BuiltIn::InstanceCustomData,
                    BuiltIn::InstanceIndex,
                    BuiltIn::GeometryIndex,
                    BuiltIn::HitKind,
                ],
            ),
        ] {
            let entry = entry(module, name);
            assert_eq!((entry.stage, payload_words(module, entry)), (stage, payload), "{name}");
            let mut found = builtins(entry);
            found.sort();
            let mut values = values.to_vec();
            values.sort();
            assert_eq!(found, values, "{name}");
        }
        assert_eq!(module.entry_points.len(), 5);

        // The others are functions.
        let mut functions: Vec<_> = module.functions.iter().filter_map(|(_, f)| f.name.as_deref()).collect();
        functions.sort();
        assert_eq!(functions, ["culled", "shaded"]);
        for lack in [
            "shaded: naga's ray tracing stages lack attributes of hits",
            "culled: naga's ray tracing stages lack the ray's flags",
        ] {
            assert!(emitted.notes.iter().any(|note| note.text == lack), "{lack}: {:?}", emitted.notes);
        }
    }

    #[test]
    fn matrices_are_kept_row_by_row() {
        let bytes = include_bytes!("../../../tests/fixtures/dxil/ray_stages.dxil");
        let module = emitted(bytes, Capabilities::all()).module;
        let function = &entry(&module, "closest_hit").function;
        let index = |expr| match function.expressions[expr] {
            Expression::AccessIndex { base, index } => (base, index),
            ref other => panic!("{other:?}"),
        };
        let mut words = 0;
        for statement in &function.body {
            let naga::Statement::Store { pointer, value } = *statement else { continue };
            let Expression::AccessIndex { base, index: word } = function.expressions[pointer] else { continue };
            let Expression::GlobalVariable(global) = function.expressions[base] else { continue };
            if module.global_variables[global].name.as_deref() != Some("object_to_world") {
                continue;
            }
            let Expression::As { expr, .. } = function.expressions[value] else { panic!("no bits") };
            let (column, row) = index(expr);
            let (_, column) = index(column);
            assert_eq!(4 * row + column, word);
            words += 1;
        }
        assert_eq!(words, 12);
    }

    #[test]
    fn what_naga_cannot_say_is_a_function() {
        let bytes = include_bytes!("../../../tests/fixtures/dxil/rays.dxil");
        let emitted = emitted(bytes, Capabilities::all());
        let [missed] = &emitted.module.entry_points[..] else { panic!("{:?}", emitted.module.entry_points) };
        assert_eq!((missed.name.as_str(), missed.stage), ("missed", ShaderStage::Miss));
        assert_eq!(builtins(missed), [BuiltIn::WorldRayDirection]);
        assert_eq!(payload_words(&emitted.module, missed), Some(7));
        // Five entry points, and what traces rays, calls shaders and reports hits.
        assert_eq!(emitted.module.functions.len(), 5 + 3);
        let lacks = |name: &str| emitted.notes.iter().any(|note| note.text.starts_with(&format!("{name}: naga's")));
        assert!(["generate", "any_hit", "closest_hit"].into_iter().all(lacks), "{:?}", emitted.notes);
    }

    #[test]
    fn targets_without_the_capability_have_functions() {
        let bytes = include_bytes!("../../../tests/fixtures/dxil/ray_stages.dxil");
        let module = emitted(bytes, Target::default().capabilities).module;
        assert!(module.entry_points.is_empty());
        assert_eq!(module.functions.len(), 7);
        assert!(module.global_variables.iter().all(|(_, global)| global.space != AddressSpace::IncomingRayPayload));
    }
}
