/// Makes keys and values from shorter vectors, such as the latents of multi-head latent attention. Ranks send
/// each other these vectors in place of keys and values.
///
/// Letters: B rows, K key/value heads, T this rank's tokens, S another rank's, D head_dim, W width of a
/// vector. Source of the latents: DeepSeek-AI 2024, "DeepSeek-V2", arXiv 2405.04434, section 2.1.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/attention/held_keys.h"

namespace ringmaster {

class SentKeys {
  public:
    virtual ~SentKeys() = default;

    /// Returns the vectors of this rank's tokens: [B, T, 1, W].
    virtual const at::Tensor& own() const = 0;
    /// Returns the keys and values that sent_bs1w stands for: [B, S, K, D], all heads.
    virtual KeysValues keys_values(const at::Tensor& sent_bs1w) = 0;
    /// Returns the gradient of sent_bs1w, float32 [S, B, 1, W], given dk and dv, the gradients of its keys
    /// and values, [B, K, S, D]. Adds the gradients of the weights that make keys and values from the
    /// vectors.
    virtual at::Tensor gradient(const at::Tensor& sent_bs1w, const at::Tensor& dk_bksd,
                                const at::Tensor& dv_bksd) = 0;
};

}  // namespace ringmaster
