/// Computes a layer with a short causal convolution between two gates, over the ranks that share a sequence:
/// y = c · conv(b · x), where the layer's first matrix gives b, c and x. Documents are independent. Ranks
/// exchange the tokens that the convolution reads before a stretch.
///
/// Letters: B rows, T this rank's tokens of a row, C channels, J taps of the convolution.
/// Source: Lfm2ShortConv in transformers 5.23.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/recurrence/own_stretches.h"

namespace ringmaster {

class ShortConvolution {
  public:
    ShortConvolution(Groups& groups, const OwnStretches& stretches, const at::Tensor& weight_c1j)
        : groups_(groups), stretches_(stretches), weight_c1j_(weight_c1j) {}

    /// Returns y [B, T, C], given b, c and x, [B, T, 3C].
    at::Tensor forward(const at::Tensor& projected_btw) const;
    /// Replaces projected_btw by its gradient, given that of y; sets the weight's gradient, if it is defined,
    /// to beta · gradient + new gradient.
    void backward(const at::Tensor& dy_btc, const at::Tensor& projected_btw, const at::Tensor& dweight_c1j,
                  double beta) const;

  private:
    struct Parts {
        at::Tensor b_btc, c_btc, x_btc;  ///< views of the first matrix's outputs
    };
    static Parts parts_of(const at::Tensor& projected_btw);
    at::Tensor sources_of(const Parts& parts) const;
    at::Tensor taps_cj(const at::Tensor& like) const;
    at::Tensor convolved(const at::Tensor& sources_bsc) const;

    Groups& groups_;
    const OwnStretches& stretches_;
    const at::Tensor& weight_c1j_;
};

}  // namespace ringmaster
