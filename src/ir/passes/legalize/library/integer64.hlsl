// 64-bit integers: what is too long to be written out at each place. `build.sh` makes `integer64.ir` of this file.

static const uint64_t ALL_ONES = ~uint64_t(0);
static const uint64_t SIGN = uint64_t(1) << 63;

struct Quotient {
    uint64_t quotient;
    uint64_t remainder;
};

// Long division, a bit a turn. By 0: all ones, both.
Quotient divide(uint64_t a, uint64_t b) {
    Quotient result = { ALL_ONES, ALL_ONES };
    if (uint(a >> 32) == 0 && uint(b >> 32) == 0) {
        uint divisor = uint(b);
        if (divisor != 0) {
            result.quotient = uint(a) / divisor;
            result.remainder = uint(a) % divisor;
        }
    } else if (b != 0) {
        uint64_t quotient = 0;
        uint turns = a >= b ? uint(firstbithigh(a) - firstbithigh(b)) + 1 : 0;
        uint64_t divisor = b << (turns - 1);
        [loop] for (uint turn = 0; turn < turns; ++turn) {
            bool goes = a >= divisor;
            quotient = quotient << 1 | (goes ? 1 : 0);
            a -= goes ? divisor : 0;
            divisor >>= 1;
        }
        result.quotient = quotient;
        result.remainder = a;
    }
    return result;
}

uint64_t magnitude(uint64_t a) {
    return a >> 63 != 0 ? 0 - a : a;
}

[noinline] uint64_t u_div64(uint64_t a, uint64_t b) {
    return divide(a, b).quotient;
}

[noinline] uint64_t u_rem64(uint64_t a, uint64_t b) {
    return divide(a, b).remainder;
}

[noinline] uint64_t s_div64(uint64_t a, uint64_t b) {
    uint64_t quotient = divide(magnitude(a), magnitude(b)).quotient;
    return (a ^ b) >> 63 != 0 && b != 0 ? 0 - quotient : quotient;
}

[noinline] uint64_t s_rem64(uint64_t a, uint64_t b) {
    uint64_t remainder = divide(magnitude(a), magnitude(b)).remainder;
    return a >> 63 != 0 && b != 0 ? 0 - remainder : remainder;
}

// The high half of the product, from the four products of the operands' halves.
uint64_t multiply_high(uint64_t a, uint64_t b) {
    uint64_t a_low = uint(a), a_high = a >> 32, b_low = uint(b), b_high = b >> 32;
    uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
    uint64_t other = a_low * b_high + uint(middle);
    return a_high * b_high + (middle >> 32) + (other >> 32);
}

[noinline] uint64_t u_mul_high64(uint64_t a, uint64_t b) {
    return multiply_high(a, b);
}

// The unsigned high half takes a negative operand for one that is 2^64 greater.
[noinline] uint64_t s_mul_high64(uint64_t a, uint64_t b) {
    return multiply_high(a, b) - (a >> 63 != 0 ? b : 0) - (b >> 63 != 0 ? a : 0);
}

// To the nearest, halves to even.
float to_float(uint64_t a) {
    uint top = uint(firstbithigh(a));
    uint64_t normal = a << (63 - top);
    uint significand = uint(normal >> 40);
    uint64_t rest = normal & ((uint64_t(1) << 40) - 1), half_way = uint64_t(1) << 39;
    significand += rest > half_way || (rest == half_way && (significand & 1) != 0) ? 1 : 0;
    // The significand's leading one adds 1 to the exponent, and so does one that was carried into it.
    return a == 0 ? 0 : asfloat(((top + 126) << 23) + significand);
}

[noinline] float u64_to_f32(uint64_t a) {
    return to_float(a);
}

[noinline] float s64_to_f32(uint64_t a) {
    float result = to_float(magnitude(a));
    return a >> 63 != 0 ? -result : result;
}

// The bits' magnitude, truncated; from 2^64 on all ones.
uint64_t truncate(uint bits) {
    int shift = int(bits >> 23 & 0xff) - 150;
    uint64_t significand = (bits & 0x7fffff) | 0x800000;
    uint64_t integer = shift < 0 ? significand >> -shift : significand << shift;
    return shift < -23 ? 0 : shift > 40 ? ALL_ONES : integer;
}

[noinline] uint64_t f32_to_u64(float a) {
    uint bits = asuint(a);
    bool nan = (bits & 0x7fffffff) > 0x7f800000;
    return bits >> 31 != 0 || nan ? 0 : truncate(bits);
}

[noinline] uint64_t f32_to_s64(float a) {
    uint bits = asuint(a);
    bool nan = (bits & 0x7fffffff) > 0x7f800000, negative = bits >> 31 != 0;
    uint64_t result = min(truncate(bits), negative ? SIGN : SIGN - 1);
    return nan ? 0 : negative ? 0 - result : result;
}

// Uses each, so that the compiler keeps them; `build.sh` leaves it out.
RWByteAddressBuffer data;

[numthreads(1, 1, 1)]
void main() {
    uint64_t a = data.Load<uint64_t>(0), b = data.Load<uint64_t>(8);
    data.Store<uint64_t>(16, u_div64(a, b));
    data.Store<uint64_t>(24, u_rem64(a, b));
    data.Store<uint64_t>(32, s_div64(a, b));
    data.Store<uint64_t>(40, s_rem64(a, b));
    data.Store<uint64_t>(48, u_mul_high64(a, b));
    data.Store<uint64_t>(56, s_mul_high64(a, b));
    data.Store<float>(64, u64_to_f32(a));
    data.Store<float>(68, s64_to_f32(a));
    data.Store<uint64_t>(72, f32_to_u64(data.Load<float>(0)));
    data.Store<uint64_t>(80, f32_to_s64(data.Load<float>(0)));
}
