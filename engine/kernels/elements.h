/// Converts elements of a kernel's rows to float32 and back. Only kernels include it.
#pragma once

#include <cstdint>
#include <cstring>

#include "engine/kernels/fused.h"
#include "engine/kernels/half_bits.h"

namespace ringmaster::RINGMASTER_ISA {

inline float load(const float& x) {
    return x;
}
inline void store(float& to, float x) {
    to = x;
}

inline float load(const Bf16& x) {
    uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline void store(Bf16& to, float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    to.bits = static_cast<uint16_t>(is_nan ? (bits >> 16) | 0x40 : rounded);
}

inline float load(const Fp16& x) {
    return half_bits::widen(x.bits);
}

inline void store(Fp16& to, float x) {
    to.bits = half_bits::narrow(x);
}

}  // namespace ringmaster::RINGMASTER_ISA
