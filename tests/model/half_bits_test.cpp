// Compares conversions between float32 and float16 with LibTorch's.
#include "engine/kernels/half_bits.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ringmaster {
namespace {

TEST(HalfBits, EveryFloat16WidensToItsValue) {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
        const float ours = half_bits::widen(static_cast<uint16_t>(bits));
        const float theirs = at::Half(static_cast<uint16_t>(bits), at::Half::from_bits());
        if (std::isnan(theirs)) {
            ASSERT_TRUE(std::isnan(ours)) << bits;
        } else {
            ASSERT_EQ(half_bits::to_bits(ours), half_bits::to_bits(theirs)) << bits;
        }
    }
}

void expect_narrowed(uint32_t bits) {
    const float value = half_bits::from_bits(bits);
    const uint16_t ours = half_bits::narrow(value);
    if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(half_bits::widen(ours))) << bits;
    } else {
        ASSERT_EQ(ours, at::Half(value).x) << value;
    }
}

// Converts every 6007th float32, and the float32 neighbours of each float16 and of each midpoint between two
// of them.
TEST(HalfBits, AFloat32NarrowsToTheNearestEven) {
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 6007)
        expect_narrowed(static_cast<uint32_t>(bits));
    for (uint32_t half = 0; half < 0x7c00; ++half) {
        const uint32_t from = half_bits::to_bits(half_bits::widen(static_cast<uint16_t>(half)));
        const float next = half + 1 == 0x7c00 ? 65536.0F : half_bits::widen(static_cast<uint16_t>(half + 1));
        const uint32_t middle = half_bits::to_bits((half_bits::from_bits(from) + next) / 2);
        for (const uint32_t at : {from, middle}) {
            for (const uint32_t bits : {at - 1, at, at + 1}) {
                expect_narrowed(bits);
                expect_narrowed(bits ^ 0x80000000U);
            }
        }
    }
}

}  // namespace
}  // namespace ringmaster
