// Tests plans that divide experts among ranks: valid sizes, settings that they exclude, memory, time and
// received tokens.
#include "engine/plan/expert_parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/plan/resolve/plan_json.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

using testing::HasSubstr;

constexpr const char* kMixture = "Qwen/Qwen3-30B-A3B";  // 128 experts, 8 per token

Plan mixture_plan(const std::string& more, int ranks) {
    return plan_text(config_text("sequence_len: 4096\nmicro_batch_size: 1\nmax_steps: 9\n" + more, kMixture),
                     ranks);
}

TEST(ExpertParallel, DividesExpertsWithoutMoreRanks) {
    const Plan plan = mixture_plan("context_parallel_size: 2\nexpert_parallel_size: 4\n", 8);
    ASSERT_TRUE(plan.ok()) << said(plan);
    EXPECT_EQ(plan.mesh.ranks(), 8);
    EXPECT_EQ(plan.mesh.dp_shard, 4) << "all ranks that context parallelism leaves";
    EXPECT_EQ(plan.mesh.expert, 4);
    EXPECT_EQ(plan.mesh.ranks_of_part(), 2);
    EXPECT_EQ(plan.zero_stage, 3);
    ASSERT_NE(find(plan, "MESH-EXPERTS"), nullptr);
    EXPECT_EQ(find(plan, "MESH-EXPERTS")->severity, Severity::Info);
    const auto received = received_tokens(plan);
    ASSERT_TRUE(received);
    EXPECT_EQ(received->level, 2048 * 8);
    EXPECT_EQ(received->worst, 4 * 2048 * 8);
    const nlohmann::json json = plan_to_json(plan);
    EXPECT_EQ(json["mesh"]["expert"], 4);
    EXPECT_EQ(json["received_tokens"]["worst"], 4 * 2048 * 8);
    EXPECT_EQ(plan_from_json(json).mesh.expert, 4);
}

TEST(ExpertParallel, SaysNothingIfTheFileShardsAlready) {
    const Plan plan = mixture_plan(
        "expert_parallel_size: 8\nfsdp_version: 2\nfsdp_config: {reshard_after_forward: true}\n", 8);
    EXPECT_EQ(find(plan, "MESH-EXPERTS"), nullptr) << said(plan);
    EXPECT_EQ(plan.mesh.expert, 8);
    EXPECT_FALSE(received_tokens(mixture_plan("", 8))) << "no expert parallelism";
    EXPECT_EQ(mixture_plan("expert_parallel_size: 1\n", 8).zero_stage, 0);
}

struct Refused {
    const char *more, *form, *key;
    int ranks;
    const char* model = kMixture;

    friend std::ostream& operator<<(std::ostream& to, const Refused& of) { return to << of.more; }
};

class ExpertParallelRefuses : public testing::TestWithParam<Refused> {};

TEST_P(ExpertParallelRefuses, WithAFixThatPlans) {
    const Refused& at = GetParam();
    const std::string text = config_text(
        "sequence_len: 4096\nmicro_batch_size: 1\nmax_steps: 9\n" + std::string(at.more), at.model);
    const Plan plan = plan_text(text, at.ranks);
    const Diagnostic* said_so = find(plan, "MESH-EXPERTS");
    ASSERT_NE(said_so, nullptr) << said(plan);
    EXPECT_EQ(said_so->severity, Severity::Error);
    EXPECT_EQ(said_so->form, at.form);
    EXPECT_EQ(said_so->key, at.key);
    EXPECT_EQ(plan.mesh.expert, 1);
    ASSERT_FALSE(said_so->fixes.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Each, ExpertParallelRefuses,
    testing::Values(
        Refused{"expert_parallel_size: 2\n", "dense", "expert_parallel_size", 2,
                "meta-llama/Llama-3-8B-Instruct"},
        Refused{"expert_parallel_size: 3\n", "divisor", "expert_parallel_size", 6},
        Refused{"expert_parallel_size: 16\n", "divisor", "expert_parallel_size", 8},
        Refused{"expert_parallel_size: 2\ntiled_mlp: true\n", "tiled", "tiled_mlp", 2},
        Refused{"expert_parallel_size: 2\nadapter: qlora\nload_in_4bit: true\nlora_r: 8\nlora_alpha: 8\n"
                "lora_target_modules: [q_proj]\nquantize_moe_experts: true\n",
                "quantized", "quantize_moe_experts", 2}));

TEST(ExpertParallel, DividesTheExpertsOfAModelThatIsNotKnownYet) {
    const Plan plan = plan_text(config_text("expert_parallel_size: 4\n", "someone/unknown-mixture"), 8);
    EXPECT_EQ(plan.mesh.expert, 4) << said(plan);
    EXPECT_EQ(plan.zero_stage, 3);
    EXPECT_FALSE(received_tokens(plan));
}

TEST(ExpertParallel, RefusesChunksOfSequences) {
    const Plan plan = mixture_plan("expert_parallel_size: 2\nsequence_chunks: 2\n", 2);
    ASSERT_NE(find(plan, "SEQ-CHUNKS"), nullptr) << said(plan);
    EXPECT_EQ(find(plan, "SEQ-CHUNKS")->form, "experts");
}

TEST(ExpertParallel, OffersSizesThatWork) {
    const Plan plan = mixture_plan("expert_parallel_size: 3\n", 8);
    const Diagnostic* divisor = find(plan, "MESH-EXPERTS");
    ASSERT_NE(divisor, nullptr);
    EXPECT_THAT(divisor->hint, HasSubstr("1, 2, 4, 8"));
    EXPECT_EQ(divisor->fixes.front().edits.front().value, "8");
}

/// Dividing experts moves tokens in place of weights. A rank then gathers only the weights of one part of the
/// experts, and a step of few tokens takes less time on the links.
TEST(ExpertParallel, TakesLessMemoryAndLessTimeForWeights) {
    const std::string sharded = "fsdp_version: 2\nfsdp_config: {reshard_after_forward: true}\n";
    const Plan whole = mixture_plan(sharded, 8);
    const Plan some = mixture_plan(sharded + "expert_parallel_size: 4\n", 8);
    const Plan all = mixture_plan(sharded + "expert_parallel_size: 8\n", 8);
    ASSERT_TRUE(whole.ok() && some.ok() && all.ok()) << said(all);
    const auto total = [](const Plan& plan) { return plan.memory->per_rank.front().total; };
    EXPECT_LT(total(some), total(whole));
    EXPECT_LT(total(all), total(some));
    EXPECT_EQ(some.memory->per_rank.front().weights, whole.memory->per_rank.front().weights);
    EXPECT_LT(all.time->comm_s, whole.time->comm_s);
    EXPECT_GT(all.time->comm_s, 0);
}

}  // namespace
}  // namespace ringmaster
