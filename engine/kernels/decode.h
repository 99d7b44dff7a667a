/// Computes products and attention for tokens of sequences that are decoded together. The rounding of a
/// token's result depends neither on the number of tokens nor on threads, so that a sequence gets the same
/// tokens in every batch. The arithmetic is float32 for every element type.
///
/// Letters: N tokens, C inputs, O outputs, D head_dim, G query heads that share a key head, S keys.
#pragma once

#include <cstdint>

#include "engine/kernels/fused.h"

namespace ringmaster {

/// Describes the queries of one token and the keys that they see.
struct SeenKeys {
    int64_t queries = 0;  ///< query heads that share the keys; their rows are adjacent
    int64_t head_dim = 0;
    int64_t keys = 0;
    float scale = 0;
    float softcap = 0;             ///< cap c: if not 0, a score s becomes c · tanh(s / c)
    const float* sinks = nullptr;  ///< one extra logit per query's softmax; null if there are none
};

template <typename T>
struct DecodeKernels {
    /// Writes y_no = Σ_c x_nc · w_oc + bias_o for outputs [begin, end); `bias` may be null.
    void (*linear)(const T* x, const T* w, const T* bias, T* y, int64_t rows, int64_t inputs, int64_t begin,
                   int64_t end, int64_t x_stride, int64_t w_stride, int64_t y_stride);
    /// Writes the attention of q_gd over keys_sd and values_sd to out_gd; all are packed. `scores` has room
    /// for G · (S + 1) numbers.
    void (*attend)(const T* q, const T* keys, const T* values, T* out, float* scores, const SeenKeys& seen);
    /// Returns Σ exp(x − top) over a row of logits.
    float (*sum_exponentials)(const float* x, int64_t count, float top);
};

template <typename T>
const DecodeKernels<T>& decode_kernels();
template <>
const DecodeKernels<float>& decode_kernels<float>();
template <>
const DecodeKernels<Bf16>& decode_kernels<Bf16>();
template <>
const DecodeKernels<Fp16>& decode_kernels<Fp16>();

}  // namespace ringmaster
