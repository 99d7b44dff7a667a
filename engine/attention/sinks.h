/// Lets a learned logit of each head, its sink, join attention's softmax. The logit has no key: it only takes
/// a share of the probabilities away. It joins once, after all partial results are merged, so that kernels,
/// rings and layouts need no change for it. The kernels' backward pass is exact if it gets the output and the
/// log-sum-exp that include the sinks. Source: Xiao et al. 2023, "Efficient Streaming Language Models with
/// Attention Sinks", section 3.3.
///
/// Letters: B rows, H query heads, T queries, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

namespace ringmaster {

/// Replaces lse by lse' = log(exp(lse) + exp(sink)), and out by out · exp(lse − lse').
void add_sinks(const at::Tensor& out_bhtd, const at::Tensor& lse_bht, const at::Tensor& sinks_h);

/// Returns the sinks' gradient over these queries, float32 [H]: −Σ exp(sink − lse') · (dout · out), given the
/// results of `add_sinks`.
at::Tensor sinks_backward(const at::Tensor& dout_bhtd, const at::Tensor& out_bhtd, const at::Tensor& lse_bht,
                          const at::Tensor& sinks_h);

}  // namespace ringmaster
