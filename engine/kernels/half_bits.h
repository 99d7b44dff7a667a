/// Converts between float32 and the bits of an IEEE float16, in the same way on the CPU and on a GPU. The
/// code has no branches, so that compilers can vectorise loops over rows. Source: IEEE 754-2008, section 3.4;
/// Giesen 2012, "Half to float done quick", for the use of a float32 addition that rounds subnormal numbers.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define RINGMASTER_HALF __host__ __device__ inline
#else
#define RINGMASTER_HALF inline
#endif

namespace ringmaster::half_bits {

RINGMASTER_HALF float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
RINGMASTER_HALF uint32_t to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

RINGMASTER_HALF float widen(uint16_t half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16;
    const uint32_t rest = static_cast<uint32_t>(half & 0x7fffU) << 13;
    const uint32_t special = (half & 0x7c00U) == 0x7c00U ? 0x38000000U : 0U;  // infinity and NaN
    const float normal = from_bits(rest + 0x38000000U + special);
    // A subnormal number is decoded as 2^-14 (the smallest normal number) plus its bits, minus 2^-14.
    const float subnormal = from_bits(rest + 0x38800000U) - from_bits(0x38800000U);
    const uint32_t magnitude = to_bits((half & 0x7c00U) == 0 ? subnormal : normal);
    return from_bits(magnitude | sign);
}

RINGMASTER_HALF uint16_t narrow(float value) {
    const uint32_t bits = to_bits(value), sign = bits & 0x80000000U, rest = bits ^ sign;
    // For values below 2^-14 (float16 subnormals), adding 0.5 makes the hardware round to even and leaves the
    // float16 mantissa in the low bits.
    const uint32_t subnormal = to_bits(from_bits(rest) + 0.5F) - 0x3f000000U;
    const uint32_t normal = (rest - 0x38000000U + 0xfffU + ((rest >> 13) & 1U)) >> 13;
    const uint32_t large = rest > 0x7f800000U ? 0x7e00U : 0x7c00U;  // NaN, or infinity from 65,520 on
    const uint32_t half = rest >= 0x477ff000U ? large : rest < 0x38800000U ? subnormal : normal;
    return static_cast<uint16_t>(half | (sign >> 16));
}

}  // namespace ringmaster::half_bits
