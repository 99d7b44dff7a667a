/// Adds NEFTune's noise to the embeddings' output while training. The noise is drawn like dropout
/// (dropout.h), so it does not depend on how sequences are split or batched. Each step draws new noise.
///
/// Letters: N tokens, C hidden.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/config/noise.h"

namespace ringmaster {

class EmbeddingNoise {
  public:
    explicit EmbeddingNoise(const Config& config);

    bool on() const { return rule_.alpha > 0; }
    /// Sets the seed and the step, which together with the tokens' places determine the noise.
    void begin_step(int64_t seed, int64_t step);
    /// Adds noise to x_nc. `places_n` are the tokens' places in the data (int64 [N]), and `length` is the
    /// padded length of a row.
    void add(const at::Tensor& x_nc, const at::Tensor& places_n, int64_t length) const;

  private:
    NoiseRule rule_;
    uint64_t stream_ = 0;
};

}  // namespace ringmaster
