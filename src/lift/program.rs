//! Lifted programs.

use std::collections::BTreeMap;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{ClassChoice, Emitted, Target};
use crate::{
    Result, ir,
    reflection::{Interface, Stage},
};

/// How to lift.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct LiftOptions {
    /// Of a library, the entry point or exported function to lift; all entry points if `None`, or all exported functions if
    /// there are none. A container of one entry point takes any name. A library of Shader Model 4 or 5 lifts one function,
    /// which must be named if there are several.
    pub entry: Option<String>,
    /// Of a program with interfaces ([`Interface::class_linkage`]), what fills them, by the interface's name: `light` for an
    /// interface or for all of an array, `light[2]` for one of an array. What is left out is filled by its first class.
    pub classes: BTreeMap<String, ClassChoice>,
}

/// The program of one container, independent of where it will run. naga modules are emitted from it, one for each
/// [`Target`].
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The program itself.
    pub ir: ir::Module,
    /// Its inputs, outputs, bindings and layouts.
    pub interface: Interface,
    /// What the lift did that a user may want to know.
    pub notes: Vec<Note>,
}

impl Program {
    /// The naga module for a target, together with what must be bound to it.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) names what the target cannot express.
    pub fn emit(&self, target: &Target) -> Result<Emitted> {
        super::emit::emit(self, target)
    }

    /// The naga module for a target.
    ///
    /// # Errors
    /// As for [`Program::emit`].
    pub fn module(&self, target: &Target) -> Result<naga::Module> {
        Ok(self.emit(target)?.module)
    }

    /// Number types of the program that shaders of such capabilities lack. They are lowered when it is emitted: see
    /// [`Program::lowered`].
    pub fn missing_types(&self, capabilities: naga::valid::Capabilities) -> Vec<ir::Scalar> {
        super::emit::number_types(capabilities).missing(&self.ir)
    }

    /// The program without number types that shaders of such capabilities lack, as it is emitted for them: halves are
    /// 32-bit floats, doubles and 64-bit integers pairs of words. A note tells of each type.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) names what has no lowering: atomic operations on 64 bits.
    pub fn lowered(&self, capabilities: naga::valid::Capabilities) -> Result<Cow<'_, Self>> {
        super::emit::lower_number_types(self, capabilities)
    }

    /// Stage of the program's first entry point.
    pub fn stage(&self) -> Stage {
        self.ir.entry_points.first().map_or(self.interface.stage, |entry| entry.stage)
    }
}

/// Something that was lowered in a way that can be noticed, or carried as an approximation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Note {
    /// The construct and what became of it, as one sentence without a final stop.
    pub text: String,
}

impl Note {
    /// A note.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}
