//! Buffers and constant buffers: a 64-bit integer is two words, the low one first.

use super::{Lowering, Pair, refuse};
use crate::{
    Error, Result,
    ir::{BinaryOp, BufferAddress, Op, Scalar, Type, Value},
};

/// Most 64-bit integers that one load or store of words carries.
const AT_ONCE: u8 = 2;

impl Lowering<'_, '_, '_> {
    /// [`Op::LoadConstant`] or [`Op::LoadBuffer`].
    pub(super) fn load(&mut self, op: Op, ty: Type) -> Result<Pair> {
        let mut lanes = Vec::new();
        let mut first = 0;
        while first < ty.lanes() {
            let count = (ty.lanes() - first).min(AT_ONCE);
            let op = match op {
                Op::LoadBuffer { handle, address } => {
                    let address = self.further(address, first).ok_or_else(|| refuse("64-bit integers", &op))?;
                    Op::LoadBuffer { handle, address }
                }
                Op::LoadConstant { handle, row, offset } if first == 0 => Op::LoadConstant { handle, row, offset },
                _ => return Err(Error::internal("a row of a constant buffer holds two 64-bit integers")),
            };
            let words = self.build().push(op, Type::new(Scalar::I32, 2 * count));
            let mut build = self.build();
            for lane in 0..count {
                lanes.push(Pair { low: build.extract(words, 2 * lane), high: build.extract(words, 2 * lane + 1) });
            }
            first += count;
        }
        Ok(self.join(&lanes))
    }

    /// [`Op::StoreBuffer`]; all but the last part are stored already.
    pub(super) fn store(&mut self, handle: Value, address: BufferAddress, value: Value) -> Result<Op> {
        let pair = self.pair(value)?;
        let lanes = self.ty(pair.low).lanes();
        let mut first = 0;
        loop {
            let count = (lanes - first).min(AT_ONCE);
            let mut build = self.build();
            let mut words = Vec::new();
            for lane in first..first + count {
                words.extend([build.extract(pair.low, lane), build.extract(pair.high, lane)]);
            }
            let value = build.compose(&words);
            let address = self.further(address, first);
            let address = address.ok_or_else(|| Error::unsupported("typed buffer of 64-bit integers"))?;
            let store = Op::StoreBuffer { handle, address, value };
            first += count;
            if first == lanes {
                return Ok(store);
            }
            self.build().effect(store);
        }
    }

    /// The address so many 64-bit integers further on; none if it is that of a texel.
    fn further(&mut self, address: BufferAddress, integers: u8) -> Option<BufferAddress> {
        let mut build = self.build();
        let mut plus = |address: Value| {
            if integers == 0 {
                return address;
            }
            let bytes = build.i32(8 * u32::from(integers));
            build.binary(BinaryOp::IAdd, address, bytes)
        };
        match address {
            BufferAddress::Byte(byte) => Some(BufferAddress::Byte(plus(byte))),
            BufferAddress::Structured(element, byte) => Some(BufferAddress::Structured(element, plus(byte))),
            BufferAddress::Element(_) => None,
        }
    }
}
