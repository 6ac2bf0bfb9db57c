//! Structured control flow to basic blocks.

use std::{collections::HashSet, ops::Range};

use super::{FunctionLowering, Instruction, Opcode, scan::Label};
use crate::{
    Error, Result,
    ir::{Block, Edge, Scalar, Terminator},
};

/// Control flow that is open at some place.
pub(super) enum Construct {
    /// Some construct that nothing gets to.
    Dead,
    If {
        merge: Block,
        /// Where the branch goes whose instructions did not come yet.
        other: Option<Block>,
    },
    Loop {
        header: Block,
        exit: Block,
    },
    Switch {
        head: Block,
        exit: Block,
        cases: HashSet<u32>,
        has_default: bool,
        /// Block and position of the last label.
        label: Option<(Block, usize)>,
    },
    /// A subroutine that was expanded here.
    Call {
        continuation: Block,
    },
}

/// Direct3D's limit of nested calls.
const MAX_CALL_DEPTH: usize = 32;
/// Nested control flow, at most: the limit of Direct3D is 64.
const MAX_CONSTRUCTS: usize = 1 << 10;

impl FunctionLowering<'_, '_> {
    /// Lowers the whole phase.
    pub(super) fn body(&mut self) -> Result<()> {
        let end = self.scan.main_end();
        self.fill_indexed_inputs()?;
        self.range(0..end, 0)?;
        if !self.constructs.is_empty() {
            return Err(Error::malformed("the program ends within control flow"));
        }
        if self.block.is_some() {
            self.leave()?;
        }
        Ok(())
    }

    fn range(&mut self, range: Range<usize>, depth: usize) -> Result<()> {
        for position in range {
            self.current = position;
            let instruction = self.instruction();
            let Some(budget) = self.module.budget.checked_sub(1) else {
                return Err(instruction.unsupported("subroutines and phases expand too far"));
            };
            self.module.budget = budget;
            if self.constructs.len() > MAX_CONSTRUCTS {
                return Err(instruction.malformed("control flow nests too deep"));
            }
            if !self.flow(instruction, depth).map_err(|error| instruction.place(error))? && self.block.is_some() {
                self.lower().map_err(|error| instruction.place(error))?;
            }
        }
        Ok(())
    }

    /// Lowers an instruction of control flow; tells whether it is one.
    fn flow(&mut self, instruction: &Instruction, depth: usize) -> Result<bool> {
        match instruction.opcode {
            Opcode::Nop | Opcode::DebugBreak => {}
            Opcode::If => self.begin_if(instruction)?,
            Opcode::Else => match self.constructs.last_mut() {
                Some(Construct::If { merge, other }) => {
                    let (merge, other) = (*merge, other.take());
                    let Some(other) = other else { return Err(instruction.malformed("a second else")) };
                    self.go(merge);
                    self.block = Some(other);
                }
                Some(Construct::Dead) => {}
                _ => return Err(instruction.malformed("outside of an if")),
            },
            Opcode::EndIf => match self.constructs.pop() {
                Some(Construct::If { merge, .. }) => {
                    self.go(merge);
                    self.enter(merge);
                }
                Some(Construct::Dead) => {}
                _ => return Err(instruction.malformed("outside of an if")),
            },
            Opcode::Loop => {
                if self.block.is_none() {
                    self.constructs.push(Construct::Dead);
                    return Ok(true);
                }
                let (header, exit) = (self.function.add_block(), self.function.add_block());
                self.go(header);
                self.block = Some(header);
                self.constructs.push(Construct::Loop { header, exit });
            }
            Opcode::EndLoop => match self.constructs.pop() {
                Some(Construct::Loop { header, exit }) => {
                    self.go(header);
                    self.ssa.seal(&mut self.function, header);
                    self.enter(exit);
                }
                Some(Construct::Dead) => {}
                _ => return Err(instruction.malformed("outside of a loop")),
            },
            Opcode::Switch => self.begin_switch(instruction)?,
            Opcode::Case | Opcode::Default => self.label(instruction)?,
            Opcode::EndSwitch => match self.constructs.pop() {
                Some(Construct::Switch { head, exit, has_default, .. }) => {
                    self.go(exit);
                    if !has_default {
                        self.ssa.add_edge(head, exit);
                    }
                    self.enter(exit);
                }
                Some(Construct::Dead) => {}
                _ => return Err(instruction.malformed("outside of a switch")),
            },
            Opcode::Break | Opcode::Breakc | Opcode::Continue | Opcode::Continuec => self.jump(instruction)?,
            Opcode::Ret => {
                if self.block.is_some() {
                    self.leave_call()?;
                }
            }
            // Direct3D gives up the whole draw or dispatch; a thread can only give up itself.
            Opcode::Abort => {
                if self.block.is_some() {
                    self.module.note("abort ends its thread alone");
                    self.leave()?;
                }
            }
            Opcode::Retc => {
                if self.block.is_some() {
                    let leave = self.function.add_block();
                    let next = self.branch_to(instruction, leave)?;
                    self.enter(leave);
                    self.leave_call()?;
                    self.block = Some(next);
                }
            }
            Opcode::Call => {
                if self.block.is_some() {
                    self.call_label(instruction, 0, depth)?;
                }
            }
            Opcode::InterfaceCall => {
                if self.block.is_some() {
                    self.call_interface(instruction, depth)?;
                }
            }
            Opcode::Callc => {
                if self.block.is_some() {
                    let (callee, merge) = (self.function.add_block(), self.function.add_block());
                    let next = self.branch_to(instruction, callee)?;
                    self.enter(callee);
                    self.call_label(instruction, 1, depth)?;
                    self.go(merge);
                    self.block = Some(next);
                    self.go(merge);
                    self.enter(merge);
                }
            }
            Opcode::Label => return Err(instruction.malformed("in the middle of a subroutine")),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Ends the block with a jump, if it is reached.
    pub(super) fn go(&mut self, to: Block) {
        if let Some(from) = self.block {
            self.build().jump(to, &[]);
            self.ssa.add_edge(from, to);
            self.block = None;
        }
    }

    /// Goes on in a block whose edges are all known.
    pub(super) fn enter(&mut self, block: Block) {
        self.ssa.seal(&mut self.function, block);
        self.block = self.ssa.has_predecessors(block).then_some(block);
    }

    /// Ends the block with a branch to `target` if the instruction's condition holds, and to the new block that is
    /// returned otherwise.
    fn branch_to(&mut self, instruction: &Instruction, target: Block) -> Result<Block> {
        let next = self.function.add_block();
        self.branch(instruction, target, next)?;
        self.ssa.seal(&mut self.function, next);
        Ok(next)
    }

    fn branch(&mut self, instruction: &Instruction, holds: Block, fails: Block) -> Result<()> {
        let condition = self.source(&instruction.operands[0], &[0], Scalar::Bool)?;
        let (accept, reject) = if instruction.tests_nonzero() { (holds, fails) } else { (fails, holds) };
        let Some(from) = self.block else { return Ok(()) };
        self.build().branch(condition, accept, reject);
        self.ssa.add_edge(from, accept);
        self.ssa.add_edge(from, reject);
        self.block = None;
        Ok(())
    }

    fn begin_if(&mut self, instruction: &Instruction) -> Result<()> {
        if self.block.is_none() {
            self.constructs.push(Construct::Dead);
            return Ok(());
        }
        let (then, merge) = (self.function.add_block(), self.function.add_block());
        let other = self.scan.has_else(self.current).then(|| self.function.add_block());
        self.branch(instruction, then, other.unwrap_or(merge))?;
        if let Some(other) = other {
            self.ssa.seal(&mut self.function, other);
        }
        self.enter(then);
        self.constructs.push(Construct::If { merge, other });
        Ok(())
    }

    fn begin_switch(&mut self, instruction: &Instruction) -> Result<()> {
        let Some(head) = self.block else {
            self.constructs.push(Construct::Dead);
            return Ok(());
        };
        let selector = self.source(&instruction.operands[0], &[0], Scalar::I32)?;
        let exit = self.function.add_block();
        self.build().terminate(Terminator::Switch { selector, cases: Vec::new(), default: Edge::new(exit) });
        self.block = None;
        self.constructs.push(Construct::Switch { head, exit, cases: HashSet::new(), has_default: false, label: None });
        Ok(())
    }

    fn label(&mut self, instruction: &Instruction) -> Result<()> {
        let position = self.current;
        let (head, last) = match self.constructs.last() {
            Some(Construct::Switch { head, label, .. }) => (*head, *label),
            Some(Construct::Dead) => return Ok(()),
            _ => return Err(instruction.malformed("outside of a switch")),
        };
        // Labels in a row share their block.
        let block = match last {
            Some((block, last)) if last + 1 == position => block,
            _ => {
                let block = self.function.add_block();
                self.go(block);
                self.ssa.add_edge(head, block);
                self.enter(block);
                block
            }
        };
        let Some(Construct::Switch { cases, has_default, label, .. }) = self.constructs.last_mut() else {
            return Ok(());
        };
        *label = Some((block, position));
        let value = match instruction.operands.first() {
            Some(operand) => {
                if !cases.insert(operand.immediate[0]) {
                    return Err(instruction.malformed("two cases of one value"));
                }
                Some(u64::from(operand.immediate[0]))
            }
            None => {
                if std::mem::replace(has_default, true) {
                    return Err(instruction.malformed("two defaults"));
                }
                None
            }
        };
        let terminator = &mut self.function.blocks[head.index()].terminator;
        if let Terminator::Switch { cases, default, .. } = terminator {
            match value {
                Some(value) => cases.push((value, Edge::new(block))),
                None => *default = Edge::new(block),
            }
        }
        Ok(())
    }

    /// `break`, `continue` and their conditional forms.
    fn jump(&mut self, instruction: &Instruction) -> Result<()> {
        if self.block.is_none() {
            return Ok(());
        }
        let breaks = matches!(instruction.opcode, Opcode::Break | Opcode::Breakc);
        let mut target = None;
        for construct in self.constructs.iter().rev() {
            match *construct {
                Construct::Loop { header, exit } => target = Some(if breaks { exit } else { header }),
                Construct::Switch { exit, .. } if breaks => target = Some(exit),
                Construct::Call { .. } => break,
                _ => continue,
            }
            break;
        }
        let Some(target) = target else { return Err(instruction.malformed("outside of what it leaves")) };
        if matches!(instruction.opcode, Opcode::Breakc | Opcode::Continuec) {
            let next = self.branch_to(instruction, target)?;
            self.block = Some(next);
        } else {
            self.go(target);
        }
        Ok(())
    }

    /// Leaves the subroutine, or the function.
    fn leave_call(&mut self) -> Result<()> {
        let continuation = self.constructs.iter().rev().find_map(|construct| match construct {
            Construct::Call { continuation } => Some(*continuation),
            _ => None,
        });
        match continuation {
            Some(continuation) => {
                self.go(continuation);
                Ok(())
            }
            None => self.leave(),
        }
    }

    /// `call`: the label is an operand.
    fn call_label(&mut self, instruction: &Instruction, operand: usize, depth: usize) -> Result<()> {
        let label = &instruction.operands[operand];
        let label = label.register().map(|number| (label.file, number));
        self.call(instruction, label, depth)
    }

    /// Expands a subroutine in place.
    pub(super) fn call(&mut self, instruction: &Instruction, label: Option<Label>, depth: usize) -> Result<()> {
        if depth >= MAX_CALL_DEPTH {
            return Err(instruction.malformed("calls nest too deep"));
        }
        let Some(range) = label.and_then(|label| self.scan.subroutine(label)) else {
            return Err(instruction.malformed("no such label"));
        };
        let back = self.current;
        let open = self.constructs.len();
        let continuation = self.function.add_block();
        self.constructs.push(Construct::Call { continuation });
        self.range(range, depth + 1)?;
        self.current = back;
        if self.constructs.len() != open + 1 {
            return Err(instruction.malformed("a subroutine ends within control flow"));
        }
        self.constructs.pop();
        self.go(continuation);
        self.enter(continuation);
        Ok(())
    }
}
