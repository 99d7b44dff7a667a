/// Implements the operations that only decoding needs. On the CPU a token's result does not depend on the
/// other tokens (engine/kernels/decode.h). On a GPU these are LibTorch's operations.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/attention/score_rule.h"

namespace ringmaster {

/// Returns x_nc · weight_ocᵀ (+ bias_o).
at::Tensor decode_linear(const at::Tensor& x_nc, const at::Tensor& weight_oc, const at::Tensor& bias_o);

/// A token being decoded: it attends to the keys [begin, end) of its row of the cache.
struct DecodedToken {
    int64_t row = 0, begin = 0, end = 0;
};

/// Returns attention [N, H, D] of q_nhd over keys and values of the cache, [B, K, S, D]. `sinks_h` may be
/// undefined.
at::Tensor decode_attention(const at::Tensor& q_nhd, const at::Tensor& keys_bksd,
                            const at::Tensor& values_bksd, const std::vector<DecodedToken>& tokens,
                            const ScoreRule& rule, const at::Tensor& sinks_h = {});

}  // namespace ringmaster
