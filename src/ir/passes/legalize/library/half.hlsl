// IEEE 754 binary16 in 32-bit floats. A half is carried as the float of the same value; the bits of a half are the lower
// 16 of an integer. `build.sh` makes `half.ir` of this file.

static const uint INFINITE = 0x7f800000;
static const uint SMALLEST_NORMAL = 0x38800000; // 2^-14

bool odd(uint a) {
    return (a & 1) != 0;
}

// To the nearest half, halves of the last place to even. In integers: no compiler may reorder them.
float nearest_half(float value) {
    uint bits = asuint(value), sign = bits & 0x80000000, magnitude = bits ^ sign;
    // Denormal halves are multiples of 2^-24. A float has all digits of one that is shifted by 25 or more.
    uint shift = min(126 - (magnitude >> 23), 25);
    uint significand = (magnitude & 0x7fffff) | 0x800000;
    uint kept = significand >> shift, half_way = 1u << (shift - 1);
    uint rest = significand - (kept << shift);
    kept += rest > half_way || (rest == half_way && odd(kept)) ? 1 : 0;
    uint denormal = asuint(float(kept) * 5.9604644775390625e-8);
    uint normal = (magnitude + 0xfff + (magnitude >> 13 & 1)) & ~0x1fffu;
    normal = normal > 0x477fe000 ? INFINITE : normal;
    uint number = magnitude < SMALLEST_NORMAL ? denormal : normal;
    return asfloat(sign | (magnitude > INFINITE ? magnitude : number));
}

[noinline] float f16_round(float value) {
    return nearest_half(value);
}

[noinline] float f16_from_bits(uint half_bits) {
    uint sign = (half_bits & 0x8000) << 16, magnitude = half_bits & 0x7fff;
    uint denormal = asuint(float(magnitude) * 5.9604644775390625e-8);
    uint normal = (magnitude << 13) + (magnitude < 0x7c00 ? 0x38000000 : 0x70000000);
    return asfloat(sign | (magnitude < 0x400 ? denormal : normal));
}

// Of a number that is a half. The payload of a NaN stays, if the half has room for it.
[noinline] uint f16_to_bits(float value) {
    uint bits = asuint(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    uint payload = magnitude >> 13 & 0x3ff;
    uint special = 0x7c00 | (magnitude > INFINITE && payload == 0 ? 0x200 : payload);
    uint denormal = uint(asfloat(magnitude) * 16777216.0);
    uint number = magnitude < SMALLEST_NORMAL ? denormal : (magnitude - 0x38000000) >> 13;
    return sign | (magnitude >= INFINITE ? special : number);
}

// a * b + c, rounded once. The product is exact in 32 bits. The sum is made odd where it is not exact, so that it is
// no half-way case when it is rounded again.
[noinline] float f16_fma(float a, float b, float c) {
    precise float product = a * b;
    precise float sum = product + c;
    precise float part = sum - product;
    precise float rest = (product - (sum - part)) + (c - part);
    uint bits = asuint(sum);
    if (rest != 0 && !odd(bits) && (bits & 0x7fffffff) < INFINITE) {
        bits += rest > 0 == sum > 0 ? 1 : -1;
    }
    return nearest_half(asfloat(bits));
}

// Uses each, so that the compiler keeps them; `build.sh` leaves it out.
RWByteAddressBuffer data;

[numthreads(1, 1, 1)]
void main() {
    data.Store<float>(16, f16_round(data.Load<float>(0)));
    data.Store<float>(20, f16_from_bits(data.Load<uint>(0)));
    data.Store<uint>(24, f16_to_bits(data.Load<float>(0)));
    data.Store<float>(28, f16_fma(data.Load<float>(0), data.Load<float>(4), data.Load<float>(8)));
}
