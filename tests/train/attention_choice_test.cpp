#include "engine/train/attention_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/flash_twin.h"
#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

using ::testing::HasSubstr;

const AttentionShape kSmall{1, 2, 1, 8, 16};

/// Much slower than any measurement's noise.
FlashKernel delayed(FlashKernel kernel) {
    const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
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
        output.lse = output.lse + 0.7;  // of another base
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

TEST(AttentionChoice, IsTheSameOnEveryRank) {
    run_ranks(ring_mesh(2), [](int rank, Groups& groups) {
        EXPECT_EQ(agreed(groups, {true, rank == 0}), (CudnnUse{true, false}));
    });
}

TEST(AttentionChoice, IsLeftToRunsThatBothKernelsTake) {
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
    EXPECT_FALSE(cudnn_takes(inputs(8, 16, 64, kCausalWindow)));  // another corner
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
