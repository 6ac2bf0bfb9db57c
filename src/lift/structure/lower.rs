//! From named exits to what naga can say: falling through, `Break`, `Continue` and flags.

use std::collections::HashMap;

use super::{
    Condition, Flag, Node, Tree,
    plan::LoopIndex,
    shape::{Merge, Shape},
};
use crate::{Error, Result, ir::Block};

/// Levels of the tree: naga's validator and writers recurse over statements, and bear as many on a stack of 2 MiB.
const MAX_NESTING: usize = 128;

/// Lowers the shapes of a function.
pub(super) fn lower(mut shapes: Vec<Shape>) -> Result<Tree> {
    find_breakables(&mut shapes);
    let mut lowering = Lowering::default();
    let mut body = Vec::new();
    lowering.list(shapes, None, &mut body)?;
    Ok(Tree { body, flags: lowering.flags })
}

/// Exits from a list to blocks outside: each with whether control has to jump, because the end of the list is not where
/// it stands, or because it is not at the end of the list.
type Exits = Vec<(Block, bool)>;

/// Adds exits to others.
fn join(exits: &mut Exits, more: Exits) {
    for (block, jumps) in more {
        match exits.iter_mut().find(|exit| exit.0 == block) {
            Some(exit) => exit.1 |= jumps,
            None => exits.push((block, jumps)),
        }
    }
}

/// What stands behind makes every exit a jump.
fn all_jump(exits: &mut Exits) {
    exits.iter_mut().for_each(|exit| exit.1 = true);
}

/// Jumps out of something that `Break` leaves arrive at its end.
fn none_jumps(exits: &mut Exits) {
    exits.iter_mut().for_each(|exit| exit.1 = false);
}

/// Removes the exits to a block, and tells whether one has to jump.
fn take(exits: &mut Exits, block: Block) -> bool {
    let mut jumps = false;
    exits.retain(|exit| {
        jumps |= exit.0 == block && exit.1;
        exit.0 != block
    });
    jumps
}

/// Notes at each merge where it needs something that `Break` can leave. From the inside out, since what is breakable
/// inside changes how control arrives outside. Continues are left out: they pass through everything but loops, and what
/// leaves a loop is breakable already.
fn find_breakables(shapes: &mut [Shape]) -> Exits {
    let mut exits = Exits::new();
    for shape in shapes {
        all_jump(&mut exits);
        let more = match shape {
            Shape::Exit(block) => vec![(*block, false)],
            Shape::If { accept, reject, .. } => {
                let mut exits = find_breakables(accept);
                join(&mut exits, find_breakables(reject));
                exits
            }
            Shape::Switch { cases, default, .. } => {
                let mut exits = find_breakables(default);
                cases.iter_mut().for_each(|case| join(&mut exits, find_breakables(&mut case.1)));
                none_jumps(&mut exits);
                exits
            }
            Shape::Loop(_, body) => {
                let mut exits = find_breakables(body);
                none_jumps(&mut exits);
                exits
            }
            Shape::Merge(merge) => find_breakables_of_merge(merge),
            // A return needs nothing to leave, but makes use of what is there.
            Shape::Block(_)
            | Shape::Assign { .. }
            | Shape::ExitToReturn(_)
            | Shape::Continue(_)
            | Shape::Return(_)
            | Shape::Unreachable => Exits::new(),
        };
        join(&mut exits, more);
    }
    exits
}

fn find_breakables_of_merge(merge: &mut Merge) -> Exits {
    let mut exits = find_breakables(&mut merge.head);
    let blocks: Vec<Block> = merge.arms.iter().map(|arm| arm.block).collect();
    let mut outside = Exits::new();
    for arm in &mut merge.arms {
        // In a guarded merge, each step is left towards all arms alike.
        let jumps = if merge.guarded {
            blocks.iter().fold(false, |jumps, block| take(&mut exits, *block) | jumps)
        } else {
            take(&mut exits, arm.block)
        };
        arm.breakable = jumps;
        if jumps {
            none_jumps(&mut exits);
        }
        if !arm.body.is_empty() {
            all_jump(&mut exits);
            let body = find_breakables(&mut arm.body);
            if merge.guarded {
                join(&mut outside, std::mem::replace(&mut exits, body));
            } else {
                join(&mut exits, body);
            }
        }
    }
    join(&mut exits, outside);
    exits
}

/// Where control goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Target {
    /// Where a block stands.
    Block(Block),
    /// The end of a step of a guarded merge.
    Step(u32),
    /// The next round of a loop.
    Round(LoopIndex),
}

/// Index of a link in [`Lowering::links`]: where control arrives by itself, if there is such a place. One place can be
/// several targets' at once.
type Arrival = Option<usize>;

/// Something that `Break` leaves.
struct Frame {
    /// The loop, if it is one.
    round: Option<LoopIndex>,
    /// Where control arrives behind it.
    behind: Arrival,
    /// Targets further out that were left for, each with its flag set.
    pending: Vec<Target>,
}

/// How an exit to an arm of a guarded merge is said at the moment.
#[derive(Clone, Copy)]
struct Guard {
    /// The arm's flag, unless it is the last.
    flag: Option<Flag>,
    /// The step that is left.
    step: u32,
}

#[derive(Default)]
struct Lowering {
    links: Vec<(Target, Arrival)>,
    frames: Vec<Frame>,
    guards: HashMap<Block, Guard>,
    flags: u32,
    flag_of: HashMap<Target, Flag>,
    steps: u32,
    nesting: usize,
}

impl Lowering {
    fn link(&mut self, target: Target, next: Arrival) -> Arrival {
        self.links.push((target, next));
        Some(self.links.len() - 1)
    }

    fn arrives(&self, mut at: Arrival, target: Target) -> bool {
        while let Some(link) = at {
            if self.links[link].0 == target {
                return true;
            }
            at = self.links[link].1;
        }
        false
    }

    fn new_flag(&mut self) -> Flag {
        self.flags += 1;
        Flag(self.flags - 1)
    }

    /// A list of shapes in something of its own; `end` is where control arrives at its end.
    fn nested(&mut self, shapes: Vec<Shape>, end: Arrival) -> Result<Vec<Node>> {
        let mut nodes = Vec::new();
        self.enter()?;
        self.list(shapes, end, &mut nodes)?;
        self.nesting -= 1;
        Ok(nodes)
    }

    fn enter(&mut self) -> Result<()> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(Error::unsupported(format!("control flow nested too deeply: more than {MAX_NESTING} levels")));
        }
        Ok(())
    }

    fn list(&mut self, shapes: Vec<Shape>, end: Arrival, nodes: &mut Vec<Node>) -> Result<()> {
        let last = shapes.len().saturating_sub(1);
        for (index, shape) in shapes.into_iter().enumerate() {
            let end = if index == last { end } else { None };
            match shape {
                Shape::Block(block) => nodes.push(Node::Block(block)),
                Shape::Assign { block, args } => nodes.push(Node::Assign { block, args }),
                Shape::Return(value) => nodes.push(Node::Return(value)),
                Shape::Unreachable => nodes.push(Node::Unreachable),
                Shape::If { condition, accept, reject } => {
                    let accept = self.nested(accept, end)?;
                    let reject = self.nested(reject, end)?;
                    if !accept.is_empty() || !reject.is_empty() {
                        nodes.push(Node::If { condition: Condition::Value(condition), accept, reject });
                    }
                }
                Shape::Switch { selector, cases, default } => {
                    self.frames.push(Frame { round: None, behind: end, pending: Vec::new() });
                    let cases = cases
                        .into_iter()
                        .map(|(values, shapes)| Ok((values, self.nested(shapes, end)?)))
                        .collect::<Result<_>>()?;
                    let default = self.nested(default, end)?;
                    nodes.push(Node::Switch { selector, cases, default });
                    self.leave(nodes)?;
                }
                Shape::Loop(index, body) => {
                    self.frames.push(Frame { round: Some(index), behind: end, pending: Vec::new() });
                    let again = self.link(Target::Round(index), None);
                    let body = self.nested(body, again)?;
                    nodes.push(Node::Loop(body));
                    self.leave(nodes)?;
                }
                Shape::Merge(merge) if merge.guarded => self.guarded_merge(merge, nodes)?,
                Shape::Merge(merge) => self.merge(merge, end, nodes)?,
                Shape::Exit(block) => {
                    let target = match self.guards.get(&block) {
                        None => Target::Block(block),
                        Some(&Guard { flag, step }) => {
                            nodes.extend(flag.map(|flag| Node::SetFlag(flag, true)));
                            Target::Step(step)
                        }
                    };
                    self.go(target, end, nodes)?;
                }
                Shape::ExitToReturn(block) => {
                    let target = match self.guards.get(&block) {
                        None => Some(Target::Block(block)),
                        Some(&Guard { flag: None, step }) => Some(Target::Step(step)),
                        Some(Guard { flag: Some(_), .. }) => None,
                    };
                    let arrives = |at| target.is_some_and(|target| self.arrives(at, target));
                    if arrives(end) {
                        continue;
                    }
                    let leaves = self.frames.last().is_some_and(|frame| arrives(frame.behind));
                    nodes.push(if leaves { Node::Break } else { Node::Return(None) });
                }
                Shape::Continue(index) => self.go(Target::Round(index), end, nodes)?,
            }
        }
        Ok(())
    }

    /// Goes on at a target, from where control would arrive at `end`.
    fn go(&mut self, target: Target, end: Arrival, nodes: &mut Vec<Node>) -> Result<()> {
        if self.arrives(end, target) {
            return Ok(());
        }
        let innermost = self.frames.iter().rev().find_map(|frame| frame.round);
        if let Target::Round(index) = target
            && innermost == Some(index)
        {
            nodes.push(Node::Continue);
            return Ok(());
        }
        let Some(frame) = self.frames.last() else {
            return Err(Error::internal(format!("nothing to leave on the way to {target:?}")));
        };
        if !self.arrives(frame.behind, target) {
            let flag = match self.flag_of.get(&target) {
                Some(&flag) => flag,
                None => {
                    let flag = self.new_flag();
                    self.flag_of.insert(target, flag);
                    flag
                }
            };
            nodes.push(Node::SetFlag(flag, true));
            if let Some(frame) = self.frames.last_mut()
                && !frame.pending.contains(&target)
            {
                frame.pending.push(target);
            }
        }
        nodes.push(Node::Break);
        Ok(())
    }

    /// Behind something breakable: goes on further out where a flag says so.
    fn leave(&mut self, nodes: &mut Vec<Node>) -> Result<()> {
        let Some(frame) = self.frames.pop() else { return Err(Error::internal("more frames left than entered")) };
        for target in frame.pending {
            let flag = self.flag_of[&target];
            let mut accept = Vec::new();
            self.go(target, None, &mut accept)?;
            if accept.first() == Some(&Node::SetFlag(flag, true)) {
                // On to the next level: the flag stays.
                accept.remove(0);
            } else if self.comes_back(&accept) {
                accept.insert(0, Node::SetFlag(flag, false));
            }
            nodes.push(Node::If { condition: Condition::Flag(flag), accept, reject: Vec::new() });
        }
        Ok(())
    }

    /// Behind a jump from here, this place can be reached again.
    fn comes_back(&self, jump: &[Node]) -> bool {
        let left = usize::from(matches!(jump, [Node::Break]));
        self.frames[..self.frames.len() - left].iter().any(|frame| frame.round.is_some())
    }

    /// What is done here can be done again.
    fn in_loop(&self) -> bool {
        self.frames.iter().any(|frame| frame.round.is_some())
    }

    /// A merge whose exits leave the levels up to their arm.
    fn merge(&mut self, merge: Merge, end: Arrival, nodes: &mut Vec<Node>) -> Result<()> {
        let Merge { head, arms, .. } = merge;
        // The last arm's body follows in the list around, so that control arrives there and nowhere further.
        let ends: Vec<Arrival> = arms
            .iter()
            .map(|arm| {
                let next = if arm.body.is_empty() { end } else { None };
                self.link(Target::Block(arm.block), next)
            })
            .collect();
        for (arm, end) in arms.iter().zip(&ends).rev() {
            if arm.breakable {
                self.enter()?;
                self.frames.push(Frame { round: None, behind: *end, pending: Vec::new() });
            }
        }
        let mut inside = Vec::new();
        self.list(head, ends[0], &mut inside)?;
        for (index, arm) in arms.into_iter().enumerate() {
            if arm.breakable {
                self.nesting -= 1;
                inside = vec![Node::Breakable(inside)];
                self.leave(&mut inside)?;
            }
            if let Some(&end) = ends.get(index + 1) {
                self.list(arm.body, end, &mut inside)?;
            }
        }
        nodes.append(&mut inside);
        Ok(())
    }

    /// A merge whose arms ask flags.
    fn guarded_merge(&mut self, merge: Merge, nodes: &mut Vec<Node>) -> Result<()> {
        let Merge { head, arms, .. } = merge;
        let last = arms.len() - 1;
        let flags: Vec<Option<Flag>> = (0..arms.len()).map(|arm| (arm != last).then(|| self.new_flag())).collect();
        let blocks: Vec<Block> = arms.iter().map(|arm| arm.block).collect();
        let mut step = head;
        for (index, arm) in arms.into_iter().enumerate() {
            let name = self.steps;
            self.steps += 1;
            for (&block, &flag) in blocks.iter().zip(&flags) {
                self.guards.insert(block, Guard { flag, step: name });
            }
            // The step before this arm: the head, or the arm before, if its flag says so.
            let asked = index.checked_sub(1).and_then(|before| flags[before]);
            let end = self.link(Target::Step(name), None);
            let mut inside = Vec::new();
            if let Some(flag) = asked {
                self.enter()?;
                if self.in_loop() {
                    inside.push(Node::SetFlag(flag, false));
                }
            }
            if arm.breakable {
                self.frames.push(Frame { round: None, behind: end, pending: Vec::new() });
                inside.push(Node::Breakable(self.nested(step, end)?));
                self.leave(&mut inside)?;
            } else {
                self.list(step, end, &mut inside)?;
            }
            match asked {
                Some(flag) => {
                    self.nesting -= 1;
                    nodes.push(Node::If { condition: Condition::Flag(flag), accept: inside, reject: Vec::new() });
                }
                None => nodes.append(&mut inside),
            }
            step = arm.body;
        }
        for block in blocks {
            self.guards.remove(&block);
        }
        Ok(())
    }
}
