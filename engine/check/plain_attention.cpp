#include "engine/check/plain_attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/check/plain_recurrence.h"

namespace ringmaster {

namespace {

constexpr int64_t kScoresAtOnce = int64_t{8} << 20;  // maximum number of float64 scores computed at a time

/// A document's queries, and the keys and values for every query head: float64 [H, n, D].
struct Heads {
    at::Tensor q, k, v;
};

Heads heads_of(const ModelConfig& m, const at::Tensor& qkv_nw, const FlatRange& document) {
    const at::Tensor all = qkv_nw.narrow(0, document.begin, document.size())
                               .to(at::kDouble)
                               .view({document.size(), m.num_heads + 2 * m.num_kv_heads, m.head_dim})
                               .transpose(0, 1);
    const auto keys = [&](int64_t first) {
        return all.narrow(0, first, m.num_kv_heads).repeat_interleave(m.num_heads / m.num_kv_heads, 0);
    };
    return {all.narrow(0, 0, m.num_heads), keys(m.num_heads), keys(m.num_heads + m.num_kv_heads)};
}

double score_scale(const ModelConfig& m) {
    return m.attention_scale != 0 ? m.attention_scale : 1 / std::sqrt(static_cast<double>(m.head_dim));
}

/// Calls `body` for each block of queries, with the first query and the number of queries. `body` also gets
/// the queries' probabilities over the document's keys up to the last query, [H, queries, keys], the sinks'
/// probabilities, [H, queries, 1], and the slopes of the softcap at the scores.
template <typename Body>
void for_query_blocks(const ModelConfig& m, const LayerKind& kind, const Heads& heads,
                      const at::Tensor& sinks_h, const Body& body) {
    const int64_t tokens = heads.q.size(1);
    const int64_t most = std::max<int64_t>(1, kScoresAtOnce / (m.num_heads * tokens));
    for (int64_t begin = 0; begin < tokens; begin += most) {
        const int64_t count = std::min(most, tokens - begin), keys = begin + count;
        const auto options = at::TensorOptions().dtype(at::kLong).device(heads.q.device());
        const at::Tensor query = at::arange(begin, keys, options).unsqueeze(1);
        const at::Tensor key = at::arange(keys, options).unsqueeze(0);
        at::Tensor hidden = key > query;
        if (kind.window) hidden = hidden.logical_or(key <= query - *kind.window);
        at::Tensor scores =
            at::matmul(heads.q.narrow(1, begin, count), heads.k.narrow(1, 0, keys).transpose(1, 2)) *
            score_scale(m);
        at::Tensor slopes = at::ones({}, scores.options());
        if (m.score_softcap != 0) {
            const at::Tensor tanh = at::tanh(scores / m.score_softcap);
            scores = m.score_softcap * tanh;
            slopes = 1 - tanh.square();
        }
        scores = scores.masked_fill(hidden, -std::numeric_limits<double>::infinity());
        if (sinks_h.defined())
            scores = at::cat({scores, sinks_h.view({-1, 1, 1}).to(at::kDouble).expand({-1, count, 1})}, 2);
        const at::Tensor p = at::softmax(scores, 2);
        body(begin, count, p.narrow(2, 0, keys), p.narrow(2, keys, scores.size(2) - keys), slopes);
    }
}

}  // namespace

at::Tensor plain_attention(const ModelConfig& m, const LayerKind& kind, const at::Tensor& inputs_nw,
                           const std::vector<FlatRange>& documents, const at::Tensor& learned) {
    if (kind.is_recurrent) return plain_rule(m.delta, inputs_nw, documents, learned);
    const int64_t width = (m.num_heads + 2 * m.num_kv_heads) * m.head_dim;
    if (const int64_t rest = inputs_nw.size(1) - width; rest > 0)
        return at::cat({plain_attention(m, kind, inputs_nw.narrow(1, 0, width), documents, learned),
                        plain_rule(m.delta, inputs_nw.narrow(1, width, rest), documents)},
                       1);
    const at::Tensor qkv_nw = inputs_nw.contiguous();
    at::Tensor out_nw = at::empty({qkv_nw.size(0), m.num_heads * m.head_dim}, qkv_nw.options());
    for (const FlatRange& document : documents) {
        const Heads heads = heads_of(m, qkv_nw, document);
        const auto attend = [&](int64_t begin, int64_t count, const at::Tensor& p, auto&&, auto&&) {
            const at::Tensor out = at::matmul(p, heads.v.narrow(1, 0, begin + count));
            out_nw.narrow(0, document.begin + begin, count)
                .copy_(out.transpose(0, 1).reshape({count, m.num_heads * m.head_dim}));
        };
        for_query_blocks(m, kind, heads, learned, attend);
    }
    return out_nw;
}

PlainAttentionGradients plain_attention_backward(const ModelConfig& m, const LayerKind& kind,
                                                 const at::Tensor& inputs_nw, const at::Tensor& given_nw,
                                                 const std::vector<FlatRange>& documents,
                                                 const at::Tensor& learned) {
    if (kind.is_recurrent) {
        const auto [dinputs_nw, dlearned] =
            plain_rule_backward(m.delta, inputs_nw, given_nw, documents, learned);
        return {dinputs_nw, dlearned};
    }
    const int64_t width = (m.num_heads + 2 * m.num_kv_heads) * m.head_dim,
                  heads_width = m.num_heads * m.head_dim;
    if (const int64_t rest = inputs_nw.size(1) - width; rest > 0) {
        PlainAttentionGradients both = plain_attention_backward(
            m, kind, inputs_nw.narrow(1, 0, width), given_nw.narrow(1, 0, heads_width), documents, learned);
        const at::Tensor of_rule =
            plain_rule_backward(m.delta, inputs_nw.narrow(1, width, rest),
                                given_nw.narrow(1, heads_width, m.delta.values()), documents)
                .inputs_nw;
        return {at::cat({both.qkv_nw, of_rule}, 1), both.learned};
    }
    const at::Tensor qkv_nw = inputs_nw.contiguous(), dout_nw = given_nw.contiguous();
    at::Tensor dqkv_nw = at::empty_like(qkv_nw), dsinks_h;
    const at::Tensor& sinks_h = learned;
    if (sinks_h.defined()) dsinks_h = at::zeros_like(sinks_h);
    const double scale = score_scale(m);
    for (const FlatRange& document : documents) {
        const int64_t n = document.size();
        const Heads heads = heads_of(m, qkv_nw, document);
        const at::Tensor dout = dout_nw.narrow(0, document.begin, n)
                                    .to(at::kDouble)
                                    .view({n, m.num_heads, m.head_dim})
                                    .transpose(0, 1);
        at::Tensor dq = at::empty_like(heads.q), dk = at::zeros_like(heads.k), dv = at::zeros_like(heads.v);
        for_query_blocks(
            m, kind, heads, sinks_h,
            [&](int64_t begin, int64_t count, const at::Tensor& p, const at::Tensor& of_sinks,
                const at::Tensor& slopes) {
                const int64_t keys = begin + count;
                const at::Tensor k = heads.k.narrow(1, 0, keys), v = heads.v.narrow(1, 0, keys);
                const at::Tensor dy = dout.narrow(1, begin, count);
                const at::Tensor dp = at::matmul(dy, v.transpose(1, 2));
                const at::Tensor mean = (p * dp).sum(2, true), ds = p * (dp - mean) * slopes * scale;
                if (sinks_h.defined()) dsinks_h.sub_((of_sinks * mean).sum(2).sum(1));
                dq.narrow(1, begin, count).copy_(at::matmul(ds, k));
                dk.narrow(1, 0, keys).add_(at::matmul(ds.transpose(1, 2), heads.q.narrow(1, begin, count)));
                dv.narrow(1, 0, keys).add_(at::matmul(p.transpose(1, 2), dy));
            });
        const auto of_key_heads = [&](const at::Tensor& d) {
            return d.view({m.num_kv_heads, m.num_heads / m.num_kv_heads, n, m.head_dim}).sum(1);
        };
        const at::Tensor all = at::cat({dq, of_key_heads(dk), of_key_heads(dv)});
        dqkv_nw.narrow(0, document.begin, n).copy_(all.transpose(0, 1).reshape({n, dqkv_nw.size(1)}));
    }
    return {dqkv_nw, dsinks_h};
}

}  // namespace ringmaster
