//! Small functions, emitted, validated and written as SPIR-V.

mod atomics;
mod control;
mod operations;
mod resources;
mod stage_interface;
mod text;

use naga::back::spv;

use crate::{
    ErrorKind,
    ir::{self, BindingId, Builder, ElementId, Function, FunctionId, Op, SignatureKind, Terminator, Type, Value},
    lift::{Emitted, Program, Target},
    reflection::{
        Binding, ComponentType, EntryPointInterface, Format, Interface, Interpolation, MinPrecision, ResourceClass,
        ResourceKind, ShaderModel, SignatureElement, Stage, StageFacts, SystemValue, TextureDimension, UavFlags,
    },
};

/// A program of one entry point in one block.
struct Sketch {
    interface: EntryPointInterface,
    bindings: Vec<Binding>,
}

impl Sketch {
    fn new(stage: Stage) -> Self {
        let mut facts = StageFacts::default();
        if stage == Stage::Compute {
            facts.thread_group_size = Some([8, 4, 1]);
        }
        let interface = EntryPointInterface { facts, ..EntryPointInterface::new("main", stage) };
        Self { interface, bindings: Vec::new() }
    }

    fn input(mut self, element: SignatureElement) -> Self {
        self.interface.inputs.push(element);
        self
    }

    fn output(mut self, element: SignatureElement) -> Self {
        self.interface.outputs.push(element);
        self
    }

    fn binding(mut self, class: ResourceClass, register: u32, kind: ResourceKind) -> Self {
        self.bindings.push(Binding { name: None, class, space: 0, register, count: Some(1), kind, layout: None });
        self
    }

    fn program(self, build: impl FnOnce(&mut Builder<'_>)) -> Program {
        let mut function = Function::new("main", Type::Void);
        let block = function.entry;
        let mut builder = Builder::new(&mut function, block);
        build(&mut builder);
        builder.terminate(Terminator::Return(None));
        let stage = self.interface.stage;
        Program {
            ir: ir::Module {
                functions: vec![function],
                variables: Vec::new(),
                entry_points: vec![ir::EntryPoint {
                    stage,
                    function: FunctionId(0),
                    patch_constant_functions: Vec::new(),
                }],
            },
            interface: Interface {
                entry_points: vec![self.interface],
                bindings: self.bindings,
                ..Interface::new(Format::Dxil, ShaderModel { major: 6, minor: 6 }, stage)
            },
            notes: Vec::new(),
        }
    }
}

/// An element of one row.
fn element(
    semantic: &str,
    index: u32,
    register: u32,
    mask: u8,
    component: ComponentType,
    system_value: SystemValue,
) -> SignatureElement {
    SignatureElement {
        semantic: semantic.into(),
        semantic_indices: vec![index],
        register: Some(register),
        rows: 1,
        mask,
        used_mask: mask,
        component,
        min_precision: MinPrecision::Default,
        system_value,
        interpolation: Interpolation::Undefined,
        stream: 0,
    }
}

/// Emits for a target, validates with every capability, and writes SPIR-V for each entry point.
fn emit_for(program: &Program, target: &Target) -> Emitted {
    let emitted = program.emit(target).unwrap_or_else(|error| panic!("{error}"));
    let mut validator =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
    let info = validator
        .validate(&emitted.module)
        .unwrap_or_else(|error| panic!("{}\n{:#?}", error.emit_to_string(""), emitted.module.entry_points[0].function));
    for entry in &emitted.module.entry_points {
        let options = spv::Options { lang_version: (1, 4), ..Default::default() };
        let pipeline = spv::PipelineOptions { shader_stage: entry.stage, entry_point: entry.name.clone() };
        spv::write_vec(&emitted.module, &info, &options, Some(&pipeline)).expect("SPIR-V");
    }
    emitted
}

/// Emits for the default target.
fn emit(program: &Program) -> Emitted {
    emit_for(program, &Target::default())
}

/// A handle of a binding that is no array.
fn handle(builder: &mut Builder<'_>, binding: u32) -> Value {
    let index = builder.i32(0);
    builder.push(Op::Handle { binding: BindingId(binding), index, non_uniform: false }, Type::Handle)
}

/// Part of row 0 of an input.
fn load_input(builder: &mut Builder<'_>, element: u32, component: u8, ty: Type) -> Value {
    let row = builder.i32(0);
    let (signature, element) = (SignatureKind::Input, ElementId(element));
    builder.push(Op::LoadInput { signature, element, row, component, vertex: None }, ty)
}

/// Writes to row 0 of an output.
fn store_output(builder: &mut Builder<'_>, element: u32, component: u8, value: Value) {
    let row = builder.i32(0);
    let (signature, element) = (SignatureKind::Output, ElementId(element));
    builder.effect(Op::StoreOutput { signature, element, row, component, vertex: None, value });
}

/// `vec4` of a scalar of naga.
fn vec4(scalar: naga::Scalar) -> naga::TypeInner {
    naga::TypeInner::Vector { size: naga::VectorSize::Quad, scalar }
}
