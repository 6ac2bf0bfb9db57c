// Bit functions of 16 and 64 bits, and sign of 16, which dxc does not have for SPIR-V, from those of 32 bits.
// Where dxc refuses a fixture for one of them, check.py puts this before it.
#define VECTORS(T, R, name)                                                          \
    R##2 name(T##2 v) { return R##2(name(v.x), name(v.y)); }                         \
    R##3 name(T##3 v) { return R##3(name(v.x), name(v.y), name(v.z)); }              \
    R##4 name(T##4 v) { return R##4(name(v.x), name(v.y), name(v.z), name(v.w)); }
#define EACH(T, R, name, expression) \
    R name(T v) { return expression; } \
    VECTORS(T, R, name)
#define LOW(v) ((uint)(v))
#define HIGH(v) ((uint)((uint64_t)(v) >> 32))
#define WIDE(low, high) ((uint64_t)(low) | (uint64_t)(high) << 32)

EACH(uint, uint, bit_count, countbits(v))
EACH(int, uint, bit_count, countbits((uint)v))
EACH(uint64_t, uint, bit_count, countbits(LOW(v)) + countbits(HIGH(v)))
EACH(int64_t, uint, bit_count, countbits(LOW(v)) + countbits(HIGH(v)))

EACH(uint, uint, reversed, reversebits(v))
EACH(int, int, reversed, (int)reversebits((uint)v))
EACH(uint64_t, uint64_t, reversed, WIDE(reversebits(HIGH(v)), reversebits(LOW(v))))
EACH(int64_t, int64_t, reversed, (int64_t)WIDE(reversebits(HIGH(v)), reversebits(LOW(v))))

EACH(uint, uint, lowest, firstbitlow(v))
EACH(int, uint, lowest, firstbitlow((uint)v))
EACH(uint64_t, uint, lowest, LOW(v) ? firstbitlow(LOW(v)) : HIGH(v) ? firstbitlow(HIGH(v)) + 32 : 0xffffffff)
EACH(int64_t, uint, lowest, lowest((uint64_t)v))

// Of negative numbers, the highest bit that is zero.
EACH(uint, uint, highest, firstbithigh(v))
EACH(int, uint, highest, firstbithigh((uint)(v < 0 ? ~v : v)))
EACH(uint64_t, uint, highest, HIGH(v) ? firstbithigh(HIGH(v)) + 32 : LOW(v) ? firstbithigh(LOW(v)) : 0xffffffff)
EACH(int64_t, uint, highest, highest((uint64_t)(v < 0 ? ~v : v)))

EACH(float, int, sign_of, sign(v))
EACH(double, int, sign_of, sign(v))
EACH(int, int, sign_of, sign(v))
EACH(int64_t, int, sign_of, v > 0 ? 1 : v < 0 ? -1 : 0)

#ifdef __HLSL_ENABLE_16_BIT
EACH(uint16_t, uint, bit_count, countbits((uint)v))
EACH(int16_t, uint, bit_count, countbits((uint)(uint16_t)v))
EACH(uint16_t, uint16_t, reversed, (uint16_t)(reversebits((uint)v) >> 16))
EACH(int16_t, int16_t, reversed, (int16_t)(reversebits((uint)(uint16_t)v) >> 16))
EACH(uint16_t, uint, lowest, firstbitlow((uint)v))
EACH(int16_t, uint, lowest, firstbitlow((uint)(uint16_t)v))
EACH(uint16_t, uint, highest, firstbithigh((uint)v))
EACH(int16_t, uint, highest, highest((int)v))
EACH(half, int, sign_of, sign(v))
EACH(int16_t, int, sign_of, sign((int)v))
#endif

#define countbits bit_count
#define reversebits reversed
#define firstbitlow lowest
#define firstbithigh highest
#define sign sign_of
