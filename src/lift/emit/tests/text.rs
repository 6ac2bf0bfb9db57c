//! Programs in text form over one raw buffer: every module must be valid, and both writers must take it.

use naga::valid::Capabilities;

use crate::{
    Result, Target,
    ir::{self, Module},
    lift::{Emitted, Program},
    reflection::{
        Binding, EntryPointInterface, Format, Interface, ResourceClass, ResourceKind, ShaderModel, Stage, StageFacts,
        UavFlags,
    },
};

/// A program with one entry point of a stage, and one raw buffer, `u0`.
pub(super) fn program(ir: Module, stage: Stage) -> Program {
    let facts =
        StageFacts { thread_group_size: (stage == Stage::Compute).then_some([8, 8, 1]), ..StageFacts::default() };
    let entry = EntryPointInterface { facts, ..EntryPointInterface::new("main", stage) };
    let buffer = Binding {
        name: Some("Buffer".to_owned()),
        class: ResourceClass::Uav,
        space: 0,
        register: 0,
        count: Some(1),
        kind: ResourceKind::RawBuffer { flags: UavFlags::default() },
        layout: None,
    };
    let interface = Interface {
        entry_points: vec![entry],
        bindings: vec![buffer],
        ..Interface::new(Format::Dxil, ShaderModel { major: 6, minor: 6 }, stage)
    };
    Program { ir, interface, notes: Vec::new() }
}

/// Emits a program for the default target, validates the module and writes it both ways; gives the WGSL.
pub(super) fn emit_checked(program: &Program) -> Result<(Emitted, String)> {
    emit_checked_for(program, Capabilities::all())
}

/// [`emit_checked`] for a target of some capabilities.
pub(super) fn emit_checked_for(program: &Program, capabilities: Capabilities) -> Result<(Emitted, String)> {
    let emitted = program.emit(&Target { capabilities, ..Target::default() })?;
    let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
    validator
        .subgroup_stages(naga::valid::ShaderStages::all())
        .subgroup_operations(naga::valid::SubgroupOperationSet::all());
    let info = validator.validate(&emitted.module).unwrap_or_else(|error| {
        panic!("{}\n{}\n{:#?}", error.emit_to_string(""), program.ir, emitted.module.entry_points)
    });
    for entry in &emitted.module.entry_points {
        let pipeline = naga::back::spv::PipelineOptions { shader_stage: entry.stage, entry_point: entry.name.clone() };
        let options = naga::back::spv::Options { lang_version: (1, 4), ..Default::default() };
        naga::back::spv::write_vec(&emitted.module, &info, &options, Some(&pipeline))
            .unwrap_or_else(|error| panic!("{error}\n{}", program.ir));
    }
    let flags = naga::back::wgsl::WriterFlags::empty();
    let wgsl = naga::back::wgsl::write_string(&emitted.module, &info, flags)
        .unwrap_or_else(|error| panic!("{error}\n{}", program.ir));
    Ok((emitted, wgsl))
}

/// The WGSL of a module in text form.
pub(super) fn wgsl(stage: Stage, text: &str) -> String {
    let ir = ir::text::parse(text).unwrap();
    emit_checked(&program(ir, stage)).unwrap().1
}

/// The WGSL of a function's body in text form; `%0` is the buffer.
pub(super) fn wgsl_of_body(stage: Stage, variables: &str, body: &str) -> String {
    let stage_word = format!("{stage:?}").to_lowercase();
    let text = format!(
        "{variables}\nentry {stage_word} function0\n\nfunction0 \"main\" -> void, entry block0 {{\nblock0:\n    \
         %0: handle = handle binding0, i32(0)\n{body}\n}}\n"
    );
    wgsl(stage, &text)
}
