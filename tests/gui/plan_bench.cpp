// Measures how long a plan and its advice take after a keystroke, for 1,024 ranks.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/advise.h"
#include "engine/plan/resolve/make_plan.h"

using namespace ringmaster;

namespace {

template <class Work>
double median_ms(int rounds, Work work) {
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
        const auto before = std::chrono::steady_clock::now();
        work();
        times.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

}  // namespace

int main() {
    const std::string text =
        "base_model: meta-llama/Llama-3.1-8B\ndatasets:\n  - path: someone/longdocs\n    type: completion\n"
        "sequence_len: 131072\ncontext_parallel_size: 64\nring_attn_func: batch_zigzag\n"
        "attn_implementation: flash_attention_2\nmicro_batch_size: 1\ngradient_accumulation_steps: 4\n"
        "max_steps: 1000\nbf16: auto\noptimizer: adamw_torch\nlearning_rate: 2e-5\ngradient_checkpointing: "
        "true\n"
        "output_dir: ./out\n";
    PlanRequest request;
    request.ranks = 1024;
    request.nodes = 128;
    request.device = Device::Cuda;
    request.device_memory_bytes = int64_t{192} << 30;
    size_t plans = 0;
    const double replan = median_ms(51, [&] {
        plans += make_plan(read_config_text(text, "/tmp/longdocs.yml"), request).memory->per_rank.size();
    });
    const ConfigReading reading = read_config_text(text, "/tmp/longdocs.yml");
    const Plan present = make_plan(reading, request);
    const double advice = median_ms(11, [&] { plans += advise(reading, request, present).plans.size(); });
    std::printf("1,024 ranks: plan after a keystroke %.2f ms, advice %.1f ms (medians)\n", replan, advice);
    return plans > 0 ? 0 : 1;
}
