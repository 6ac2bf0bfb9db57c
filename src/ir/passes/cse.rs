//! Merges instructions that give the same value.

use std::collections::HashMap;

use super::replace::Replacements;
use crate::{
    ir::{BinaryOp, Block, Cfg, CompareOp, Dominators, Effect, Function, Op, Type, Value, ValueDef},
    reflection::{Interface, ResourceClass},
};

/// Guarantees that no instruction whose operands alone decide its value is dominated by one that is alike.
///
/// Loads through shader resource views count among them: Direct3D does not let a resource be written while it is bound
/// as one. Derivatives and samples of implicit level are merged within a block, where the same lanes are active. What is left is
/// precise if one of the two was. Gives whether anything changed.
pub fn merge_common_expressions(function: &mut Function, interface: &Interface) -> bool {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let mut replacements = Replacements::new(function);
    // Of large programs, growing and hashing again what is known takes longer than all the rest.
    let count = function.blocks.iter().map(|block| block.insts.len()).sum();
    let mut known: HashMap<(Op, Type), (Value, Block)> = HashMap::with_capacity(count);
    for block in dominators.preorder(function.entry) {
        let insts = std::mem::take(&mut function.blocks[block.index()].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for value in insts {
            let ty = function.ty(value);
            let ValueDef::Inst(inst) = &mut function.values[value.index()].def else { continue };
            inst.op.for_each_operand_mut(|operand| *operand = replacements.get(*operand));
            let Some(inst) = function.inst(value) else { continue };
            let anywhere = match &inst.op {
                op if op.effect() == Effect::Pure => true,
                Op::LoadBuffer { handle, .. } | Op::LoadTexture { handle, .. }
                    if is_view(function, interface, *handle) =>
                {
                    true
                }
                Op::Derivative(..) | Op::Sample(_) | Op::CalculateLod { .. } => false,
                _ => {
                    kept.push(value);
                    continue;
                }
            };
            let (precise, key) = (inst.precise, (in_one_order(inst.op.clone()), ty));
            // What was met last dominates if any does: others are behind it in this walk of the tree.
            let (first, place) = known.entry(key).or_insert((value, block));
            if *first == value {
                kept.push(value);
            } else if *place == block || anywhere && dominators.dominates(*place, block) {
                replacements.set(value, *first);
                function.values[value.index()].def = ValueDef::Removed;
                if precise && let ValueDef::Inst(inst) = &mut function.values[first.index()].def {
                    inst.precise = true;
                }
            } else {
                (*first, *place) = (value, block);
                kept.push(value);
            }
        }
        function.blocks[block.index()].insts = kept;
        function.blocks[block.index()].terminator.for_each_operand_mut(|operand| *operand = replacements.get(*operand));
    }
    replacements.apply(function);
    replacements.any()
}

/// A shader resource view.
fn is_view(function: &Function, interface: &Interface, handle: Value) -> bool {
    let Some(Op::Handle { binding, .. }) = function.op(handle) else { return false };
    interface.bindings.get(binding.index()).is_some_and(|binding| binding.class == ResourceClass::Srv)
}

/// The operands of a commutative operation by their numbers.
fn in_one_order(op: Op) -> Op {
    match op {
        Op::Binary(op, a, b) if a > b && is_commutative(op) => Op::Binary(op, b, a),
        Op::Compare(op @ (CompareOp::FEq | CompareOp::FNe | CompareOp::IEq | CompareOp::INe), a, b) if a > b => {
            Op::Compare(op, b, a)
        }
        op => op,
    }
}

/// The operands may change places.
pub(super) fn is_commutative(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::FAdd
            | BinaryOp::FMul
            | BinaryOp::IAdd
            | BinaryOp::IMul
            | BinaryOp::SMulHigh
            | BinaryOp::UMulHigh
            | BinaryOp::SMin
            | BinaryOp::SMax
            | BinaryOp::UMin
            | BinaryOp::UMax
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ir::{
            passes::tests::check_function,
            verify::tests::{constant_buffer, interface},
        },
        reflection::{Binding, ResourceKind, UavFlags},
    };

    #[test]
    fn dominated_copies_go() {
        check_function(
            |function| merge_common_expressions(function, &interface()),
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    %1: i32 = wave lane_index
    %2: i32 = wave lane_index
    %3: handle = handle binding0, i32(0)
    %4: f32x4 = load_constant %3, i32(1), 0
    branch %0, block1, block2
block1:
    %5: handle = handle binding0, i32(0)
    %6: f32x4 = load_constant %5, i32(1), 0
    %7: f32x4 = precise f_add %4, %6
    %8: f32x4 = f_add %6, %4
    %9: f32x4 = derivative x, fine, %8
    %10: f32x4 = derivative x, fine, %7
    store_variable variable0, i32(0), %10
    jump block3
block2:
    %11: f32x4 = f_add %4, %4
    store_variable variable0, i32(0), %11
    jump block3
block3:
    %12: f32x4 = f_add %4, %4
    store_variable variable0, i32(0), %12
    return
}
"#,
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    %1: i32 = wave lane_index
    %2: i32 = wave lane_index
    %3: handle = handle binding0, i32(0)
    %4: f32x4 = load_constant %3, i32(1), 0
    branch %0, block1, block2
block1:
    %7: f32x4 = precise f_add %4, %4
    %9: f32x4 = derivative x, fine, %7
    store_variable variable0, i32(0), %9
    jump block3
block2:
    %11: f32x4 = f_add %4, %4
    store_variable variable0, i32(0), %11
    jump block3
block3:
    %12: f32x4 = f_add %4, %4
    store_variable variable0, i32(0), %12
    return
}
"#,
        );
    }

    #[test]
    fn loads_through_views_are_merged() {
        let text = |last: &str| {
            format!(
                r#"function0 "main" -> void, entry block0 {{
block0:
    %0: handle = handle binding0, i32(0)
    %1: handle = handle binding1, i32(0)
    %2: i32 = load_buffer %0, byte: i32(0)
    store_buffer %1, byte: i32(0), %2
    %3: i32 = load_buffer %1, byte: i32(0)
    store_buffer %1, byte: i32(4), %3
{last}    return
}}
"#
            )
        };
        let mut interface = interface();
        for class in [ResourceClass::Srv, ResourceClass::Uav] {
            let kind = ResourceKind::RawBuffer { flags: UavFlags::default() };
            interface.bindings.push(Binding { class, kind, ..constant_buffer() });
        }
        check_function(
            |function| merge_common_expressions(function, &interface),
            &text(
                r#"    %4: i32 = load_buffer %0, byte: i32(0)
    %5: i32 = load_buffer %1, byte: i32(0)
    store_buffer %1, byte: %4, %5
"#,
            ),
            &text(
                r#"    %5: i32 = load_buffer %1, byte: i32(0)
    store_buffer %1, byte: %2, %5
"#,
            ),
        );
    }
}
