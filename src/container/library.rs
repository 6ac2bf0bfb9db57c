//! `LIBH`, `LIBF` and `LFS0`: function libraries of Shader Model 4 and 5 (`lib_4_0`, `lib_5_0`).
//!
//! A library is a container with a `LIBF` part for each function and one `LIBH`. A `LIBF` part is a container itself, with
//! the function's parameters in `LFS0` where a shader has its signatures.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Part, enumeration::flags};
use crate::{Error, Result};

/// The `LIBH` part, which `D3D11_LIBRARY_DESC` tells: five 32-bit words (1, offset of the compiler's name, flags, number
/// and offset of the functions), then for each function two: flags and offset of its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryHeader<'a> {
    /// The compiler.
    pub creator: Cow<'a, str>,
    /// Compiler flags.
    pub flags: u32,
    /// The functions, in the order of the `LIBF` parts.
    pub functions: Vec<LibraryFunction<'a>>,
}

/// A function of a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryFunction<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Which level-9 programs it has beside the other.
    pub flags: LibraryFunctionFlags,
}

flags! {
    /// `Has10Level9VertexShader` and `Has10Level9PixelShader` of `D3D11_FUNCTION_DESC`.
    LibraryFunctionFlags: u32 {
        LEVEL_9_VERTEX_SHADER = 1 "10Level9VertexShader",
        LEVEL_9_PIXEL_SHADER = 2 "10Level9PixelShader",
    }
}

impl<'a> LibraryHeader<'a> {
    /// Reads the part.
    ///
    /// # Errors
    /// The table or a name is not within the part.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let function = |offset: usize| {
            Ok::<_, Error>(LibraryFunction {
                name: part.text_at(part.size_at(offset + 4)?)?,
                flags: LibraryFunctionFlags(part.u32_at(offset)?),
            })
        };
        let functions = part.records(part.size_at(16)?, part.size_at(12)?, 8)?;
        Ok(Self {
            creator: part.text_at(part.size_at(4)?)?,
            flags: part.u32_at(8)?,
            functions: functions.map(function).collect::<Result<_>>()?,
        })
    }
}

/// The `LFS0` part: number and offset of the parameters, then 48 bytes for each, which `D3D11_PARAMETER_DESC` tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionParameters<'a> {
    /// The parameters; the first is the returned value, which has the function's name.
    pub parameters: Vec<FunctionParameter<'a>>,
}

/// A parameter of a function (`D3D11_PARAMETER_DESC`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionParameter<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Semantic, if it has one.
    pub semantic: Option<Cow<'a, str>>,
    /// `D3D_SHADER_VARIABLE_TYPE`.
    pub ty: u32,
    /// `D3D_SHADER_VARIABLE_CLASS`.
    pub class: u32,
    /// Rows of a matrix, else 1.
    pub rows: u32,
    /// Columns of a matrix, components of a vector.
    pub columns: u32,
    /// `D3D_INTERPOLATION_MODE`.
    pub interpolation: u32,
    /// In, out.
    pub flags: ParameterFlags,
    /// First register and component that it is read from.
    pub input: Option<(u32, u32)>,
    /// First register and component that it is written to.
    pub output: Option<(u32, u32)>,
}

flags! {
    /// `D3D_PARAMETER_FLAGS`.
    ParameterFlags: u32 {
        IN = 1 "In",
        OUT = 2 "Out",
    }
}

impl<'a> FunctionParameters<'a> {
    /// Reads the part.
    ///
    /// # Errors
    /// The table or a name is not within the part.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let parameter = |offset: usize| {
            let word = |index: usize| part.u32_at(offset + 4 * index);
            let register = |index: usize| Ok::<_, Error>((word(index)?, word(index + 1)?));
            let semantic = part.size_at(offset + 4)?;
            let in_register = |register: (u32, u32)| (register.0 != u32::MAX).then_some(register);
            Ok(FunctionParameter {
                name: part.text_at(part.size_at(offset)?)?,
                semantic: if semantic == 0 { None } else { Some(part.text_at(semantic)?) },
                ty: word(2)?,
                class: word(3)?,
                rows: word(4)?,
                columns: word(5)?,
                interpolation: word(6)?,
                flags: ParameterFlags(word(7)?),
                input: in_register(register(8)?),
                output: in_register(register(10)?),
            })
        };
        let parameters = part.records(part.size_at(4)?, part.size_at(0)?, 48)?;
        Ok(Self { parameters: parameters.map(parameter).collect::<Result<_>>()? })
    }
}
