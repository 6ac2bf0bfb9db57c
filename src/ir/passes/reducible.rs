//! Makes every graph reducible.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use crate::ir::{Block, BlockData, Cfg, Dominators, Edge, Function, Inst, Loops, Terminator, Type, Value, ValueDef};

/// Guarantees that every cycle of the graph is entered through one block that dominates it.
///
/// A cycle with several entries gets a new block that all edges to them go through, from inside and outside: it takes
/// the number of the entry that is meant, and the arguments for all of them, and switches. Values that no longer
/// dominate their uses are handed on through parameters; handles are made again where they are used.
///
/// Graphs that are reducible stay as they are. Gives whether anything changed.
pub fn make_reducible(function: &mut Function) -> bool {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    if Loops::new(function, &cfg, &dominators).is_reducible() {
        return false;
    }
    let mut work = vec![cfg.reverse_post_order().to_vec()];
    while let Some(region) = work.pop() {
        for component in components(function, &region) {
            let inside: HashSet<Block> = component.iter().copied().collect();
            let entries = entries(function, &inside);
            if entries.len() > 1 {
                dispatch(function, &entries);
            }
            // What is left of the component without its entries can hold cycles of its own.
            work.push(component.into_iter().filter(|block| !entries.contains(block)).collect());
        }
    }
    repair(function);
    true
}

/// Leads every edge through one block that switches: the graph becomes one loop round one choice, whatever it was.
///
/// Guarantees that no way through the graph is nested, at the cost of a choice for each step. For graphs that are too
/// deep for what comes after.
pub fn flatten(function: &mut Function) {
    let cfg = Cfg::new(function);
    let entries = &cfg.reverse_post_order()[1..];
    if entries.len() > 1 {
        dispatch(function, entries);
        repair(function);
    }
}

/// The strongly connected components of a part of the graph that have a cycle.
///
/// Tarjan: *Depth-First Search and Linear Graph Algorithms* (1972), without recursion.
fn components(function: &Function, region: &[Block]) -> Vec<Vec<Block>> {
    #[derive(Clone, Copy)]
    struct Visit {
        number: u32,
        low: u32,
        on_stack: bool,
    }
    let inside: HashSet<Block> = region.iter().copied().collect();
    let successors = |block: Block| -> SmallVec<[Block; 4]> {
        let edges = function.blocks[block.index()].terminator.edges();
        edges.map(|edge| edge.block).filter(|block| inside.contains(block)).collect()
    };
    let mut visits: HashMap<Block, Visit> = HashMap::new();
    let mut stack = Vec::new();
    let mut found = Vec::new();
    for &root in region {
        if visits.contains_key(&root) {
            continue;
        }
        let mut calls: Vec<(Block, SmallVec<[Block; 4]>, usize)> = Vec::new();
        let mut enter = Some(root);
        loop {
            if let Some(block) = enter.take() {
                let number = visits.len() as u32;
                visits.insert(block, Visit { number, low: number, on_stack: true });
                stack.push(block);
                calls.push((block, successors(block), 0));
            }
            let Some((block, next, position)) = calls.last_mut() else { break };
            let block = *block;
            if let Some(&successor) = next.get(*position) {
                *position += 1;
                match visits.get(&successor) {
                    None => enter = Some(successor),
                    Some(&Visit { number, on_stack: true, .. }) => {
                        if let Some(visit) = visits.get_mut(&block) {
                            visit.low = visit.low.min(number);
                        }
                    }
                    Some(_) => {}
                }
                continue;
            }
            let Visit { number, low, .. } = visits[&block];
            calls.pop();
            if let Some((parent, ..)) = calls.last()
                && let Some(visit) = visits.get_mut(parent)
            {
                visit.low = visit.low.min(low);
            }
            if low == number {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    if let Some(visit) = visits.get_mut(&member) {
                        visit.on_stack = false;
                    }
                    component.push(member);
                    if member == block {
                        break;
                    }
                }
                if component.len() > 1 || successors(block).contains(&block) {
                    component.reverse();
                    found.push(component);
                }
            }
        }
    }
    found
}

/// The blocks of a component with an edge from outside, in the order of their numbers.
fn entries(function: &Function, inside: &HashSet<Block>) -> Vec<Block> {
    let cfg = Cfg::new(function);
    let mut entries: Vec<Block> = inside
        .iter()
        .copied()
        .filter(|&block| cfg.predecessors(block).iter().any(|from| !inside.contains(from)))
        .collect();
    entries.sort();
    entries
}

/// Leads all edges to the entries through a new block.
fn dispatch(function: &mut Function, entries: &[Block]) {
    let hub = function.add_block();
    let selector = function.add_param(hub, Type::I32);
    // Where the parameters of each entry are among the hub's.
    let mut places = HashMap::new();
    let mut edges = Vec::new();
    for (number, &entry) in entries.iter().enumerate() {
        let first = function.blocks[hub.index()].params.len();
        places.insert(entry, (number as u32, first));
        let types: Vec<Type> = function.blocks[entry.index()].params.iter().map(|param| function.ty(*param)).collect();
        let args = types.into_iter().map(|ty| function.add_param(hub, ty)).collect();
        edges.push((number as u64, Edge { block: entry, args }));
    }
    let types: Vec<Type> = function.blocks[hub.index()].params.iter().map(|param| function.ty(*param)).collect();
    // An argument for an entry that is not meant is never looked at.
    let unused: SmallVec<[Value; 4]> = types.into_iter().map(|ty| function.zero(ty)).collect();
    let numbers: Vec<Value> = (0..entries.len()).map(|number| function.i32(number as u32)).collect();
    for block in &mut function.blocks {
        for edge in block.terminator.edges_mut() {
            if let Some(&(number, first)) = places.get(&edge.block) {
                let mut args = unused.clone();
                args[0] = numbers[number as usize];
                args[first..first + edge.args.len()].copy_from_slice(&edge.args);
                *edge = Edge { block: hub, args };
            }
        }
    }
    let Some((_, default)) = edges.pop() else { return };
    function.blocks[hub.index()].terminator = Terminator::Switch { selector, cases: edges, default };
}

/// Hands values on to uses that they no longer dominate.
fn repair(function: &mut Function) {
    rebuild_handles(function);
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let definitions = function.definition_blocks();
    let mut broken: HashMap<Value, Vec<Block>> = HashMap::new();
    let mut order = Vec::new();
    for &block in cfg.reverse_post_order() {
        for_each_use_in(function, block, |value| {
            if let Some(defined) = definitions[value.index()]
                && !dominators.dominates(defined, block)
            {
                let uses = broken.entry(value).or_insert_with(|| {
                    order.push(value);
                    Vec::new()
                });
                if uses.last() != Some(&block) {
                    uses.push(block);
                }
            }
        });
    }
    for value in order {
        if let Some(defined) = definitions[value.index()] {
            hand_on(function, &cfg, value, defined, &broken[&value]);
        }
    }
}

/// Calls `f` on each use in a block.
fn for_each_use_in(function: &Function, block: Block, mut f: impl FnMut(Value)) {
    let data = &function.blocks[block.index()];
    for &inst in &data.insts {
        if let Some(op) = function.op(inst) {
            op.for_each_operand(&mut f);
        }
    }
    data.terminator.for_each_operand(f);
}

/// Makes the value of `value`, defined in block `defined`, reach its uses in blocks `uses`: blocks in between with one
/// predecessor take it from there, others get a parameter.
fn hand_on(function: &mut Function, cfg: &Cfg, value: Value, defined: Block, uses: &[Block]) {
    // Blocks that need the value at their beginning.
    let mut needed: HashMap<Block, Option<Value>> = HashMap::new();
    let mut work = uses.to_vec();
    while let Some(block) = work.pop() {
        if block != defined && needed.insert(block, None).is_none() {
            work.extend(cfg.predecessors(block));
        }
    }
    let mut blocks: Vec<Block> = needed.keys().copied().collect();
    blocks.sort_by_key(|block| cfg.number(*block));
    let ty = function.ty(value);
    let mut joins = Vec::new();
    for block in blocks {
        let incoming = match cfg.predecessors(block) {
            // A way to a use that does not go through the definition: the use was never reached that way.
            [] => function.zero(ty),
            [from] if *from == defined => value,
            // In the reverse post-order, a single predecessor comes first.
            [from] => needed[from].unwrap_or(value),
            _ => {
                joins.push(block);
                function.add_param(block, ty)
            }
        };
        needed.insert(block, Some(incoming));
        replace_in(function, block, value, incoming);
    }
    for block in joins {
        let mut sources: SmallVec<[Block; 4]> = SmallVec::from_slice(cfg.predecessors(block));
        sources.sort();
        sources.dedup();
        for from in sources {
            let arg = if from == defined { value } else { needed[&from].unwrap_or(value) };
            for edge in function.blocks[from.index()].terminator.edges_mut() {
                if edge.block == block {
                    edge.args.push(arg);
                }
            }
        }
    }
}

/// Replaces the uses of a value in one block.
fn replace_in(function: &mut Function, block: Block, old: Value, new: Value) {
    let Function { blocks, values, .. } = function;
    let BlockData { insts, terminator, .. } = &mut blocks[block.index()];
    let mut replace = |operand: &mut Value| {
        if *operand == old {
            *operand = new;
        }
    };
    for inst in insts {
        if let ValueDef::Inst(Inst { op, .. }) = &mut values[inst.index()].def {
            op.for_each_operand_mut(&mut replace);
        }
    }
    terminator.for_each_operand_mut(replace);
}

/// Makes handles again in blocks that theirs no longer dominates: handles cannot be handed on.
fn rebuild_handles(function: &mut Function) {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let definitions = function.definition_blocks();
    for &block in cfg.reverse_post_order() {
        let mut made: HashMap<Value, Value> = HashMap::new();
        let mut insts = Vec::new();
        for user in std::mem::take(&mut function.blocks[block.index()].insts) {
            let Some(op) = function.op(user) else { continue };
            let mut lost = SmallVec::<[Value; 2]>::new();
            op.for_each_operand(|operand| {
                if let Some(defined) = definitions[operand.index()]
                    && function.ty(operand) == Type::Handle
                    && !dominators.dominates(defined, block)
                {
                    lost.push(operand);
                }
            });
            for handle in lost {
                let fresh = *made.entry(handle).or_insert_with(|| {
                    let data = function.values[handle.index()].clone();
                    let fresh = function.add_value(data.def, data.ty);
                    insts.push(fresh);
                    fresh
                });
                if let ValueDef::Inst(Inst { op, .. }) = &mut function.values[user.index()].def {
                    op.for_each_operand_mut(|operand| {
                        if *operand == handle {
                            *operand = fresh;
                        }
                    });
                }
            }
            insts.push(user);
        }
        function.blocks[block.index()].insts = insts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ir::{
            passes::{remove_dead_code, tests::check},
            verify,
            verify::tests::{constant_buffer, interface},
        },
        reflection::Interface,
    };

    #[test]
    fn cycles_with_two_entries_get_a_hub() {
        let interface = Interface { bindings: vec![constant_buffer()], ..interface() };
        check(
            |module| {
                make_reducible(&mut module.functions[0]);
                remove_dead_code(module);
                verify(module, &interface).unwrap();
            },
            r#"variable0 "out": group_shared f32[1]

function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    %1: i32 = wave lane_index
    %2: handle = handle binding0, %1
    branch %0, block1, block2(i32(7))
block1:
    %3: f32 = load_constant %2, i32(0), 0
    store_variable variable0, i32(0), %3
    jump block2(%1)
block2(%4: i32):
    %5: f32 = load_constant %2, %4, 4
    store_variable variable0, i32(0), %5
    branch %0, block1, block3
block3:
    return
}
"#,
            r#"variable0 "out": group_shared f32[1]

function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    %1: i32 = wave lane_index
    %2: handle = handle binding0, %1
    branch %0, block4(i32(0), i32(0)), block4(i32(1), i32(7))
block1:
    %3: f32 = load_constant %2, i32(0), 0
    store_variable variable0, i32(0), %3
    jump block4(i32(1), %1)
block2(%4: i32):
    %5: f32 = load_constant %2, %4, 4
    store_variable variable0, i32(0), %5
    branch %0, block4(i32(0), i32(0)), block3
block3:
    return
block4(%10: i32, %11: i32):
    switch %10, 0: block1, default: block2(%11)
}
"#,
        );
    }

    #[test]
    fn values_and_handles_are_handed_on() {
        let interface = Interface { bindings: vec![constant_buffer()], ..interface() };
        check(
            |module| {
                flatten(&mut module.functions[0]);
                verify(module, &interface).unwrap();
            },
            r#"variable0 "out": group_shared f32[1]

function0 "main" -> void, entry block0 {
block0:
    jump block1
block1:
    %1: i32 = wave lane_index
    %2: handle = handle binding0, %1
    jump block2(%1)
block2(%3: i32):
    %4: f32 = load_constant %2, %3, 0
    store_variable variable0, %1, %4
    return
}
"#,
            r#"variable0 "out": group_shared f32[1]

function0 "main" -> void, entry block0 {
block0:
    jump block3(i32(0), i32(0), i32(0))
block1:
    %1: i32 = wave lane_index
    %2: handle = handle binding0, %1
    jump block3(i32(1), %1, %1)
block2(%3: i32):
    %10: handle = handle binding0, %11
    %4: f32 = load_constant %10, %3, 0
    store_variable variable0, %11, %4
    return
block3(%6: i32, %7: i32, %11: i32):
    switch %6, 0: block1, default: block2(%7)
}
"#,
        );
    }
}
