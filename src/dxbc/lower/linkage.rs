//! Calls of class methods, and the data of the instances they are called for.

use std::collections::BTreeMap;

use super::{FunctionLowering, Instruction, registers::Lanes};
use crate::{
    Error, Result,
    dxbc::{
        linkage::{Filled, register_of},
        operand::{Operand, RegisterFile},
    },
    ir::{Edge, Terminator},
    reflection::{InstanceData, ResourceClass},
};

impl FunctionLowering<'_, '_> {
    /// `fcall`: the method of what fills the interface. Of an array of interfaces that is indexed at run time, a switch over
    /// what its slots are filled with.
    pub(super) fn call_interface(&mut self, instruction: &Instruction, depth: usize) -> Result<()> {
        let operand = &instruction.operands[0];
        let interface = operand.register().filter(|_| operand.file == RegisterFile::Interface);
        let elements = interface.and_then(|interface| Some((interface, self.module.linkage.elements(interface)?)));
        let Some((interface, elements)) = elements else {
            return Err(instruction.malformed("no such interface"));
        };
        let element = match operand.indices.get(1) {
            Some(index) => self.index_value(index)?,
            None => self.i32(0),
        };
        let filled = |element: u32| {
            let slot = interface.checked_add(element).filter(|_| element < elements);
            slot.and_then(|slot| self.module.linkage.slot(slot))
                .ok_or_else(|| instruction.malformed("beyond an interface"))
        };
        if let Some(element) = self.function.as_scalar_constant(element) {
            let filled = filled(element as u32)?;
            return self.call_method(instruction, filled, depth);
        }
        let mut arms = BTreeMap::<Filled, Vec<u32>>::new();
        for element in 0..elements {
            arms.entry(filled(element)?).or_default().push(element);
        }
        if arms.len() == 1
            && let Some((&filled, _)) = arms.first_key_value()
        {
            // An index beyond the array has no defined result.
            return self.call_method(instruction, filled, depth);
        }
        let Some(head) = self.block else { return Ok(()) };
        let exit = self.function.add_block();
        let mut cases = Vec::new();
        let mut bodies = Vec::new();
        for (filled, elements) in arms {
            let block = self.function.add_block();
            cases.extend(elements.into_iter().map(|element| (u64::from(element), Edge::new(block))));
            self.ssa.add_edge(head, block);
            bodies.push((block, filled));
        }
        // Beyond the array nothing is called.
        self.ssa.add_edge(head, exit);
        self.build().terminate(Terminator::Switch { selector: element, cases, default: Edge::new(exit) });
        for (block, filled) in bodies {
            self.enter(block);
            self.call_method(instruction, filled, depth)?;
            self.go(exit);
        }
        self.enter(exit);
        Ok(())
    }

    fn call_method(&mut self, instruction: &Instruction, filled: Filled, depth: usize) -> Result<()> {
        let label = self.module.linkage.method(filled, instruction);
        self.this.push(filled.data);
        let result = self.call(instruction, label, depth);
        self.this.pop();
        result
    }

    /// Components of `this[]`: registers and the row at which an instance's data begins.
    pub(super) fn this(&mut self, operand: &Operand, sources: &[u8]) -> Result<Lanes> {
        let slot = self.index(operand, 0)?;
        let data = match self.function.as_scalar_constant(slot) {
            Some(slot) => self.module.linkage.slot(slot as u32).map(|filled| filled.data),
            // An array of interfaces: the slot is that for which the method was called.
            None => self.this.last().copied(),
        };
        let Some(InstanceData { constant_buffer, row, texture, sampler }) = data else {
            return Err(Error::malformed("this[] of a slot that is no interface's"));
        };
        let fields = [constant_buffer, row, texture, sampler];
        Ok(sources.iter().map(|component| self.i32(fields[*component as usize & 3])).collect())
    }

    /// The number of a resource's register. Methods of classes take it from `this[]`, which is known when they are expanded.
    pub(super) fn resource_register(&mut self, operand: &Operand, class: ResourceClass) -> Result<u32> {
        let Some(index) = operand.indices.first().filter(|index| index.relative.is_some()) else {
            return self.register(operand);
        };
        let value = self.index_value(index)?;
        if let Some(register) = self.function.as_scalar_constant(value) {
            return Ok(register as u32);
        }
        // In a loop it is not seen to be constant; but nothing else than the instance's registers can be meant.
        let found = self.this.last().and_then(|data| register_of(operand.file, index.base, data));
        match found {
            Some((of, register)) if of == class => Ok(register),
            _ => Err(Error::malformed("a resource's register is chosen at run time, outside of a class's methods")),
        }
    }
}
