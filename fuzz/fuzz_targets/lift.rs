//! The whole lift, from the bytes of a container to SPIR-V. naga may reject what was made of a damaged program, but it too must not panic.

#![no_main]

use bevy_dxshader::{LiftOptions, Target, lift};
use libfuzzer_sys::fuzz_target;
use naga::{
    back::spv,
    valid::{Capabilities, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator},
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(program) = lift(bytes, &LiftOptions::default()) else { return };
    let Ok(module) = program.module(&Target::default()) else { return };
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    validator.subgroup_stages(ShaderStages::all()).subgroup_operations(SubgroupOperationSet::all());
    let _ = validator.validate(&module).map(|info| {
        let options = spv::Options { lang_version: (1, 4), ..Default::default() };
        let _ = spv::write_vec(&module, &info, &options, None);
    });
});
