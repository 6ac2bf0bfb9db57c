//! The graph that the blocks of a function make: orders, predecessors, and loops.

use smallvec::SmallVec;

use super::{Block, Dominators, Function};

/// Number of a block that the entry does not reach.
const UNREACHABLE: u32 = u32::MAX;

/// Orders and predecessors of the blocks that the entry reaches. A snapshot: changing edges makes it stale.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Reachable blocks in reverse post-order: each before its successors, except along retreating edges.
    order: Vec<Block>,
    /// Place of each block in `order`.
    number: Vec<u32>,
    /// Reachable predecessors of each block, one for each edge.
    predecessors: Vec<SmallVec<[Block; 2]>>,
}

impl Cfg {
    /// The graph of a function.
    pub fn new(function: &Function) -> Self {
        let count = function.blocks.len();
        let mut seen = vec![false; count];
        let mut order = Vec::with_capacity(count);
        let successors = |block: Block| -> SmallVec<[Block; 4]> {
            // Reversed, so that the reverse post-order has the first successor first.
            let mut blocks: SmallVec<[Block; 4]> =
                function.blocks[block.index()].terminator.edges().map(|edge| edge.block).collect();
            blocks.reverse();
            blocks
        };
        seen[function.entry.index()] = true;
        let mut stack = vec![(function.entry, successors(function.entry), 0)];
        while let Some((block, next, position)) = stack.last_mut() {
            if let Some(&successor) = next.get(*position) {
                *position += 1;
                if !std::mem::replace(&mut seen[successor.index()], true) {
                    stack.push((successor, successors(successor), 0));
                }
            } else {
                order.push(*block);
                stack.pop();
            }
        }
        order.reverse();
        let mut number = vec![UNREACHABLE; count];
        for (place, block) in order.iter().enumerate() {
            number[block.index()] = place as u32;
        }
        let mut predecessors = vec![SmallVec::new(); count];
        for &block in &order {
            for edge in function.blocks[block.index()].terminator.edges() {
                predecessors[edge.block.index()].push(block);
            }
        }
        Self { order, number, predecessors }
    }

    /// The blocks that the entry reaches, in reverse post-order; the entry is first.
    pub fn reverse_post_order(&self) -> &[Block] {
        &self.order
    }

    /// Place of a block in the reverse post-order, if the entry reaches it.
    pub fn number(&self, block: Block) -> Option<u32> {
        Some(self.number[block.index()]).filter(|&number| number != UNREACHABLE)
    }

    /// The entry reaches the block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.number[block.index()] != UNREACHABLE
    }

    /// Reachable blocks with an edge to this one: once for each such edge.
    pub fn predecessors(&self, block: Block) -> &[Block] {
        &self.predecessors[block.index()]
    }

    /// The edge leads backwards in the reverse post-order. In a reducible graph these are the edges to loop headers.
    pub fn is_retreating(&self, from: Block, to: Block) -> bool {
        self.number[to.index()] <= self.number[from.index()]
    }
}

/// A natural loop: the blocks from which its header is reached again without leaving its header's dominance.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The one block through which it is entered, if the graph is reducible.
    pub header: Block,
    /// The loop around it: index into the list of [`Loops`].
    pub parent: Option<usize>,
    /// Number of loops around it.
    pub depth: u32,
}

/// The loops of a function.
#[derive(Clone, Debug)]
pub struct Loops {
    /// Outer loops before inner ones.
    loops: Vec<Loop>,
    /// Innermost loop of each block.
    innermost: Vec<Option<usize>>,
    /// Every retreating edge leads to a dominator.
    reducible: bool,
}

impl Loops {
    /// Finds the natural loops.
    pub fn new(function: &Function, cfg: &Cfg, dominators: &Dominators) -> Self {
        let mut reducible = true;
        let mut latches: Vec<(Block, SmallVec<[Block; 2]>)> = Vec::new();
        for &header in cfg.reverse_post_order() {
            let mut sources = SmallVec::new();
            for &from in cfg.predecessors(header) {
                if dominators.dominates(header, from) {
                    sources.push(from);
                } else if cfg.is_retreating(from, header) {
                    reducible = false;
                }
            }
            if !sources.is_empty() {
                latches.push((header, sources));
            }
        }
        // Inner headers come later in the order. From the innermost out, each walk takes the blocks that no inner loop
        // has taken, and goes on from the outermost loop known around those that one has.
        let mut loops: Vec<Loop> =
            latches.iter().map(|(header, _)| Loop { header: *header, parent: None, depth: 0 }).collect();
        let mut innermost: Vec<Option<usize>> = vec![None; function.blocks.len()];
        let mut outermost: Vec<usize> = (0..loops.len()).collect();
        for index in (0..loops.len()).rev() {
            let header = loops[index].header;
            let mut work: Vec<Block> = latches[index].1.to_vec();
            while let Some(block) = work.pop() {
                let from = match innermost[block.index()] {
                    None => {
                        innermost[block.index()] = Some(index);
                        block
                    }
                    Some(inner) => {
                        let root = find_root(&mut outermost, inner);
                        if root == index {
                            continue;
                        }
                        loops[root].parent = Some(index);
                        outermost[root] = index;
                        loops[root].header
                    }
                };
                if from != header {
                    work.extend(cfg.predecessors(from).iter().filter(|&&block| dominators.dominates(header, block)));
                }
            }
        }
        for index in 0..loops.len() {
            if let Some(parent) = loops[index].parent {
                loops[index].depth = loops[parent].depth + 1;
            }
        }
        Self { loops, innermost, reducible }
    }

    /// All loops, outer ones before those inside.
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// The innermost loop of a block: index into [`Loops::loops`].
    pub fn innermost(&self, block: Block) -> Option<usize> {
        self.innermost[block.index()]
    }

    /// Number of loops that a block is in.
    pub fn depth(&self, block: Block) -> u32 {
        self.innermost(block).map_or(0, |index| self.loops[index].depth + 1)
    }

    /// The block is in the loop, or in one inside it.
    pub fn contains(&self, index: usize, block: Block) -> bool {
        let mut at = self.innermost(block);
        while let Some(inner) = at {
            if inner == index {
                return true;
            }
            at = self.loops[inner].parent;
        }
        false
    }

    /// Every loop of the graph is entered through its header alone.
    pub fn is_reducible(&self) -> bool {
        self.reducible
    }
}

/// The outermost loop known around a loop, shortening the way for the next question.
fn find_root(outermost: &mut [usize], mut index: usize) -> usize {
    while outermost[index] != index {
        outermost[index] = outermost[outermost[index]];
        index = outermost[index];
    }
    index
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ir::{Builder, Edge, Terminator, Type};

    /// A function whose blocks have these successors: none returns, two branch, more switch.
    pub(crate) fn graph(successors: &[&[u32]]) -> Function {
        let mut function = Function::new("graph", Type::Void);
        for _ in 1..successors.len() {
            function.add_block();
        }
        let condition = function.constant(Type::BOOL, &[1]);
        let selector = function.i32(0);
        for (index, successors) in successors.iter().enumerate() {
            let edge = |block: &u32| Edge::new(Block(*block));
            let terminator = match successors {
                [] => Terminator::Return(None),
                [to] => Terminator::Jump(edge(to)),
                [accept, reject] => Terminator::Branch { condition, accept: edge(accept), reject: edge(reject) },
                [cases @ .., default] => Terminator::Switch {
                    selector,
                    cases: cases.iter().enumerate().map(|(value, to)| (value as u64, edge(to))).collect(),
                    default: edge(default),
                },
            };
            Builder::new(&mut function, Block(index as u32)).terminate(terminator);
        }
        function
    }

    fn loops(successors: &[&[u32]]) -> Loops {
        let function = graph(successors);
        let cfg = Cfg::new(&function);
        Loops::new(&function, &cfg, &Dominators::new(&function, &cfg))
    }

    #[test]
    fn order_follows_edges_and_leaves_out_the_unreachable() {
        let function = graph(&[&[1, 2], &[3], &[3], &[], &[3]]);
        let cfg = Cfg::new(&function);
        assert_eq!(cfg.reverse_post_order(), [Block(0), Block(1), Block(2), Block(3)]);
        assert_eq!(cfg.predecessors(Block(3)), [Block(1), Block(2)]);
        assert!(!cfg.is_reachable(Block(4)));
        assert_eq!(cfg.number(Block(4)), None);
    }

    #[test]
    fn loops_nest() {
        // 1 heads the outer loop {1, 2, 3, 4}, 2 the inner {2, 3}.
        let loops = loops(&[&[1], &[2, 5], &[3, 4], &[2], &[1], &[]]);
        assert!(loops.is_reducible());
        assert_eq!(loops.loops().iter().map(|l| l.header).collect::<Vec<_>>(), [Block(1), Block(2)]);
        assert_eq!(loops.loops()[1].parent, Some(0));
        let depths: Vec<u32> = (0..6).map(|block| loops.depth(Block(block))).collect();
        assert_eq!(depths, [0, 1, 2, 2, 1, 0]);
        assert!(loops.contains(0, Block(3)) && !loops.contains(1, Block(4)));
    }

    #[test]
    fn two_entries_are_irreducible() {
        assert!(!loops(&[&[1, 2], &[2], &[1, 3], &[]]).is_reducible());
        assert!(loops(&[&[1], &[1, 2], &[]]).is_reducible());
    }
}
