/// Computes the expected results independently: full attention by plain matrix products in float64, and its
/// gradients by the textbook formulas.
///
/// Letters: B rows, H query heads, K key/value heads, T queries, S keys, D head_dim.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "engine/attention/score_rule.h"
#include "engine/layout/attention_mask.h"

namespace ringmaster {

struct FullAttention {
    at::Tensor out_bthd, lse_bht, dq_bthd, dk_bskd, dv_bskd;
};

/// `hidden_ts` marks the keys that a query does not see. A query that sees no key gets zeros.
inline FullAttention full_attention(const at::Tensor& q_bthd, const at::Tensor& k_bskd,
                                    const at::Tensor& v_bskd, const at::Tensor& dout_bthd,
                                    const at::Tensor& hidden_ts, const ScoreRule& rule = {}) {
    const int64_t B = q_bthd.size(0), H = q_bthd.size(2), S = k_bskd.size(1), K = k_bskd.size(2);
    auto heads_first = [](const at::Tensor& x) { return x.to(at::kDouble).transpose(1, 2); };
    auto each_query_head = [&](const at::Tensor& x) { return heads_first(x).repeat_interleave(H / K, 1); };
    const at::Tensor q = heads_first(q_bthd), dout = heads_first(dout_bthd);
    const at::Tensor k = each_query_head(k_bskd), v = each_query_head(v_bskd);
    const double scale = rule.scale_of(q_bthd), cap = rule.softcap;
    const at::Tensor products = at::matmul(q, k.transpose(2, 3)) * scale;
    const at::Tensor tanh = cap == 0 ? at::zeros_like(products) : at::tanh(products / cap);
    const at::Tensor scores = (cap == 0 ? products : cap * tanh).masked_fill(hidden_ts, -INFINITY);
    const at::Tensor p = at::softmax(scores, 3).nan_to_num(0), out = at::matmul(p, v);
    const at::Tensor dp = at::matmul(dout, v.transpose(2, 3));
    const at::Tensor ds = p * (dp - (dout * out).sum(3, true)) * (1 - tanh * tanh) * scale;
    auto summed = [&](const at::Tensor& x_bhsd) {
        return x_bhsd.view({B, K, H / K, S, x_bhsd.size(3)}).sum(2).transpose(1, 2);
    };
    return {out.transpose(1, 2), at::logsumexp(scores, 3), at::matmul(ds, k).transpose(1, 2),
            summed(at::matmul(ds.transpose(2, 3), q)), summed(at::matmul(p.transpose(2, 3), dout))};
}

inline at::Tensor causal_hidden(int64_t tokens) {
    return at::ones({tokens, tokens}, at::kBool).triu(1);
}
inline at::Tensor hidden_by(const AttentionMask& mask, int64_t tokens) {
    at::Tensor hidden = at::ones({tokens, tokens}, at::kBool);
    auto cells = hidden.accessor<bool, 2>();
    const auto document = [&](int64_t at) {
        return std::upper_bound(mask.documents.begin(), mask.documents.end(), at) - mask.documents.begin();
    };
    const auto documents = static_cast<int64_t>(mask.documents.size());
    for (int64_t query = 0; query < tokens; ++query) {
        for (int64_t key = 0; key < tokens; ++key) {
            const int64_t own = document(query), other = document(key);
            const bool continues = own < documents && !mask.continues.empty() && own != other &&
                                   mask.continues[static_cast<size_t>(own)] == other;
            const bool together = documents == 0 || (own < documents && own == other) || continues;
            int64_t distance = query - key;
            if (continues)  // counts positions as if the query's document followed the key's directly
                distance -=
                    mask.documents[static_cast<size_t>(own - 1)] - mask.documents[static_cast<size_t>(other)];
            const bool near = mask.window == 0 || std::abs(distance) < mask.window;
            cells[query][key] = !(together && near && (!mask.causal || key <= query));
        }
    }
    return hidden;
}
inline at::Tensor nothing_hidden(int64_t queries, int64_t keys) {
    return at::zeros({queries, keys}, at::kBool);
}

/// Returns the largest difference relative to the largest value.
inline double relative_error(const at::Tensor& ours, const at::Tensor& truth) {
    const double difference = (ours.to(at::kDouble) - truth).abs().max().item<double>();
    return difference / truth.abs().max().item<double>();
}

/// Returns the error allowed for a dtype; bfloat16 has 8 significant bits, float32 24.
inline double bound_of(at::ScalarType dtype) {
    return dtype == at::kFloat ? 1e-5 : 4e-2;
}

}  // namespace ringmaster
