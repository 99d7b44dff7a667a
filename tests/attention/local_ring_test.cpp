#include "engine/attention/local_ring.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "engine/comm/backends.h"
#include "tests/attention/full_attention.h"
#include "tests/support/gpu.h"

namespace ringmaster {
namespace {

/// Compares every hop of every rank with full attention and its gradients in float64.
void expect_whole(RingAttnFunc func, int ranks, at::ScalarType dtype, at::Device device) {
    constexpr int64_t kTokens = 96, kHeads = 4, kKeyHeads = 2, kHeadDim = 64;
    at::manual_seed(ranks);
    const auto random = [&](int64_t heads) { return at::randn({2, kTokens, heads, kHeadDim}).to(dtype); };
    const at::Tensor q = random(kHeads), dout = random(kHeads), k = random(kKeyHeads), v = random(kKeyHeads);
    const FullAttention truth = full_attention(q, k, v, dout, causal_hidden(kTokens));
    const auto heads_first = [&](const at::Tensor& x) { return x.to(device).transpose(1, 2); };
    const RingShare sequence{heads_first(q), heads_first(dout), heads_first(k), heads_first(v)};
    const LocalRing ring = deal(make_layout(func, kTokens, ranks, 1), sequence);
    const std::vector<FlashOutput> outputs = ring_forward(ring);

    const auto expect = [&](const at::Tensor& ours_bhsd, const at::Tensor& truth_bshd, const char* what) {
        EXPECT_LT(relative_error(ours_bhsd.cpu().transpose(1, 2), truth_bshd), bound_of(dtype))
            << what << ", " << ranks << " ranks";
    };
    const std::vector<at::Tensor> played = put_together(ring, outputs, ring_backward(ring, outputs));
    expect(played[0], truth.out_bthd, "out");
    expect(played[1], truth.dq_bthd, "dq");
    expect(played[2], truth.dk_bskd, "dk");
    expect(played[3], truth.dv_bskd, "dv");

    const FlashOutput whole = one_call_forward(sequence);
    const FlashGradients d = one_call_backward(sequence, whole);
    expect(whole.out_bhtd, truth.out_bthd, "out of one call");
    expect(d.dq_bhtd, truth.dq_bthd, "dq of one call");
    expect(d.dk_bksd, truth.dk_bskd, "dk of one call");
    expect(d.dv_bksd, truth.dv_bskd, "dv of one call");
}

TEST(LocalRing, OfAnyLayoutIsTheWholeSequencesAttention) {
    at::set_num_threads(1);  // the other tests' ranks have one thread, too
    for (const RingAttnFunc func :
         {RingAttnFunc::BatchZigzag, RingAttnFunc::BatchStripe, RingAttnFunc::BatchRing}) {
        for (const int ranks : {1, 2, 8}) expect_whole(func, ranks, at::kFloat, at::kCPU);
    }
    expect_whole(RingAttnFunc::BatchZigzag, 8, at::kBFloat16, at::kCPU);
}

TEST(PlayedRingGpu, IsTheWholeSequencesAttentionOnADevice) {
    ASSERT_TRUE(has_gpu());
    load_cuda(0);
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        for (const int ranks : {1, 2, 8})
            expect_whole(RingAttnFunc::BatchZigzag, ranks, dtype, at::Device(at::kCUDA, 0));
    }
}

}  // namespace
}  // namespace ringmaster
