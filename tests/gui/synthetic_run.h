/// Writes run directories of any size as the engine and the agent do. EventWriter writes single events;
/// millions of events are written as text with the same schema.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/config/read_config.h"
#include "engine/events/event_log.h"
#include "engine/events/run_state.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

struct SyntheticRun {
    std::filesystem::path dir;
    int ranks = 2;
    int64_t steps = 400;
    int64_t total_steps = 1000;
    RunPhase phase = RunPhase::Running;
    std::string reason = {};
    int slow_rank = -1;  ///< this rank computes a third longer in the last quarter
    double began = 0;    ///< time of the first step, Unix seconds; 0: chosen so that the last step ends now
    double step_s = 0.5;
    std::string writer_host = {};  ///< another machine's name; empty: this process writes
    bool evaluates = true;
    bool samples = false;  ///< the run samples completions, which two functions reward
};

/// Returns noise in [-1, 1] that is always the same for a rank, step and kind.
inline double noise(int rank, int64_t step, int kind) {
    auto x = static_cast<uint64_t>(step) * 0x9E3779B97F4A7C15ULL +
             static_cast<uint64_t>(rank) * 0xBF58476D1CE4E5B9ULL +
             static_cast<uint64_t>(kind) * 0x94D049BB133111EBULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return static_cast<double>((x ^ (x >> 31)) >> 11) / 4503599627370496.0 - 1;
}

inline StepEvent synthetic_step(const SyntheticRun& run, int rank, int64_t step) {
    const auto at = static_cast<double>(step);
    const bool slow = run.slow_rank >= 0 && step > run.steps * 3 / 4;
    StepEvent e;
    e.step = step;
    e.epoch = at / 500;
    e.loss = 1.7 + 7.1 * std::exp(-at / 90.0) + 0.06 * noise(0, step, 1);
    e.rank_loss = e.loss + 0.12 * noise(rank, step, 2);
    e.tokens = 131072;
    e.valid_tokens = 131000;
    e.rank_valid_tokens = 131000 / run.ranks;
    e.lr = 2e-5 * std::min(1.0, at / 50) *
           (0.5 + 0.5 * std::cos(3.14159 * at / static_cast<double>(run.total_steps)));
    e.grad_norm = 0.6 + 4 * std::exp(-at / 40.0) + 0.2 * std::abs(noise(0, step, 3));
    const double pace = run.step_s * (1 + 0.03 * noise(0, step, 4)) * (slow ? 1.2 : 1);
    const double wait =
        0.055 + 0.02 * noise(rank, step, 5) + (slow ? (rank == run.slow_rank ? -0.02 : 0.14) : 0);
    e.step_s = pace;
    e.exposed_comm_s = pace * wait;
    e.comm_s = e.exposed_comm_s + 0.09 * pace;
    e.data_s = 0.008 * pace;
    e.compute_s = pace - e.exposed_comm_s - e.data_s;
    e.comm_bytes = 512 << 20;
    e.memory_bytes = static_cast<int64_t>((48.0 + 0.2 * rank / run.ranks) * 1073741824.0);
    e.peak_memory_bytes = static_cast<int64_t>(
        (59.0 + 1.6 * (1 - std::exp(-at / 4)) - 1.2 * rank / run.ranks + 0.15 * noise(rank, step, 6)) *
        1073741824.0);
    e.tokens_per_s = 131072 / pace;
    if (run.samples) {
        const double learned = 1 - std::exp(-at / 150), exact = 0.9 * learned + 0.03 * noise(0, step, 7);
        const double shortness = 0.4 - 0.3 * learned + 0.02 * noise(0, step, 8);
        e.sampling = {.reward = exact + shortness,
                      .reward_std = 0.3,
                      .completion_tokens = 220 + 300 * learned + 15 * noise(0, step, 9),
                      .cut_share = 0.02 + 0.1 * learned,
                      .even_share = 0.6 * learned,
                      .functions = {{"rewards.exact", exact}, {"rewards.shortness", shortness}}};
        e.preference.kl = 0.02 * learned + 0.002 * std::abs(noise(0, step, 10));
        e.preference.clip_share = 0.01 + 0.004 * noise(0, step, 11);
        e.preference.sampler_gap = 0.002 + 0.0005 * noise(0, step, 12);
    }
    return e;
}

inline HelloEvent synthetic_hello(const SyntheticRun& run, int rank, int attempt = 1,
                                  int64_t start_step = 0) {
    HelloEvent hello;
    hello.attempt = attempt;
    hello.version = RINGMASTER_VERSION;
    hello.torch_version = "2.11.0";
    hello.host = rank < run.ranks / 2 || run.ranks < 8 ? "node-a" : "node-b";
    hello.device = "NVIDIA H100 80GB HBM3";
    hello.world_size = run.ranks;
    hello.ring = rank;
    hello.start_step = start_step;
    return hello;
}

inline std::string config_of(const SyntheticRun& run) {
    return "base_model: meta-llama/Llama-3.2-3B\ndatasets:\n  - path: data/longdocs.jsonl\n    type: "
           "completion\n"
           "sequence_len: 131072\nattn_implementation: flash_attention_2\ncontext_parallel_size: " +
           std::to_string(run.ranks) +
           "\nmicro_batch_size: 1\nmax_steps: " + std::to_string(run.total_steps) +
           "\nbf16: full\ngradient_checkpointing: true\noptimizer: adamw_torch\noutput_dir: ./out\n";
}

inline RunState synthetic_state(const SyntheticRun& run, double now) {
    RunState state;
    state.name = run.dir.filename().string();
    state.state = run.phase;
    state.reason = run.reason;
    state.attempt = 1;
    state.ranks = run.ranks;
    const double took = static_cast<double>(run.steps) * run.step_s;
    state.created = state.started = (run.began > 0 ? run.began : now - took) - 20;
    state.updated = run.began > 0 ? run.began + took : now;
    if (is_over(run.phase)) state.ended = state.updated;
    state.writer = this_process();
    if (!run.writer_host.empty()) state.writer.host = run.writer_host;
    return state;
}

/// Writes config.yaml, the planner's plan.json, run.json and the events of all ranks.
inline void write_synthetic_run(const SyntheticRun& run) {
    namespace fs = std::filesystem;
    fs::create_directories(run.dir / "events");
    fs::create_directories(run.dir / "logs");
    std::ofstream(run.dir / "config.yaml") << config_of(run);
    PlanRequest request;
    request.ranks = run.ranks;
    request.nodes = run.ranks >= 8 ? 2 : 1;
    request.device = Device::Cuda;
    request.device_memory_bytes = 80LL << 30;
    ReadOptions options;
    options.base_dir = run.dir.string();
    write_plan((run.dir / "plan.json").string(),
               make_plan(read_config_text(config_of(run), "config.yaml", options), request));
    const double now = unix_now();
    const RunState state = synthetic_state(run, now);
    write_run_state(run.dir, state);
    for (int rank = 0; rank < run.ranks; ++rank) {
        std::string text = to_json_line({state.started, rank, synthetic_hello(run, rank)}) + "\n" +
                           to_json_line({state.started + 1, rank, PhaseEvent{"load", 0, 1}}) + "\n" +
                           to_json_line({state.started + 19, rank, PhaseEvent{"train", 0, run.total_steps}}) +
                           "\n";
        std::ofstream out(run.dir / "events" / event_file_name(rank), std::ios::binary);
        double t = state.started + 20;
        for (int64_t step = 1; step <= run.steps; ++step) {
            const StepEvent event = synthetic_step(run, rank, step);
            t += run.step_s;
            text += to_json_line({t, rank, event}) + "\n";
            if (rank == 0 && run.evaluates && step % 100 == 0) {
                text += to_json_line({t, 0, EvalEvent{step, event.loss + 0.1, 4000}}) + "\n";
                text += to_json_line({t, 0, CheckpointEvent{step, "checkpoints", 4.1}}) + "\n";
            }
            if (text.size() > (1U << 20)) {
                out << text;
                text.clear();
            }
        }
        out << text;
    }
    std::ofstream log(run.dir / "logs" / log_file_name(0));
    for (int64_t step = std::max<int64_t>(1, run.steps - 50); step <= run.steps; ++step) {
        char line[128];
        const auto t = static_cast<std::time_t>(state.started + 20 + static_cast<double>(step) * run.step_s);
        std::tm parts{};
        localtime_r(&t, &parts);
        std::snprintf(line, sizeof line, "%02d:%02d:%02d step %lld/%lld  loss %.6f\n", parts.tm_hour,
                      parts.tm_min, parts.tm_sec, static_cast<long long>(step),
                      static_cast<long long>(run.total_steps), synthetic_step(run, 0, step).loss);
        log << line;
    }
}

}  // namespace ringmaster
