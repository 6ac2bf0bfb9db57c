//! Completes an interface with what a program's declarations tell.

use super::{
    declaration::{Declaration, RegisterRange, ResourceShape},
    decode::{PhaseKind, TokenProgram},
    opcode::Opcode,
    operand::{Operand, RegisterFile},
};
use crate::{
    Result,
    container::{Container, FeatureFlags},
    reflection::{
        Binding, ClassLinkage, ClassType, ComponentType, DepthOutput, EntryPointInterface, Implementation, Interface,
        InterfaceSlots, Interpolation, MinPrecision, ResourceClass, ResourceKind, SignatureElement, Stage, StageFacts,
        SystemValue,
    },
};

/// Completes what the reflection parts of a container told with what its tokens declare: bindings (all of them, where
/// `RDEF` was stripped), signature elements (where the signature parts were), interpolation modes, system values, and
/// the facts of the stage.
///
/// # Errors
/// The container holds no tokens, or they contradict the format.
pub fn declare(container: &Container<'_>, interface: &mut Interface) -> Result<()> {
    let part = super::program_part(container)?;
    let program = super::decode_interface(part.data).map_err(|error| error.in_part(part.name))?;
    complete(&program, interface);
    Ok(())
}

/// [`declare`], of a program that has been decoded.
pub fn complete(program: &TokenProgram, interface: &mut Interface) {
    interface.stage = program.stage;
    interface.shader_model = program.model;
    if interface.entry_points.is_empty() {
        interface.entry_points.push(EntryPointInterface::new("main", program.stage));
    }
    for declared in program.declarations() {
        bind(&declared.declaration, interface);
    }
    counters(program, interface);
    features(program, interface);
    interfaces(program, &mut interface.class_linkage);
    let entry = &mut interface.entry_points[0];
    entry.stage = program.stage;
    facts(program, &mut entry.facts);
    signatures(program, entry);
}

/// Adds the features that `dcl_globalFlags` names, where `SFI0` was stripped. Its bits are counted from
/// D3D11_SB_GLOBAL_FLAG_REFACTORING_ALLOWED, bit 11 of the token.
fn features(program: &TokenProgram, interface: &mut Interface) {
    const RAW_AND_STRUCTURED_BUFFERS: u32 = 1 << 3;
    const FEATURES: [(u32, FeatureFlags); 4] = [
        (1 << 1, FeatureFlags::DOUBLES),
        (1 << 5, FeatureFlags::MINIMUM_PRECISION),
        (1 << 6, FeatureFlags::DOUBLE_EXTENSIONS_11_1),
        (1 << 7, FeatureFlags::SHADER_EXTENSIONS_11_1),
    ];
    for declared in program.declarations() {
        let Declaration::GlobalFlags(flags) = declared.declaration else { continue };
        for (bit, feature) in FEATURES {
            if flags & bit != 0 {
                interface.feature_flags.0 |= feature.0;
            }
        }
        // Shader Model 5 has them without being asked.
        if flags & RAW_AND_STRUCTURED_BUFFERS != 0 && program.model.major < 5 {
            interface.feature_flags.0 |= FeatureFlags::COMPUTE_SHADERS_PLUS_RAW_AND_STRUCTURED_BUFFERS.0;
        }
    }
}

/// D3D10_REQ_CONSTANT_BUFFER_ELEMENT_COUNT rows of 16 bytes.
const MAX_CONSTANT_BUFFER: u32 = 4096 * 16;

/// Completes or adds the binding of a declaration, if it is one of a resource.
fn bind(declaration: &Declaration, interface: &mut Interface) {
    let (class, range, kind) = match *declaration {
        Declaration::Resource { range, shape, samples, component } => {
            (ResourceClass::Srv, range, typed(shape, samples, component, Default::default()))
        }
        Declaration::RawResource(range) => {
            (ResourceClass::Srv, range, ResourceKind::RawBuffer { flags: Default::default() })
        }
        Declaration::StructuredResource { range, stride } => {
            let kind = ResourceKind::StructuredBuffer { stride, counter: false, flags: Default::default() };
            (ResourceClass::Srv, range, kind)
        }
        Declaration::Uav { range, shape, component, flags } => {
            (ResourceClass::Uav, range, typed(shape, 0, component, flags))
        }
        Declaration::RawUav { range, flags } => (ResourceClass::Uav, range, ResourceKind::RawBuffer { flags }),
        Declaration::StructuredUav { range, stride, counter, flags } => {
            (ResourceClass::Uav, range, ResourceKind::StructuredBuffer { stride, counter, flags })
        }
        Declaration::ConstantBuffer { range, rows } => {
            let kind = ResourceKind::ConstantBuffer { size: rows.saturating_mul(16) };
            (ResourceClass::Cbv, range, kind)
        }
        Declaration::Sampler { range, mode } => (ResourceClass::Sampler, range, ResourceKind::Sampler { mode }),
        _ => return,
    };
    if let Some(id) = interface.binding_at(class, range.space, range.register) {
        let binding = &mut interface.bindings[id.index()];
        binding.kind = merged(binding.kind, kind);
        return;
    }
    let kind = match kind {
        // A buffer of any size may be bound.
        ResourceKind::ConstantBuffer { size: 0 } => ResourceKind::ConstantBuffer { size: MAX_CONSTANT_BUFFER },
        kind => kind,
    };
    let RegisterRange { space, register, count, .. } = range;
    interface.bindings.push(Binding { name: None, class, space, register, count, kind, layout: None });
}

/// Gives counters to the structured buffers that are appended to or consumed from: only the instructions tell.
fn counters(program: &TokenProgram, interface: &mut Interface) {
    let instructions = program.phases.iter().flat_map(|phase| &phase.instructions);
    let counting = instructions.filter(|it| matches!(it.opcode, Opcode::ImmAtomicAlloc | Opcode::ImmAtomicConsume));
    for view in counting.filter_map(|it| it.operands.get(1)) {
        let declared = program.declarations().find_map(|declared| match declared.declaration {
            Declaration::StructuredUav { range, .. } if Some(range.id) == view.register() => Some(range),
            _ => None,
        });
        if let Some(range) = declared
            && let Some(id) = interface.binding_at(ResourceClass::Uav, range.space, range.register)
            && let ResourceKind::StructuredBuffer { counter, .. } = &mut interface.bindings[id.index()].kind
        {
            *counter = true;
        }
    }
}

/// Adds the interfaces of which no reflection is left: their classes are known by their function tables.
fn interfaces(program: &TokenProgram, linkage: &mut ClassLinkage) {
    for declared in program.declarations() {
        let Declaration::Interface { interface: slot, elements, ref tables, .. } = declared.declaration else {
            continue;
        };
        if linkage.interfaces.iter().any(|known| known.slot == slot) {
            continue;
        }
        let implementations = tables.iter().map(|&table| {
            let class = linkage.classes.len() as u32;
            linkage.classes.push(ClassType { name: format!("ft{table}"), rows: 0, textures: 0, samplers: 0 });
            Implementation { class, table }
        });
        let implementations = implementations.collect();
        linkage.interfaces.push(InterfaceSlots { name: format!("fp{slot}"), slot, count: elements, implementations });
    }
}

/// Kind of a typed resource.
fn typed(
    shape: ResourceShape,
    samples: u8,
    component: ComponentType,
    flags: crate::reflection::UavFlags,
) -> ResourceKind {
    match shape {
        ResourceShape::Buffer => ResourceKind::TypedBuffer { component, components: 4, flags },
        ResourceShape::Texture(dimension) => {
            ResourceKind::Texture { dimension, component, components: 4, samples, flags }
        }
    }
}

/// What reflection and declaration tell of one resource together: the instructions were made for the declaration; what
/// it cannot say stays as reflection has it.
fn merged(reflected: ResourceKind, declared: ResourceKind) -> ResourceKind {
    match (reflected, declared) {
        (ResourceKind::ConstantBuffer { size }, ResourceKind::ConstantBuffer { size: declared }) => {
            ResourceKind::ConstantBuffer { size: size.max(declared) }
        }
        // A tbuffer is declared as a buffer of float4.
        (ResourceKind::TextureBuffer { .. }, _) => reflected,
        (
            ResourceKind::Texture { components, .. },
            ResourceKind::Texture { dimension, component, samples, flags, .. },
        ) => ResourceKind::Texture { dimension, component, components, samples, flags },
        (ResourceKind::TypedBuffer { components, .. }, ResourceKind::TypedBuffer { component, flags, .. }) => {
            ResourceKind::TypedBuffer { component, components, flags }
        }
        // Append and consume buffers have a counter that the declaration does not mention.
        (
            ResourceKind::StructuredBuffer { counter, .. },
            ResourceKind::StructuredBuffer { stride, counter: declared, flags },
        ) => ResourceKind::StructuredBuffer { stride, counter: counter || declared, flags },
        _ => declared,
    }
}

/// Facts of the stage.
fn facts(program: &TokenProgram, facts: &mut StageFacts) {
    // D3D11_SB_GLOBAL_FLAG_FORCE_EARLY_DEPTH_STENCIL, counted from bit 11.
    const FORCE_EARLY_DEPTH_STENCIL: u32 = 1 << 2;
    let primitives = &mut facts.primitives;
    for declared in program.declarations() {
        match declared.declaration {
            Declaration::ThreadGroup(size) => facts.thread_group_size = Some(size),
            Declaration::GlobalFlags(flags) if flags & FORCE_EARLY_DEPTH_STENCIL != 0 => {
                facts.early_depth_stencil = true;
            }
            Declaration::InputPrimitive(primitive) => primitives.input_primitive = Some(primitive),
            Declaration::OutputTopology(topology) => primitives.output_topology = Some(topology),
            Declaration::MaxOutputVertexCount(count) => primitives.max_vertex_count = Some(count),
            Declaration::GsInstanceCount(count) => primitives.instance_count = Some(count),
            Declaration::InputControlPointCount(count) => primitives.input_control_points = Some(count),
            Declaration::OutputControlPointCount(count) => primitives.output_control_points = Some(count),
            Declaration::TessellatorDomain(domain) => primitives.tessellator_domain = Some(domain),
            Declaration::TessellatorPartitioning(kind) => primitives.tessellator_partitioning = Some(kind),
            Declaration::TessellatorOutput(primitive) => primitives.tessellator_output = Some(primitive),
            Declaration::MaxTessellationFactor(factor) => primitives.max_tessellation_factor = Some(factor),
            Declaration::Input { name, interpolation, .. } => {
                let per_sample = matches!(
                    interpolation,
                    Some(Interpolation::LinearSample | Interpolation::LinearNoperspectiveSample)
                );
                if per_sample || system_value(name) == SystemValue::SampleIndex {
                    facts.sample_frequency = true;
                }
            }
            Declaration::Output { ref operand, .. } => {
                facts.depth_output = match operand.file {
                    RegisterFile::OutputDepth => Some(DepthOutput::Any),
                    RegisterFile::OutputDepthGreaterEqual => Some(DepthOutput::GreaterEqual),
                    RegisterFile::OutputDepthLessEqual => Some(DepthOutput::LessEqual),
                    _ => facts.depth_output,
                };
            }
            _ => {}
        }
    }
    if program.stage == Stage::Geometry {
        primitives.instance_count.get_or_insert(1);
    }
}

/// Meaning of a `D3D10_SB_NAME`.
pub fn system_value(name: u32) -> SystemValue {
    match name {
        1 => SystemValue::Position,
        2 => SystemValue::ClipDistance,
        3 => SystemValue::CullDistance,
        4 => SystemValue::RenderTargetArrayIndex,
        5 => SystemValue::ViewportArrayIndex,
        6 => SystemValue::VertexId,
        7 => SystemValue::PrimitiveId,
        8 => SystemValue::InstanceId,
        9 => SystemValue::IsFrontFace,
        10 => SystemValue::SampleIndex,
        // Edges of quads and triangles, and the two factors of lines; the others are inside factors.
        11..=14 | 17..=19 | 21 | 22 => SystemValue::TessFactor,
        15 | 16 | 20 => SystemValue::InsideTessFactor,
        23 => SystemValue::Barycentrics,
        24 => SystemValue::ShadingRate,
        25 => SystemValue::CullPrimitive,
        _ => SystemValue::Arbitrary,
    }
}

/// The semantic of an element whose signature part is gone, and the type of its components.
fn semantic(value: SystemValue, stage: Stage, is_output: bool) -> (&'static str, ComponentType) {
    use ComponentType::{F32, U32, Unknown};
    match value {
        SystemValue::Position => ("SV_Position", F32),
        SystemValue::ClipDistance => ("SV_ClipDistance", F32),
        SystemValue::CullDistance => ("SV_CullDistance", F32),
        SystemValue::RenderTargetArrayIndex => ("SV_RenderTargetArrayIndex", U32),
        SystemValue::ViewportArrayIndex => ("SV_ViewportArrayIndex", U32),
        SystemValue::VertexId => ("SV_VertexID", U32),
        SystemValue::PrimitiveId => ("SV_PrimitiveID", U32),
        SystemValue::InstanceId => ("SV_InstanceID", U32),
        SystemValue::IsFrontFace => ("SV_IsFrontFace", U32),
        SystemValue::SampleIndex => ("SV_SampleIndex", U32),
        SystemValue::TessFactor => ("SV_TessFactor", F32),
        SystemValue::InsideTessFactor => ("SV_InsideTessFactor", F32),
        SystemValue::Depth => ("SV_Depth", F32),
        SystemValue::DepthGreaterEqual => ("SV_DepthGreaterEqual", F32),
        SystemValue::DepthLessEqual => ("SV_DepthLessEqual", F32),
        SystemValue::Coverage => ("SV_Coverage", U32),
        SystemValue::StencilRef => ("SV_StencilRef", U32),
        SystemValue::Target => ("SV_Target", Unknown),
        _ if stage == Stage::Pixel && is_output => ("SV_Target", Unknown),
        _ => ("ATTRIBUTE", Unknown),
    }
}

/// Which signature of the entry point a declaration belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signature {
    Input,
    Output,
    PatchConstant,
}

/// Adds the elements whose signature part is missing; gives interpolation modes and system values to all.
fn signatures(program: &TokenProgram, entry: &mut EntryPointInterface) {
    // Whole parts are missing or there: an element is only made up where its signature has none.
    let absent = [entry.inputs.is_empty(), entry.outputs.is_empty(), entry.patch_constants.is_empty()];
    let mut stream = 0;
    for phase in &program.phases {
        let in_patch_phase = matches!(phase.kind, PhaseKind::Fork | PhaseKind::Join);
        for declared in &phase.declarations {
            let (operand, name, interpolation, is_output) = match &declared.declaration {
                Declaration::Input { operand, name, interpolation } => (operand, *name, *interpolation, false),
                Declaration::Output { operand, name } => (operand, *name, None, true),
                Declaration::Stream(number) => {
                    stream = *number as u8;
                    continue;
                }
                _ => continue,
            };
            let signature = match operand.file {
                RegisterFile::Input => Signature::Input,
                // A fork phase's inputs are the control points that the vertex shader wrote.
                RegisterFile::InputControlPoint => Signature::Input,
                RegisterFile::InputPatchConstant => Signature::PatchConstant,
                RegisterFile::Output if in_patch_phase => Signature::PatchConstant,
                RegisterFile::Output => Signature::Output,
                RegisterFile::OutputDepth
                | RegisterFile::OutputDepthGreaterEqual
                | RegisterFile::OutputDepthLessEqual
                | RegisterFile::OutputCoverageMask
                | RegisterFile::OutputStencilRef => {
                    registerless(operand.file, entry);
                    continue;
                }
                // Of the stages that have this register, only geometry shaders have the value in their signature.
                RegisterFile::InputPrimitiveId if program.stage == Stage::Geometry => {
                    if absent[Signature::Input as usize] {
                        entry.inputs.push(without_register(SystemValue::PrimitiveId, program.stage, false));
                    }
                    continue;
                }
                _ => continue,
            };
            let stage = program.stage;
            let list = match signature {
                Signature::Input => &mut entry.inputs,
                Signature::Output => &mut entry.outputs,
                Signature::PatchConstant => &mut entry.patch_constants,
            };
            // The element's register is the last index; vertices and control points come before it.
            let Some(register) = operand.indices.last().map(|index| index.base) else { continue };
            let mask = operand.selection.mask();
            let mut known = false;
            let stream = if is_output { stream } else { 0 };
            for element in list.iter_mut().filter(|element| element.stream == stream) {
                if covers(element, register, mask) {
                    known = true;
                    if let Some(interpolation) = interpolation {
                        element.interpolation = interpolation;
                    }
                    if element.system_value == SystemValue::Arbitrary {
                        element.system_value = system_value(name);
                    }
                }
            }
            if known || !absent[signature as usize] || mask == 0 {
                continue;
            }
            list.push(made_up(operand, register, mask, name, interpolation, stream, stage, is_output));
        }
    }
}

/// The element has some of these components of a register.
fn covers(element: &SignatureElement, register: u32, mask: u8) -> bool {
    element
        .register
        .is_some_and(|first| register >= first && register - first < element.rows && element.mask & mask != 0)
}

/// An element whose signature part is gone.
#[allow(clippy::too_many_arguments)]
fn made_up(
    operand: &Operand,
    register: u32,
    mask: u8,
    name: u32,
    interpolation: Option<Interpolation>,
    stream: u8,
    stage: Stage,
    is_output: bool,
) -> SignatureElement {
    let mut value = system_value(name);
    if stage == Stage::Pixel && is_output && value == SystemValue::Arbitrary {
        value = SystemValue::Target;
    }
    let (semantic, component) = semantic(value, stage, is_output);
    let index = if matches!(value, SystemValue::Arbitrary | SystemValue::Target) { register } else { 0 };
    SignatureElement {
        semantic: semantic.into(),
        semantic_indices: vec![index],
        register: Some(register),
        rows: 1,
        mask,
        used_mask: mask,
        component,
        min_precision: match operand.modifiers.min_precision {
            1 => MinPrecision::Float16,
            2 => MinPrecision::Float2_8,
            4 => MinPrecision::Sint16,
            5 => MinPrecision::Uint16,
            _ => MinPrecision::Default,
        },
        system_value: value,
        interpolation: interpolation.unwrap_or_default(),
        stream,
    }
}

/// Sees to it that an output without a register is in the output signature.
fn registerless(file: RegisterFile, entry: &mut EntryPointInterface) {
    let value = match output_value(file) {
        Some(value) => value,
        None => return,
    };
    if let Some(element) = entry.outputs.iter_mut().find(|element| element.system_value == value) {
        element.register = None;
        return;
    }
    // Reflection of old files calls every depth output SV_Depth.
    let (semantic, _) = semantic(value, Stage::Pixel, true);
    if let Some(element) = entry.outputs.iter_mut().find(|element| element.semantic.eq_ignore_ascii_case(semantic)) {
        element.system_value = value;
        element.register = None;
        return;
    }
    entry.outputs.push(without_register(value, Stage::Pixel, true));
}

/// An element without a register, whose signature part is gone.
fn without_register(value: SystemValue, stage: Stage, is_output: bool) -> SignatureElement {
    let (semantic, component) = semantic(value, stage, is_output);
    SignatureElement {
        semantic: semantic.into(),
        semantic_indices: vec![0],
        register: None,
        rows: 1,
        mask: 1,
        used_mask: 1,
        component,
        min_precision: MinPrecision::Default,
        system_value: value,
        interpolation: Interpolation::Undefined,
        stream: 0,
    }
}

/// Meaning of an output that has no number.
pub fn output_value(file: RegisterFile) -> Option<SystemValue> {
    Some(match file {
        RegisterFile::OutputDepth => SystemValue::Depth,
        RegisterFile::OutputDepthGreaterEqual => SystemValue::DepthGreaterEqual,
        RegisterFile::OutputDepthLessEqual => SystemValue::DepthLessEqual,
        RegisterFile::OutputCoverageMask => SystemValue::Coverage,
        RegisterFile::OutputStencilRef => SystemValue::StencilRef,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        container::{ContainerWriter, FourCc},
        reflection::{Format, ShaderModel},
    };

    #[test]
    fn flags_name_features_without_their_part() {
        let bytes = include_bytes!("../../tests/fixtures/pixel/min_precision.ps.dxbc");
        let container = Container::parse(bytes).unwrap();
        let mut writer = ContainerWriter::from_container(&container);
        writer.remove(FourCc::SFI0);
        let stripped = writer.write().unwrap();
        assert_ne!(stripped, bytes);
        let flags = |bytes: &[u8]| crate::reflect(bytes).unwrap().feature_flags;
        assert_eq!(flags(bytes), FeatureFlags::MINIMUM_PRECISION);
        assert_eq!(flags(&stripped), FeatureFlags::MINIMUM_PRECISION);
    }

    /// What is passed over tells nothing of the interface.
    #[test]
    fn code_that_is_passed_over_tells_nothing() {
        let fixtures: [&[u8]; 4] = [
            include_bytes!("../../tests/fixtures/reflection/resources.dxbc"),
            include_bytes!("../../tests/fixtures/reflection/patch.dxbc"),
            include_bytes!("../../tests/fixtures/reflection/streams.dxbc"),
            include_bytes!("../../tests/fixtures/container/classes.dxbc"),
        ];
        for bytes in fixtures {
            let part = super::super::program_part(&Container::parse(bytes).unwrap()).unwrap();
            let interface = |program: &TokenProgram| {
                let mut interface = Interface::new(Format::Dxbc, ShaderModel { major: 5, minor: 0 }, Stage::Pixel);
                complete(program, &mut interface);
                interface
            };
            let whole = super::super::decode(part.data).unwrap();
            assert_eq!(interface(&super::super::decode_interface(part.data).unwrap()), interface(&whole));
            assert!(!whole.phases.iter().all(|phase| phase.instructions.is_empty()));
        }
    }

    #[test]
    fn stripped_program_declares_itself() {
        // ps_5_0: dcl_constantbuffer CB0[2]; dcl_sampler s1; dcl_resource_texture2d (uint) t3;
        // dcl_input_ps linear v1.xy; dcl_input_ps_siv linear noperspective v0.xy, position; dcl_output o0.xyzw; ret
        let words: [u32; 24] = [
            89 | 4 << 24,
            0x0020_8e46,
            0,
            2, //
            90 | 3 << 24,
            0x0010_6000,
            1, //
            88 | 3 << 11 | 4 << 24,
            0x0010_7000,
            3,
            0x4444, //
            98 | 2 << 11 | 3 << 24,
            0x0010_1032,
            1, //
            100 | 4 << 11 | 4 << 24,
            0x0010_1032,
            0,
            1, //
            101 | 3 << 24,
            0x0010_20f2,
            0, //
            62 | 1 << 24,
            0,
            0,
        ];
        let words = &words[..22];
        let bytes: Vec<u8> =
            [0x50u32, words.len() as u32 + 2].iter().chain(words).flat_map(|word| word.to_le_bytes()).collect();
        let program = crate::dxbc::decode(&bytes).unwrap();
        let mut interface = Interface::new(Format::Dxbc, ShaderModel { major: 5, minor: 0 }, Stage::Pixel);
        complete(&program, &mut interface);
        let kinds: Vec<_> = interface.bindings.iter().map(|binding| (binding.class, binding.register)).collect();
        assert_eq!(kinds, [(ResourceClass::Cbv, 0), (ResourceClass::Sampler, 1), (ResourceClass::Srv, 3)]);
        assert_eq!(interface.bindings[0].kind, ResourceKind::ConstantBuffer { size: 32 });
        assert!(matches!(interface.bindings[2].kind, ResourceKind::Texture { component: ComponentType::U32, .. }));
        let entry = &interface.entry_points[0];
        assert_eq!(entry.inputs[0].interpolation, Interpolation::Linear);
        assert_eq!(entry.inputs[1].system_value, SystemValue::Position);
        assert_eq!(entry.outputs[0].system_value, SystemValue::Target);

        let again = interface.clone();
        complete(&program, &mut interface);
        assert_eq!(interface, again, "completing twice changes nothing");
    }
}
