//! LLVM's bitstream container: bits, abbreviations, blocks and records, without their meaning.
//!
//! Source of the format: LLVM 3.7, "LLVM Bitcode File Format", sections *Bitstream Format* and *LLVM IR*.

mod cursor;
mod reader;

pub use cursor::Cursor;
pub use reader::{Entry, Reader, Record};
