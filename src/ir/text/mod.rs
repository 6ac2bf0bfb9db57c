//! The text form of modules, for people, for tests of passes, and for `dxshader lift --to ir`. [`parse`] reads what
//! [`Display`](std::fmt::Display) writes.
//!
//! ```text
//! variable0 "x0": thread f32x4[4]
//! entry pixel function0
//!
//! function0 "main" -> void, entry block0 {
//! block0:
//!     %0: f32x4 = load_input input, element1, i32(0), 0 // TEXCOORD0
//!     %1: handle = handle binding0, i32(0) // b0 Globals
//!     %2: f32 = load_constant %1, i32(3), 4 #12
//!     %3: f32x4 = precise f_mul %0, f32x4(2.0, 2.0, 2.0, 1.0)
//!     %4: bool = f_lt %2, f32(0.5)
//!     branch %4, block1(%3), block2
//! block1(%5: f32x4):
//!     store_output output, element0, i32(0), 0, %5
//!     return
//! block2:
//!     jump block1(%0)
//! }
//! ```
//!
//! * Values are `%` and their number, blocks, functions, variables, bindings and elements a word and theirs. Numbers are
//!   those of the lists, and the parser keeps them, so that messages fit the text.
//! * Constants stand where they are used, with their type. Floats that are no plain decimals (NaN, infinities) are
//!   written as their bits: `f32(0x7fc00000)`. Integers are written with a sign, and read with or without.
//! * An instruction is its result with its type, if it has one, then `precise` if it is, its operation, and operands in
//!   the order of [`Op`](super::Op)'s fields; optional ones have names: `sample: %3`. `#12` at the end is the number of
//!   the container's instruction that it came from. A name from debug information follows the number: `%7 "color": f32`.
//! * `//` begins a comment. [`Module::display`](super::Module::display) adds the interface's names in comments.

mod names;
mod parse;
#[cfg(test)]
mod tests;
mod write;

pub use parse::parse;
pub use write::ModuleDisplay;
