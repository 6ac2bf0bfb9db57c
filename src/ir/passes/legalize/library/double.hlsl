// IEEE 754 binary64 in 64-bit integers: rounded to nearest, halves to even; denormals are kept, and every NaN that comes
// out is the quiet one. `build.sh` makes `double.ir` of this file.

static const uint64_t ONE = 1;
static const uint64_t SIGN = ONE << 63;
static const uint64_t MAGNITUDE = SIGN - 1;
static const uint64_t INFINITE = uint64_t(0x7ff) << 52;
static const uint64_t QUIET_NAN = INFINITE | ONE << 51;
static const uint64_t HIDDEN = ONE << 52;
static const uint64_t FRACTION = HIDDEN - 1;

bool is_nan(uint64_t a) {
    return (a & MAGNITUDE) > INFINITE;
}

bool is_zero(uint64_t a) {
    return (a & MAGNITUDE) == 0;
}

uint top_bit(uint64_t a) {
    return uint(firstbithigh(a));
}

// A finite number other than 0: significand * 2^(exponent - 1075).
struct Unpacked {
    int exponent;
    uint64_t significand;
};

// As it is stored: denormals have an exponent of 1, and no leading one at bit 52.
Unpacked unpack(uint64_t a) {
    Unpacked result;
    result.exponent = int(uint(a >> 52) & 0x7ff);
    result.significand = a & FRACTION;
    if (result.exponent == 0) {
        result.exponent = 1;
    } else {
        result.significand |= HIDDEN;
    }
    return result;
}

// With the leading one at bit 52, denormals too.
Unpacked unpack_normal(uint64_t a) {
    Unpacked result = unpack(a);
    uint shift = 52 - top_bit(result.significand);
    result.significand <<= shift;
    result.exponent -= int(shift);
    return result;
}

// What is shifted out stays visible in bit 0.
uint64_t shift_right_sticky(uint64_t a, uint count) {
    if (count > 63) {
        return a != 0 ? 1 : 0;
    }
    uint64_t result = a >> count;
    return result << count == a ? result : result | 1;
}

// Rounds significand * 2^(exponent - 1085), whose leading one is at bit 62, or below if the exponent is 1.
uint64_t round_and_pack(uint64_t sign, int exponent, uint64_t significand) {
    if (exponent >= 0x7ff) {
        return sign | INFINITE;
    }
    if (exponent < 1) {
        significand = shift_right_sticky(significand, uint(1 - exponent));
        exponent = 1;
    }
    uint rest = uint(significand) & 0x3ff;
    significand >>= 10;
    if (rest > 0x200 || (rest == 0x200 && (uint(significand) & 1) != 0)) {
        significand += 1;
    }
    // The significand's leading one adds 1 to the exponent, and so does one that was carried into it.
    return sign | (uint64_t(exponent - 1) << 52) + significand;
}

uint64_t add(uint64_t a, uint64_t b) {
    if ((a & MAGNITUDE) < (b & MAGNITUDE)) {
        uint64_t smaller = a;
        a = b;
        b = smaller;
    }
    bool differ = (a ^ b) >> 63 != 0;
    if ((a & MAGNITUDE) >= INFINITE) {
        bool invalid = is_nan(a) || ((b & MAGNITUDE) == INFINITE && differ);
        return invalid ? QUIET_NAN : a;
    }
    if (is_zero(b)) {
        return is_zero(a) ? a & b : a;
    }
    uint64_t sign = a & SIGN;
    Unpacked x = unpack(a), y = unpack(b);
    x.significand <<= 10;
    y.significand = shift_right_sticky(y.significand << 10, uint(x.exponent - y.exponent));
    if (!differ) {
        uint64_t sum = x.significand + y.significand;
        if (sum >> 63 != 0) {
            return round_and_pack(sign, x.exponent + 1, shift_right_sticky(sum, 1));
        }
        return round_and_pack(sign, x.exponent, sum);
    }
    uint64_t difference = x.significand - y.significand;
    if (difference == 0) {
        return 0;
    }
    uint shift = min(62 - top_bit(difference), uint(x.exponent - 1));
    return round_and_pack(sign, x.exponent - int(shift), difference << shift);
}

struct Wide {
    uint64_t high;
    uint64_t low;
};

Wide multiply_wide(uint64_t a, uint64_t b) {
    uint64_t a_low = uint(a), a_high = a >> 32, b_low = uint(b), b_high = b >> 32;
    uint64_t low = a_low * b_low;
    uint64_t middle = a_high * b_low + (low >> 32);
    uint64_t other = a_low * b_high + uint(middle);
    Wide result;
    result.high = a_high * b_high + (middle >> 32) + (other >> 32);
    result.low = other << 32 | uint(low);
    return result;
}

Wide shift_left_wide(Wide a, uint count) {
    Wide result;
    if (count > 63) {
        result.high = a.low << (count - 64);
        result.low = 0;
    } else {
        // Not a shift by 64.
        result.high = a.high << count | a.low >> 1 >> (63 - count);
        result.low = a.low << count;
    }
    return result;
}

Wide shift_right_sticky_wide(Wide a, uint count) {
    Wide result;
    if (count == 0) {
        return a;
    }
    if (count > 127) {
        result.high = 0;
        result.low = (a.high | a.low) != 0 ? 1 : 0;
    } else if (count > 63) {
        result.high = 0;
        result.low = shift_right_sticky(a.high, count - 64) | (a.low != 0 ? 1 : 0);
    } else {
        uint64_t low = a.low >> count;
        bool lost = low << count != a.low;
        result.high = a.high >> count;
        result.low = low | a.high << 1 << (63 - count) | (lost ? 1 : 0);
    }
    return result;
}

// The product of finite numbers other than 0: its 128 bits have their leading one at bit 126, and stand for
// bits * 2^(exponent - 1149).
struct Product {
    int exponent;
    Wide bits;
};

Product multiply_exact(uint64_t a, uint64_t b) {
    Unpacked x = unpack_normal(a), y = unpack_normal(b);
    Product product;
    product.exponent = x.exponent + y.exponent - 1022;
    product.bits = multiply_wide(x.significand << 10, y.significand << 11);
    if (product.bits.high >> 62 == 0) {
        product.bits = shift_left_wide(product.bits, 1);
        product.exponent -= 1;
    }
    return product;
}

uint64_t multiply(uint64_t a, uint64_t b) {
    uint64_t sign = (a ^ b) & SIGN;
    bool infinite = (a & MAGNITUDE) == INFINITE || (b & MAGNITUDE) == INFINITE;
    bool zero = is_zero(a) || is_zero(b);
    if (is_nan(a) || is_nan(b) || (infinite && zero)) {
        return QUIET_NAN;
    }
    if (infinite || zero) {
        return sign | (infinite ? INFINITE : 0);
    }
    Product product = multiply_exact(a, b);
    return round_and_pack(sign, product.exponent, product.bits.high | (product.bits.low != 0 ? 1 : 0));
}

uint64_t divide(uint64_t a, uint64_t b) {
    uint64_t sign = (a ^ b) & SIGN;
    uint64_t dividend = a & MAGNITUDE, divisor = b & MAGNITUDE;
    bool same = dividend == divisor && (dividend == 0 || dividend == INFINITE);
    if (dividend > INFINITE || divisor > INFINITE || same) {
        return QUIET_NAN;
    }
    if (dividend == INFINITE || divisor == 0) {
        return sign | INFINITE;
    }
    if (dividend == 0 || divisor == INFINITE) {
        return sign;
    }
    Unpacked x = unpack_normal(a), y = unpack_normal(b);
    int exponent = x.exponent - y.exponent + 1023;
    uint64_t remainder = x.significand;
    if (remainder < y.significand) {
        remainder <<= 1;
        exponent -= 1;
    }
    // 55 bits of the quotient: those that are kept, one to round by, and one to spare.
    uint64_t quotient = 0;
    for (uint bit = 0; bit < 55; ++bit) {
        quotient <<= 1;
        if (remainder >= y.significand) {
            remainder -= y.significand;
            quotient |= 1;
        }
        remainder <<= 1;
    }
    return round_and_pack(sign, exponent, quotient << 8 | (remainder != 0 ? 1 : 0));
}

bool less(uint64_t a, uint64_t b) {
    if (is_nan(a) || is_nan(b) || (is_zero(a) && is_zero(b))) {
        return false;
    }
    bool a_negative = a >> 63 != 0, b_negative = b >> 63 != 0;
    return a_negative != b_negative ? a_negative : a_negative ? a > b : a < b;
}

bool equal(uint64_t a, uint64_t b) {
    return !is_nan(a) && !is_nan(b) && (a == b || (is_zero(a) && is_zero(b)));
}

uint64_t from_unsigned(uint64_t sign, uint64_t a) {
    if (a == 0) {
        return 0;
    }
    uint top = top_bit(a);
    // One more bit than fits below bit 62: its place is at the bottom.
    uint64_t significand = top == 63 ? shift_right_sticky(a, 1) : a << (62 - top);
    return round_and_pack(sign, int(top) + 1023, significand);
}

// The magnitude, truncated; from 2^64 on all ones.
uint64_t truncate(uint64_t a) {
    Unpacked x = unpack(a);
    int shift = x.exponent - 1075;
    if (shift < -52) {
        return 0;
    }
    if (shift > 11) {
        return ~uint64_t(0);
    }
    return shift < 0 ? x.significand >> -shift : x.significand << shift;
}

// Clamps the truncated number to 0..greatest; NaN gives 0.
uint64_t to_unsigned(uint64_t a, uint64_t greatest) {
    return is_nan(a) || a >> 63 != 0 ? 0 : min(truncate(a), greatest);
}

// Clamps the truncated number to -greatest-1..greatest; NaN gives 0.
uint64_t to_signed(uint64_t a, uint64_t greatest) {
    bool negative = a >> 63 != 0;
    uint64_t result = min(truncate(a), negative ? greatest + 1 : greatest);
    return is_nan(a) ? 0 : negative ? 0 - result : result;
}

// The bits of a narrower number: sign at `width - 1`, `digits` bits of fraction, exponents below `maximum`.
uint narrow(uint64_t a, uint width, uint digits, int maximum) {
    uint sign = uint(a >> 63) << (width - 1);
    uint infinite = uint(maximum) << digits;
    if ((a & MAGNITUDE) >= INFINITE) {
        return sign | infinite | (is_nan(a) ? 1u << (digits - 1) : 0);
    }
    Unpacked x = unpack(a);
    int exponent = x.exponent - 1023 + (maximum >> 1);
    if (exponent >= maximum) {
        return sign | infinite;
    }
    uint shift = 50 - digits;
    uint64_t significand = shift_right_sticky(x.significand, shift);
    if (exponent < 1) {
        significand = shift_right_sticky(significand, uint(1 - exponent));
        exponent = 1;
    }
    uint kept = uint(significand >> 2), rest = uint(significand) & 3;
    if (rest == 3 || (rest == 2 && (kept & 1) != 0)) {
        kept += 1;
    }
    return sign | (uint(exponent - 1) << digits) + kept;
}

[noinline] uint64_t f64_add(uint64_t a, uint64_t b) {
    return add(a, b);
}

[noinline] uint64_t f64_mul(uint64_t a, uint64_t b) {
    return multiply(a, b);
}

[noinline] uint64_t f64_div(uint64_t a, uint64_t b) {
    return divide(a, b);
}

// a * b + c, rounded once.
[noinline] uint64_t f64_fma(uint64_t a, uint64_t b, uint64_t c) {
    bool special = (a & MAGNITUDE) >= INFINITE || (b & MAGNITUDE) >= INFINITE || (c & MAGNITUDE) >= INFINITE;
    if (special || is_zero(a) || is_zero(b) || is_zero(c)) {
        // One of the operations is exact: but not a product that vanishes beside an infinity or 0.
        bool product_infinite = (a & MAGNITUDE) >= INFINITE || (b & MAGNITUDE) >= INFINITE;
        if ((c & MAGNITUDE) >= INFINITE && !product_infinite) {
            return is_nan(c) ? QUIET_NAN : c;
        }
        uint64_t product = multiply(a, b);
        bool vanished = is_zero(product) && !is_zero(a) && !is_zero(b);
        return vanished ? product : add(product, c);
    }
    uint64_t sign = (a ^ b) & SIGN, other_sign = c & SIGN;
    Product product = multiply_exact(a, b);
    Wide x = product.bits;
    int exponent = product.exponent;
    Unpacked addend = unpack_normal(c);
    Wide y = { addend.significand << 10, 0 };
    int distance = exponent - addend.exponent;
    if (distance < 0) {
        x = shift_right_sticky_wide(x, uint(-distance));
        exponent = addend.exponent;
    } else {
        y = shift_right_sticky_wide(y, uint(distance));
    }
    Wide sum;
    if (sign == other_sign) {
        sum.low = x.low + y.low;
        sum.high = x.high + y.high + (sum.low < x.low ? 1 : 0);
        if (sum.high >> 63 != 0) {
            sum = shift_right_sticky_wide(sum, 1);
            exponent += 1;
        }
    } else {
        if (x.high < y.high || (x.high == y.high && x.low < y.low)) {
            Wide smaller = x;
            x = y;
            y = smaller;
            sign = other_sign;
        }
        sum.low = x.low - y.low;
        sum.high = x.high - y.high - (x.low < y.low ? 1 : 0);
        if ((sum.high | sum.low) == 0) {
            return 0;
        }
        uint shift = sum.high != 0 ? 62 - top_bit(sum.high) : 126 - top_bit(sum.low);
        sum = shift_left_wide(sum, shift);
        exponent -= int(shift);
    }
    return round_and_pack(sign, exponent, sum.high | (sum.low != 0 ? 1 : 0));
}

// The remainder of the truncated quotient, which is exact, with the sign of a.
[noinline] uint64_t f64_rem(uint64_t a, uint64_t b) {
    if ((a & MAGNITUDE) >= INFINITE || is_nan(b) || is_zero(b)) {
        return QUIET_NAN;
    }
    if ((a & MAGNITUDE) < (b & MAGNITUDE)) {
        return a;
    }
    if (is_zero(a)) {
        return a;
    }
    Unpacked x = unpack_normal(a), y = unpack_normal(b);
    uint64_t remainder = x.significand;
    for (int exponent = x.exponent; exponent > y.exponent; --exponent) {
        if (remainder >= y.significand) {
            remainder -= y.significand;
        }
        remainder <<= 1;
    }
    if (remainder >= y.significand) {
        remainder -= y.significand;
    }
    if (remainder == 0) {
        return a & SIGN;
    }
    uint shift = 62 - top_bit(remainder);
    return round_and_pack(a & SIGN, y.exponent + 10 - int(shift), remainder << shift);
}

// If one is NaN, the other.
[noinline] uint64_t f64_min(uint64_t a, uint64_t b) {
    return is_nan(b) || less(a, b) ? a : b;
}

// If one is NaN, the other.
[noinline] uint64_t f64_max(uint64_t a, uint64_t b) {
    return is_nan(b) || less(b, a) ? a : b;
}

// Clamped to 0..1; NaN gives 0.
[noinline] uint64_t f64_saturate(uint64_t a) {
    uint64_t one = uint64_t(1023) << 52;
    return is_nan(a) || a >> 63 != 0 ? 0 : min(a, one);
}

[noinline] bool f64_equal(uint64_t a, uint64_t b) {
    return equal(a, b);
}

[noinline] bool f64_less(uint64_t a, uint64_t b) {
    return less(a, b);
}

[noinline] bool f64_less_equal(uint64_t a, uint64_t b) {
    return less(a, b) || equal(a, b);
}

[noinline] uint64_t f64_from_f32(float value) {
    uint bits = asuint(value);
    uint64_t sign = uint64_t(bits >> 31) << 63;
    uint exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    if (exponent == 0xff) {
        return fraction != 0 ? QUIET_NAN : sign | INFINITE;
    }
    if (exponent == 0) {
        if (fraction == 0) {
            return sign;
        }
        uint shift = 23 - firstbithigh(fraction);
        fraction = fraction << shift & 0x7fffff;
        return sign | uint64_t(897 - shift) << 52 | uint64_t(fraction) << 29;
    }
    return sign | uint64_t(exponent + 896) << 52 | uint64_t(fraction) << 29;
}

[noinline] float f64_to_f32(uint64_t a) {
    return asfloat(narrow(a, 32, 23, 0xff));
}

// The bits of a half.
[noinline] uint f64_to_f16(uint64_t a) {
    return narrow(a, 16, 10, 0x1f);
}

[noinline] uint64_t f64_from_u64(uint64_t a) {
    return from_unsigned(0, a);
}

[noinline] uint64_t f64_from_s64(uint64_t a) {
    return from_unsigned(a & SIGN, a >> 63 != 0 ? 0 - a : a);
}

[noinline] uint64_t f64_to_u64(uint64_t a) {
    return to_unsigned(a, ~uint64_t(0));
}

[noinline] uint64_t f64_to_s64(uint64_t a) {
    return to_signed(a, MAGNITUDE);
}

[noinline] uint f64_to_u32(uint64_t a) {
    return uint(to_unsigned(a, 0xffffffff));
}

[noinline] uint f64_to_s32(uint64_t a) {
    return uint(to_signed(a, 0x7fffffff));
}

[noinline] uint f64_to_u16(uint64_t a) {
    return uint(to_unsigned(a, 0xffff));
}

[noinline] uint f64_to_s16(uint64_t a) {
    return uint(to_signed(a, 0x7fff));
}

// Uses each, so that the compiler keeps them; `build.sh` leaves it out.
RWByteAddressBuffer data;

[numthreads(1, 1, 1)]
void main() {
    uint64_t a = data.Load<uint64_t>(0), b = data.Load<uint64_t>(8), c = data.Load<uint64_t>(16);
    data.Store<uint64_t>(24, f64_add(a, b));
    data.Store<uint64_t>(32, f64_mul(a, b));
    data.Store<uint64_t>(40, f64_div(a, b));
    data.Store<uint64_t>(48, f64_fma(a, b, c));
    data.Store<uint64_t>(56, f64_rem(a, b));
    data.Store<uint64_t>(64, f64_min(a, b));
    data.Store<uint64_t>(72, f64_max(a, b));
    data.Store<uint64_t>(80, f64_saturate(a));
    data.Store<uint>(88, f64_equal(a, b));
    data.Store<uint>(92, f64_less(a, b));
    data.Store<uint>(96, f64_less_equal(a, b));
    data.Store<uint>(100, f64_to_f16(a));
    data.Store<uint64_t>(104, f64_from_f32(data.Load<float>(0)));
    data.Store<float>(112, f64_to_f32(a));
    data.Store<uint64_t>(120, f64_from_u64(a));
    data.Store<uint64_t>(128, f64_from_s64(a));
    data.Store<uint64_t>(136, f64_to_u64(a));
    data.Store<uint64_t>(144, f64_to_s64(a));
    data.Store<uint>(152, f64_to_u32(a));
    data.Store<uint>(156, f64_to_s32(a));
    data.Store<uint>(160, f64_to_u16(a));
    data.Store<uint>(164, f64_to_s16(a));
}
