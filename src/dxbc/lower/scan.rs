//! What a phase uses, found before it is lowered.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{
    super::{
        decode::{Phase, TokenProgram},
        opcode::{Opcode, Role},
        operand::{Operand, RegisterFile},
    },
    registers::components,
    typing,
};
use crate::{Result, ir::Scalar};

/// Where a subroutine (`label#`) or the method of a class (`fb#`) begins.
pub(in crate::dxbc) type Label = (RegisterFile, u32);

/// What a phase uses.
#[derive(Default)]
pub(in crate::dxbc) struct Scan {
    /// Positions of `if`s that have an `else`.
    elses: HashSet<usize>,
    /// Position behind the main program.
    main_end: usize,
    /// Positions of subroutines' instructions, by label.
    subroutines: HashMap<Label, Range<usize>>,
    /// Components of `o#` that are written.
    pub outputs: HashMap<u32, u8>,
    /// Outputs without a number that are written.
    pub special_outputs: Vec<RegisterFile>,
    /// First registers of relative indices, inputs and outputs.
    pub relative_inputs: HashSet<u32>,
    pub relative_outputs: HashSet<u32>,
    /// The types that each `x#` is used as.
    uses: HashSet<(u32, Scalar)>,
}

/// Registers of group-shared memory that hold floats: all that is read from them is used as floats, and there are no
/// atomics on them.
pub(super) fn float_shared(program: &TokenProgram) -> HashSet<u32> {
    let (mut floats, mut others) = (HashSet::new(), HashSet::new());
    for phase in &program.phases {
        for (position, instruction) in phase.instructions.iter().enumerate() {
            let shared = instruction.operands.iter().find(|operand| operand.file == RegisterFile::GroupSharedMemory);
            let Some(register) = shared.and_then(Operand::register) else { continue };
            match instruction.opcode {
                Opcode::StoreRaw | Opcode::StoreStructured => {}
                Opcode::LdRaw | Opcode::LdStructured => {
                    let is_float = instruction.operands.first().is_some_and(|destination| {
                        destination.file == RegisterFile::Temp
                            && destination.register().is_some_and(|register| {
                                components(destination.selection.mask()).iter().all(|component| {
                                    typing::first_use(&phase.instructions, position, register, *component)
                                        == Some(Scalar::F32)
                                })
                            })
                    });
                    if is_float {
                        floats.insert(register);
                    } else {
                        others.insert(register);
                    }
                }
                _ => {
                    others.insert(register);
                }
            }
        }
    }
    &floats - &others
}

impl Scan {
    pub fn new(phase: &Phase) -> Result<Self> {
        let mut scan = Self { main_end: phase.instructions.len(), ..Self::default() };
        let mut ifs = Vec::new();
        let mut open: Option<(Label, usize)> = None;
        for (position, instruction) in phase.instructions.iter().enumerate() {
            match instruction.opcode {
                Opcode::If => ifs.push(position),
                Opcode::Else => {
                    if let Some(&position) = ifs.last() {
                        scan.elses.insert(position);
                    }
                }
                Opcode::EndIf => {
                    ifs.pop();
                }
                Opcode::Label => {
                    scan.main_end = scan.main_end.min(position);
                    if let Some((label, start)) = open.take() {
                        scan.subroutines.insert(label, start..position);
                    }
                    let label = instruction.operands.first().and_then(|label| Some((label.file, label.register()?)));
                    let label = label.ok_or_else(|| instruction.malformed("without a number"))?;
                    open = Some((label, position + 1));
                }
                _ => {}
            }
            for (index, operand) in instruction.operands.iter().enumerate() {
                let role = instruction.opcode.operands().get(index).copied().unwrap_or(Role::Source);
                scan.operand(operand, role);
                if operand.file == RegisterFile::IndexableTemp
                    && let Some(register) = operand.register()
                {
                    scan.uses.extend(typing::evidence(instruction, index).map(|scalar| (register, scalar)));
                }
            }
        }
        if let Some((label, start)) = open {
            scan.subroutines.insert(label, start..phase.instructions.len());
        }
        Ok(scan)
    }

    fn operand(&mut self, operand: &Operand, role: Role) {
        let Some(index) = operand.indices.last() else {
            if role == Role::Destination
                && super::super::declare::output_value(operand.file).is_some()
                && !self.special_outputs.contains(&operand.file)
            {
                self.special_outputs.push(operand.file);
            }
            return;
        };
        match (operand.file, role) {
            (RegisterFile::Output, Role::Destination) => {
                if index.relative.is_some() {
                    self.relative_outputs.insert(index.base);
                } else {
                    *self.outputs.entry(index.base).or_default() |= operand.selection.mask();
                }
            }
            (RegisterFile::Input, _) if index.relative.is_some() => {
                self.relative_inputs.insert(index.base);
            }
            _ => {}
        }
    }

    pub fn has_else(&self, position: usize) -> bool {
        self.elses.contains(&position)
    }

    pub fn main_end(&self) -> usize {
        self.main_end
    }

    pub fn subroutine(&self, label: Label) -> Option<Range<usize>> {
        self.subroutines.get(&label).cloned()
    }

    /// Type that the elements of `x#` are kept as.
    pub fn indexable_scalar(&self, register: u32) -> Scalar {
        let used = |scalar| self.uses.contains(&(register, scalar));
        if used(Scalar::F32) && !used(Scalar::I32) { Scalar::F32 } else { Scalar::I32 }
    }
}
