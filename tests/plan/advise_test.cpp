#include "engine/plan/resolve/advise.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/config/edit.h"
#include "engine/layout/layout.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

ReadOptions with(const std::vector<std::pair<std::string, std::string>>& set) {
    ReadOptions options;
    options.set = set;
    return options;
}

PlanRequest gpus(int ranks, int64_t bytes = 80 * kGiB, int nodes = 1) {
    PlanRequest request;
    request.ranks = ranks;
    request.nodes = nodes;
    request.device = Device::Cuda;
    request.device_memory_bytes = bytes;
    return request;
}

ConfigReading read(const std::string& text, const ReadOptions& options = {}) {
    return read_config_text(text, "/tmp/ringmaster/config.yaml", options);
}

Advice advice_for(const ConfigReading& reading, const PlanRequest& request) {
    return advise(reading, request, make_plan(reading, request));
}

const std::string kSmall = "meta-llama/Llama-3.2-1B";

TEST(Advise, EverySettingPlansToTheFiguresThatWereSaid) {
    const std::string text = config_text(
        "sequence_len: 8192\ncontext_parallel_size: 4\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\n",
        kSmall);
    const Advice advice = advice_for(read(text), gpus(8));
    ASSERT_GE(advice.plans.size(), 3U);
    for (const Alternative& found : advice.plans) {
        const Plan plan = make_plan(read(text, with(found.set)), gpus(8));
        EXPECT_TRUE(plan.ok()) << said(plan);
        EXPECT_EQ(plan.memory->per_rank.front().total, found.memory_total);
        EXPECT_DOUBLE_EQ(double(*plan.batch.tokens_per_step) / plan.time->step_s, found.tokens_per_s);
        EXPECT_EQ(plan.batch.global, found.global_batch);
        EXPECT_FALSE(found.why.empty());
    }
}

TEST(Advise, PlansAreRankedByTokensASecondAndKeepTheGlobalBatch) {
    const std::string text = config_text(
        "sequence_len: 4096\ncontext_parallel_size: 8\nmicro_batch_size: 1\ngradient_accumulation_steps: 8\n",
        kSmall);
    const Advice advice = advice_for(read(text), gpus(8));
    ASSERT_GE(advice.plans.size(), 4U);
    for (size_t i = 1; i < advice.plans.size(); ++i) {
        EXPECT_GE(advice.plans[i - 1].tokens_per_s, advice.plans[i].tokens_per_s);
    }
    for (const Alternative& found : advice.plans) EXPECT_EQ(found.global_batch, 8);
}

TEST(Advise, ABatchThatCannotBeKeptIsSaid) {
    const Advice advice =
        advice_for(read(config_text("sequence_len: 512\ncontext_parallel_size: 8\nmicro_batch_size: 1\n"
                                    "gradient_accumulation_steps: 1\n",
                                    kSmall)),
                   gpus(8));
    ASSERT_FALSE(advice.plans.empty());
    for (const Alternative& found : advice.plans) {
        const bool is_said = found.why.find("global batch becomes") != std::string::npos;
        EXPECT_EQ(is_said, found.global_batch != 1) << found.why;
    }
}

TEST(Advise, OffersNothingThatTheEngineRefuses) {
    const std::string text =
        config_text("sequence_len: 8192\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n", kSmall);
    const Advice advice = advice_for(read(text), gpus(8));
    for (const Alternative& found : advice.plans) {
        EXPECT_TRUE(make_plan(read(text, with(found.set)), gpus(8)).ok()) << found.why;
    }
}

TEST(Advise, WrittenShardsFollowTheMesh) {
    const std::string text = config_text(
        "sequence_len: 8192\nmicro_batch_size: 1\ngradient_accumulation_steps: 4\n"
        "context_parallel_size: 4\ndp_shard_size: 2\n",
        kSmall);
    for (const Alternative& found : advice_for(read(text), gpus(8)).plans) {
        EXPECT_TRUE(make_plan(read(text, with(found.set)), gpus(8)).ok());
    }
    EXPECT_GE(advice_for(read(text), gpus(8)).plans.size(), 3U);
}

TEST(Advise, AFileThatAsksForShardsInItsOwnWayIsAdvisedInThatWay) {
    for (const std::string way :
         {"deepspeed: deepspeed_configs/zero1.json\n", "deepspeed: deepspeed_configs/zero2.json\n",
          "deepspeed:\n  zero_optimization:\n    stage: 1\n", "deepspeed: {zero_optimization: {stage: 2}}\n",
          "fsdp: [shard_grad_op]\n", "fsdp_version: 2\nfsdp_config:\n  reshard_after_forward: false\n",
          "fsdp_config:\n  fsdp_sharding_strategy: SHARD_GRAD_OP\n", ""}) {
        const std::string text =
            config_text("sequence_len: 4096\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n" + way);
        const bool offloads = way.find("zero2.json") != std::string::npos;
        const PlanRequest request = gpus(8, (offloads ? 20 : 32) * kGiB);
        const Plan plan = make_plan(read(text), request);
        ASSERT_TRUE(plan.ok()) << said(plan);
        ASSERT_EQ(plan.verdict, Verdict::WillNotFit) << way;
        const Diagnostic* fit = find(plan, "MEM-FIT");
        ASSERT_NE(fit, nullptr);
        bool shards = false;
        for (const Fix& fix : fit->fixes) {
            const Plan fixed = make_plan(read(apply_fix(text, fix)), request);
            EXPECT_TRUE(fixed.ok()) << way << said(fixed);
            shards |= fixed.zero_stage == 3;
        }
        EXPECT_TRUE(shards) << way;
        const std::vector<Alternative> found = advice_for(read(text), request).plans;
        EXPECT_TRUE(std::any_of(found.begin(), found.end(), [&](const Alternative& one) {
            const Plan other = make_plan(read(set_keys(text, one.set)), request);
            EXPECT_EQ(other.memory->per_rank.front().total, one.memory_total) << way;
            return other.ok() && other.zero_stage == 3;
        })) << way;
    }
}

TEST(Advise, AFileWithBatchSizeStaysConsistent) {
    const std::string text = config_text(
        "sequence_len: 8192\nmicro_batch_size: 1\nbatch_size: 4\ncontext_parallel_size: 4\n", kSmall);
    for (const Alternative& found : advice_for(read(text), gpus(8)).plans) {
        const Plan plan = make_plan(read(text, with(found.set)), gpus(8));
        EXPECT_TRUE(plan.ok()) << said(plan);
        EXPECT_EQ(plan.batch.global, found.global_batch);
    }
}

TEST(Advise, AnInvalidSizeStillGetsAlternatives) {
    const Advice advice =
        advice_for(read(config_text("sequence_len: 8192\ncontext_parallel_size: 3\nmicro_batch_size: 1\n"
                                    "gradient_accumulation_steps: 1\n",
                                    kSmall)),
                   gpus(8));
    EXPECT_FALSE(advice.plans.empty());
}

TEST(Advise, WhatDoesNotFitIsLeftOutWhereSomethingFits) {
    const std::string text =
        config_text("sequence_len: 131072\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n", kSmall);
    const Advice advice = advice_for(read(text), gpus(8, 64 * kGiB));
    ASSERT_FALSE(advice.plans.empty());
    EXPECT_NE(advice.plans.front().verdict, Verdict::WillNotFit);
    for (const Alternative& found : advice.plans) {
        EXPECT_TRUE(found.is_present() || found.verdict != Verdict::WillNotFit);
    }
}

TEST(Advise, TheLongestSequenceFitsAndTheNextDoesNot) {
    const std::string text = config_text(
        "sequence_len: 8192\ncontext_parallel_size: 4\nring_attn_func: batch_zigzag\n"
        "micro_batch_size: 1\ngradient_accumulation_steps: 1\n",
        kSmall);
    const Advice advice = advice_for(read(text), gpus(8));
    ASSERT_TRUE(advice.longest_sequence_len);
    const int64_t longest = *advice.longest_sequence_len;
    const int64_t multiple = length_multiple(RingAttnFunc::BatchZigzag, 4, 1);
    EXPECT_GT(longest, 8192);
    EXPECT_EQ(longest % multiple, 0);
    const auto fits = [&](int64_t length) {
        return make_plan(read(text, with({{"sequence_len", std::to_string(length)}})), gpus(8)).memory->fits;
    };
    EXPECT_TRUE(fits(longest));
    EXPECT_FALSE(fits(longest + multiple));
    EXPECT_EQ(advice_for(read(text), gpus(8, kGiB)).longest_sequence_len, 0);
}

TEST(Advise, AnUnknownModelGivesNullsAndNoPlans) {
    const std::string text = config_text("sequence_len: 512\n", "someone/never-heard-of-it");
    const Advice advice = advice_for(read(text), gpus(4));
    EXPECT_TRUE(advice.plans.empty());
    EXPECT_FALSE(advice.longest_sequence_len);
    EXPECT_TRUE(advice_to_json(advice)["longest_sequence_len"].is_null());
}

TEST(Advise, UnreadableTextIsNoReasonToThrow) {
    EXPECT_TRUE(advice_for(read("a: [1"), gpus(4)).plans.empty());
    EXPECT_TRUE(advice_for(read(""), gpus(4)).plans.empty());
    EXPECT_TRUE(advice_for(read("num_processes: 8\nparallelism_config: {}\n"), gpus(8)).plans.empty());
}

TEST(Advise, TheJsonHasTheContractsFields) {
    const Advice advice =
        advice_for(read(config_text(
                       "sequence_len: 8192\nmicro_batch_size: 1\ngradient_accumulation_steps: 8\n", kSmall)),
                   gpus(8));
    const nlohmann::json json = advice_to_json(advice);
    ASSERT_FALSE(json["plans"].empty());
    for (const nlohmann::json& plan : json["plans"]) {
        for (const char* field :
             {"set", "tokens_per_s", "exposed_comm_s", "memory_total", "global_batch", "why"}) {
            EXPECT_TRUE(plan.contains(field)) << field;
        }
    }
    EXPECT_TRUE(json["longest_sequence_len"].is_number_integer());
}

TEST(Advise, KeepsAttentionWhereMemoryAllowsIt) {
    const std::string text = config_text(
        "sequence_len: 65536\nmicro_batch_size: 1\ngradient_checkpointing: true\nfsdp_version: 2\n"
        "fsdp_config:\n  reshard_after_forward: true\n");
    bool kept = false;
    for (const Alternative& found : advice_for(read(text), gpus(8)).plans) {
        const Plan plan = make_plan(read(text, with(found.set)), gpus(8));
        int64_t most = 0;
        for (const RankMemory& rank : plan.memory->per_rank) most = std::max(most, rank.total);
        EXPECT_EQ(most, found.memory_total) << found.why;
        kept = kept || (plan.config.selective_checkpointing &&
                        found.why.find("attention's output is kept") != std::string::npos);
    }
    EXPECT_TRUE(kept);
}

TEST(Advise, OnAGpuCheckpointsMayWaitInHostMemory) {
    const std::string text = config_text(
        "sequence_len: 8192\nmicro_batch_size: 1\ngradient_checkpointing: true\ntiled_mlp: true\n", kSmall);
    const Advice advice = advice_for(read(text), gpus(1));
    ASSERT_TRUE(advice.longer_by);
    EXPECT_EQ(advice.longer_by->set.front().first, "activation_offloading");
    PlanRequest cpu = gpus(1);
    cpu.device = Device::Cpu;
    const Advice here = advice_for(read(text), cpu);
    if (here.longer_by) {
        EXPECT_NE(here.longer_by->set.front().first, "activation_offloading");
    }
}

TEST(Advise, WhatAnotherWordTurnedOnIsTurnedOffByThatWord) {
    const std::string text =
        config_text("sequence_len: 8192\nmicro_batch_size: 1\ngradient_checkpointing: offload\n", kSmall);
    for (const Alternative& found : advice_for(read(text), gpus(8)).plans) {
        const Plan plan = make_plan(read(text, with(found.set)), gpus(8));
        EXPECT_EQ(plan.memory->per_rank.front().total, found.memory_total) << found.why;
        EXPECT_EQ(plan.config.gradient_checkpointing, found.gradient_checkpointing) << found.why;
    }
}

TEST(Advise, StatesAreSharedWhereTheyAreTooLarge) {
    const std::string text =
        config_text("sequence_len: 8192\nmicro_batch_size: 1\n");  // 8 billion parameters
    const Advice advice = advice_for(read(text), gpus(8));
    ASSERT_FALSE(advice.plans.empty());
    const Alternative& best = advice.plans.front();
    EXPECT_EQ(best.verdict, Verdict::Fits) << best.why;
    EXPECT_GE(best.zero_stage, 2);
    EXPECT_NE(best.why.find("ZeRO"), std::string::npos) << best.why;
    const Plan plan = make_plan(read(text, with(best.set)), gpus(8));
    EXPECT_EQ(plan.zero_stage, best.zero_stage);
    EXPECT_EQ(plan.verdict, Verdict::Fits) << said(plan);
}

TEST(Advise, TheSingleChangeThatBuysMostIsOneAndHolds) {
    const std::string text = config_text(
        "sequence_len: 8192\ncontext_parallel_size: 2\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n",
        kSmall);
    const Advice advice = advice_for(read(text), gpus(8));
    ASSERT_TRUE(advice.longer_by && advice.longest_sequence_len);
    EXPECT_GT(advice.longer_by->sequence_len, *advice.longest_sequence_len);
    auto set = advice.longer_by->set;
    set.emplace_back("sequence_len", std::to_string(advice.longer_by->sequence_len));
    EXPECT_TRUE(make_plan(read(text, with(set)), gpus(8)).memory->fits);
    const nlohmann::json json = advice_to_json(advice);
    EXPECT_EQ(json["longer_by"]["sequence_len"], advice.longer_by->sequence_len);
    EXPECT_FALSE(json["longer_by"]["set"].empty());
    EXPECT_TRUE(advice_to_json(advice_for(read(config_text("sequence_len: 512\n", "someone/unknown")),
                                          gpus(4)))["longer_by"]
                    .is_null());
}

TEST(Advise, WhatOnlyTwoChangesMakeFitIsNamedWithBoth) {
    const std::string text = config_text(
        "sequence_len: 262144\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nfsdp_version: 2\n"
        "fsdp_config: {reshard_after_forward: true}\n");
    const PlanRequest request = gpus(8);
    const Plan plan = make_plan(read(text), request);
    ASSERT_EQ(plan.verdict, Verdict::WillNotFit) << said(plan);
    const Diagnostic* fit = find(plan, "MEM-FIT");
    ASSERT_NE(fit, nullptr);
    EXPECT_EQ(fit->form, "change") << fit->hint;
    ASSERT_EQ(fit->fixes.size(), 1U);
    EXPECT_GE(fit->fixes[0].edits.size(), 2U);
    EXPECT_EQ(make_plan(read(apply_fix(text, fit->fixes[0])), request).verdict, Verdict::Fits);
}

TEST(Advise, AThousandRanksTakeAMoment) {
    const std::string text =
        config_text("sequence_len: 1048576\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n", kSmall);
    const ConfigReading reading = read(text);
    const PlanRequest request = gpus(1024, 80 * kGiB, 128);
    const std::clock_t start = std::clock();
    const Advice advice = advice_for(reading, request);
    const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;  // CPU time of this process only
    EXPECT_FALSE(advice.plans.empty());
    std::printf("advice for 1,024 ranks: %.0f ms\n", 1e3 * seconds);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(seconds, 1) << "five times what it takes on a slow machine: too many plans are made";
#endif
}

TEST(Advise, NoMeshIsNamedTwice) {
    const Advice advice =
        advice_for(read(config_text(
                       "sequence_len: 8192\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n", kSmall)),
                   gpus(1024, 80 * kGiB, 128));
    std::set<std::vector<std::pair<std::string, std::string>>> seen;
    for (const Alternative& found : advice.plans) EXPECT_TRUE(seen.insert(found.set).second);
    EXPECT_LE(advice.plans.size(), 12U);
}

}  // namespace
}  // namespace ringmaster
