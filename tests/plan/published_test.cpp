// Compares the planner's predictions, without measurements, with published figures. Every table is printed:
// published, predicted, error, and whether a constant was fitted on the row; only rows that were not fitted
// count.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <iostream>

#include "engine/plan/simulate.h"
#include "engine/plan/step_time.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

constexpr double kGiB = 1 << 30;

struct Row {
    const char* name;
    double published, predicted;
    bool fitted = false;

    double error() const { return predicted / published - 1; }
};

void print(const char* title, const char* unit, const std::vector<Row>& rows) {
    std::printf("\n%s (%s)\n  %-52s %12s %12s %8s\n", title, unit, "", "published", "predicted", "error");
    for (const Row& row : rows) {
        std::printf("  %-52s %12.4g %12.4g %+7.1f%% %s\n", row.name, row.published, row.predicted,
                    100 * row.error(), row.fitted ? "fitted here" : "");
    }
}

void expect_within(double bound, const std::vector<Row>& rows) {
    for (const Row& row : rows) EXPECT_LE(std::abs(row.error()), bound) << row.name;
}

// ---------------------------------------------------------------------------- ALST: memory, by its recipe

/// Follows ALST's recipe on 80-GB cards (arXiv 2506.13996): ZeRO-3 with optimizer states in host memory, and
/// on one GPU weights and gradients there too. The rest is for a rank's tokens, in bytes per local token:
///   checkpoints 2·C·L unless they are offloaded; the working set of one layer, `copies` times 2·C; logits
///   and loss 12·V if they are not fused.
/// The 28 copies were measured for Llama-3.1-8B elsewhere, not in this table. Two constants are fitted here:
/// kRuntimeGiB on the row "+ Ulysses SP 8" (CUDA context, NCCL, DeepSpeed's gathered parameters and buckets)
/// and kTiledCopies on the row with everything.
constexpr double kUsableGiB = 75, kRuntimeGiB = 6.45, kCopies = 28, kTiledCopies = 17.4, kUnfusedLogits = 12;

struct Recipe {
    int gpus = 8;
    int sequence_parallel = 1;
    bool fused_loss = false, tiled_mlp = false, offloads_checkpoints = false;
};

double longest(const ModelConfig& m, const Recipe& recipe) {
    const double hidden = double(m.hidden_size);
    double states_bytes =
        6 * double(parameter_count(m)) / recipe.gpus;  // bfloat16 weights, float32 gradients
    if (recipe.gpus == 1) states_bytes = 0;
    double token_bytes = (recipe.tiled_mlp ? kTiledCopies : kCopies) * 2 * hidden;
    if (!recipe.offloads_checkpoints) token_bytes += 2 * hidden * double(m.num_layers);
    if (!recipe.fused_loss) token_bytes += kUnfusedLogits * double(m.vocab_size);
    const double left = (kUsableGiB - kRuntimeGiB) * kGiB - states_bytes;
    return left / token_bytes * recipe.sequence_parallel;
}

ModelConfig llama_8b() {
    return *find_model_config("meta-llama/Llama-3.1-8B", "");
}

TEST(Published, AlstsLongestSequencesAreWithin15Percent) {
    const ModelConfig m = llama_8b();
    const auto of = [&](const Recipe& recipe) { return longest(m, recipe); };
    const std::vector<Row> rows = {
        {"baseline, 8 GPUs (36K is its recipe's length)", 36e3, of({8, 1})},
        {"+ fused loss", 160e3, of({8, 1, true})},
        {"+ Ulysses SP 8", 1.1e6, of({8, 8, true}), true},
        {"+ SP 8, tiled MLP", 1.2e6, of({8, 8, true, true})},
        {"+ SP 8, checkpoints offloaded", 2.4e6, of({8, 8, true, false, true})},
        {"all, 8 GPUs (its recipe has 3.8M)", 3.8e6, of({8, 8, true, true, true}), true},
        {"all, 1 GPU", 500e3, of({1, 1, true, true, true})},
        {"all, 32 GPUs", 15e6, of({32, 32, true, true, true})},
    };
    print("ALST: longest sequence of Llama-3.1-8B on H100-80GB", "tokens", rows);
    expect_within(0.15, rows);
}

// ------------------------------------------------------------------------------------ ALST: iteration times

/// Plans the same mesh for this engine, with an H100's assumed speeds; only the constants below are fitted.
/// A product takes 2 operations per weight and token forward and 4 backward, attention 4 and 10 for its
/// visible cells (ALST's convention, 8·N·s + 16·s²·C·L, counts the invisible half too).
/// The update runs on the host; its bytes of states per second are fitted on "baseline, 8 GPUs". On one GPU
/// the weights are in host memory too: they are streamed for forward, recomputation and backward, and their
/// gradients back. The bytes per second of that, with nothing overlapping, are fitted on "baseline, 1 GPU".
constexpr double kHostAdamBytes = 30, kHostAdamBytesPerS = 29e9;
constexpr double kStreamedBytes = 3 * 2 + 2, kStreamedBytesPerS = 7e9;

double iteration_s(int gpus, int64_t length, int sequence_parallel, bool offloads = false) {
    PlanRequest request;
    request.device = Device::Cuda;
    request.nodes = std::max(1, gpus / 8);
    std::string text = "sequence_len: " + std::to_string(length) + "\ngradient_checkpointing: true\n";
    if (sequence_parallel > 1)
        text += "context_parallel_size: " + std::to_string(sequence_parallel) +
                "\nulysses_size: " + std::to_string(sequence_parallel) + "\n";
    if (offloads) text += "activation_offloading: true\n";
    if (gpus > 1) text += "fsdp_version: 2\nfsdp_config:\n  reshard_after_forward: true\n";
    const Plan plan = plan_text(config_text(text, "meta-llama/Llama-3.1-8B"), gpus, request);
    EXPECT_TRUE(plan.ok() && plan.time) << said(plan);
    const StepCosts costs = step_costs(plan, speeds_of(request, plan).speeds);
    const double parameters = double(parameter_count(*plan.model));
    return plan.time->step_s - costs.update_s +
           kHostAdamBytes * parameters / double(request.nodes.value()) / kHostAdamBytesPerS +
           (gpus == 1 ? kStreamedBytes * parameters / kStreamedBytesPerS : 0);
}

TEST(Published, AlstsIterationTimesAreWithin20Percent) {
    const std::vector<Row> rows = {
        {"baseline, 8 GPUs, 32K", 17, iteration_s(8, 32'768, 1), true},
        {"+ fused loss, 160K", 123, iteration_s(8, 160'000, 1)},
        {"+ Ulysses SP 8, 1.1M", 564, iteration_s(8, 1'100'000, 8)},
        {"+ SP 8, tiled MLP, 1.2M", 703, iteration_s(8, 1'200'000, 8)},
        {"+ SP 8, checkpoints offloaded, 2.4M", 2610, iteration_s(8, 2'400'000, 8, true)},
        {"all, 8 GPUs, 3.8M", 6455, iteration_s(8, 3'800'000, 8, true)},
        {"baseline, 1 GPU, 32K", 26, iteration_s(1, 32'768, 1), true},
        {"all, 1 GPU, 500K", 1010, iteration_s(1, 500'000, 1, true)},
        {"all, 32 GPUs, 32K", 12, iteration_s(32, 32'768, 1)},
        {"all, 32 GPUs, 15.5M", 26709, iteration_s(32, 15'500'000, 32, true)},
    };
    print("ALST: iteration of Llama-3.1-8B", "s", rows);
    expect_within(0.20, rows);
}

// ------------------------------------------------------------------------------------- ring-flash-attention

struct Gpu {
    const char* name;
    double forward_flops, backward_flops;  ///< from its single-GPU runs in the same tables
    double memory, link;
};
constexpr Gpu kH800 = {"H800", 325e12, 287e12, 2.4e12, 160e9};
constexpr Gpu kA100 = {"A100", 206e12, 174e12, 1.5e12, 240e9};

/// Returns attention's share of the ideal (a single GPU's time ÷ 8), forward and backward: 8 GPUs with 8,192
/// tokens each, 32 heads of 128, 8 key/value heads, bfloat16. `documents` are those of one GPU's run; on
/// eight GPUs each is eight times as long.
double share_of_ideal(const Gpu& gpu, const std::string& layout, const std::vector<int64_t>& documents) {
    constexpr int64_t kRanks = 8, kTokens = 8192;
    PlanRequest request;
    request.device = Device::Cuda;
    const Plan plan = plan_text(
        config_text("sequence_len: " + std::to_string(kRanks * kTokens) +
                        "\ncontext_parallel_size: 8\nheads_k_stride: 4\nring_attn_func: " + layout + "\n",
                    "meta-llama/Llama-3.1-8B"),
        kRanks, request);
    EXPECT_TRUE(plan.ok()) << said(plan);
    Speeds speeds = speeds_of(request, plan).speeds;
    speeds.attention_forward = gpu.forward_flops;
    speeds.attention_backward = gpu.backward_flops;
    speeds.memory = gpu.memory;
    speeds.inside_node = gpu.link;
    AttentionMask mask;
    double cells = 0;
    int64_t begin = 0;
    for (const int64_t end : documents) {
        mask.documents.push_back(end * kRanks);
        cells += std::pow(double(kRanks * (end - begin)), 2) / 2;
        begin = end;
    }
    if (documents.size() == 1) mask.documents.clear();
    StepCosts costs = step_costs(plan, speeds, mask);
    for (ColumnCosts& column : costs.columns)
        column.projections_s = column.output_s = column.mlp_s = column.mlp_again_s = column.head_s = 0;
    costs.embedding = costs.layer = costs.head = {};
    costs.layers = 1;
    costs.update_s = costs.new_weights_s = 0;
    const double width = 32 * 128;
    const double ideal_s = cells * width * (4 / gpu.forward_flops + 10 / gpu.backward_flops) / kRanks;
    return 100 * ideal_s / simulate_step(costs).time.step_s;
}

/// Iterations cycle through these, so the mean share comes from the summed times.
double varlen_share(const Gpu& gpu, const std::string& layout) {
    const std::vector<std::vector<int64_t>> turns = {
        {8192}, {256, 7648, 8192}, {4096, 8192}, {3104, 6304, 7904, 8064, 8192}};
    double ideal = 0, taken = 0;
    for (const std::vector<int64_t>& documents : turns) {
        double cells = 0;
        int64_t begin = 0;
        for (const int64_t end : documents) {
            cells += double(end - begin) * double(end - begin);
            begin = end;
        }
        ideal += cells;
        taken += cells / share_of_ideal(gpu, layout, documents) * 100;
    }
    return 100 * ideal / taken;
}

TEST(Published, RingFlashAttentionsSharesOfTheIdealAreWithin10Points) {
    const std::vector<Row> rows = {
        {"H800 ring", 53.9, share_of_ideal(kH800, "batch_ring", {8192})},
        {"H800 zigzag", 90.2, share_of_ideal(kH800, "batch_zigzag", {8192}), true},
        {"H800 stripe", 82.9, share_of_ideal(kH800, "batch_stripe", {8192})},
        {"A100 ring", 52.5, share_of_ideal(kA100, "batch_ring", {8192})},
        {"A100 zigzag", 89.8, share_of_ideal(kA100, "batch_zigzag", {8192})},
        {"A100 stripe", 82.6, share_of_ideal(kA100, "batch_stripe", {8192})},
        {"H800 ring, packed", 51.1, varlen_share(kH800, "varlen_ring")},
        {"H800 zigzag, packed", 75.9, varlen_share(kH800, "varlen_zigzag")},
        {"H800 llama3, packed", 58.1, varlen_share(kH800, "varlen_llama3")},
        {"A100 zigzag, packed", 80.2, varlen_share(kA100, "varlen_zigzag")},
        {"A100 llama3, packed", 58.0, varlen_share(kA100, "varlen_llama3")},
    };
    print("ring-flash-attention: forward and backward on 8 GPUs", "% of ideal", rows);
    for (const Row& row : rows) EXPECT_NEAR(row.predicted, row.published, 10) << row.name;
}

}  // namespace
}  // namespace ringmaster
