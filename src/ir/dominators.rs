//! The dominator tree.

use super::{Block, Cfg, Function};

/// Which blocks every way from the entry to a block goes through. A snapshot, as the [`Cfg`] that it was made from.
///
/// Cooper, Harvey, Kennedy: *A Simple, Fast Dominance Algorithm* (2001).
#[derive(Clone, Debug)]
pub struct Dominators {
    /// The closest strict dominator of each reachable block, but the entry.
    immediate: Vec<Option<Block>>,
    /// Blocks whose immediate dominator is this one, in reverse post-order.
    children: Vec<Vec<Block>>,
    /// First and last number of the block's subtree in a walk of the tree, for questions in constant time. Unreachable
    /// blocks have an empty interval.
    interval: Vec<(u32, u32)>,
}

impl Dominators {
    /// The dominator tree of the blocks that the entry reaches.
    pub fn new(function: &Function, cfg: &Cfg) -> Self {
        let order = cfg.reverse_post_order();
        // By number in the reverse post-order, where a dominator is always smaller.
        let mut above: Vec<Option<u32>> = vec![None; order.len()];
        above[0] = Some(0);
        let number = |block: Block| cfg.number(block).unwrap_or(u32::MAX);
        let mut changed = true;
        while changed {
            changed = false;
            for (place, &block) in order.iter().enumerate().skip(1) {
                let mut found: Option<u32> = None;
                for &predecessor in cfg.predecessors(block) {
                    let mut other = number(predecessor);
                    if above[other as usize].is_none() {
                        continue;
                    }
                    found = Some(match found {
                        None => other,
                        Some(mut one) => {
                            while one != other {
                                // Both are reachable, so that the walks meet at the entry at last.
                                while one > other {
                                    one = above[one as usize].unwrap_or(0);
                                }
                                while other > one {
                                    other = above[other as usize].unwrap_or(0);
                                }
                            }
                            one
                        }
                    });
                }
                if above[place] != found {
                    above[place] = found;
                    changed = true;
                }
            }
        }

        let mut immediate = vec![None; function.blocks.len()];
        let mut children = vec![Vec::new(); function.blocks.len()];
        for (place, &block) in order.iter().enumerate().skip(1) {
            let parent = above[place].map(|above| order[above as usize]);
            immediate[block.index()] = parent;
            if let Some(parent) = parent {
                children[parent.index()].push(block);
            }
        }
        let mut interval = vec![(1, 0); function.blocks.len()];
        let mut clock = 0;
        let mut stack = vec![(function.entry, 0)];
        while let Some((block, next)) = stack.last_mut() {
            let block = *block;
            if *next == 0 {
                interval[block.index()].0 = clock;
                clock += 1;
            }
            if let Some(&child) = children[block.index()].get(*next) {
                *next += 1;
                stack.push((child, 0));
            } else {
                interval[block.index()].1 = clock - 1;
                stack.pop();
            }
        }
        Self { immediate, children, interval }
    }

    /// The closest strict dominator; none of the entry and of unreachable blocks.
    pub fn immediate(&self, block: Block) -> Option<Block> {
        self.immediate[block.index()]
    }

    /// The blocks that this one dominates immediately, in reverse post-order.
    pub fn children(&self, block: Block) -> &[Block] {
        &self.children[block.index()]
    }

    /// Every way from the entry to `below` goes through `above`. A block dominates itself; an unreachable block
    /// dominates nothing, and nothing dominates it.
    pub fn dominates(&self, above: Block, below: Block) -> bool {
        let (first, last) = self.interval[above.index()];
        let (at, end) = self.interval[below.index()];
        at <= end && first <= at && at <= last
    }

    /// The tree, each block before those that it dominates.
    pub fn preorder(&self, entry: Block) -> Vec<Block> {
        let mut order = Vec::new();
        let mut stack = vec![entry];
        while let Some(block) = stack.pop() {
            order.push(block);
            stack.extend(self.children(block).iter().rev());
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::cfg::tests::graph;

    #[test]
    fn diamond_joins_below_its_head() {
        let function = graph(&[&[1, 2], &[3], &[3], &[], &[3]]);
        let dominators = Dominators::new(&function, &Cfg::new(&function));
        assert_eq!(dominators.immediate(Block(3)), Some(Block(0)));
        assert_eq!(dominators.children(Block(0)), [Block(1), Block(2), Block(3)]);
        assert!(dominators.dominates(Block(0), Block(3)));
        assert!(dominators.dominates(Block(3), Block(3)));
        assert!(!dominators.dominates(Block(1), Block(3)));
        assert!(!dominators.dominates(Block(4), Block(3)) && !dominators.dominates(Block(0), Block(4)));
    }

    #[test]
    fn irreducible_loop_is_dominated_from_outside() {
        let function = graph(&[&[1, 2], &[2], &[1, 3], &[]]);
        let dominators = Dominators::new(&function, &Cfg::new(&function));
        let parents: Vec<_> = (0..4).map(|block| dominators.immediate(Block(block))).collect();
        assert_eq!(parents, [None, Some(Block(0)), Some(Block(0)), Some(Block(2))]);
        assert_eq!(dominators.preorder(Block(0)), [Block(0), Block(2), Block(3), Block(1)]);
    }
}
