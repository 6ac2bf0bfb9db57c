//! Tidies the graph.

use smallvec::SmallVec;

use super::replace::Replacements;
use crate::ir::{Block, Cfg, Edge, Function, Inst, Op, Terminator, Type, Value, ValueDef};

/// Values that a choice of two edges may turn into selections.
const MAX_SELECTS: usize = 8;

/// Guarantees that all blocks are reachable and numbered in reverse post-order, that no block with a jump leads to one
/// that has no other way in, that no block only jumps on, unless its parameters are used elsewhere, and that no choice
/// is between two alike edges.
///
/// A choice between two edges to one block that differ in their arguments becomes a jump with selected arguments.
pub fn simplify_blocks(function: &mut Function) {
    loop {
        let mut changed = merge_edges(function);
        changed |= skip_empty_blocks(function);
        merge_blocks(function);
        if !changed {
            break;
        }
    }
    renumber(function);
}

/// Makes jumps of choices that lead to one block.
fn merge_edges(function: &mut Function) -> bool {
    let mut changed = false;
    let arrivals = count_arrivals(function);
    for index in 0..function.blocks.len() {
        let terminator = match &function.blocks[index].terminator {
            Terminator::Branch { accept, reject, .. } if accept == reject => Terminator::Jump(accept.clone()),
            Terminator::Switch { cases, default, .. } if cases.iter().all(|(_, edge)| edge == default) => {
                Terminator::Jump(default.clone())
            }
            Terminator::Branch { condition, accept, reject }
                if accept.block == reject.block
                    && accept.args.len() <= MAX_SELECTS
                    && arrivals[accept.block.index()] == 2 =>
            {
                let (condition, accept, reject) = (*condition, accept.clone(), reject.clone());
                let origin = function.blocks[index].insts.last().map_or(0, |&last| origin(function, last));
                let mut args = SmallVec::new();
                for (&a, &b) in accept.args.iter().zip(&reject.args) {
                    if a == b {
                        args.push(a);
                        continue;
                    }
                    let op = Op::Select { condition, accept: a, reject: b };
                    let inst = Inst { op, precise: false, origin };
                    let value = function.add_value(ValueDef::Inst(inst), function.ty(a));
                    function.blocks[index].insts.push(value);
                    args.push(value);
                }
                Terminator::Jump(Edge { block: accept.block, args })
            }
            _ => continue,
        };
        function.blocks[index].terminator = terminator;
        changed = true;
    }
    changed
}

fn origin(function: &Function, value: Value) -> u32 {
    function.inst(value).map_or(0, |inst| inst.origin)
}

/// Number of edges that lead to each block, from reachable blocks.
fn count_arrivals(function: &Function) -> Vec<usize> {
    let cfg = Cfg::new(function);
    (0..function.blocks.len()).map(|block| cfg.predecessors(Block(block as u32)).len()).collect()
}

/// Leads edges to blocks that only jump on to where these jump.
fn skip_empty_blocks(function: &mut Function) -> bool {
    // A parameter may be used by the block's own edge alone: where others use it, it stands for the choice.
    let uses = function.use_counts();
    let skippable: Vec<bool> = function
        .blocks
        .iter()
        .enumerate()
        .map(|(index, block)| {
            let Terminator::Jump(edge) = &block.terminator else { return false };
            let own = |param: &Value| edge.args.iter().filter(|arg| *arg == param).count() as u32;
            block.insts.is_empty()
                && edge.block.index() != index
                && index != function.entry.index()
                && block.params.iter().all(|param| own(param) == uses[param.index()])
        })
        .collect();
    let mut changed = false;
    for index in 0..function.blocks.len() {
        let mut terminator = std::mem::replace(&mut function.blocks[index].terminator, Terminator::Unreachable);
        for edge in terminator.edges_mut() {
            let before = edge.clone();
            let mut steps = 0;
            while skippable[edge.block.index()]
                && edge.block.index() != index
                && steps <= function.blocks.len()
                && let Terminator::Jump(next) = &function.blocks[edge.block.index()].terminator
            {
                let params = &function.blocks[edge.block.index()].params;
                let args = next
                    .args
                    .iter()
                    .map(|arg| params.iter().position(|param| param == arg).map_or(*arg, |place| edge.args[place]))
                    .collect();
                *edge = Edge { block: next.block, args };
                steps += 1;
            }
            if steps > function.blocks.len() {
                // An endless loop of empty blocks.
                *edge = before;
            } else {
                changed |= steps != 0;
            }
        }
        function.blocks[index].terminator = terminator;
    }
    changed
}

/// Appends blocks with one way in to the block that jumps there.
fn merge_blocks(function: &mut Function) {
    let arrivals = count_arrivals(function);
    let cfg = Cfg::new(function);
    let mut replacements = Replacements::new(function);
    let mut merged = vec![false; function.blocks.len()];
    for &block in cfg.reverse_post_order() {
        if merged[block.index()] {
            continue;
        }
        while let Terminator::Jump(Edge { block: next, .. }) = function.blocks[block.index()].terminator
            && arrivals[next.index()] == 1
            && next != block
        {
            merged[next.index()] = true;
            let tail = &mut function.blocks[next.index()];
            let params = std::mem::take(&mut tail.params);
            let mut insts = std::mem::take(&mut tail.insts);
            let terminator = std::mem::replace(&mut tail.terminator, Terminator::Unreachable);
            let head = &mut function.blocks[block.index()];
            head.insts.append(&mut insts);
            if let Terminator::Jump(edge) = std::mem::replace(&mut head.terminator, terminator) {
                for (param, arg) in params.into_iter().zip(edge.args) {
                    replacements.set(param, arg);
                    function.values[param.index()].def = ValueDef::Removed;
                }
            }
        }
    }
    replacements.apply(function);
}

/// Drops unreachable blocks, and numbers the others anew.
fn renumber(function: &mut Function) {
    let cfg = Cfg::new(function);
    let order = cfg.reverse_post_order();
    let in_order = order.iter().enumerate().all(|(place, block)| place == block.index());
    if in_order && order.len() == function.blocks.len() {
        return;
    }
    let mut old: Vec<Option<crate::ir::BlockData>> =
        std::mem::take(&mut function.blocks).into_iter().map(Some).collect();
    for &block in order {
        let Some(mut data) = old[block.index()].take() else { continue };
        let number = Block(function.blocks.len() as u32);
        for &param in &data.params {
            function.values[param.index()].def = ValueDef::Param(number);
        }
        for edge in data.terminator.edges_mut() {
            edge.block = Block(cfg.number(edge.block).unwrap_or(0));
        }
        function.blocks.push(data);
    }
    function.entry = Block(0);
    for data in old.into_iter().flatten() {
        for value in data.params.iter().chain(&data.insts) {
            function.values[value.index()] = crate::ir::ValueData { def: ValueDef::Removed, ty: Type::Void };
            function.names.remove(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::passes::tests::check_function;

    #[test]
    fn chains_and_empty_blocks_go() {
        check_function(
            simplify_blocks,
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    %1: i32 = wave lane_index
    jump block5
block1:
    jump block3(i32(1))
block2:
    jump block4(%1)
block3(%2: i32):
    jump block4(%2)
block4(%3: i32):
    store_variable variable0, i32(0), %3
    jump block6
block5:
    branch %0, block1, block2
block6:
    branch %0, block7, block8(%1)
block7:
    discard %0
    jump block8(i32(7))
block8(%4: i32):
    store_variable variable0, i32(0), %4
    return
block9:
    return
}
"#,
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    %1: i32 = wave lane_index
    %11: i32 = select %0, i32(1), %1
    store_variable variable0, i32(0), %11
    branch %0, block1, block2(%1)
block1:
    discard %0
    jump block2(i32(7))
block2(%4: i32):
    store_variable variable0, i32(0), %4
    return
}
"#,
        );
    }

    #[test]
    fn endless_loops_stay() {
        check_function(
            simplify_blocks,
            r#"function0 "main" -> void, entry block0 {
block0:
    jump block1
block1:
    jump block2
block2:
    jump block1
}
"#,
            r#"function0 "main" -> void, entry block0 {
block0:
    jump block1
block1:
    jump block1
}
"#,
        );
    }
}
