//! Removes what nothing depends on.

use smallvec::SmallVec;

use crate::ir::{Block, Effect, Function, Module, Op, Value, ValueDef, VariableSpace};

/// Guarantees that every instruction and parameter that is left has an effect, or is needed by one that has, or by a
/// terminator. Writes to thread variables that nothing reads are removed too.
///
/// The graph stays as it is.
pub fn remove_dead_code(module: &mut Module) {
    let mut read = vec![false; module.variables.len()];
    for (variable, read) in module.variables.iter().zip(&mut read) {
        *read = variable.space != VariableSpace::Thread;
    }
    for function in &module.functions {
        for &value in function.blocks.iter().flat_map(|block| &block.insts) {
            if let Some(
                Op::LoadVariable { variable, .. }
                | Op::AtomicVariable { variable, .. }
                | Op::DispatchMesh { payload: variable, .. },
            ) = function.op(value)
                && let Some(read) = read.get_mut(variable.index())
            {
                *read = true;
            }
        }
    }
    for function in &mut module.functions {
        remove_from(function, &read);
    }
}

fn remove_from(function: &mut Function, read: &[bool]) {
    // Arguments that edges bring for each parameter.
    let mut args: Vec<SmallVec<[Value; 2]>> = vec![SmallVec::new(); function.values.len()];
    let mut live = vec![false; function.values.len()];
    let mut work = Vec::new();
    for block in &function.blocks {
        for edge in block.terminator.edges() {
            for (&param, &arg) in function.blocks[edge.block.index()].params.iter().zip(&edge.args) {
                args[param.index()].push(arg);
            }
        }
        for &value in &block.insts {
            let needed = match function.op(value) {
                Some(Op::StoreVariable { variable, .. }) => read.get(variable.index()).is_none_or(|read| *read),
                Some(op) => op.effect() == Effect::Write,
                None => false,
            };
            if needed {
                work.push(value);
            }
        }
        let mut without_args = |value| work.push(value);
        match &block.terminator {
            crate::ir::Terminator::Branch { condition, .. } => without_args(*condition),
            crate::ir::Terminator::Switch { selector, .. } => without_args(*selector),
            crate::ir::Terminator::Return(Some(value)) => without_args(*value),
            _ => {}
        }
    }
    // A function's own parameters stay: its callers bring them.
    work.extend(&function.blocks[function.entry.index()].params);
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut live[value.index()], true) {
            continue;
        }
        match &function.values[value.index()].def {
            ValueDef::Inst(inst) => inst.op.for_each_operand(|operand| work.push(operand)),
            ValueDef::Param(_) => work.extend(&args[value.index()]),
            ValueDef::Constant(_) | ValueDef::Removed => {}
        }
    }
    let dead_params: Vec<Value> =
        function.blocks.iter().flat_map(|block| &block.params).copied().filter(|param| !live[param.index()]).collect();
    remove_params(function, &dead_params);
    let Function { blocks, values, names, .. } = function;
    for block in blocks {
        block.insts.retain(|value| {
            if !live[value.index()] {
                values[value.index()].def = ValueDef::Removed;
            }
            live[value.index()]
        });
    }
    names.retain(|value, _| live[value.index()]);
}

/// Removes parameters that nothing uses, and the arguments for them.
pub(super) fn remove_params(function: &mut Function, params: &[Value]) {
    if params.is_empty() {
        return;
    }
    for &param in params {
        function.values[param.index()].def = ValueDef::Removed;
    }
    // Which of each block's parameters stay, where some do not.
    let keep: Vec<Option<Vec<bool>>> = function
        .blocks
        .iter()
        .map(|block| {
            let keep: Vec<bool> =
                block.params.iter().map(|param| function.values[param.index()].def != ValueDef::Removed).collect();
            keep.contains(&false).then_some(keep)
        })
        .collect();
    let kept = |block: Block, list: &mut SmallVec<[Value; 4]>| {
        if let Some(keep) = &keep[block.index()] {
            let mut keep = keep.iter();
            list.retain(|_| keep.next().copied().unwrap_or(true));
        }
    };
    for (index, block) in function.blocks.iter_mut().enumerate() {
        kept(Block(index as u32), &mut block.params);
        for edge in block.terminator.edges_mut() {
            kept(edge.block, &mut edge.args);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::passes::tests::check;

    #[test]
    fn dead_cycles_go() {
        check(
            remove_dead_code,
            r#"variable0 "kept": thread f32[1]
variable1 "lost": thread f32[1]

function0 "main" -> void, entry block0 {
block0:
    %9: f32 = load_variable variable0, i32(0)
    jump block1(i32(0), i32(0))
block1(%0: i32, %1: i32):
    %2: i32 = i_add %0, i32(1)
    %3: i32 = i_add %1, i32(2)
    %4: bool = s_lt %3, i32(10)
    store_variable variable0, i32(0), f32(1.0)
    store_variable variable1, i32(0), %9
    branch %4, block1(%2, %3), block2
block2:
    return
}
"#,
            r#"variable0 "kept": thread f32[1]
variable1 "lost": thread f32[1]

function0 "main" -> void, entry block0 {
block0:
    jump block1(i32(0))
block1(%1: i32):
    %3: i32 = i_add %1, i32(2)
    %4: bool = s_lt %3, i32(10)
    store_variable variable0, i32(0), f32(1.0)
    branch %4, block1(%3), block2
block2:
    return
}
"#,
        );
    }
}
