#include "engine/attention/own_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/attention/merge.h"
#include "engine/comm/backends.h"
#include "engine/error.h"
#include "tests/attention/full_attention.h"
#include "tests/support/gpu.h"
#include "tests/support/rows_on_host.h"

namespace ringmaster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(OwnKernels, AreSwitchedOnByName) {
    EXPECT_THAT(kernels_named(""), IsEmpty());
    EXPECT_THAT(kernels_named("none"), IsEmpty());
    EXPECT_THAT(kernels_named("merge,cross_entropy"), ElementsAre(OwnKernel::Merge, OwnKernel::CrossEntropy));
    EXPECT_EQ(kernels_named("all").size(), own_kernel_names().size());
    try {
        kernels_named("merge,rmsnorm");
        FAIL() << "it is rms_norm";
    } catch (const Error& error) {
        EXPECT_EQ(error.failure, Failure::Usage);
        EXPECT_THAT(error.text(), HasSubstr("'rmsnorm'"));
        EXPECT_THAT(error.text(), HasSubstr("rms_norm, layer_norm, rope"));
    }
}

TEST(OwnKernels, AreNotForTheCpu) {
    for (size_t kernel = 0; kernel < own_kernel_names().size(); ++kernel)
        EXPECT_FALSE(uses_own(static_cast<OwnKernel>(kernel), at::ones({2})));
}

/// Merges blocks of keys one after the other, with the kernel and with its twin, and compares both with
/// attention over all keys. Some queries see nothing in the first blocks, and one never sees any key.
void expect_merged(const RunRows& run, at::Device device, at::ScalarType dtype, int64_t head_dim) {
    constexpr int64_t kQueries = 9, kHeads = 3, kKeys = 30;
    at::manual_seed(4);
    const auto random = [&](int64_t tokens) {
        return at::randn({2, tokens, kHeads, head_dim}).to(dtype).to(at::kFloat);
    };
    const at::Tensor q = random(kQueries), k = random(kKeys), v = random(kKeys);
    at::Tensor hidden = nothing_hidden(kQueries, kKeys);
    hidden.narrow(0, 0, 4).narrow(1, 0, 12).fill_(true);
    hidden.select(0, 7).fill_(true);
    const FullAttention truth = full_attention(q, k, v, q, hidden);
    const at::Tensor room =
        at::zeros({2, kQueries + 2, kHeads, head_dim}, device);  // `out` is a view of this
    const auto fresh_lse = [&] { return at::full({2, kHeads, kQueries}, -INFINITY).to(device); };
    at::Tensor out = room.narrow(1, 1, kQueries), lse = fresh_lse();
    at::Tensor twin_out = at::zeros({2, kQueries, kHeads, head_dim}, device), twin_lse = fresh_lse();
    for (const auto& [begin, count] : {std::pair{0, 12}, std::pair{12, 1}, std::pair{13, 17}}) {
        const FullAttention block = full_attention(q, k.narrow(1, begin, count), v.narrow(1, begin, count), q,
                                                   hidden.narrow(1, begin, count));
        const at::Tensor part = block.out_bthd.to(dtype).to(device);
        const at::Tensor part_lse = block.lse_bht.to(at::kFloat).to(device);
        own::join_parts(run, {out, lse, false, {}}, {{part, part_lse}});
        plain::join_parts({twin_out, twin_lse, false, {}}, {{part, part_lse}});
    }
    const double bound = dtype == at::kFloat ? 2e-6 : 1e-2;
    EXPECT_LT(relative_error(out.cpu(), truth.out_bthd), bound);
    EXPECT_LT(relative_error(twin_out.cpu(), truth.out_bthd), bound);
    const auto seen = [](const at::Tensor& x) { return x.cpu().nan_to_num(0, 0, 0); };
    EXPECT_LT(relative_error(seen(lse), seen(truth.lse_bht)), 2e-6);
    EXPECT_TRUE(at::equal(at::isinf(lse.cpu()), at::isinf(truth.lse_bht)));
    EXPECT_EQ(room.select(1, 0).abs().max().item<float>(), 0);
    EXPECT_EQ(room.select(1, kQueries + 1).abs().max().item<float>(), 0);
}

/// Adds a part to an earlier sum. The result is exact, because each sum has only two float32 numbers.
void expect_summed(const RunRows& run, at::Device device, at::ScalarType dtype, int64_t head_dim) {
    at::manual_seed(5);
    const at::Tensor room = at::randn({2, 7, 3, head_dim}).to(device), before = room.clone();
    const at::Tensor part = at::randn({2, 3, 5, head_dim}).to(dtype).to(device).transpose(1, 2);
    own::join_parts(run, {room.narrow(1, 1, 5), {}, false, {}}, {{part, {}}});
    EXPECT_TRUE(at::equal(room.narrow(1, 1, 5), before.narrow(1, 1, 5) + part));
    EXPECT_TRUE(at::equal(room.select(1, 0), before.select(1, 0)));
    EXPECT_TRUE(at::equal(room.select(1, 6), before.select(1, 6)));
}

/// Compares the kernel with its twin for the largest number of parts, each over some of the tokens and heads.
/// Joins them with and without an earlier sum, into float32 and into the parts' dtype. Rows that must not be
/// read hold NaN.
void expect_joined(const RunRows& run, at::Device device, at::ScalarType dtype, int64_t head_dim) {
    constexpr int64_t kTokens = 6, kHeads = 3;
    at::manual_seed(6);
    const auto room = [&](float value, at::ScalarType kind) {  // the result is not contiguous
        return at::full({2, kTokens + 1, kHeads, head_dim}, value, kind).to(device).narrow(1, 0, kTokens);
    };
    std::vector<AttentionPart> weighed, added;
    for (const auto& [token, tokens, head, heads] :
         {std::array{0, 4, 0, 3}, std::array{2, 3, 0, 3}, std::array{3, 1, 1, 1}, std::array{0, 2, 1, 2},
          std::array{1, 4, 2, 1}, std::array{0, 5, 0, 3}, std::array{4, 1, 0, 2}, std::array{2, 2, 0, 1}}) {
        at::Tensor values = at::randn({2, heads, tokens, head_dim}).to(dtype);
        at::Tensor lse = at::randn({2, heads, tokens});
        lse.select(2, 0).fill_(-INFINITY);  // this query saw no key
        values.select(2, 0).zero_();
        added.push_back({values.to(device).transpose(1, 2), {}, token, head});
        weighed.push_back({added.back().values_bthd, lse.to(device), token, head});
    }
    ASSERT_EQ(added.size(), size_t{JoinParts<float>::kMost});
    const at::Tensor before = at::randn(room(0, at::kFloat).sizes());
    const at::Tensor lse_before = at::randn({2, kHeads, kTokens});
    for (const auto* parts : {&weighed, &added}) {
        for (const bool begins : {false, true}) {
            for (const bool to_whole : {false, true}) {
                const auto fresh = [&](bool with_sum) {
                    JoinedParts to;
                    to.begins = begins;
                    if (with_sum) to.sum_bthd = room(NAN, at::kFloat);
                    if (with_sum && !begins) to.sum_bthd.copy_(before);
                    if (parts == &weighed) to.lse_bht = at::full_like(lse_before, NAN).to(device);
                    if (parts == &weighed && !begins) to.lse_bht.copy_(lse_before);
                    if (to_whole) to.whole_bthd = room(NAN, dtype);
                    return to;
                };
                const JoinedParts ours = fresh(!begins || !to_whole), twin = fresh(true);
                own::join_parts(run, ours, *parts);
                plain::join_parts(twin, *parts);
                const auto result = [](const JoinedParts& it) {
                    return (it.whole_bthd.defined() ? it.whole_bthd : it.sum_bthd).cpu().to(at::kDouble);
                };
                const double bound = !to_whole || dtype == at::kFloat ? 2e-6
                                     : dtype == at::kHalf             ? 1e-3
                                                                      : 8e-3;
                EXPECT_TRUE(at::allclose(result(ours), result(twin), bound, bound)) << begins << to_whole;
                if (parts == &weighed) {
                    EXPECT_TRUE(at::allclose(ours.lse_bht.cpu(), twin.lse_bht.cpu(), 2e-6, 2e-6));
                }
            }
        }
    }
}

/// Joins, adds and merges with `lanes` lanes, and compares each result with the twin's.
void expect_joins(int lanes, int64_t head_dim, at::ScalarType dtype) {
    const RunRows run = [lanes](const RowKernel& kernel) { run_rows_on_host(kernel, lanes); };
    expect_joined(run, at::kCPU, dtype, head_dim);
    expect_summed(run, at::kCPU, dtype, head_dim);
    expect_merged(run, at::kCPU, dtype, head_dim);
}

/// Lanes wait for each other up to 27 times per row, which is slow if there are more threads than processors.
/// So this test uses one lane; row_lanes_test.cpp compares one lane with the lanes of a launch.
TEST(OwnKernels, JoinAsTheirTwin) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
        for (const int64_t head_dim : kEdgeSizes) expect_joins(1, head_dim, dtype);
    }
}

TEST(OwnKernels, ExhaustiveJoinAsTheirTwinWithSeveralLanes) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
        expect_joins(3, 33, dtype);
        for (const int64_t head_dim : kEdgeSizes) expect_joins(kAsLaunched, head_dim, dtype);
    }
}

TEST(OwnKernelsGpu, MergeAsTheirTwinOnADevice) {
    ASSERT_TRUE(has_gpu());
    load_cuda(0);
    const at::Device device(at::kCUDA, 0);
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
        for (const int64_t head_dim : {40, 128}) {
            expect_merged(rows_on(device), device, dtype, head_dim);
            expect_summed(rows_on(device), device, dtype, head_dim);
            expect_joined(rows_on(device), device, dtype, head_dim);
        }
    }
}

}  // namespace
}  // namespace ringmaster
