//! The LLVM bitstream: blocks and records of any bytes, without a module made of them.
//!
//! The first byte of the input says which blocks are entered and which are skipped, the rest is the stream.

#![no_main]

use bevy_dxshader::dxil::bitcode::{Entry, Reader, Record};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&skips, bitcode)) = input.split_first() else { return };
    let Ok(mut reader) = Reader::new(bitcode) else { return };
    let mut record = Record::default();
    let mut blocks = 0u32;
    // The stream itself is a block that has no end.
    while let Ok(entry) = reader.next(&mut record) {
        match entry {
            Entry::Block(_) => {
                blocks += 1;
                let skip = skips >> (blocks % 8) & 1 != 0;
                if if skip { reader.skip() } else { reader.enter() }.is_err() {
                    return;
                }
            }
            Entry::Record => {
                assert!(record.offset <= bitcode.len(), "record behind the end of the stream");
                let _ = (record.operand(0), record.index(1), record.text(2));
            }
            Entry::End => {}
        }
    }
});
