//! `STAT` of Shader Model 4 and 5: what fxc counted.

use serde::{Deserialize, Serialize};

use super::Part;
use crate::Result;

/// The `STAT` part of fxc: 29 32-bit words, 37 from Shader Model 5.0 on, which `D3D11_SHADER_DESC` tells. (dxc puts a
/// program without code there: see [`Bitcode`](super::Bitcode).)
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Statistics {
    pub instructions: u32,
    pub temp_registers: u32,
    pub defines: u32,
    pub declarations: u32,
    pub float_instructions: u32,
    pub int_instructions: u32,
    pub uint_instructions: u32,
    pub static_flow_control: u32,
    pub dynamic_flow_control: u32,
    pub macro_instructions: u32,
    /// Registers of indexable arrays.
    pub temp_arrays: u32,
    pub array_instructions: u32,
    pub cut_instructions: u32,
    pub emit_instructions: u32,
    pub texture_normal_instructions: u32,
    pub texture_load_instructions: u32,
    pub texture_comparison_instructions: u32,
    pub texture_bias_instructions: u32,
    pub texture_gradient_instructions: u32,
    pub mov_instructions: u32,
    pub movc_instructions: u32,
    pub conversion_instructions: u32,
    /// What `GetBitwiseInstructionCount` tells, between its neighbours in `ID3D11ShaderReflection`. fxc leaves it 0.
    pub bitwise_instructions: u32,
    /// `D3D_PRIMITIVE` of the input: of geometry and hull shaders.
    pub input_primitive: u32,
    /// `D3D_PRIMITIVE_TOPOLOGY` of a geometry shader's output.
    pub geometry_output_topology: u32,
    pub geometry_max_output_vertices: u32,
    /// `gather4` in its forms, but not those that compare, unless with feedback: no interface tells this and the next.
    /// (Found by counting in the corpus.)
    pub gather_instructions: u32,
    /// `lod`.
    pub lod_instructions: u32,
    /// The pixel shader runs once per sample.
    pub sample_frequency: bool,
    /// From Shader Model 5.0 on.
    pub shader_model_5: Option<Statistics5>,
}

/// What Shader Model 5 adds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Statistics5 {
    pub geometry_instances: u32,
    pub control_points: u32,
    /// `D3D_TESSELLATOR_OUTPUT_PRIMITIVE`.
    pub hull_output_primitive: u32,
    /// `D3D_TESSELLATOR_PARTITIONING`.
    pub hull_partitioning: u32,
    /// `D3D_TESSELLATOR_DOMAIN`.
    pub tessellator_domain: u32,
    pub barrier_instructions: u32,
    pub interlocked_instructions: u32,
    pub texture_store_instructions: u32,
}

impl Statistics {
    /// Bytes of the part of Shader Model 4.
    pub const LEN: usize = 29 * 4;
    /// Bytes of the part of Shader Model 5.
    pub const LEN_5: usize = 37 * 4;

    /// Reads the part.
    ///
    /// # Errors
    /// The part is shorter than that of Shader Model 4.
    pub fn parse(part: Part<'_>) -> Result<Self> {
        part.bytes_at(0, Self::LEN)?;
        let word = |index: usize| part.u32_at(4 * index);
        let shader_model_5 = if part.data.len() >= Self::LEN_5 {
            Some(Statistics5 {
                geometry_instances: word(29)?,
                control_points: word(30)?,
                hull_output_primitive: word(31)?,
                hull_partitioning: word(32)?,
                tessellator_domain: word(33)?,
                barrier_instructions: word(34)?,
                interlocked_instructions: word(35)?,
                texture_store_instructions: word(36)?,
            })
        } else {
            None
        };
        Ok(Self {
            instructions: word(0)?,
            temp_registers: word(1)?,
            defines: word(2)?,
            declarations: word(3)?,
            float_instructions: word(4)?,
            int_instructions: word(5)?,
            uint_instructions: word(6)?,
            static_flow_control: word(7)?,
            dynamic_flow_control: word(8)?,
            macro_instructions: word(9)?,
            temp_arrays: word(10)?,
            array_instructions: word(11)?,
            cut_instructions: word(12)?,
            emit_instructions: word(13)?,
            texture_normal_instructions: word(14)?,
            texture_load_instructions: word(15)?,
            texture_comparison_instructions: word(16)?,
            texture_bias_instructions: word(17)?,
            texture_gradient_instructions: word(18)?,
            mov_instructions: word(19)?,
            movc_instructions: word(20)?,
            conversion_instructions: word(21)?,
            bitwise_instructions: word(22)?,
            input_primitive: word(23)?,
            geometry_output_topology: word(24)?,
            geometry_max_output_vertices: word(25)?,
            gather_instructions: word(26)?,
            lod_instructions: word(27)?,
            sample_frequency: word(28)? != 0,
            shader_model_5,
        })
    }
}
