//! Functions of libraries.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    TableKind,
    node::{self, Node},
    reader::Record,
    resource::{self, LibraryResource},
    stage::{self, StageInfo},
};
use crate::{
    Result,
    container::{FeatureFlags, ShaderKind, enumeration::flags},
};

/// One function (`RuntimeDataFunctionInfo`, and `RuntimeDataFunctionInfo2` from validator 1.8 on).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryShader<'a> {
    /// Name, mangled.
    pub name: Cow<'a, str>,
    /// Name as the HLSL has it.
    pub unmangled_name: Cow<'a, str>,
    /// The global resources that it uses.
    pub resources: Vec<LibraryResource<'a>>,
    /// Names of functions that other libraries must define.
    pub dependencies: Vec<Cow<'a, str>>,
    /// Its stage, or `Library`.
    pub kind: ShaderKind,
    /// Hit and miss shaders: bytes of the payload. Callable shaders: bytes of the parameter.
    pub payload_size: u32,
    /// Hit shaders: bytes of the attributes.
    pub attribute_size: u32,
    /// Features that it demands.
    pub features: FeatureFlags,
    /// The stages that it can be linked into.
    pub stages: StageMask,
    /// The least Shader Model: its version token.
    pub min_shader_target: u32,
    /// Lanes of a wave at least; 0 for any.
    pub min_wave_lanes: u8,
    /// Lanes of a wave at most; 0 for any.
    pub max_wave_lanes: u8,
    /// Facts.
    pub flags: ShaderFlags,
    /// The node of a work graph that it is.
    pub node: Option<Node<'a>>,
    /// What a stage of the graphics or compute pipeline adds: experimental.
    pub stage: Option<StageInfo<'a>>,
}

flags! {
    /// `DxilShaderStageFlags`: one bit for each [`ShaderKind`].
    StageMask: u32 {
        PIXEL = 0x1 "Pixel",
        VERTEX = 0x2 "Vertex",
        GEOMETRY = 0x4 "Geometry",
        HULL = 0x8 "Hull",
        DOMAIN = 0x10 "Domain",
        COMPUTE = 0x20 "Compute",
        LIBRARY = 0x40 "Library",
        RAY_GENERATION = 0x80 "RayGeneration",
        INTERSECTION = 0x100 "Intersection",
        ANY_HIT = 0x200 "AnyHit",
        CLOSEST_HIT = 0x400 "ClosestHit",
        MISS = 0x800 "Miss",
        CALLABLE = 0x1000 "Callable",
        MESH = 0x2000 "Mesh",
        AMPLIFICATION = 0x4000 "Amplification",
        NODE = 0x8000 "Node",
    }
}

flags! {
    /// `DxilShaderFlags`.
    ShaderFlags: u16 {
        NODE_PROGRAM_ENTRY = 0x1 "NodeProgramEntry",
        OUTPUT_POSITION_PRESENT = 0x2 "OutputPositionPresent",
        DEPTH_OUTPUT = 0x4 "DepthOutput",
        SAMPLE_FREQUENCY = 0x8 "SampleFrequency",
        USES_VIEW_ID = 0x10 "UsesViewID",
    }
}

pub(super) fn read<'a>(record: Record<'_, 'a>) -> Result<LibraryShader<'a>> {
    let kind = ShaderKind(record.u32(16)?);
    let node = if kind == ShaderKind::NODE && record.has(52) {
        record.record(TableKind::NODE_SHADER_INFO, 48)?.map(node::read).transpose()?
    } else {
        None
    };
    Ok(LibraryShader {
        name: record.text(0)?,
        unmangled_name: record.text(4)?,
        resources: record.records(TableKind::RESOURCE, 8, resource::read)?,
        dependencies: record.texts(12)?,
        kind,
        payload_size: record.u32(20)?,
        attribute_size: record.u32(24)?,
        features: FeatureFlags(u64::from(record.u32(28)?) | u64::from(record.u32(32)?) << 32),
        stages: StageMask(record.u32(36)?),
        min_shader_target: record.u32(40)?,
        min_wave_lanes: record.u8(44)?,
        max_wave_lanes: record.u8(45)?,
        flags: ShaderFlags(record.u16(46)?),
        node,
        stage: stage::read(kind, &record, 48)?,
    })
}
