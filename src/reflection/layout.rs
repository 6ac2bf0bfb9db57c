//! Layouts of constant buffers and structured-buffer elements.

use serde::{Deserialize, Serialize};

/// Fields of a constant buffer or of a structured buffer's element.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BufferLayout {
    /// Bytes from the first field to the end of the last, padded as declared.
    pub size: u32,
    /// The fields, by offset.
    pub fields: Vec<Field>,
}

/// One field of a buffer or of a structure in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Name in the HLSL.
    pub name: String,
    /// Byte offset: from the beginning of the buffer for its own fields, of the structure for members.
    pub offset: u32,
    /// Bytes it covers.
    pub size: u32,
    /// Type.
    pub ty: FieldType,
    /// Initial value in the HLSL, `size` bytes, if there is one.
    pub default_value: Option<Vec<u8>>,
    /// The program reads it, where reflection knows.
    pub used: Option<bool>,
}

/// Type of a [`Field`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldType {
    /// Shape of one element.
    pub shape: FieldShape,
    /// Elements of an array; `None` if it is not an array.
    pub elements: Option<u32>,
    /// Bytes from one element of an array to the next; 0 if it is not an array.
    pub stride: u32,
    /// Name of the type, if known: of a structure as the HLSL has it, of numbers as both compilers' reflection spells them
    /// (`float4x4`, `min16int2`; an unsigned integer alone is a `dword`). Files of Shader Model 4 have none.
    pub name: Option<String>,
}

/// Shape of one value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FieldShape {
    /// One number.
    Scalar(FieldScalar),
    /// `float4`: 1 to 4 numbers in a row.
    Vector(FieldScalar, u8),
    /// `float4x3`.
    Matrix {
        /// Type of a number.
        scalar: FieldScalar,
        /// Rows of the mathematical matrix, 1 to 4.
        rows: u8,
        /// Columns of the mathematical matrix, 1 to 4.
        columns: u8,
        /// Rows are contiguous in memory (`row_major`); else columns are, HLSL's default.
        row_major: bool,
    },
    /// A structure.
    Struct(Vec<Field>),
    /// An interface slot of dynamic class linkage.
    Interface,
}

/// Numbers that a buffer can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum FieldScalar {
    Bool,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
    /// The container does not say.
    Unknown,
}

impl FieldScalar {
    /// HLSL's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I16 => "int16_t",
            Self::U16 => "uint16_t",
            Self::I32 => "int",
            Self::U32 => "uint",
            Self::I64 => "int64_t",
            Self::U64 => "uint64_t",
            Self::F16 => "half",
            Self::F32 => "float",
            Self::F64 => "double",
            Self::Unknown => "unknown",
        }
    }
}
