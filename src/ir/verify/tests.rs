//! Each rule of the verifier, broken once.

use super::verify;
use crate::{
    ErrorKind,
    ir::{
        BinaryOp, Block, Builder, Edge, EntryPoint, Function, FunctionId, Module, Op, Scalar, Terminator, Type, Value,
        ValueDef,
    },
    reflection::{Binding, EntryPointInterface, Format, Interface, ResourceClass, ResourceKind, ShaderModel, Stage},
};

/// An interface of one compute shader without bindings.
pub(crate) fn interface() -> Interface {
    Interface {
        entry_points: vec![EntryPointInterface::new("main", Stage::Compute)],
        ..Interface::new(Format::Dxil, ShaderModel { major: 6, minor: 0 }, Stage::Compute)
    }
}

/// A constant buffer of 64 bytes.
pub(crate) fn constant_buffer() -> Binding {
    Binding {
        name: None,
        class: ResourceClass::Cbv,
        space: 0,
        register: 0,
        count: Some(1),
        kind: ResourceKind::ConstantBuffer { size: 64 },
        layout: None,
    }
}

/// `if (...) { x = 1 } else { x = 2 }; return`, with a sum after the join.
fn diamond() -> Function {
    let mut function = Function::new("main", Type::Void);
    let [accept, reject, join] = [(); 3].map(|()| function.add_block());
    let param = function.add_param(join, Type::I32);
    let condition = function.constant(Type::BOOL, &[1]);
    Builder::new(&mut function, Block(0)).branch(condition, accept, reject);
    for (block, number) in [(accept, 1), (reject, 2)] {
        let value = function.i32(number);
        Builder::new(&mut function, block).jump(join, &[value]);
    }
    let mut builder = Builder::new(&mut function, join);
    builder.binary(BinaryOp::IAdd, param, param);
    builder.terminate(Terminator::Return(None));
    function
}

/// The fault that the verifier finds.
fn fault(function: Function) -> Option<String> {
    let entry = EntryPoint { stage: Stage::Compute, function: FunctionId(0), patch_constant_functions: Vec::new() };
    let module = Module { functions: vec![function], variables: Vec::new(), entry_points: vec![entry] };
    let error = verify(&module, &interface()).err()?;
    assert_eq!(error.kind, ErrorKind::Internal);
    assert_eq!(error.place.function.as_deref(), Some("main"));
    Some(error.what)
}

/// Breaks the diamond, and expects the rule to be named.
#[track_caller]
fn breaks(rule: &str, change: impl FnOnce(&mut Function)) {
    let mut function = diamond();
    change(&mut function);
    let fault = fault(function).unwrap_or_else(|| panic!("nothing found, expected: {rule}"));
    assert!(fault.contains(rule), "found: {fault}, expected: {rule}");
}

/// The sum in the diamond's last block.
fn sum(function: &Function) -> Value {
    function.blocks[3].insts[0]
}

#[test]
fn diamond_is_right() {
    assert_eq!(fault(diamond()), None);
}

#[test]
fn uses_are_dominated() {
    breaks("what a terminator uses is defined before", |function| {
        let param = function.blocks[3].params[0];
        let Terminator::Jump(edge) = &mut function.blocks[1].terminator else { unreachable!() };
        edge.args[0] = param;
    });
    breaks("an operand is defined before its use", |function| {
        let own = sum(function);
        function.replace_uses(function.blocks[3].params[0], own);
    });
    breaks("an operand is defined before its use", |function| {
        let param = function.blocks[3].params[0];
        function.values[param.index()].def = ValueDef::Removed;
        function.blocks[3].params.clear();
        for block in [1, 2] {
            let Terminator::Jump(edge) = &mut function.blocks[block].terminator else { unreachable!() };
            edge.args.clear();
        }
    });
}

#[test]
fn values_are_defined_once() {
    breaks("a value is defined once", |function| {
        let own = sum(function);
        function.blocks[3].insts.push(own);
    });
    breaks("a block's parameters know it", |function| {
        let param = function.blocks[3].params[0];
        function.blocks[1].params.push(param);
    });
}

#[test]
fn edges_fit_their_block() {
    breaks("an edge brings an argument for each parameter", |function| {
        let Terminator::Jump(edge) = &mut function.blocks[1].terminator else { unreachable!() };
        edge.args.clear();
    });
    breaks("an argument has its parameter's type", |function| {
        let float = function.f32(1.0);
        let Terminator::Jump(edge) = &mut function.blocks[1].terminator else { unreachable!() };
        edge.args[0] = float;
    });
    breaks("no edge leads to the entry", |function| {
        function.blocks[3].terminator = Terminator::Jump(Edge::new(Block(0)));
    });
    breaks("edges lead to blocks that exist", |function| {
        function.blocks[3].terminator = Terminator::Jump(Edge::new(Block(9)));
    });
}

#[test]
fn terminators_have_types() {
    breaks("a condition is bool", |function| {
        let one = function.i32(1);
        let Terminator::Branch { condition, .. } = &mut function.blocks[0].terminator else { unreachable!() };
        *condition = one;
    });
    breaks("a function returns its result's type", |function| {
        let one = function.i32(1);
        function.blocks[3].terminator = Terminator::Return(Some(one));
    });
    breaks("cases differ", |function| {
        let selector = function.i32(0);
        function.blocks[0].terminator = Terminator::Switch {
            selector,
            cases: vec![(7, Edge::new(Block(1))), (7, Edge::new(Block(2)))],
            default: Edge::new(Block(1)),
        };
    });
}

#[test]
fn operands_have_types() {
    breaks("operands are floats", |function| {
        let param = function.blocks[3].params[0];
        Builder::new(function, Block(3)).push(Op::Binary(BinaryOp::FAdd, param, param), Type::I32);
    });
    breaks("operands have the result's type", |function| {
        let float = function.f32(1.0);
        let param = function.blocks[3].params[0];
        Builder::new(function, Block(3)).push(Op::Binary(BinaryOp::IAdd, param, float), Type::I32);
    });
    breaks("the lane exists", |function| {
        let vector = function.zero(Type::Vector(Scalar::F32, 2));
        Builder::new(function, Block(3)).push(Op::Extract(vector, 2), Type::F32);
    });
    breaks("a resource operand is a handle", |function| {
        let zero = function.i32(0);
        Builder::new(function, Block(3)).push(Op::BufferSize { handle: zero }, Type::I32);
    });
    breaks("operands exist", |function| {
        Builder::new(function, Block(3)).push(Op::Discard(Value(999)), Type::Void);
    });
}
