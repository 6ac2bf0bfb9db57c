//! Puts together what the parts say.

use super::{bindings, classes, layouts::unwrap_structure, signatures};
use crate::{
    Result,
    container::{
        Container, FeatureFlags, FourCc, PipelineFacts, PipelineState, ProgramHeader, ResourceDefinitions,
        RootSignature, feature_flags,
    },
    reflection::{
        DepthOutput, EntryPointInterface, Format, Interface, PrimitiveFacts, ResourceKind, ShaderModel,
        SignatureElement, Stage, SystemValue,
    },
};

/// What the parts of a DXBC container say, without its tokens: bindings and layouts from `RDEF` if it was not stripped,
/// signatures, feature flags.
pub(in crate::reflection) fn parts_alone(
    container: &Container<'_>,
    program: &ProgramHeader<'_>,
    stage: Stage,
) -> Result<Interface> {
    let version = program.version();
    let shader_model = ShaderModel { major: version.major, minor: version.minor };
    let bindings = match container.part(FourCc::RDEF) {
        Some(part) if !part.data.is_empty() => {
            let at_least_5_1 = shader_model >= ShaderModel { major: 5, minor: 1 };
            bindings::read(&ResourceDefinitions::parse(part)?, at_least_5_1)?
        }
        _ => Vec::new(),
    };
    let signatures = signatures::read(container, stage)?;
    let mut entry = EntryPointInterface {
        inputs: signatures.inputs,
        outputs: signatures.outputs,
        patch_constants: signatures.patch_constants,
        ..EntryPointInterface::new("main", stage)
    };
    entry.facts.depth_output = depth_output(&entry.outputs);
    Ok(Interface {
        entry_points: vec![entry],
        bindings,
        feature_flags: FeatureFlags(feature_flags(container)?.unwrap_or(0)),
        class_linkage: classes::read(container)?,
        ..Interface::new(Format::Dxbc, shader_model, stage)
    })
}

/// Adds to what the metadata of a DXIL program says the facts that only other parts have: feature flags of `SFI0`, and
/// whatever of `PSV0` is missing. The signature parts have nothing to add, and the components in use are wrong in those of
/// early compilers.
pub(in crate::reflection) fn merge_parts(
    container: &Container<'_>,
    program: &ProgramHeader<'_>,
    interface: &mut Interface,
) -> Result<()> {
    interface.feature_flags.0 |= feature_flags(container)?.unwrap_or(0);
    // Metadata ends a buffer with its last field, `RDEF` with a whole row.
    for binding in &mut interface.bindings {
        if let ResourceKind::ConstantBuffer { size } | ResourceKind::TextureBuffer { size } = binding.kind
            && let Some(layout) = &mut binding.layout
        {
            layout.size = layout.size.max(size);
            unwrap_structure(&mut layout.fields, binding.name.as_deref().unwrap_or_default());
        }
    }
    let [entry] = &mut interface.entry_points[..] else { return Ok(()) };
    if entry.stage == Stage::Library {
        return Ok(());
    }

    if entry.facts.depth_output.is_none() {
        entry.facts.depth_output = depth_output(&entry.outputs);
    }

    if let Some(part) = container.part(FourCc::PSV0) {
        let state = PipelineState::parse(part)?.facts(program.version())?;
        let facts = &mut entry.facts;
        facts.thread_group_size = facts.thread_group_size.or(state.thread_group_size);
        facts.sample_frequency |= state.sample_frequency;
        merge_primitives(&mut facts.primitives, &state, entry.stage);
    }
    Ok(())
}

fn merge_primitives(facts: &mut PrimitiveFacts, state: &PipelineFacts, stage: Stage) {
    let fill = |fact: &mut Option<u32>, value: Option<u32>| *fact = fact.or(value);
    fill(&mut facts.input_primitive, state.input_primitive);
    fill(&mut facts.max_vertex_count, state.max_vertex_count);
    fill(&mut facts.max_primitive_count, state.max_primitive_count);
    fill(&mut facts.input_control_points, state.input_control_points);
    fill(&mut facts.output_control_points, state.output_control_points);
    fill(&mut facts.tessellator_domain, state.tessellator_domain);
    fill(&mut facts.tessellator_output, state.tessellator_output);
    fill(&mut facts.payload_size, state.payload_size);
    let topology = match (stage, state.output_topology) {
        // DXIL::MeshOutputTopology to D3D_PRIMITIVE_TOPOLOGY: lists of lines and of triangles.
        (Stage::Mesh, Some(1)) => Some(2),
        (Stage::Mesh, Some(2)) => Some(4),
        (Stage::Mesh, _) => None,
        (_, topology) => topology,
    };
    fill(&mut facts.output_topology, topology);
}

/// The root signature that the container carries.
pub(in crate::reflection) fn root_signature(container: &Container<'_>) -> Result<Option<RootSignature>> {
    container.part(FourCc::RTS0).map(RootSignature::parse).transpose()
}

/// How a pixel shader with these outputs writes depth.
fn depth_output(outputs: &[SignatureElement]) -> Option<DepthOutput> {
    outputs.iter().find_map(|output| match output.system_value {
        SystemValue::Depth => Some(DepthOutput::Any),
        SystemValue::DepthGreaterEqual => Some(DepthOutput::GreaterEqual),
        SystemValue::DepthLessEqual => Some(DepthOutput::LessEqual),
        _ => None,
    })
}
