/// Computes the gated delta rule in chunks of kChunkTokens. With decay a_t = exp(g_t), a head's state is
/// S_t = a_t · S_{t−1} + β_t · k_t · (v_t − (a_t · S_{t−1})ᵀ · k_t)ᵀ, and its output is S_tᵀ · q_t. Inside a
/// chunk, the WY representation makes this a triangular system and matrix products. Forward and backward are
/// written by hand; sums are in the dtype of the inputs, float32 or float64.
///
/// Without β nothing is removed from the state, S_t = a_t · S_{t−1} + k_t · v_tᵀ (Dao & Gu 2024,
/// "Transformers are SSMs", arXiv 2405.21060): all values are written as they are.
///
/// A stretch of chunks is an affine map of the state, S_after = A · S_before + B: see state_passing.h.
///
/// Letters: N chunks, M rows × key heads, G value heads of a key head, L tokens of a chunk, K and V widths of
/// a head's keys and values. Source: Yang et al. 2024, "Gated Delta Networks", arXiv 2412.06464, section 3.3.
#pragma once

#include <ATen/core/Tensor.h>

namespace ringmaster {

/// The rule's inputs, or their gradients. Padded positions have zeros everywhere.
struct DeltaInputs {
    at::Tensor q_nm1lk, k_nm1lk;  ///< queries and keys, normed; q is also scaled
    at::Tensor v_nmglv;
    at::Tensor log_decay_nmgl;  ///< g
    at::Tensor beta_nmgl = {};
};

/// Chunks [begin, end), computed one after the other.
struct ChunkRange {
    int64_t begin = 0, end = 0;
};

class DeltaRule {
  public:
    explicit DeltaRule(const DeltaInputs& inputs);

    at::Tensor zero_state() const;  ///< state, [M, G, K, V]
    /// Writes the range's outputs to out_nmglv if it is defined, and returns the state after the range.
    at::Tensor forward(const ChunkRange& range, at::Tensor state, const at::Tensor& out_nmglv) const;
    /// Returns A, [M, G, K, K]; [M, G, 1, 1] without β.
    at::Tensor transition(const ChunkRange& range) const;

    /// Holds the state of a backward pass. begin_backward() makes it; then call remember() and
    /// state_gradient() for each range, and at last finish().
    struct Backward {
        at::Tensor dout_nmglv;
        /// States at each chunk's beginning; state gradients at each chunk's end.
        at::Tensor states_nmgkv, dstates_nmgkv;
        /// V minus the state's prediction, from the triangular system.
        at::Tensor written_nmglv;
    };
    Backward begin_backward(at::Tensor dout_nmglv) const;
    /// Recomputes the states of a range, and the values that its chunks write, into `backward`.
    void remember(const ChunkRange& range, at::Tensor state, Backward& backward) const;
    /// Returns the gradient of the state before the range, given that of the state after it.
    at::Tensor state_gradient(const ChunkRange& range, at::Tensor dstate, const Backward& backward) const;
    DeltaInputs finish(const Backward& backward) const;

  private:
    bool removes() const { return in_.beta_nmgl.defined(); }
    /// Returns the values that a chunk writes to the state, given the state before it.
    at::Tensor written(int64_t chunk, const at::Tensor& state) const;

    const DeltaInputs in_;
    at::Tensor sums_nmgl;  ///< Σ g of the chunk up to the token
    at::Tensor decay_nmgll, system_nmgll, scores_nmgll;
    at::Tensor q_nmglk, k_begin_nmglk, k_end_nmglk;  ///< decayed from the chunk's beginning, or to its end
    at::Tensor solved_v_nmglv, solved_k_nmglk;
    at::Tensor last_nmg11;  ///< decay over the chunk
};

}  // namespace ringmaster
