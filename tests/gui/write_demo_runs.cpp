// Implements `write_demo_runs HOME [--live SECONDS]`, which writes realistic configurations and runs for
// pictures of the app. They are HOME/*.yml and HOME/data/ringmaster/runs/*. The machines and their checks are
// in nodes.json in the data folders HOME/alone, HOME/data and HOME/many. The losses and times are invented,
// but the plans are the planner's and the events follow the engine's schema. With --live, the running runs
// have a living writer for that many seconds.
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "engine/config/read_config.h"
#include "engine/events/event_log.h"
#include "engine/events/log_text.h"
#include "engine/events/run_state.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/anywhere/saved_targets.h"
#include "launcher/backends/backend.h"
#include "launcher/history/sample_file.h"
#include "launcher/run/request.h"
#include "launcher/run/run_directory.h"
#include "launcher/slurm/slurm_run.h"

using namespace ringmaster;
using namespace std::string_literals;
namespace fs = std::filesystem;

namespace {

std::string config_text(int64_t steps, int64_t tokens, const std::string& more) {
    return R"(# Long documents: one sequence over all ranks of a node
base_model: meta-llama/Llama-3.2-3B

datasets:
  - path: data/longdocs.jsonl
    type: completion

attn_implementation: flash_attention_2
)" + "sequence_len: "s +
           std::to_string(tokens) + "\nmax_steps: " + std::to_string(steps) + "\n" + more +
           R"(
micro_batch_size: 1

bf16: full
gradient_checkpointing: true
optimizer: adamw_torch
lr_scheduler: cosine
warmup_ratio: 0.03
max_grad_norm: 1.0
output_dir: ./out
)";
}

/// Returns the event of a rank that ran out of memory, as the engine writes it.
ErrorEvent out_of_memory() {
    return error_event(
        Error(Failure::Refused, Code("ENGINE-MEMORY"),
              "out of memory: a tensor of 3.2 GiB could not be allocated, 76.3 GiB of tensors are in use", {},
              "shorten sequence_len, use more ranks in context_parallel_size, or set "
              "gradient_checkpointing and tiled_mlp: true"));
}

struct Demo {
    std::string name;
    int context_parallel, accumulation;
    const char* rate;
    int ranks, nodes;
    RunPhase phase;
    int64_t steps;
    double days_ago = 0;
    int slow_rank = -1;
    double final_loss = 1.62;
    unsigned seed = 1;
    bool samples = false;  ///< the run samples completions, which two functions reward
    bool waits = false;    ///< the run waits for the next file of rollouts
    const char* scheme = "batch_zigzag";
    int64_t total = 1000;     ///< steps of the complete run
    int64_t tokens = 131072;  ///< sequence_len
};

std::string keys_of(const Demo& demo) {
    return "ring_attn_func: "s + demo.scheme +
           "\ncontext_parallel_size: " + std::to_string(demo.context_parallel) +
           "\ngradient_accumulation_steps: " + std::to_string(demo.accumulation) +
           "\nlearning_rate: " + demo.rate + "\n";
}

const std::vector<Demo>& demos() {
    using enum RunPhase;
    static const std::vector<Demo> all = {
        {"longdocs-2", 2, 4, "2e-5", 2, 1, Running, 384, 0, -1, 1.74, 3},
        {"longdocs", 8, 4, "2e-5", 8, 1, Running, 384, 0, 5, 1.74, 4},
        {"longdocs-64", 8, 1, "4e-5", 64, 8, Running, 640, 0, 41, 1.58, 5},
        {"longdocs-lr1e-5", 8, 4, "1e-5", 8, 1, Completed, 1000, 3.2, -1, 1.71, 6},
        {"longdocs-lr2e-5", 8, 4, "2e-5", 8, 1, Completed, 1000, 2.1, -1, 1.62, 7},
        {"longdocs-batch-ring", 8, 4, "2e-5", 8, 1, Completed, 1000, 5.5, -1, 1.62, 7, false, false,
         "batch_ring"},
        {"longdocs-lr4e-5", 8, 4, "4e-5", 8, 1, Queued, 0, 0.1},
        {"longdocs-lr8e-5", 8, 4, "8e-5", 8, 1, Queued, 0, 0.1},
        {"longdocs-cp4", 4, 2, "2e-5", 8, 1, Stopped, 412, 7.4, -1, 1.78, 8},
        {"longdocs-240k-oom", 1, 1, "2e-5", 8, 1, Failed, 37, 7.9, -1, 3.4, 9, false, false, "batch_zigzag",
         1000, 245760},
        {"proofs-grpo", 4, 2, "1e-6", 4, 1, Running, 412, 0, -1, 0.02, 12, true},
        {"proofs-waiting", 4, 2, "1e-6", 4, 1, Running, 60, 0, -1, 0.02, 13, true, true},
    };
    return all;
}

Plan plan_of(const Demo& demo, const std::string& file, const std::string& text) {
    PlanRequest request;
    request.ranks = demo.ranks;
    request.nodes = demo.nodes;
    request.device = Device::Cuda;
    request.device_memory_bytes = int64_t{80} << 30;
    request.devices_seen = 8;
    request.rows = 9600;
    return make_plan(read_config_text(text, file), request);
}

class Writer {
  public:
    Writer(const Demo& demo, const Plan& plan, const RunDirectory& run, double end)
        : demo_(demo), plan_(plan), run_(run), random_(demo.seed) {
        start_ = end;
        for (int64_t step = 1; step <= demo_.steps; ++step) start_ -= step_s(step);
    }

    double start() const { return start_; }

    void write() {
        fs::create_directories(run_.events());
        fs::create_directories(run_.logs());
        for (int rank = 0; rank < demo_.ranks; ++rank) write_rank(rank);
    }

  private:
    bool others_wait(int64_t step) const { return demo_.slow_rank >= 0 && step > demo_.steps * 4 / 5; }
    double unit_s() const { return plan_.time ? plan_.time->step_s : 10; }
    /// Returns the duration of a step, which is the same on all ranks because the fast ones wait.
    double step_s(int64_t step) const {
        std::mt19937 random(demo_.seed * 100003 + unsigned(step));
        const double more = std::abs(std::normal_distribution<double>(0, 0.004)(random));
        return unit_s() * ((others_wait(step) ? 1.13 : 1.0) + more);
    }
    /// Returns how far the losses of two ranks lie from their mean.
    double deviation(int pair, int64_t step) const {
        std::mt19937 random(demo_.seed * 100003 + unsigned(pair * 1009) + unsigned(step));
        return std::normal_distribution<double>(0, demo_.final_loss / 30)(random);
    }
    double noise(double size) { return std::normal_distribution<double>(0, size)(random_); }
    double loss_at(int64_t step) const {
        const double x = double(step);
        return demo_.final_loss + 0.9 * std::exp(-x / 60) + 0.35 * std::exp(-x / 320) +
               0.012 * std::sin(x * 1.7 + demo_.seed) * std::cos(x * 0.37);
    }

    void write_rank(int rank) {
        std::ofstream out(run_.events() / event_file_name(rank), std::ios::binary);
        std::ofstream log(run_.logs() / log_file_name(rank));
        HelloEvent hello;
        hello.version = RINGMASTER_VERSION;
        hello.torch_version = "2.11.0";
        hello.host = "node-" + std::string(1, char('a' + rank / (demo_.ranks / demo_.nodes)));
        hello.device = "NVIDIA H100 80GB";
        hello.world_size = demo_.ranks;
        const MeshCoordinates at = plan_.mesh.coordinates(rank);
        hello.dp_replicate = at.dp_replicate, hello.dp_shard = at.dp_shard, hello.ring = at.ring,
        hello.ulysses = at.ulysses;
        double t = start_;
        out << to_json_line({t, rank, hello}) << '\n';
        for (int64_t step = 1; step <= demo_.steps; ++step) {
            const StepEvent event = step_of(rank, step);
            t += event.step_s;
            out << to_json_line({t, rank, event}) << '\n';
            if (rank == 0) write_more(out, log, event, t);
        }
        if (demo_.waits && rank == 0)
            out << to_json_line({t, rank, PhaseEvent{"rollouts", 45, 1800}}) << '\n';
        if (is_over(demo_.phase) && demo_.phase != RunPhase::Failed)
            out << to_json_line({t, rank, DoneEvent{demo_.steps, to_string(demo_.phase)}}) << '\n';
        if (demo_.phase == RunPhase::Failed && rank == 3) {
            out << to_json_line({t, rank, out_of_memory()}) << '\n';
            write_log(log, t, log_text(out_of_memory()));
        }
    }

    /// Writes the additional output of rank 0 for a step: its line in the log, an evaluation, a checkpoint.
    void write_more(std::ofstream& out, std::ofstream& log, const StepEvent& event, double t) const {
        const int64_t step = event.step;
        if (step % 50 == 0)
            write_log(log, t,
                      "step " + std::to_string(step) + "/" + std::to_string(demo_.total) + "  loss " +
                          std::to_string(event.loss));
        if (step % 100 == 0)
            out << to_json_line({t, 0, EvalEvent{step, loss_at(step) + 0.04, 66000}}) << '\n';
        if (step % 100 != 0 && (step != demo_.steps || demo_.phase != RunPhase::Stopped)) return;
        char name[32];
        std::snprintf(name, sizeof name, "step-%08lld", static_cast<long long>(step));
        out << to_json_line({t, 0, CheckpointEvent{step, (run_.checkpoints() / name).string(), 4.1}}) << '\n';
    }

    static void write_log(std::ofstream& log, double t, const std::string& text) {
        char time[16];
        const auto seconds = std::time_t(t);
        std::tm parts{};
        std::strftime(time, sizeof time, "%H:%M:%S", localtime_r(&seconds, &parts));
        log << time << ' ' << text << '\n';
    }

    StepEvent step_of(int rank, int64_t step) {
        const bool slow = rank == demo_.slow_rank && others_wait(step);
        const double unit = unit_s(), part = double(step) / double(demo_.total);
        StepEvent e;
        e.step = step;
        e.epoch = double(step) * double(plan_.batch.global) / 9600;
        e.loss = loss_at(step);
        e.rank_loss = e.loss + (rank % 2 == 0 ? 1 : -1) * deviation(rank / 2, step);
        e.tokens = plan_.batch.tokens_per_step.value_or(1);
        e.valid_tokens = e.tokens - 17;
        e.rank_valid_tokens = e.valid_tokens / demo_.ranks;
        e.lr = std::strtod(demo_.rate, nullptr) *
               (part < 0.03 ? part / 0.03 : 0.5 + 0.5 * std::cos(3.14159 * part));
        e.grad_norm = 0.7 + 1.5 * std::exp(-double(step) / 40) + std::abs(noise(0.06));
        e.data_s = unit * (0.004 + std::abs(noise(0.001)));
        e.compute_s = unit * (0.93 + std::abs(noise(0.006))) * (slow ? 1.14 : 1);
        e.exposed_comm_s = std::max(unit * 0.015, step_s(step) - e.compute_s - e.data_s);
        e.comm_s = e.exposed_comm_s + unit * 0.11;
        e.step_s = e.data_s + e.compute_s + e.exposed_comm_s;
        e.comm_bytes = 41'000'000'000;
        e.peak_memory_bytes = int64_t(tensors_of(rank) * ((demo_.phase == RunPhase::Failed ? 1.045 : 0.985) +
                                                          noise(0.002) + (step == 1 ? -0.2 : 0)));
        e.memory_bytes = e.peak_memory_bytes * 7 / 10;
        e.tokens_per_s = double(e.tokens) / e.step_s;
        if (demo_.samples) add_rewards(e);
        return e;
    }

    double tensors_of(int rank) const {
        if (!plan_.memory) return 4e10;
        const auto& memory = plan_.memory->per_rank[size_t(rank)];
        return double(memory.total - memory.runtime);
    }

    void add_rewards(StepEvent& e) {
        const double learned = 1 - std::exp(-double(e.step) / 150);
        const double right = 0.08 + 0.8 * learned + noise(0.03), brief = 0.4 - 0.25 * learned + noise(0.01);
        e.sampling.reward = right + brief;
        e.sampling.reward_std = 0.4 - 0.25 * learned;
        e.sampling.completion_tokens = 240 + 310 * learned + noise(12);
        e.sampling.cut_share = std::clamp(0.02 + 0.12 * learned + noise(0.01), 0.0, 1.0);
        e.sampling.even_share = std::clamp(0.05 + 0.5 * learned + noise(0.03), 0.0, 1.0);
        e.sampling.functions = {{"rewards.right", right}, {"rewards.brief", brief}};
        e.preference.clip_share = std::abs(noise(0.004));
        e.preference.sampler_gap = 0.0015 + 0.001 * learned + std::abs(noise(0.0002));
        e.preference.kl = 0.03 * learned + std::abs(noise(0.002));
    }

    const Demo& demo_;
    const Plan& plan_;
    const RunDirectory& run_;
    double start_ = 0;
    std::mt19937 random_;
};

/// Returns the reason for the run's end, as the agent writes it.
Reason why_of(const Demo& demo) {
    const std::string step = std::to_string(demo.steps);
    if (demo.phase == RunPhase::Stopped) return {{"stopped-after", {step}}, {"is-saved"}};
    if (demo.phase == RunPhase::Failed)
        return {{"rank-status", {"3", "1"}}, {"error", {out_of_memory().message}}};
    return {};
}

void write_state(const Demo& demo, const RunDirectory& run, double start, double end) {
    RunState state;
    state.name = demo.name;
    state.state = demo.phase;
    give_reason(state, why_of(demo));
    if (demo.phase == RunPhase::Failed) state.code = "ENGINE-MEMORY";
    if (demo.phase == RunPhase::Failed) state.failed_rank = 3;
    state.attempt = 1;
    state.ranks = demo.ranks;
    state.created = start - 8;
    state.started = demo.phase == RunPhase::Queued ? 0 : start;
    state.updated = end;
    if (is_over(demo.phase)) state.ended = end;
    if (demo.phase == RunPhase::Running) state.writer = this_process();
    for (int node = 0; node < demo.nodes; ++node) {
        NodeState entry;
        entry.host = "node-" + std::string(1, char('a' + node));
        if (demo.phase == RunPhase::Running) entry.agent = this_process();
        state.nodes.push_back(entry);
    }
    write_run_state(run.dir, state);
}

/// Writes the texts that the run generated after every hundred steps.
void write_samples(const Demo& demo, const RunDirectory& run) {
    constexpr std::array kLater = {" and the the of a the sea sea, and of the of the. The the was",
                                   " in a house by the sea, and the sea was a house. The old man was old and",
                                   " in a small house by the sea, there lived an old man who mended nets. "
                                   "One morning the sea was gone."};
    constexpr std::array kAnswers = {
        "The the, of a question is the answer.", "A tide is when the sea is high and low.",
        "A tide is the slow rise and fall of the sea, twice a day, as the moon pulls on "
        "the water."};
    std::ofstream out(run.dir / kSamplesFile);
    for (size_t at = 0; at < kLater.size() && int64_t(at + 1) * 100 <= demo.steps; ++at) {
        const int64_t step = int64_t(at + 1) * 100;
        const auto line = [&](int prompt, const nlohmann::json& asked, const char* text, bool stopped) {
            out << nlohmann::json{{"step", step},
                                  {"prompt", prompt},
                                  {"asked", asked},
                                  {"text", text},
                                  {"ids", nlohmann::json::array()},
                                  {"stopped", stopped}}
                << '\n';
        };
        line(0, "Once upon a time,", kLater[at], false);
        std::string question = "What is a tide?";
        for (int more = 2; more < demo.ranks; ++more)
            question += " And who is the old man of house " + std::to_string(more) + " by the sea?";
        const nlohmann::json message = {{"role", "user"}, {"content", question}};
        line(1, nlohmann::json::array({message}), kAnswers[at], true);
    }
}

void write_demo(const Demo& demo, const fs::path& home, const char* folder = "data") {
    const std::string text = config_text(demo.total, demo.tokens, keys_of(demo));
    const RunDirectory run{home / folder / "ringmaster" / "runs" / demo.name};
    fs::create_directories(run.dir);
    const fs::path file = home / (demo.name + ".yml");
    std::ofstream(file) << text;
    std::ofstream(run.config()) << text;
    const Plan plan = plan_of(demo, file.string(), text);
    write_plan(run.plan().string(), plan);
    Request request;
    request.config = file.string();
    request.ranks = demo.ranks;
    std::ofstream(run.options()) << request_to_json(request).dump(1) << "\n";
    const double end = unix_now() - demo.days_ago * 86400;
    if (demo.ranks != 8) write_samples(demo, run);
    Writer writer(demo, plan, run, end);
    writer.write();
    write_state(demo, run, writer.start(), end);
}

}  // namespace

namespace {

TargetReport checked(const std::string& host, NodeVerdict state, const NodeFinding& finding, double ago_s) {
    TargetReport report;
    report.node.host = host;
    report.node.found(state, finding);
    report.checked = unix_now() - ago_s;
    return report;
}

NodeFacts gpu_machine(const std::string& host, int gpus, const std::string& name, int64_t memory_gib) {
    NodeFacts facts;
    facts.host_name = host;
    facts.architecture = "x86_64";
    facts.glibc = "2.36";
    facts.cores = 96;
    facts.memory_bytes = int64_t{1024} << 30;
    facts.available_bytes = int64_t{981} << 30;
    facts.data_dir = "/home/ann/.local/share/ringmaster";
    facts.disk_free_bytes = int64_t{3500} << 30;
    facts.driver = "580.65.06";
    facts.libtorch = "/home/ann/.cache/ringmaster/venv-torch-2.11.0/lib/python3.11/site-packages/torch/lib";
    facts.address = "10.0.0.21";
    for (int index = 0; index < gpus; ++index)
        facts.gpus.push_back({index, name, memory_gib << 30, int64_t{1} << 30, {}});
    return facts;
}

SavedTarget entry_of(TargetKind kind, const std::string& host, const std::optional<TargetReport>& report) {
    SavedTarget entry;
    entry.target = make_target(kind, host);
    entry.last = report;
    return entry;
}

SavedTarget machine(const std::string& host, int gpus, double ago_s) {
    TargetReport report = checked(host, NodeVerdict::Ready,
                                  {"ready-gpu",
                                   {"96", "981 GiB", "1024 GiB", "3.4 TiB", std::to_string(gpus),
                                    "NVIDIA H100 80GB HBM3", "580.65.06"}},
                                  ago_s);
    report.node.facts = gpu_machine(host, gpus, "NVIDIA H100 80GB HBM3", 80);
    return entry_of(TargetKind::Ssh, host, report);
}

SavedTarget in_use(const std::string& host) {
    SavedTarget entry = machine(host, 8, 42);
    entry.last->node.found(NodeVerdict::Warning, {"gpu-in-use", {"3", "bob", "61.0 GiB"}});
    entry.last->node.facts->gpus[3].users = {"bob"};
    entry.last->node.facts->gpus[3].used_bytes = int64_t{61} << 30;
    entry.last->node.ignored = {"controlmaster auto", "controlpath ~/.ssh/%C", "forwardagent yes"};
    return entry;
}

/// Returns three lists of machines: this machine alone, several machines in different states, and 33
/// machines.
std::vector<std::vector<SavedTarget>> rosters() {
    Places places = find_places();
    places.programs_dir = places.programs_dir.parent_path() / "bin";
    const SavedTarget here{Target(), check_target(Target(), places, {}, {})};
    SavedTarget old = machine("ann@gpu3", 0, 3600);
    old.last->node.found(
        NodeVerdict::Unusable,
        {"other-libtorch", {"2.11.0", "2.9.1, /opt/conda/lib/python3.11/site-packages/torch/lib"}});
    const SavedTarget moved =
        entry_of(TargetKind::Ssh, "gpu4:2222",
                 checked("gpu4:2222", NodeVerdict::Unreachable,
                         {"changed-host-key",
                          {"ssh-ed25519", "SHA256:mVPwvezndPv/ARoIadVY98vAC0g+P/5633yTC4d/wXE",
                           "/home/ann/.ssh/known_hosts", "[gpu4]:2222"}},
                         42));
    SavedTarget cluster = entry_of(TargetKind::Slurm, "login1", machine("login1", 0, 300).last);
    cluster.last->node.found(NodeVerdict::Ready,
                             {"takes-jobs",
                              {"gpu (4 of 12 nodes idle, gpu:h100:4, at most 2-00:00:00); cpu (40 of 40 "
                               "nodes idle, at most infinite)"}});
    cluster.last->partitions = {
        {"gpu", true, true, "2-00:00:00", 12, 4, "gpu:h100:4", 96, int64_t{1024} << 30},
        {"cpu", false, true, "infinite", 40, 40, "", 64, int64_t{512} << 30}};
    std::vector<SavedTarget> many = {here};
    for (int number = 1; number <= 32; ++number) {
        const std::string host = "node" + std::to_string(100 + number) + ".cluster.example.org";
        many.push_back(number == 7 ? in_use(host) : machine(host, 8, 42));
    }
    return {{here}, {here, in_use("gpu1"), machine("gpu2", 8, 42), old, moved, cluster}, many};
}

constexpr const char* kTiers = R"(sequence_len: 65536
num_epochs: 1
bf16: true
gradient_checkpointing: true
activation_offloading: true
deepspeed:
  zero_optimization:
    stage: 3
    offload_param: {device: cpu}
    offload_optimizer: {device: nvme, nvme_path: HOME/nvme}
)";

constexpr const char* kExperts = R"(sequence_len: 16384
num_epochs: 1
bf16: true
gradient_checkpointing: true
dp_shard_size: 32
expert_parallel_size: 8
fsdp_version: 2
fsdp_config:
  reshard_after_forward: true
)";

/// Gemma 2 caps its attention scores, so other kernels compute its attention.
constexpr const char* kCapped =
    "sequence_len: 4096\nmax_steps: 1000\nbf16: true\ngradient_checkpointing: true\n";

/// Writes a configuration that trains on the rows of write_rows.
void write_config(const fs::path& file, const std::string& model, const std::string& more) {
    std::string text = "base_model: " + model + R"(
datasets:
  - path: HOME/rows.jsonl
    ds_type: json
    type:
micro_batch_size: 1
optimizer: adamw_torch
learning_rate: 1e-5
output_dir: ./out
)" + more;
    const std::string word = "HOME", home = file.parent_path().string();
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + home.size()))
        text.replace(at, word.size(), home);
    std::ofstream(file) << text;
}

/// Writes 200 rows of 20 to 609 tokens; the first third of each is a prompt.
void write_rows(const fs::path& file) {
    std::ofstream out(file);
    for (int row = 0; row < 200; ++row) {
        nlohmann::json ids{1}, labels{-100};
        const int size = 20 + row * 37 % 590;
        for (int at = 1; at < size; ++at) {
            ids.push_back((at * 7 + row) % 30000);
            labels.push_back(at < size / 3 ? nlohmann::json(-100) : ids.back());
        }
        out << nlohmann::json{{"input_ids", std::move(ids)}, {"labels", std::move(labels)}} << '\n';
    }
}

/// Queues the runs of a sweep over the learning rate.
void write_queue(const fs::path& folder) {
    nlohmann::json runs = nlohmann::json::array();
    for (const std::string rate : {"1e-5", "2e-5", "4e-5", "8e-5"})
        runs.push_back({{"dir", (folder / "runs" / ("longdocs-lr" + rate)).string()},
                        {"resumes", 0},
                        {"set", {{"learning_rate", rate}}}});
    std::ofstream(folder / "queue.json") << nlohmann::json{{"slots", 1}, {"runs", std::move(runs)}};
}

/// Queues 20 runs: a sweep of six, and others of every phase.
void write_long_queue(const fs::path& home) {
    struct Turn {
        RunPhase phase;
        int64_t steps;
        bool sweeps;
    };
    std::vector<Turn> turns(4, {RunPhase::Completed, 40, true});
    turns.insert(turns.end(), 2, {RunPhase::Running, 17, true});
    turns.push_back({RunPhase::Failed, 9, false});
    turns.push_back({RunPhase::Stopped, 12, false});
    turns.resize(20, {RunPhase::Queued, 0, false});
    nlohmann::json runs = nlohmann::json::array();
    for (size_t at = 0; at < turns.size(); ++at) {
        const Turn& turn = turns[at];
        const char* rate = at % 2 == 0 ? "1e-5" : "2e-5";
        const int rows = 1 << (at / 2);
        const std::string name =
            turn.sweeps ? "sweep-" + std::to_string(at + 1)
                        : "longdocs-128k-llama-3.2-3b-nightly-evaluation-" + std::to_string(at + 1);
        Demo demo = {name, 8, turn.sweeps ? rows : 4, rate, 8, 1, turn.phase, turn.steps};
        demo.total = 40;
        demo.final_loss = 1.5 + 0.04 * double(at * 7 % 6);
        if (turn.phase == RunPhase::Failed) demo.context_parallel = 1, demo.tokens = 245760;
        if (is_over(turn.phase)) demo.days_ago = 0.05 * double(8 - at);
        write_demo(demo, home, "many");
        if (turn.phase == RunPhase::Queued && at % 3 == 0)
            write_slurm_record({home / "many/ringmaster/runs" / name},
                               {*slurm_destination({"partition=gpu-long"}, {}).slurm, {}, false});
        nlohmann::json set = nlohmann::json::object();
        if (turn.sweeps)
            set = {{"learning_rate", rate}, {"gradient_accumulation_steps", std::to_string(rows)}};
        runs.push_back(
            {{"dir", (home / "many/ringmaster/runs" / name).string()}, {"resumes", 0}, {"set", set}});
    }
    std::ofstream(home / "many/ringmaster/queue.json")
        << nlohmann::json{{"slots", 2}, {"runs", std::move(runs)}};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2 && !(argc == 4 && std::strcmp(argv[2], "--live") == 0)) return 2;
    const fs::path home = fs::absolute(argv[1]);
    fs::create_directories(home / "data");
    std::ofstream(home / "data" / "longdocs.jsonl") << "{\"text\": \"one\"}\n";
    for (const Demo& demo : demos()) write_demo(demo, home);
    std::ofstream(home / "mistakes.yml")
        << "# Three mistakes and an old key\nbase_model: meta-llama/Llama-3.2-3B\n\ndatasets:\n  - path: "
           "data/longdocs.jsonl\n"
           "    type: completion\n\nsequence_len: 131072\nsequence_parallel_degree: 3\nring_attn_func: "
           "varlen_llama3\nheads_k_stride: 3\n"
           "flash_attention: true\n\nmicro_batch_size: 1\ngradient_accumulation_step: 4\nmax_steps: "
           "1000\nlearning_rate: 2e-5\nbf16: full\ngradient_checkpointing: true\noutput_dir: ./out\n";
    write_rows(home / "rows.jsonl");
    write_config(home / "rows.yml", "meta-llama/Llama-3.2-3B",
                 "sequence_len: 512\nsample_packing: true\nnum_epochs: 1\n");
    write_config(home / "tiers.yml", "meta-llama/Llama-3.1-8B", kTiers);
    write_config(home / "capped.yml", "google/gemma-2-2b", kCapped);
    write_config(home / "experts.yml", "Qwen/Qwen3-30B-A3B", kExperts);
    write_queue(home / "data/ringmaster");
    write_long_queue(home);
    const auto all = rosters();
    write_saved_targets(home / "alone/ringmaster/nodes.json", all[0]);
    write_saved_targets(home / "data/ringmaster/nodes.json", all[1]);
    write_saved_targets(home / "many/ringmaster/nodes.json", all[2]);
    std::puts("ready");
    std::fflush(stdout);
    if (argc == 4) std::this_thread::sleep_for(std::chrono::seconds(std::atoi(argv[3])));
}
