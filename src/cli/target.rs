//! What modules are written for.

use clap::{Args, ValueEnum};
use naga::valid::Capabilities;

use crate::Target;

/// The target of a command.
#[derive(Clone, Debug, Default, Args)]
pub struct TargetArgs {
    /// Write modules for a device that lacks a number type: what is of that type is lowered
    #[arg(long, value_enum, value_name = "TYPE", value_delimiter = ',')]
    without: Vec<NumberType>,
}

/// A number type that not every device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NumberType {
    /// 16-bit floats
    F16,
    /// 64-bit floats
    F64,
    /// 64-bit integers, and 64-bit floats, whose bits are handled as such
    I64,
}

impl TargetArgs {
    /// The target: the default one, without these types.
    pub fn target(&self) -> Target {
        let mut target = Target::default();
        for ty in &self.without {
            target.capabilities -= match ty {
                NumberType::F16 => Capabilities::SHADER_FLOAT16,
                NumberType::F64 => Capabilities::FLOAT64,
                NumberType::I64 => Capabilities::SHADER_INT64,
            };
        }
        target
    }
}
