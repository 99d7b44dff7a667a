/// Implements LibTorch's FlashAttention-2 operators on the CPU with plain matrix products in float64, as
/// strict as the CUDA kernels: rows that a launch does not write are NaN, arguments that CUDA refuses throw
/// (flash_contract.h). They replace the operators themselves, so that tests run the engine's own calls with
/// their exact arguments. Unlike the CUDA kernels, they accept any floating-point type.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/attention/cuda_flash.h"
#include "tests/support/flash_contract.h"

namespace ringmaster {

namespace flash2 {

/// Holds the packed tensors of one launch: [N or M, H or K, D], lse [H, N]. A dense batch is packed row after
/// row.
struct Operands {
    at::Tensor q, k, v;
    Launch launch;
    bool dense;

    int64_t group() const { return launch.heads / launch.key_heads; }

    at::Tensor packed(const at::Tensor& x) const { return dense ? x.flatten(0, 1) : x; }
    at::Tensor packed_lse(const at::Tensor& lse) const {
        return dense ? lse.transpose(0, 1).flatten(1) : lse;
    }
    at::Tensor as(const at::Tensor& like, const at::Tensor& packed_nhd) const {
        return packed_nhd.view(like.sizes());
    }
    at::Tensor as_lse(const at::Tensor& packed_hn) const {
        if (!dense) return packed_hn;
        return packed_hn.unflatten(1, {q.size(0), q.size(1)}).transpose(0, 1).contiguous();
    }
};

inline std::vector<int32_t> values_of(const at::Tensor& ends) {
    require(ends.scalar_type() == at::kInt && ends.is_contiguous(), "cu_seqlens is no contiguous int32");
    const auto* data = ends.const_data_ptr<int32_t>();
    return {data, data + ends.numel()};
}
inline std::vector<int32_t> equal_ends(int64_t rows, int64_t length) {
    std::vector<int32_t> ends;
    for (int64_t i = 0; i <= rows; ++i) ends.push_back(static_cast<int32_t>(i * length));
    return ends;
}

inline Operands operands_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const std::optional<at::Tensor>& query_ends,
                            const std::optional<at::Tensor>& key_ends, int64_t max_queries, int64_t max_keys,
                            bool causal, std::optional<int64_t> left, std::optional<int64_t> right) {
    const bool packed = query_ends.has_value() && query_ends->defined();
    require(q.dim() == (packed ? 3 : 4) && k.sizes() == v.sizes(), "shapes");
    for (const at::Tensor* x : {&q, &k, &v}) require(x->stride(-1) == 1, "the last dim is not contiguous");
    Operands it{q, k, v, {}, !packed};
    Launch& launch = it.launch;
    launch.query_ends = packed ? values_of(*query_ends) : equal_ends(q.size(0), q.size(1));
    launch.key_ends = packed ? values_of(*key_ends) : equal_ends(k.size(0), k.size(1));
    launch.max_queries = packed ? max_queries : q.size(1);
    launch.max_keys = packed ? max_keys : k.size(1);
    launch.causal = causal;
    launch.left = left.value_or(-1);
    launch.right = right.value_or(-1);
    launch.heads = q.size(-2);
    launch.key_heads = k.size(-2);
    launch.head_dim = q.size(-1);
    check_limits(launch);
    require(
        launch.query_ends.back() <= it.packed(q).size(0) && launch.key_ends.back() <= it.packed(k).size(0),
        "cu_seqlens goes beyond the tensors");
    return it;
}

inline at::Tensor hidden_from(const Sight& sight, int64_t rows, int64_t queries, int64_t keys) {
    std::vector<int64_t> first, last;
    for (int64_t i = 0; i < rows; ++i) {
        first.push_back(sight.first(i, queries, keys));
        last.push_back(sight.last(i, queries, keys));
    }
    const at::Tensor key = at::arange(keys);
    const auto column = [](const std::vector<int64_t>& x) { return at::tensor(x).unsqueeze(1); };
    return at::logical_or(key < column(first), key >= column(last));
}

/// Returns [H, n, D] in float64, with repeated key/value heads.
inline at::Tensor heads_first(const at::Tensor& x_nhd, int64_t begin, int64_t count, int64_t repeat) {
    return x_nhd.narrow(0, begin, count).transpose(0, 1).to(at::kDouble).repeat_interleave(repeat, 0);
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> forward(
    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& query_ends, const std::optional<at::Tensor>& key_ends,
    int64_t max_queries, int64_t max_keys, double dropout, bool causal, bool /*debug*/,
    std::optional<double> scale, std::optional<int64_t> left, std::optional<int64_t> right,
    const std::optional<at::Tensor>& /*used keys*/, const std::optional<at::Tensor>& /*alibi*/) {
    require(dropout == 0, "dropout");
    const Operands in =
        operands_of(q, k, v, query_ends, key_ends, max_queries, max_keys, causal, left, right);
    const Launch& launch = in.launch;
    const Sight sight = sight_of(launch, true);
    const at::Tensor queries_nhd = in.packed(q), keys_mkd = in.packed(k), values_mkd = in.packed(v);
    const at::Tensor out = at::full(queries_nhd.sizes(), NAN, q.options());
    const at::Tensor lse = at::full({launch.heads, queries_nhd.size(0)}, NAN, at::kFloat);
    for (int64_t i = 0; i < launch.segments(); ++i) {
        const int64_t rows = forward_rows(launch, i), keys = launch.keys(i);
        if (rows == 0) continue;
        at::Tensor out_hnd = out.narrow(0, launch.query_begin(i), rows).transpose(0, 1);
        at::Tensor lse_hn = lse.narrow(1, launch.query_begin(i), rows);
        if (keys == 0) {
            out_hnd.zero_();
            lse_hn.fill_(INFINITY);
            continue;
        }
        const at::Tensor scores =
            (at::matmul(heads_first(queries_nhd, launch.query_begin(i), rows, 1),
                        heads_first(keys_mkd, launch.key_begin(i), keys, in.group()).transpose(1, 2)) *
             scale.value())
                .masked_fill(hidden_from(sight, rows, launch.queries(i), keys), -INFINITY);
        const at::Tensor sums = at::logsumexp(scores, 2);
        const at::Tensor blind = sums == -INFINITY;
        const at::Tensor p = (scores - sums.masked_fill(blind, 0).unsqueeze(2)).exp();
        out_hnd.copy_(at::matmul(p, heads_first(values_mkd, launch.key_begin(i), keys, in.group())));
        lse_hn.copy_(sums.masked_fill(blind, INFINITY));
    }
    const at::Tensor none = at::empty({0});
    return {in.as(q, out), in.as_lse(lse), none, none, none};
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(
    const at::Tensor& dout, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const at::Tensor& out, const at::Tensor& lse, const at::Tensor& query_ends, const at::Tensor& key_ends,
    int64_t max_queries, int64_t max_keys, double dropout, bool causal, const at::Tensor& /*rng*/,
    const at::Tensor& /*unused*/, std::optional<double> scale, std::optional<int64_t> left,
    std::optional<int64_t> right) {
    require(dropout == 0, "dropout");
    require(lse.is_contiguous() && lse.scalar_type() == at::kFloat, "lse is no contiguous float32");
    require(dout.sizes() == q.sizes() && out.sizes() == q.sizes(), "shapes of out and its gradient");
    const Operands in =
        operands_of(q, k, v, query_ends, key_ends, max_queries, max_keys, causal, left, right);
    const Launch& launch = in.launch;
    const Sight sight = sight_of(launch, false);
    const at::Tensor queries_nhd = in.packed(q), keys_mkd = in.packed(k), values_mkd = in.packed(v);
    const at::Tensor dout_nhd = in.packed(dout), out_nhd = in.packed(out), lse_hn = in.packed_lse(lse);
    const auto nan_like = [](const at::Tensor& x) { return at::full(x.sizes(), NAN, x.options()); };
    const at::Tensor dq = nan_like(queries_nhd), dk = nan_like(keys_mkd), dv = nan_like(values_mkd);
    for (int64_t i = 0; i < launch.segments(); ++i) {
        const int64_t queries = launch.queries(i), keys = launch.keys(i);
        const int64_t rows = backward_rows(launch, i), key_rows = backward_keys(launch, i);
        const at::Tensor dq_hnd = dq.narrow(0, launch.query_begin(i), rows).transpose(0, 1);
        const auto key_part = [&](const at::Tensor& x) { return x.narrow(0, launch.key_begin(i), key_rows); };
        if (queries == 0 || keys == 0) {
            dq_hnd.zero_();
            key_part(dk).zero_();
            key_part(dv).zero_();
            continue;
        }
        const auto of_queries = [&](const at::Tensor& x) {
            return heads_first(x, launch.query_begin(i), queries, 1);
        };
        const at::Tensor q_hnd = of_queries(queries_nhd), d_hnd = of_queries(dout_nhd);
        const at::Tensor k_hmd = heads_first(keys_mkd, launch.key_begin(i), keys, in.group());
        const at::Tensor v_hmd = heads_first(values_mkd, launch.key_begin(i), keys, in.group());
        const at::Tensor sums = lse_hn.narrow(1, launch.query_begin(i), queries).to(at::kDouble).unsqueeze(2);
        const at::Tensor scores = (at::matmul(q_hnd, k_hmd.transpose(1, 2)) * scale.value())
                                      .masked_fill(hidden_from(sight, queries, queries, keys), -INFINITY);
        const at::Tensor p = (scores - sums.masked_fill(sums == -INFINITY, 0)).exp();
        const at::Tensor delta = (d_hnd * of_queries(out_nhd)).sum(2, true);
        delta.narrow(1, rows, queries - rows).fill_(NAN);
        const at::Tensor ds = p * (at::matmul(d_hnd, v_hmd.transpose(1, 2)) - delta) * scale.value();
        const auto put_keys = [&](const at::Tensor& to, const at::Tensor& x_hmd) {
            const at::Tensor summed = x_hmd.unflatten(0, {launch.key_heads, in.group()}).sum(1);
            key_part(to).copy_(summed.transpose(0, 1).narrow(0, 0, key_rows));
        };
        dq_hnd.copy_(at::matmul(ds, k_hmd).narrow(1, 0, rows));
        put_keys(dk, at::matmul(ds.transpose(1, 2), q_hnd));
        put_keys(dv, at::matmul(p.transpose(1, 2), d_hnd));
    }
    return {in.as(q, dq), in.as(k, dk), in.as(v, dv)};
}

}  // namespace flash2

/// Calls the engine's CUDA flash kernel, with LibTorch's flash attention operators replaced by the CPU
/// versions above for the whole program.
class FlashTwin {
  public:
    FlashTwin() {
        static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__,
                                      __LINE__);
        static const bool registered = [] {
            library.impl("_flash_attention_forward", TORCH_FN(flash2::forward));
            library.impl("_flash_attention_backward", TORCH_FN(flash2::backward));
            return true;
        }();
        static_cast<void>(registered);
    }
    FlashKernel kernel() {
        return {[this](const FlashInputs& in) {
                    count(in);
                    return cuda_flash_kernel().forward(in);
                },
                [this](const FlashInputs& in, const at::Tensor& dout, const FlashKernel::Output& whole) {
                    count(in);
                    return cuda_flash_kernel().backward(in, dout, whole);
                }};
    }
    int calls = 0;
    int copied_keys = 0;  ///< calls whose keys are not a view of `keys`
    at::Tensor keys;

  private:
    void count(const FlashInputs& in) {
        ++calls;
        if (keys.defined() && in.k.storage().data() != keys.storage().data()) ++copied_keys;
    }
};

}  // namespace ringmaster
