// Functions of Shader Model 6.5 and 6.7 that dxc does not have for SPIR-V, or only for one vendor's drivers, from those of 6.0.
// check.py puts this before the fixtures that use them; the drivers' waves have 8 lanes at most. WaveMultiPrefix of integers and floats.
template<typename T> uint4 match(T own)
{
    uint active = WaveActiveBallot(true).x, lanes = 0;
    [loop] for (uint lane = 0; lane < WaveGetLaneCount(); ++lane)
    {
        if (active >> lane & 1)
        {
            T other = WaveReadLaneAt(own, lane);
            lanes |= all(other == own) ? 1u << lane : 0;
        }
    }
    return uint4(lanes, 0, 0, 0);
}

#define MULTI_PREFIX(name, START, COMBINED)                                  \
    template<typename T> T name(T own, uint4 mask)                           \
    {                                                                        \
        uint active = WaveActiveBallot(true).x;                              \
        T result = (T)(START);                                               \
        [loop] for (uint lane = 0; lane < WaveGetLaneCount(); ++lane)               \
        {                                                                    \
            if (active >> lane & 1)                                          \
            {                                                                \
                T other = WaveReadLaneAt(own, lane);                         \
                if (lane < WaveGetLaneIndex() && (mask.x >> lane & 1))       \
                    result = COMBINED;                                       \
            }                                                                \
        }                                                                    \
        return result;                                                       \
    }
MULTI_PREFIX(prefix_sum, 0, result + other)
MULTI_PREFIX(prefix_product, 1, result * other)
MULTI_PREFIX(prefix_and, -1, result & other)
MULTI_PREFIX(prefix_or, 0, result | other)
MULTI_PREFIX(prefix_xor, 0, result ^ other)

uint prefix_bits(bool own, uint4 mask)
{
    return countbits(WaveActiveBallot(own).x & mask.x & ((1u << WaveGetLaneIndex()) - 1));
}

uint quad_count(bool own)
{
    uint one = own ? 1 : 0;
    return QuadReadLaneAt(one, 0) + QuadReadLaneAt(one, 1) + QuadReadLaneAt(one, 2) + QuadReadLaneAt(one, 3);
}
bool any_of_quad(bool own) { return quad_count(own) != 0; }
bool all_of_quad(bool own) { return quad_count(own) == 4; }

#define WaveMatch match
#define WaveMultiPrefixSum prefix_sum
#define WaveMultiPrefixProduct prefix_product
#define WaveMultiPrefixBitAnd prefix_and
#define WaveMultiPrefixBitOr prefix_or
#define WaveMultiPrefixBitXor prefix_xor
#define WaveMultiPrefixCountBits prefix_bits
#define QuadAny any_of_quad
#define QuadAll all_of_quad
