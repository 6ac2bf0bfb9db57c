//! The graph of blocks: order, phis and terminators.

use smallvec::SmallVec;

use super::{Descriptor, FunctionLowering, Lowered, RecordPointer, llvm, record::RECORD_SPACE};
use crate::{
    Error, Result,
    ir::{Cfg, ConvertOp, Dominators, Edge, Scalar, Terminator, Type, Value},
    reflection::NodeLaunch,
};

impl FunctionLowering<'_, '_> {
    /// Lowers all blocks that the entry reaches.
    pub(super) fn lower_blocks(&mut self) -> Result<()> {
        let order = self.reverse_postorder();
        for &block in &order {
            let ir = if block == 0 { self.function.entry } else { self.function.add_block() };
            self.blocks[block] = Some(ir);
        }
        self.begin_thread_node()?;
        self.load_inputs()?;
        for &block in &order {
            self.block = self.blocks[block].unwrap_or(self.function.entry);
            let range = self.body.blocks[block].clone();
            for number in range.start..range.end.saturating_sub(1) {
                self.lower_instruction(number).map_err(|error| error.at_instruction(number))?;
            }
            self.flush_outputs()?;
        }
        // Arguments of phis may come from later blocks: the terminators are last.
        for &block in &order {
            self.block = self.blocks[block].unwrap_or(self.function.entry);
            let number = self.body.blocks[block].end - 1;
            self.origin = number;
            let terminator = self.terminator(block as u32, number).map_err(|error| error.at_instruction(number))?;
            self.build().terminate(terminator);
        }
        self.check_dominance(&order)
    }

    /// Ends the threads of a thread node that have no record.
    fn begin_thread_node(&mut self) -> Result<()> {
        let node = self.entry().ok().and_then(|entry| entry.facts.node.as_deref());
        if node.is_none_or(|node| node.launch != NodeLaunch::Thread) {
            return Ok(());
        }
        self.block = self.function.entry;
        let has_record = self.has_record()?;
        let (body, rest) = (self.function.add_block(), self.function.add_block());
        self.build().branch(has_record, body, rest);
        self.block = rest;
        self.build().terminate(Terminator::Return(None));
        self.blocks[0] = Some(body);
        self.block = body;
        Ok(())
    }

    /// Rejects values that are used where control may come without passing their definition.
    fn check_dominance(&self, order: &[usize]) -> Result<()> {
        let body = self.body;
        let dominators = Dominators::new(&self.function, &Cfg::new(&self.function));
        let ir_block = |block: usize| self.blocks.get(block).copied().flatten();
        // The block of each instruction.
        let mut homes = vec![None; body.instructions.len()];
        for &block in order {
            for number in body.blocks[block].clone() {
                homes[number as usize] = ir_block(block);
            }
        }
        let mut operands = Vec::new();
        for &block in order {
            for number in body.blocks[block].clone() {
                let op = &body.instructions[number as usize].op;
                operands.clear();
                match op {
                    // A phi's value is used at the end of the block that it comes from.
                    llvm::Operation::Phi(incoming) => {
                        operands.extend(incoming.iter().map(|(value, from)| (*value, ir_block(from.index()))));
                    }
                    op => op.for_each_operand(|value| operands.push((value, ir_block(block)))),
                }
                for &(value, place) in &operands {
                    let value = value.0.checked_sub(body.first).and_then(|index| body.values.get(index as usize));
                    let (Some(place), Some(llvm::ValueDef::Instruction(definition))) = (place, value.map(|v| &v.def))
                    else {
                        continue;
                    };
                    let is_defined = match homes[*definition as usize] {
                        Some(home) if home == place && !matches!(op, llvm::Operation::Phi(_)) => *definition < number,
                        Some(home) => dominators.dominates(home, place),
                        None => false,
                    };
                    if !is_defined {
                        return Err(Error::malformed("value is used before its definition").at_instruction(number));
                    }
                }
            }
        }
        Ok(())
    }

    /// The blocks that the entry reaches, each before those that it dominates.
    fn reverse_postorder(&self) -> Vec<usize> {
        let successors = |block: usize| {
            let range = &self.body.blocks[block];
            let terminator = (range.end as usize).checked_sub(1).and_then(|last| self.body.instructions.get(last));
            terminator.map_or_else(Vec::new, |terminator| terminator.op.successors())
        };
        let mut seen = vec![false; self.body.blocks.len()];
        let mut postorder = Vec::new();
        let mut stack = Vec::new();
        if !seen.is_empty() {
            seen[0] = true;
            stack.push((0, successors(0)));
        }
        while let Some((block, pending)) = stack.last_mut() {
            match pending.pop() {
                Some(next) if !seen[next.index()] => {
                    seen[next.index()] = true;
                    stack.push((next.index(), successors(next.index())));
                }
                Some(_) => {}
                None => {
                    postorder.push(*block);
                    stack.pop();
                }
            }
        }
        postorder.reverse();
        postorder
    }

    /// Makes parameters of a phi.
    pub(super) fn phi(&mut self, number: u32, instruction: &llvm::Instruction) -> Result<Lowered> {
        let starts = self.body.blocks.binary_search_by_key(&number, |block| block.start).is_ok();
        let follows = || number.checked_sub(1).map(|before| &self.body.instructions[before as usize].op);
        if !starts && !matches!(follows(), Some(llvm::Operation::Phi(_))) {
            return Err(Error::malformed("phi after another instruction"));
        }
        if self.block == self.function.entry {
            return Err(Error::malformed("phi in the entry block"));
        }
        let block = self.block;
        if let llvm::Type::Pointer { pointee, space: RECORD_SPACE } = *self.llvm_type(instruction.ty)? {
            let byte = self.function.add_param(block, Type::I32);
            return Ok(Lowered::Record(RecordPointer { byte, pointee }));
        }
        if let llvm::Type::Pointer { pointee, .. } = *self.llvm_type(instruction.ty)?
            && !self.leads_to_globals(instruction)
        {
            let result = instruction.result.ok_or_else(|| Error::internal("phi without a result"))?;
            let storages = self.storages_of(self.id, result)?;
            return Ok(self.pointer_parameter(block, storages, pointee));
        }
        if let llvm::Type::Pointer { .. } = self.llvm_type(instruction.ty)? {
            let numbers = [Type::I32; 2].map(|ty| self.function.add_param(block, ty));
            return Ok(Lowered::Descriptor(Descriptor { numbers, non_uniform: true }));
        }
        let scalars = self.parent.value_types(instruction.ty)?;
        let params = scalars.into_iter().map(|scalar| self.function.add_param(block, Type::Scalar(scalar)));
        Ok(Lowered::Scalars(params.collect()))
    }

    /// The edge from one block of the body to another, with arguments for the phis there.
    fn edge(&mut self, from: u32, to: llvm::BlockId) -> Result<Edge> {
        if to.0 == 0 {
            return Err(Error::malformed("control leads back to the entry block"));
        }
        let block = self.blocks[to.index()].ok_or_else(|| Error::internal("edge to a block that is not reached"))?;
        let mut args: SmallVec<[Value; 4]> = SmallVec::new();
        let range = self.body.blocks[to.index()].clone();
        let body = self.body;
        for instruction in &body.instructions[range.start as usize..range.end as usize] {
            let llvm::Operation::Phi(incoming) = &instruction.op else { break };
            let value = incoming.iter().find(|(_, block)| block.0 == from).map(|(value, _)| *value);
            let value = value.ok_or_else(|| Error::malformed("phi without a value for a predecessor"))?;
            let lowered = self.value(value)?;
            let phi = instruction.result.map(|phi| self.value(phi)).transpose()?;
            match (&lowered, phi) {
                (Lowered::Pointer(_) | Lowered::ChosenPointer(_), Some(phi)) => {
                    args.extend(self.pointer_arguments(&lowered, &phi)?);
                }
                (Lowered::Record(pointer), _) => args.push(pointer.byte),
                (lowered, _) => args.extend_from_slice(lowered.scalars()?),
            }
        }
        let params = &self.function.blocks[block.index()].params;
        let fits = params.iter().zip(&args).all(|(param, arg)| self.function.ty(*param) == self.function.ty(*arg));
        if args.len() != params.len() || !fits {
            return Err(Error::malformed("phi of values of another type"));
        }
        Ok(Edge { block, args })
    }

    fn terminator(&mut self, block: u32, number: u32) -> Result<Terminator> {
        let body = self.body;
        Ok(match &body.instructions[number as usize].op {
            llvm::Operation::Return(value) => {
                let scalars: SmallVec<[Value; 4]> = match value {
                    Some(value) => SmallVec::from_slice(self.value(*value)?.scalars()?),
                    None => SmallVec::new(),
                };
                let result = match (value, self.function.result) {
                    (Some(value), Type::Void) if !scalars.is_empty() => {
                        let ty = self.type_of(*value)?;
                        let place = self.result_pointer(self.id, ty)?;
                        self.store(place, &scalars)?;
                        None
                    }
                    (Some(_), _) if (1..=4).contains(&scalars.len()) => Some(self.build().compose(&scalars)),
                    _ => None,
                };
                if result.map_or(Type::Void, |result| self.function.ty(result)) != self.function.result {
                    return Err(Error::malformed("function returns a value of another type than its own"));
                }
                Terminator::Return(result)
            }
            llvm::Operation::Jump(to) => Terminator::Jump(self.edge(block, *to)?),
            llvm::Operation::Branch { condition, accept, reject } => {
                let condition = self.scalar(*condition)?;
                if self.function.ty(condition) != Type::BOOL {
                    return Err(Error::malformed("condition is no bool"));
                }
                let accept = self.edge(block, *accept)?;
                let reject = self.edge(block, *reject)?;
                Terminator::Branch { condition, accept, reject }
            }
            llvm::Operation::Switch { selector, cases, default } => {
                let (selector, mask) = self.selector(*selector)?;
                let mut edges: Vec<(u64, Edge)> = Vec::with_capacity(cases.len());
                let mut seen = std::collections::HashSet::new();
                for (case, to) in cases {
                    let case = self.as_integer(*case).ok_or_else(|| Error::malformed("case is no integer"))?;
                    let case = case as u64 & mask;
                    if !seen.insert(case) {
                        return Err(Error::malformed("switch has a case twice"));
                    }
                    edges.push((case, self.edge(block, *to)?));
                }
                Terminator::Switch { selector, cases: edges, default: self.edge(block, *default)? }
            }
            llvm::Operation::Unreachable if self.ended.contains(&self.block) => Terminator::Return(None),
            llvm::Operation::Unreachable => Terminator::Unreachable,
            _ => return Err(Error::internal("block without a terminator")),
        })
    }

    /// What a switch chooses by, and the bits of it that its cases have: those of LLVM's type, whose other bits are 0.
    fn selector(&mut self, id: llvm::ValueId) -> Result<(Value, u64)> {
        let &llvm::Type::Integer(width @ 1..=64) = self.llvm_type(self.type_of(id)?)? else {
            return Err(Error::malformed("switch over a value that is no integer"));
        };
        let narrow = self.narrow(self.type_of(id)?);
        let selector = self.scalar(id)?;
        let selector = match self.function.ty(selector) {
            Type::BOOL => self.build().convert(ConvertOp::ZExt, selector, Scalar::I32),
            _ => self.zero_extended(selector, narrow),
        };
        Ok((selector, u64::MAX >> (64 - width)))
    }
}
