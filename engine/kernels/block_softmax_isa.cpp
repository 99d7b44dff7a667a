// Compiled once for each instruction set, as fused_isa.cpp.
#include "engine/kernels/block_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/exponential.h"

namespace ringmaster::RINGMASTER_ISA {

namespace {

int64_t visible_keys(const BlockMask& mask, int64_t row, int64_t keys) {
    return mask.all ? keys : std::clamp<int64_t>(mask.first_visible + row % mask.queries, 0, keys);
}

void forward(float* scores, int64_t rows, int64_t keys, const BlockMask& mask, float* top, float* sum, float* shrink) {
    for (int64_t r = 0; r < rows; ++r, scores += keys) {
        const int64_t visible = visible_keys(mask, r, keys);
        float highest = top[r];
#pragma omp simd reduction(max : highest)
        for (int64_t k = 0; k < visible; ++k) highest = scores[k] > highest ? scores[k] : highest;
        // A row that has seen no key yet keeps −infinity, and its scores are all hidden.
        const float base = highest == -std::numeric_limits<float>::infinity() ? 0 : highest;
        float total = 0;
#pragma omp simd reduction(+ : total)
        for (int64_t k = 0; k < visible; ++k) {
            const float p = exponential(scores[k] - base);
            scores[k] = p;
            total += p;
        }
        std::fill(scores + visible, scores + keys, 0.0F);
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

void backward(float* scores, float* dprobability, int64_t rows, int64_t keys, const BlockMask& mask, const float* lse,
              const float* delta, float scale) {
    for (int64_t r = 0; r < rows; ++r, scores += keys, dprobability += keys) {
        const int64_t visible = visible_keys(mask, r, keys);
        const float row_lse = lse[r];
        const float row_delta = delta[r];
#pragma omp simd
        for (int64_t k = 0; k < visible; ++k) {
            const float p = exponential(scores[k] - row_lse);
            scores[k] = p;
            dprobability[k] = p * (dprobability[k] - row_delta) * scale;
        }
        std::fill(scores + visible, scores + keys, 0.0F);
        std::fill(dprobability + visible, dprobability + keys, 0.0F);
    }
}

void merge(float* out, int64_t out_stride, float* lse, const float* block_out, int64_t block_stride, const float* block_lse,
           int64_t rows, int64_t width) {
    for (int64_t r = 0; r < rows; ++r, out += out_stride, block_out += block_stride) {
        const float high = std::max(lse[r], block_lse[r]);
        if (high == -std::numeric_limits<float>::infinity()) continue;  // neither saw a key
        const float mine = std::exp(lse[r] - high);
        const float theirs = std::exp(block_lse[r] - high);
        const float total = mine + theirs;
        const float keep = mine / total;
        const float add = theirs / total;
#pragma omp simd
        for (int64_t w = 0; w < width; ++w) out[w] = out[w] * keep + block_out[w] * add;
        lse[r] = high + std::log(total);
    }
}

}  // namespace

extern const BlockSoftmax kBlockSoftmax;
const BlockSoftmax kBlockSoftmax = {forward, rescale, backward, merge};

}  // namespace ringmaster::RINGMASTER_ISA
