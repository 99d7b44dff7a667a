/// Fuses the operations between the matrix products of a mixture of experts on the CPU: one pass over rows
/// instead of several. The arithmetic is float32 for every element type. As in engine/kernels/fused.h, there
/// is one version of each kernel per instruction set, and callers split rows or tokens over threads.
///
/// Letters: N tokens, K experts of a token, M rows (a token and one of its experts), W width.
#pragma once

#include <cstdint>

#include "engine/kernels/fused.h"

namespace ringmaster {

template <typename T>
struct ExpertRows {
    /// Writes out_nw = Σ_k weights_nk · y[rows_nk], and rounds once; `weights` may be null.
    void (*combine)(const T* y, const int64_t* rows, const float* weights, T* out, int64_t tokens,
                    int64_t per_token, int64_t width);
    /// Computes the backward pass of rows weight · f(gate) · up; `dact` is the gradient of the weighted rows.
    /// Writes sums_m = Σ dact · f(gate) · up, replaces gate_up by the gradients of gate and up, and writes
    /// weight · f(gate) · up to `act`, which may be `dact`.
    void (*gate_backward)(const GateRule& rule, T* gate_up, T* act, const T* dact, const float* weights,
                          float* sums, int64_t rows, int64_t width);
};

template <typename T>
const ExpertRows<T>& expert_rows_kernels();
template <>
const ExpertRows<float>& expert_rows_kernels<float>();
template <>
const ExpertRows<Bf16>& expert_rows_kernels<Bf16>();
template <>
const ExpertRows<Fp16>& expert_rows_kernels<Fp16>();

}  // namespace ringmaster
