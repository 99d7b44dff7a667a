/// Plans published runs of other engines with the settings that their sources used, and compares this
/// engine's figures with theirs. The figure is the memory of a rank at the published length, or the longest
/// sequence whose expected memory fits the card. A row that needs a feature that the engine lacks is planned
/// without that feature, and its note says so.
///
/// Every row of the project's two collections that names model, devices and a memory or a longest length is
/// here, except:
/// - FPDT's rows with tensor parallelism (32K, 128K, 512K): the engine has none.
/// - marin's 535B: family not supported.
/// - BurstEngine's 7B and 14B on 64 A800: sizes, no models.
/// - ALST's MLP of 256K tokens, its masks and checkpoints: parts of a step, no run on a device.
/// - Megatron's and NeMo's tables: throughput at chosen lengths, with tensor parallelism.
/// Sources: ALST, arXiv 2506.13996, tables 1 to 4; FPDT, arXiv 2408.16978, table 3; Untied Ulysses, arXiv
/// 2602.21196; OOMB, arXiv 2602.02108; USP, arXiv 2405.07719; TRL's guide "Distributing training"; the
/// documentation of ms-swift, accelerate and Unsloth.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "engine/plan/plan_request.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

constexpr double kGb = 1e9, kMiB = 1 << 20;
/// Memory that nvidia-smi shows for each card, in bytes.
constexpr double kH100 = 81'559 * kMiB, kA100 = 81'920 * kMiB, kH200 = 143'771 * kMiB, kB200 = 183'359 * kMiB;

struct OtherRun {
    const char* source;
    const char* model;
    int gpus;
    double device;
    std::string settings;
    int64_t length;       ///< published longest length, or the length at which the memory was published
    double memory = 0;    ///< published bytes of a rank; 0 if the longest sequence was published
    bool is_lean = true;  ///< if true, expects at most 1.10 of the memory or at least 0.90 of the length
    const char* note = "";
};

constexpr const char* kLlama = "meta-llama/Llama-3.1-8B";
const std::string kStage3 = "fsdp_version: 2\nfsdp_config: {reshard_after_forward: true}\n";
const std::string kWhole = "tiled_mlp: false\n", kTiled = "tiled_mlp: true\n";
const std::string kRecomputes = "gradient_checkpointing: true\n";
const std::string kOffloads = kRecomputes + "activation_offloading: true\n";
const std::string kAlst =
    "deepspeed: {zero_optimization: {stage: 3, offload_optimizer: {device: cpu}}}\n" + kRecomputes;
const std::string kStreams = "deepspeed: {zero_optimization: {stage: 3, offload_param: {device: cpu}}}\n";

std::string ulysses(int size) {
    return "context_parallel_size: " + std::to_string(size) + "\nulysses_size: " + std::to_string(size) +
           "\n";
}
std::string ring(int size, const char* layout) {
    return "context_parallel_size: " + std::to_string(size) + "\nring_attn_func: " + layout + "\n";
}
std::string hybrid(int ulysses, int ring) {
    return "context_parallel_size: " + std::to_string(ulysses * ring) +
           "\nulysses_size: " + std::to_string(ulysses) + "\nring_attn_func: batch_zigzag\n";
}
std::string deepspeed(int stage) {
    return "deepspeed: {zero_optimization: {stage: " + std::to_string(stage) + "}}\n";
}

std::vector<OtherRun> runs() {
    const std::string offloaded = kAlst + "activation_offloading: true\n";
    const std::string swift =
        "adapter: lora\nlora_r: 8\nlora_alpha: 32\nlora_target_linear: true\n" + kRecomputes + kWhole;
    const std::string unsloth =
        "adapter: qlora\nload_in_4bit: true\nquantize_moe_experts: true\nlora_r: 8\nlora_alpha: 16\n"
        "lora_target_modules: [q_proj, k_proj, v_proj, o_proj]\n" +
        kOffloads;
    const char* const kUnfused = "the source's loss is not fused; ours always is";
    const char* const kGradients = "gradients are float32 here";
    const char* const kMoments = "weights and moments are float32 here; the source does not say";
    return {
        {"ALST baseline", kLlama, 8, kH100, kAlst + kWhole, 32'768, 0, true, kUnfused},
        {"ALST + fused loss", kLlama, 8, kH100, kAlst + kWhole, 160'000},
        {"ALST + Ulysses", kLlama, 8, kH100, kAlst + kWhole + ulysses(8), 1'100'000},
        {"ALST + tiled MLP", kLlama, 8, kH100, kAlst + kTiled + ulysses(8), 1'200'000},
        {"ALST + offload, whole MLP", kLlama, 8, kH100, offloaded + kWhole + ulysses(8), 2'400'000},
        {"ALST all", kLlama, 8, kH100, offloaded + kTiled + ulysses(8), 3'700'000},
        {"ALST baseline", kLlama, 1, kH100, kStreams + kRecomputes + kWhole, 32'768, 0, true, kUnfused},
        {"ALST all", kLlama, 1, kH100, kStreams + kOffloads + kTiled, 500'000},
        {"ALST baseline", kLlama, 32, kH100, kAlst + kWhole, 32'768, 0, true, kUnfused},
        {"ALST all", kLlama, 32, kH100, offloaded + kTiled + ulysses(32), 15'000'000},
        {"FPDT Ulysses, ZeRO 1", kLlama, 8, kA100, deepspeed(1) + kWhole + ulysses(8), 65'536, 58.9 * kGb,
         false, kGradients},
        {"FPDT Ulysses, ZeRO 2", kLlama, 8, kA100, deepspeed(2) + kWhole + ulysses(8), 65'536, 54.5 * kGb,
         false, kGradients},
        {"FPDT Ulysses, ZeRO 3", kLlama, 8, kA100, deepspeed(3) + kWhole + ulysses(8), 65'536, 52.3 * kGb},
        {"FPDT + offload, ZeRO 1", kLlama, 8, kA100, deepspeed(1) + kOffloads + kWhole + ulysses(8), 524'288,
         65.5 * kGb, false, kGradients},
        {"FPDT + offload, ZeRO 2", kLlama, 8, kA100, deepspeed(2) + kOffloads + kWhole + ulysses(8), 524'288,
         65.5 * kGb},
        {"FPDT + offload, ZeRO 3", kLlama, 8, kA100, deepspeed(3) + kOffloads + kWhole + ulysses(8), 524'288,
         60.1 * kGb},
        {"FPDT all", kLlama, 8, kA100, deepspeed(3) + kOffloads + kTiled + ulysses(8), 4'194'304, 68.0 * kGb},
        {"UPipe", kLlama, 8, kH100, kStage3 + kOffloads + kTiled + ulysses(8), 131'072, 21.1 * kGb, false,
         kMoments},
        {"UPipe", kLlama, 8, kH100, kStage3 + kOffloads + kTiled + ulysses(8), 5'000'000},
        {"UPipe", kLlama, 16, kH100, kStage3 + kOffloads + kTiled + ulysses(16), 8'000'000},
        {"UPipe", "Qwen/Qwen3-32B", 16, kH100, kStage3 + kOffloads + kTiled + ulysses(16), 131'072,
         39.98 * kGb, false, kMoments},
        {"TRL, context parallel", "Qwen/Qwen3-8B", 8, kH100,
         kStage3 + kOffloads + kWhole + ring(8, "varlen_llama3"), 1'048'576, 56.2 * kGb},
        {"TRL, no offload", "Qwen/Qwen3-8B", 8, kH100,
         kStage3 + kRecomputes + kWhole + ring(8, "varlen_llama3"), 300'000},
        {"accelerate", kLlama, 32, kH100, kStage3 + kRecomputes + kWhole + ring(32, "varlen_llama3"),
         500'000},
        {"USP", "meta-llama/Meta-Llama-3-8B", 16, kA100, kStage3 + kRecomputes + kWhole + hybrid(8, 2),
         208'000},
        {"OOMB", "Qwen/Qwen2.5-7B", 1, kH200, kStreams + kOffloads + kTiled + "sequence_chunks: auto\n",
         4'000'000},
        {"Unsloth QLoRA, whole MLP", "openai/gpt-oss-20b", 1, kH100, unsloth + kWhole, 290'000},
        {"Unsloth QLoRA", "openai/gpt-oss-20b", 1, kH100, unsloth + kTiled, 500'000},
        {"Unsloth QLoRA", "openai/gpt-oss-20b", 1, kB200, unsloth + kTiled, 750'000},
        {"ms-swift LoRA", "Qwen/Qwen2.5-3B", 8, kA100, swift, 65'536, 75.35 * 1024 * kMiB},
        {"ms-swift LoRA, Ulysses 2", "Qwen/Qwen2.5-3B", 8, kA100, swift + ulysses(2), 65'536,
         48.5 * 1024 * kMiB},
        {"ms-swift LoRA, 2 x 2", "Qwen/Qwen2.5-3B", 8, kA100, swift + hybrid(2, 2), 65'536,
         27.78 * 1024 * kMiB},
        {"ms-swift LoRA, 2 x 4", "Qwen/Qwen2.5-3B", 8, kA100, swift + hybrid(2, 4), 65'536,
         17.92 * 1024 * kMiB},
    };
}

double memory_of(const OtherRun& run, int64_t length) {
    PlanRequest request;
    request.device = Device::Cuda;
    request.nodes = std::max(1, run.gpus / 8);
    request.needs_time = false;
    request.device_memory_bytes = std::llround(run.device);
    const Plan plan =
        plan_text(config_text("sequence_len: " + std::to_string(length) + "\n" + run.settings, run.model),
                  run.gpus, request);
    EXPECT_TRUE(plan.ok() && plan.memory) << run.source << "\n" << said(plan);
    if (!plan.memory) return INFINITY;
    double most = 0;
    for (const RankMemory& rank : plan.memory->per_rank) most = std::max(most, double(rank.total));
    return most;
}

/// Returns the longest sequence whose expected memory fits, in steps of 1,024 tokens.
int64_t longest(const OtherRun& run) {
    constexpr int64_t kStep = 1024;
    int64_t fits = 0, too_long = 4 * run.length / kStep;
    while (too_long - fits > std::max<int64_t>(1, fits / 256)) {
        const int64_t middle = (fits + too_long) / 2;
        (memory_of(run, middle * kStep) <= run.device ? fits : too_long) = middle;
    }
    return fits * kStep;
}

TEST(Published, RunsOfOtherEnginesTakeNoLessThanOurs) {
    const double kMostMemory = 1.10, kLeastLength = 0.90;
    int lean = 0;
    std::printf("  %-28s %-24s %4s %11s %12s %12s %6s\n", "", "model", "GPUs", "tokens", "published", "ours",
                "ratio");
    for (const OtherRun& run : runs()) {
        const bool by_memory = run.memory > 0;
        const double theirs = by_memory ? run.memory / kGb : double(run.length);
        const double ours = by_memory ? memory_of(run, run.length) / kGb : double(longest(run));
        const bool is_lean = by_memory ? ours / theirs <= kMostMemory : ours / theirs >= kLeastLength;
        lean += is_lean;
        std::printf("  %-28s %-24s %4d %11lld %12.6g %12.6g %6.2f %s %s\n", run.source,
                    run.model + std::string(run.model).find('/') + 1, run.gpus,
                    static_cast<long long>(run.length), theirs, ours, ours / theirs, is_lean ? "" : "  more",
                    run.note);
        EXPECT_EQ(is_lean, run.is_lean) << run.source << ", " << run.gpus << " GPUs, " << run.length;
    }
    std::printf("  %d of %zu are at least as lean\n", lean, runs().size());
}

}  // namespace
}  // namespace ringmaster
