//! `PSV0`: what the runtime needs of a DXIL program to validate a pipeline.

mod tables;

use serde::{Deserialize, Serialize};

use super::{DxilResourceKind, Part, ProgramVersion, enumeration::enumeration};
use crate::Result;

pub use tables::{ComponentMask, Dependencies, PipelineElement, PipelineTables, StreamDependencies, StreamMask};

/// The `PSV0` part: `PSVRuntimeInfo`, then the resources, then [signatures and dependency masks](PipelineTables).
///
/// `PSVRuntimeInfo` grew with the validator's version, and begins with its length: 24 bytes at first, 36 with stage and
/// signature counts, 48 with the thread group's size, 52 with the entry point's name, 56 with the group-shared bytes.
#[derive(Clone, Copy, Debug)]
pub struct PipelineState<'a> {
    pub(super) part: Part<'a>,
    pub(super) info_len: usize,
}

/// One resource (`PSVResourceBindInfo`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineResource {
    /// `PSVResourceType`.
    pub ty: PipelineResourceType,
    /// Register space.
    pub space: u32,
    /// First register.
    pub lower: u32,
    /// Last register, `u32::MAX` for an unbounded array.
    pub upper: u32,
    /// `PSVResourceKind` (`DXIL::ResourceKind`), from validator 1.6 on.
    pub kind: Option<DxilResourceKind>,
    /// `PSVResourceFlag`: 1 64-bit atomics; from validator 1.6 on.
    pub flags: Option<u32>,
}

enumeration! {
    /// `PSVResourceType`.
    PipelineResourceType: u32 {
        INVALID = 0 "Invalid",
        SAMPLER = 1 "Sampler",
        CBV = 2 "CBV",
        SRV_TYPED = 3 "SRVTyped",
        SRV_RAW = 4 "SRVRaw",
        SRV_STRUCTURED = 5 "SRVStructured",
        UAV_TYPED = 6 "UAVTyped",
        UAV_RAW = 7 "UAVRaw",
        UAV_STRUCTURED = 8 "UAVStructured",
        UAV_STRUCTURED_WITH_COUNTER = 9 "UAVStructuredWithCounter",
    }
}

/// What the part says of the program's stage. A field that the stage or the part's version lacks is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineFacts {
    /// `PSVShaderKind`, in the numbering of [`ProgramVersion::kind`].
    pub kind: Option<u8>,
    /// Lanes of a wave that the program can run with: least and most.
    pub wave_lanes: (u32, u32),
    /// Threads of a group.
    pub thread_group_size: Option<[u32; 3]>,
    /// Name of the entry point.
    pub entry_point: Option<String>,
    /// Pixel shader: it writes depth.
    pub depth_output: bool,
    /// Pixel shader: it runs once per sample.
    pub sample_frequency: bool,
    /// Geometry shader: `D3D_PRIMITIVE` of its input.
    pub input_primitive: Option<u32>,
    /// Geometry shader: `D3D_PRIMITIVE_TOPOLOGY` of its output. Mesh shader: `DXIL::MeshOutputTopology` (1 lines,
    /// 2 triangles).
    pub output_topology: Option<u32>,
    /// Geometry and mesh shaders: vertices of the output at most.
    pub max_vertex_count: Option<u32>,
    /// Mesh shader: primitives of the output at most.
    pub max_primitive_count: Option<u32>,
    /// Hull and domain shaders: control points of the input.
    pub input_control_points: Option<u32>,
    /// Hull shader: control points of the output.
    pub output_control_points: Option<u32>,
    /// Hull and domain shaders: `D3D_TESSELLATOR_DOMAIN`.
    pub tessellator_domain: Option<u32>,
    /// Hull shader: `D3D_TESSELLATOR_OUTPUT_PRIMITIVE`.
    pub tessellator_output: Option<u32>,
    /// Mesh and amplification shaders: bytes of the payload.
    pub payload_size: Option<u32>,
    /// The last stage before the rasterizer, and those before it: it writes a position.
    pub output_position: Option<bool>,
    /// Geometry shader: the streams that it writes, one bit each.
    pub output_stream_mask: Option<u32>,
    /// It reads `SV_ViewID`.
    pub uses_view_id: Option<bool>,
    /// Bytes of group-shared memory.
    pub group_shared_bytes: Option<u32>,
    /// Mesh shader: bytes of group-shared memory whose contents depend on `SV_ViewID`.
    pub group_shared_bytes_of_view: Option<u32>,
}

impl<'a> PipelineState<'a> {
    /// Offset of `PSVRuntimeInfo` in the part.
    pub(super) const INFO: usize = 4;

    /// Reads the header.
    ///
    /// # Errors
    /// `PSVRuntimeInfo` is shorter than in its first version, or passes the end of the part.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let info_len = part.size_at(0)?;
        if info_len < 24 {
            return Err(part.malformed(0, format!("PSVRuntimeInfo is too short: {info_len} bytes")));
        }
        part.bytes_at(Self::INFO, info_len)?;
        Ok(Self { part, info_len })
    }

    /// The resources, in file order.
    ///
    /// # Errors
    /// The table passes the end of the part.
    pub fn resources(&self) -> Result<impl Iterator<Item = Result<PipelineResource>> + use<'a>> {
        let part = self.part;
        let header = Self::INFO + self.info_len;
        let count = part.size_at(header)?;
        // The records' length is there only if there are records.
        let stride = if count > 0 { part.size_at(header + 4)? } else { 16 };
        if stride < 16 {
            return Err(part.malformed(header + 4, format!("resource records are too short: {stride} bytes")));
        }
        Ok(part.records(header + 8, count, stride)?.map(move |offset| {
            Ok(PipelineResource {
                ty: PipelineResourceType(part.u32_at(offset)?),
                space: part.u32_at(offset + 4)?,
                lower: part.u32_at(offset + 8)?,
                upper: part.u32_at(offset + 12)?,
                kind: if stride >= 24 { Some(DxilResourceKind(part.u32_at(offset + 16)?)) } else { None },
                flags: if stride >= 24 { Some(part.u32_at(offset + 20)?) } else { None },
            })
        }))
    }

    /// The facts of a stage. The part's first version does not name the stage: `version` is the program's.
    ///
    /// # Errors
    /// The name of the entry point is not within the part.
    pub fn facts(&self, version: ProgramVersion) -> Result<PipelineFacts> {
        // All offsets below are within `info_len`, which is within the part.
        let u8_at = |offset: usize| self.part.u8_at(Self::INFO + offset);
        let u32_at = |offset: usize| self.part.u32_at(Self::INFO + offset);
        let mut facts = PipelineFacts { wave_lanes: (u32_at(16)?, u32_at(20)?), ..Default::default() };
        if self.info_len >= 36 {
            facts.kind = Some(u8_at(24)?);
            facts.uses_view_id = Some(u8_at(25)? != 0);
        }
        match version.kind {
            0 => {
                facts.depth_output = u8_at(0)? != 0;
                facts.sample_frequency = u8_at(1)? != 0;
            }
            1 => facts.output_position = Some(u8_at(0)? != 0),
            2 => {
                facts.input_primitive = Some(u32_at(0)?);
                facts.output_topology = Some(u32_at(4)?);
                facts.output_stream_mask = Some(u32_at(8)?);
                facts.output_position = Some(u8_at(12)? != 0);
                if self.info_len >= 36 {
                    facts.max_vertex_count = Some(self.part.u16_at(Self::INFO + 26)?.into());
                }
            }
            3 => {
                facts.input_control_points = Some(u32_at(0)?);
                facts.output_control_points = Some(u32_at(4)?);
                facts.tessellator_domain = Some(u32_at(8)?);
                facts.tessellator_output = Some(u32_at(12)?);
            }
            4 => {
                facts.input_control_points = Some(u32_at(0)?);
                facts.output_position = Some(u8_at(4)? != 0);
                facts.tessellator_domain = Some(u32_at(8)?);
            }
            13 => {
                facts.group_shared_bytes = Some(u32_at(0)?);
                facts.group_shared_bytes_of_view = Some(u32_at(4)?);
                facts.payload_size = Some(u32_at(8)?);
                facts.max_vertex_count = Some(self.part.u16_at(Self::INFO + 12)?.into());
                facts.max_primitive_count = Some(self.part.u16_at(Self::INFO + 14)?.into());
                if self.info_len >= 36 {
                    facts.output_topology = Some(u8_at(27)?.into());
                }
            }
            14 => facts.payload_size = Some(u32_at(0)?),
            _ => {}
        }
        if self.info_len >= 48 && matches!(version.kind, 5 | 13 | 14) {
            facts.thread_group_size = Some([u32_at(36)?, u32_at(40)?, u32_at(44)?]);
        }
        if self.info_len >= 52 {
            facts.entry_point = self.string(u32_at(48)? as usize)?;
        }
        if self.info_len >= 56 && matches!(version.kind, 5 | 13 | 14) {
            facts.group_shared_bytes = Some(u32_at(52)?);
        }
        Ok(facts)
    }

    /// Version of the part, by the length of `PSVRuntimeInfo`: 0 to 4.
    pub fn version(&self) -> u8 {
        match self.info_len {
            0..36 => 0,
            36..48 => 1,
            48..52 => 2,
            52..56 => 3,
            56.. => 4,
        }
    }

    /// A name in the string table, which follows the resources: its length, then the texts.
    fn string(&self, index: usize) -> Result<Option<String>> {
        let header = Self::INFO + self.info_len;
        let resources = match self.part.size_at(header)? {
            0 => 4,
            count => self.part.size_at(header + 4)?.saturating_mul(count).saturating_add(8),
        };
        let table = header.saturating_add(resources);
        let len = self.part.size_at(table)?;
        if index >= len {
            return Ok(None);
        }
        let text = self.part.text_at(table + 4 + index)?;
        Ok((!text.is_empty()).then(|| text.into_owned()))
    }
}
