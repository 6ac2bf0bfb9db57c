//! Operands.

use super::{
    Listing,
    literal::{LiteralKind, write_float},
    names,
};
use crate::{
    Result,
    dxbc::operand::{Index, Modifiers, Operand, RegisterFile, Selection},
};

/// What is written of an operand's precision, each a `D3D11_SB_OPERAND_MIN_PRECISION`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// Its own, unless it is full: ` {min16f}`.
    Of(u8),
    /// Its own, and the other that it is converted to: ` {def32 as min16f}`.
    Converted(u8, u8),
}

const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

impl Listing {
    /// An operand of an instruction, with the precision that is written for it.
    pub(super) fn operand(&mut self, operand: &Operand, literal: LiteralKind, precision: Precision) -> Result<()> {
        let Modifiers { absolute, negate, .. } = operand.modifiers;
        if negate {
            self.text.push('-');
        }
        if absolute {
            self.text.push('|');
        }
        match operand.file {
            RegisterFile::Immediate32 => self.immediate(operand, literal),
            RegisterFile::Immediate64 => self.immediate_doubles(operand),
            _ => {
                self.register(operand)?;
                self.selection(operand.selection);
                if operand.modifiers.non_uniform {
                    self.text.push_str(" { nonuniform }");
                }
            }
        }
        match precision {
            Precision::Converted(from, to) if from != to => {
                let [from, to] = [from, to].map(|precision| names::precision(precision).unwrap_or("def32"));
                self.text.extend([" {", from, " as ", to, "}"]);
            }
            Precision::Of(precision) | Precision::Converted(precision, _) => self.min_precision(precision),
        }
        if absolute {
            self.text.push('|');
        }
        Ok(())
    }

    /// ` {min16f}` and the like, after an operand of minimum precision.
    pub(super) fn min_precision(&mut self, precision: u8) {
        if let Some(name) = names::precision(precision) {
            self.text.extend([" {", name, "}"]);
        }
    }

    fn immediate(&mut self, operand: &Operand, literal: LiteralKind) {
        let words = if operand.selection == Selection::Scalar { 1 } else { 4 };
        self.text.push_str("l(");
        for (index, &word) in operand.immediate[..words].iter().enumerate() {
            if index > 0 {
                self.text.push_str(literal.separator());
            }
            literal.write(word, &mut self.text);
        }
        self.text.push(')');
    }

    fn immediate_doubles(&mut self, operand: &Operand) {
        let doubles = if operand.selection == Selection::Scalar { 1 } else { 2 };
        self.text.push_str("d(");
        for (index, words) in operand.immediate.chunks_exact(2).take(doubles).enumerate() {
            if index > 0 {
                self.text.push_str(", ");
            }
            write_float(f64::from_bits(u64::from(words[1]) << 32 | u64::from(words[0])), &mut self.text);
            self.text.push('l');
        }
        self.text.push(')');
    }

    /// A register and its indices, without its components.
    pub(super) fn register(&mut self, operand: &Operand) -> Result<()> {
        let name = names::register(operand.file, self.layout_5_1);
        self.text.push_str(name);
        // The first index is the register's number, unless several registers are indexed as one.
        let bracketed = names::is_bracketed(operand.file, operand.indices.len());
        for (position, index) in operand.indices.iter().enumerate() {
            if position == 0 && !bracketed && index.relative.is_none() {
                self.write(format_args!("{}", index.base))?;
            } else {
                self.text.push('[');
                self.index(index)?;
                self.text.push(']');
            }
        }
        Ok(())
    }

    fn index(&mut self, index: &Index) -> Result<()> {
        match &index.relative {
            Some(relative) => {
                self.operand(relative, LiteralKind::Int, Precision::Of(0))?;
                self.write(format_args!(" + {}", index.base))
            }
            None => self.write(format_args!("{}", index.base)),
        }
    }

    /// `.xyz`
    pub(super) fn selection(&mut self, selection: Selection) {
        match selection {
            Selection::None | Selection::Scalar => {}
            Selection::Mask(mask) => {
                if mask != 0 {
                    self.text.push('.');
                    self.text.extend((0..4).filter(|lane| mask & 1 << lane != 0).map(|lane| COMPONENTS[lane]));
                }
            }
            Selection::Swizzle(lanes) => {
                self.text.push('.');
                self.text.extend(lanes.iter().map(|&lane| COMPONENTS[lane as usize & 3]));
            }
            Selection::Select(lane) => {
                self.text.push('.');
                self.text.push(COMPONENTS[lane as usize & 3]);
            }
        }
    }
}
