//! Where each block of a function stands in the tree.

use std::collections::HashMap;

use crate::ir::{Block, Cfg, Dominators, Edge, Function, Loops, Terminator, Value};

/// Index of a loop in [`Loops`].
pub(super) type LoopIndex = usize;

/// Where a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// Where the one way to it leads.
    Inline,
    /// Behind its immediate dominator, as one of its merges.
    Merge,
    /// Behind a loop that its immediate dominator is in.
    Follow(LoopIndex),
}

/// The plan of a function.
pub(super) struct Plan<'a> {
    pub function: &'a Function,
    pub loops: Loops,
    dominators: Dominators,
    /// Where each block stands.
    pub placement: Vec<Placement>,
    /// Merges of each block, in the order in which control can go through them.
    pub merges: Vec<Vec<Block>>,
    /// What stands behind each loop, likewise.
    pub follows: Vec<Vec<Block>>,
    /// The loop that each block heads.
    pub heads: Vec<Option<LoopIndex>>,
    /// Number of blocks that each block dominates, itself among them.
    pub size: Vec<u32>,
    /// The innermost loop whose body encloses the block in the tree: itself for a header.
    within: Vec<Option<LoopIndex>>,
    /// The innermost loop whose body encloses the place where the block stands: for a header, outside its loop.
    around: Vec<Option<LoopIndex>>,
    /// Number of edges that leave what the block dominates for somewhere in the same loop's body.
    escapes: Vec<i64>,
}

/// Where an edge leads, in terms of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// The block stands here.
    Inline(Block),
    /// The block stands further on.
    Exit(Block),
    /// The next round of a loop.
    Continue(LoopIndex),
}

/// A terminator whose ways all differ.
pub(super) enum Ways<'a> {
    None,
    One(&'a Edge),
    Two { condition: Value, accept: &'a Edge, reject: &'a Edge },
    Many { selector: Value, cases: Vec<(Vec<u64>, &'a Edge)>, default: &'a Edge },
}

/// The ways that a terminator can take; alike edges are one way.
pub(super) fn ways(terminator: &Terminator) -> Ways<'_> {
    match terminator {
        Terminator::Jump(edge) => Ways::One(edge),
        Terminator::Branch { accept, reject, .. } if accept == reject => Ways::One(accept),
        Terminator::Branch { condition, accept, reject } => Ways::Two { condition: *condition, accept, reject },
        Terminator::Switch { selector, cases, default } => {
            let mut groups: Vec<(Vec<u64>, &Edge)> = Vec::new();
            let mut known: HashMap<(Block, &[Value]), usize> = HashMap::new();
            for (value, edge) in cases.iter().filter(|(_, edge)| edge != default) {
                let group = *known.entry((edge.block, &edge.args[..])).or_insert_with(|| {
                    groups.push((Vec::new(), edge));
                    groups.len() - 1
                });
                groups[group].0.push(*value);
            }
            if groups.is_empty() {
                return Ways::One(default);
            }
            Ways::Many { selector: *selector, cases: groups, default }
        }
        Terminator::Return(_) | Terminator::Unreachable => Ways::None,
    }
}

impl<'a> Ways<'a> {
    /// The edges.
    fn edges(&self) -> Vec<&'a Edge> {
        match self {
            Self::None => Vec::new(),
            Self::One(edge) => vec![edge],
            Self::Two { accept, reject, .. } => vec![accept, reject],
            Self::Many { cases, default, .. } => cases.iter().map(|case| case.1).chain([*default]).collect(),
        }
    }
}

impl<'a> Plan<'a> {
    /// Plans a function. Of an irreducible one, only the loops mean anything.
    pub fn new(function: &'a Function) -> Self {
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(function, &cfg);
        let loops = Loops::new(function, &cfg, &dominators);
        let count = function.blocks.len();
        let mut plan = Self {
            function,
            dominators,
            placement: vec![Placement::Inline; count],
            merges: vec![Vec::new(); count],
            follows: vec![Vec::new(); loops.loops().len()],
            heads: vec![None; count],
            size: vec![1; count],
            within: vec![None; count],
            around: vec![None; count],
            escapes: vec![0; count],
            loops,
        };
        if !plan.loops.is_reducible() {
            return plan;
        }
        let order = cfg.reverse_post_order();
        for (index, natural) in plan.loops.loops().iter().enumerate() {
            plan.heads[natural.header.index()] = Some(index);
        }
        for &block in order.iter().rev() {
            if let Some(above) = plan.dominators.immediate(block) {
                plan.size[above.index()] += plan.size[block.index()];
            }
        }
        plan.place(order);
        plan.find_escapes(order);
        plan
    }

    /// The edge leads back to the header of a loop.
    fn is_back(&self, from: Block, to: Block) -> bool {
        self.dominators.dominates(to, from)
    }

    /// Decides where each block stands.
    fn place(&mut self, order: &[Block]) {
        let mut arrivals = vec![0; self.function.blocks.len()];
        for &from in order {
            for edge in ways(&self.function.blocks[from.index()].terminator).edges() {
                if !self.is_back(from, edge.block) {
                    arrivals[edge.block.index()] += 1;
                }
            }
        }
        let mut single: Vec<Vec<Block>> = vec![Vec::new(); self.follows.len()];
        for &block in order {
            let Some(above) = self.dominators.immediate(block) else { continue };
            let several = arrivals[block.index()] > 1;
            match self.outermost_left(above, block) {
                Some(left) if several => {
                    self.placement[block.index()] = Placement::Follow(left);
                    self.follows[left].push(block);
                }
                // A return from inside two loops is better said there.
                Some(left) if self.loops.innermost(above) == Some(left) || !self.is_short_end(block) => {
                    single[left].push(block);
                }
                None if several => {
                    self.placement[block.index()] = Placement::Merge;
                    self.merges[above.index()].push(block);
                }
                _ => {}
            }
        }
        // A loop that nothing stands behind yet is followed by where most of the program goes on. Other ways out end in
        // what follows or leave the function, and stand inside.
        for (index, blocks) in single.into_iter().enumerate() {
            if self.follows[index].is_empty()
                && let Some(&block) = blocks.iter().max_by_key(|block| self.size[block.index()])
            {
                self.placement[block.index()] = Placement::Follow(index);
                self.follows[index].push(block);
            }
        }
        for &block in order {
            let above = self.dominators.immediate(block);
            self.around[block.index()] = match (self.placement[block.index()], above) {
                (Placement::Follow(left), _) => self.around[self.loops.loops()[left].header.index()],
                (_, Some(above)) => self.within[above.index()],
                (_, None) => None,
            };
            self.within[block.index()] = self.heads[block.index()].or(self.around[block.index()]);
        }
    }

    /// The outermost loop that an edge between blocks leaves.
    fn outermost_left(&self, from: Block, to: Block) -> Option<LoopIndex> {
        let mut left = None;
        let mut at = self.loops.innermost(from);
        while let Some(index) = at
            && !self.loops.contains(index, to)
        {
            left = Some(index);
            at = self.loops.loops()[index].parent;
        }
        left
    }

    /// A block of few instructions that ends the function.
    fn is_short_end(&self, block: Block) -> bool {
        let data = &self.function.blocks[block.index()];
        data.insts.len() <= 4 && matches!(data.terminator, Terminator::Return(_) | Terminator::Unreachable)
    }

    /// Counts the edges that leave what each block dominates.
    fn find_escapes(&mut self, order: &[Block]) {
        for &from in order {
            for edge in ways(&self.function.blocks[from.index()].terminator).edges() {
                let Destination::Exit(to) = self.destination(from, edge) else { continue };
                let Some(above) = self.dominators.immediate(to) else { continue };
                // An edge out of a loop is no escape for what is inside, where only a `Break` can say it. It is one of
                // the loop as a whole.
                let mut first = from;
                let mut at = self.within[from.index()];
                while let Some(index) = at
                    && at != self.around[to.index()]
                {
                    first = self.loops.loops()[index].header;
                    at = self.around[first.index()];
                }
                if !self.dominators.dominates(first, above) {
                    self.escapes[first.index()] += 1;
                    self.escapes[above.index()] -= 1;
                }
            }
        }
        for &block in order.iter().rev() {
            if let Some(above) = self.dominators.immediate(block) {
                self.escapes[above.index()] += self.escapes[block.index()];
            }
        }
    }

    /// Where an edge leads.
    pub fn destination(&self, from: Block, edge: &Edge) -> Destination {
        let to = edge.block;
        match self.heads[to.index()] {
            Some(index) if self.is_back(from, to) => Destination::Continue(index),
            _ if self.placement[to.index()] == Placement::Inline => Destination::Inline(to),
            _ => Destination::Exit(to),
        }
    }

    /// Nothing that stands where the edge leads arrives at a merge in the same loop's body: all its ends are
    /// returns, and jumps that need a statement anyway.
    pub fn is_leaving(&self, from: Block, destination: Destination) -> bool {
        match destination {
            Destination::Inline(block) => self.escapes[block.index()] == 0,
            Destination::Exit(to) => self.around[to.index()] != self.within[from.index()],
            Destination::Continue(_) => true,
        }
    }

    /// What stands where an edge leads is part of a loop.
    pub fn stays_in(&self, index: LoopIndex, destination: Destination) -> bool {
        match destination {
            Destination::Inline(block) => self.loops.contains(index, block),
            Destination::Exit(_) | Destination::Continue(_) => false,
        }
    }

    /// Number of blocks that stand where an edge leads.
    pub fn size_of(&self, destination: Destination) -> u32 {
        match destination {
            Destination::Inline(block) => self.size[block.index()],
            Destination::Exit(_) | Destination::Continue(_) => 0,
        }
    }
}
