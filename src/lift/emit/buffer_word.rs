//! Words of buffers, each with its own guard.
//!
//! A buffer with atomic operations on 64-bit integers is an array of these, because the elements of naga's arrays have one
//! width: its 32-bit words are halves of elements. Writing a half, or an atomic operation on one, replaces the element,
//! and tries until no other thread came between. So all threads agree on the order of operations of either width; two
//! variables of one binding, with atomics of different widths, would leave it to the driver (and naga refuses them).

use naga::{AtomicFunction, BinaryOperator, Expression, MathFunction, Scalar, ScalarKind, Statement, UnaryOperator};

use super::{FunctionEmitter, atomic_variable::AtomicMemory, expression::Expr};
use crate::{
    Result,
    ir::{AtomicOp, Value},
};

/// Consecutive words of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Pointer to the buffer's array.
    pub array: Expr,
    /// The array's elements are atomics of this type: words, or pairs of them.
    pub atomic: Option<Scalar>,
    /// The first word, `u32`.
    pub word: Expr,
    /// It is known to be even.
    pub aligned: bool,
    /// Number of words from the first to the end of the structure, where it is known.
    pub limit: Option<Limit>,
    /// What must hold beside that each word is in the buffer.
    pub valid: Option<Expr>,
}

/// Where words come to an end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// So many words are left. The validity of the place says that these are in the buffer.
    Words(u32),
    /// The first word within the structure is computed; the structure has so many.
    Computed(Expr, u32),
    /// There is no structure. The address of the first byte is given: addresses wrap around.
    Wraps(Expr),
}

impl Place {
    /// The array's elements are pairs of words.
    fn is_wide(&self) -> bool {
        self.atomic.is_some_and(|scalar| scalar.width == 8)
    }

    /// Kind of the array's elements.
    fn kind(&self) -> ScalarKind {
        self.atomic.map_or(ScalarKind::Uint, |scalar| scalar.kind)
    }

    /// Kind of the old values of atomic operations on integers of so many bytes.
    pub fn kind_of(&self, width: u8) -> ScalarKind {
        if self.is_wide() && width == 4 { ScalarKind::Uint } else { self.kind() }
    }
}

/// The atomic that holds a word.
#[derive(Clone, Copy, Debug)]
struct Holder {
    memory: AtomicMemory,
    /// The word's lowest bit in it, `u32`; `None` if the word is all of it.
    first_bit: Option<Expr>,
}

impl FunctionEmitter<'_, '_> {
    /// Number of words in a buffer's array.
    pub(super) fn word_count(&mut self, array: Expr, wide: bool) -> Expr {
        let elements = self.val(Expression::ArrayLength(array));
        self.times(elements, if wide { 2 } else { 1 })
    }

    /// The `index`th word of a place, and whether it exists: `None` if it is known not to.
    pub(super) fn word_at(&mut self, place: &Place, index: u32) -> Option<(Expr, Expr)> {
        let word = match place.limit {
            Some(Limit::Wraps(byte)) if index > 0 => {
                let byte = self.plus(byte, index * 4);
                self.shifted_right(byte, 2)
            }
            _ => self.plus(place.word, index),
        };
        let inside = match (place.limit, place.valid) {
            (Some(Limit::Words(words)), _) if index >= words => return None,
            (Some(Limit::Words(_)), Some(valid)) => valid,
            (Some(Limit::Computed(within, words)), valid) => {
                let within = self.plus(within, index);
                let words = self.u32(words);
                let inside = self.binary(BinaryOperator::Less, within, words);
                self.both(valid, Some(inside))?
            }
            (_, valid) => {
                let length = self.word_count(place.array, place.is_wide());
                let inside = self.binary(BinaryOperator::Less, word, length);
                self.both(valid, Some(inside))?
            }
        };
        Some((word, inside))
    }

    /// A word that is read, 0 where it does not exist; `u32`.
    pub(super) fn load_word(&mut self, place: &Place, index: u32) -> Expr {
        let Some((word, inside)) = self.word_at(place, index) else { return self.u32(0) };
        let zero = self.u32(0);
        // The first word always exists: no buffer is empty.
        let word = self.select(inside, word, zero);
        let value = if place.is_wide() {
            let pair = self.read_element(place, word);
            self.half_of(pair, word)
        } else {
            self.read_element(place, word)
        };
        self.select(inside, value, zero)
    }

    /// Two consecutive words that are read, each 0 where it does not exist; `u64`. What is one element is read at once.
    pub(super) fn load_pair(&mut self, place: &Place, index: u32) -> Expr {
        let (low, high) = match (self.word_at(place, index), self.word_at(place, index + 1)) {
            (Some(low), Some(high)) if place.is_wide() => (low, high),
            _ => {
                let (low, high) = (self.load_word(place, index), self.load_word(place, index + 1));
                return self.join(low, high);
            }
        };
        let zero = self.u32(0);
        let word = self.select(low.1, low.0, zero);
        let first = self.read_element(place, word);
        if place.aligned && index.is_multiple_of(2) {
            let nothing = self.literal(Scalar::U64, 0);
            return self.select(low.1, first, nothing);
        }
        let next = self.select(high.1, high.0, zero);
        let second = self.read_element(place, next);
        // The second word is the first of the next element, or the other one of the same.
        let odd = self.is_odd(word);
        let holder = self.select(odd, second, first);
        let halves = [(first, low), (holder, high)].map(|(pair, (word, inside))| {
            let half = self.half_of(pair, word);
            self.select(inside, half, zero)
        });
        self.join(halves[0], halves[1])
    }

    /// A word that is written, if it exists; `u32`.
    pub(super) fn store_word(&mut self, place: &Place, index: u32, value: Expr) {
        let Some((word, inside)) = self.word_at(place, index) else { return };
        self.when(inside, |emitter| emitter.write_word(place, word, value));
    }

    /// Two consecutive words that are written, each if it exists; `u64`. What is one element is written at once.
    pub(super) fn store_pair(&mut self, place: &Place, index: u32, value: Expr) {
        let (low, high) = match (self.word_at(place, index), self.word_at(place, index + 1)) {
            (Some(low), Some(high)) if place.is_wide() => (low, high),
            _ => {
                for (index, word) in (index..).zip(self.split(value)) {
                    self.store_word(place, index, word);
                }
                return;
            }
        };
        if place.aligned && index.is_multiple_of(2) {
            self.when(low.1, |emitter| emitter.write_element(place, low.0, value));
            return;
        }
        let odd = self.is_odd(low.0);
        let even = self.unary(UnaryOperator::LogicalNot, odd);
        let whole = self.binary(BinaryOperator::LogicalAnd, low.1, high.1);
        let condition = self.binary(BinaryOperator::LogicalAnd, whole, even);
        let accept = self.inner_block(|emitter| emitter.write_element(place, low.0, value));
        let reject = self.inner_block(|emitter| {
            for ((word, inside), half) in [low, high].into_iter().zip(emitter.split(value)) {
                emitter.when(inside, |emitter| emitter.write_word(place, word, half));
            }
        });
        self.statement(Statement::If { condition, accept, reject });
    }

    /// Replaces the bits of a mask, moved up by `shift`, in a word that other threads may write the rest of.
    pub(super) fn store_bits(&mut self, place: &Place, index: u32, shift: Expr, mask: u32, bits: Expr) {
        let Some((word, inside)) = self.word_at(place, index) else { return };
        self.when(inside, |emitter| {
            let holder = emitter.holder(place, word);
            let shift = match holder.first_bit {
                Some(first) => emitter.binary(BinaryOperator::Add, first, shift),
                None => shift,
            };
            emitter.replace_bits(holder.memory, shift, mask, bits);
        });
    }

    /// An atomic operation on a word that exists, or on its element if the operands are 64-bit integers. Gives the old value,
    /// of [`Place::kind_of`] its width.
    ///
    /// # Errors
    /// An operand was not emitted: a bug.
    pub(super) fn atomic_word(
        &mut self,
        place: &Place,
        word: Expr,
        op: AtomicOp,
        value: Value,
        compare: Option<Value>,
    ) -> Result<Expr> {
        let Holder { memory, first_bit } = self.holder(place, word);
        match first_bit {
            Some(first) if self.is_word(value) => self.atomic_half(memory, first, op, value, compare),
            _ => self.atomic(memory, op, value, compare),
        }
    }

    /// The same, where nothing wants the old value.
    ///
    /// # Errors
    /// Those of [`Self::atomic_word`].
    pub(super) fn atomic_word_effect(
        &mut self,
        place: &Place,
        word: Expr,
        op: AtomicOp,
        value: Value,
        compare: Option<Value>,
    ) -> Result<()> {
        if place.is_wide() && self.is_word(value) {
            return self.atomic_word(place, word, op, value, compare).map(|_| ());
        }
        let Holder { memory, .. } = self.holder(place, word);
        self.atomic_effect(memory, op, value, compare)
    }

    /// A value is of 32 bits.
    fn is_word(&self, value: Value) -> bool {
        self.ir.ty(value).scalar().is_some_and(|scalar| scalar.bits() == 32)
    }

    /// An atomic operation on 32 bits of a 64-bit atomic; gives their old value, `u32`.
    fn atomic_half(
        &mut self,
        memory: AtomicMemory,
        first: Expr,
        op: AtomicOp,
        value: Value,
        compare: Option<Value>,
    ) -> Result<Expr> {
        let operand = self.get_as(value, ScalarKind::Uint)?;
        let compare = compare.map(|compare| self.get_as(compare, ScalarKind::Uint)).transpose()?;
        let kind = memory.scalar.kind;
        // The other half of a bitwise operation's operand can be such that it changes nothing.
        let bitwise = match op {
            AtomicOp::And => Some(AtomicFunction::And),
            AtomicOp::Or => Some(AtomicFunction::InclusiveOr),
            AtomicOp::Xor => Some(AtomicFunction::ExclusiveOr),
            _ => None,
        };
        let old = match bitwise {
            Some(fun) => {
                let mut pair = self.shifted_up(operand, first);
                if op == AtomicOp::And {
                    let others = self.others(first, u32::MAX);
                    pair = self.binary(BinaryOperator::InclusiveOr, pair, others);
                }
                let pair = self.bits_as(pair, ScalarKind::Uint, kind);
                self.atomic_function(memory, fun, pair)
            }
            None => self.atomic_update(memory, |emitter, pair| {
                let pair = emitter.bits_as(pair, kind, ScalarKind::Uint);
                let old = emitter.shifted_down(pair, first);
                let new = emitter.changed(op, old, operand, compare);
                let new = emitter.with_bits(pair, first, u32::MAX, new);
                emitter.bits_as(new, ScalarKind::Uint, kind)
            }),
        };
        let old = self.bits_as(old, kind, ScalarKind::Uint);
        Ok(self.shifted_down(old, first))
    }

    /// What an atomic operation makes of a word; all of them `u32`.
    fn changed(&mut self, op: AtomicOp, old: Expr, operand: Expr, compare: Option<Expr>) -> Expr {
        let signed = |emitter: &mut Self, fun| {
            let operands = [old, operand].map(|value| emitter.bits_as(value, ScalarKind::Uint, ScalarKind::Sint));
            let value = emitter.math(fun, &operands);
            emitter.bits_as(value, ScalarKind::Sint, ScalarKind::Uint)
        };
        match op {
            AtomicOp::Add => self.binary(BinaryOperator::Add, old, operand),
            AtomicOp::And => self.binary(BinaryOperator::And, old, operand),
            AtomicOp::Or => self.binary(BinaryOperator::InclusiveOr, old, operand),
            AtomicOp::Xor => self.binary(BinaryOperator::ExclusiveOr, old, operand),
            AtomicOp::UMin => self.math(MathFunction::Min, &[old, operand]),
            AtomicOp::UMax => self.math(MathFunction::Max, &[old, operand]),
            AtomicOp::SMin => signed(self, MathFunction::Min),
            AtomicOp::SMax => signed(self, MathFunction::Max),
            AtomicOp::Exchange | AtomicOp::CompareExchange => match compare {
                Some(compare) => {
                    let equal = self.binary(BinaryOperator::Equal, old, compare);
                    self.select(equal, operand, old)
                }
                None => operand,
            },
        }
    }

    /// The atomic that holds a word which exists.
    fn holder(&mut self, place: &Place, word: Expr) -> Holder {
        let first_bit = place.is_wide().then(|| self.first_bit(word));
        let pointer = self.element_of(place, word);
        let scalar = place.atomic.unwrap_or(Scalar::U32);
        Holder { memory: AtomicMemory { pointer, scalar }, first_bit }
    }

    /// Pointer to the element that holds a word.
    fn element_of(&mut self, place: &Place, word: Expr) -> Expr {
        let index = if place.is_wide() { self.shifted_right(word, 1) } else { word };
        self.val(Expression::Access { base: place.array, index })
    }

    /// The element that holds a word, unsigned.
    fn read_element(&mut self, place: &Place, word: Expr) -> Expr {
        let pointer = self.element_of(place, word);
        let value = self.load(pointer);
        self.bits_as(value, place.kind(), ScalarKind::Uint)
    }

    /// Writes all of the element that holds a word, unsigned.
    fn write_element(&mut self, place: &Place, word: Expr, value: Expr) {
        let pointer = self.element_of(place, word);
        let value = self.bits_as(value, ScalarKind::Uint, place.kind());
        self.store(pointer, value);
    }

    /// Writes a word that exists, `u32`.
    fn write_word(&mut self, place: &Place, word: Expr, value: Expr) {
        let Holder { memory, first_bit } = self.holder(place, word);
        match first_bit {
            Some(first) => self.replace_bits(memory, first, u32::MAX, value),
            None => {
                let value = self.bits_as(value, ScalarKind::Uint, memory.scalar.kind);
                self.store(memory.pointer, value);
            }
        }
    }

    /// Replaces bits of an atomic: those of a mask, moved up by `shift`.
    fn replace_bits(&mut self, memory: AtomicMemory, shift: Expr, mask: u32, bits: Expr) {
        let kind = memory.scalar.kind;
        self.atomic_update(memory, |emitter, old| {
            let old = emitter.bits_as(old, kind, ScalarKind::Uint);
            let new = if memory.scalar.width == 8 {
                emitter.with_bits(old, shift, mask, bits)
            } else {
                let mask = emitter.u32(mask);
                let mask = emitter.binary(BinaryOperator::ShiftLeft, mask, shift);
                let keep = emitter.unary(UnaryOperator::BitwiseNot, mask);
                let kept = emitter.binary(BinaryOperator::And, old, keep);
                let bits = emitter.binary(BinaryOperator::ShiftLeft, bits, shift);
                emitter.binary(BinaryOperator::InclusiveOr, kept, bits)
            };
            emitter.bits_as(new, ScalarKind::Uint, kind)
        });
    }

    /// A `u64` with bits replaced: those of a mask, moved up by `shift`.
    fn with_bits(&mut self, pair: Expr, shift: Expr, mask: u32, bits: Expr) -> Expr {
        let others = self.others(shift, mask);
        let kept = self.binary(BinaryOperator::And, pair, others);
        let bits = self.shifted_up(bits, shift);
        self.binary(BinaryOperator::InclusiveOr, kept, bits)
    }

    /// All bits of a `u64` but those of a mask, moved up by `shift`.
    fn others(&mut self, shift: Expr, mask: u32) -> Expr {
        let mask = self.literal(Scalar::U64, u64::from(mask));
        let mask = self.binary(BinaryOperator::ShiftLeft, mask, shift);
        self.unary(UnaryOperator::BitwiseNot, mask)
    }

    /// A `u32` as a `u64`, moved up.
    fn shifted_up(&mut self, bits: Expr, shift: Expr) -> Expr {
        let bits = self.convert(bits, Scalar::U64);
        self.binary(BinaryOperator::ShiftLeft, bits, shift)
    }

    /// The 32 bits of a `u64` from `first` up.
    fn shifted_down(&mut self, pair: Expr, first: Expr) -> Expr {
        let pair = self.binary(BinaryOperator::ShiftRight, pair, first);
        self.convert(pair, Scalar::U32)
    }

    /// The word that the element which holds it has, `u32`.
    fn half_of(&mut self, pair: Expr, word: Expr) -> Expr {
        let first = self.first_bit(word);
        self.shifted_down(pair, first)
    }

    /// Lowest bit of a word in its pair: 0 or 32.
    fn first_bit(&mut self, word: Expr) -> Expr {
        match self.literal_of(word) {
            Some(word) => self.u32((word & 1) * 32),
            None => {
                let one = self.u32(1);
                let odd = self.binary(BinaryOperator::And, word, one);
                self.times(odd, 32)
            }
        }
    }

    /// The word is the second of its pair.
    fn is_odd(&mut self, word: Expr) -> Expr {
        let one = self.u32(1);
        let odd = self.binary(BinaryOperator::And, word, one);
        self.binary(BinaryOperator::Equal, odd, one)
    }
}
