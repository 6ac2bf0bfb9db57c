//! `PSV0` against the program's metadata.

use super::Checker;
use crate::{
    Result,
    container::{
        Container, DxilResourceKind, FourCc, PipelineElement, PipelineResource, PipelineResourceType, PipelineState,
        ProgramHeader, SemanticKind, SignatureComponentType,
    },
    reflection::{
        Binding, ComponentType, EntryPointInterface, Interface, Interpolation, MinPrecision, ResourceClass,
        ResourceKind, SignatureElement, Stage, SystemValue, TextureDimension,
    },
};

const PART: FourCc = FourCc::PSV0;

impl Checker {
    pub(super) fn pipeline_state(
        &mut self,
        container: &Container<'_>,
        program: &ProgramHeader<'_>,
        declared: &Interface,
    ) -> Result<()> {
        let Some(part) = container.part(PART) else { return Ok(()) };
        let [entry] = &declared.entry_points[..] else { return Ok(()) };
        let state = PipelineState::parse(part)?;
        self.facts(&state, program, entry)?;
        let stored = state.resources()?.collect::<Result<Vec<_>>>()?;
        self.resources(&declared.bindings, stored);
        if let Some(tables) = state.tables()? {
            self.elements("input", &entry.inputs, &tables.inputs);
            self.elements("output", &entry.outputs, &tables.outputs);
            self.elements("patch constant", &entry.patch_constants, &tables.patch_constants);
        }
        Ok(())
    }

    fn facts(
        &mut self,
        state: &PipelineState<'_>,
        program: &ProgramHeader<'_>,
        entry: &EntryPointInterface,
    ) -> Result<()> {
        let stored = state.facts(program.version())?;
        let facts = &entry.facts;
        let primitives = &facts.primitives;
        self.compare_known(
            PART,
            "stage",
            Some(entry.stage),
            stored.kind.and_then(|kind| Stage::from_kind(kind.into())),
        );
        self.compare_known(PART, "name of the entry point", Some(&entry.name), stored.entry_point.as_ref());
        self.compare_known(PART, "thread group size", facts.thread_group_size, stored.thread_group_size);
        // Any number of lanes, where the program does not say.
        let lanes = facts.wave_size.map_or((0, u32::MAX), |[min, max, _]| (min, if max == 0 { min } else { max }));
        self.compare(PART, "wave size", lanes, stored.wave_lanes);
        if entry.stage == Stage::Pixel {
            let depth = entry.outputs.iter().any(|output| is_depth(output.system_value));
            self.compare(PART, "depth output", depth, stored.depth_output);
        }
        for (fact, declared, stored) in [
            ("input primitive", primitives.input_primitive, stored.input_primitive),
            ("vertices of the output", primitives.max_vertex_count, stored.max_vertex_count),
            ("primitives of the output", primitives.max_primitive_count, stored.max_primitive_count),
            ("control points of the input", primitives.input_control_points, stored.input_control_points),
            ("control points of the output", primitives.output_control_points, stored.output_control_points),
            ("domain of the tessellator", primitives.tessellator_domain, stored.tessellator_domain),
            ("output of the tessellator", primitives.tessellator_output, stored.tessellator_output),
            ("bytes of payload", primitives.payload_size, stored.payload_size),
        ] {
            self.compare_known(PART, fact, declared, stored);
        }
        let topology = match (entry.stage, stored.output_topology) {
            // DXIL::MeshOutputTopology: lines, triangles.
            (Stage::Mesh, topology) => topology.map(|topology| 2 * topology),
            (_, topology) => topology,
        };
        self.compare_known(PART, "topology of the output", primitives.output_topology, topology);
        if let Some(stored) = stored.output_position {
            let position = entry.outputs.iter().any(|output| output.system_value == SystemValue::Position);
            self.compare(PART, "position output", position, stored);
        }
        Ok(())
    }

    /// Every resource that a root signature binds, in any order.
    fn resources(&mut self, bindings: &[Binding], mut stored: Vec<PipelineResource>) {
        for binding in bindings.iter().filter(|binding| !binding.is_heap() && !binding.is_of_host()) {
            let name = format!("{:?} register {}, space {}", binding.class, binding.register, binding.space);
            let at = stored.iter().position(|stored| {
                class(stored.ty) == Some(binding.class)
                    && (stored.space, stored.lower) == (binding.space, binding.register)
            });
            let Some(at) = at else {
                self.compare(PART, name, "it is there", "it is not");
                continue;
            };
            let stored = stored.swap_remove(at);
            let last = binding.count.map_or(u32::MAX, |count| binding.register.wrapping_add(count).wrapping_sub(1));
            self.compare(PART, format!("last register of {name}"), last, stored.upper);
            self.compare(PART, format!("type of {name}"), ty(binding), stored.ty);
            self.compare_known(PART, format!("kind of {name}"), Some(kind(&binding.kind)), stored.kind);
        }
        for stored in stored {
            let name = format!("{} register {}, space {}", stored.ty, stored.lower, stored.space);
            self.compare(PART, name, "it is not there", "it is");
        }
    }

    fn elements(&mut self, what: &str, declared: &[SignatureElement], stored: &[PipelineElement<'_>]) {
        self.compare(PART, format!("number of {what}s"), declared.len(), stored.len());
        if declared.len() != stored.len() {
            return;
        }
        for (element, stored) in declared.iter().zip(stored) {
            let name = format!("{what} {}{}", element.semantic, element.semantic_indices.first().unwrap_or(&0));
            if stored.kind == SemanticKind::ARBITRARY {
                self.compare(PART, format!("name of {name}"), &element.semantic[..], &stored.semantic);
            }
            let indices = (&element.semantic_indices, &stored.semantic_indices);
            self.compare(PART, format!("semantic indices of {name}"), indices.0, indices.1);
            let register = stored.allocated.then_some(u32::from(stored.row));
            self.compare(PART, format!("register of {name}"), element.register, register);
            if stored.allocated {
                let mask = ((1u8 << stored.columns.min(4)) - 1) << (stored.column & 3) & 0xf;
                self.compare(PART, format!("components of {name}"), element.mask, mask);
            }
            // Older validators leave the type of booleans unknown.
            let known = Some(stored.component_type).filter(|&ty| ty != SignatureComponentType::UNKNOWN);
            self.compare_known(PART, format!("component type of {name}"), Some(component(element)), known);
            let interpolation = interpolation(element.interpolation);
            self.compare(PART, format!("interpolation of {name}"), interpolation, stored.interpolation.0);
            self.compare(PART, format!("stream of {name}"), element.stream, stored.stream);
        }
    }
}

fn is_depth(value: SystemValue) -> bool {
    matches!(value, SystemValue::Depth | SystemValue::DepthGreaterEqual | SystemValue::DepthLessEqual)
}

fn interpolation(mode: Interpolation) -> u8 {
    mode as u8
}

fn class(ty: PipelineResourceType) -> Option<ResourceClass> {
    Some(match ty {
        PipelineResourceType::SAMPLER => ResourceClass::Sampler,
        PipelineResourceType::CBV => ResourceClass::Cbv,
        PipelineResourceType::SRV_TYPED | PipelineResourceType::SRV_RAW | PipelineResourceType::SRV_STRUCTURED => {
            ResourceClass::Srv
        }
        PipelineResourceType::UAV_TYPED
        | PipelineResourceType::UAV_RAW
        | PipelineResourceType::UAV_STRUCTURED
        | PipelineResourceType::UAV_STRUCTURED_WITH_COUNTER => ResourceClass::Uav,
        _ => return None,
    })
}

fn ty(binding: &Binding) -> PipelineResourceType {
    let by_class = |srv, uav| if binding.class == ResourceClass::Uav { uav } else { srv };
    match binding.kind {
        ResourceKind::ConstantBuffer { .. } => PipelineResourceType::CBV,
        ResourceKind::Sampler { .. } => PipelineResourceType::SAMPLER,
        ResourceKind::Texture { .. }
        | ResourceKind::TypedBuffer { .. }
        | ResourceKind::TextureBuffer { .. }
        | ResourceKind::FeedbackTexture { .. } => {
            by_class(PipelineResourceType::SRV_TYPED, PipelineResourceType::UAV_TYPED)
        }
        ResourceKind::RawBuffer { .. } | ResourceKind::AccelerationStructure => {
            by_class(PipelineResourceType::SRV_RAW, PipelineResourceType::UAV_RAW)
        }
        ResourceKind::StructuredBuffer { counter: true, .. } => PipelineResourceType::UAV_STRUCTURED_WITH_COUNTER,
        ResourceKind::StructuredBuffer { .. } => {
            by_class(PipelineResourceType::SRV_STRUCTURED, PipelineResourceType::UAV_STRUCTURED)
        }
    }
}

/// `DXIL::ResourceKind` of a binding.
pub(super) fn kind(kind: &ResourceKind) -> DxilResourceKind {
    match kind {
        ResourceKind::ConstantBuffer { .. } => DxilResourceKind::CBUFFER,
        ResourceKind::Sampler { .. } => DxilResourceKind::SAMPLER,
        ResourceKind::Texture { dimension, .. } => match dimension {
            TextureDimension::D1 => DxilResourceKind::TEXTURE_1D,
            TextureDimension::D1Array => DxilResourceKind::TEXTURE_1D_ARRAY,
            TextureDimension::D2 => DxilResourceKind::TEXTURE_2D,
            TextureDimension::D2Array => DxilResourceKind::TEXTURE_2D_ARRAY,
            TextureDimension::D2Multisampled => DxilResourceKind::TEXTURE_2D_MS,
            TextureDimension::D2MultisampledArray => DxilResourceKind::TEXTURE_2D_MS_ARRAY,
            TextureDimension::D3 => DxilResourceKind::TEXTURE_3D,
            TextureDimension::Cube => DxilResourceKind::TEXTURE_CUBE,
            TextureDimension::CubeArray => DxilResourceKind::TEXTURE_CUBE_ARRAY,
        },
        ResourceKind::TypedBuffer { .. } => DxilResourceKind::TYPED_BUFFER,
        ResourceKind::RawBuffer { .. } => DxilResourceKind::RAW_BUFFER,
        ResourceKind::StructuredBuffer { .. } => DxilResourceKind::STRUCTURED_BUFFER,
        ResourceKind::TextureBuffer { .. } => DxilResourceKind::TBUFFER,
        ResourceKind::AccelerationStructure => DxilResourceKind::RT_ACCELERATION_STRUCTURE,
        ResourceKind::FeedbackTexture { arrayed: false, .. } => DxilResourceKind::FEEDBACK_TEXTURE_2D,
        ResourceKind::FeedbackTexture { arrayed: true, .. } => DxilResourceKind::FEEDBACK_TEXTURE_2D_ARRAY,
    }
}

/// `PSV0` has no minimum precision: those are 16-bit types there.
fn component(element: &SignatureElement) -> SignatureComponentType {
    match (element.min_precision, element.component) {
        (MinPrecision::Float16, _) | (_, ComponentType::F16) => SignatureComponentType::FLOAT16,
        (MinPrecision::Sint16, _) | (_, ComponentType::I16) => SignatureComponentType::SINT16,
        (MinPrecision::Uint16, _) | (_, ComponentType::U16) => SignatureComponentType::UINT16,
        (_, ComponentType::U32 | ComponentType::Bool) => SignatureComponentType::UINT32,
        (_, ComponentType::I32) => SignatureComponentType::SINT32,
        (_, ComponentType::F32) => SignatureComponentType::FLOAT32,
        (_, ComponentType::U64) => SignatureComponentType::UINT64,
        (_, ComponentType::I64) => SignatureComponentType::SINT64,
        (_, ComponentType::F64) => SignatureComponentType::FLOAT64,
        _ => SignatureComponentType::UNKNOWN,
    }
}
