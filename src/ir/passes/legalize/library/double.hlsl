// IEEE 754 binary64 in 64-bit integers: rounded to nearest, halves to even; denormals are kept, and every NaN that comes
// out is the quiet one. There are few branches: what is special is chosen in the end, so that drivers compile it fast.
// `build.sh` makes `double.ir` of this file.

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
    uint exponent = uint(a >> 52) & 0x7ff;
    Unpacked result;
    result.exponent = int(max(exponent, 1));
    result.significand = (a & FRACTION) | (exponent == 0 ? 0 : HIDDEN);
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

// What is shifted out stays visible in bit 0. Bit 63 is free.
uint64_t shift_right_sticky(uint64_t a, uint count) {
    count = min(count, 63);
    uint64_t result = a >> count;
    return result | (result << count == a ? 0 : 1);
}

// Rounds significand * 2^(exponent - 1085), whose leading one is at bit 62, or below if the exponent is 1.
uint64_t round_and_pack(uint64_t sign, int exponent, uint64_t significand) {
    significand = shift_right_sticky(significand, uint(max(1 - exponent, 0)));
    uint rest = uint(significand) & 0x3ff;
    significand >>= 10;
    bool up = rest > 0x200 || (rest == 0x200 && (uint(significand) & 1) != 0);
    // The significand's leading one adds 1 to the exponent, and so does one that is carried into it.
    uint64_t finite = (uint64_t(max(exponent, 1) - 1) << 52) + significand + (up ? 1 : 0);
    return sign | (exponent >= 0x7ff ? INFINITE : finite);
}

uint64_t add(uint64_t first, uint64_t second) {
    bool swapped = (first & MAGNITUDE) < (second & MAGNITUDE);
    uint64_t a = swapped ? second : first, b = swapped ? first : second;
    bool differ = (a ^ b) >> 63 != 0;
    uint64_t sign = a & SIGN;
    Unpacked x = unpack(a), y = unpack(b);
    uint64_t aligned = shift_right_sticky(y.significand << 10, uint(x.exponent - y.exponent));
    uint64_t sum = (x.significand << 10) + (differ ? 0 - aligned : aligned);
    uint carry = uint(sum >> 63);
    sum = sum >> carry | (sum & carry);
    x.exponent += int(carry);
    uint shift = min(62 - top_bit(sum), uint(x.exponent - 1));
    uint64_t rounded = round_and_pack(sign, x.exponent - int(shift), sum << shift);
    uint64_t finite = sum == 0 ? (differ ? 0 : sign) : rounded;
    bool invalid = is_nan(a) || ((b & MAGNITUDE) == INFINITE && differ);
    return (a & MAGNITUDE) < INFINITE ? finite : invalid ? QUIET_NAN : a;
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

// By less than 128. Shifts take their counts modulo 64.
Wide shift_left_wide(Wide a, uint count) {
    bool far = count > 63;
    Wide result;
    result.high = far ? a.low << count : a.high << count | a.low >> 1 >> (63 - count);
    result.low = far ? 0 : a.low << count;
    return result;
}

// What is shifted out stays visible in bit 0. Bit 127 is free.
Wide shift_right_sticky_wide(Wide a, uint count) {
    count = min(count, 127);
    bool far = count > 63;
    uint64_t high = a.high >> count, low = a.low >> count;
    bool lost = far ? high << count != a.high || a.low != 0 : low << count != a.low;
    Wide result;
    result.high = far ? 0 : high;
    result.low = (far ? high : low | a.high << 1 << (63 - count)) | (lost ? 1 : 0);
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
    Wide bits = multiply_wide(x.significand << 10, y.significand << 11);
    uint shift = bits.high >> 62 == 0 ? 1 : 0;
    Product product;
    product.exponent = x.exponent + y.exponent - 1022 - int(shift);
    product.bits = shift_left_wide(bits, shift);
    return product;
}

uint64_t multiply(uint64_t a, uint64_t b) {
    uint64_t sign = (a ^ b) & SIGN;
    bool infinite = (a & MAGNITUDE) == INFINITE || (b & MAGNITUDE) == INFINITE;
    bool zero = is_zero(a) || is_zero(b);
    bool invalid = is_nan(a) || is_nan(b) || (infinite && zero);
    Product product = multiply_exact(a, b);
    uint64_t rounded = round_and_pack(sign, product.exponent, product.bits.high | (product.bits.low != 0 ? 1 : 0));
    return invalid ? QUIET_NAN : infinite ? sign | INFINITE : zero ? sign : rounded;
}

uint64_t divide(uint64_t a, uint64_t b) {
    uint64_t sign = (a ^ b) & SIGN;
    uint64_t dividend = a & MAGNITUDE, divisor = b & MAGNITUDE;
    Unpacked x = unpack_normal(a), y = unpack_normal(b);
    uint shift = x.significand < y.significand ? 1 : 0;
    int exponent = x.exponent - y.exponent + 1023 - int(shift);
    uint64_t remainder = x.significand << shift;
    // 55 bits of the quotient: those that are kept, one to round by, and one to spare.
    uint64_t quotient = 0;
    [loop] for (uint bit = 0; bit < 55; ++bit) {
        bool goes = remainder >= y.significand;
        quotient = quotient << 1 | (goes ? 1 : 0);
        remainder = (remainder - (goes ? y.significand : 0)) << 1;
    }
    uint64_t rounded = round_and_pack(sign, exponent, quotient << 8 | (remainder != 0 ? 1 : 0));
    bool same = dividend == divisor && (dividend == 0 || dividend == INFINITE);
    bool invalid = dividend > INFINITE || divisor > INFINITE || same;
    bool infinite = dividend == INFINITE || divisor == 0;
    bool zero = dividend == 0 || divisor == INFINITE;
    return invalid ? QUIET_NAN : infinite ? sign | INFINITE : zero ? sign : rounded;
}

bool less(uint64_t a, uint64_t b) {
    bool a_negative = a >> 63 != 0, b_negative = b >> 63 != 0;
    bool is_less = a_negative != b_negative ? a_negative : a_negative ? a > b : a < b;
    return is_less && !is_nan(a) && !is_nan(b) && !(is_zero(a) && is_zero(b));
}

bool equal(uint64_t a, uint64_t b) {
    return !is_nan(a) && !is_nan(b) && (a == b || (is_zero(a) && is_zero(b)));
}

uint64_t from_unsigned(uint64_t sign, uint64_t a) {
    uint top = top_bit(a);
    // One more bit than fits below bit 62: its place is at the bottom.
    uint64_t significand = top == 63 ? a >> 1 | (a & 1) : a << (62 - top);
    return a == 0 ? 0 : round_and_pack(sign, int(top) + 1023, significand);
}

// The magnitude, truncated; from 2^64 on all ones.
uint64_t truncate(uint64_t a) {
    Unpacked x = unpack(a);
    int shift = x.exponent - 1075;
    uint64_t integer = shift < 0 ? x.significand >> -shift : x.significand << shift;
    return shift < -52 ? 0 : shift > 11 ? ~uint64_t(0) : integer;
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
    Unpacked x = unpack(a);
    int exponent = x.exponent - 1023 + (maximum >> 1);
    uint shift = 50 - digits + uint(max(1 - exponent, 0));
    uint64_t significand = shift_right_sticky(x.significand, shift);
    uint kept = uint(significand >> 2), rest = uint(significand) & 3;
    bool up = rest == 3 || (rest == 2 && (kept & 1) != 0);
    uint finite = (uint(max(exponent, 1) - 1) << digits) + kept + (up ? 1 : 0);
    uint quiet = is_nan(a) ? 1u << (digits - 1) : 0;
    return sign | (exponent >= maximum ? infinite | quiet : finite);
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
    uint64_t sign = (a ^ b) & SIGN, other_sign = c & SIGN;
    bool differ = sign != other_sign;
    Product product = multiply_exact(a, b);
    Unpacked addend = unpack_normal(c);
    Wide y = { addend.significand << 10, 0 };
    int distance = product.exponent - addend.exponent;
    Wide x = shift_right_sticky_wide(product.bits, uint(max(-distance, 0)));
    y = shift_right_sticky_wide(y, uint(max(distance, 0)));
    int exponent = max(product.exponent, addend.exponent);
    bool swapped = x.high < y.high || (x.high == y.high && x.low < y.low);
    Wide greater, lesser;
    greater.high = swapped ? y.high : x.high;
    greater.low = swapped ? y.low : x.low;
    lesser.high = swapped ? x.high : y.high;
    lesser.low = swapped ? x.low : y.low;
    // The difference is a sum with the complement.
    uint64_t flip = differ ? ~uint64_t(0) : 0;
    uint64_t low = lesser.low ^ flip, carry = differ ? 1 : 0;
    Wide sum;
    sum.low = greater.low + low;
    uint64_t carried = sum.low < low ? 1 : 0;
    sum.low += carry;
    carried |= sum.low < carry ? 1 : 0;
    sum.high = greater.high + (lesser.high ^ flip) + carried;
    uint over = uint(sum.high >> 63);
    sum = shift_right_sticky_wide(sum, over);
    uint shift = sum.high != 0 ? 62 - top_bit(sum.high) : 126 - top_bit(sum.low);
    uint64_t result_sign = swapped ? other_sign : sign;
    bool cancelled = (sum.high | sum.low) == 0;
    sum = shift_left_wide(sum, shift);
    exponent += int(over) - int(shift);
    uint64_t rounded = round_and_pack(result_sign, exponent, sum.high | (sum.low != 0 ? 1 : 0));
    uint64_t finite = cancelled ? 0 : rounded;

    bool product_zero = is_zero(a) || is_zero(b);
    bool product_infinite = (a & MAGNITUDE) == INFINITE || (b & MAGNITUDE) == INFINITE;
    bool infinite = (c & MAGNITUDE) == INFINITE;
    bool invalid = is_nan(a) || is_nan(b) || is_nan(c) || (product_infinite && (product_zero || (infinite && differ)));
    uint64_t without_product = is_zero(c) && differ ? 0 : c;
    uint64_t special = product_infinite ? sign | INFINITE : without_product;
    return invalid ? QUIET_NAN : product_infinite || infinite || product_zero ? special : finite;
}

// The remainder of the truncated quotient, which is exact, with the sign of a.
[noinline] uint64_t f64_rem(uint64_t a, uint64_t b) {
    uint64_t dividend = a & MAGNITUDE, divisor = b & MAGNITUDE;
    bool invalid = dividend >= INFINITE || divisor > INFINITE || divisor == 0;
    Unpacked x = unpack_normal(a), y = unpack_normal(b);
    uint64_t remainder = x.significand;
    uint turns = invalid || dividend < divisor ? 0 : uint(x.exponent - y.exponent) + 1;
    [loop] for (uint turn = 0; turn < turns; ++turn) {
        remainder <<= turn == 0 ? 0 : 1;
        remainder -= remainder >= y.significand ? y.significand : 0;
    }
    uint shift = 62 - top_bit(remainder);
    uint64_t rounded = round_and_pack(a & SIGN, y.exponent + 10 - int(shift), remainder << shift);
    uint64_t finite = remainder == 0 ? a & SIGN : rounded;
    return invalid ? QUIET_NAN : dividend < divisor ? a : finite;
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
    uint shift = 23 - uint(firstbithigh(fraction));
    uint denormal = (fraction << shift) & 0x7fffff;
    bool is_denormal = exponent == 0;
    uint64_t number = uint64_t(is_denormal ? 897 - shift : exponent + 896) << 52
        | uint64_t(is_denormal ? denormal : fraction) << 29;
    bool zero = (bits & 0x7fffffff) == 0;
    uint64_t special = fraction != 0 ? QUIET_NAN : sign | INFINITE;
    return exponent == 0xff ? special : sign | (zero ? 0 : number);
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
