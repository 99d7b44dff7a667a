// Compares sharded attention on a device with full attention in float64; the ranks share one
// GPU.
#include <gtest/gtest.h>

#include "engine/attention/sharded_attention.h"
#include "tests/attention/full_attention.h"
#include "tests/support/gpu.h"
#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

struct Case {
    RingAttnFunc func;
    int ring, ulysses;
    AttentionMask mask;
};

AttentionMask packed(std::vector<int64_t> documents) {
    AttentionMask mask;
    mask.documents = std::move(documents);
    return mask;
}

AttentionMask windowed(int64_t window) {
    AttentionMask mask;
    mask.window = window;
    return mask;
}

at::Tensor positions(const Spans& spans) {
    std::vector<at::Tensor> parts;
    for (const Span& span : spans) parts.push_back(at::arange(span.begin, span.end, span.step, at::kLong));
    return at::cat(parts);
}

void expect_whole(const Case& it, at::ScalarType dtype, int64_t head_dim, const ScoreRule& rule) {
    constexpr int64_t kTokens = 64, kHeads = 8, kKeyHeads = 4;
    at::manual_seed(head_dim);
    const auto random = [&](int64_t heads) { return at::randn({2, kTokens, heads, head_dim}).to(dtype); };
    const at::Tensor q = random(kHeads), k = random(kKeyHeads), v = random(kKeyHeads), dout = random(kHeads);
    const FullAttention truth = full_attention(q, k, v, dout, hidden_by(it.mask, kTokens), rule);
    Mesh mesh;
    mesh.ring = it.ring;
    mesh.ulysses = it.ulysses;
    const Layout layout = make_layout(it.func, kTokens, it.ring, it.ulysses, it.mask);
    std::mutex mutex;
    run_ranks_on_gpu(mesh, [&](int rank, Groups& groups) {
        const at::Tensor at = positions(layout.ranks[static_cast<size_t>(mesh.context_rank(rank))]);
        const auto own = [&](const at::Tensor& x) { return x.index_select(1, at).to(groups.device()); };
        ShardedAttention attention(groups, layout, it.mask, 0, rule);
        const AttentionOutput output = attention.forward(own(q), own(k), own(v));
        const AttentionGradients d = attention.backward(own(dout), own(q), own(k), own(v), output);
        const std::lock_guard lock(mutex);
        const auto error = [&](const at::Tensor& ours, const at::Tensor& whole) {
            return (ours.cpu().to(at::kDouble) - whole.index_select(1, at)).abs().max().item<double>() /
                   whole.abs().max().item<double>();
        };
        EXPECT_LT(error(output.out_bthd, truth.out_bthd), bound_of(dtype)) << "rank " << rank;
        EXPECT_LT(error(d.dq_bthd, truth.dq_bthd), bound_of(dtype)) << "rank " << rank;
        EXPECT_LT(error(d.dk_btkd, truth.dk_bskd), bound_of(dtype)) << "rank " << rank;
        EXPECT_LT(error(d.dv_btkd, truth.dv_bskd), bound_of(dtype)) << "rank " << rank;
    });
}

TEST(ShardedAttentionGpu, OfRanksOnOneDeviceIsFullAttention) {
    ASSERT_TRUE(has_gpu());
    const std::vector<Case> cases = {
        {RingAttnFunc::BatchZigzag, 1, 1, {}},
        {RingAttnFunc::BatchZigzag, 2, 1, {}},
        {RingAttnFunc::BatchZigzag, 4, 1, {}},
        {RingAttnFunc::BatchStripe, 4, 1, {}},
        {RingAttnFunc::BatchRing, 1, 4, {}},
        {RingAttnFunc::BatchZigzag, 2, 2, {}},
        {RingAttnFunc::Balanced, 4, 1, packed({5, 40, 64})},
        {RingAttnFunc::VarlenZigzag, 2, 2, packed({32, 64})},
        {RingAttnFunc::BatchZigzag, 2, 1, windowed(20)},
    };
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        for (const int64_t head_dim : {64, 96, 128, 256}) {
            for (const Case& it : cases) {
                for (const double softcap : {0.0, 1.5}) expect_whole(it, dtype, head_dim, {0, softcap});
            }
        }
    }
}

}  // namespace
}  // namespace ringmaster
