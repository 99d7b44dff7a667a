#include "engine/plan/memory/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/blocks/sites.h"
#include "engine/families/lora_sizes.h"
#include "engine/families/quantized_shapes.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

MemoryInputs llama_8b() {
    MemoryInputs in;
    in.model = *find_model_config("meta-llama/Meta-Llama-3-8B", "");
    in.precision = Precision::Bf16Mixed;
    in.shard_tokens = 8192;
    return in;
}

constexpr double kParameters = 8'030'261'248.0;

TEST(Memory, StatesAreEighteenBytesAParameterUnderMixedPrecision) {
    MemoryInputs in = llama_8b();
    EXPECT_EQ(weight_bytes(in) + gradient_bytes(in) + optimizer_bytes(in), 18 * kParameters);
    in.precision = Precision::Float32;
    EXPECT_EQ(weight_bytes(in) + gradient_bytes(in) + optimizer_bytes(in), 16 * kParameters);
    in.precision = Precision::Bf16Full;
    EXPECT_EQ(weight_bytes(in) + gradient_bytes(in) + optimizer_bytes(in), 8 * kParameters);
}

// bitsandbytes takes a byte per moment and 4 bytes for each 256 moments; transformers keeps embeddings'
// states in 32 bits.
TEST(Memory, BlockWiseMomentsTakeABytePlusTheirScales) {
    MemoryInputs in = llama_8b();
    constexpr double kEmbeddings = 128'256.0 * 4096;
    in.optimizer_states = StateKind::Bitsandbytes8;
    EXPECT_EQ(optimizer_bytes(in), 8 * kEmbeddings + 2 * (1 + 4.0 / 256) * (kParameters - kEmbeddings));
    in.optimizer_states = StateKind::TorchaoBlocks4;
    EXPECT_EQ(optimizer_bytes(in), 2 * (0.5 + 4.0 / 256) * kParameters);
    in.zero_stage = 3;
    in.shards = 8;
    EXPECT_EQ(optimizer_bytes(in), 2 * (0.5 + 4.0 / 256) * kParameters / 8);
    in.optimizer_states = StateKind::Float32;
    in.precision = Precision::Bf16Full;
    EXPECT_EQ(optimizer_bytes(in), kParameters);
}

// In ALST (arXiv 2506.13996, section 3.3), 125,000 tokens of hidden 4096 in 32 layers take 30.5 GiB in
// bfloat16.
TEST(Memory, CheckpointsAreOneHiddenStateALayer) {
    MemoryInputs in = llama_8b();
    in.shard_tokens = 125'000;
    EXPECT_NEAR(32 * layer_input_bytes(in) / double(int64_t{1} << 30), 30.5, 0.1);
    const double all = rank_memory(in).activations;
    in.gradient_checkpointing = true;
    EXPECT_LT(rank_memory(in).activations, all / 5);
}

TEST(Memory, ComponentsSumToTheTotalWithinItsBracket) {
    for (const char* id : {"meta-llama/Meta-Llama-3-8B", "Qwen/Qwen3-0.6B", "HuggingFaceTB/SmolLM2-135M"}) {
        for (const Precision precision : {Precision::Float32, Precision::Bf16Mixed, Precision::Bf16Full}) {
            for (const bool checkpointing : {false, true}) {
                for (const int64_t tokens : {1, 512, 32768}) {
                    for (const int ring : {1, 4}) {
                        const MemoryInputs in{*find_model_config(id, ""),
                                              precision,
                                              Device::Cpu,
                                              checkpointing,
                                              2,
                                              tokens,
                                              ring};
                        const RankMemory m = rank_memory(in);
                        EXPECT_EQ(m.total, m.weights + m.gradients + m.optimizer + m.activations +
                                               m.workspace + m.logits + m.communication + m.runtime);
                        EXPECT_LT(m.total_low, m.total);
                        EXPECT_LT(m.total, m.total_high);
                        for (const int64_t part : {m.weights, m.activations, m.runtime}) EXPECT_GT(part, 0);
                        EXPECT_GE(std::min(m.workspace, m.logits), 0);
                        EXPECT_EQ(m.communication > 0, ring > 1);
                    }
                }
            }
        }
    }
}

/// Compares with peaks that the engine's counting allocator reported on the CPU (event `step`,
/// peak_memory_bytes) for a Llama of hidden 512, 6 layers, 8 heads, 4 KV heads, intermediate 1408, vocabulary
/// 8192. One case is a Qwen3 with head_dim 128.
TEST(Memory, IsWhatTheEnginesAllocatorCounted) {
    struct Measured {
        int64_t tokens, micro;
        int ring;
        Precision precision;
        bool checkpointing, qwen3;
        double peak;
    };
    const Measured all[] = {
        {4096, 1, 1, Precision::Float32, false, false, 1'015'240'692},
        {4096, 1, 1, Precision::Float32, true, false, 580'263'940},
        {2048, 1, 2, Precision::Float32, false, false, 733'116'404},
        {1024, 1, 1, Precision::Float32, false, false, 592'021'492},
        {1024, 1, 1, Precision::Bf16Mixed, false, false, 564'527'092},
        {1024, 1, 1, Precision::Bf16Full, false, false, 296'293'364},
        {512, 1, 2, Precision::Bf16Mixed, true, false, 491'251'700},
        {512, 2, 2, Precision::Float32, false, true, 743'296'996},
    };
    for (const Measured& m : all) {
        nlohmann::json model = {{"model_type", m.qwen3 ? "qwen3" : "llama"},
                                {"hidden_size", 512},
                                {"num_hidden_layers", 6},
                                {"num_attention_heads", 8},
                                {"num_key_value_heads", 4},
                                {"intermediate_size", 1408},
                                {"vocab_size", 8192}};
        const RankMemory rank = rank_memory({model_config_from_json(model, "test"), m.precision, Device::Cpu,
                                             m.checkpointing, m.micro, m.tokens, m.ring});
        // How bfloat16 is multiplied depends on the processor, so the bound is wider.
        const double bound = m.precision == Precision::Float32 ? 0.02 : 0.05;
        EXPECT_NEAR(double(rank.total - rank.runtime) / m.peak, 1, bound)
            << m.tokens << " tokens, ring " << m.ring;
    }
}

TEST(Memory, SplittingASequenceDividesWhatTokensTake) {
    const Plan whole = plan_of("sequence_len: 32768\n", 4);
    const Plan split = plan_of("sequence_len: 32768\ncontext_parallel_size: 4\n", 4);
    EXPECT_NEAR(double(split.memory->per_rank[0].activations) / double(whole.memory->per_rank[0].activations),
                0.25, 0.001);
    EXPECT_EQ(split.memory->per_rank[0].optimizer, whole.memory->per_rank[0].optimizer);
}

TEST(Memory, EachStageSharesMoreOfTheStates) {
    MemoryInputs in = llama_8b();
    in.shards = 8;
    const auto bytes_a_parameter = [&](int stage) {
        in.zero_stage = stage;
        return (weight_bytes(in) + gradient_bytes(in) + optimizer_bytes(in)) / kParameters;
    };
    EXPECT_NEAR(bytes_a_parameter(0), 18, 1e-9);
    EXPECT_NEAR(bytes_a_parameter(1), 2 + 4 + (4 + 8) / 8.0, 1e-3)
        << "bfloat16 weights and gradients are whole";
    EXPECT_NEAR(bytes_a_parameter(2), 2 + 16 / 8.0, 1e-3);
    EXPECT_NEAR(bytes_a_parameter(3), 18 / 8.0, 1e-3);
    in.shards = 1;
    EXPECT_NEAR(bytes_a_parameter(3), 18, 1e-9) << "nobody to share with";
}

// By PEFT's count, rank 16 on every linear module of Llama-3-8B trains 41,943,040 parameters.
TEST(Memory, OnlyAnAdapterHasGradientsAndAnOptimizersStates) {
    MemoryInputs in = llama_8b();
    in.lora = {16, 32, 0, false, module_names(), "", ""};
    constexpr double kAdapter = 41'943'040;
    EXPECT_EQ(double(in.model.num_layers * lora_unit_sizes(in.model, in.lora).layer), kAdapter);
    EXPECT_EQ(weight_bytes(in), 2 * kParameters + 6 * kAdapter);
    EXPECT_EQ(gradient_bytes(in), 4 * kAdapter);
    EXPECT_EQ(optimizer_bytes(in), 8 * kAdapter);
    in.precision = Precision::Float32;
    EXPECT_EQ(weight_bytes(in), 4 * (kParameters + kAdapter));
    in.shards = 8;
    in.zero_stage = 2;
    EXPECT_NEAR(gradient_bytes(in) / (4 * kAdapter), 1 / 8.0, 1e-3);
    EXPECT_EQ(weight_bytes(in), 4 * (kParameters + kAdapter)) << "frozen weights are whole below stage 3";
    in.zero_stage = 3;
    EXPECT_NEAR(weight_bytes(in) / (4 * (kParameters + kAdapter)), 1 / 8.0, 1e-3);
}

TEST(Memory, UnitsDivideByAnyNumberOfRanks) {
    const UnitSizes sizes = unit_sizes(llama_8b().model);
    for (const int64_t elements : {sizes.embedding, sizes.layer, sizes.head}) {
        for (const int shards : {2, 3, 7, 64, 1000}) {
            const int64_t padding = slice_elements(elements, shards) * shards - elements;
            EXPECT_GE(padding, 0);
            EXPECT_LE(padding, 16 * shards);
        }
        EXPECT_EQ(slice_elements(elements, 1), elements);
    }
}

TEST(Memory, HostMemoryHoldsExactlyWhatIsOffloaded) {
    MemoryInputs in = llama_8b();
    in.device = Device::Cuda;
    in.precision = Precision::Bf16Mixed;
    in.gradient_checkpointing = in.offloads_activations = true;
    in.shard_tokens = 600'000;
    EXPECT_EQ(offloaded_bytes(in), 32 * 600'000.0 * 4096 * 2);
    in.offloads_activations = false;
    in.offloads_optimizer = true;
    const auto parameters = double(parameter_count(in.model));
    EXPECT_EQ(offloaded_bytes(in), 8 * parameters) << "two moments";
    in.states_in_host = true;
    EXPECT_EQ(offloaded_bytes(in), 16 * parameters) << "also master weights and gradients";
    EXPECT_EQ(weight_bytes(in), 2 * parameters);
    EXPECT_EQ(gradient_bytes(in) + optimizer_bytes(in), 0);
    in.weights_in_host = true;
    EXPECT_EQ(offloaded_bytes(in), 18 * parameters);
    EXPECT_EQ(weight_bytes(in), 0);
}

/// Our kernels compute a norm, its gradient, SwiGLU and the cross-entropy without float32 copies of their
/// inputs.
TEST(Memory, AGpusLayerHasNoFloat32Copies) {
    MemoryInputs in = llama_8b();
    in.device = Device::Cuda;
    in.gradient_checkpointing = true;
    in.shard_tokens = 262'144;
    const double hidden = layer_input_bytes(in), gate_up = in.tokens() * 2 * 14336 * 2;
    const double others = double(rank_memory(in).workspace);
    EXPECT_LT(others, 3 * gate_up + 6 * hidden);
    in.mlp_tile_tokens = 4096;
    EXPECT_LT(double(rank_memory(in).workspace), 8 * hidden)
        << "a norm's gradient by LibTorch alone takes 12";
}

TEST(Memory, WeightsGatheredForALayerComeOnTop) {
    MemoryInputs in = llama_8b();
    in.shards = 8;
    in.zero_stage = 3;
    const double layer = double(unit_sizes(in.model).layer);
    in.device = Device::Cuda;
    const int64_t last = in.model.num_layers - 1;
    EXPECT_NEAR(layer_unit_bytes(in, last), 2 * 2 * layer + 4 * (layer + double(unit_sizes(in.model).head)),
                1e6);
    EXPECT_NEAR(layer_unit_bytes(in, 0), 2 * 2 * layer + 4 * 2 * layer, 1e6) << "the buffer of layer 1 waits";
    in.model.num_layers = 1;
    EXPECT_NEAR(layer_unit_bytes(in, 0), 2 * layer + 4 * (layer + double(unit_sizes(in.model).head)), 1e6);
    in.zero_stage = 1;
    EXPECT_EQ(layer_unit_bytes(in, last), 0);
}

TEST(Memory, TheVerdictFollowsTheBracket) {
    const RankMemory rank = plan_of("", 1).memory->per_rank[0];
    const auto verdict = [](int64_t device) {
        PlanRequest request;
        request.device_memory_bytes = device;
        return plan_of("", 1, request);
    };
    EXPECT_EQ(verdict(rank.total_high).verdict, Verdict::Fits);
    EXPECT_TRUE(verdict(rank.total_high).memory->fits);
    EXPECT_EQ(verdict(rank.total_high - 1).verdict, Verdict::Tight);
    EXPECT_EQ(verdict(rank.total_low - 1).verdict, Verdict::WillNotFit);
    const Plan over = verdict(rank.total_low - 1);
    EXPECT_TRUE(over.ok()) << "not fitting is a warning";
    EXPECT_EQ(find(over, "MEM-FIT")->severity, Severity::Warning);
}

TEST(Memory, WhatDoesNotFitNamesWhatWould) {
    const auto hint = [](const std::string& more, int64_t gib) {
        PlanRequest request;
        request.device = Device::Cuda;
        request.device_memory_bytes = gib << 30;
        const Plan plan = plan_of(more, 8, request);
        const Diagnostic* fit = find(plan, "MEM-FIT");
        return fit ? fit->hint : "nothing said";
    };
    EXPECT_THAT(hint("sequence_len: 65536\n", 210), testing::HasSubstr("gradient_checkpointing: true"));
    EXPECT_THAT(hint("sequence_len: 524288\ngradient_checkpointing: true\n", 190),
                testing::HasSubstr("context_parallel_size: "));
    EXPECT_THAT(hint("sequence_len: 512\n", 80), testing::HasSubstr("reshard_after_forward: true"));
    EXPECT_THAT(hint("sequence_len: 512\ndp_replicate_size: 8\n", 80),
                testing::HasSubstr("bf16: full takes"));
}

TEST(Memory, AnEvaluationOfManyRowsMayTakeTheMost) {
    const auto with = [](const std::string& more, int64_t device) {
        PlanRequest request;
        request.device = Device::Cuda;
        request.device_memory_bytes = device;
        return plan_of("sequence_len: 32768\ngradient_checkpointing: true\n" + more, 8, request);
    };
    const auto most = [](const Plan& plan) { return plan.memory->per_rank[0].total_high; };
    const int64_t large = int64_t{1} << 40;
    const int64_t alone = most(with("", large));
    EXPECT_EQ(most(with("eval_batch_size: 16\n", large)), alone) << "nothing is evaluated";
    EXPECT_EQ(most(with("val_set_size: 0.1\neval_batch_size: 1\n", large)), alone);
    const std::string evaluates = "val_set_size: 0.1\neval_batch_size: 16\n";
    EXPECT_GT(most(with(evaluates, large)), alone);
    const Plan over = with(evaluates, alone);
    const Diagnostic* fit = find(over, "MEM-FIT");
    ASSERT_TRUE(fit);
    EXPECT_EQ(fit->fixes.front().edits.front().key, "eval_batch_size");
    EXPECT_EQ(
        with("val_set_size: 0.1\neval_batch_size: " + fit->fixes.front().edits.front().value + "\n", alone)
            .verdict,
        Verdict::Fits);
}

TEST(Memory, AnUnknownDeviceHasNoVerdict) {
    PlanRequest request;
    request.device = Device::Cuda;
    request.ranks = 8;
    const Plan plan = make_plan(read_config_text(config_text(""), "/tmp/c.yaml"), request);
    EXPECT_EQ(plan.verdict, Verdict::Unknown);
    EXPECT_TRUE(find(plan, "MEM-DEVICE"));
}

// Dettmers et al. 2023, "QLoRA", section 3: double quantization reduces the scales from 0.5 to 0.127 bits per
// parameter.
TEST(Memory, FourBitWeightsTakeThePublishedBits) {
    const ModelConfig model = *find_model_config("meta-llama/Llama-3.1-70B", "");
    const auto bits = [&](bool nested) {
        const QuantizedLayer layer = quantized_layer(model, {WeightFormat::Nf4, 64, nested});
        return 8 * double(layer.bytes) / double(layer.elements);
    };
    EXPECT_NEAR(bits(false), 4.5, 0.001);
    EXPECT_NEAR(bits(true), 4.127, 0.001);
}

// Answer.AI's FSDP-QLoRA (2024): a 70B model's weights take 35 GB in 4 bits; it trains on two GPUs of 24
// GB.
TEST(Memory, OfA70BQloraIsThePublishedOneByComponent) {
    MemoryInputs in;
    in.model = *find_model_config("meta-llama/Llama-3.1-70B", "");
    in.precision = Precision::Bf16Mixed;
    in.device = Device::Cuda;
    in.gradient_checkpointing = true;
    in.shard_tokens = 512;
    in.lora = {16, 32, 0, false, module_names(), "", ""};
    in.quantization.format = WeightFormat::Nf4;
    const double adapter = double(in.model.num_layers * lora_unit_sizes(in.model, in.lora).layer);
    const double embedding_and_head = 2 * 2.0 * 128256 * 8192;
    const double in_bits = weight_bytes(in) - embedding_and_head - (4 + 2) * adapter;
    EXPECT_NEAR(in_bits / 1e9, 35.3, 0.1);
    EXPECT_EQ(gradient_bytes(in), 4 * adapter);
    EXPECT_EQ(optimizer_bytes(in), 8 * adapter);
    const RankMemory alone = rank_memory(in);
    in.shards = 2;
    in.zero_stage = 3;
    const RankMemory shared = rank_memory(in);
    EXPECT_LT(shared.weights, alone.weights * 0.51);
    EXPECT_LT(double(shared.total) / double(int64_t{1} << 30), 27);
    EXPECT_GT(double(shared.total) / double(int64_t{1} << 30), 20);
    in.quantization = {};
    EXPECT_GT(rank_memory(in).weights, 3.4 * double(shared.weights));
}

}  // namespace
}  // namespace ringmaster
