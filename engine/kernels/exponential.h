/// Computes e^x with code that vectorises and keeps NaN; the standard library's does not. For kernels only.
#pragma once

#include <cstdint>
#include <cstring>

namespace ringmaster::RINGMASTER_ISA {

/// Returns e^x as 2^n · p(r), |r| <= ln2/2, within 2 ulp; clamps x to [-87.3, 88.7]; NaN stays NaN.
inline float exponential(float x) {
    x = x < -87.3F ? -87.3F : x;
    x = x > 88.7F ? 88.7F : x;
    const float n = (x * 1.44269504F + 12582912.0F) - 12582912.0F;  // rounds to nearest
    const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
    float p = 1.9875691500e-4F;
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.0F;
    const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
    float power;
    std::memcpy(&power, &bits, sizeof power);
    return p * power;
}

}  // namespace ringmaster::RINGMASTER_ISA
