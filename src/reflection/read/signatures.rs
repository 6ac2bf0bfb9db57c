//! Signature parts to signature elements.

use crate::{
    Error, Result,
    container::{Container, FourCc, Signature, SignatureRecord},
    reflection::{ComponentType, MinPrecision, SignatureElement, Stage, SystemValue},
};

/// The three signatures of a container.
#[derive(Debug, Default)]
pub(in crate::reflection) struct Signatures {
    pub inputs: Vec<SignatureElement>,
    pub outputs: Vec<SignatureElement>,
    pub patch_constants: Vec<SignatureElement>,
}

/// Which way a signature's values go: it decides what the second mask of a record means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Input,
    Output,
}

/// More than any signature has: 32 registers of 4 components for each of 4 streams, and values without registers.
const MAX_ELEMENTS: usize = 1024;

/// Reads the signatures of a container; one whose part is missing is empty.
pub(in crate::reflection) fn read(container: &Container<'_>, stage: Stage) -> Result<Signatures> {
    let read = |names: &[FourCc], direction| {
        let Some(part) = container.first_part(names) else { return Ok(Vec::new()) };
        let signature = Signature::parse(part)?;
        if signature.len() > MAX_ELEMENTS {
            return Err(part.malformed(0, format!("more elements than any signature can have: {}", signature.len())));
        }
        let element = |record| element(record?, stage, direction).map_err(|error| error.in_part(part.name));
        signature.records().map(element).collect::<Result<Vec<_>>>()
    };
    let patch_direction = if stage == Stage::Domain { Direction::Input } else { Direction::Output };
    Ok(Signatures {
        inputs: read(&[FourCc::ISG1, FourCc::ISGN], Direction::Input)?,
        outputs: read(&[FourCc::OSG1, FourCc::OSG5, FourCc::OSGN], Direction::Output)?,
        patch_constants: read(&[FourCc::PSG1, FourCc::PCSG], patch_direction)?,
    })
}

/// One record is one element of one row: fxc gives arrays and matrices a record for each register.
fn element(record: SignatureRecord<'_>, stage: Stage, direction: Direction) -> Result<SignatureElement> {
    let register = (record.register != u32::MAX).then_some(record.register);
    let system_value = match record.system_value.0 {
        0 => unnamed(&record.semantic, register, stage, direction),
        // A number that no compiler writes says less than the semantic.
        code => system_value(code).unwrap_or_else(|| unnamed(&record.semantic, register, stage, direction)),
    };
    let used_mask = match direction {
        Direction::Input => record.mask & record.exclusive_mask,
        Direction::Output => record.mask & !record.exclusive_mask,
    };
    Ok(SignatureElement {
        semantic_indices: vec![record.semantic_index],
        register,
        rows: 1,
        mask: record.mask,
        used_mask,
        component: component(record.component_type.0),
        min_precision: min_precision(record.min_precision.0),
        system_value,
        interpolation: Default::default(),
        stream: u8::try_from(record.stream)
            .map_err(|_| Error::malformed(format!("stream of {}: {}", record.semantic, record.stream)))?,
        semantic: record.semantic.into_owned(),
    })
}

/// The system value of a record that names none. fxc leaves the outputs of a pixel shader unnamed: what has a register
/// there is a render target whatever its semantic is (`COLOR` in the compatibility mode), and the others are told apart
/// by their semantics.
fn unnamed(semantic: &str, register: Option<u32>, stage: Stage, direction: Direction) -> SystemValue {
    if stage != Stage::Pixel || direction != Direction::Output {
        return SystemValue::Arbitrary;
    }
    let is = |name: &str| semantic.eq_ignore_ascii_case(name);
    match register {
        Some(_) => SystemValue::Target,
        None if is("SV_Depth") || is("DEPTH") => SystemValue::Depth,
        None if is("SV_DepthGreaterEqual") => SystemValue::DepthGreaterEqual,
        None if is("SV_DepthLessEqual") => SystemValue::DepthLessEqual,
        None if is("SV_Coverage") => SystemValue::Coverage,
        None if is("SV_StencilRef") => SystemValue::StencilRef,
        None => SystemValue::Arbitrary,
    }
}

/// `D3D_NAME`, and the numbers that DirectXShaderCompiler's `DxilProgramSigSemantic` adds.
fn system_value(code: u32) -> Option<SystemValue> {
    Some(match code {
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
        // Edges of quads and triangles, detail and density of lines.
        11 | 13 | 15 | 16 => SystemValue::TessFactor,
        12 | 14 => SystemValue::InsideTessFactor,
        23 => SystemValue::Barycentrics,
        24 => SystemValue::ShadingRate,
        25 => SystemValue::CullPrimitive,
        26 => SystemValue::StartVertexLocation,
        27 => SystemValue::StartInstanceLocation,
        64 => SystemValue::Target,
        65 => SystemValue::Depth,
        66 => SystemValue::Coverage,
        67 => SystemValue::DepthGreaterEqual,
        68 => SystemValue::DepthLessEqual,
        69 => SystemValue::StencilRef,
        70 => SystemValue::InnerCoverage,
        _ => return None,
    })
}

/// `D3D_REGISTER_COMPONENT_TYPE`, and the numbers that `DxilProgramSigCompType` adds.
fn component(code: u32) -> ComponentType {
    match code {
        1 => ComponentType::U32,
        2 => ComponentType::I32,
        3 => ComponentType::F32,
        4 => ComponentType::U16,
        5 => ComponentType::I16,
        6 => ComponentType::F16,
        7 => ComponentType::U64,
        8 => ComponentType::I64,
        9 => ComponentType::F64,
        _ => ComponentType::Unknown,
    }
}

/// `D3D_MIN_PRECISION`. It is a hint, so an unknown number is none.
fn min_precision(code: u32) -> MinPrecision {
    match code {
        1 => MinPrecision::Float16,
        2 => MinPrecision::Float2_8,
        4 => MinPrecision::Sint16,
        5 => MinPrecision::Uint16,
        0xf0 => MinPrecision::Any16,
        0xf1 => MinPrecision::Any10,
        _ => MinPrecision::Default,
    }
}
