//! Declarations: registers, resources and facts of the stage.

use super::{
    opcode::Opcode,
    operand::{Operand, RegisterFile},
    token::{Tokens, bits},
};
use crate::{
    Error, Result,
    reflection::{ComponentType, Interpolation, SamplerMode, TextureDimension, UavFlags},
};

/// Registers that one declaration covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterRange {
    /// What instructions name: the register itself before Shader Model 5.1, the range's own number there.
    pub id: u32,
    /// Register space.
    pub space: u32,
    /// First register.
    pub register: u32,
    /// Number of registers; `None` if it is unbounded.
    pub count: Option<u32>,
}

/// Shape of a typed resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceShape {
    /// A typed buffer.
    Buffer,
    /// A texture.
    Texture(TextureDimension),
}

/// What a declaration says.
#[derive(Clone, Debug, PartialEq)]
pub enum Declaration {
    /// `dcl_resource_*`
    Resource {
        /// Where.
        range: RegisterRange,
        /// Shape.
        shape: ResourceShape,
        /// Sample count if it is given, else 0.
        samples: u8,
        /// Type of a texel's components.
        component: ComponentType,
    },
    /// `dcl_resource_raw`
    RawResource(RegisterRange),
    /// `dcl_resource_structured`
    StructuredResource {
        /// Where.
        range: RegisterRange,
        /// Bytes from one element to the next.
        stride: u32,
    },
    /// `dcl_uav_typed_*`
    Uav {
        /// Where.
        range: RegisterRange,
        /// Shape.
        shape: ResourceShape,
        /// Type of a texel's components.
        component: ComponentType,
        /// Qualifiers.
        flags: UavFlags,
    },
    /// `dcl_uav_raw`
    RawUav {
        /// Where.
        range: RegisterRange,
        /// Qualifiers.
        flags: UavFlags,
    },
    /// `dcl_uav_structured`
    StructuredUav {
        /// Where.
        range: RegisterRange,
        /// Bytes from one element to the next.
        stride: u32,
        /// It has a counter whose values last.
        counter: bool,
        /// Qualifiers.
        flags: UavFlags,
    },
    /// `dcl_constantbuffer`
    ConstantBuffer {
        /// Where.
        range: RegisterRange,
        /// Number of 16-byte rows; 0 if it is not known.
        rows: u32,
    },
    /// `dcl_sampler`
    Sampler {
        /// Where.
        range: RegisterRange,
        /// How it is used.
        mode: SamplerMode,
    },
    /// `dcl_input`, and its forms for system values and pixel shaders.
    Input {
        /// The register and its declared components.
        operand: Operand,
        /// `D3D10_SB_NAME`; 0 for none.
        name: u32,
        /// How a pixel shader's input is interpolated.
        interpolation: Option<Interpolation>,
    },
    /// `dcl_output`, and its forms for system values.
    Output {
        /// The register and its declared components.
        operand: Operand,
        /// `D3D10_SB_NAME`; 0 for none.
        name: u32,
    },
    /// `dcl_indexrange`: registers that relative indices reach.
    IndexRange {
        /// First register, and the components.
        operand: Operand,
        /// Number of registers.
        count: u32,
    },
    /// `dcl_temps`: number of temporary registers.
    Temps(u32),
    /// `dcl_indexableTemp`
    IndexableTemp {
        /// Number of the register.
        register: u32,
        /// Number of elements.
        count: u32,
        /// Components of an element, 1 to 4.
        components: u8,
    },
    /// `dcl_globalFlags`: bits as in the opcode token, from bit 11.
    GlobalFlags(u32),
    /// `dcl_inputprimitive`: `D3D10_SB_PRIMITIVE`.
    InputPrimitive(u32),
    /// `dcl_outputtopology`: `D3D10_SB_PRIMITIVE_TOPOLOGY`.
    OutputTopology(u32),
    /// `dcl_maxout`
    MaxOutputVertexCount(u32),
    /// `dcl_gs_instance_count`
    GsInstanceCount(u32),
    /// `dcl_stream`: outputs declared from here on belong to this stream.
    Stream(u32),
    /// `dcl_input_control_point_count`
    InputControlPointCount(u32),
    /// `dcl_output_control_point_count`
    OutputControlPointCount(u32),
    /// `dcl_tessellator_domain`: `D3D11_SB_TESSELLATOR_DOMAIN`.
    TessellatorDomain(u32),
    /// `dcl_tessellator_partitioning`: `D3D11_SB_TESSELLATOR_PARTITIONING`.
    TessellatorPartitioning(u32),
    /// `dcl_tessellator_output_primitive`: `D3D11_SB_TESSELLATOR_OUTPUT_PRIMITIVE`.
    TessellatorOutput(u32),
    /// `dcl_hs_max_tessfactor`
    MaxTessellationFactor(f32),
    /// `dcl_hs_fork_phase_instance_count`, `dcl_hs_join_phase_instance_count`
    PhaseInstanceCount(u32),
    /// `dcl_thread_group`: threads in x, y and z.
    ThreadGroup([u32; 3]),
    /// `dcl_tgsm_raw`
    GroupSharedRaw {
        /// Number of the register.
        register: u32,
        /// Size in bytes.
        bytes: u32,
    },
    /// `dcl_tgsm_structured`
    GroupSharedStructured {
        /// Number of the register.
        register: u32,
        /// Bytes of an element.
        stride: u32,
        /// Number of elements.
        count: u32,
    },
    /// `dcl_immediateConstantBuffer`: its rows.
    ImmediateConstantBuffer(Vec<[u32; 4]>),
    /// `dcl_function_body`: its number.
    FunctionBody(u32),
    /// `dcl_function_table`
    FunctionTable {
        /// Its number.
        table: u32,
        /// Numbers of the bodies.
        bodies: Vec<u32>,
    },
    /// `dcl_interface`
    Interface {
        /// Its number.
        interface: u32,
        /// Number of functions in each table.
        functions: u32,
        /// Number of interfaces of an array.
        elements: u32,
        /// Tables that implement it.
        tables: Vec<u32>,
    },
}

/// Reads the tokens of a declaration behind its opcode tokens. `layout_5_1` tells that ranges and spaces are declared.
pub fn read(opcode: Opcode, token: u32, tokens: &mut Tokens<'_>, layout_5_1: bool) -> Result<Declaration> {
    let offset = tokens.offset();
    let control = |low, width| bits(token, low, width);
    let flags = UavFlags { globally_coherent: control(16, 1) == 1, rasterizer_ordered: control(17, 1) == 1 };
    // What stands behind the operand, before the register space.
    let resource = |tokens: &mut Tokens<'_>, file: RegisterFile, words: &mut [u32]| -> Result<RegisterRange> {
        let operand = Operand::read(tokens)?;
        if operand.file != file {
            return Err(Error::malformed(format!("{} declares another register file", opcode.name())).at_offset(offset));
        }
        for word in words.iter_mut() {
            *word = tokens.next()?;
        }
        if layout_5_1 && tokens.remaining() == 2 {
            // Some compilers write a return type for raw buffers too.
            tokens.next()?;
        }
        let space = if layout_5_1 { tokens.next()? } else { 0 };
        range(&operand, space, layout_5_1, opcode).map_err(|error| error.at_offset(offset))
    };
    Ok(match opcode {
        Opcode::DclResource => {
            let mut returned = [0];
            let range = resource(tokens, RegisterFile::Resource, &mut returned)?;
            let shape = shape(control(11, 5)).map_err(|error| error.at_offset(offset))?;
            Declaration::Resource {
                range,
                shape,
                samples: control(16, 7) as u8,
                component: component_type(bits(returned[0], 0, 4)),
            }
        }
        Opcode::DclResourceRaw => Declaration::RawResource(resource(tokens, RegisterFile::Resource, &mut [])?),
        Opcode::DclResourceStructured => {
            let mut stride = [0];
            let range = resource(tokens, RegisterFile::Resource, &mut stride)?;
            Declaration::StructuredResource { range, stride: stride[0] }
        }
        Opcode::DclUavTyped => {
            let mut returned = [0];
            let range = resource(tokens, RegisterFile::UnorderedAccessView, &mut returned)?;
            let shape = shape(control(11, 5)).map_err(|error| error.at_offset(offset))?;
            Declaration::Uav { range, shape, component: component_type(bits(returned[0], 0, 4)), flags }
        }
        Opcode::DclUavRaw => {
            Declaration::RawUav { range: resource(tokens, RegisterFile::UnorderedAccessView, &mut [])?, flags }
        }
        Opcode::DclUavStructured => {
            let mut stride = [0];
            let range = resource(tokens, RegisterFile::UnorderedAccessView, &mut stride)?;
            Declaration::StructuredUav { range, stride: stride[0], counter: control(23, 1) == 1, flags }
        }
        Opcode::DclSampler => {
            let range = resource(tokens, RegisterFile::Sampler, &mut [])?;
            let mode = match control(11, 4) {
                0 => SamplerMode::Default,
                1 => SamplerMode::Comparison,
                2 => SamplerMode::Mono,
                mode => {
                    return Err(Error::malformed(format!("unknown mode of dcl_sampler: {mode}")).at_offset(offset));
                }
            };
            Declaration::Sampler { range, mode }
        }
        Opcode::DclConstantBuffer => {
            if layout_5_1 {
                let mut rows = [0];
                let range = resource(tokens, RegisterFile::ConstantBuffer, &mut rows)?;
                Declaration::ConstantBuffer { range, rows: rows[0] }
            } else {
                let operand = Operand::read(tokens)?;
                let range = range(&operand, 0, false, opcode).map_err(|error| error.at_offset(offset))?;
                let Some(rows) = operand.indices.get(1) else {
                    return Err(Error::malformed("dcl_constantbuffer without a size").at_offset(offset));
                };
                Declaration::ConstantBuffer { range, rows: rows.base }
            }
        }
        Opcode::DclInput => Declaration::Input { operand: Operand::read(tokens)?, name: 0, interpolation: None },
        Opcode::DclInputSgv | Opcode::DclInputSiv => Declaration::Input {
            operand: Operand::read(tokens)?,
            name: bits(tokens.next()?, 0, 16),
            interpolation: None,
        },
        Opcode::DclInputPs => {
            let interpolation = Some(interpolation(control(11, 4)).map_err(|error| error.at_offset(offset))?);
            Declaration::Input { operand: Operand::read(tokens)?, name: 0, interpolation }
        }
        Opcode::DclInputPsSgv | Opcode::DclInputPsSiv => {
            let interpolation = Some(interpolation(control(11, 4)).map_err(|error| error.at_offset(offset))?);
            Declaration::Input { operand: Operand::read(tokens)?, name: bits(tokens.next()?, 0, 16), interpolation }
        }
        Opcode::DclOutput => Declaration::Output { operand: Operand::read(tokens)?, name: 0 },
        Opcode::DclOutputSgv | Opcode::DclOutputSiv => {
            Declaration::Output { operand: Operand::read(tokens)?, name: bits(tokens.next()?, 0, 16) }
        }
        Opcode::DclIndexRange => Declaration::IndexRange { operand: Operand::read(tokens)?, count: tokens.next()? },
        Opcode::DclTemps => Declaration::Temps(tokens.next()?),
        Opcode::DclIndexableTemp => {
            let (register, count, components) = (tokens.next()?, tokens.next()?, tokens.next()?);
            if !(1..=4).contains(&components) {
                let what = format!("components of dcl_indexableTemp are not 1 to 4: {components}");
                return Err(Error::malformed(what).at_offset(offset));
            }
            Declaration::IndexableTemp { register, count, components: components as u8 }
        }
        Opcode::DclGlobalFlags => Declaration::GlobalFlags(control(11, 13)),
        Opcode::DclGsInputPrimitive => Declaration::InputPrimitive(control(11, 6)),
        Opcode::DclGsOutputPrimitiveTopology => Declaration::OutputTopology(control(11, 7)),
        Opcode::DclMaxOutputVertexCount => Declaration::MaxOutputVertexCount(tokens.next()?),
        Opcode::DclGsInstanceCount => Declaration::GsInstanceCount(tokens.next()?),
        Opcode::DclStream => {
            let operand = Operand::read(tokens)?;
            let stream = operand.register().filter(|stream| *stream < 4);
            Declaration::Stream(stream.ok_or_else(|| Error::malformed("dcl_stream names no stream").at_offset(offset))?)
        }
        Opcode::DclInputControlPointCount => Declaration::InputControlPointCount(control(11, 6)),
        Opcode::DclOutputControlPointCount => Declaration::OutputControlPointCount(control(11, 6)),
        Opcode::DclTessDomain => Declaration::TessellatorDomain(control(11, 2)),
        Opcode::DclTessPartitioning => Declaration::TessellatorPartitioning(control(11, 3)),
        Opcode::DclTessOutputPrimitive => Declaration::TessellatorOutput(control(11, 3)),
        Opcode::DclHsMaxTessFactor => Declaration::MaxTessellationFactor(f32::from_bits(tokens.next()?)),
        Opcode::DclHsForkPhaseInstanceCount | Opcode::DclHsJoinPhaseInstanceCount => {
            Declaration::PhaseInstanceCount(tokens.next()?)
        }
        Opcode::DclThreadGroup => {
            let size = [tokens.next()?, tokens.next()?, tokens.next()?];
            // D3D11_CS_THREAD_GROUP_MAX_THREADS_PER_GROUP
            let threads = size.iter().try_fold(1u32, |product, threads| product.checked_mul(*threads));
            if !threads.is_some_and(|threads| (1..=1024).contains(&threads)) {
                let what = format!("dcl_thread_group is not of 1 to 1024 threads: {size:?}");
                return Err(Error::malformed(what).at_offset(offset));
            }
            Declaration::ThreadGroup(size)
        }
        Opcode::DclTgsmRaw => Declaration::GroupSharedRaw { register: shared(tokens, opcode)?, bytes: tokens.next()? },
        Opcode::DclTgsmStructured => Declaration::GroupSharedStructured {
            register: shared(tokens, opcode)?,
            stride: tokens.next()?,
            count: tokens.next()?,
        },
        Opcode::DclFunctionBody => Declaration::FunctionBody(tokens.next()?),
        Opcode::DclFunctionTable => {
            let (table, count) = (tokens.next()?, tokens.next()?);
            Declaration::FunctionTable { table, bodies: list(tokens, count)? }
        }
        Opcode::DclInterface => {
            let (interface, functions, lengths) = (tokens.next()?, tokens.next()?, tokens.next()?);
            Declaration::Interface {
                interface,
                functions,
                elements: bits(lengths, 16, 16),
                tables: list(tokens, bits(lengths, 0, 16))?,
            }
        }
        _ => return Err(Error::internal(format!("{} is no declaration", opcode.name())).at_offset(offset)),
    })
}

/// `count` words, of which all must be there.
fn list(tokens: &mut Tokens<'_>, count: u32) -> Result<Vec<u32>> {
    if count as usize > tokens.remaining() {
        return Err(Error::malformed("a list is longer than its declaration").at_offset(tokens.offset()));
    }
    (0..count).map(|_| tokens.next()).collect()
}

/// The register of a `g#` operand.
fn shared(tokens: &mut Tokens<'_>, opcode: Opcode) -> Result<u32> {
    let offset = tokens.offset();
    let operand = Operand::read(tokens)?;
    operand
        .register()
        .filter(|_| operand.file == RegisterFile::GroupSharedMemory)
        .ok_or_else(|| Error::malformed(format!("{} names no g# register", opcode.name())).at_offset(offset))
}

/// The range that an operand of a resource's declaration names.
fn range(operand: &Operand, space: u32, layout_5_1: bool, opcode: Opcode) -> Result<RegisterRange> {
    let index = |dimension: usize| {
        operand
            .indices
            .get(dimension)
            .filter(|index| index.relative.is_none())
            .map(|index| index.base)
            .ok_or_else(|| Error::malformed(format!("{} without immediate registers", opcode.name())))
    };
    if !layout_5_1 {
        let register = index(0)?;
        return Ok(RegisterRange { id: register, space, register, count: Some(1) });
    }
    let (id, register, upper) = (index(0)?, index(1)?, index(2)?);
    let count = match upper {
        u32::MAX => None,
        _ => {
            let count = upper.checked_sub(register).map(|last| last + 1);
            Some(count.ok_or_else(|| Error::malformed(format!("{} of a range that ends early", opcode.name())))?)
        }
    };
    Ok(RegisterRange { id, space, register, count })
}

/// `D3D10_SB_RESOURCE_DIMENSION` of a typed resource.
pub fn shape(dimension: u32) -> Result<ResourceShape> {
    use TextureDimension as Dimension;
    Ok(ResourceShape::Texture(match dimension {
        1 => return Ok(ResourceShape::Buffer),
        2 => Dimension::D1,
        3 => Dimension::D2,
        4 => Dimension::D2Multisampled,
        5 => Dimension::D3,
        6 => Dimension::Cube,
        7 => Dimension::D1Array,
        8 => Dimension::D2Array,
        9 => Dimension::D2MultisampledArray,
        10 => Dimension::CubeArray,
        _ => return Err(Error::malformed(format!("unknown dimension of a typed resource: {dimension}"))),
    }))
}

/// `D3D10_SB_RESOURCE_RETURN_TYPE` of the first component: HLSL has no resources of mixed types.
pub fn component_type(returned: u32) -> ComponentType {
    match returned {
        1 => ComponentType::UnormF32,
        2 => ComponentType::SnormF32,
        3 => ComponentType::I32,
        4 => ComponentType::U32,
        5 => ComponentType::F32,
        7 => ComponentType::F64,
        _ => ComponentType::Unknown,
    }
}

/// `D3D10_SB_INTERPOLATION_MODE`.
fn interpolation(mode: u32) -> Result<Interpolation> {
    Ok(match mode {
        0 => Interpolation::Undefined,
        1 => Interpolation::Constant,
        2 => Interpolation::Linear,
        3 => Interpolation::LinearCentroid,
        4 => Interpolation::LinearNoperspective,
        5 => Interpolation::LinearNoperspectiveCentroid,
        6 => Interpolation::LinearSample,
        7 => Interpolation::LinearNoperspectiveSample,
        _ => return Err(Error::malformed(format!("unknown interpolation mode: {mode}"))),
    })
}
