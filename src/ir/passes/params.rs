//! Removes parameters that always hold one other value.

use super::{dce::remove_params, replace::Replacements};
use crate::ir::{Cfg, Function, Value, ValueDef};

/// What a parameter is known to hold.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    /// Nothing has been brought yet.
    Nothing,
    /// Always this value; itself, if different ones are brought.
    Value(Value),
}

/// Guarantees that no reachable block has a parameter for which all edges bring one value, or itself, or others of which
/// the same is true, round whatever cycles.
///
/// Every parameter is taken to be a copy until its edges prove otherwise, so that cycles of copies are found (as by
/// conditional constant propagation). Each falls twice at most. Gives whether anything changed.
pub fn remove_redundant_params(function: &mut Function) -> bool {
    let mut changed = false;
    // A copy of a parameter that turned out late to be no copy is found the next time.
    while remove_copies(function) {
        changed = true;
    }
    changed
}

fn remove_copies(function: &mut Function) -> bool {
    let cfg = Cfg::new(function);
    // Reachable parameters, with what edges bring for them, and the parameters for which each is brought.
    let mut args: Vec<Vec<Value>> = vec![Vec::new(); function.values.len()];
    let mut brought: Vec<Vec<Value>> = vec![Vec::new(); function.values.len()];
    let mut params: Vec<Value> = Vec::new();
    for &block in cfg.reverse_post_order() {
        if block != function.entry {
            params.extend(&function.blocks[block.index()].params);
        }
        for edge in function.blocks[block.index()].terminator.edges() {
            for (&param, &arg) in function.blocks[edge.block.index()].params.iter().zip(&edge.args) {
                args[param.index()].push(arg);
                if matches!(function.values[arg.index()].def, ValueDef::Param(_)) {
                    brought[arg.index()].push(param);
                }
            }
        }
    }
    let mut known: Vec<Known> = (0..function.values.len() as u32).map(|value| Known::Value(Value(value))).collect();
    for param in &params {
        known[param.index()] = Known::Nothing;
    }
    let mut work: Vec<Value> = params.iter().rev().copied().collect();
    while let Some(param) = work.pop() {
        if known[param.index()] == Known::Value(param) {
            continue;
        }
        let mut found = Known::Nothing;
        for &arg in &args[param.index()] {
            match (found, known[arg.index()]) {
                (_, Known::Nothing) => {}
                (_, Known::Value(value)) if value == param => {}
                (Known::Nothing, value) => found = value,
                (before, value) if before == value => {}
                _ => {
                    found = Known::Value(param);
                    break;
                }
            }
        }
        if found != known[param.index()] && found != Known::Nothing {
            // Once it held something, another thing means that it is no copy.
            let first = known[param.index()] == Known::Nothing;
            known[param.index()] = if first { found } else { Known::Value(param) };
            work.extend(&brought[param.index()]);
        }
    }
    let mut replacements = Replacements::new(function);
    let mut removed = Vec::new();
    for param in params {
        match known[param.index()] {
            Known::Value(value) if value != param => {
                replacements.set(param, value);
                removed.push(param);
            }
            // Its edges never bring anything, or its own value alone: nothing reaches it.
            Known::Nothing | Known::Value(_) => {}
        }
    }
    replacements.apply(function);
    remove_params(function, &removed);
    replacements.any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::passes::tests::check_function;

    #[test]
    fn cycles_of_copies_go() {
        check_function(
            remove_redundant_params,
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: i32 = wave lane_index
    %1: bool = wave is_first_lane
    jump block1(%0, i32(0), %0)
block1(%2: i32, %3: i32, %4: i32):
    %5: i32 = i_add %3, %2
    branch %1, block2(%4), block3(%2)
block2(%6: i32):
    jump block1(%6, %5, %2)
block3(%7: i32):
    branch %1, block1(%7, %3, %4), block4(%7)
block4(%8: i32):
    store_variable variable0, i32(0), %8
    store_variable variable0, i32(0), %5
    return
}
"#,
            r#"function0 "main" -> void, entry block0 {
block0:
    %0: i32 = wave lane_index
    %1: bool = wave is_first_lane
    jump block1(i32(0))
block1(%3: i32):
    %5: i32 = i_add %3, %0
    branch %1, block2, block3
block2:
    jump block1(%5)
block3:
    branch %1, block1(%3), block4
block4:
    store_variable variable0, i32(0), %0
    store_variable variable0, i32(0), %5
    return
}
"#,
        );
    }
}
