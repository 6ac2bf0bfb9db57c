//! Names of the listings, by number: what the disassembler writes and the assembler reads.

use crate::dxbc::operand::RegisterFile;

/// Flags of `dcl_globalFlags`, from bit 11 up.
pub const GLOBAL_FLAGS: [&str; 9] = [
    "refactoringAllowed",
    "enableDoublePrecisionFloatOps",
    "forceEarlyDepthStencil",
    "enableRawAndStructuredBuffers",
    "skipOptimization",
    "enableMinimumPrecision",
    "enable11_1DoubleExtensions",
    "enable11_1ShaderExtensions",
    "allResourcesBound",
];

/// `D3D10_SB_NAME` by number.
pub const SYSTEM_VALUES: [&str; 26] = [
    "undefined",
    "position",
    "clip_distance",
    "cull_distance",
    "rendertarget_array_index",
    "viewport_array_index",
    "vertex_id",
    "primitive_id",
    "instance_id",
    "is_front_face",
    "sampleIndex",
    "finalQuadUeq0EdgeTessFactor",
    "finalQuadVeq0EdgeTessFactor",
    "finalQuadUeq1EdgeTessFactor",
    "finalQuadVeq1EdgeTessFactor",
    "finalQuadUInsideTessFactor",
    "finalQuadVInsideTessFactor",
    "finalTriUeq0EdgeTessFactor",
    "finalTriVeq0EdgeTessFactor",
    "finalTriWeq0EdgeTessFactor",
    "finalTriInsideTessFactor",
    "finalLineDetailTessFactor",
    "finalLineDensityTessFactor",
    "barycentrics",
    "shadingrate",
    "cullprimitive",
];

/// `D3D10_SB_INTERPOLATION_MODE` by number.
pub const INTERPOLATIONS: [&str; 8] = [
    "undefined",
    "constant",
    "linear",
    "linear centroid",
    "linear noperspective",
    "linear noperspective centroid",
    "linear sample",
    "linear noperspective sample",
];

/// `D3D10_SB_RESOURCE_DIMENSION`.
pub const DIMENSIONS: [&str; 13] = [
    "unknown",
    "buffer",
    "texture1d",
    "texture2d",
    "texture2dms",
    "texture3d",
    "texturecube",
    "texture1darray",
    "texture2darray",
    "texture2dmsarray",
    "texturecubearray",
    "raw_buffer",
    "structured_buffer",
];

/// `D3D10_SB_RESOURCE_RETURN_TYPE`.
pub const RETURN_TYPES: [&str; 10] =
    ["unknown", "unorm", "snorm", "sint", "uint", "float", "mixed", "double", "<continued>", "unused"];

/// `D3D10_SB_SAMPLER_MODE`.
pub const SAMPLER_MODES: [&str; 3] = ["default", "comparison", "mono"];

/// `D3D10_SB_PRIMITIVE_TOPOLOGY` of a geometry shader's output.
pub const TOPOLOGIES: [&str; 6] = ["undefined", "pointlist", "linelist", "linestrip", "trianglelist", "trianglestrip"];

/// `D3D11_SB_TESSELLATOR_DOMAIN`.
pub const DOMAINS: [&str; 4] = ["domain_undefined", "domain_isoline", "domain_tri", "domain_quad"];

/// `D3D11_SB_TESSELLATOR_PARTITIONING`.
pub const PARTITIONINGS: [&str; 5] = [
    "partitioning_undefined",
    "partitioning_integer",
    "partitioning_pow2",
    "partitioning_fractional_odd",
    "partitioning_fractional_even",
];

/// `D3D11_SB_TESSELLATOR_OUTPUT_PRIMITIVE`.
pub const OUTPUT_PRIMITIVES: [&str; 5] =
    ["output_undefined", "output_point", "output_line", "output_triangle_cw", "output_triangle_ccw"];

/// Flags of `sync`, by bit, in the order of the listings. They take the flag of the group's UAV fence for saturation.
pub const SYNC_FLAGS: [(u32, &str); 4] = [(13, "_sat_ugroup"), (14, "_uglobal"), (12, "_g"), (11, "_t")];

/// `D3D11_SB_OPERAND_MIN_PRECISION`; none for full precision.
pub fn precision(number: u8) -> Option<&'static str> {
    match number {
        1 => Some("min16f"),
        2 => Some("min2_8f"),
        4 => Some("min16i"),
        5 => Some("min16u"),
        _ => None,
    }
}

/// Name of a register file. Resources of Shader Model 5.1 are ranges, which are spelt in capitals.
pub fn register(file: RegisterFile, ranges: bool) -> &'static str {
    use RegisterFile as File;
    match file {
        File::Temp => "r",
        File::Input => "v",
        File::Output => "o",
        File::IndexableTemp => "x",
        File::Sampler if ranges => "S",
        File::Sampler => "s",
        File::Resource if ranges => "T",
        File::Resource => "t",
        File::ConstantBuffer if ranges => "CB",
        File::ConstantBuffer => "cb",
        File::ImmediateConstantBuffer => "icb",
        File::Label => "label",
        File::InputPrimitiveId => "vPrim",
        File::OutputDepth => "oDepth",
        File::Null => "null",
        File::Rasterizer => "rasterizer",
        File::OutputCoverageMask => "oMask",
        File::Stream => "m",
        File::FunctionBody => "fb",
        File::FunctionTable => "ft",
        File::Interface => "fp",
        File::FunctionInput => "fi",
        File::FunctionOutput => "fo",
        File::OutputControlPointId => "vOutputControlPointID",
        File::ForkInstanceId => "vForkInstanceID",
        File::JoinInstanceId => "vJoinInstanceID",
        File::InputControlPoint => "vicp",
        File::OutputControlPoint => "vocp",
        File::InputPatchConstant => "vpc",
        File::InputDomainPoint => "vDomain",
        File::ThisPointer => "this",
        File::UnorderedAccessView if ranges => "U",
        File::UnorderedAccessView => "u",
        File::GroupSharedMemory => "g",
        File::ThreadId => "vThreadID",
        File::ThreadGroupId => "vThreadGroupID",
        File::ThreadIdInGroup => "vThreadIDInGroup",
        File::InputCoverageMask => "vCoverage",
        File::ThreadIdInGroupFlattened => "vThreadIDInGroupFlattened",
        File::GsInstanceId => "vGSInstanceID",
        File::OutputDepthGreaterEqual => "oDepthGE",
        File::OutputDepthLessEqual => "oDepthLE",
        File::CycleCounter => "vCycleCounter",
        File::OutputStencilRef => "oStencilRef",
        File::InnerCoverage => "vInnerCoverage",
        File::Immediate32 | File::Immediate64 => "l",
    }
}

/// The register's number stands in brackets too, as several registers are indexed as one.
pub fn is_bracketed(file: RegisterFile, indices: usize) -> bool {
    use RegisterFile as File;
    matches!(file, File::ImmediateConstantBuffer | File::ThisPointer)
        || matches!(file, File::Input | File::Output | File::InputControlPoint | File::OutputControlPoint)
            && indices > 1
}
