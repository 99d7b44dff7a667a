// Tests plans with 8-bit weights, which a GPU multiplies by 8-bit inputs, and a CPU dequantises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/blocks/sites.h"
#include "engine/layout/int8_rows.h"
#include "engine/plan/memory/memory.h"
#include "engine/plan/plan_request.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

const std::string kAdapter =
    "adapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_linear: true\nsequence_len: 4096\n";

Plan plan_for(Device device, const std::string& more, int ranks = 1) {
    PlanRequest request;
    request.device = device;
    return plan_of(kAdapter + more, ranks, request);
}

TEST(Int8Plan, StartsOnAGpuAndSaysWhatItMultiplies) {
    const Plan on_gpu = plan_for(Device::Cuda, "load_in_8bit: true\n");
    ASSERT_TRUE(on_gpu.ok()) << said(on_gpu);
    const Diagnostic* told = find(on_gpu, "MODEL-QUANTIZED");
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(told->severity, Severity::Info);
    EXPECT_EQ(told->key, "load_in_8bit");
    EXPECT_THAT(told->message, testing::HasSubstr("8-bit inputs"));
    EXPECT_EQ(find(plan_for(Device::Cpu, "load_in_8bit: true\n"), "MODEL-QUANTIZED"), nullptr);
    EXPECT_EQ(find(plan_for(Device::Cuda, ""), "MODEL-QUANTIZED"), nullptr);
}

MemoryInputs inputs(WeightFormat format, int64_t tokens) {
    MemoryInputs in;
    in.model = *plan_for(Device::Cuda, "").model;
    in.precision = Precision::Bf16Mixed;
    in.device = Device::Cuda;
    in.gradient_checkpointing = true;
    in.shard_tokens = tokens;
    in.lora = {8, 16, 0, false, module_names(), "", ""};
    in.quantization.format = format;
    return in;
}

TEST(Int8Plan, CountsTheBuffersOfSomeRowsAtATime) {
    const int64_t width = 14336;
    EXPECT_EQ(int8_rows_at_once(width), (int64_t{16} << 20) / width);
    EXPECT_EQ(int8_rows_at_once(int64_t{1} << 40), 1);
    const RankMemory few = rank_memory(inputs(WeightFormat::Int8, 8 * 1024));
    const RankMemory plain = rank_memory(inputs(WeightFormat::Plain, 8 * 1024));
    EXPECT_LT(few.weights, 0.6 * double(plain.weights));
    // The memory does not grow with the tokens, as it would if the product's sums (8 bytes per output
    // element) were held for all rows at once.
    const RankMemory many = rank_memory(inputs(WeightFormat::Int8, 64 * 1024));
    const RankMemory plain_many = rank_memory(inputs(WeightFormat::Plain, 64 * 1024));
    const auto more = [](const RankMemory& of, const RankMemory& than) {
        return double(of.total - of.weights) - double(than.total - than.weights);
    };
    EXPECT_LT(more(many, plain_many), 0.6e9);
}

TEST(Int8Plan, CountsTheTimeOfProductsTilesAndRings) {
    const auto seconds = [](const std::string& more, int ranks) {
        const Plan plan = plan_for(Device::Cuda, more, ranks);
        return plan.time ? plan.time->step_s : 0;
    };
    const std::string eight = "load_in_8bit: true\n", ring = "context_parallel_size: 2\n";
    EXPECT_GT(seconds(eight, 1), 0);
    EXPECT_NE(seconds(eight, 1), seconds("", 1));
    EXPECT_GT(seconds(eight + "tiled_mlp: true\n", 1), seconds(eight, 1));
    EXPECT_LT(seconds(eight + ring, 2), seconds(eight, 1));
}

}  // namespace
}  // namespace ringmaster
