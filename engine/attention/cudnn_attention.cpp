#include "engine/attention/cudnn_attention.h"

#include <ATen/ATen.h>

#include <atomic>
#include <cmath>

#include "engine/attention/flash_tensors.h"
#include "engine/attention/score_rule.h"
#include "engine/plan/attention_kernels.h"

namespace ringmaster {

namespace {

std::atomic<bool> forward_used{false}, backward_used{false};

/// True if the forward pass returns a log-sum-exp with a last dimension of one, which depends on LibTorch's
/// version. The backward pass needs the shape that the forward pass returned.
std::atomic<bool> lse_has_last_dim{false};

bool is_causal(const FlashInputs& in) {
    return in.window == kCausalWindow;
}

double scale_of(const FlashInputs& in) {
    return ScoreRule{in.scale, 0}.scale_of(in.q);
}

/// Returns x, or a contiguous copy if an element lies 2^31 elements or more after the first. cuDNN 9.19 gives
/// wrong gradients for such inputs without an error. On an H200, inputs of 600,000 tokens and 32 heads of 128
/// read in place gave gradients of 4 heads that were off by 0.69 of their norm. With a copy, they were off by
/// 0.004.
at::Tensor within_reach(const at::Tensor& x) {
    constexpr int64_t kReach = int64_t{1} << 31;
    int64_t last = 0;
    for (int64_t dim = 0; dim < x.dim(); ++dim) last += (x.size(dim) - 1) * x.stride(dim);
    return last < kReach ? x : x.contiguous();
}

}  // namespace

void use_cudnn(const CudnnUse& use) {
    forward_used = use.forward;
    backward_used = use.backward;
}

CudnnUse cudnn_in_use() {
    return {forward_used, backward_used};
}

bool cudnn_takes(const FlashInputs& in) {
    return !in.packed() && in.q.scalar_type() != at::kFloat &&
           cudnn_takes(DenseCall{in.q.size(1), in.k.size(1), in.q.size(3), in.window});
}

FlashKernel::Output cudnn_forward(const FlashInputs& in) {
    const auto result =
        at::_scaled_dot_product_cudnn_attention(heads_first(in.q), heads_first(in.k), heads_first(in.v), {},
                                                true, 0.0, is_causal(in), false, scale_of(in));
    const at::Tensor& lse = std::get<1>(result);
    lse_has_last_dim = lse.dim() == 4;
    return {heads_first(std::get<0>(result)), lse.dim() == 4 ? lse.squeeze(3) : lse};
}

FlashKernel::Gradients cudnn_backward(const FlashInputs& in, const at::Tensor& dout,
                                      const FlashKernel::Output& whole) {
    const at::Tensor no_dropout = at::zeros({}, in.q.options().dtype(at::kLong));
    const at::Tensor lse = lse_has_last_dim ? whole.lse.unsqueeze(3) : whole.lse;
    auto [dq, dk, dv] = at::_scaled_dot_product_cudnn_attention_backward(
        heads_first(within_reach(dout)), heads_first(within_reach(in.q)), heads_first(within_reach(in.k)),
        heads_first(within_reach(in.v)), heads_first(within_reach(whole.out)), lse, no_dropout, no_dropout,
        {}, {}, {}, in.q.size(1), in.k.size(1), 0.0, is_causal(in), scale_of(in));
    return {heads_first(dq), heads_first(dk), heads_first(dv)};
}

}  // namespace ringmaster
