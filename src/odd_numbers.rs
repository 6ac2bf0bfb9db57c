//! Numbers for tests: random ones with many odd ones among them, and rounding that no library has.

/// Numbers that look random, the same in each run.
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    /// Any 64 bits.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        // SplitMix64: Steele, Lea, Flood, 2014.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Any bits, few bits, or near the ends.
    pub fn integer(&mut self) -> u64 {
        let bits = self.next();
        match self.next() % 5 {
            0 => bits,
            1 => bits >> (self.next() % 64),
            2 => (bits as i64 >> (self.next() % 64)) as u64,
            3 => 1_u64.rotate_left(bits as u32).wrapping_add(self.next() % 3).wrapping_sub(1),
            _ => bits % 5,
        }
    }

    /// Doubles of which many are near one another, denormal, or halves of the last place.
    pub fn double(&mut self) -> u64 {
        let sign = self.next() << 63;
        let fraction = match self.next() % 4 {
            0 => self.next(),
            1 => 0,
            2 => u64::MAX << (self.next() % 52),
            _ => 1 << (self.next() % 52),
        } & ((1 << 52) - 1);
        let exponent = match self.next() % 6 {
            0 => self.next() % 0x800,
            1 => self.next() % 60,
            2 => 0x7fe - self.next() % 60,
            3 => 0x7ff * (self.next() % 2),
            _ => 1023 + self.next() % 130 - 65,
        };
        sign | exponent << 52 | fraction
    }

    /// Halves of which many are denormal, or near the ends.
    pub fn half(&mut self) -> half::f16 {
        let bits = self.next();
        let exponent = match self.next() % 4 {
            0 => bits >> 40 & 0x1f,
            1 => 0,
            2 => 0x1f - (bits >> 40 & 1),
            _ => 11 + (bits >> 40 & 7),
        };
        half::f16::from_bits(((bits >> 20) & 0x83ff | exponent << 10) as u16)
    }
}

/// A double's nearest half. (`half`'s own conversion leaves out the lower bits of the double.)
pub fn nearest_half(number: f64) -> half::f16 {
    let mut single = number as f32;
    if f64::from(single) != number && single.to_bits() & 1 == 0 {
        // Made odd, it is no half-way case when it is rounded again.
        let away = f64::from(single).abs() < number.abs();
        single = f32::from_bits(if away { single.to_bits() + 1 } else { single.to_bits() - 1 });
    }
    half::f16::from_f32(single)
}

/// An integer as a double, made odd in its last place if it is not exact.
pub fn nearest_odd(integer: i128) -> f64 {
    let magnitude = integer.unsigned_abs();
    let shift = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let kept = magnitude >> shift;
    let odd = if kept << shift == magnitude { kept } else { kept | 1 };
    odd as f64 * f64::from(shift).exp2() * if integer < 0 { -1.0 } else { 1.0 }
}
