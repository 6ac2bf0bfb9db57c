//! The command line over the library: see [`bevy_dxshader::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    bevy_dxshader::cli::main()
}
