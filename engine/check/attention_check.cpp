#include "engine/check/attention_check.h"

#include <ATen/ATen.h>

#include <cmath>

#include "engine/attention/local_ring.h"
#include "engine/attention/partial_attention.h"
#include "engine/check/kernel_check.h"
#include "engine/check/stopwatch.h"

namespace ringmaster {

namespace {

constexpr int64_t kTokens = 100;  // not a multiple of any kernel's tile

/// Holds a mask: the slices of a sequence's queries against its own keys.
struct MaskCase {
    std::string name;
    std::vector<Slice> slices;
};

std::vector<MaskCase> mask_cases() {
    const auto square = [](SliceMask mask) { return std::vector<Slice>{{0, kTokens, 0, kTokens, mask}}; };
    const auto masked = [](std::vector<int64_t> documents, int64_t window) {
        AttentionMask mask;
        mask.documents = std::move(documents);
        mask.window = window;
        const Spans all = {{0, kTokens, 1}};
        return make_slices(all, all, mask);
    };
    return {{"full", square(SliceMask::Full)},
            {"causal", square(SliceMask::Causal)},
            {"inverse_causal", square(SliceMask::InverseCausal)},
            {"documents", masked({7, 8, 60, kTokens}, 0)},
            {"window", masked({30, kTokens}, 20)}};
}

const char* name_of(at::ScalarType dtype) {
    return dtype == at::kFloat ? "float32" : "bfloat16";
}

RingShare random_sequence(int64_t heads, int64_t kv_heads, int64_t tokens, int64_t head_dim,
                          at::ScalarType dtype, at::Device device) {
    const auto random = [&](int64_t count) {
        return at::randn({1, tokens, count, head_dim}, at::TensorOptions().device(device))
            .to(dtype)
            .transpose(1, 2);
    };
    return {random(heads), random(heads), random(kv_heads), random(kv_heads)};
}

at::Tensor hidden_by(const std::vector<Slice>& slices, at::Device device) {
    at::Tensor hidden = at::ones({kTokens, kTokens}, at::TensorOptions().device(device).dtype(at::kBool));
    for (const Slice& it : slices) {
        at::Tensor part = hidden.narrow(0, it.query_begin, it.query_end - it.query_begin)
                              .narrow(1, it.key_begin, it.key_end - it.key_begin);
        const at::Tensor seen = at::ones_like(part);
        part.logical_and_(it.mask == SliceMask::Full     ? seen.logical_not()
                          : it.mask == SliceMask::Causal ? seen.triu(1)
                                                         : seen.tril(-1));
    }
    return hidden;
}

/// Returns out, dq, dk and dv in float64, by the textbook formulas.
Tensors by_products(const RingShare& x, const std::vector<Slice>& slices, double softcap) {
    const int64_t K = x.k_bktd.size(1), group = x.q_bhtd.size(1) / K;
    const auto wide = [](const at::Tensor& t) { return t.to(at::kDouble); };
    const auto repeated = [&](const at::Tensor& t) { return wide(t).repeat_interleave(group, 1); };
    const auto summed = [&](const at::Tensor& t) { return t.unflatten(1, {K, group}).sum(2); };
    const at::Tensor q = wide(x.q_bhtd), k = repeated(x.k_bktd), v = repeated(x.v_bktd);
    const at::Tensor dout = wide(x.dout_bhtd);
    const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
    const at::Tensor hidden = hidden_by(slices, q.device());
    const at::Tensor products = at::matmul(q, k.transpose(2, 3)) * scale;
    const at::Tensor tanh = softcap == 0 ? at::zeros_like(products) : at::tanh(products / softcap);
    const at::Tensor p =
        at::softmax((softcap == 0 ? products : softcap * tanh).masked_fill(hidden, -INFINITY), 3);
    const at::Tensor out = at::matmul(p, v);
    const at::Tensor ds =
        p * (at::matmul(dout, v.transpose(2, 3)) - (dout * out).sum(3, true)) * (1 - tanh * tanh) * scale;
    return {out, at::matmul(ds, k), summed(at::matmul(ds.transpose(2, 3), q)),
            summed(at::matmul(p.transpose(2, 3), dout))};
}

Tensors by_kernels(const RingShare& x, const std::vector<Slice>& slices, double softcap) {
    const ScoreRule rule{0, softcap};
    const int64_t K = x.k_bktd.size(1);
    const KeyHeads heads{0, K, x.q_bhtd.size(1) / K};
    PartialAttention attention(x.q_bhtd, rule);
    attention.add(x.k_bktd, x.v_bktd, heads, slices);
    const FlashOutput whole = attention.finish();
    PartialGradients sums(x.dout_bhtd, x.q_bhtd, whole, rule);
    const at::Tensor dk = at::empty_like(x.k_bktd, at::kFloat), dv = at::empty_like(x.v_bktd, at::kFloat);
    KeyGradients d{dk, dv, true};
    sums.add(x.k_bktd, x.v_bktd, heads, slices, d);
    return {whole.out_bhtd, sums.finish(), dk, dv};
}

AttentionVerdict check_attention_of(int64_t head_dim, int64_t group, at::ScalarType dtype,
                                    const MaskCase& mask, double softcap, at::Device device) {
    constexpr int64_t kKeyHeads = 2;
    at::manual_seed(head_dim + group);
    const RingShare x = random_sequence(kKeyHeads * group, kKeyHeads, kTokens, head_dim, dtype, device);
    return {head_dim,
            group,
            name_of(dtype),
            mask.name,
            softcap,
            worst_difference(by_kernels(x, mask.slices, softcap), by_products(x, mask.slices, softcap)),
            dtype == at::kFloat ? 2e-5 : 3e-2};
}

}  // namespace

std::vector<AttentionVerdict> check_attention(at::Device device) {
    std::vector<AttentionVerdict> verdicts;
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        for (const int64_t head_dim : {64, 96, 128, 256}) {
            for (const int64_t group : {1, 4}) {
                for (const MaskCase& mask : mask_cases()) {
                    for (const double softcap : {0.0, 1.5})
                        verdicts.push_back(check_attention_of(head_dim, group, dtype, mask, softcap, device));
                }
            }
        }
    }
    return verdicts;
}

RingVerdict check_ring(at::Device device, double seconds) {
    constexpr int kRanks = 8;
    const bool cuda = device.is_cuda();
    RingVerdict verdict;
    verdict.ranks = kRanks;
    verdict.tokens_per_rank = cuda ? 8192 : 128;
    const at::ScalarType dtype = cuda ? at::kBFloat16 : at::kFloat;
    verdict.dtype = name_of(dtype);
    verdict.bound = cuda ? 3e-2 : 2e-5;
    const int64_t tokens = kRanks * verdict.tokens_per_rank;
    at::manual_seed(8);
    const RingShare sequence = cuda ? random_sequence(32, 8, tokens, 128, dtype, device)
                                    : random_sequence(8, 2, tokens, 64, dtype, device);
    const LocalRing ring = deal(make_layout(RingAttnFunc::BatchZigzag, tokens, kRanks, 1), sequence);

    const FlashOutput whole = one_call_forward(sequence);
    const std::vector<FlashOutput> outputs = ring_forward(ring);
    {
        const FlashGradients d = one_call_backward(sequence, whole);
        verdict.worst = worst_difference(put_together(ring, outputs, ring_backward(ring, outputs)),
                                         {whole.out_bhtd, d.dq_bhtd, d.dk_bksd, d.dv_bksd});
    }
    const Stopwatch watch(device, seconds);
    verdict.one_forward_s = watch.median([&] { one_call_forward(sequence); });
    verdict.ring_forward_s = watch.median([&] { ring_forward(ring); });
    verdict.one_backward_s = watch.median([&] { one_call_backward(sequence, whole); });
    verdict.ring_backward_s = watch.median([&] { ring_backward(ring, outputs); });
    return verdict;
}

}  // namespace ringmaster
