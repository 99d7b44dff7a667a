#include "engine/plan/attention_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/plan_json.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names(const std::vector<AttentionUse>& uses) {
    std::vector<std::string> list;
    for (const AttentionUse& it : uses) list.push_back(it.kernel);
    return list;
}

Plan plan_for(const std::string& more, int ranks, Device device = Device::Cuda,
              const std::string& model = "meta-llama/Llama-3-8B-Instruct") {
    PlanRequest request;
    request.device = device;
    const Plan plan = plan_text(config_text("sequence_len: 8192\n" + more, model), ranks, request);
    EXPECT_TRUE(plan.ok()) << said(plan);
    return plan;
}

TEST(AttentionKernels, DenseRowsAreCudnnsOrFlashAttentions) {
    for (const char* more : {"", "context_parallel_size: 8\nring_attn_func: batch_zigzag\n",
                             "context_parallel_size: 8\nulysses_size: 8\n"}) {
        const auto uses = attention_kernels(plan_for(more, 8));
        EXPECT_THAT(names(uses), ElementsAre("cuDNN or FlashAttention-2, dense", "FlashAttention-2, varlen"))
            << more;
        EXPECT_THAT(uses.at(0).why, HasSubstr("measurement"));
        EXPECT_EQ(uses.at(1).use, "rows of several documents or with padding");
    }
}

TEST(AttentionKernels, WhyCudnnIsLeftOutIsSaid) {
    const auto packed = attention_kernels(plan_for("sample_packing: true\n", 8));
    EXPECT_THAT(names(packed), ElementsAre("FlashAttention-2, dense", "FlashAttention-2, varlen"));
    EXPECT_THAT(packed.at(0).why, HasSubstr("several documents"));
    Plan plan = plan_for("", 8);
    plan.model->sliding_window = 1024;
    EXPECT_THAT(attention_kernels(plan).at(0).why, HasSubstr("sliding window"));
    plan.model->sliding_window = {};
    plan.model->head_dim = 256;
    EXPECT_THAT(attention_kernels(plan).at(0).why, HasSubstr("head dimensions up to 128"));
    plan.model->head_dim = 128;
    EXPECT_EQ(attention_kernels(plan).at(0).kernel, "cuDNN or FlashAttention-2, dense");
    EXPECT_EQ(why_not_cudnn(plan), nullptr);
    plan.model = {};
    EXPECT_NE(why_not_cudnn(plan), nullptr);
    EXPECT_THAT(attention_kernels(plan), IsEmpty());
}

// A windowed hop of a ring sees keys in several ranges, which makes more than one segment.
TEST(AttentionKernels, HopsThatSeeSeveralStretchesArePacked) {
    Plan plan = plan_for("context_parallel_size: 4\nring_attn_func: batch_zigzag\n", 4);
    plan.model->sliding_window = 700;
    const auto uses = attention_kernels(plan);
    EXPECT_THAT(names(uses), ::testing::Contains("FlashAttention-2, varlen"));
    for (const AttentionUse& it : uses) {
        if (it.kernel == "FlashAttention-2, varlen") {
            EXPECT_THAT(it.use, HasSubstr("several stretches"));
        }
    }
}

// In Gemma 3, five layers of six attend in a window, and the sixth sees all keys.
TEST(AttentionKernels, EveryKindOfLayerIsCounted) {
    Plan plan = plan_for("context_parallel_size: 4\nring_attn_func: batch_zigzag\n", 4, Device::Cuda,
                         "google/gemma-3-1b-it");
    ASSERT_FALSE(plan.model->layers.empty());
    const auto packed_use = [&] { return attention_kernels(plan).back().use; };
    EXPECT_THAT(packed_use(), HasSubstr("several stretches"));
    for (LayerKind& kind : plan.model->layers) kind.window.reset();
    EXPECT_THAT(packed_use(), ::testing::Not(HasSubstr("several stretches")));
}

TEST(AttentionKernels, PrecisionAndDeviceChooseTheFamily) {
    Plan plan = plan_for("", 8);
    plan.config.precision = Precision::Float32;
    EXPECT_THAT(names(attention_kernels(plan)), ElementsAre("LibTorch's memory-efficient kernel"));
    EXPECT_THAT(names(attention_kernels(plan_for("", 2, Device::Cpu))),
                ElementsAre("Ringmaster's block kernel"));
    EXPECT_EQ(attention_family(Device::Cuda, false, 256, false), AttentionFamily::FlashAttention2);
    EXPECT_EQ(attention_family(Device::Cuda, true, 64, false), AttentionFamily::Efficient);
    EXPECT_EQ(attention_family(Device::Cuda, false, 512, false), AttentionFamily::Efficient)
        << "FlashAttention-2 takes heads up to 256";
    EXPECT_EQ(attention_family(Device::Cpu, false, 64, true), AttentionFamily::OwnBlocks);
}

// Gemma 4 has heads of 256 in most layers, and of 512 in those that see all keys.
TEST(AttentionKernels, LayersWithWiderHeadsThanFlashAttentionTakesAreNamed) {
    Plan plan = plan_for("", 8);
    plan.model->head_dim = 256;
    EXPECT_THAT(names(attention_kernels(plan)),
                ElementsAre("FlashAttention-2, dense", "FlashAttention-2, varlen"));
    plan.model->global_heads.head_dim = 512;
    const AttentionUse wide = attention_kernels(plan).back();
    EXPECT_EQ(wide.kernel, "LibTorch's memory-efficient kernel");
    EXPECT_THAT(wide.use, HasSubstr("wider than 256"));
    EXPECT_THAT(wide.why, HasSubstr("up to 256"));
    plan.model->head_dim = 320;
    const std::vector<AttentionUse> all = attention_kernels(plan);
    EXPECT_THAT(names(all), ElementsAre("LibTorch's memory-efficient kernel"));
    EXPECT_EQ(all[0].use, "all of the attention");
    EXPECT_THAT(all[0].why, HasSubstr("up to 256"));
    EXPECT_THAT(why_not_cudnn(plan), HasSubstr("head dimensions up to 128"));
}

// LibTorch's kernels for GPUs would silently ignore the cap.
TEST(AttentionKernels, ModelsThatCapTheirScoresTakeBlocksOfScoresOnAGpu) {
    for (const char* more : {"", "sample_packing: true\n", "context_parallel_size: 8\n"}) {
        for (const char* precision : {"bf16: true\n", "bf16: false\n"}) {
            const Plan plan = plan_for(std::string(more) + precision, 8, Device::Cuda, "google/gemma-2-9b");
            EXPECT_THAT(names(attention_kernels(plan)),
                        ElementsAre("LibTorch's operations, in blocks of scores"));
            EXPECT_THAT(attention_kernels(plan)[0].why, HasSubstr("caps its attention scores"));
            ASSERT_NE(why_not_cudnn(plan), nullptr);
            EXPECT_THAT(why_not_cudnn(plan), HasSubstr("caps its attention scores"));
        }
    }
    Plan small_heads = plan_for("", 8, Device::Cuda, "google/gemma-2-9b");
    small_heads.model->head_dim = small_heads.model->global_heads.head_dim = 128;
    small_heads.model->sliding_window.reset();
    EXPECT_NE(why_not_cudnn(small_heads), nullptr) << "cuDNN takes such heads, but not their cap";
    small_heads.model->score_softcap = 0;
    EXPECT_EQ(why_not_cudnn(small_heads), nullptr);
    EXPECT_THAT(names(attention_kernels(plan_for("", 2, Device::Cpu, "google/gemma-2-9b"))),
                ElementsAre("Ringmaster's block kernel"));
}

TEST(AttentionKernels, AreInThePlansJson) {
    const Plan plan = plan_for("sample_packing: true\n", 8);
    const nlohmann::json json = plan_to_json(plan).at("attention");
    ASSERT_EQ(json.size(), attention_kernels(plan).size());
    EXPECT_EQ(json[0]["kernel"], "FlashAttention-2, dense");
    EXPECT_EQ(json[0]["for"], "rows that are one document without padding");
    EXPECT_EQ(json[0]["why"], attention_kernels(plan)[0].why);
    EXPECT_EQ(plan_to_json(plan_from_json(plan_to_json(plan))).at("attention"), json);
}

TEST(AttentionKernels, AreNamedAtOnceForLongRowsAndManyRanks) {
    Plan plan = plan_for("context_parallel_size: 64\nring_attn_func: batch_zigzag\n", 64);
    plan.sequence.padded_length = int64_t{1} << 24;
    plan.model->sliding_window = 3;
    EXPECT_FALSE(attention_kernels(plan).empty());
}

}  // namespace
}  // namespace ringmaster
