#include "engine/attention/part_sums.h"

#include <gtest/gtest.h>

#include "tests/attention/full_attention.h"

namespace ringmaster {
namespace {

constexpr int64_t kQueries = 12, kHeads = 4;

/// Attends to `parts` ranges of keys. Only the later queries see the second half of the ranges, and that half
/// is added for two of the four heads at a time.
void expect_whole(int parts, at::ScalarType dtype, double bound) {
    at::manual_seed(parts);
    const auto random = [&](int64_t tokens) { return at::randn({2, tokens, kHeads, 8}).to(dtype); };
    const int64_t keys = 3 * parts;
    const at::Tensor q = random(kQueries), k = random(keys), v = random(keys);
    at::Tensor hidden = nothing_hidden(kQueries, keys);
    PartSums out(q.transpose(1, 2), PartSums::Kind::Outputs),
        dq(q.transpose(1, 2), PartSums::Kind::Gradients);
    at::Tensor sum = at::zeros(q.sizes(), at::kDouble);
    for (int part = 0; part < parts; ++part) {
        const int64_t begin = 2 * part >= parts ? 5 : 0, step = begin > 0 ? 2 : kHeads;
        hidden.narrow(0, 0, begin).narrow(1, 3 * part, 3).fill_(true);
        for (int64_t head = 0; head < kHeads; head += step) {
            const auto some = [&](const at::Tensor& x, int64_t first, int64_t count) {
                return x.narrow(1, first, count).narrow(2, head, step);
            };
            const at::Tensor q_part = some(q, begin, kQueries - begin);
            const FullAttention it = full_attention(q_part, some(k, 3 * part, 3), some(v, 3 * part, 3),
                                                    q_part, nothing_hidden(kQueries - begin, 3));
            out.add({it.out_bthd.to(dtype), it.lse_bht.to(at::kFloat), begin, head});
            dq.add({it.dq_bthd.to(dtype), {}, begin, head});
            some(sum, begin, kQueries - begin).add_(it.dq_bthd.to(dtype));
        }
    }
    const FullAttention truth = full_attention(q, k, v, q, hidden);
    const FlashOutput whole = out.finish();
    EXPECT_EQ(whole.out_bhtd.scalar_type(), dtype);
    EXPECT_LT(relative_error(whole.out_bhtd.transpose(1, 2), truth.out_bthd), bound) << parts;
    EXPECT_LT(relative_error(whole.lse_bht, truth.lse_bht), bound) << parts;
    EXPECT_LT(relative_error(dq.finish().out_bhtd.transpose(1, 2), sum), bound) << parts;
}

TEST(PartSums, AreTheWholeHoweverManyPartsThereAre) {
    for (const int parts : {1, 2, 8, 9, 17}) {
        expect_whole(parts, at::kFloat, 2e-6);
        expect_whole(parts, at::kBFloat16, 2e-2);
    }
}

TEST(PartSums, WithoutPartsAreZeros) {
    const at::Tensor like = at::empty({1, 2, 3, 8}, at::kBFloat16);
    const FlashOutput none = PartSums(like, PartSums::Kind::Outputs).finish();
    EXPECT_EQ(none.out_bhtd.abs().max().item<float>(), 0);
    EXPECT_TRUE(at::isneginf(none.lse_bht).all().item<bool>());
}

TEST(PartSums, HoldFewerPartsTheLargerTheyAre) {
    constexpr int64_t kMiB = 1 << 20;
    EXPECT_EQ(parts_held(64 * kMiB), 8);
    EXPECT_EQ(parts_held(128 * kMiB), 4);
    EXPECT_EQ(parts_held(256 * kMiB), 2);
    EXPECT_EQ(parts_held(512 * kMiB), 1);
    EXPECT_EQ(parts_held(513 * kMiB), 0);
}

}  // namespace
}  // namespace ringmaster
