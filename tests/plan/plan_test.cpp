#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "engine/plan/resolve/plan_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "engine/plan/time/step_time.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// These tests cover sizes and batches.

TEST(Plan, ValidSizesAreTheDivisorsAboveOne) {
    EXPECT_THAT(plan_of("", 8).context_parallel.valid_sizes, ElementsAre(2, 4, 8));
    EXPECT_THAT(plan_of("", 4).context_parallel.valid_sizes, ElementsAre(2, 4));
    EXPECT_THAT(plan_of("", 1).context_parallel.valid_sizes, ElementsAre());
    EXPECT_THAT(plan_of("", 12).context_parallel.valid_sizes, ElementsAre(2, 3, 4, 6, 12));
}

TEST(Plan, FourRanksThatShareASequenceDivideTheGlobalBatchByFour) {
    const Plan plan =
        plan_of("micro_batch_size: 2\ngradient_accumulation_steps: 1\ncontext_parallel_size: 4\n", 8);
    EXPECT_TRUE(plan.ok()) << said(plan);
    EXPECT_EQ(plan.batch.global_without_cp, 16);
    EXPECT_EQ(plan.batch.global, 4);
    const Diagnostic* divided = find(plan, "BATCH-DIVIDED");
    ASSERT_TRUE(divided);
    EXPECT_EQ(divided->severity, Severity::Info);
    EXPECT_THAT(divided->message, HasSubstr("16 becomes 4: 4 ranks share one sequence"));
    EXPECT_THAT(divided->hint, HasSubstr("set gradient_accumulation_steps: 4 to keep 16"));
    EXPECT_EQ(divided->line, 11);
}

TEST(Plan, BothKeyGenerationsGiveTheSamePlan) {
    const std::string sizes = "micro_batch_size: 1\ngradient_accumulation_steps: 2\nsequence_len: 4096\n";
    const Plan now = plan_of(sizes + "context_parallel_size: 4\n", 8);
    const Plan old = plan_of(sizes + "sequence_parallel_degree: 4\nflash_attention: true\n", 8);
    EXPECT_EQ(old.context_parallel.size, 4);
    EXPECT_EQ(old.batch.global, now.batch.global);
    EXPECT_EQ(old.mesh.ring, now.mesh.ring);
    EXPECT_EQ(old.sequence.per_rank, now.sequence.per_rank);
    EXPECT_EQ(old.memory->per_rank[0].total, now.memory->per_rank[0].total);
    EXPECT_EQ(find(old, "BATCH-DIVIDED")->key, "sequence_parallel_degree");
}

TEST(Plan, AnAccelerateFileOfTwoAllToAllRanksIsPlanned) {
    const Plan plan = plan_text(
        "distributed_type: DEEPSPEED\nmachine_rank: 0\nnum_machines: 1\nnum_processes: 2\n"
        "parallelism_config:\n"
        "  parallelism_config_dp_replicate_size: 1\n  parallelism_config_dp_shard_size: 1\n"
        "  parallelism_config_sp_size: 2\n  parallelism_config_sp_backend: deepspeed\n"
        "  parallelism_config_sp_seq_length_is_variable: true\n"
        "  parallelism_config_sp_attn_implementation: sdpa\n",
        0);
    EXPECT_TRUE(plan.ok()) << said(plan);
    EXPECT_TRUE(plan.config.accelerate_only);
    EXPECT_EQ(plan.ranks, 2);
    EXPECT_EQ(plan.mesh.ring, 1);
    EXPECT_EQ(plan.mesh.ulysses, 2);
    EXPECT_EQ(plan.verdict, Verdict::Unknown);
    EXPECT_FALSE(plan.memory);
    EXPECT_FALSE(plan.batch.tokens_per_step);
}

// The numbers are those of axolotl's tests/test_context_parallel_batch_size.py, with micro 2 and accumulation
// 4.
TEST(Plan, CountsBatchesAsAxolotlDoes) {
    const auto global = [](int ranks, int size) {
        return plan_of("micro_batch_size: 2\ngradient_accumulation_steps: 4\ncontext_parallel_size: " +
                           std::to_string(size) + "\n",
                       ranks)
            .batch.global;
    };
    EXPECT_EQ(global(4, 1), 32);
    EXPECT_EQ(global(4, 2), 16);
    EXPECT_EQ(global(4, 4), 8);
    EXPECT_EQ(global(2, 2), 8);
}

// These tests cover sizes that do not work.

TEST(Plan, AProductThatIsNotRanksIsRefusedWithItsNumbers) {
    const Plan plan = plan_of("dp_replicate_size: 2\ndp_shard_size: 2\ncontext_parallel_size: 4\n", 8);
    EXPECT_FALSE(plan.ok());
    EXPECT_EQ(plan.verdict, Verdict::Invalid);
    const Diagnostic* product = find(plan, "MESH-PRODUCT");
    ASSERT_TRUE(product) << said(plan);
    EXPECT_THAT(product->message, HasSubstr("2 × 2 × 4 = 16, but there are 8 ranks"));
    EXPECT_THAT(product->hint, HasSubstr("dp_shard_size: 1"));
    EXPECT_THAT(product->hint, HasSubstr("context_parallel_size: 2"));
    EXPECT_THAT(product->hint, HasSubstr("--ranks 16"));
    EXPECT_EQ(product->line, 10);
    EXPECT_FALSE(plan.memory);
}

TEST(Plan, AcceleratesOwnContradictionFollowsTheProductRule) {
    const Plan plan = plan_text(
        "distributed_type: DEEPSPEED\nnum_machines: 1\nnum_processes: 8\nparallelism_config:\n"
        "  parallelism_config_dp_shard_size: 8\n  parallelism_config_sp_size: 8\n"
        "  parallelism_config_sp_seq_length_is_variable: true\n",
        0);
    const Diagnostic* product = find(plan, "MESH-PRODUCT");
    ASSERT_TRUE(product) << said(plan);
    EXPECT_THAT(product->message, HasSubstr("1 × 8 × 8 = 64, but there are 8 ranks"));
    EXPECT_THAT(product->message, HasSubstr("accelerate's page"));
    EXPECT_THAT(product->hint, HasSubstr("dp_shard_size: 1"));
}

TEST(Plan, ASizeThatDoesNotDivideRanksListsThoseThatDo) {
    const Plan plan = plan_of(
        "context_parallel_size: 3\nsequence_len: 8192\nmicro_batch_size: 2\n"
        "gradient_accumulation_steps: 1\n",
        8);
    const Diagnostic* divisor = find(plan, "CP-DIVISOR");
    ASSERT_TRUE(divisor) << said(plan);
    EXPECT_THAT(divisor->message, HasSubstr("context_parallel_size 3 does not divide 8 ranks"));
    EXPECT_THAT(divisor->hint, HasSubstr("4 (global batch 4, 2,048 tokens per rank)"));
    EXPECT_FALSE(find(plan, "MESH-PRODUCT")) << "one message for one mistake";
    EXPECT_THAT(find(plan_of("sequence_parallel_degree: 3\n", 8), "CP-DIVISOR")->message,
                HasSubstr("sequence_parallel_degree 3 "))
        << "the key as it stands in the file";
    EXPECT_TRUE(find(plan_of("context_parallel_size: 4\n", 0), "CP-DIVISOR")) << "two CPU ranks by default";
}

TEST(Plan, UlyssesMustDivideTheContextAndTheHeads) {
    const Plan ulysses = plan_of("context_parallel_size: 4\nulysses_size: 3\n", 8);
    EXPECT_TRUE(find(ulysses, "CP-ULYSSES")) << said(ulysses);
    const Plan heads =
        plan_text(config_text("context_parallel_size: 8\nulysses_size: 8\n", "Qwen/Qwen2.5-0.5B"), 8);
    const Diagnostic* rule = find(heads, "CP-HEADS");  // 14 query heads, 2 key/value heads
    ASSERT_TRUE(rule) << said(heads);
    EXPECT_EQ(rule->severity, Severity::Warning) << "DeepSpeed's rule";
    EXPECT_TRUE(heads.ok()) << said(heads);
    const Plan few =
        plan_text(config_text("context_parallel_size: 16\nulysses_size: 16\n", "Qwen/Qwen2.5-0.5B"), 16);
    ASSERT_TRUE(find(few, "CP-HEADS")) << said(few);
    EXPECT_EQ(find(few, "CP-HEADS")->severity, Severity::Error);
    EXPECT_THAT(find(few, "CP-HEADS")->hint, HasSubstr("1, 2, 4, 8"));
}

TEST(Plan, NodesMustDivideRanks) {
    PlanRequest request;
    request.nodes = 3;
    const Plan plan = plan_of("", 8, request);
    const Diagnostic* nodes = find(plan, "MESH-NODES");
    ASSERT_TRUE(nodes);
    EXPECT_THAT(nodes->hint, HasSubstr("1, 2, 4, 8"));
}

TEST(Plan, AbsurdRanksAndSizesAreRefusedNotCounted) {
    EXPECT_TRUE(find(plan_of("", 2'000'000'000), "MESH-RANKS"));
    EXPECT_TRUE(find(plan_of("micro_batch_size: 1000000000\ngradient_accumulation_steps: 1000000000\n", 8),
                     "BATCH-SIZE"));
    EXPECT_TRUE(find(plan_of("sequence_len: 9000000000000000000\n", 8), "SEQ-LENGTH"));
    EXPECT_FALSE(plan_of("context_parallel_size: 1000000\nulysses_size: 1000000\ndp_shard_size: 1000000\n"
                         "dp_replicate_size: 1000000\n",
                         8)
                     .ok());
    PlanRequest none;
    none.ranks = 0;
    EXPECT_TRUE(find(plan_of("", 0, none), "MESH-RANKS"));
    const Plan huge = plan_of(
        "sequence_len: 1073741824\nmicro_batch_size: 1000000000\ngradient_accumulation_steps: 1\n", 1);
    ASSERT_TRUE(huge.memory) << said(huge);
    EXPECT_GT(huge.memory->per_rank[0].total, int64_t{1} << 50);
    EXPECT_EQ(huge.memory->fits, false);
}

// These tests cover ranks, nodes and devices.

TEST(Plan, RanksComeFromTheRequestThenAccelerateThenTheGpusSeenThenTwoCpuRanks) {
    EXPECT_EQ(plan_of("", 0).ranks, 2);
    EXPECT_EQ(plan_of("", 0).device, Device::Cpu);
    PlanRequest gpus;
    gpus.devices_seen = 4;
    gpus.seen_device_bytes = int64_t{80} << 30;
    EXPECT_EQ(plan_of("", 0, gpus).ranks, 4);
    EXPECT_EQ(plan_of("", 0, gpus).device, Device::Cuda);
    EXPECT_EQ(plan_of("", 3, gpus).ranks, 3);
    gpus.device = Device::Cpu;
    EXPECT_EQ(plan_of("", 0, gpus).ranks, 2);
}

TEST(Plan, CpuMemoryIsTheMachinesDividedByItsRanks) {
    PlanRequest request;
    request.machine_ram_bytes = int64_t{64} << 30;
    request.ranks = 4;
    const Plan plan = make_plan(read_config_text(config_text(""), "/tmp/c.yaml"), request);
    EXPECT_EQ(plan.memory->device_bytes, int64_t{16} << 30);
}

TEST(Plan, SizesLeftOutAreOneReplicaAndTheRestShards) {
    const Plan plan = plan_of("context_parallel_size: 2\n", 8);
    EXPECT_EQ(plan.mesh.dp_replicate, 1);
    EXPECT_EQ(plan.mesh.dp_shard, 4);
    EXPECT_EQ(plan.mesh.ring, 2);
    EXPECT_EQ(plan_of("context_parallel_size: 2\ndp_replicate_size: 2\n", 8).mesh.dp_shard, 2);
}

// These tests cover the sequence's length and padding.

TEST(Plan, LengthsArePaddedToTheLayoutsMultipleAndSaidSo) {
    const Plan exact = plan_of("context_parallel_size: 4\nsequence_len: 8192\n", 4);
    EXPECT_EQ(exact.sequence.padded_length, 8192);
    EXPECT_EQ(exact.sequence.per_rank, 2048);
    EXPECT_FALSE(find(exact, "SEQ-PADDED"));
    const Plan padded =
        plan_of("context_parallel_size: 4\nsequence_len: 1001\nring_attn_func: batch_zigzag\n", 4);
    EXPECT_EQ(padded.sequence.padded_length, 1008);
    EXPECT_EQ(padded.sequence.per_rank, 252);
    const Diagnostic* said_so = find(padded, "SEQ-PADDED");
    ASSERT_TRUE(said_so);
    EXPECT_EQ(said_so->parameters.at("padding"), FindingValue("0.7 %")) << "7 of 1008 tokens";
    EXPECT_TRUE(find(plan_of("context_parallel_size: 8\nsequence_len: 5\n", 8), "SEQ-SHORT"));
    EXPECT_TRUE(find(plan_of("sequence_len: 16384\n", 1), "SEQ-POSITIONS"));
}

// These tests cover what the engine cannot do yet, and what other programs would refuse.

TEST(Plan, WhatIsNotTrainedYetIsAnErrorOfItsKey) {
    const auto error = [](const Plan& plan, const char* code) {
        const Diagnostic* found = find(plan, code);
        return found && found->severity == Severity::Error && !found->hint.empty();
    };
    PlanRequest of_model;
    of_model.known_model = find_model_config("mistralai/Mixtral-8x7B-v0.1", "");
    EXPECT_TRUE(plan_text(config_text("", "x/y"), 1, of_model).ok());
    of_model.known_model->obstacles = {"a shared expert"};
    EXPECT_TRUE(error(plan_text(config_text("", "x/y"), 1, of_model), "ENGINE-MODEL"));
}

TEST(Plan, EveryLayoutIsTrainedPackedOrNotOverRingAndHeads) {
    for (const char* func : {"batch_ring", "batch_zigzag", "batch_stripe", "varlen_llama3", "varlen_ring",
                             "varlen_zigzag", "balanced", "auto"}) {
        for (const char* packing : {"", "sample_packing: true\n"}) {
            for (const char* ulysses : {"", "ulysses_size: 2\n", "ulysses_size: 4\n"}) {
                const Plan plan = plan_of(std::string("context_parallel_size: 4\nring_attn_func: ") + func +
                                              "\n" + packing + ulysses,
                                          4);
                EXPECT_TRUE(plan.ok()) << said(plan);
                EXPECT_TRUE(plan.time && plan.memory);
            }
        }
    }
    EXPECT_EQ(plan_of("context_parallel_size: 2\n", 2).context_parallel.layout, RingAttnFunc::BatchRing);
    EXPECT_EQ(plan_of("context_parallel_size: 2\nsample_packing: true\n", 2).context_parallel.layout,
              RingAttnFunc::VarlenLlama3);
}

TEST(Plan, AWindowInEveryLayerIsTrainedAndMakesAStepShorter) {
    const auto mistral = [](const std::string& more) {
        return plan_text(config_text("sequence_len: 32768\n" + more, "mistralai/Mistral-7B-v0.1"), 1);
    };
    EXPECT_TRUE(mistral("").ok()) << said(mistral(""));
    const Plan llama = plan_text(config_text("sequence_len: 32768\n", "meta-llama/Llama-3-8B-Instruct"), 1);
    EXPECT_LT(work_of_ranks(mistral(""))[0], work_of_ranks(llama)[0] / 3);
}

TEST(Plan, LayoutsThatTakeAnyLengthDoNotPad) {
    const Plan plan = plan_of("context_parallel_size: 4\nsequence_len: 1001\nring_attn_func: balanced\n", 4);
    EXPECT_EQ(plan.sequence.padded_length, 1001);
    EXPECT_EQ(plan.sequence.per_rank, 251) << "the largest shard";
}

TEST(Plan, ShardingIsDoneWhereItIsAskedFor) {
    const auto stage = [](const std::string& more) {
        const Plan plan = plan_of(more, 8);
        EXPECT_TRUE(plan.ok()) << said(plan);
        return plan.zero_stage;
    };
    EXPECT_EQ(stage("fsdp_version: 2\nfsdp_config:\n  reshard_after_forward: true\n"), 3);
    EXPECT_EQ(stage("fsdp_version: 2\nfsdp_config:\n  reshard_after_forward: false\n"), 2);
    EXPECT_EQ(stage("deepspeed: {zero_optimization: {stage: 1}}\n"), 1);
    EXPECT_EQ(stage(""), 0);
}

TEST(Plan, OffloadingIsCountedApart) {
    const std::string param = "offload_param: {device: cpu}", optimizer = "offload_optimizer: {device: cpu}";
    const auto deepspeed = [](const std::string& offloads) {
        return "deepspeed: {zero_optimization: {stage: 3, " + offloads + "}}\n";
    };
    const auto host = [](const std::string& asked) { return plan_of(asked, 8).memory->per_rank[0].host; };
    EXPECT_EQ(host(deepspeed("offload_param: {device: none}")), 0);
    EXPECT_GT(host(deepspeed(optimizer)), 0);
    EXPECT_GT(host(deepspeed(param)), host(deepspeed(optimizer)));
    EXPECT_EQ(host(deepspeed(param)), host(deepspeed(param + ", " + optimizer)));
    EXPECT_EQ(host("fsdp_version: 2\nfsdp_config: {offload_params: true}\n"), host(deepspeed(param)));
    EXPECT_GT(host("gradient_checkpointing: offload\n"), 0);
    const auto said_of = [](const std::string& asked) {
        const Diagnostic* said = find(plan_of(asked, 8), "CFG-OFFLOAD");
        return said ? std::optional(said->severity) : std::nullopt;
    };
    for (const std::string& asked :
         {deepspeed(param), deepspeed(optimizer), std::string("gradient_checkpointing: offload\n")})
        EXPECT_EQ(said_of(asked), Severity::Info) << "on the CPU nothing is saved";
    EXPECT_EQ(said_of("gradient_checkpointing: true\n"), std::nullopt);
}

TEST(Plan, ANodesMemoryLimitsWhatItsRanksOffload) {
    PlanRequest request;
    request.device = Device::Cuda;
    request.device_memory_bytes = int64_t{80} << 30;
    const std::string text = "sequence_len: 8192\nfsdp_version: 2\nfsdp_config: {offload_params: true}\n";
    const auto with = [&](int64_t gib, int nodes) {
        request.host_memory_bytes = gib << 30;
        request.nodes = nodes;
        return plan_of(text, 8, request);
    };
    const Plan enough = with(256, 1), less = with(150, 1), halves = with(150, 2);
    EXPECT_EQ(enough.verdict, Verdict::Fits) << said(enough);
    EXPECT_EQ(less.verdict, Verdict::WillNotFit);
    EXPECT_FALSE(less.memory->fits);
    ASSERT_TRUE(find(less, "MEM-FIT"));
    EXPECT_EQ(halves.verdict, Verdict::Fits);
    EXPECT_NEAR(double(halves.memory->host_bytes) / double(enough.memory->host_bytes), 0.5, 0.01);
    request.host_memory_bytes.reset();
    request.machine_ram_bytes = int64_t{16} << 30;
    EXPECT_EQ(plan_of(text, 8, request).verdict, Verdict::Fits) << "a machine that is not seen";
}

TEST(Plan, StridesAreCheckedOnlyWhereTheyAct) {
    EXPECT_EQ(find(plan_of("context_parallel_size: 2\nheads_k_stride: 3\n", 2), "CP-HEADS-STRIDE")->severity,
              Severity::Info);
    const Plan plan = plan_of("context_parallel_size: 2\nheads_k_stride: 3\nsample_packing: true\n", 2);
    const Diagnostic* stride = find(plan, "CP-HEADS-STRIDE");
    EXPECT_EQ(stride->severity, Severity::Warning) << "only ring-flash-attention fails";
    EXPECT_THAT(stride->hint, HasSubstr("1, 2, 4, 8"));
}

// Gemma 4's 26B-A4B has 8 key heads in layers with a window, and 2 in the others.
TEST(Plan, HeadsOfEachKindOfLayerAreChecked) {
    const auto gemma4 = [](const std::string& more) {
        return plan_text(config_text(more, "google/gemma-4-26B-A4B"), 2);
    };
    const Plan strides = gemma4("context_parallel_size: 2\nheads_k_stride: 4\nsample_packing: true\n");
    const Diagnostic* stride = find(strides, "CP-HEADS-STRIDE");
    ASSERT_TRUE(stride) << said(strides);
    EXPECT_THAT(stride->message, HasSubstr("model's 2 key"));
    EXPECT_THAT(stride->hint, HasSubstr("1, 2"));
    EXPECT_THAT(stride->hint, Not(HasSubstr("4")));
}

// Layers of Gemma 4 E2B read keys and inputs of whole sequences.
TEST(Plan, LayersThatShareKeysAreNotComputedInChunks) {
    const auto gemma4 = [](const std::string& chunks) {
        return plan_text(config_text("sequence_chunks: " + chunks + "\n", "google/gemma-4-E2B"), 1);
    };
    const Plan cut = gemma4("2");
    const Diagnostic* finding = find(cut, "SEQ-CHUNKS");
    ASSERT_TRUE(finding) << said(cut);
    EXPECT_EQ(finding->severity, Severity::Error);
    EXPECT_THAT(finding->message, HasSubstr("share keys"));
    EXPECT_EQ(gemma4("auto").sequence.chunks, 1);
}

TEST(Plan, ReplicasWithoutShardsAreBuiltAndAcceleratesRefusalIsSaid) {
    const Plan plan = plan_of("context_parallel_size: 2\ndp_replicate_size: 2\n", 4);
    EXPECT_TRUE(plan.ok()) << said(plan);
    EXPECT_EQ(find(plan, "MESH-REPLICAS")->severity, Severity::Warning);
}

// These tests cover models.

TEST(Plan, AnUnknownModelLosesOnlyMemoryAndTime) {
    const Plan plan = plan_text(config_text("context_parallel_size: 2\n", "someone/unheard-of"), 2);
    EXPECT_TRUE(plan.ok()) << said(plan);
    EXPECT_EQ(plan.verdict, Verdict::Unknown);
    EXPECT_TRUE(find(plan, "MODEL-UNKNOWN"));
    EXPECT_FALSE(plan.memory);
    EXPECT_FALSE(plan.time);
    EXPECT_EQ(plan.sequence.per_rank, 256);
}

TEST(Plan, AMissingModelFolderIsNamed) {
    const Plan plan = plan_text(config_text("", "./no/such/model"), 1);
    const Diagnostic* missing = find(plan, "MODEL-MISSING");
    ASSERT_TRUE(missing) << said(plan);
    EXPECT_TRUE(plan.ok()) << said(plan);  // only a launch needs the folder, as with a dataset
    EXPECT_EQ(plan.verdict, Verdict::Unknown);
    EXPECT_THAT(missing->message, HasSubstr("/tmp/ringmaster/no/such/model"));
    EXPECT_EQ(missing->line, 1);
}

TEST(Plan, AnUnreadableConfigIsInvalidAndSaysOnlyThat) {
    const Plan plan = plan_text("base_model: [unclosed\n", 2);
    EXPECT_EQ(plan.verdict, Verdict::Invalid);
    EXPECT_EQ(plan.diagnostics.size(), 1u) << said(plan);
}

TEST(Plan, NoValueMakesItThrowAndEveryPlanCanBeReadBack) {
    std::mt19937 random(22);
    const auto any_of = [&](const std::vector<std::string>& words) {
        return words[std::uniform_int_distribution<size_t>(0, words.size() - 1)(random)];
    };
    const std::vector<std::string> numbers = {"0",
                                              "1",
                                              "2",
                                              "3",
                                              "4",
                                              "7",
                                              "8",
                                              "64",
                                              "4096",
                                              "1000000",
                                              "-1",
                                              "1.5",
                                              "1e300",
                                              "9223372036854775807",
                                              "99999999999999999999",
                                              ".nan",
                                              "null",
                                              "text"};
    const std::vector<std::string> keys = {"context_parallel_size",
                                           "ulysses_size",
                                           "dp_shard_size",
                                           "dp_replicate_size",
                                           "heads_k_stride",
                                           "sequence_len",
                                           "micro_batch_size",
                                           "gradient_accumulation_steps",
                                           "max_steps",
                                           "num_epochs",
                                           "val_set_size"};
    const std::vector<std::string> models = {
        "Qwen/Qwen3-0.6B", "google/gemma-2b",          "mistralai/Mixtral-8x7B-v0.1", "x/y",
        "./absent",        "meta-llama/Llama-3.1-405B"};
    for (int i = 0; i < 200; ++i) {
        std::string more =
            "ring_attn_func: " +
            any_of({"batch_ring", "batch_zigzag", "batch_stripe", "varlen_ring", "auto", "x"}) +
            "\nsample_packing: " + any_of({"true", "false", "5"}) + "\n";
        for (const std::string& key : keys) {
            if (random() % 3 == 0) more += key + ": " + any_of(numbers) + "\n";
        }
        PlanRequest request;
        request.device = random() % 2 == 0 ? Device::Cuda : Device::Cpu;
        request.nodes = static_cast<int>(random() % 4);
        const int ranks = static_cast<int>(random() % 9);
        SCOPED_TRACE(more + " ranks " + std::to_string(ranks));
        const Plan plan = plan_text(config_text(more, any_of(models)), ranks, request);
        EXPECT_EQ(plan.ok(), plan.verdict != Verdict::Invalid);
        EXPECT_EQ(plan_to_json(plan_from_json(plan_to_json(plan))), plan_to_json(plan));
        for (const Diagnostic& diagnostic : plan.diagnostics) EXPECT_FALSE(diagnostic.message.empty());
    }
}

// These tests cover the time of a step.

TEST(Plan, TimeAddsUpAndZigzagIsFasterThanContiguous) {
    const std::string sizes = "context_parallel_size: 8\nsequence_len: 131072\nmicro_batch_size: 1\n";
    PlanRequest gpus;
    gpus.device = Device::Cuda;
    const Plan ring = plan_of(sizes, 8, gpus);
    const Plan zigzag = plan_of(sizes + "ring_attn_func: batch_zigzag\n", 8, gpus);
    ASSERT_TRUE(ring.time && zigzag.time);
    EXPECT_LT(zigzag.time->compute_s, ring.time->compute_s);
    for (const Plan* plan : {&ring, &zigzag}) {
        EXPECT_DOUBLE_EQ(plan->time->step_s, plan->time->compute_s + plan->time->exposed_comm_s);
        EXPECT_LE(plan->time->exposed_comm_s, plan->time->comm_s);
        EXPECT_FALSE(plan->time->measured);
    }
    EXPECT_TRUE(find(ring, "TIME-ASSUMED"));
    EXPECT_EQ(plan_of("", 1).time->comm_s, 0);
}

TEST(Plan, ParametersThatMultiplyATokenLeaveOutAnEmbeddingThatIsLookedUp) {
    const Plan plan = plan_of("sequence_len: 8192\n", 1);
    EXPECT_EQ(active_parameters(*plan.model), 8'030'261'248.0 - 128256.0 * 4096);
    EXPECT_EQ(work_of_ranks(plan), std::vector<int64_t>{8192 * 8193 / 2});
}

TEST(Plan, FrozenWeightsCostTwoThirdsOfTheirProducts) {
    const std::string adapter = "adapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_linear: true\n";
    const Plan all = plan_of("sequence_len: 2048\n", 2), lora = plan_of("sequence_len: 2048\n" + adapter, 2);
    EXPECT_TRUE(lora.ok()) << said(lora);
    EXPECT_NEAR(layout_costs(lora).token_s / layout_costs(all).token_s, 2.0 / 3, 1e-9);
    EXPECT_LT(lora.time->compute_s, 0.75 * all.time->compute_s);
    EXPECT_LT(lora.time->comm_s, 0.02 * all.time->comm_s) << "only the adapter's gradients are summed";
    EXPECT_LT(lora.memory->per_rank[0].total, all.memory->per_rank[0].total / 2);
    EXPECT_THAT(find(lora, "LORA-SIZE")->message, testing::HasSubstr("20,971,520 parameters"));
}

TEST(Plan, CheckpointingComputesAThirdMore) {
    const Plan kept = plan_of("", 1), again = plan_of("gradient_checkpointing: true\n", 1);
    EXPECT_GT(again.time->compute_s, kept.time->compute_s);
    EXPECT_LE(again.time->compute_s, kept.time->compute_s * 4 / 3 + 1e-9);
}

TEST(Plan, WorkOfAllRanksIsTheCausalTriangle) {
    const Plan plan = plan_of("context_parallel_size: 8\nulysses_size: 2\nsequence_len: 4096\n", 8);
    int64_t cells = 0;
    for (const int64_t work : work_of_ranks(plan)) cells += work;
    EXPECT_EQ(cells, int64_t{4096} * 4097 / 2);
}

TEST(Plan, AThousandRanksArePlannedRankByRank) {
    const Plan plan =
        plan_of("context_parallel_size: 256\nsequence_len: 1048576\nring_attn_func: batch_zigzag\n", 1024);
    EXPECT_TRUE(plan.ok()) << said(plan);
    ASSERT_EQ(plan.memory->per_rank.size(), 1024u);
    EXPECT_EQ(plan.memory->per_rank[1023].rank, 1023);
    EXPECT_EQ(plan.mesh.dp_shard, 4);
}

TEST(Plan, SaysFirstWhatMattersMost) {
    PlanRequest request;
    request.device_memory_bytes = int64_t{20} << 30;
    const Plan plan = plan_text(config_text("wandb_projekt: x\nsequence_len: 8192\ncontext_parallel_size: 3\n"
                                            "tensor_parallel_size: 2\nrl: ebft\n"),
                                4, request);
    std::vector<std::string> keys;
    for (const Diagnostic& said : plan.diagnostics) keys.push_back(said.key);
    EXPECT_EQ(keys.front(), "rl") << said(plan);
    const auto at = [&](const char* key) { return std::find(keys.begin(), keys.end(), key) - keys.begin(); };
    EXPECT_LT(at("tensor_parallel_size"), at("wandb_projekt")) << "an error comes before a warning";
    const Plan valid = plan_text(config_text("wandb_projekt: x\nsequence_len: 8192\n"), 4, request);
    EXPECT_EQ(valid.diagnostics.front().code, "MEM-FIT") << said(valid);
    EXPECT_NE(find(valid, "KEY-UNKNOWN"), nullptr) << said(valid);
}

}  // namespace
}  // namespace ringmaster
