#include "engine/check/attention_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/flash_twin.h"
#include "tests/support/library_twins.h"
#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

using ::testing::HasSubstr;

const KernelShape kSmall{1, 2, 1, 8, 16};

Plan plan_of_both_kernels() {
    Plan plan;
    plan.device = Device::Cuda;
    plan.config.precision = Precision::Bf16Full;
    plan.model = ModelConfig{};
    plan.model->num_heads = 32;
    plan.model->num_kv_heads = 8;
    plan.model->head_dim = 128;
    plan.mesh.ulysses = 4;
    plan.batch.micro = 2;
    plan.sequence.per_rank = 1024;
    return plan;
}

/// Returns the kernel with a delay of 200 ms per call, far above the noise of any measurement.
FlashKernel delayed(FlashKernel kernel) {
    const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };
    return {[=](const FlashInputs& in) {
                wait();
                return kernel.forward(in);
            },
            [=](const FlashInputs& in, const at::Tensor& dout, const FlashKernel::Output& whole) {
                wait();
                return kernel.backward(in, dout, whole);
            },
            {}};
}

TEST(AttentionChoice, TakesTheFasterAndItsBackwardOnlyWhereRunsNeedNotRepeat) {
    FlashTwin twin;
    AttentionChoice choice =
        measure_attention(delayed(twin.kernel()), twin.kernel(), kSmall, at::kCPU, 0.001);
    EXPECT_EQ(choice.use(), (CudnnUse{true, false}));
    EXPECT_THAT(to_text(choice, choice.use()), HasSubstr("forward cuDNN"));
    EXPECT_THAT(to_text(choice, choice.use()), HasSubstr("not the same in a run repeated"));
    choice.deterministic = false;
    EXPECT_EQ(choice.use(), (CudnnUse{true, true}));
    EXPECT_TRUE(to_json(choice)["backward"]["cudnn_wins"]);
    choice = measure_attention(twin.kernel(), delayed(twin.kernel()), kSmall, at::kCPU, 0.001);
    choice.deterministic = false;
    EXPECT_EQ(choice.use(), CudnnUse{});
}

TEST(AttentionChoice, DoesNotTakeAnotherResultHoweverFast) {
    FlashTwin twin;
    FlashKernel wrong = twin.kernel();
    wrong.forward = [&twin](const FlashInputs& in) {
        FlashKernel::Output output = twin.kernel().forward(in);
        output.lse = output.lse + 0.7;  // a log-sum-exp that is off by a constant, as in another base
        return output;
    };
    const AttentionChoice choice = measure_attention(delayed(twin.kernel()), wrong, kSmall, at::kCPU, 0.001);
    EXPECT_FALSE(choice.use().forward);
    EXPECT_THAT(to_text(choice, choice.use()), HasSubstr("with another result"));
}

TEST(AttentionChoice, DoesWithoutAKernelThatIsNotThereAndSaysWhy) {
    FlashTwin twin;
    FlashKernel missing = twin.kernel();
    missing.forward = [](const FlashInputs&) -> FlashKernel::Output {
        throw std::runtime_error("no engine for it\nat line 7");
    };
    const AttentionChoice choice = measure_attention(twin.kernel(), missing, kSmall, at::kCPU, 0.001);
    EXPECT_FALSE(choice.use().forward);
    EXPECT_THAT(to_text(choice, choice.use()), HasSubstr("cuDNN has none: no engine for it)"));
    EXPECT_TRUE(to_json(choice)["forward"]["cudnn_s"].is_null());
}

/// Replaces LibTorch's cuDNN operators with CPU twins, which refuse longer sequences than a test allows.
class CudnnTo : public ::testing::Test {
  protected:
    CudnnTo() { twins::install(); }
    ~CudnnTo() override {
        twins::cudnn() = {};
        use_cudnn({});
    }
    FlashTwin twin_;  // replaces FlashAttention-2
    const FlashKernel cudnn_{cudnn_forward, cudnn_backward};

    /// Returns a choice in which cuDNN is much faster for every shape that it accepts.
    AttentionChoice faster() const {
        AttentionChoice choice;
        choice.deterministic = false;
        for (AttentionTiming* timing : {&choice.forward, &choice.backward}) {
            timing->flash_s = 1;
            timing->other_s = 0.1;
            timing->worst = 0;
        }
        return choice;
    }
};

TEST_F(CudnnTo, IsTriedOnTheRunsOwnShapesBeforeItIsUsed) {
    const std::vector<KernelShape> shapes = {{2, 4, 2, 40, 16}, {2, 4, 2, 20, 16, 40}};
    AttentionChoice choice = faster();
    try_on_run_shapes(choice, twin_.kernel(), cudnn_, shapes, at::kCPU);
    EXPECT_EQ(choice.use(), (CudnnUse{true, true})) << choice.forward.problem << choice.backward.problem;
    EXPECT_EQ(twins::cudnn().calls, 4);
    EXPECT_LT(choice.forward.worst, 1e-5);
    EXPECT_LT(choice.backward.worst, 1e-5);
    twins::cudnn().most_tokens = 30;
    choice = faster();
    try_on_run_shapes(choice, twin_.kernel(), cudnn_, shapes, at::kCPU);
    EXPECT_FALSE(choice.use().forward);
    EXPECT_THAT(choice.forward.problem,
                HasSubstr("with 40 queries and 40 keys a row, No valid execution plans"));
}

TEST_F(CudnnTo, GivesWayToFlashAttentionWhereItRefusesACallOfTheRun) {
    const auto half = [](int64_t tokens, int64_t heads) {
        return at::arange(tokens * heads * 16, at::kFloat)
            .sin_()
            .view({1, tokens, heads, 16})
            .to(at::kBFloat16);
    };
    for (const bool last_dim : {false, true}) {
        twins::cudnn() = {32, last_dim, 0};
        use_cudnn({true, true});
        const auto call = [&](int64_t tokens) {
            const FlashInputs in{half(tokens, 4), half(tokens, 2), half(tokens, 2), {}, {},
                                 tokens,          tokens,          kCausalWindow};
            FlashKernel::Output whole = cuda_flash_kernel().forward(in);
            const FlashKernel::Gradients d = cuda_flash_kernel().backward(in, half(tokens, 4), whole);
            EXPECT_EQ(whole.lse.sizes(), (std::vector<int64_t>{1, 4, tokens}));
            EXPECT_FALSE(at::isnan(d.dq).any().item<bool>());
            return whole.out;
        };
        const at::Tensor by_cudnn = call(32);
        EXPECT_EQ(twins::cudnn().calls, 2);
        const at::Tensor longer = call(64);
        EXPECT_EQ(twins::cudnn().calls, 2);
        EXPECT_EQ(cudnn_in_use(), CudnnUse{});
        EXPECT_FALSE(at::isnan(longer).any().item<bool>());
        EXPECT_TRUE(at::allclose(call(32), by_cudnn, 1e-2, 1e-2));  // FlashAttention-2's result
        EXPECT_EQ(twins::cudnn().calls, 2);
    }
}

TEST(AttentionChoice, TriesEveryShapeThatARanksHopsHave) {
    Plan plan = plan_of_both_kernels();
    plan.mesh.ulysses = 1;
    plan.mesh.ring = 4;
    plan.context_parallel.layout = RingAttnFunc::BatchZigzag;
    plan.sequence.padded_length = 4096;
    const KernelShape square{2, 32, 8, 1024, 128};
    KernelShape half_the_keys = square, half_the_queries = square;
    half_the_keys.keys = 512;
    half_the_queries.tokens = 512;
    half_the_queries.keys = 1024;
    EXPECT_THAT(run_shapes(plan, 0), ::testing::UnorderedElementsAre(square, half_the_queries));
    EXPECT_THAT(run_shapes(plan, 2),
                ::testing::UnorderedElementsAre(square, half_the_queries, half_the_keys));
    plan.sequence.padded_length = 600000 / 8 * 8;
    EXPECT_EQ(run_shapes(plan, 0).at(0).tokens, 150000);  // the run's own length, not the timed length
    plan.config.sample_packing = true;
    EXPECT_TRUE(run_shapes(plan, 0).empty());
}

TEST(AttentionChoice, IsTheSameOnEveryRank) {
    run_ranks(ring_mesh(2), [](int rank, Groups& groups) {
        EXPECT_EQ(agreed(groups, {true, rank == 0}), (CudnnUse{true, false}));
    });
}

TEST(AttentionChoice, IsLeftToRunsThatBothKernelsTake) {
    Plan plan = plan_of_both_kernels();
    const auto shape = measured_shape(plan);
    ASSERT_TRUE(shape.has_value());
    EXPECT_EQ(shape->heads, 8);
    EXPECT_EQ(shape->kv_heads, 2);
    EXPECT_EQ(shape->tokens, 4096);
    EXPECT_EQ(shape->rows, 2);
    plan.config.sample_packing = true;
    EXPECT_FALSE(measured_shape(plan).has_value());
    plan.config.sample_packing = false;
    plan.model->head_dim = 256;
    EXPECT_FALSE(measured_shape(plan).has_value());
    plan.model->head_dim = 128;
    plan.model->score_softcap = 50;
    EXPECT_FALSE(measured_shape(plan).has_value()) << "neither kernel caps scores";
    EXPECT_TRUE(run_shapes(plan, 0).empty());
    plan.model->score_softcap = 0;
    plan.config.precision = Precision::Float32;
    EXPECT_FALSE(measured_shape(plan).has_value());
}

TEST(CudnnAttention, TakesDenseHalfPrecisionSquaresAndRectangles) {
    const auto inputs = [](int64_t queries, int64_t keys, int64_t head_dim, const FlashWindow& window) {
        const auto x = [&](int64_t tokens) { return at::zeros({1, tokens, 2, head_dim}, at::kBFloat16); };
        return FlashInputs{x(queries), x(keys), x(keys), {}, {}, queries, keys, window};
    };
    EXPECT_TRUE(cudnn_takes(inputs(8, 8, 128, kCausalWindow)));
    EXPECT_TRUE(cudnn_takes(inputs(8, 16, 64, {})));
    // If queries and keys differ in number, cuDNN aligns its causal triangle with another corner.
    EXPECT_FALSE(cudnn_takes(inputs(8, 16, 64, kCausalWindow)));
    EXPECT_FALSE(cudnn_takes(inputs(8, 8, 64, {3, 0})));
    EXPECT_FALSE(cudnn_takes(inputs(8, 8, 256, kCausalWindow)));
    EXPECT_FALSE(cudnn_takes(inputs(8, 1, 64, {})));
    FlashInputs packed = inputs(8, 8, 64, kCausalWindow);
    packed.query_ends = packed.key_ends = at::zeros({3}, at::kInt);
    EXPECT_FALSE(cudnn_takes(packed));
    FlashInputs wide = inputs(8, 8, 64, kCausalWindow);
    wide.q = wide.q.to(at::kFloat);
    EXPECT_FALSE(cudnn_takes(wide));
}

}  // namespace
}  // namespace ringmaster
