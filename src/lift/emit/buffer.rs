//! Raw, structured and typed buffers: `u32` words, with a guard on each.

use naga::{BinaryOperator, Expression, Literal, MathFunction, Scalar, ScalarKind};

use super::{
    Emission, FunctionEmitter,
    buffer_word::{Limit, Place},
    expression::Expr,
    format::{Numeric, Texel},
    io::scalar32,
    resources::{Buffer, BufferView},
    words::{Pieces, pieces_of},
};
use crate::{
    Error, Result,
    ir::{self, BufferAddress, Value},
};

impl FunctionEmitter<'_, '_> {
    /// `value + constant`, wrapping.
    pub(super) fn plus(&mut self, value: Expr, constant: u32) -> Expr {
        match (self.literal_of(value), constant) {
            (_, 0) => value,
            (Some(value), constant) => self.u32(value.wrapping_add(constant)),
            (None, constant) => {
                let constant = self.u32(constant);
                self.binary(BinaryOperator::Add, value, constant)
            }
        }
    }

    /// `value * constant`, wrapping.
    pub(super) fn times(&mut self, value: Expr, constant: u32) -> Expr {
        match (self.literal_of(value), constant) {
            (_, 1) => value,
            (Some(value), constant) => self.u32(value.wrapping_mul(constant)),
            (None, constant) => {
                let constant = self.u32(constant);
                self.binary(BinaryOperator::Multiply, value, constant)
            }
        }
    }

    /// `value >> count`, for a count below 32.
    pub(super) fn shifted_right(&mut self, value: Expr, count: u32) -> Expr {
        match self.literal_of(value) {
            Some(value) => self.u32(value >> count),
            None => {
                let count = self.u32(count);
                self.binary(BinaryOperator::ShiftRight, value, count)
            }
        }
    }

    /// The value of a `u32` literal.
    pub(super) fn literal_of(&self, value: Expr) -> Option<u32> {
        match self.function.expressions[value] {
            Expression::Literal(Literal::U32(value)) => Some(value),
            _ => None,
        }
    }

    /// An operand as `u32`, unless it is a constant.
    fn address_part(&mut self, value: Value) -> Result<(Expr, Option<u32>)> {
        let constant = self.ir.as_scalar_constant(value).map(|bits| bits as u32);
        let expr = match constant {
            Some(constant) => self.u32(constant),
            None => self.get_as(value, ScalarKind::Uint)?,
        };
        Ok((expr, constant))
    }

    /// Number of elements of so many bytes in a buffer.
    fn element_count(&mut self, buffer: Buffer, array: Expr, bytes: u32) -> Expr {
        if buffer.is_wide() && bytes.is_multiple_of(8) {
            let pairs = self.val(Expression::ArrayLength(array));
            return match bytes {
                8 => pairs,
                _ => {
                    let size = self.u32(bytes / 8);
                    self.binary(BinaryOperator::Divide, pairs, size)
                }
            };
        }
        let words = self.word_count(array, buffer.is_wide());
        match bytes {
            4 => words,
            _ if bytes.is_multiple_of(4) => {
                let size = self.u32(bytes / 4);
                self.binary(BinaryOperator::Divide, words, size)
            }
            // Fewer words than a quarter of the address space, so that their bytes can be counted.
            _ => {
                let all = self.times(words, 4);
                let size = self.u32(bytes);
                self.binary(BinaryOperator::Divide, all, size)
            }
        }
    }

    /// The place of whole words, of raw or structured buffers.
    pub(super) fn place(&mut self, buffer: Buffer, array: Expr, address: BufferAddress) -> Result<Place> {
        let atomic = buffer.atomic;
        match (buffer.view, address) {
            (BufferView::Raw, BufferAddress::Byte(address)) => {
                let (address, constant) = self.address_part(address)?;
                let word = self.shifted_right(address, 2);
                let aligned = constant.is_some_and(|constant| constant >> 2 & 1 == 0);
                Ok(Place { array, atomic, word, aligned, limit: Some(Limit::Wraps(address)), valid: None })
            }
            (BufferView::Structured(stride), BufferAddress::Structured(element, offset)) => {
                let (element, _) = self.address_part(element)?;
                let (offset, constant) = self.address_part(offset)?;
                let count = self.element_count(buffer, array, stride);
                let valid = Some(self.binary(BinaryOperator::Less, element, count));
                if !stride.is_multiple_of(4) {
                    // Words may lie across elements: the buffer's end is the only limit.
                    let first = self.times(element, stride);
                    let byte = self.binary(BinaryOperator::Add, first, offset);
                    let word = self.shifted_right(byte, 2);
                    return Ok(Place { array, atomic, word, aligned: false, limit: None, valid });
                }
                let words = stride / 4;
                let first = self.times(element, words);
                Ok(match constant {
                    Some(constant) => {
                        let word = self.plus(first, constant >> 2);
                        let limit = Some(Limit::Words(words.saturating_sub(constant >> 2)));
                        let aligned = words.is_multiple_of(2) && constant >> 2 & 1 == 0;
                        Place { array, atomic, word, aligned, limit, valid }
                    }
                    None => {
                        let within = self.shifted_right(offset, 2);
                        let word = self.binary(BinaryOperator::Add, first, within);
                        let limit = Some(Limit::Computed(within, words));
                        Place { array, atomic, word, aligned: false, limit, valid }
                    }
                })
            }
            (view, address) => {
                Err(Error::malformed(format!("address does not fit the buffer: {address:?} of {view:?}")))
            }
        }
    }

    /// A value at a place; `half` is the first half of the first word, for values of halves.
    pub(super) fn load_pieces_at(
        &mut self,
        place: &Place,
        half: u32,
        pieces: Pieces,
        ty: ir::Type,
    ) -> Result<Emission> {
        let lanes = u32::from(ty.lanes());
        let count = match pieces {
            Pieces::Words => lanes,
            Pieces::Pairs => {
                let pairs: Vec<Expr> = (0..lanes).map(|lane| self.load_pair(place, lane * 2)).collect();
                return self.value_of_pairs(&pairs, ty);
            }
            Pieces::Halves => (half + lanes).div_ceil(2),
        };
        let words: Vec<Expr> = (0..count).map(|index| self.load_word(place, index)).collect();
        if pieces == Pieces::Halves {
            let halves = self.split_halves(&words);
            let first = half as usize;
            return self.value_of_halves(&halves[first..first + lanes as usize], ty);
        }
        self.value_of_words(&words, ty)
    }

    /// [`ir::Op::LoadBuffer`].
    pub(super) fn load_buffer(&mut self, handle: Value, address: BufferAddress, ty: ir::Type) -> Result<Emission> {
        let (buffer, array) = self.bound_buffer(handle)?;
        if let (BufferView::Typed(texel), BufferAddress::Element(element)) = (buffer.view, address) {
            return self.load_texel(buffer, array, texel, element, ty);
        }
        let pieces = pieces_of(ty)?;
        if pieces != Pieces::Halves {
            let place = self.place(buffer, array, address)?;
            return self.load_pieces_at(&place, 0, pieces, ty);
        }
        let halves: Vec<Expr> = (0..u32::from(ty.lanes()))
            .map(|lane| {
                let (place, shift) = self.half_place(buffer, array, address, lane)?;
                let word = self.load_word(&place, 0);
                let half = self.binary(BinaryOperator::ShiftRight, word, shift);
                let mask = self.u32(0xffff);
                Ok(self.binary(BinaryOperator::And, half, mask))
            })
            .collect::<Result<_>>()?;
        self.value_of_halves(&halves, ty)
    }

    /// [`ir::Op::StoreBuffer`].
    pub(super) fn store_buffer(&mut self, handle: Value, address: BufferAddress, value: Value) -> Result<()> {
        let (buffer, array) = self.bound_buffer(handle)?;
        if let (BufferView::Typed(texel), BufferAddress::Element(element)) = (buffer.view, address) {
            return self.store_texel(buffer, array, texel, element, value);
        }
        match pieces_of(self.ir.ty(value))? {
            Pieces::Words => {
                let place = self.place(buffer, array, address)?;
                let words = self.words_of(value)?;
                for (index, word) in (0..).zip(words) {
                    self.store_word(&place, index, word);
                }
            }
            Pieces::Pairs => {
                let place = self.place(buffer, array, address)?;
                let pairs = self.pairs_of(value)?;
                for (lane, pair) in (0..).zip(pairs) {
                    self.store_pair(&place, lane * 2, pair);
                }
            }
            Pieces::Halves => {
                let halves = self.halves_of(value)?;
                for (lane, half) in (0..).zip(halves) {
                    let (place, shift) = self.half_place(buffer, array, address, lane)?;
                    self.store_bits(&place, 0, shift, 0xffff, half);
                }
            }
        }
        Ok(())
    }

    /// The word of the `lane`th half at an address, and the half's lowest bit in it.
    fn half_place(&mut self, buffer: Buffer, array: Expr, address: BufferAddress, lane: u32) -> Result<(Place, Expr)> {
        let (byte, valid) = match (buffer.view, address) {
            (BufferView::Raw, BufferAddress::Byte(address)) => (self.address_part(address)?.0, None),
            (BufferView::Structured(stride), BufferAddress::Structured(element, offset)) => {
                let (element, _) = self.address_part(element)?;
                let (offset, _) = self.address_part(offset)?;
                let count = self.element_count(buffer, array, stride);
                let valid = self.binary(BinaryOperator::Less, element, count);
                let within = self.plus(offset, lane * 2);
                let size = self.u32(stride);
                let within = self.binary(BinaryOperator::Less, within, size);
                let first = self.times(element, stride);
                (self.binary(BinaryOperator::Add, first, offset), self.both(Some(valid), Some(within)))
            }
            (view, address) => {
                return Err(Error::malformed(format!("address does not fit the buffer: {address:?} of {view:?}")));
            }
        };
        let byte = self.plus(byte, lane * 2);
        let word = self.shifted_right(byte, 2);
        let two = self.u32(2);
        let within = self.binary(BinaryOperator::And, byte, two);
        let shift = self.times(within, 8);
        Ok((Place { array, atomic: buffer.atomic, word, aligned: false, limit: None, valid }, shift))
    }

    /// The place of an element of a typed buffer, and the lowest bit of the element in its first word.
    fn texel_place(
        &mut self,
        buffer: Buffer,
        array: Expr,
        texel: Texel,
        element: Value,
    ) -> Result<(Place, Option<Expr>)> {
        let (element, _) = self.address_part(element)?;
        let bytes = texel.bytes();
        let count = self.element_count(buffer, array, bytes);
        let valid = Some(self.binary(BinaryOperator::Less, element, count));
        let atomic = buffer.atomic;
        if bytes.is_multiple_of(4) {
            let word = self.times(element, bytes / 4);
            let limit = Some(Limit::Words(bytes / 4));
            let place = Place { array, atomic, word, aligned: bytes.is_multiple_of(8), limit, valid };
            return Ok((place, None));
        }
        let byte = self.times(element, bytes);
        let word = self.shifted_right(byte, 2);
        let three = self.u32(3);
        let within = self.binary(BinaryOperator::And, byte, three);
        let shift = self.times(within, 8);
        Ok((Place { array, atomic, word, aligned: false, limit: Some(Limit::Words(1)), valid }, Some(shift)))
    }

    /// An element of a typed buffer.
    fn load_texel(
        &mut self,
        buffer: Buffer,
        array: Expr,
        texel: Texel,
        element: Value,
        ty: ir::Type,
    ) -> Result<Emission> {
        let (place, shift) = self.texel_place(buffer, array, texel, element)?;
        let kind = texel.numeric.kind();
        let mut lanes = Vec::new();
        for component in 0..usize::from(ty.lanes()) {
            let lane = match texel.channel(component) {
                Some(channel) => {
                    let first = texel.first_bit(channel);
                    let word = self.load_word(&place, first / 32);
                    let shift = match shift {
                        Some(shift) => self.plus(shift, first),
                        None => self.u32(first % 32),
                    };
                    self.decode(word, shift, texel.bits[channel], texel.numeric)
                }
                None if component == 3 => {
                    // Out of range too: the format does not have it.
                    self.one(kind)
                }
                None => {
                    let ty = self.module.numeric(scalar32(kind), 1);
                    self.zero(ty)
                }
            };
            lanes.push(lane);
        }
        let value = self.vector_of(scalar32(kind), &lanes);
        self.value_of_register(value, kind, ty)
    }

    /// One channel of a word: its bits from `shift` up.
    fn decode(&mut self, word: Expr, shift: Expr, bits: u8, numeric: Numeric) -> Expr {
        if bits == 32 {
            return self.bits_as(word, ScalarKind::Uint, numeric.kind());
        }
        let width = self.u32(u32::from(bits));
        let signed = matches!(numeric, Numeric::Sint | Numeric::Snorm);
        let word = if signed { self.bits_as(word, ScalarKind::Uint, ScalarKind::Sint) } else { word };
        let field = self.val(Expression::Math {
            fun: MathFunction::ExtractBits,
            arg: word,
            arg1: Some(shift),
            arg2: Some(width),
            arg3: None,
        });
        match numeric {
            Numeric::Uint | Numeric::Sint => field,
            Numeric::Unorm | Numeric::Snorm => {
                let value = self.convert(field, Scalar::F32);
                let largest = self.f32(largest(bits, numeric));
                let value = self.binary(BinaryOperator::Divide, value, largest);
                if numeric == Numeric::Unorm {
                    return value;
                }
                let least = self.f32(-1.0);
                self.math(MathFunction::Max, &[value, least])
            }
            Numeric::Float => {
                // 10 and 11 bits: halves without a sign and the lowest bits of the mantissa.
                let half = if bits == 16 { field } else { self.times(field, 1 << (15 - bits)) };
                self.half_to_float(half)
            }
        }
    }

    /// The bits of a channel, the upper ones zero. Values out of range give the nearest that the channel has.
    fn encode(&mut self, value: Expr, bits: u8, numeric: Numeric) -> Expr {
        if bits == 32 {
            return self.bits_as(value, numeric.kind(), ScalarKind::Uint);
        }
        let mask = self.u32((1 << bits) - 1);
        match numeric {
            Numeric::Uint => self.min(value, mask),
            Numeric::Sint => {
                let (least, most) = (self.i32(-1 << (bits - 1)), self.i32((1 << (bits - 1)) - 1));
                let value = self.math(MathFunction::Max, &[value, least]);
                let value = self.min(value, most);
                let value = self.bits_as(value, ScalarKind::Sint, ScalarKind::Uint);
                self.binary(BinaryOperator::And, value, mask)
            }
            Numeric::Unorm | Numeric::Snorm => {
                let least = self.f32(if numeric == Numeric::Unorm { 0.0 } else { -1.0 });
                let (zero, one) = (self.f32(0.0), self.f32(1.0));
                // NaN gives 0.
                let number = self.binary(BinaryOperator::Equal, value, value);
                let value = self.select(number, value, zero);
                let value = self.math(MathFunction::Max, &[value, least]);
                let value = self.math(MathFunction::Min, &[value, one]);
                let largest = self.f32(largest(bits, numeric));
                let value = self.binary(BinaryOperator::Multiply, value, largest);
                let value = self.math(MathFunction::Round, &[value]);
                let value = self.convert(value, Scalar::I32);
                let value = self.bits_as(value, ScalarKind::Sint, ScalarKind::Uint);
                self.binary(BinaryOperator::And, value, mask)
            }
            Numeric::Float if bits == 16 => self.float_to_half(value),
            Numeric::Float => {
                let zero = self.f32(0.0);
                let positive = self.math(MathFunction::Max, &[value, zero]);
                let half = self.float_to_half(positive);
                self.shifted_right(half, 15 - u32::from(bits))
            }
        }
    }

    /// Writes an element of a typed buffer.
    fn store_texel(&mut self, buffer: Buffer, array: Expr, texel: Texel, element: Value, value: Value) -> Result<()> {
        let ty = self.ir.ty(value);
        let kind = texel.numeric.kind();
        let value = self.lanes_for_register(value, ty, kind)?;
        let given = self.lanes(value, ty.lanes());
        let (place, shift) = self.texel_place(buffer, array, texel, element)?;
        let words = texel.bytes().div_ceil(4);
        for index in 0..words {
            let mut word = None;
            for component in 0..4 {
                let Some(channel) = texel.channel(component) else { continue };
                let first = texel.first_bit(channel);
                if first / 32 != index {
                    continue;
                }
                let lane = match given.get(component) {
                    Some(&lane) => lane,
                    None => {
                        let ty = self.module.numeric(scalar32(kind), 1);
                        self.zero(ty)
                    }
                };
                let mut bits = self.encode(lane, texel.bits[channel], texel.numeric);
                if !first.is_multiple_of(32) {
                    let count = self.u32(first % 32);
                    bits = self.binary(BinaryOperator::ShiftLeft, bits, count);
                }
                word = Some(match word {
                    Some(word) => self.binary(BinaryOperator::InclusiveOr, word, bits),
                    None => bits,
                });
            }
            let Some(word) = word else { continue };
            match shift {
                Some(shift) => {
                    let mask = ((1u64 << (texel.bytes() * 8)) - 1) as u32;
                    self.store_bits(&place, index, shift, mask, word);
                }
                None => self.store_word(&place, index, word),
            }
        }
        Ok(())
    }

    /// [`ir::Op::BufferSize`].
    pub(super) fn buffer_size(&mut self, handle: Value) -> Result<Emission> {
        let (buffer, array) = self.bound_buffer(handle)?;
        let expr = match buffer.view {
            BufferView::Raw => {
                let words = self.word_count(array, buffer.is_wide());
                self.times(words, 4)
            }
            BufferView::Structured(stride) => self.element_count(buffer, array, stride),
            BufferView::Typed(texel) => self.element_count(buffer, array, texel.bytes()),
        };
        Ok(Emission { expr, kind: ScalarKind::Uint })
    }

    /// The place of an element of a typed buffer that is one integer, or of any word of the others: for atomics.
    pub(super) fn atomic_place(&mut self, buffer: Buffer, array: Expr, address: BufferAddress) -> Result<Place> {
        match (buffer.view, address) {
            (BufferView::Typed(texel), BufferAddress::Element(element)) => {
                let size = if buffer.is_wide() { 8 } else { 4 };
                if texel.bits[0] != 32
                    || buffer.is_wide() && texel.bytes() != size
                    || texel.numeric.kind() == ScalarKind::Float && buffer.atomic.is_none()
                {
                    return Err(Error::unsupported(format!("atomic operation on texels: {texel:?}")));
                }
                Ok(self.texel_place(buffer, array, texel, element)?.0)
            }
            _ => self.place(buffer, array, address),
        }
    }
}

/// The largest number of a normalized channel, which stands for 1.
fn largest(bits: u8, numeric: Numeric) -> f32 {
    let bits = if numeric == Numeric::Snorm { bits - 1 } else { bits };
    ((1u32 << bits) - 1) as f32
}
