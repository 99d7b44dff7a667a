/// Computes silu(conv(x) + bias), a short causal convolution of each channel, over the ranks that share a
/// sequence. Documents are independent. Ranks exchange the tokens that the convolution reads before a
/// stretch. A few channels are computed at a time, so that float32 copies stay small.
///
/// Letters: B rows, T this rank's tokens of a row, E channels, J taps of the convolution.
/// Source: JambaMambaMixer in transformers 5.23.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/piece_sizes.h"
#include "engine/recurrence/delta_weights.h"
#include "engine/recurrence/own_stretches.h"

namespace ringmaster {

/// The channels [first, first + count).
struct ChannelRange {
    int64_t first = 0, count = 0;

    at::Tensor of(const at::Tensor& x_bte) const { return x_bte.narrow(2, first, count); }
};

/// Calls `body` with a few of `channels` at a time, and never cuts a group of `together` channels. Each
/// channel needs `of_token` elements for each token.
template <class Body>
void for_channel_ranges(int64_t tokens, int64_t of_token, int64_t channels, int64_t together,
                        const Body& body) {
    const int64_t elements = tokens * of_token > 0 ? tokens * of_token : 1;
    const int64_t wanted = pieces::kScanElements / elements / together * together;
    const int64_t most = wanted < together ? together : wanted;
    for (int64_t first = 0; first < channels; first += most)
        body(ChannelRange{first, channels - first < most ? channels - first : most});
}

class ChannelConvolution {
  public:
    ChannelConvolution(Groups& groups, const OwnStretches& stretches, const DeltaWeights& weights)
        : groups_(groups), stretches_(stretches), weights_(weights) {}

    /// Returns [B, T, E] in the dtype of x_bte; zeros for padding.
    at::Tensor forward(const at::Tensor& x_bte) const;
    /// Replaces x_bte by its gradient, given that of the output; sets the gradients of weight and bias, if
    /// they are defined, to beta · gradient + new gradient.
    void backward(const at::Tensor& dy_bte, const at::Tensor& x_bte, const DeltaWeights& gradients,
                  double beta) const;

  private:
    struct Some;  ///< tensors of some channels

    at::Tensor before(const at::Tensor& x_bte) const;
    template <class Body>
    void for_some(const at::Tensor& x_bte, const at::Tensor& before_bre, const Body& body) const;

    Groups& groups_;
    const OwnStretches& stretches_;
    const DeltaWeights& weights_;
};

}  // namespace ringmaster
