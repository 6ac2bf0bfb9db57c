//! Makes vectors of parameters that travel together.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use super::dce::remove_params;
use crate::ir::{Block, Builder, Cfg, Edge, Function, Inst, Op, Terminator, Type, Value, ValueDef};

/// Parameters that become the lanes of one, in order.
type Group = SmallVec<[Value; 4]>;

/// Guarantees that parameters of a block that are put together to a vector somewhere are one parameter, if every edge
/// brings lanes of one vector for them, or constants, or parameters that may be one themselves. Front ends take vector
/// registers apart; this puts those back together that are used as vectors.
///
/// Edges bring vectors that are put together at the end of the block before, and lanes are taken at the beginning of the
/// block: [`simplify`](super::simplify) has to follow, and then this pass may find more. Gives whether anything changed.
pub fn vectorize_params(function: &mut Function) -> bool {
    let cfg = Cfg::new(function);
    let candidates = find_candidates(function, &cfg);
    if candidates.is_empty() {
        return false;
    }
    let mut incoming: HashMap<Block, Vec<SmallVec<[Value; 4]>>> = HashMap::new();
    for &block in cfg.reverse_post_order() {
        for edge in function.blocks[block.index()].terminator.edges() {
            if candidates.contains_key(&edge.block) {
                incoming.entry(edge.block).or_default().push(edge.args.clone());
            }
        }
    }
    let mut groups: Vec<(Block, Group)> = Vec::new();
    for &block in cfg.reverse_post_order() {
        let mut taken = HashSet::new();
        for group in candidates.get(&block).into_iter().flatten() {
            let places: Option<SmallVec<[usize; 4]>> = group
                .iter()
                .map(|lane| function.blocks[block.index()].params.iter().position(|param| param == lane))
                .collect();
            let (Some(places), Some(edges)) = (places, incoming.get(&block)) else { continue };
            if group.iter().any(|lane| taken.contains(lane)) {
                continue;
            }
            let mut vectors = false;
            let together = edges.iter().all(|args| {
                let lanes: Group = places.iter().map(|place| args[*place]).collect();
                vectors |= lanes != *group && is_vector(function, &lanes);
                lanes == *group || is_vector(function, &lanes) || lanes.iter().all(|lane| is_constant(function, *lane))
            });
            if together && vectors {
                taken.extend(group.iter().copied());
                groups.push((block, group.clone()));
            }
        }
    }
    if groups.is_empty() {
        return false;
    }
    let mut sources: HashMap<Block, Vec<Block>> = groups.iter().map(|(block, _)| (*block, Vec::new())).collect();
    for (from, data) in function.blocks.iter().enumerate() {
        for edge in data.terminator.edges() {
            if let Some(sources) = sources.get_mut(&edge.block)
                && sources.last() != Some(&Block(from as u32))
            {
                sources.push(Block(from as u32));
            }
        }
    }
    let vectors: Vec<Value> =
        groups.iter().map(|(block, group)| add_vector(function, *block, group, &sources[block])).collect();
    let lanes: Vec<Value> = groups.iter().flat_map(|(_, group)| group).copied().collect();
    remove_params(function, &lanes);
    for ((block, group), vector) in groups.iter().zip(vectors) {
        for (lane, &value) in group.iter().enumerate() {
            let op = Op::Extract(vector, lane as u8);
            function.values[value.index()].def = ValueDef::Inst(Inst { op, precise: false, origin: 0 });
        }
        function.blocks[block.index()].insts.splice(0..0, group.iter().copied());
    }
    true
}

fn is_constant(function: &Function, value: Value) -> bool {
    function.as_constant(value).is_some()
}

/// All are lanes of one vector, or different parameters of one block.
fn is_vector(function: &Function, lanes: &[Value]) -> bool {
    match (function.op(lanes[0]), &function.values[lanes[0].index()].def) {
        (Some(Op::Extract(vector, _)), _) => {
            lanes.iter().all(|lane| matches!(function.op(*lane), Some(Op::Extract(other, _)) if other == vector))
        }
        (_, ValueDef::Param(block)) => params_of(function, lanes) == Some(*block),
        _ => false,
    }
}

/// The block whose parameters these are, if they are different ones of one block.
fn params_of(function: &Function, lanes: &[Value]) -> Option<Block> {
    let mut found = None;
    for (index, lane) in lanes.iter().enumerate() {
        match function.values[lane.index()].def {
            ValueDef::Param(block) if found.is_none_or(|found| found == block) && !lanes[..index].contains(lane) => {
                found = Some(block);
            }
            _ => return None,
        }
    }
    found.filter(|block| *block != function.entry)
}

/// Parameters that are put together, by block; longer vectors first.
fn find_candidates(function: &Function, cfg: &Cfg) -> HashMap<Block, Vec<Group>> {
    let mut candidates: HashMap<Block, Vec<Group>> = HashMap::new();
    for &block in cfg.reverse_post_order() {
        for &value in &function.blocks[block.index()].insts {
            let Some(Op::Compose(lanes)) = function.op(value) else { continue };
            // `float4(color, 1.0)` has a constant among them.
            let group: Group = lanes.iter().copied().filter(|lane| !is_constant(function, *lane)).collect();
            if group.len() > 1
                && let Some(block) = params_of(function, &group)
            {
                let groups = candidates.entry(block).or_default();
                if !groups.contains(&group) {
                    groups.push(group);
                }
            }
        }
    }
    for groups in candidates.values_mut() {
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    }
    candidates
}

/// Adds a parameter for several, and its arguments.
fn add_vector(function: &mut Function, block: Block, group: &Group, sources: &[Block]) -> Value {
    let params = &function.blocks[block.index()].params;
    let places: SmallVec<[usize; 4]> =
        group.iter().filter_map(|lane| params.iter().position(|param| param == lane)).collect();
    let ty = function.ty(group[0]);
    let vector = function.add_param(block, ty.scalar().map_or(ty, |scalar| Type::new(scalar, group.len() as u8)));
    for &from in sources {
        let mut terminator = std::mem::replace(&mut function.blocks[from.index()].terminator, Terminator::Unreachable);
        for Edge { block: to, args } in terminator.edges_mut() {
            if *to == block {
                let lanes: Group = places.iter().map(|place| args[*place]).collect();
                args.push(Builder::new(function, from).compose(&lanes));
            }
        }
        function.blocks[from.index()].terminator = terminator;
    }
    // `color_x` and its like give their name to the whole.
    let base = function.names.get(&group[0]).and_then(|name| name.strip_suffix("_x")).map(str::to_owned);
    if let Some(base) = base {
        function.names.insert(vector, base);
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::passes::{remove_dead_code, simplify, tests::check};

    #[test]
    fn lanes_of_vectors_travel_as_vectors() {
        check(
            |module| {
                while vectorize_params(&mut module.functions[0]) {
                    simplify(&mut module.functions[0]);
                    remove_dead_code(module);
                }
            },
            r#"variable0 "in": group_shared f32x2[1]

function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    %1: f32x2 = load_variable variable0, i32(0)
    jump block1(f32(0.0), f32(1.0), f32(0.0), f32(0.0))
block1(%2 "sum_x": f32, %3 "sum_y": f32, %4: f32, %5: f32):
    branch %0, block2, block3
block2:
    %6: f32x2 = compose %2, %3
    %7: f32x2 = f_add %6, %1
    %8: f32 = extract %7, 0
    %9: f32 = extract %7, 1
    jump block4(%8, %9)
block3:
    jump block4(%2, %3)
block4(%10: f32, %11: f32):
    %12: f32x2 = compose %4, %5
    %13: f32 = f_add %4, f32(1.0)
    store_variable variable0, i32(0), %12
    %14: f32x2 = compose %10, %11
    branch %0, block1(%10, %11, %13, %5), block5
block5:
    store_variable variable0, i32(0), %14
    return
}
"#,
            r#"variable0 "in": group_shared f32x2[1]

function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    %1: f32x2 = load_variable variable0, i32(0)
    jump block1(f32(0.0), f32(0.0), f32x2(0.0, 1.0))
block1(%4: f32, %5: f32, %20 "sum": f32x2):
    branch %0, block2, block3
block2:
    %7: f32x2 = f_add %20, %1
    jump block4(%7)
block3:
    jump block4(%20)
block4(%23: f32x2):
    %12: f32x2 = compose %4, %5
    %13: f32 = f_add %4, f32(1.0)
    store_variable variable0, i32(0), %12
    branch %0, block1(%13, %5, %23), block5
block5:
    store_variable variable0, i32(0), %23
    return
}
"#,
        );
    }
}
