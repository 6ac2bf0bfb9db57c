//! From the graph to a tree whose exits name the block they go to.

use smallvec::SmallVec;

use super::plan::{Destination, LoopIndex, Plan, Ways, ways};
use crate::{
    Error, Result,
    ir::{Block, Edge, Terminator, Value},
};

/// Choices nested deeper than this are written one behind the other, where the graph leaves the choice.
const FLAT_FROM: usize = 16;

/// Levels of shapes, real and only named, that the recursions over them bear on a small stack.
const MAX_LEVELS: usize = 300;

/// A step of the tree.
#[derive(Debug)]
pub(super) enum Shape {
    Block(Block),
    Assign {
        block: Block,
        args: SmallVec<[Value; 4]>,
    },
    If {
        condition: Value,
        accept: Vec<Shape>,
        reject: Vec<Shape>,
    },
    Switch {
        selector: Value,
        cases: Vec<(Vec<u64>, Vec<Shape>)>,
        default: Vec<Shape>,
    },
    Loop(LoopIndex, Vec<Shape>),
    Merge(Merge),
    /// Goes on where the block stands.
    Exit(Block),
    /// Likewise, where the block does nothing but return: that can be said anywhere.
    ExitToReturn(Block),
    Continue(LoopIndex),
    Return(Option<Value>),
    Unreachable,
}

/// What a block heads, and its merges behind it.
#[derive(Debug)]
pub(super) struct Merge {
    /// What comes first. Control leaves it by exits to the arms, or further out.
    pub head: Vec<Shape>,
    /// The merges, in order: each is entered by exits from the head and from the arms before it. The last one has no
    /// body here; it follows in the list around.
    pub arms: Vec<Arm>,
    /// Each arm but the last asks a flag whether it is meant. Else exits leave the levels up to their arm, which takes
    /// no flags where there are few arms and only choices.
    pub guarded: bool,
}

/// One merge.
#[derive(Debug)]
pub(super) struct Arm {
    /// The block that stands there.
    pub block: Block,
    /// What stands there.
    pub body: Vec<Shape>,
    /// [`super::lower`] notes here that a `Breakable` is needed: around the step before this arm if the merge is guarded,
    /// else around the head and all arms before.
    pub breakable: bool,
}

/// Builds the shapes of a function.
pub(super) fn build(plan: &Plan<'_>) -> Result<Vec<Shape>> {
    Builder { plan }.sequence(Start::Block(plan.function.entry), 0)
}

/// What a list of shapes begins with.
enum Start<'a> {
    /// A block, with its loop if it heads one.
    Block(Block),
    /// The body of the loop that a block heads.
    Body(Block),
    /// What is where an edge leads.
    Edge(Block, &'a Edge),
}

/// Shapes whose last one is a [`Merge`] that lacks its arms.
struct Open {
    before: Vec<Shape>,
    arms: Vec<Block>,
    guarded: bool,
}

struct Builder<'p, 'a> {
    plan: &'p Plan<'a>,
}

impl Builder<'_, '_> {
    /// The list of shapes from `start` on. What goes on in the same list is a loop here; only what is nested recurses.
    fn sequence(&self, start: Start<'_>, level: usize) -> Result<Vec<Shape>> {
        let plan = self.plan;
        let mut list = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        let mut next = Some(start);
        loop {
            let deeper = level + open.len() + 1;
            if deeper > MAX_LEVELS {
                return Err(Error::unsupported(format!(
                    "control flow nested too deeply: more than {MAX_LEVELS} levels"
                )));
            }
            next = match next {
                Some(Start::Edge(from, edge)) => {
                    if !edge.args.is_empty() {
                        list.push(Shape::Assign { block: edge.block, args: edge.args.clone() });
                    }
                    match plan.destination(from, edge) {
                        Destination::Inline(block) => Some(Start::Block(block)),
                        Destination::Exit(block) => {
                            let data = &plan.function.blocks[block.index()];
                            let returns = data.insts.is_empty() && data.terminator == Terminator::Return(None);
                            list.push(if returns { Shape::ExitToReturn(block) } else { Shape::Exit(block) });
                            None
                        }
                        Destination::Continue(index) => {
                            list.push(Shape::Continue(index));
                            None
                        }
                    }
                }
                Some(Start::Block(block)) if let Some(index) = plan.heads[block.index()] => {
                    let follows = &plan.follows[index];
                    if !follows.is_empty() {
                        let before = std::mem::take(&mut list);
                        open.push(Open { before, arms: follows.clone(), guarded: follows.len() > 1 });
                    }
                    list.push(Shape::Loop(index, self.sequence(Start::Body(block), deeper)?));
                    None
                }
                Some(Start::Block(block) | Start::Body(block)) => {
                    list.push(Shape::Block(block));
                    let ways = ways(&plan.function.blocks[block.index()].terminator);
                    let merges = &plan.merges[block.index()];
                    if !merges.is_empty() {
                        let guarded = match ways {
                            Ways::Many { .. } => merges.len() > 1,
                            _ => merges.len() > 2,
                        };
                        open.push(Open { before: std::mem::take(&mut list), arms: merges.clone(), guarded });
                    }
                    self.end(block, ways, &mut list, level + open.len() + 1)?
                }
                None => {
                    let Some(Open { before, arms, guarded }) = open.pop() else { return Ok(list) };
                    let head = std::mem::replace(&mut list, before);
                    let last = arms[arms.len() - 1];
                    let arms = arms
                        .into_iter()
                        .map(|block| {
                            let body =
                                if block == last { Vec::new() } else { self.sequence(Start::Block(block), deeper)? };
                            Ok(Arm { block, body, breakable: false })
                        })
                        .collect::<Result<_>>()?;
                    list.push(Shape::Merge(Merge { head, arms, guarded }));
                    Some(Start::Block(last))
                }
            };
        }
    }

    /// Adds how a block ends. Gives what goes on in the same list.
    fn end<'w>(&self, block: Block, ways: Ways<'w>, list: &mut Vec<Shape>, level: usize) -> Result<Option<Start<'w>>> {
        match ways {
            Ways::None => {
                list.push(match &self.plan.function.blocks[block.index()].terminator {
                    Terminator::Return(value) => Shape::Return(*value),
                    _ => Shape::Unreachable,
                });
                Ok(None)
            }
            Ways::One(edge) => Ok(Some(Start::Edge(block, edge))),
            Ways::Two { condition, accept, reject } => {
                let nested = |edge| self.sequence(Start::Edge(block, edge), level);
                let (accept_shapes, reject_shapes, rest) = match self.goes_on(block, accept, reject, level) {
                    None => (nested(accept)?, nested(reject)?, None),
                    Some(true) => (Vec::new(), nested(reject)?, Some(accept)),
                    Some(false) => (nested(accept)?, Vec::new(), Some(reject)),
                };
                list.push(Shape::If { condition, accept: accept_shapes, reject: reject_shapes });
                Ok(rest.map(|edge| Start::Edge(block, edge)))
            }
            Ways::Many { selector, cases, default } => {
                let cases = cases
                    .into_iter()
                    .map(|(values, edge)| Ok((values, self.sequence(Start::Edge(block, edge), level)?)))
                    .collect::<Result<_>>()?;
                let default = self.sequence(Start::Edge(block, default), level)?;
                list.push(Shape::Switch { selector, cases, default });
                Ok(None)
            }
        }
    }

    /// Which of two ways goes on behind the choice instead of in it: `true` for `accept`. The other one must leave.
    fn goes_on(&self, block: Block, accept: &Edge, reject: &Edge, level: usize) -> Option<bool> {
        let plan = self.plan;
        let [accept, reject] = [accept, reject].map(|edge| plan.destination(block, edge));
        match (plan.is_leaving(block, accept), plan.is_leaving(block, reject)) {
            (false, false) if level < FLAT_FROM => None,
            (false, true) => Some(true),
            (true, false) => Some(false),
            // What leaves the loop is nested; what leads to the next round goes on to the body's end, where it needs no
            // statement.
            _ => match (accept, reject) {
                (Destination::Continue(index), other) if !plan.stays_in(index, other) => Some(true),
                (other, Destination::Continue(index)) if !plan.stays_in(index, other) => Some(false),
                _ => Some(plan.size_of(accept) > plan.size_of(reject)),
            },
        }
    }
}
