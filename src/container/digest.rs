//! The digest of a container.
//!
//! It is MD5 with another last block: where MD5 ends the message with a 64-bit length, this puts the length in bits into
//! the *first* word of the last block and `length in bits / 4 | 1` into its last word. It covers everything from byte 20
//! on, that is, all but magic and digest.

/// The first byte that the digest covers.
pub(super) const FIRST_BYTE: usize = 20;

/// How a container's stored digest relates to its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DigestState {
    /// It is that of the contents.
    Ok,
    /// All zeros: the compiler did not sign the container.
    Zero,
    /// The mark that stands for "do not check" (all bytes 1).
    Bypass,
    /// The mark of a preview Shader Model (all bytes 2).
    Preview,
    /// Something else: the contents were changed after signing.
    Stale,
}

impl DigestState {
    /// A word for people and tools.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Zero => "zero",
            Self::Bypass => "bypass",
            Self::Preview => "preview",
            Self::Stale => "stale",
        }
    }

    /// These bytes stand in place of a digest.
    pub(super) fn is_mark(stored: [u8; 16]) -> bool {
        [[0; 16], [1; 16], [2; 16]].contains(&stored)
    }
}

/// Relates a stored digest to the bytes that it covers.
pub(super) fn state(stored: [u8; 16], covered: &[u8]) -> DigestState {
    match stored {
        [0, ..] if stored == [0; 16] => DigestState::Zero,
        [1, ..] if stored == [1; 16] => DigestState::Bypass,
        [2, ..] if stored == [2; 16] => DigestState::Preview,
        _ if stored == digest(covered) => DigestState::Ok,
        _ => DigestState::Stale,
    }
}

/// The digest of a container whose bytes from offset 20 on are `covered`.
pub fn digest(covered: &[u8]) -> [u8; 16] {
    let mut state = INITIAL;
    let (blocks, rest) = covered.as_chunks::<64>();
    for block in blocks {
        mix(&mut state, block);
    }
    let bits = (covered.len() as u32).wrapping_mul(8);
    let mut last = [0; 64];
    if rest.len() >= 56 {
        // No room for both words beside the rest: it is closed as in MD5, and the words get a block of their own.
        last[..rest.len()].copy_from_slice(rest);
        last[rest.len()] = 0x80;
        mix(&mut state, &last);
        last = [0; 64];
    } else {
        last[4..4 + rest.len()].copy_from_slice(rest);
        last[4 + rest.len()] = 0x80;
    }
    last[..4].copy_from_slice(&bits.to_le_bytes());
    last[60..].copy_from_slice(&(bits >> 2 | 1).to_le_bytes());
    mix(&mut state, &last);
    bytes_of(state)
}

/// MD5 (RFC 1321) itself, which `HASH` parts hold.
pub(super) fn md5(message: &[u8]) -> [u8; 16] {
    let mut state = INITIAL;
    let (blocks, rest) = message.as_chunks::<64>();
    for block in blocks {
        mix(&mut state, block);
    }
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    if rest.len() >= 56 {
        mix(&mut state, &last);
        last = [0; 64];
    }
    last[56..].copy_from_slice(&(message.len() as u64).wrapping_mul(8).to_le_bytes());
    mix(&mut state, &last);
    bytes_of(state)
}

/// Where the state of MD5 begins.
const INITIAL: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

fn bytes_of(state: [u32; 4]) -> [u8; 16] {
    let mut digest = [0; 16];
    for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_le_bytes();
    }
    digest
}

/// MD5's compression function (RFC 1321, 3.4).
fn mix(state: &mut [u32; 4], block: &[u8; 64]) {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let [mut a, mut b, mut c, mut d] = *state;
    for (step, constant) in SINES.into_iter().enumerate() {
        let (mixed, word, rotations) = match step / 16 {
            0 => (b & c | !b & d, step, [7, 12, 17, 22]),
            1 => (d & b | !d & c, 5 * step + 1, [5, 9, 14, 20]),
            2 => (b ^ c ^ d, 3 * step + 5, [4, 11, 16, 23]),
            _ => (c ^ (b | !d), 7 * step, [6, 10, 15, 21]),
        };
        let sum = a.wrapping_add(mixed).wrapping_add(constant).wrapping_add(words[word % 16]);
        (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(rotations[step % 4])));
    }
    for (total, word) in state.iter_mut().zip([a, b, c, d]) {
        *total = total.wrapping_add(word);
    }
}

/// `floor(2^32 * |sin(i + 1)|)`.
const SINES: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_apart() {
        assert_eq!(state([0; 16], b"x"), DigestState::Zero);
        assert_eq!(state([1; 16], b"x"), DigestState::Bypass);
        assert_eq!(state([2; 16], b"x"), DigestState::Preview);
        assert_eq!(state([3; 16], b"x"), DigestState::Stale);
        assert_eq!(state(digest(b"x"), b"x"), DigestState::Ok);
        assert_eq!(state(digest(b"x"), b"y"), DigestState::Stale);
    }

    /// The test suite of RFC 1321.
    #[test]
    fn md5_of_the_rfc() {
        let hex = |message: &str| md5(message.as_bytes()).map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
        let digits = "1234567890".repeat(8);
        assert_eq!(hex(&digits), "57edf4a22be3c955ac49da2e2107b67a");
        assert_eq!(hex(&digits[..62]).len(), 32);
    }

    #[test]
    fn constants_are_sines() {
        for (index, constant) in SINES.into_iter().enumerate() {
            let sine = ((index + 1) as f64).sin().abs() * 2f64.powi(32);
            assert_eq!(constant, sine as u32);
        }
    }
}
