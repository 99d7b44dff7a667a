/// Defines the results of attention's forward and backward pass.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T queries, S keys, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

namespace ringmaster {

struct FlashOutput {
    at::Tensor out_bhtd;  ///< the inputs' dtype
    at::Tensor lse_bht;   ///< float32, natural log
};

struct FlashGradients {
    at::Tensor dq_bhtd;  ///< float32 if the gradients are sums, else the inputs' dtype
    at::Tensor dk_bksd;
    at::Tensor dv_bksd;
};

/// Holds float32 sums of the gradients of some keys and values. If `begin` is set, the tensors are
/// uninitialized memory, which the first gradients overwrite. The tensors are undefined if one call of a CUDA
/// kernel computes the gradients (Stage::one_call); that call then sets them to its results, in the inputs'
/// dtype.
struct KeyGradients {
    at::Tensor dk_bksd;
    at::Tensor dv_bksd;
    bool begin = false;
};

/// Swaps tokens and heads: x_bthd to x_bhtd and back. Both return a view.
inline at::Tensor heads_first(const at::Tensor& x_bthd) {
    return x_bthd.transpose(1, 2);
}
inline at::Tensor tokens_first(const at::Tensor& x_bhtd) {
    return x_bhtd.transpose(1, 2);
}

}  // namespace ringmaster
