//! DXBC assembly, in the spelling of the compiler's own listings (`fxc -dumpbin`), without their comment lines.

mod declaration;
mod instruction;
mod literal;
mod message;
pub(super) mod names;
mod operand;

use std::fmt::{self, Write};

use super::{
    opcode::Opcode,
    statement::{Statement, Statements},
};
use crate::{
    Error, Result,
    reflection::{ShaderModel, Stage},
};

/// A program as assembly text, one line a statement (immediate constant buffers take several).
///
/// # Errors
/// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) with the offset of the token that contradicts the format.
pub fn disassemble(part: &[u8]) -> Result<String> {
    let mut statements = Statements::new(part)?;
    let prefix = match statements.stage {
        Stage::Pixel => "ps",
        Stage::Vertex => "vs",
        Stage::Geometry => "gs",
        Stage::Hull => "hs",
        Stage::Domain => "ds",
        Stage::Library => "lib",
        _ => "cs",
    };
    let ShaderModel { major, minor } = statements.model;
    let mut listing =
        Listing { text: format!("{prefix}_{major}_{minor}\n"), layout_5_1: (major, minor) >= (5, 1), depth: 0 };
    while let Some(statement) = statements.next()? {
        let offset = statement.offset;
        listing.statement(statement).map_err(|error| error.at_offset(offset))?;
    }
    Ok(listing.text)
}

/// The text so far.
struct Listing {
    text: String,
    /// Resources are ranges with spaces.
    layout_5_1: bool,
    /// Number of open blocks, for indentation.
    depth: usize,
}

impl Listing {
    fn statement(&mut self, statement: Statement<'_>) -> Result<()> {
        use Opcode as Op;
        match statement.opcode {
            Op::EndIf | Op::EndLoop | Op::EndSwitch | Op::Else => self.depth = self.depth.saturating_sub(1),
            Op::HsDecls | Op::HsControlPointPhase | Op::HsForkPhase | Op::HsJoinPhase => self.depth = 0,
            _ => {}
        }
        let begin = self.text.len();
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
        let opcode = statement.opcode;
        let written = if opcode == Op::CustomData {
            self.custom_data(statement)?
        } else if opcode.is_declaration() {
            self.declaration(statement)?;
            true
        } else {
            self.instruction(statement)?;
            true
        };
        if written {
            self.text.push('\n');
        } else {
            self.text.truncate(begin);
        }
        if matches!(opcode, Op::If | Op::Else | Op::Loop | Op::Switch) {
            self.depth += 1;
        }
        Ok(())
    }

    /// Writes formatted text.
    fn write(&mut self, arguments: fmt::Arguments<'_>) -> Result<()> {
        self.text.write_fmt(arguments).map_err(|_| Error::internal("a listing cannot be written"))
    }
}
