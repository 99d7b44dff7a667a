/// A flash kernel by plain matrix products in float64, segment by segment: what CUDA's does with the same
/// inputs, infinite log-sum-exps and zero gradients of what sees nothing included.
#pragma once

#include <ATen/ATen.h>

#include <cmath>

#include "engine/attention/packed_attention.h"

namespace ringmaster {

class FlashTwin {
  public:
    FlashKernel kernel() {
        return {[this](const FlashInputs& in) { return forward(in); },
                [this](const FlashInputs& in, const at::Tensor& dout, const FlashKernel::Output& whole) {
                    return backward(in, dout, whole);
                },
                {}};
    }
    int calls = 0;
    int copied_keys = 0;  ///< calls whose keys are no view of those that they were taken from
    at::Tensor keys;      ///< to tell that

  private:
    struct Segment {
        at::Tensor q, k, v;  // [H, n, D], [H, m, D], float64, heads repeated
        at::Tensor hidden;
    };

    static at::Tensor hidden_by(const FlashWindow& window, int64_t queries, int64_t keys) {
        at::Tensor hidden = at::zeros({queries, keys}, at::kBool);
        auto cells = hidden.accessor<bool, 2>();
        for (int64_t i = 0; i < queries; ++i) {
            for (int64_t j = 0; j < keys; ++j) {
                const int64_t corner = i + keys - queries;
                cells[i][j] = (window.left >= 0 && j < corner - window.left) ||
                              (window.right >= 0 && j > corner + window.right);
            }
        }
        return hidden;
    }

    /// Calls visit(segment, first query, queries, first key, keys, row) for each; packed tensors are row 0's.
    template <typename Visit>
    static void each(const FlashInputs& in, const Visit& visit) {
        if (!in.packed()) {
            for (int64_t row = 0; row < in.q.size(0); ++row) visit(0, in.q.size(1), 0, in.k.size(1), row);
            return;
        }
        const auto queries = in.query_ends.accessor<int32_t, 1>(), keys = in.key_ends.accessor<int32_t, 1>();
        for (int64_t i = 0; i + 1 < in.query_ends.size(0); ++i)
            visit(queries[i], queries[i + 1] - queries[i], keys[i], keys[i + 1] - keys[i], 0);
    }

    static at::Tensor row_of(const FlashInputs& in, const at::Tensor& x, int64_t row) {
        return in.packed() ? x : x.select(0, row);
    }
    static at::Tensor heads_first(const at::Tensor& x_nhd, int64_t begin, int64_t count, int64_t repeat) {
        return x_nhd.narrow(0, begin, count).transpose(0, 1).to(at::kDouble).repeat_interleave(repeat, 0);
    }

    FlashKernel::Output forward(const FlashInputs& in) {
        ++calls;
        if (keys.defined() && in.k.storage().data() != keys.storage().data()) ++copied_keys;
        const int64_t group = in.q.size(-2) / in.k.size(-2);
        at::Tensor out = at::full_like(in.q, NAN);
        at::Tensor lse = in.packed() ? at::full({in.q.size(1), in.q.size(0)}, NAN)
                                     : at::full({in.q.size(0), in.q.size(2), in.q.size(1)}, NAN);
        each(in, [&](int64_t query, int64_t queries, int64_t key, int64_t keys_here, int64_t row) {
            if (queries == 0) return;
            at::Tensor out_hnd = row_of(in, out, row).narrow(0, query, queries).transpose(0, 1);
            at::Tensor lse_hn = row_of(in, lse, row).narrow(1, query, queries);
            if (keys_here == 0) {
                out_hnd.zero_();
                lse_hn.fill_(INFINITY);
                return;
            }
            const at::Tensor q = heads_first(row_of(in, in.q, row), query, queries, 1);
            const at::Tensor k = heads_first(row_of(in, in.k, row), key, keys_here, group);
            const at::Tensor v = heads_first(row_of(in, in.v, row), key, keys_here, group);
            const at::Tensor scores = scores_of(in, q, k);
            const at::Tensor sums = at::logsumexp(scores, 2);
            out_hnd.copy_(at::matmul((scores - sums.unsqueeze(2)).exp(), v));
            lse_hn.copy_(sums);
        });
        return {out, lse};
    }

    static at::Tensor scores_of(const FlashInputs& in, const at::Tensor& q, const at::Tensor& k) {
        const double scale = 1 / std::sqrt(static_cast<double>(q.size(2)));
        return (at::matmul(q, k.transpose(1, 2)) * scale)
            .masked_fill(hidden_by(in.window, q.size(1), k.size(1)), -INFINITY);
    }

    FlashKernel::Gradients backward(const FlashInputs& in, const at::Tensor& dout,
                                    const FlashKernel::Output& whole) {
        ++calls;
        TORCH_CHECK(whole.lse.is_contiguous());
        const int64_t group = in.q.size(-2) / in.k.size(-2), K = in.k.size(-2);
        const double scale = 1 / std::sqrt(static_cast<double>(in.q.size(-1)));
        at::Tensor dq = at::zeros_like(in.q), dk = at::zeros_like(in.k), dv = at::zeros_like(in.v);
        each(in, [&](int64_t query, int64_t queries, int64_t key, int64_t keys_here, int64_t row) {
            if (queries == 0 || keys_here == 0) return;
            const at::Tensor q = heads_first(row_of(in, in.q, row), query, queries, 1);
            const at::Tensor k = heads_first(row_of(in, in.k, row), key, keys_here, group);
            const at::Tensor v = heads_first(row_of(in, in.v, row), key, keys_here, group);
            const at::Tensor d = heads_first(row_of(in, dout, row), query, queries, 1);
            const at::Tensor out = heads_first(row_of(in, whole.out, row), query, queries, 1);
            const at::Tensor lse = row_of(in, whole.lse, row).narrow(1, query, queries).to(at::kDouble);
            const at::Tensor p = (scores_of(in, q, k) - lse.unsqueeze(2)).exp();
            const at::Tensor ds = p * (at::matmul(d, v.transpose(1, 2)) - (d * out).sum(2, true)) * scale;
            const auto put = [&](const at::Tensor& to, int64_t begin, int64_t count,
                                 const at::Tensor& x_hnd) {
                row_of(in, to, row).narrow(0, begin, count).copy_(x_hnd.transpose(0, 1));
            };
            const auto summed = [&](const at::Tensor& x) { return x.unflatten(0, {K, group}).sum(1); };
            put(dq, query, queries, at::matmul(ds, k));
            put(dk, key, keys_here, summed(at::matmul(ds.transpose(1, 2), q)));
            put(dv, key, keys_here, summed(at::matmul(p.transpose(1, 2), d)));
        });
        return {dq, dk, dv};
    }
};

}  // namespace ringmaster
