//! Says the same with less.

mod arithmetic;
mod conversions;
mod logic;
#[cfg(test)]
mod tests;
mod vectors;

use smallvec::SmallVec;

use super::{
    fold::{self, Bits},
    replace::Replacements,
};
use crate::ir::{Block, Builder, Cfg, ConvertOp, Function, Op, Scalar, Terminator, Type, UnaryOp, Value, ValueDef};

/// Rules that one instruction may take in turn, each of which leaves less to do.
const MAX_RULES: usize = 16;

/// Applies rules that are exact to the bit, to every reachable instruction in the order of execution:
///
/// * constants are computed where Direct3D leaves no choice: no denormals, no NaNs, no functions of limited precision;
/// * integer and boolean algebra, and the little float algebra that cannot be noticed;
/// * masks (`bool` widened to all ones or 0) become booleans, and arithmetic on masks becomes selections;
/// * lanes are taken from where they were made;
/// * choices on constants become jumps.
///
/// No instruction is moved; those that lost their uses stay for
/// [`remove_dead_code`](super::remove_dead_code). Gives whether anything changed.
pub fn simplify(function: &mut Function) -> bool {
    let cfg = Cfg::new(function);
    let replacements = Replacements::new(function);
    let mut simplifier =
        Simplifier { function, replacements, block: Block(0), origin: 0, precise: false, changed: false };
    for &block in cfg.reverse_post_order() {
        simplifier.block(block);
    }
    let Simplifier { mut replacements, changed, function, .. } = simplifier;
    replacements.apply(function);
    changed
}

/// What becomes of an instruction.
enum Outcome {
    /// It stays.
    Keep,
    /// Another value is the same.
    Same(Value),
    /// Another operation gives the same.
    Op(Op),
    /// It has no effect.
    Remove,
}

use Outcome::{Keep, Same};

struct Simplifier<'f> {
    function: &'f mut Function,
    replacements: Replacements,
    /// The block that is gone through.
    block: Block,
    /// Of the instruction that is looked at.
    origin: u32,
    precise: bool,
    changed: bool,
}

impl Simplifier<'_> {
    fn block(&mut self, block: Block) {
        self.block = block;
        for value in std::mem::take(&mut self.function.blocks[block.index()].insts) {
            self.inst(value);
        }
        let mut terminator =
            std::mem::replace(&mut self.function.blocks[block.index()].terminator, Terminator::Unreachable);
        terminator.for_each_operand_mut(|operand| *operand = self.replacements.get(*operand));
        let terminator = self.terminator(terminator);
        self.function.blocks[block.index()].terminator = terminator;
    }

    fn inst(&mut self, value: Value) {
        let ValueDef::Inst(inst) = &mut self.function.values[value.index()].def else { return };
        inst.op.for_each_operand_mut(|operand| *operand = self.replacements.get(*operand));
        (self.origin, self.precise) = (inst.origin, inst.precise);
        for _ in 0..MAX_RULES {
            match self.rule(value) {
                Outcome::Keep => break,
                Outcome::Same(same) => {
                    self.replacements.set(value, same);
                    self.function.values[value.index()].def = ValueDef::Removed;
                    self.changed = true;
                    return;
                }
                Outcome::Op(op) => {
                    if let ValueDef::Inst(inst) = &mut self.function.values[value.index()].def {
                        inst.op = op;
                    }
                    self.changed = true;
                }
                Outcome::Remove => {
                    self.function.values[value.index()].def = ValueDef::Removed;
                    self.changed = true;
                    return;
                }
            }
        }
        self.function.blocks[self.block.index()].insts.push(value);
    }

    /// The first rule that fits.
    fn rule(&mut self, value: Value) -> Outcome {
        let ty = self.function.ty(value);
        let Some(op) = self.function.op(value) else { return Keep };
        match op {
            &Op::Unary(op, a) => self.unary(op, a),
            &Op::Binary(op, a, b) => self.binary(op, a, b),
            &Op::Compare(op, a, b) => self.compare(op, a, b),
            &Op::Ternary(op, a, b, c) => self.ternary(op, a, b, c),
            &Op::BitfieldInsert { width, offset, insert, base } => {
                match [width, offset, insert, base].map(|value| self.lanes(value)) {
                    [Some(width), Some(offset), Some(insert), Some(base)] if ty.scalar() == Some(Scalar::I32) => {
                        let lane = |lane| fold::bitfield_insert(width[lane], offset[lane], insert[lane], base[lane]);
                        let lanes: SmallVec<[Bits; 4]> = (0..width.len()).map(lane).collect();
                        self.constant(ty, &lanes)
                    }
                    _ => Keep,
                }
            }
            &Op::Select { condition, accept, reject } => self.select(condition, accept, reject),
            &Op::Convert(op, a) => self.convert(op, a, ty),
            &Op::Extract(vector, lane) => self.extract(vector, lane),
            &Op::ExtractDynamic(vector, lane) => match self.function.as_scalar_constant(lane) {
                Some(lane) if lane < self.function.ty(vector).lanes().into() => {
                    Outcome::Op(Op::Extract(vector, lane as u8))
                }
                _ => Keep,
            },
            Op::Compose(lanes) => {
                let lanes = lanes.clone();
                self.compose(&lanes)
            }
            Op::Swizzle(vector, order) => {
                let (vector, order) = (*vector, order.clone());
                self.swizzle(vector, &order)
            }
            &Op::Discard(condition) if self.is(condition, 0) => Outcome::Remove,
            _ => Keep,
        }
    }

    fn terminator(&mut self, terminator: Terminator) -> Terminator {
        match terminator {
            Terminator::Branch { condition, accept, reject } => {
                if let Some(condition) = self.function.as_scalar_constant(condition) {
                    self.changed = true;
                    return Terminator::Jump(if condition != 0 { accept } else { reject });
                }
                if let Some(&Op::Unary(UnaryOp::Not, opposite)) = self.function.op(condition) {
                    self.changed = true;
                    return Terminator::Branch { condition: opposite, accept: reject, reject: accept };
                }
                Terminator::Branch { condition, accept, reject }
            }
            Terminator::Switch { selector, mut cases, default } => {
                if let Some(selector) = self.function.as_scalar_constant(selector) {
                    self.changed = true;
                    let case = cases.iter().position(|case| case.0 == selector);
                    return Terminator::Jump(case.map_or(default, |case| cases.swap_remove(case).1));
                }
                Terminator::Switch { selector, cases, default }
            }
            other => other,
        }
    }

    /// Builds at the end of what the block has so far: before the instruction that is looked at.
    fn build(&mut self) -> Builder<'_> {
        let mut builder = Builder::new(self.function, self.block);
        builder.origin = self.origin;
        builder.precise = self.precise;
        builder
    }

    fn constant(&mut self, ty: Type, lanes: &[Bits]) -> Outcome {
        Same(self.function.constant(ty, lanes))
    }

    /// A constant of which every lane has the same bits.
    fn splat(&mut self, ty: Type, bits: Bits) -> Value {
        self.function.constant(ty, &[bits; 4][..ty.lanes() as usize])
    }

    fn lanes(&self, value: Value) -> Option<SmallVec<[Bits; 4]>> {
        self.function.as_constant(value).map(SmallVec::from_slice)
    }

    /// Bits of a constant of which every lane has the same.
    fn uniform(&self, value: Value) -> Option<Bits> {
        let lanes = self.function.as_constant(value)?;
        lanes.iter().all(|lane| *lane == lanes[0]).then(|| lanes[0])
    }

    /// It is a constant of which every lane has these bits.
    fn is(&self, value: Value, bits: Bits) -> bool {
        self.uniform(value) == Some(bits)
    }

    fn scalar(&self, value: Value) -> Option<Scalar> {
        self.function.ty(value).scalar()
    }

    /// What a value is the widened `bool` of: all ones or 0 for [`ConvertOp::SExt`], 1 or 0 for [`ConvertOp::ZExt`].
    fn widened(&self, value: Value, by: ConvertOp) -> Option<Value> {
        match self.function.op(value) {
            Some(&Op::Convert(op, from)) if op == by && self.scalar(from) == Some(Scalar::Bool) => Some(from),
            _ => None,
        }
    }
}
