#include "engine/model/mxfp4.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ringmaster {

namespace {

constexpr float kValues[16] = {0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                               -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};

/// Returns 2^(i − 127) for every byte i.
std::array<float, 256> powers_of_two() {
    std::array<float, 256> powers{};
    for (int i = 0; i < 256; ++i) powers[static_cast<size_t>(i)] = std::ldexp(1.0F, i - 127);
    return powers;
}

/// One parameter's codes.
struct Codes {
    const uint8_t *blocks, *scales;
    int64_t outputs, groups;
    std::array<float, 256> powers = powers_of_two();

    /// Writes the values of outputs [begin, end) for one input of an expert; `row` counts the inputs of all
    /// experts.
    void write(int64_t row, int64_t begin, int64_t end, float* to) const {
        const int64_t inputs = groups * kMxfp4Group, expert = row / inputs, input = row % inputs;
        const int64_t code = input % kMxfp4Group, shift = code % 2 == 0 ? 0 : 4;
        int64_t group = (expert * outputs + begin) * groups + input / kMxfp4Group;
        for (int64_t output = begin; output < end; ++output, group += groups) {
            const uint8_t both = blocks[group * (kMxfp4Group / 2) + code / 2];
            *to++ = kValues[both >> shift & 0xF] * powers[scales[group]];
        }
    }
};

}  // namespace

at::Tensor mxfp4_values(const at::Tensor& blocks, const at::Tensor& scales, int64_t begin, int64_t end) {
    const Codes codes{blocks.const_data_ptr<uint8_t>(), scales.const_data_ptr<uint8_t>(), scales.size(1),
                      scales.size(2)};
    at::Tensor values = at::empty({end - begin}, at::kFloat);
    float* const to = values.data_ptr<float>();
    const int64_t width = codes.outputs;
    // A task takes whole groups of inputs, so that their codes stay in the cache.
    at::parallel_for(begin / width, (end + width - 1) / width, kMxfp4Group, [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row) {
            const int64_t from = std::max(begin, row * width), until = std::min(end, (row + 1) * width);
            codes.write(row, from - row * width, until - row * width, to + (from - begin));
        }
    });
    return values;
}

}  // namespace ringmaster
