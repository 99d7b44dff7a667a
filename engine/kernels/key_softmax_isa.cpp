// This file is compiled once for each instruction set, as fused_isa.cpp is.
#include "engine/kernels/key_softmax.h"

#include <algorithm>
#include <limits>

#include "engine/kernels/elements.h"
#include "engine/kernels/exponential.h"

namespace ringmaster::RINGMASTER_ISA {

namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

/// Sets a key's row to -infinity for the queries that do not see the key.
void hide(float* row, int64_t key, const KeyBlock& block) {
    const BlockMask& mask = block.mask;
    if (mask.sees == BlockMask::All) return;
    // With Below, the first queries see only earlier keys; with From, the last queries see only later keys.
    const int64_t edge = std::clamp<int64_t>(key - mask.edge + 1, 0, mask.queries);
    const int64_t begin = mask.sees == BlockMask::Below ? 0 : edge;
    const int64_t end = mask.sees == BlockMask::Below ? edge : mask.queries;
    for (int64_t head = 0; head < block.queries; head += mask.queries)
        std::fill(row + head + begin, row + head + end, kHidden);
}

inline float probability(float score, float scale, float base) {
    return score == kHidden ? 0.0F : exponential(score * scale - base);
}

/// Stores two rows of one panel as pairs.
inline void store_pair(Bf16* to, float first, float second) {
    store(to[0], first);
    store(to[1], second);
}

/// Visits two keys at a time, panel by panel. Calls `body` with the address of the panel's pairs, the panel's
/// first column, both rows from that column on, and the weight of the second row (0 if there is none).
template <typename Body>
inline void for_each_pair(const float* scores, const KeyBlock& block, Bf16* panels, const Body& body) {
    for (int64_t key = 0; key < block.keys; key += 2) {
        const float* row = scores + key * block.columns;
        const bool is_paired = key + 1 < block.keys;
        const float* other = is_paired ? row + block.columns : row;
        for (int64_t panel = 0; panel < block.columns; panel += kPanel)
            body(panels + panel * even(block.keys) + key * kPanel, panel, row + panel, other + panel,
                 is_paired ? 1.0F : 0.0F);
    }
}

void forward(float* scores, const KeyBlock& block, float* top, float* sum, float* shrink, Bf16* panels) {
    const int64_t columns = block.columns;
    std::copy_n(top, columns, shrink);
    for (int64_t key = 0; key < block.keys; ++key) {
        float* row = scores + key * columns;
        hide(row, key, block);
#pragma omp simd
        for (int64_t c = 0; c < columns; ++c) {
            const float score = row[c] * block.scale;
            shrink[c] = score > shrink[c] ? score : shrink[c];
        }
    }
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) {
        const float highest = shrink[c];
        shrink[c] = exponential(top[c] - (highest == kHidden ? 0.0F : highest));
        sum[c] *= shrink[c];
        top[c] = highest;
    }
    for_each_pair(scores, block, panels,
                  [&](Bf16* pairs, int64_t panel, const float* row, const float* other, float weight) {
#pragma omp simd
                      for (int64_t c = 0; c < kPanel; ++c) {
                          const float base = top[panel + c] == kHidden ? 0.0F : top[panel + c];
                          const float p = probability(row[c], block.scale, base);
                          const float q = weight * probability(other[c], block.scale, base);
                          sum[panel + c] += p + q;
                          store_pair(pairs + 2 * c, p, q);
                      }
                  });
}

void rescale(float* accumulated, const float* shrink, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; ++r, accumulated += columns) {
#pragma omp simd
        for (int64_t c = 0; c < columns; ++c) accumulated[c] *= shrink[c];
    }
}

/// Computes the row of probabilities and of score gradients for one key; also writes the gradients over the
/// scores.
void backward_row(float* row, const float* dprobability, float scale, int64_t columns, const float* lse,
                  const float* delta, Bf16* p_row, Bf16* ds_row) {
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) {
        const float p = probability(row[c], scale, lse[c]);
        const float ds = p * (dprobability[c] - delta[c]);
        store(p_row[c], p);
        store(ds_row[c], ds);
        row[c] = ds;
    }
}

void backward(float* scores, const float* dprobability, const KeyBlock& block, const float* lse,
              const float* delta, Bf16* p, Bf16* dscores, Bf16* dscore_panels) {
    const int64_t columns = block.columns;
    for (int64_t key = 0; key < block.keys; ++key) {
        const int64_t at = key * columns;
        hide(scores + at, key, block);
        backward_row(scores + at, dprobability + at, block.scale, columns, lse, delta, p + at, dscores + at);
    }
    for_each_pair(scores, block, dscore_panels,
                  [](Bf16* pairs, int64_t, const float* row, const float* other, float weight) {
#pragma omp simd
                      for (int64_t c = 0; c < kPanel; ++c)
                          store_pair(pairs + 2 * c, row[c], weight * other[c]);
                  });
}

}  // namespace

extern const KeySoftmax kKeySoftmax;
const KeySoftmax kKeySoftmax = {forward, rescale, backward};

}  // namespace ringmaster::RINGMASTER_ISA
