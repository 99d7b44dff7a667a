#include "engine/attention/merge.h"

#include <gtest/gtest.h>

#include "tests/attention/full_attention.h"

namespace ringmaster {
namespace {

constexpr int64_t kQueries = 40, kHeads = 4, kHeadDim = 16;

struct Running {
    at::Tensor out_bthd = at::zeros({2, kQueries, kHeads, kHeadDim});
    at::Tensor lse_bht = at::full({2, kHeads, kQueries}, -INFINITY);
};

at::Tensor random(int64_t tokens) {
    return at::randn({2, tokens, kHeads, kHeadDim});
}

struct Block {
    at::Tensor out_bthd, lse_bht;
};

void join(const at::Tensor& out_bthd, const at::Tensor& lse_bht, const at::Tensor& block_out_bthd,
          const at::Tensor& block_lse_bht) {
    join_parts({out_bthd, lse_bht, false, {}}, {{block_out_bthd, block_lse_bht}});
}

Block block_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    const FullAttention full = full_attention(q, k, v, q, nothing_hidden(q.size(1), k.size(1)));
    return {full.out_bthd.to(at::kFloat), full.lse_bht.to(at::kFloat)};
}

TEST(Merge, OfBlocksIsAttentionOverAllTheirKeys) {
    at::manual_seed(1);
    const at::Tensor q = random(kQueries), k = random(90), v = random(90);
    const FullAttention truth = full_attention(q, k, v, q, nothing_hidden(kQueries, 90));
    Running running;
    for (const auto& [begin, count] : {std::pair{0, 30}, std::pair{30, 1}, std::pair{31, 59}}) {
        const Block block = block_of(q, k.narrow(1, begin, count), v.narrow(1, begin, count));
        join(running.out_bthd, running.lse_bht, block.out_bthd, block.lse_bht);
    }
    EXPECT_LT(relative_error(running.out_bthd, truth.out_bthd), 1e-6);
    EXPECT_LT(relative_error(running.lse_bht, truth.lse_bht), 1e-6);
}

TEST(Merge, TouchesOnlyTheRowsItIsGiven) {
    at::manual_seed(2);
    const at::Tensor q = random(kQueries), k = random(20), v = random(20);
    Running running;
    const Block block = block_of(q.narrow(1, 10, 20), k, v);
    join(running.out_bthd.narrow(1, 10, 20), running.lse_bht.narrow(2, 10, 20), block.out_bthd,
         block.lse_bht);
    EXPECT_TRUE(at::equal(running.out_bthd.narrow(1, 10, 20), block.out_bthd));
    EXPECT_EQ(running.out_bthd.narrow(1, 0, 10).abs().max().item<float>(), 0);
    EXPECT_TRUE(at::isinf(running.lse_bht.narrow(2, 30, 10)).all().item<bool>());
}

TEST(Merge, KeepsWhatABlockWithoutKeysAddsNothingTo) {
    Running running;
    running.out_bthd.fill_(3);
    running.lse_bht.fill_(2);
    const Running empty;
    join(running.out_bthd, running.lse_bht, empty.out_bthd, empty.lse_bht);
    EXPECT_TRUE(at::equal(running.out_bthd, at::full_like(running.out_bthd, 3)));
    EXPECT_TRUE(at::equal(running.lse_bht, at::full_like(running.lse_bht, 2)));
    Running none;
    join(none.out_bthd, none.lse_bht, empty.out_bthd, empty.lse_bht);
    EXPECT_EQ(none.out_bthd.abs().max().item<float>(), 0);
    EXPECT_TRUE(at::isinf(none.lse_bht).all().item<bool>());
}

TEST(Merge, TakesBfloat16Blocks) {
    Running running;
    const at::Tensor block = at::full({2, kQueries, kHeads, kHeadDim}, 1.5, at::kBFloat16);
    join(running.out_bthd, running.lse_bht, block, at::zeros({2, kHeads, kQueries}));
    join(running.out_bthd, running.lse_bht, block * 3, at::zeros({2, kHeads, kQueries}));
    EXPECT_LT(relative_error(running.out_bthd, at::full({2, kQueries, kHeads, kHeadDim}, 3.0, at::kDouble)),
              1e-6);
    EXPECT_LT(relative_error(running.lse_bht, at::full({2, kHeads, kQueries}, std::log(2.0), at::kDouble)),
              1e-6);
}

}  // namespace
}  // namespace ringmaster
