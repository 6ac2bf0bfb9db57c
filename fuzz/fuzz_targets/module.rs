//! The reader of LLVM modules: types, constants, metadata and functions of any bitcode.

#![no_main]

use bevy_dxshader::dxil::module::Module;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bitcode: &[u8]| {
    let _ = Module::read(bitcode);
});
