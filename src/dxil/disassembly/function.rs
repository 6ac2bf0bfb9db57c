//! Functions and their blocks.

use super::{Listing, attribute, names::identifier};
use crate::{
    Error, Result,
    dxil::module::{Attribute, BlockId, Body, Function, FunctionId, Type, ValueDef, ValueId},
};

/// Column that the comment behind a block's label stands in.
const COMMENT_COLUMN: usize = 50;

/// The function that is being written.
pub(super) struct FunctionScope<'a> {
    pub(super) number: FunctionId,
    pub(super) body: &'a Body,
    /// Numbers of the function's values, in their order; of those without a name.
    slots: Vec<Option<u32>>,
    /// Numbers of blocks without a name.
    blocks: Vec<Option<u32>>,
}

impl FunctionScope<'_> {
    /// Number of an argument or instruction.
    pub(super) fn slot(&self, id: ValueId) -> Option<u32> {
        let index = id.0.checked_sub(self.body.first)?;
        *self.slots.get(index as usize)?
    }
}

impl<'a> Listing<'a> {
    /// Goes to a function's code and numbers what has no name there.
    pub(super) fn enter(&mut self, number: FunctionId) -> Result<()> {
        let body = self.module.functions.get(number.index()).and_then(|function| function.body.as_ref());
        let body = body.ok_or_else(|| Error::internal("function without code is entered"))?;
        let is_named = |id: ValueId| body.annotations.names.get(&id).is_some_and(|name| !name.is_empty());
        let mut next = 0;
        let mut number_next = || {
            next += 1;
            Some(next - 1)
        };
        let mut slots = vec![None; body.values.len()];
        for (index, value) in body.values.iter().enumerate() {
            if matches!(value.def, ValueDef::Argument(_)) && !is_named(ValueId(body.first + index as u32)) {
                slots[index] = number_next();
            }
        }
        let mut blocks = vec![None; body.blocks.len()];
        for (index, range) in body.blocks.iter().enumerate() {
            if body.annotations.block_names.get(&BlockId(index as u32)).is_none_or(String::is_empty) {
                blocks[index] = number_next();
            }
            for instruction in &body.instructions[range.start as usize..range.end as usize] {
                if let Some(id) = instruction.result
                    && !is_named(id)
                {
                    slots[(id.0 - body.first) as usize] = number_next();
                }
            }
        }
        self.function = Some(FunctionScope { number, body, slots, blocks });
        Ok(())
    }

    /// The definition or declaration of a function.
    pub(super) fn function(&mut self, number: FunctionId) -> Result<()> {
        let function = &self.module.functions[number.index()];
        let Some(Type::Function { result, params, variadic }) = self.module.types.get(function.ty) else {
            return Err(Error::malformed("function is of no function type"));
        };
        if function.body.is_some() {
            self.enter(number)?;
            self.number_function()?;
        }
        self.push("\n");
        self.attribute_comment(function)?;
        self.push(if function.body.is_some() { "define " } else { "declare " });
        self.symbol_keywords(&function.symbol)?;
        if self.convention(function.convention)? {
            self.push(" ");
        }
        let of_result = self.attributes(function.attributes, 0);
        if !of_result.is_empty() {
            let of_result = attribute::spelled(of_result, false)?;
            self.write(format_args!("{of_result} "))?;
        }
        self.ty(*result)?;
        self.push(" ");
        self.function_name(number)?;
        self.push("(");
        for (index, &param) in params.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.ty(param)?;
            self.parameter_attributes(function.attributes, index)?;
            if let Some(body) = &function.body {
                let id = ValueId(body.first + index as u32);
                // Those without a name are counted, but not written.
                if body.annotations.names.get(&id).is_some_and(|name| !name.is_empty()) {
                    self.push(" ");
                    self.local_name(id)?;
                }
            }
        }
        if *variadic {
            self.push(if params.is_empty() { "..." } else { ", ..." });
        }
        self.push(")");
        if function.symbol.unnamed_address {
            self.push(" unnamed_addr");
        }
        self.attribute_reference(function.attributes)?;
        if let Some(section) = &function.symbol.section {
            self.push(" section \"");
            super::names::escaped(&mut self.text, section);
            self.push("\"");
        }
        if function.symbol.alignment != 0 {
            self.write(format_args!(" align {}", function.symbol.alignment))?;
        }
        let Some(body) = &function.body else {
            self.push("\n");
            return Ok(());
        };
        let mut attached = body.annotations.function.clone();
        attached.sort_by_key(|(kind, _)| *kind);
        for (kind, id) in attached {
            self.push(" ");
            self.attachment(kind, id)?;
        }
        self.push(" {");
        self.blocks(body)?;
        self.push("}\n");
        self.function = None;
        Ok(())
    }

    /// The function's attributes in words, strings aside.
    fn attribute_comment(&mut self, function: &Function) -> Result<()> {
        let attributes = self.function_attributes(function.attributes).iter();
        let words: Vec<_> = attributes.filter(|attribute| !matches!(attribute, Attribute::Text(..))).cloned().collect();
        if !words.is_empty() {
            let words = attribute::spelled(&words, false)?;
            self.write(format_args!("; Function Attrs: {words}\n"))?;
        }
        Ok(())
    }

    /// Attributes of a parameter, counted from 0, with a space in front.
    pub(super) fn parameter_attributes(&mut self, list: Option<u32>, index: usize) -> Result<()> {
        let attributes = self.attributes(list, index as u32 + 1);
        if attributes.is_empty() {
            return Ok(());
        }
        let attributes = attribute::spelled(attributes, false)?;
        self.write(format_args!(" {attributes}"))
    }

    /// A calling convention, if it is not C's.
    pub(super) fn convention(&mut self, convention: u32) -> Result<bool> {
        match convention {
            0 => return Ok(false),
            8 => self.push("fastcc"),
            9 => self.push("coldcc"),
            _ => self.write(format_args!("cc{convention}"))?,
        }
        Ok(true)
    }

    fn blocks(&mut self, body: &'a Body) -> Result<()> {
        let predecessors = predecessors(body);
        for (index, range) in body.blocks.iter().enumerate() {
            let block = BlockId(index as u32);
            let start = self.text.len();
            match body.annotations.block_names.get(&block) {
                Some(name) if !name.is_empty() => {
                    self.push("\n");
                    identifier(&mut self.text, name);
                    self.push(":");
                }
                _ if !predecessors[index].is_empty() => {
                    let number = self.function.as_ref().and_then(|function| function.blocks[index]);
                    let number = number.ok_or_else(|| Error::internal("a block has no number"))?;
                    self.write(format_args!("\n; <label>:{number}"))?;
                }
                _ => {}
            }
            if index > 0 {
                self.predecessors(start, &predecessors[index])?;
            }
            self.push("\n");
            for number in range.clone() {
                self.instruction(number).map_err(|error| error.at_instruction(number))?;
                self.push("\n");
            }
            self.check_len()?;
        }
        Ok(())
    }

    /// The comment behind a label, which begins at `start`: the blocks that lead here.
    fn predecessors(&mut self, start: usize, predecessors: &[BlockId]) -> Result<()> {
        let column = self.text[start..].trim_start_matches('\n').len();
        let padding = COMMENT_COLUMN.saturating_sub(column).max(1);
        self.write(format_args!("{:padding$};", ""))?;
        if predecessors.is_empty() {
            self.push(" No predecessors!");
        }
        for (index, &block) in predecessors.iter().enumerate() {
            self.push(if index == 0 { " preds = " } else { ", " });
            self.block_name(block)?;
        }
        Ok(())
    }

    /// Name or number of a block as an operand.
    pub(super) fn block_name(&mut self, block: BlockId) -> Result<()> {
        let function = self.function.as_ref().ok_or_else(|| Error::internal("block of no function"))?;
        match (function.body.annotations.block_names.get(&block), function.blocks.get(block.index())) {
            (Some(name), _) if !name.is_empty() => {
                self.push("%");
                identifier(&mut self.text, name);
                Ok(())
            }
            (_, Some(&Some(number))) => self.write(format_args!("%{number}")),
            _ => Err(Error::malformed(format!("unknown block: {}", block.0))),
        }
    }
}

/// For each block, the blocks that lead to it, in the order of LLVM's list of its uses: the last one read first, unless
/// the file says how the writer's list was ordered.
fn predecessors(body: &Body) -> Vec<Vec<BlockId>> {
    let mut predecessors = vec![Vec::new(); body.blocks.len()];
    for (index, range) in body.blocks.iter().enumerate() {
        let Some(last) = range.clone().last().and_then(|last| body.instructions.get(last as usize)) else { continue };
        let mut successors = last.op.successors();
        if let crate::dxil::module::Operation::Switch { .. } = last.op {
            // LLVM keeps the default before the cases.
            successors.rotate_right(1);
        }
        for successor in successors {
            if let Some(predecessors) = predecessors.get_mut(successor.index()) {
                predecessors.push(BlockId(index as u32));
            }
        }
    }
    for (index, predecessors) in predecessors.iter_mut().enumerate() {
        predecessors.reverse();
        if let Some(order) = body.annotations.block_uses.get(&BlockId(index as u32))
            && order.len() == predecessors.len()
        {
            let mut ordered: Vec<_> = order.iter().copied().zip(predecessors.iter().copied()).collect();
            ordered.sort_by_key(|(position, _)| *position);
            *predecessors = ordered.into_iter().map(|(_, block)| block).collect();
        }
    }
    predecessors
}
