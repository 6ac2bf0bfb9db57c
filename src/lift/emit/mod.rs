//! The emitter: IR to naga modules.
//!
//! [`ModuleEmitter`] owns what a module has once (types, globals), [`FunctionEmitter`] what each function has. Both are
//! spread over files by subject: each file is one `impl` of what it is named for.
//!
//! A function goes through three steps: the structurer makes a tree of its graph, [`plan::Plan`] decides the sign of
//! every integer and which values need a local variable, and [`control`] walks the tree and emits one instruction after
//! another through [`operation`].

mod arithmetic;
mod atomic;
mod atomic_variable;
mod bindings;
mod bound;
mod buffer;
mod buffer_word;
mod comparison;
mod constant;
mod control;
mod convert;
mod derivative;
mod discard;
mod expression;
mod format;
mod function;
mod input;
mod integer;
mod io;
mod lanes;
mod literal;
mod mesh;
mod module;
mod operation;
mod output;
mod plan;
mod ray_opacity;
mod ray_query;
mod ray_stage;
mod resources;
mod sample;
mod sign;
mod stage_entry;
mod stage_state;
mod system_value;
mod texels;
mod texture;
mod types;
mod usage;
mod variables;
mod wave;
mod words;

#[cfg(test)]
mod tests;

use function::{Emission, FunctionEmitter};
use module::ModuleEmitter;

use std::borrow::Cow;

use naga::valid::Capabilities;

use super::{Emitted, Note, Program, Target};
use crate::{
    Result,
    ir::{
        Scalar,
        passes::legalize::{NumberTypes, legalize},
    },
};

/// Emits a program for a target. Number types that the target lacks are lowered first.
///
/// # Errors
/// Names what the target cannot express.
pub fn emit(program: &Program, target: &Target) -> Result<Emitted> {
    let lowered = lower_number_types(program, target.capabilities)?;
    let mut emitted = ModuleEmitter::new(&lowered, target).emit()?;
    emitted.notes.extend(lowered.notes.iter().skip(program.notes.len()).cloned());
    Ok(emitted)
}

/// The program without number types that shaders of such capabilities lack, and with a note on each.
///
/// # Errors
/// Names what has no lowering.
pub fn lower_number_types(program: &Program, capabilities: Capabilities) -> Result<Cow<'_, Program>> {
    let types = number_types(capabilities);
    if types.missing(&program.ir).is_empty() {
        return Ok(Cow::Borrowed(program));
    }
    let mut program = program.clone();
    let lowered = legalize(&mut program.ir, &program.interface, types)?;
    program.notes.extend(lowered.into_iter().map(|scalar| {
        Note::new(match scalar {
            Scalar::F16 => "16-bit floats that the target lacks: 32-bit floats, rounded after each operation",
            Scalar::F64 => "64-bit floats that the target lacks: in software",
            _ => "64-bit integers that the target lacks: pairs of words",
        })
    }));
    Ok(Cow::Owned(program))
}

/// The number types that shaders may use.
pub(super) fn number_types(capabilities: Capabilities) -> NumberTypes {
    NumberTypes {
        float16: capabilities.contains(Capabilities::SHADER_FLOAT16),
        float64: capabilities.contains(Capabilities::FLOAT64),
        int64: capabilities.contains(Capabilities::SHADER_INT64),
    }
}
