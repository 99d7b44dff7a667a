#include "engine/kernels/four_bit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace ringmaster {

namespace {

constexpr int64_t kNestedBlock = 256;
constexpr int kPlaces = 65536;
constexpr size_t kCodes = 256;

CodeBook16 made_of(const std::array<float, 16>& values, const std::array<uint8_t, 16>& ascending) {
    CodeBook16 book{};
    std::copy(values.begin(), values.end(), book.values);
    std::copy(ascending.begin(), ascending.end(), book.ascending);
    for (size_t i = 0; i + 1 < 16; ++i)
        book.midpoints[i] = (values[ascending[i]] + values[ascending[i + 1]]) / 2;
    return book;
}

/// Returns a value's place among the kPlaces places in [-1, 1]. Rounds once, after the product and the sum,
/// as bitsandbytes' compiled CPU library does.
size_t place_of(float value) {
    const float half = (std::clamp(value, -1.0F, 1.0F) + 1.0F) * 0.5F;
    return static_cast<uint16_t>(std::fma(half, static_cast<float>(kPlaces - 1), 0.5F));
}

}  // namespace

const CodeBook16& nf4_book() {
    static const CodeBook16 book =
        made_of({-1.0F, -0.6961928009986877F, -0.5250730514526367F, -0.39491748809814453F,
                 -0.28444138169288635F, -0.18477343022823334F, -0.09105003625154495F, 0.0F,
                 0.07958029955625534F, 0.16093020141124725F, 0.24611230194568634F, 0.33791524171829224F,
                 0.44070982933044434F, 0.5626170039176941F, 0.7229568362236023F, 1.0F},
                {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    return book;
}

const CodeBook16& fp4_book() {
    // Two codes stand for zero; code 0 is the first of them.
    static const CodeBook16 book =
        made_of({0.0F, 0.0625F / 12, 8.0F / 12, 12.0F / 12, 4.0F / 12, 6.0F / 12, 2.0F / 12, 3.0F / 12, 0.0F,
                 -0.0625F / 12, -8.0F / 12, -12.0F / 12, -4.0F / 12, -6.0F / 12, -2.0F / 12, -3.0F / 12},
                {11, 10, 13, 12, 15, 14, 9, 0, 8, 1, 6, 7, 4, 5, 2, 3});
    return book;
}

std::vector<uint8_t> places_of_map(const float* map) {
    std::vector<uint8_t> codes(kPlaces);
    size_t code = 0;
    for (int i = 0; i < kPlaces; ++i) {
        const float value = -1.0F + (2.0F * static_cast<float>(i)) / static_cast<float>(kPlaces - 1);
        while (code + 1 < kCodes && 0.5F * (map[code] + map[code + 1]) < value) ++code;
        codes[static_cast<size_t>(i)] = static_cast<uint8_t>(code);
    }
    return codes;
}

void quantize_scales(const float* scales, int64_t count, float offset, const std::vector<uint8_t>& places,
                     uint8_t* codes, float* of_blocks) {
    for (int64_t begin = 0; begin < count; begin += kNestedBlock) {
        const int64_t end = std::min(begin + kNestedBlock, count);
        float most = 0;
        for (int64_t i = begin; i < end; ++i) most = std::max(most, std::fabs(scales[i] - offset));
        of_blocks[begin / kNestedBlock] = most;
        const float factor = most == 0 ? 0 : 1.0F / most;
        for (int64_t i = begin; i < end; ++i)
            codes[i] = most == 0 ? uint8_t{0} : places[place_of((scales[i] - offset) * factor)];
    }
}

void dequantize_scales(const uint8_t* codes, const float* of_blocks, const float* map, int64_t begin,
                       int64_t count, float offset, float* scales) {
    for (int64_t i = begin; i < begin + count; ++i)
        scales[i - begin] = map[codes[i]] * of_blocks[i / kNestedBlock] + offset;
}

}  // namespace ringmaster
