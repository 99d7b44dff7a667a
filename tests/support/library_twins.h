/// Implements LibTorch's cuDNN and memory-efficient attention on the CPU in float64. They replace the
/// operators themselves and refuse the same inputs, as far as LibTorch's source shows. cuDNN's own
/// limits are not in that source, so a test sets the longest sequence that it accepts.
///
/// Sources: check_cudnn_tensor_shapes of PyTorch's sdp_utils.cpp, _cudnn_attention_backward and
/// _efficient_attention_backward of its attention_backward.cu, kAlignLSE of its kernel_forward.h.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include <array>
#include <cmath>
#include <optional>
#include <tuple>

namespace ringmaster::twins {

/// Holds queries, keys and values: [B, H or K, T or S, D].
struct Square {
    at::Tensor q, k, v;  // float64; key/value heads are repeated for each query head
    double scale;
    at::Tensor hidden;
    int64_t key_heads;

    Square(const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd, bool causal,
           std::optional<double> scaled)
        : scale(scaled.value()), key_heads(k_bksd.size(1)) {
        TORCH_CHECK(q_bhtd.stride(3) == 1 && k_bksd.stride(3) == 1 && v_bksd.stride(3) == 1,
                    "the last dim is not contiguous");
        TORCH_CHECK(q_bhtd.size(1) % key_heads == 0, "heads");
        const int64_t group = q_bhtd.size(1) / key_heads;
        q = q_bhtd.to(at::kDouble);
        k = k_bksd.to(at::kDouble).repeat_interleave(group, 1);
        v = v_bksd.to(at::kDouble).repeat_interleave(group, 1);
        // The causal triangle starts in the upper left corner.
        hidden = at::ones({q.size(2), k.size(2)}, at::kBool);
        hidden = causal ? hidden.triu(1) : at::zeros_like(hidden);
    }
    at::Tensor scores() const {
        return (at::matmul(q, k.transpose(2, 3)) * scale).masked_fill(hidden, -INFINITY);
    }
    struct Gradients {
        at::Tensor dq, dk, dv;
    };
    Gradients pull(const at::Tensor& dout, const at::Tensor& out, const at::Tensor& lse_bht) const {
        const at::Tensor d = dout.to(at::kDouble);
        const at::Tensor p = (scores() - lse_bht.to(at::kDouble).unsqueeze(3)).exp();
        const at::Tensor ds =
            p * (at::matmul(d, v.transpose(2, 3)) - (d * out.to(at::kDouble)).sum(3, true)) * scale;
        const auto summed = [&](const at::Tensor& x) {
            return x.unflatten(1, {key_heads, x.size(1) / key_heads}).sum(2);
        };
        return {at::matmul(ds, k), summed(at::matmul(ds.transpose(2, 3), q)),
                summed(at::matmul(p.transpose(2, 3), d))};
    }
};

struct CudnnLimits {
    int64_t most_tokens = 1 << 30;
    bool lse_has_last_dim = false;  ///< differs between versions of LibTorch
    int calls = 0;
};
inline CudnnLimits& cudnn() {
    static CudnnLimits limits;
    return limits;
}

inline void check_cudnn(const at::Tensor& q, const at::Tensor& k) {
    TORCH_CHECK(q.size(3) % 8 == 0 && q.size(3) <= 128, "head_dim");
    TORCH_CHECK(q.size(2) > 1 && k.size(2) > 1, "cuDNN has no sequences of length 1");
    TORCH_CHECK(q.size(2) <= cudnn().most_tokens, "No valid execution plans built");
    ++cudnn().calls;
}

using CudnnForward = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt,
                                at::Tensor, at::Tensor, at::Tensor>;
inline CudnnForward cudnn_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                  const std::optional<at::Tensor>& /*bias*/, bool compute_lse,
                                  double /*dropout*/, bool causal, bool /*debug*/,
                                  std::optional<double> scale) {
    check_cudnn(q, k);
    TORCH_CHECK(compute_lse, "lse");
    const Square it(q, k, v, causal, scale);
    const at::Tensor scores = it.scores(), none = at::empty({0});
    at::Tensor lse = at::logsumexp(scores, 3).to(at::kFloat);
    if (cudnn().lse_has_last_dim) lse = lse.unsqueeze(3);
    return {at::matmul(at::softmax(scores, 3), it.v).to(q.scalar_type()),
            lse,
            none,
            none,
            q.size(2),
            k.size(2),
            none,
            none,
            none};
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor> cudnn_backward(
    const at::Tensor& dout, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const at::Tensor& out, const at::Tensor& lse, const at::Tensor& /*seed*/, const at::Tensor& /*offset*/,
    const at::Tensor& /*bias*/, const at::Tensor& /*ends*/, const at::Tensor& /*key ends*/, int64_t max_q,
    int64_t max_k, double /*dropout*/, bool causal, std::optional<double> scale) {
    check_cudnn(q, k);
    TORCH_CHECK(max_q == q.size(2) && max_k == k.size(2), "lengths");
    TORCH_CHECK(lse.dim() == (cudnn().lse_has_last_dim ? 4 : 3), "lse as the forward gave it");
    const auto d = Square(q, k, v, causal, scale).pull(dout, out, lse.dim() == 4 ? lse.squeeze(3) : lse);
    return {d.dq.to(q.scalar_type()), d.dk.to(k.scalar_type()), d.dv.to(v.scalar_type())};
}

/// The kernel pads log-sum-exps to a multiple of this length, with infinities after the last query's.
constexpr int64_t kAlignLse = 32;

inline std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient_forward(
    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const std::optional<at::Tensor>& /*bias*/,
    bool compute_lse, double /*dropout*/, bool causal, std::optional<double> scale) {
    TORCH_CHECK(q.size(1) == k.size(1) && q.size(1) == v.size(1), "grouped heads");
    const Square it(q, k, v, causal, scale);
    const at::Tensor scores = it.scores(), none = at::empty({0});
    const int64_t queries = q.size(2), padding = (kAlignLse - queries % kAlignLse) % kAlignLse;
    TORCH_CHECK(compute_lse, "lse");
    const at::Tensor lse =
        at::constant_pad_nd(at::logsumexp(scores, 3).to(at::kFloat), {0, padding}, INFINITY);
    return {at::matmul(at::softmax(scores, 3), it.v).to(q.scalar_type()), lse, none, none};
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient_backward(
    const at::Tensor& dout, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const at::Tensor& /*bias*/, const at::Tensor& out, const at::Tensor& lse, const at::Tensor& /*seed*/,
    const at::Tensor& /*offset*/, double /*dropout*/, std::array<bool, 4> wanted, bool causal,
    std::optional<double> scale) {
    TORCH_CHECK(q.size(1) == k.size(1) && q.size(1) == v.size(1), "grouped heads");
    TORCH_CHECK(lse.stride(1) % 8 == 0 && lse.stride(2) == 1, "lse is not aligned");
    TORCH_CHECK(lse.size(2) % kAlignLse == 0 && lse.size(2) >= q.size(2), "lse is too short");
    TORCH_CHECK(at::isposinf(lse.narrow(2, q.size(2), lse.size(2) - q.size(2))).all().item<bool>(),
                "lse after the last query's is not infinite");
    TORCH_CHECK(wanted[0] && wanted[1] && wanted[2] && !wanted[3], "gradients");
    const auto d = Square(q, k, v, causal, scale).pull(dout, out, lse.narrow(2, 0, q.size(2)));
    return {d.dq.to(q.scalar_type()), d.dk.to(k.scalar_type()), d.dv.to(v.scalar_type()), at::Tensor()};
}

/// Registers all four operators for the rest of the program.
inline void install() {
    static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__);
    static const bool registered = [] {
        library.impl("_scaled_dot_product_cudnn_attention", TORCH_FN(cudnn_forward));
        library.impl("_scaled_dot_product_cudnn_attention_backward", TORCH_FN(cudnn_backward));
        library.impl("_scaled_dot_product_efficient_attention", TORCH_FN(efficient_forward));
        library.impl("_scaled_dot_product_efficient_attention_backward", TORCH_FN(efficient_backward));
        return true;
    }();
    static_cast<void>(registered);
}

}  // namespace ringmaster::twins
