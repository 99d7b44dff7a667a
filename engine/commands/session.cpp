#include "engine/commands/session.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/version.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <thread>

#include "engine/auth/run_secret.h"
#include "engine/check/attention_choice.h"
#include "engine/check/preflight.h"
#include "engine/comm/groups.h"
#include "engine/comm/nccl_settings.h"
#include "engine/error.h"
#include "engine/events/event_log.h"
#include "engine/events/library_words.h"
#include "engine/events/log_text.h"
#include "engine/events/output_claim.h"
#include "engine/events/progress.h"
#include "engine/events/run_claim.h"
#include "engine/events/run_state.h"
#include "engine/layout/deterministic.h"
#include "engine/plan/plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "engine/train/run_log.h"
#include "engine/train/tensor_memory.h"
#include "engine/train/trainer.h"

namespace ringmaster {

namespace {

std::atomic<bool> stop_requested{false};
std::atomic<bool> time_is_nearly_over{false};

/// Requests a stop. SIGUSR1 is Slurm's warning that the job's time is nearly over: the run saves a checkpoint
/// as for any stop, and is recorded as waiting to be started again.
void request_stop(int signal) {
    if (signal == SIGUSR1) time_is_nearly_over.store(true);
    stop_requested.store(true);
}

void install_signal_handlers() {
    struct sigaction action {};
    action.sa_handler = request_stop;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGUSR1, &action, nullptr);
    // If the parent process blocked these signals, a signal that arrived while LibTorch was loading is
    // delivered here.
    sigset_t handled;
    sigemptyset(&handled);
    for (int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&handled, signal);
    pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

double unix_seconds() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Writes run.json if no agent does; only rank 0's calls have an effect.
class OwnRunState {
  public:
    OwnRunState(const RunFolder& run, const Rendezvous& who)
        : dir_(run.dir), writes_(who.rank == 0 && std::getenv("RINGMASTER_AGENT") == nullptr) {
        try {
            state_ = read_run_state(dir_);
        } catch (const Error&) {
            state_.name = std::filesystem::absolute(dir_).lexically_normal().filename().string();
            state_.created = unix_seconds();
        }
        was_completed_ = state_.state == RunPhase::Completed;
        const char* given = std::getenv("RINGMASTER_ATTEMPT");
        state_.attempt = given != nullptr ? std::atoi(given) : state_.attempt + 1;
        state_.ranks = who.world_size;
    }

    const std::string& name() const { return state_.name; }
    int attempt() const { return state_.attempt; }
    bool was_completed() const { return was_completed_; }

    void running() {
        state_.started = unix_seconds();
        state_.ended = 0;
        const ProcessId self = this_process();
        const char* job = std::getenv("SLURM_JOB_ID");
        state_.writer =
            state_.is_of_slurm() && job != nullptr ? ProcessId{kSlurmJob, std::atoll(job), 0, ""} : self;
        state_.nodes = {{self.host, self, {{0, self}}}};
        set(RunPhase::Running, {});
    }
    void waits(Reason why) {
        if (!state_.is_of_slurm()) state_.writer = {};
        state_.nodes.clear();
        set(RunPhase::Queued, std::move(why));
    }
    void over(RunPhase phase, Reason why, const std::string& code = {}) {
        state_.ended = unix_seconds();
        state_.code = code;
        set(phase, std::move(why));
    }

  private:
    void set(RunPhase phase, Reason why) {
        if (!writes_) return;
        state_.state = phase;
        give_reason(state_, std::move(why));
        state_.updated = unix_seconds();
        write_run_state(dir_, state_);
    }

    std::filesystem::path dir_;
    bool writes_;
    bool was_completed_ = false;
    RunState state_;
};

void refuse_unusable(const Plan& plan, const Rendezvous& who) {
    for (const Diagnostic& problem : plan.diagnostics) {
        if (problem.severity == Severity::Error) {
            throw Error(Failure::Refused, Code("PLAN-REFUSED"),
                        "the plan holds an error: " + problem.code + ": " + problem.message, problem.key,
                        problem.hint);
        }
    }
    if (plan.ranks != who.world_size) {
        throw Error(Failure::Usage, Code("RANKS-ENVIRONMENT"),
                    "the plan is for " + std::to_string(plan.ranks) + " ranks, " +
                        std::to_string(who.world_size) + " were started",
                    {},
                    "start " + std::to_string(plan.ranks) + " ranks, or prepare the run with --ranks " +
                        std::to_string(who.world_size));
    }
    if (!plan.model || !plan.model->trainable()) {
        throw Error(Failure::Refused, Code("ENGINE-MODEL"),
                    "the plan names no model that can be trained here", "base_model",
                    "`ringmaster plan` says what of its config.json is not computed here");
    }
    const bool come_later = plan.config.policy && plan.config.policy->folder;
    if (plan.data.tokens.empty() && !come_later) {
        throw Error(Failure::Usage, Code("RUN-MISSING"), "the plan has no prepared rows", {},
                    "make the run directory with `ringmaster prepare`");
    }
}

void use_threads(const Rendezvous& who) {
    const char* given = std::getenv("OMP_NUM_THREADS");
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const int threads = given != nullptr ? std::atoi(given) : cores / std::max(1, who.local_world_size);
    at::set_num_threads(std::max(1, threads));
}

/// Returns true if ranks share this machine's GPUs because there are more ranks than GPUs (for tests).
bool shares_gpus(const Plan& plan) {
    return plan.device == Device::Cuda && std::getenv("RINGMASTER_SHARE_GPUS") != nullptr;
}

/// Returns a string that is the same for all ranks of a launch, and for no other launch at the same time.
std::string launcher_of(const Rendezvous& who) {
    return who.key_prefix + " at " + who.master_addr + ":" + std::to_string(who.master_port);
}

/// Claims the run on rank 0, before anything is written, unless an agent has claimed it. The claim prevents
/// two launchers from training in the same run directory.
std::unique_ptr<RunClaim> claim_run(const RunFolder& run, const Rendezvous& who) {
    if (std::getenv("RINGMASTER_AGENT") != nullptr) return nullptr;
    if (who.rank == 0) return std::make_unique<RunClaim>(run.dir, launcher_of(who));
    refuse_other_launcher(run.dir, launcher_of(who));
    return nullptr;
}

/// Sets up the network before the ranks meet. Returns NCCL's settings for the hello event, if any.
std::string set_up_network(const Plan& plan, const Rendezvous& who, const RunFolder& run) {
    if (plan.device != Device::Cuda || who.world_size == 1) return "";
    if (shares_gpus(plan)) {
        const std::string what =
            "RINGMASTER_SHARE_GPUS: transfers go through host memory (Gloo), for tests only";
        log_line(what);
        return what;
    }
    const std::string network = use_nccl_settings(nccl_settings(network_of(who), cuda_is_deterministic()));
    log_line("NCCL: " + network);
    log_line("NCCL's flight recorder: " + use_nccl_settings(flight_recorder_settings(run.logs())));
    return network;
}

HelloEvent hello_of(const Plan& plan, const Rendezvous& who, const Groups& groups, int attempt,
                    int64_t start_step) {
    HelloEvent hello;
    hello.attempt = attempt;
    hello.version = RINGMASTER_VERSION;
    hello.torch_version = TORCH_VERSION;
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    hello.host = host;
    hello.device = groups.device().str();
    hello.pid = getpid();
    hello.world_size = who.world_size;
    const MeshCoordinates at = plan.mesh.coordinates(who.rank);
    hello.dp_replicate = at.dp_replicate;
    hello.dp_shard = at.dp_shard;
    hello.ring = at.ring;
    hello.ulysses = at.ulysses;
    hello.start_step = start_step;
    return hello;
}

/// Returns on every rank the number that `look` finds on rank 0, because other ranks might see an older or
/// newer state of the folder.
int64_t as_rank_0_says(Groups& groups, const std::function<int64_t()>& look) {
    at::Tensor shared = at::full({1}, groups.rank() == 0 ? look() : 0, at::kLong).to(groups.device());
    groups.world().broadcast(shared, 0).wait();
    return shared.item<int64_t>();
}

void warn(EventWriter& events, const RunFolder& run, const std::string& text) {
    log_event(events, WarningEvent{text, run.checkpoints().string()});
}

/// Lets rank 0 choose a checkpoint and report the checkpoints that it skipped. Rank 0 also sets later
/// checkpoints aside, so that the continued run does not mistake them for its own.
std::optional<int64_t> agree_on_checkpoint(Groups& groups, const RunFolder& run, const std::string& resume,
                                           const OwnRunState& state, EventWriter& events) {
    const int64_t step = as_rank_0_says(groups, [&] {
        const CheckpointChoice choice = checkpoint_to_resume(run, resume, state.was_completed());
        for (const std::string& line : words_of(choice)) warn(events, run, line);
        for (const std::string& name : abandon_later(run.checkpoints(), choice.step, state.attempt()))
            warn(events, run,
                 "the run goes on from an earlier step: a later checkpoint is set aside as " + name);
        return choice.step.value_or(-1);
    });
    return step < 0 ? std::nullopt : std::optional(step);
}

bool agree_on_preflight(Groups& groups, const RunFolder& run, const Plan& plan) {
    if (plan.preflight != Preflight::Before) return plan.preflight == Preflight::Only;
    return as_rank_0_says(groups, [&] { return int64_t{!passed_before(run.preflight(), plan)}; }) == 1;
}

/// Refuses to train if the mesh computes different numbers from a single rank. Returns false if the run was
/// asked to stop while it waited for rows.
bool prove_first(const Plan& plan, const RunFolder& run, Groups& groups, Trainer& trainer,
                 EventWriter& events) {
    events.write(PhaseEvent{"preflight", 0, 1});
    groups.progress().begin(Activity::Preflight, trainer.completed_steps());
    constexpr int64_t kRowsLookedAt = 4096;  // number of rows that are searched for labels
    const TokenFile* tokens = trainer.tokens(stop_requested);
    if (tokens == nullptr) return false;
    const PreflightReport report =
        preflight(plan, groups,
                  {trainer.trained_model(), trainer.optimizer(), *tokens, trainer.next_rows(kRowsLookedAt),
                   trainer.completed_steps(), trainer.total_steps() - trainer.completed_steps()});
    if (groups.rank() == 0) {
        write_report(run.preflight(), report);
        log_line(report.summary());
    }
    groups.world().barrier();
    if (report.failure.empty()) return true;
    throw Error(Failure::Refused, Code("PREFLIGHT-FAILED"), "preflight: " + report.failure,
                run.preflight().string(),
                "the run would not train what one rank trains; please report it. --no-preflight starts it "
                "all the same");
}

/// Returns this rank's entry in the agent's progress table; without an agent, one in this process's memory.
std::shared_ptr<RankProgress> progress_of(const Rendezvous& who) {
    const char* table = std::getenv("RINGMASTER_PROGRESS_FD");
    if (table == nullptr) return std::make_shared<RankProgress>();
    return std::make_shared<RankProgress>(std::atoi(table), who.local_rank);
}

/// Returns true if any rank has received Slurm's warning, which may reach ranks in different steps.
bool agree_on_warning(Groups& groups) {
    at::Tensor warned = at::full({1}, time_is_nearly_over.load() ? 1 : 0, at::kLong).to(groups.device());
    groups.world().all_reduce(warned, Reduce::Max).wait();
    return warned.item<int64_t>() != 0;
}

/// Ends a session that was asked to stop before its first step.
void stopped_before_training(const Trainer& trainer, OwnRunState& state, EventWriter& events) {
    events.write(DoneEvent{trainer.completed_steps(), "stopped"});
    state.over(RunPhase::Stopped, {{"stopped-begin"}});
}

void train(const SessionOptions& options, const Rendezvous& who, const RunFolder& run, OwnRunState& state,
           EventWriter& events) {
    const Plan plan = read_plan(run.plan());
    refuse_unusable(plan, who);
    use_threads(who);
    events.write(PhaseEvent{"rendezvous", 0, 1});
    const std::string network = set_up_network(plan, who, run);
    GroupOptions group_options;
    group_options.device = plan.device;
    group_options.timeout = Patience(plan.config).elsewhere();
    group_options.progress = progress_of(who);
    group_options.shards_states = plan.zero_stage > 0;
    group_options.through_host = shares_gpus(plan);
    Groups groups = connect(who, plan.mesh, group_options);
    const std::string attention = choose_attention(groups, plan);
    if (!attention.empty()) log_line("attention: " + attention);
    const auto from = agree_on_checkpoint(groups, run, options.resume, state, events);
    HelloEvent hello = hello_of(plan, who, groups, state.attempt(), from.value_or(0));
    hello.network = network;
    events.write(hello);
    const bool only = plan.preflight == Preflight::Only;
    if (who.rank == 0 && !only) claim_output(plan.config.output_dir, run.dir, state.name());

    events.write(PhaseEvent{"load", 0, 1});
    Trainer trainer(plan, run, groups, events, groups.device());
    if (QuantizedBase* base = trainer.trained_model().quantized_or_null(); base && options.quantizes_inputs)
        base->quantize_inputs(*options.quantizes_inputs);
    if (from) {
        if (!only && !trainer.prepare_reference(stop_requested))
            return stopped_before_training(trainer, state, events);
        trainer.resume(*from);
        log_line("resumed from the checkpoint of step " + std::to_string(*from));
    }
    groups.world().barrier();
    if (agree_on_preflight(groups, run, plan) && !prove_first(plan, run, groups, trainer, events))
        return stopped_before_training(trainer, state, events);
    if (only) {
        events.write(DoneEvent{0, "completed"});
        state.over(RunPhase::Completed, {{"preflight-passed"}});
        return;
    }
    if (!from && !trainer.prepare_reference(stop_requested))
        return stopped_before_training(trainer, state, events);
    events.write(PhaseEvent{"train", trainer.completed_steps(), plan.batch.total_steps.value_or(0)});
    const TrainingEnd end = trainer.train(stop_requested);
    const std::string step = std::to_string(trainer.completed_steps());
    if (end == TrainingEnd::Completed) {
        events.write(PhaseEvent{"export", 0, 1});
        groups.progress().begin(Activity::Saving, trainer.completed_steps());
        groups.set_timeout(group_options.timeout);
        trainer.optimizer().use_averaged_weights(true);
        export_model(plan, trainer.trained_model().trained(), who.rank);
        groups.world().barrier();
    }
    const bool completed = end == TrainingEnd::Completed;
    const bool waits = !completed && agree_on_warning(groups);
    const DoneEvent done{trainer.completed_steps(), completed ? "completed" : "stopped"};
    events.write(done);
    if (waits) {
        state.waits({{"time-over", {step}}});
        log_line("saved after step " + step + ": the time given is nearly over");
        return;
    }
    Reason why{{completed ? "completed-after" : "stopped-after", {step}}};
    if (completed) {
        why.push_back({plan.config.lora.on() ? "adapter-in" : "model-in", {plan.config.output_dir}});
    } else if (trainer.completed_steps() == 0) {
        why = {{"stopped-begin"}};
    } else {
        why.push_back({"saved-at", {run.checkpoint(trainer.completed_steps()).string()}});
    }
    state.over(completed ? RunPhase::Completed : RunPhase::Stopped, std::move(why));
    log_line(log_text(done));
}

/// Converts any exception to an Error.
Error as_error(const std::exception& problem) {
    if (const auto* own = dynamic_cast<const Error*>(&problem)) return *own;
    const auto* torch_problem = dynamic_cast<const c10::Error*>(&problem);
    const bool is_alloc = dynamic_cast<const std::bad_alloc*>(&problem) != nullptr;
    const std::string words = torch_problem != nullptr ? torch_problem->what_without_backtrace()
                              : is_alloc               ? "out of memory"
                                                       : problem.what();
    const std::string_view cause = cause_in(words);
    const std::string where = torch_problem != nullptr ? "LibTorch" : "";
    if (cause == cause::kMemory)
        return Error(Failure::Refused, Code("ENGINE-MEMORY"), words, where,
                     "shorten sequence_len or use more ranks in context_parallel_size", cause);
    return Error(Failure::Refused, Code("ENGINE-FAULT"), words, where, {}, cause);
}

}  // namespace

int run_session(const SessionOptions& options) {
    std::unique_ptr<RunClaim> claim;
    std::unique_ptr<EventWriter> events;
    std::unique_ptr<OwnRunState> state;
    try {
        install_signal_handlers();
        count_cpu_memory();
        const at::NoGradGuard no_grad;
        const RunFolder run{options.run_dir};
        if (!std::filesystem::is_directory(run.dir))
            throw Error(Failure::Usage, Code("RUN-MISSING"), "is not a run directory", run.dir.string());
        Rendezvous who = rendezvous_from_environment([](const char* name) { return std::getenv(name); });
        claim = claim_run(run, who);
        if (who.world_size > 1) who.secret = run_secret(run.dir);
        if (std::getenv("RINGMASTER_AGENT") == nullptr) {
            std::filesystem::create_directories(run.logs());
            open_log_file(run.logs() / log_file_name(who.rank));
        }
        events = std::make_unique<EventWriter>(run.events(), who.rank);
        state = std::make_unique<OwnRunState>(run, who);
        state->running();
        train(options, who, run, *state, *events);
        return 0;
    } catch (const std::exception& problem) {
        const Error error = as_error(problem);
        const ErrorEvent event = error_event(error);
        log_line(log_text(event));
        try {
            if (events) events->write(event);
            if (state) state->over(RunPhase::Failed, {{"text", {error.text()}}}, error.code);
        } catch (const std::exception& second) {
            log_line(std::string("error: the run directory cannot be written either: ") + second.what());
        }
        return static_cast<int>(error.failure);
    }
}

}  // namespace ringmaster
