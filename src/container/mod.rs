//! DirectX containers (`DXContainer`): header, digest, part table, a view of each part, and writing.
//!
//! Everything here borrows the bytes of the file: [`Container`] is a table of offsets, and a view of a part such as
//! [`ProgramHeader`], [`Signature`] or [`ResourceDefinitions`] decodes a record when it is asked for it. Nothing is
//! assumed about where parts lie, how they are aligned or padded, how often one occurs or in which order; every offset
//! and length is checked where it is used. What the numbers mean is for [`crate::reflection`] to say.
//!
//! ```
//! # fn main() -> bevy_dxshader::Result<()> {
//! # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/reflection/depth.dxbc"));
//! use bevy_dxshader::container::{Container, DigestState, FourCc, Signature};
//!
//! let container = Container::parse(bytes)?;
//! assert_eq!(container.digest_state(), DigestState::Ok);
//! if let Some(part) = container.part(FourCc::OSGN) {
//!     for record in Signature::parse(part)?.records() {
//!         let record = record?;
//!         println!("{}{} in register {}", record.semantic, record.semantic_index, record.register);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What a part says:
//!
//! | part | view |
//! |---|---|
//! | `DXIL`, `ILDB`, dxc's `STAT`; `SHDR`, `SHEX` | [`Bitcode`]; [`TokenProgram`] |
//! | `ISGN`, `OSGN`, `PCSG`, `OSG5`, `ISG1`, `OSG1`, `PSG1` | [`Signature`] |
//! | `RDEF`; fxc's `STAT` | [`ResourceDefinitions`]; [`Statistics`] |
//! | `PSV0`; `RDAT`; `RTS0` | [`PipelineState`]; [`RuntimeData`]; [`RootSignature`] |
//! | `SFI0`; `HASH`; `VERS` | [`FeatureFlags`]; [`ShaderHash`]; [`CompilerVersion`] |
//! | `ILDN`, `SRCI`, `PDBI`; PDB files | [`DebugName`], [`SourceInfo`], [`PdbInfoPart`]; [`Pdb`] |
//! | `IFCE`; `LIBH`, `LFS0` (`LIBF` is a container) | [`Interfaces`]; [`LibraryHeader`], [`FunctionParameters`] |
//! | `Aon9`, `XNAS`, `XNAP`; `CTAB`, `CLI4` | [`Level9Program`]; [`ConstantTable`], [`literals()`] |
//! | `FX10` | [`Effect`] |
//!
//! [`PartView`] reads any of them for tools that show parts, [`yaml()`] writes the document of LLVM's `obj2yaml`.
//! [`ContainerWriter`] builds and edits containers, [`Carver`] finds them in other files.
//!
//! Sources: LLVM's `DXContainer` document and `llvm/BinaryFormat/DXContainer.h`, DirectXShaderCompiler's
//! `DxilContainer.h` and `DxilPipelineStateValidation.h`, and the `d3d11TokenizedProgramFormat.hpp` header.

mod carve;
mod compiler_version;
mod constant_table;
mod debug_name;
mod digest;
mod effect;
mod enumeration;
mod features;
mod file;
pub(crate) mod float;
mod fourcc;
mod hash;
mod interfaces;
mod level9;
mod library;
mod part;
mod pdb;
mod pdb_info;
mod pipeline_state;
mod program;
mod resource_definitions;
mod root_signature;
mod runtime_data;
mod signature;
mod source_info;
mod statistics;
mod view;
mod writer;
mod yaml;

pub use carve::{Carved, Carver};
pub use compiler_version::CompilerVersion;
pub use constant_table::{ConstantTable, RegisterSet, TableConstant, literals};
pub use debug_name::{DebugName, debug_name};
pub use digest::{DigestState, digest};
pub use effect::{
    Effect, EffectAssignment, EffectAssignmentKind, EffectBuffer, EffectContents, EffectCounts, EffectGroup,
    EffectPass, EffectShader, EffectTechnique, EffectVariable, EffectVersion,
};
pub use enumeration::{
    DxilComponentType, DxilResourceKind, HexBytes, InterpolationMode, SemanticKind, ShaderKind, SignatureComponentType,
    SignatureMinPrecision, SignatureSystemValue,
};
pub use features::{FeatureFlags, feature_flags, feature_names};
pub use file::Container;
pub use fourcc::FourCc;
pub use hash::{HashState, ShaderHash, shader_hash};
pub use interfaces::{ClassInstance, ClassType, InterfaceSlot, Interfaces};
pub use level9::{ConstantMapping, DataConversion, Level9Program, LoopMapping, RuntimeConstant, SamplerMapping};
pub use library::{
    FunctionParameter, FunctionParameters, LibraryFunction, LibraryFunctionFlags, LibraryHeader, ParameterFlags,
};
pub use part::{MAX_TEXT, Part};
pub use pdb::{ConstantName, DebugMember, DebugType, DebugTypes, Msf, Pdb, ResourceName, SourceFile};
pub use pdb_info::PdbInfoPart;
pub use pipeline_state::{
    ComponentMask, Dependencies, PipelineElement, PipelineFacts, PipelineResource, PipelineResourceType, PipelineState,
    PipelineTables, StreamDependencies, StreamMask,
};
pub use program::{Bitcode, ProgramHeader, ProgramVersion, TokenProgram};
pub use resource_definitions::{
    BindingRecord, BufferRecord, MemberRecord, ResourceDefinitions, TypeRecord, VariableRecord,
};
pub use root_signature::{
    ComparisonFunction, DescriptorRange, DescriptorRangeFlags, DescriptorRangeType, Filter, FilterReduction,
    RootDescriptor, RootDescriptorFlags, RootParameter, RootParameterKind, RootSignature, RootSignatureFlags,
    RootSignatureVersion, SamplerFlags, ShaderVisibility, StaticBorderColor, StaticSampler, TextureAddressMode,
};
pub use runtime_data::{
    DispatchGridField, DxilResourceClass, FunctionAttribute, HitGroupType, LibraryResource, LibraryResourceFlags,
    LibraryShader, Node, NodeId, NodeIo, NodeIoAttribute, NodeIoFlags, NodeIoKind, NodeLaunch, PdbInfo, PdbLibrary,
    PdbSource, RaytracingPipelineFlags, RuntimeData, RuntimeElement, ShaderFlags, StageInfo, StageMask,
    StateObjectFlags, Subobject, SubobjectKind, TableKind,
};
pub use signature::{Signature, SignatureRecord};
pub use source_info::{Source, SourceInfo};
pub use statistics::{Statistics, Statistics5};
pub use view::{
    BufferView, NestedContainer, PartView, PipelineStateView, ProgramView, ResourceDefinitionsView, TypeView,
    VariableView,
};
pub use writer::{ContainerWriter, DigestRule};
pub use yaml::yaml;

#[cfg(test)]
mod tests;
