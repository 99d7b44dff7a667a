// This file is compiled once for each instruction set, as fused_isa.cpp is.
#include "engine/kernels/block_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/exponential.h"

namespace ringmaster::RINGMASTER_ISA {

namespace {

/// The keys [begin, end) that a row sees.
struct Visible {
    int64_t begin, end;
};

Visible visible_keys(const BlockMask& mask, int64_t row, int64_t keys) {
    const int64_t edge = std::clamp<int64_t>(mask.edge + row % mask.queries, 0, keys);
    return {mask.sees == BlockMask::From ? edge : 0, mask.sees == BlockMask::Below ? edge : keys};
}

void hide(float* scores, const Visible& visible, int64_t keys) {
    std::fill(scores, scores + visible.begin, 0.0F);
    std::fill(scores + visible.end, scores + keys, 0.0F);
}

void forward(float* scores, int64_t rows, int64_t keys, const BlockMask& mask, float* top, float* sum,
             float* shrink) {
    for (int64_t r = 0; r < rows; ++r, scores += keys) {
        const Visible visible = visible_keys(mask, r, keys);
        float highest = top[r];
#pragma omp simd reduction(max : highest)
        for (int64_t k = visible.begin; k < visible.end; ++k)
            highest = scores[k] > highest ? scores[k] : highest;
        // A row that has seen no key yet keeps −infinity; all its scores are hidden.
        const float base = highest == -std::numeric_limits<float>::infinity() ? 0 : highest;
        float total = 0;
#pragma omp simd reduction(+ : total)
        for (int64_t k = visible.begin; k < visible.end; ++k) {
            const float p = exponential(scores[k] - base);
            scores[k] = p;
            total += p;
        }
        hide(scores, visible, keys);
        shrink[r] = exponential(top[r] - base);
        sum[r] = sum[r] * shrink[r] + total;
        top[r] = highest;
    }
}

void rescale(float* accumulated, const float* shrink, int64_t rows, int64_t width) {
    for (int64_t r = 0; r < rows; ++r, accumulated += width) {
#pragma omp simd
        for (int64_t w = 0; w < width; ++w) accumulated[w] *= shrink[r];
    }
}

void backward(float* scores, float* dprobability, int64_t rows, int64_t keys, const BlockMask& mask,
              const float* lse, const float* delta) {
    for (int64_t r = 0; r < rows; ++r, scores += keys, dprobability += keys) {
        const Visible visible = visible_keys(mask, r, keys);
        const float row_lse = lse[r];
        const float row_delta = delta[r];
#pragma omp simd
        for (int64_t k = visible.begin; k < visible.end; ++k) {
            const float p = exponential(scores[k] - row_lse);
            scores[k] = p;
            dprobability[k] = p * (dprobability[k] - row_delta);
        }
        hide(scores, visible, keys);
        hide(dprobability, visible, keys);
    }
}

}  // namespace

extern const BlockSoftmax kBlockSoftmax;
const BlockSoftmax kBlockSoftmax = {forward, rescale, backward};

}  // namespace ringmaster::RINGMASTER_ISA
