/// Computes the selective scan of Mamba-1 on the CPU, for kScanLanes neighbouring channels at a time. Each
/// channel has a state of K numbers. With the step Δ of each token and channel, and the rate A of each
/// channel and number of its state, the state and the output are
///
///     h_t = exp(Δ_t · A) · h_{t−1} + Δ_t · B_t · x_t,        y_t = Σ_k C_t · h_t.
///
/// The state stays in the processor's first-level cache, and no array has an element for each token, channel
/// and number of the state. The backward pass keeps only the state at the start of every kScanChunk tokens,
/// and computes the states of one chunk at a time again. Numbers are float32, or float64 for tests. Each
/// kernel exists for each instruction set.
///
/// Letters: T tokens, K numbers of a channel's state, L = kScanLanes channels.
/// Source: Gu & Dao 2023, "Mamba", arXiv 2312.00752, sections 3.2 and 3.3.2.
#pragma once

#include <cstdint>

#include "engine/piece_sizes.h"

namespace ringmaster {

using pieces::kScanLanes;
constexpr int64_t kScanChunk = pieces::kChunkTokens;

/// Holds some channels of one row's tokens, one token after the other.
template <typename Number>
struct ScanTokens {
    int64_t tokens, states;  ///< T, K
    int64_t stride;          ///< distance between tokens of x, Δ, y and their gradients
    const Number* x_tl;
    const Number* steps_tl;  ///< Δ
    const Number* rates_kl;  ///< A, which is below 0
    const Number* keys_tk;   ///< B, packed
    const Number* queries_tk;
};

/// Holds the gradients that the backward pass writes.
template <typename Number>
struct ScanGradients {
    Number* dx_tl;
    Number* dsteps_tl;
    Number* drates_kl;  ///< the backward pass adds to these values
    Number *dkeys_tk, *dqueries_tk;
};

template <typename Number>
struct ScanKernels {
    /// Replaces state_kl by the state after the last token. Writes y_tl unless it is null.
    void (*forward)(const ScanTokens<Number>& in, Number* state_kl, Number* y_tl);
    /// Replaces dstate_kl, the gradient of the state after the last token, by the gradient of the state
    /// before the first.
    void (*state_gradient)(const ScanTokens<Number>& in, const Number* dy_tl, Number* dstate_kl);
    /// Does the same as state_gradient, and also writes all gradients. state_kl is the state before the first
    /// token; it is overwritten. `scratch` has scan_scratch elements.
    void (*backward)(const ScanTokens<Number>& in, const Number* dy_tl, Number* state_kl, Number* dstate_kl,
                     const ScanGradients<Number>& out, Number* scratch);
};

/// Returns the elements of scratch that a backward pass needs: the state at each chunk's start, and the
/// states and decays of one chunk.
constexpr int64_t scan_scratch(int64_t tokens, int64_t states) {
    return ((tokens + kScanChunk - 1) / kScanChunk + 2 * kScanChunk + 2) * states * kScanLanes;
}

template <typename Number>
const ScanKernels<Number>& scan_kernels();
template <>
const ScanKernels<float>& scan_kernels<float>();
template <>
const ScanKernels<double>& scan_kernels<double>();

}  // namespace ringmaster
