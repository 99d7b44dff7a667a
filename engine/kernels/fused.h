/// Fuses the CPU operations of a decoder layer on raw rows: one pass over memory instead of several. The
/// arithmetic is float32 for every element type. Each kernel exists for AVX-512, AVX2 and plain x86-64;
/// `fused<T>()` picks the processor's best at run time. Kernels work on the rows (or columns) that they get:
/// callers split them over threads.
///
/// Letters: N rows (tokens), W width, V vocabulary.
#pragma once

#include <cstdint>

#include "engine/activation.h"

namespace ringmaster {

/// Holds a bfloat16 as its bits; conversions round to nearest even.
struct Bf16 {
    uint16_t bits;
};
/// Holds an IEEE float16 as its bits; conversions round to nearest even, beyond 65,504 to infinity.
struct Fp16 {
    uint16_t bits;
};

/// Says which pairs of a head's numbers the rotary embedding rotates.
struct HeadPairs {
    int64_t head_dim = 0;
    int64_t pairs = 0;         ///< head_dim / 2, or fewer under partial rotary embedding
    bool interleaved = false;  ///< (0, 1), (2, 3), …; otherwise (0, pairs), (1, pairs + 1), … as in Llama
};

template <typename T>
struct FusedKernels {
    /// Writes y_nw = x_nw · rstd_n · (offset + weight_w) with rstd = (mean(x²) + eps)^-1/2. Source: Zhang &
    /// Sennrich 2019, equation 4; Gemma's offset is 1. `stride` is the distance between rows of x and of y (W
    /// if they are packed).
    void (*rms_norm_forward)(const T* x, const T* weight, T* y, float* rstd, int64_t rows, int64_t width,
                             int64_t x_stride, int64_t y_stride, float eps, float offset);
    /// Writes dx_nw (+)= rstd · (dy·w − x · rstd² · mean(dy·w·x)) with w = offset + weight; `accumulate` adds
    /// to the values in dx.
    void (*rms_norm_backward_input)(const T* dy, const T* x, const T* weight, const float* rstd, T* dx,
                                    int64_t rows, int64_t width, int64_t dy_stride, int64_t x_stride,
                                    int64_t dx_stride, bool accumulate, float offset);
    /// Adds Σ_n dy · x · rstd to dweight_w for columns [begin, end); the order of the sum does not depend on
    /// threads.
    void (*rms_norm_backward_weight)(const T* dy, const T* x, const float* rstd, float* dweight, int64_t rows,
                                     int64_t begin, int64_t end, int64_t dy_stride, int64_t x_stride);
    /// Writes y_nw = (x_nw − mean_n) · rstd_n · (offset + weight_w) + bias_w with rstd = (mean((x − mean)²) +
    /// eps)^-1/2; stats [N, 2] get mean and rstd; `bias` may be null. Source: Ba et al. 2016, equation 4.
    void (*layer_norm_forward)(const T* x, const T* weight, const T* bias, T* y, float* stats, int64_t rows,
                               int64_t width, int64_t x_stride, int64_t y_stride, float eps, float offset);
    /// Writes dx_nw (+)= rstd · (g − mean(g) − n · mean(g · n)) with g = dy · (offset + weight) and n = (x −
    /// mean) · rstd; `accumulate` adds to the values in dx.
    void (*layer_norm_backward_input)(const T* dy, const T* x, const T* weight, const float* stats, T* dx,
                                      int64_t rows, int64_t width, int64_t dy_stride, int64_t x_stride,
                                      int64_t dx_stride, bool accumulate, float offset);
    /// Adds Σ_n dy · n to dweight_w and Σ_n dy to dbias_w (unless it is null) for columns [begin, end), in an
    /// order that does not depend on threads.
    void (*layer_norm_backward_weight)(const T* dy, const T* x, const float* stats, float* dweight,
                                       float* dbias, int64_t rows, int64_t begin, int64_t end,
                                       int64_t dy_stride, int64_t x_stride);
    /// Rotates `heads` heads of every row in place: (a, b) → (a·cos − b·sin, b·cos + a·sin) over the pairs of
    /// their first numbers. cos, sin float32 [period, pairs]; row n uses line n mod period. `direction` −1 is
    /// the transpose (backward). Source: Su et al. 2021, section 3.4.2.
    void (*rope)(T* x, const float* cos, const float* sin, int64_t first_row, int64_t rows, int64_t period,
                 int64_t heads, const HeadPairs& pairs, int64_t row_stride, float direction);
    /// Writes act_nw = f(gate) · up for gate_up rows [gate W | up W], or f(row) for rows [W]. Source: Shazeer
    /// 2020, equation 6.
    void (*gate_forward)(const GateRule& rule, const T* gate_up, T* act, int64_t rows, int64_t width);
    /// Replaces gate_up by the gradients of gate and up; `act_recomputed` gets f(gate) · up, computed again.
    void (*gate_backward)(const GateRule& rule, T* gate_up, T* act_recomputed, const T* dact, int64_t rows,
                          int64_t width);
    /// Computes the cross-entropy of each row's logits [V] against its label, in float32. Writes the negative
    /// log-likelihood to loss_n and, unless `scale` is 0, replaces the logits by (softmax − onehot) · scale.
    void (*cross_entropy)(T* logits, const int64_t* labels, float* loss, int64_t rows, int64_t vocab,
                          float scale);
    /// Adds dx[n, begin:end] to grad_vw[ids[n], begin:end], row by row, so that the number of threads does
    /// not change the sum.
    void (*embedding_backward)(float* grad, const int64_t* ids, const T* dx, int64_t rows, int64_t width,
                               int64_t begin, int64_t end);
};

template <typename T>
const FusedKernels<T>& fused();
template <>
const FusedKernels<float>& fused<float>();
template <>
const FusedKernels<Bf16>& fused<Bf16>();
template <>
const FusedKernels<Fp16>& fused<Fp16>();

}  // namespace ringmaster
