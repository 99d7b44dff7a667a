/// Makes run directories for the tests of pages as the launcher, the agent and the engine do: with the
/// planner's plan and events in the engine's schema.
#pragma once

#include <QTemporaryDir>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/events/event_log.h"
#include "engine/events/run_state.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/base/places.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

struct TestRun {
    std::string name = "llama";
    RunPhase phase = RunPhase::Completed;
    std::string reason = {};
    int ranks = 2;
    int steps = 40;
    double learning_rate = 1e-4;
    double created = 1763719445;  ///< time of creation, Unix seconds
    double step_s = 0.5;
    double share = 0.06;  ///< share of a step's time that is exposed communication
    bool live = false;    ///< true: this process is the run's writer
    std::string more = {};
    int checkpoints = 0;
};

inline std::string test_config(const TestRun& run) {
    return "base_model: meta-llama/Llama-3.2-1B\ndatasets:\n  - path: rows.jsonl\n    type: completion\n"
           "output_dir: ./out\nlearning_rate: " +
           std::to_string(run.learning_rate) +
           "\nsequence_len: 8192\ncontext_parallel_size: 2\nmax_steps: 400\nbf16: true\n"
           "gradient_checkpointing: true\nattn_implementation: flash_attention_2\n" +
           run.more;
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

inline void write_test_state(const RunDirectory& dir, const TestRun& run) {
    RunState state;
    state.name = run.name;
    state.state = run.phase;
    state.reason = run.reason;
    state.attempt = 1;
    state.ranks = run.ranks;
    state.created = run.created;
    state.started = run.phase == RunPhase::Queued ? 0 : run.created + 5;
    state.updated = run.live ? unix_now() : run.created + 5 + run.steps * run.step_s;
    if (is_over(run.phase)) state.ended = state.updated;
    if (run.live) {
        state.started = unix_now() - run.steps * run.step_s;
        state.writer = this_process();
    }
    write_run_state(dir.dir, state);
}

inline void write_test_steps(const RunDirectory& dir, const TestRun& run, int from, int to,
                             int64_t estimate) {
    for (int rank = 0; rank < run.ranks; ++rank) {
        std::string lines;
        for (int step = from; step <= to; ++step) {
            const double wobble = 0.03 * std::sin(step * 1.7 + rank);
            StepEvent event;
            event.step = step;
            event.loss =
                1.4 + 6.4 * std::exp(-step * 900 * run.learning_rate / 8) + 0.04 * std::sin(step * 2.3);
            event.rank_loss = event.loss + wobble;
            event.tokens = 8192;
            event.valid_tokens = 8191;
            event.rank_valid_tokens = 4095;
            event.lr = run.learning_rate;
            event.grad_norm = 1 + wobble;
            event.step_s = run.step_s * (1 + wobble);
            event.exposed_comm_s = event.step_s * run.share;
            event.comm_s = event.exposed_comm_s * 2;
            event.data_s = 0.002;
            event.compute_s = event.step_s - event.exposed_comm_s - event.data_s;
            event.memory_bytes = event.peak_memory_bytes = int64_t(double(estimate) * (0.93 + 0.005 * rank));
            event.tokens_per_s = 8192 / event.step_s;
            lines += to_json_line({run.created + 5 + step * run.step_s, rank, event}) + "\n";
        }
        std::filesystem::create_directories(dir.events());
        std::ofstream(dir.events() / event_file_name(rank), std::ios::app | std::ios::binary) << lines;
    }
}

inline RunDirectory write_test_run(const std::filesystem::path& runs_dir, const TestRun& run) {
    const RunDirectory dir{runs_dir / run.name};
    write_text(dir.config(), test_config(run));
    PlanRequest request;
    request.ranks = run.ranks;
    request.device = Device::Cuda;
    request.device_memory_bytes = int64_t{80} << 30;
    const Plan plan =
        make_plan(read_config_text(test_config(run), (dir.dir / "config.yaml").string()), request);
    write_plan(dir.plan().string(), plan);
    write_test_state(dir, run);
    const int64_t estimate = plan.memory ? plan.memory->per_rank.front().total : int64_t{1} << 30;
    if (run.steps > 0) write_test_steps(dir, run, 1, run.steps, estimate);
    for (int number = 1; number <= run.checkpoints; ++number) {
        char name[32];
        std::snprintf(name, sizeof name, "step-%08d", number * 10);
        write_text(dir.checkpoints() / name / "model.safetensors", std::string(3000, 'x'));
        write_text(dir.checkpoints() / name / "complete", "");
    }
    return dir;
}

/// Makes a user's folders, adds runs to them, and removes them with the object.
struct TestHome {
    QTemporaryDir dir;
    Places places = find_places();
    TestHome() {
        places.runs_dir = (dir.path() + QStringLiteral("/runs")).toStdString();
        places.cache_dir = (dir.path() + QStringLiteral("/cache")).toStdString();
    }
    RunDirectory add(const TestRun& run) const { return write_test_run(places.runs_dir, run); }
    QString path(const QString& name) const { return dir.path() + QStringLiteral("/runs/") + name; }
};

}  // namespace ringmaster
