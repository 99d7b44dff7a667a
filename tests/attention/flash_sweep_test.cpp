// FlashAttention-2's calls, forward, backward and joined, against float64, for slice sets of whole runs. The
// kernels are their CPU twin, which leaves NaN where CUDA's leave whatever was there.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "engine/attention/block_attention.h"
#include "engine/attention/packed_attention.h"
#include "tests/attention/full_attention.h"
#include "tests/support/flash_cases.h"
#include "tests/support/flash_twin.h"

namespace ringmaster {
namespace {

constexpr double kBound = 1e-5;  // largest difference over the largest value

struct Sequence {
    at::Tensor q, dout, k, v;  // [1, heads, T or S, 8]

    Sequence(const SliceSet& set, int64_t key_heads, int64_t group) {
        const auto random = [](int64_t heads, int64_t tokens) {
            return at::randn({1, tokens, heads, 8}).transpose(1, 2);
        };
        q = random(key_heads * group, set.queries);
        dout = random(key_heads * group, set.queries);
        k = random(key_heads, set.keys);
        v = random(key_heads, set.keys);
    }
};

at::Tensor hidden_by(const SliceSet& set) {
    at::Tensor hidden = at::ones({set.queries, set.keys}, at::kBool);
    for (const Slice& it : set.slices) {
        at::Tensor part = hidden.narrow(0, it.query_begin, it.query_end - it.query_begin)
                              .narrow(1, it.key_begin, it.key_end - it.key_begin);
        const at::Tensor seen = at::ones_like(part);
        part.logical_and_((it.mask == SliceMask::Full     ? seen
                           : it.mask == SliceMask::Causal ? seen.tril()
                                                          : seen.triu())
                              .logical_not());
    }
    return hidden;
}

void expect_close(const at::Tensor& ours, const at::Tensor& truth, const std::string& what) {
    const double largest = std::max(truth.abs().max().item<double>(), 1e-3);
    const double difference = (ours.to(at::kDouble) - truth).abs().max().item<double>();
    EXPECT_LE(difference, kBound * largest) << what;  // false for a NaN
    EXPECT_FALSE(at::isnan(ours).any().item<bool>()) << what;
}

struct Result {
    FlashOutput whole;
    FlashGradients d;
};

/// Joined, as the hops of a ring are.
Result joined(const FlashKernel& kernel, const Sequence& x, const std::vector<Slice>& slices) {
    SoftmaxSums sums = no_keys_seen(x.q);
    packed_forward(kernel, sums.values_bhtd, sums.top_bht, x.q, x.k, x.v, slices);
    Result result{{sums.values_bhtd, sums.top_bht},
                  {at::zeros_like(x.q), at::zeros_like(x.k), at::zeros_like(x.v)}};
    packed_backward(kernel, result.d, x.dout, x.q, x.k, x.v, result.whole, slices);
    return result;
}

void expect_equal(const Result& ours, const FullAttention& truth, const std::string& what) {
    const auto heads_first = [](const at::Tensor& x) { return x.transpose(1, 2); };
    expect_close(ours.whole.out_bhtd, heads_first(truth.out_bthd), what + ": out");
    EXPECT_TRUE(at::equal(at::isneginf(ours.whole.lse_bht), at::isneginf(truth.lse_bht))) << what;
    const auto finite = [](const at::Tensor& x) { return x.masked_fill(at::isneginf(x), 0); };
    expect_close(finite(ours.whole.lse_bht), finite(truth.lse_bht), what + ": lse");
    expect_close(ours.d.dq_bhtd, heads_first(truth.dq_bthd), what + ": dq");
    expect_close(ours.d.dk_bksd, heads_first(truth.dk_bskd), what + ": dk");
    expect_close(ours.d.dv_bksd, heads_first(truth.dv_bskd), what + ": dv");
}

void check(const SliceSet& set, int64_t key_heads, int64_t group, int64_t multiprocessors) {
    const Sequence x(set, key_heads, group);
    const auto tokens_first = [](const at::Tensor& t) { return t.transpose(1, 2); };
    const FullAttention truth = full_attention(tokens_first(x.q), tokens_first(x.k), tokens_first(x.v),
                                               tokens_first(x.dout), hidden_by(set));
    FlashTwin twin;
    FlashKernel kernel = twin.kernel();
    kernel.multiprocessors = [=](const at::Tensor&) { return multiprocessors; };
    expect_equal(joined(kernel, x, set.slices), truth, set.name);
    const auto whole = one_call_forward(kernel, x.q, x.k, x.v, set.slices);
    if (!whole) return;
    const auto d = one_call_backward(kernel, x.dout, x.q, x.k, x.v, *whole, set.slices);
    ASSERT_TRUE(d.has_value()) << set.name;
    expect_equal({*whole, *d}, truth, set.name + ", in one call");
}

/// Every `step`th set of runs of 1,024 tokens and more, `count` of them.
void sweep(uint64_t seed, int count, int step) {
    at::set_num_threads(1);
    at::manual_seed(seed);
    SliceSets sets(seed);
    int done = 0, skipped = 0;
    for (int run = 0; done < count && !::testing::Test::HasFailure(); ++run) {
        for (const SliceSet& set : sets.next(run % 4 == 3 ? 1536 : 1024)) {
            if (skipped++ % step != 0) continue;
            check(set, 1, 1, 0);
            if (++done == count) break;
        }
    }
    EXPECT_EQ(done, count);
}

TEST(FlashSweep, IsFloat64sAttention) {
    sweep(1, 320, 7);
}

// Heads and long documents in launches of their own, as on a GPU of 132 multiprocessors.
TEST(FlashSweep, IsFloat64sAttentionInSeveralLaunches) {
    at::set_num_threads(1);
    at::manual_seed(2);
    SliceSets sets(2);
    for (int done = 0, seen = 0; done < 12;) {
        for (const SliceSet& set : sets.next(1024)) {
            if (seen++ % 31 != 0) continue;
            check(set, 4, 2, done % 2 == 0 ? 132 : 12);
            ++done;
        }
    }
}

TEST(FlashSweep, ExhaustiveIsFloat64sAttention) {
    sweep(17, 50000, 1);
}

}  // namespace
}  // namespace ringmaster
