//! Statements: the tokens of a program cut into declarations, instructions and custom data.

use super::{
    opcode::Opcode,
    token::{Tokens, bits},
};
use crate::{
    Error, Result,
    reflection::{ShaderModel, Stage},
};

/// One declaration, instruction or block of custom data, its operands still tokens.
#[derive(Clone, Debug)]
pub struct Statement<'a> {
    /// Its opcode.
    pub opcode: Opcode,
    /// Byte offset in the part.
    pub offset: usize,
    /// The opcode token, with the controls of the opcode.
    pub token: u32,
    /// Extended opcode tokens.
    pub extended: Extended,
    /// What follows them.
    pub tokens: Tokens<'a>,
}

/// What extended opcode tokens say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extended {
    /// Offset in texels, of sampling instructions.
    pub texel_offset: Option<[i8; 3]>,
    /// `D3D10_SB_RESOURCE_DIMENSION` of the resource, and the stride of a structured buffer in bytes: repeats the
    /// declaration.
    pub dimension: Option<(u32, u32)>,
    /// `D3D10_SB_RESOURCE_RETURN_TYPE` of each component of the resource: repeats the declaration.
    pub return_type: Option<[u32; 4]>,
}

/// The statements of a `SHDR` or `SHEX` part, in file order.
#[derive(Clone, Debug)]
pub struct Statements<'a> {
    /// Stage of the program: [`Stage::Library`] of a function of `lib_4_0` or `lib_5_0`.
    pub stage: Stage,
    /// Its Shader Model.
    pub model: ShaderModel,
    tokens: Tokens<'a>,
}

impl<'a> Statements<'a> {
    /// Reads a program's header: its version and its length.
    ///
    /// # Errors
    /// The header contradicts the part.
    pub fn new(part: &'a [u8]) -> Result<Self> {
        let mut tokens = Tokens::new(part);
        let version = tokens.next()?;
        let stage = match bits(version, 16, 16) {
            0 => Stage::Pixel,
            1 => Stage::Vertex,
            2 => Stage::Geometry,
            3 => Stage::Hull,
            4 => Stage::Domain,
            5 => Stage::Compute,
            0xfff0 => Stage::Library,
            stage => return Err(Error::malformed(format!("unknown stage of a program: {stage}")).at_offset(0)),
        };
        let model = ShaderModel { major: bits(version, 4, 4) as u8, minor: bits(version, 0, 4) as u8 };
        if !matches!(model.major, 4 | 5) {
            let what = format!("unknown Shader Model of a tokenized program: {}.{}", model.major, model.minor);
            return Err(Error::malformed(what).at_offset(0));
        }
        let length = tokens.next()? as usize;
        let Some(body) = length.checked_sub(2).filter(|body| *body <= tokens.remaining()) else {
            let what = format!("a program's length does not fit its part: {length} tokens");
            return Err(Error::malformed(what).at_offset(4));
        };
        Ok(Self { stage, model, tokens: tokens.split(body)? })
    }

    /// The next statement, if one is left.
    ///
    /// # Errors
    /// Its opcode is unknown, or its length contradicts the program's.
    #[allow(clippy::should_implement_trait)] // an iterator would go on after an error
    pub fn next(&mut self) -> Result<Option<Statement<'a>>> {
        if self.tokens.is_empty() {
            return Ok(None);
        }
        let offset = self.tokens.offset();
        self.read(offset).map(Some).map_err(|error| error.at_offset(offset))
    }

    fn read(&mut self, offset: usize) -> Result<Statement<'a>> {
        let token = self.tokens.next()?;
        let number = bits(token, 0, 11);
        let Some(opcode) = Opcode::from_number(number) else {
            return Err(Error::malformed(format!("unknown opcode: {number}")));
        };
        let mut statement =
            Statement { opcode, offset, token, extended: Extended::default(), tokens: Tokens::new(&[]) };
        if opcode == Opcode::CustomData {
            let length = self.tokens.next()? as usize;
            let Some(length) = length.checked_sub(2) else {
                return Err(Error::malformed("customdata shorter than its header"));
            };
            statement.tokens = self.tokens.split(length)?;
            return Ok(statement);
        }
        let mut length = bits(token, 24, 7) as usize;
        let extended = bits(token, 31, 1) == 1;
        // These can be longer than 127 tokens: the length is then the next token.
        let long = matches!(opcode, Opcode::DclFunctionTable | Opcode::DclInterface | Opcode::InterfaceCall);
        let mut header = 1;
        if length == 0 && extended && long {
            length = self.tokens.next()? as usize;
            header = 2;
        }
        let Some(length) = length.checked_sub(header) else {
            return Err(Error::malformed("an instruction's length is 0"));
        };
        statement.tokens = self.tokens.split(length)?;
        if extended && !long {
            statement.extended = Extended::read(&mut statement.tokens)?;
        }
        Ok(statement)
    }
}

impl Extended {
    /// `D3D10_SB_EXTENDED_OPCODE_TYPE`s, up to the last.
    fn read(tokens: &mut Tokens<'_>) -> Result<Self> {
        let mut extended = Self::default();
        loop {
            let token = tokens.next()?;
            match bits(token, 0, 6) {
                0 => {}
                1 => {
                    let nibble = |low| ((bits(token, low, 4) << 4) as i8) >> 4;
                    extended.texel_offset = Some([nibble(9), nibble(13), nibble(17)]);
                }
                2 => extended.dimension = Some((bits(token, 6, 5), bits(token, 11, 12))),
                3 => extended.return_type = Some([6, 10, 14, 18].map(|low| bits(token, low, 4))),
                kind => return Err(Error::malformed(format!("unknown extended token of an opcode: {kind}"))),
            }
            if bits(token, 31, 1) == 0 {
                return Ok(extended);
            }
        }
    }
}
