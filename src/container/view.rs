//! Any part, read as what its name says: for tools that show parts.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    BindingRecord, Bitcode, CompilerVersion, ConstantTable, Container, DebugName, Effect, FeatureFlags, FourCc,
    FunctionParameters, HexBytes, Interfaces, Level9Program, LibraryHeader, Part, Pdb, PdbInfoPart, PipelineFacts,
    PipelineResource, PipelineState, PipelineTables, ProgramHeader, ProgramVersion, ResourceDefinitions, RootSignature,
    RuntimeData, ShaderHash, ShaderKind, Signature, SignatureRecord, SourceInfo, Statistics, TokenProgram, TypeRecord,
    literals,
};
use crate::{Error, Result};

/// A part, read whole. Serialized, it is the part's contents without the variant's name, so that only who knows the part's
/// name can read it again, as the type that the variant holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum PartView<'a> {
    CompilerVersion(CompilerVersion<'a>),
    ConstantTable(ConstantTable<'a>),
    Container(NestedContainer),
    DebugName(DebugName<'a>),
    Effect(Box<Effect<'a>>),
    Features {
        features: FeatureFlags,
    },
    FunctionParameters(FunctionParameters<'a>),
    Hash(ShaderHash),
    Interfaces(Interfaces<'a>),
    Level9(Level9Program<'a>),
    LibraryHeader(LibraryHeader<'a>),
    Literals {
        literals: Vec<f32>,
    },
    Pdb(Box<Pdb<'a>>),
    PdbInfo(PdbInfoPart<'a>),
    PipelineState(Box<PipelineStateView<'a>>),
    Program(ProgramView),
    ResourceDefinitions(ResourceDefinitionsView<'a>),
    RootSignature(RootSignature),
    RuntimeData(RuntimeData<'a>),
    Signature {
        elements: Vec<SignatureRecord<'a>>,
    },
    SourceInfo(SourceInfo<'a>),
    Statistics(Statistics),
    Text {
        text: Cow<'a, str>,
    },
    /// A part whose contents are not known, or that is free to hold anything.
    Bytes {
        bytes: HexBytes<'a>,
    },
}

/// A container within a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NestedContainer {
    /// Its parts: names and bytes.
    pub parts: Vec<(FourCc, usize)>,
}

/// The header of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramView {
    /// Stage.
    pub kind: ShaderKind,
    /// Shader Model, major and minor.
    pub model: (u8, u8),
    /// Version of DXIL, major and minor.
    pub dxil_version: Option<(u8, u8)>,
    /// Bytes of tokens or bitcode.
    pub size: usize,
}

/// The whole `PSV0` part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineStateView<'a> {
    /// Version, 0 to 4.
    pub version: u8,
    /// Facts of the stage.
    pub facts: PipelineFacts,
    /// Resources.
    pub resources: Vec<PipelineResource>,
    /// Signatures and dependencies, from version 1 on.
    #[serde(flatten)]
    pub tables: Option<PipelineTables<'a>>,
}

/// The whole `RDEF` part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceDefinitionsView<'a> {
    /// The compiler.
    pub creator: Cow<'a, str>,
    /// Compiler flags (`D3DCOMPILE_*`).
    pub flags: u32,
    /// Bindings.
    pub bindings: Vec<BindingRecord<'a>>,
    /// Buffers.
    pub buffers: Vec<BufferView<'a>>,
}

/// A buffer of `RDEF`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferView<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// `D3D_CBUFFER_TYPE`.
    pub ty: u32,
    /// Bytes.
    pub size: u32,
    /// Variables.
    pub variables: Vec<VariableView<'a>>,
}

/// A variable of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableView<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Byte offset.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// `D3D_SHADER_VARIABLE_FLAGS`.
    pub flags: u32,
    /// Initial value.
    pub default_value: Option<HexBytes<'a>>,
    /// Type.
    pub ty: TypeView<'a>,
}

/// A type of a variable or member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeView<'a> {
    /// Name.
    pub name: Option<Cow<'a, str>>,
    /// `D3D_SHADER_VARIABLE_CLASS`.
    pub class: u16,
    /// `D3D_SHADER_VARIABLE_TYPE`.
    pub base: u16,
    /// Rows.
    pub rows: u16,
    /// Columns.
    pub columns: u16,
    /// Elements of an array.
    pub elements: u16,
    /// Members of a structure: name, byte offset and type.
    pub members: Vec<(Cow<'a, str>, u32, TypeView<'a>)>,
}

impl<'a> PartView<'a> {
    /// Reads a part of a container. A part whose name is not known is its bytes.
    ///
    /// # Errors
    /// The contents contradict the format.
    pub fn read(container: &Container<'a>, part: Part<'a>) -> Result<Self> {
        Ok(match part.name {
            FourCc::VERS => Self::CompilerVersion(CompilerVersion::parse(part)?),
            FourCc::LIBF => nested(part)?,
            FourCc::ILDN => Self::DebugName(DebugName::parse(part)?),
            FourCc::FX10 => Self::Effect(Box::new(Effect::parse(part)?)),
            FourCc::SFI0 => {
                Self::Features { features: FeatureFlags(u64::from(part.u32_at(0)?) | u64::from(part.u32_at(4)?) << 32) }
            }
            FourCc::LFS0 => Self::FunctionParameters(FunctionParameters::parse(part)?),
            FourCc::HASH => Self::Hash(ShaderHash::parse(part)?),
            FourCc::IFCE => Self::Interfaces(Interfaces::parse(part)?),
            FourCc::AON9 | FourCc::XNAS | FourCc::XNAP => Self::Level9(Level9Program::parse(part)?),
            FourCc::LIBH => Self::LibraryHeader(LibraryHeader::parse(part)?),
            FourCc::CTAB => Self::ConstantTable(ConstantTable::parse(part)?),
            FourCc::CLI4 => Self::Literals { literals: literals(part)? },
            FourCc::PDBI => {
                let info = PdbInfoPart::parse(part)?;
                info.runtime_data()?;
                Self::PdbInfo(info)
            }
            FourCc::PSV0 => Self::PipelineState(Box::new(pipeline_state(container, part)?)),
            FourCc::SHDR | FourCc::SHEX => {
                let program = TokenProgram::parse(part)?;
                Self::Program(program_view(program.version, None, program.tokens.len()))
            }
            FourCc::DXIL | FourCc::ILDB => bitcode(part)?,
            // dxc writes a program without code, fxc numbers.
            FourCc::STAT if part.bytes_at(8, 4).is_ok_and(|magic| magic == FourCc::DXIL.0) => bitcode(part)?,
            FourCc::STAT => Self::Statistics(Statistics::parse(part)?),
            FourCc::RDEF => Self::ResourceDefinitions(resource_definitions(part)?),
            FourCc::RTS0 => Self::RootSignature(RootSignature::parse(part)?),
            FourCc::RDAT => Self::RuntimeData(RuntimeData::parse(part)?),
            FourCc::ISGN | FourCc::OSGN | FourCc::PCSG | FourCc::OSG5 | FourCc::ISG1 | FourCc::OSG1 | FourCc::PSG1 => {
                Self::Signature { elements: Signature::parse(part)?.records().collect::<Result<_>>()? }
            }
            FourCc::SRCI => Self::SourceInfo(SourceInfo::parse(part)?),
            FourCc::XPDP => Self::Text { text: String::from_utf8_lossy(part.data) },
            FourCc::SPDB => Self::Pdb(Box::new(Pdb::parse(part.data).map_err(within(part))?)),
            FourCc::PRIV if Pdb::recognizes(part.data) => match Pdb::parse(part.data) {
                Ok(pdb) => Self::Pdb(Box::new(pdb)),
                Err(_) => Self::Bytes { bytes: part.data.into() },
            },
            FourCc::PRIV if Container::recognizes(part.data) => {
                nested(part).unwrap_or(Self::Bytes { bytes: part.data.into() })
            }
            _ => Self::Bytes { bytes: part.data.into() },
        })
    }
}

/// An error in what a part holds is at the part: the places within count from another beginning.
fn within(part: Part<'_>) -> impl Fn(Error) -> Error {
    move |error| part.malformed(0, format!("what the part holds is damaged: {error}"))
}

fn nested<'a>(part: Part<'a>) -> Result<PartView<'a>> {
    let inner = Container::parse(part.data).map_err(within(part))?;
    let parts = inner.parts().map(|part| (part.name, part.data.len())).collect();
    Ok(PartView::Container(NestedContainer { parts }))
}

fn bitcode<'a>(part: Part<'a>) -> Result<PartView<'a>> {
    let program = Bitcode::parse(part)?;
    Ok(PartView::Program(program_view(program.version, Some(program.dxil_version), program.bytes.len())))
}

fn program_view(version: ProgramVersion, dxil_version: Option<(u8, u8)>, size: usize) -> ProgramView {
    ProgramView { kind: ShaderKind(version.kind.into()), model: (version.major, version.minor), dxil_version, size }
}

fn pipeline_state<'a>(container: &Container<'a>, part: Part<'a>) -> Result<PipelineStateView<'a>> {
    let state = PipelineState::parse(part)?;
    // The part's first version does not say its stage.
    let unknown = ProgramVersion { kind: u16::MAX, major: 0, minor: 0 };
    let mut version = ProgramHeader::find(container).map_or(unknown, |program| program.version());
    if let Some(kind) = state.facts(version)?.kind {
        version.kind = kind.into();
    }
    Ok(PipelineStateView {
        version: state.version(),
        facts: state.facts(version)?,
        resources: state.resources()?.collect::<Result<_>>()?,
        tables: state.tables()?,
    })
}

/// How deep structures may nest, and what they may hold together: types may refer to each other, even to themselves.
const MAX_DEPTH: usize = 16;

fn resource_definitions(part: Part<'_>) -> Result<ResourceDefinitionsView<'_>> {
    let definitions = ResourceDefinitions::parse(part)?;
    let mut room = part.data.len();
    let mut buffers = Vec::new();
    for buffer in definitions.buffers()? {
        let buffer = buffer?;
        let mut variables = Vec::new();
        for variable in definitions.variables(&buffer)? {
            let variable = variable?;
            let ty = definitions.type_at(variable.ty)?;
            variables.push(VariableView {
                start: variable.start,
                size: variable.size,
                flags: variable.flags,
                default_value: variable.default_value.map(HexBytes::from),
                ty: type_view(&definitions, ty, MAX_DEPTH, &mut room)?,
                name: variable.name,
            });
        }
        buffers.push(BufferView { name: buffer.name, ty: buffer.ty, size: buffer.size, variables });
    }
    Ok(ResourceDefinitionsView {
        creator: definitions.creator()?,
        flags: definitions.flags()?,
        bindings: definitions.bindings()?.collect::<Result<_>>()?,
        buffers,
    })
}

fn type_view<'a>(
    definitions: &ResourceDefinitions<'a>,
    ty: TypeRecord<'a>,
    depth: usize,
    room: &mut usize,
) -> Result<TypeView<'a>> {
    let mut members = Vec::new();
    for member in definitions.members(&ty)? {
        let member = member?;
        let (Some(depth), Some(left)) = (depth.checked_sub(1), room.checked_sub(1)) else {
            return Err(definitions.part().malformed(ty.offset, "a structure contains too much"));
        };
        *room = left;
        let inner = type_view(definitions, definitions.type_at(member.ty)?, depth, room)?;
        members.push((member.name, member.start, inner));
    }
    let TypeRecord { class, base, rows, columns, elements, name, .. } = ty;
    Ok(TypeView { name, class, base, rows, columns, elements, members })
}
