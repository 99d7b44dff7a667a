#include "launcher/agent/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "launcher/agent/detach.h"
#include "launcher/agent/memory_kills.h"
#include "launcher/agent/rank_process.h"
#include "launcher/agent/say.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

using std::chrono::milliseconds;

/// Of a failure, all of it well within the 15 s that a run may take to end.
constexpr milliseconds kGrace(3000);
constexpr milliseconds kKillPatience(8000);  ///< a process inside the kernel ends only when it comes out
constexpr uintmax_t kFullBytes = 64 << 10;

Descriptor signal_descriptor() {
    const sigset_t signals = awaited_signals();
    return Descriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::vector<std::string> own_environment() {
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
    return entries;
}

void make_folder(const fs::path& folder) {
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (problem) throw Error(Failure::Refused, "cannot be made: " + problem.message(), folder.string());
}

bool is_full(const fs::path& folder) {
    std::error_code unknown;
    const fs::space_info room = fs::space(folder, unknown);
    return !unknown && room.available < kFullBytes;
}

}  // namespace

Supervisor::Supervisor(const AgentOptions& options, const RunState& previous)
    : options_(options),
      state_(previous),
      file_(options.run_dir, options.ranks),
      signals_(signal_descriptor()) {
    // The engine asks run.json whether there is anything to resume, which says running from now on.
    if (options_.resume == "auto" && previous.state == RunPhase::Completed) options_.resume = "none";
    state_.attempt = options.attempt.value_or(previous.attempt + 1);
    state_.ranks = options.ranks;
    state_.ended = 0;
    state_.writer = this_process();
    state_.nodes = {{state_.writer.host, state_.writer, {}}};
}

void Supervisor::start() {
    try {
        state_.started = unix_now();
        state_.state = RunPhase::Running;
        state_.reason.clear();
        state_.updated = state_.started;
        file_.write(state_);
        start_ranks();
    } catch (const Error& problem) {
        kill_ranks();
        for (Rank& rank : ranks_) {
            if (rank.alive) ::waitpid(rank.pid, nullptr, 0);
        }
        end_with({RunPhase::Failed, problem.text()});
        throw;
    }
    set_state(RunPhase::Running, "");
    say("attempt " + std::to_string(state_.attempt) + ": " + std::to_string(options_.ranks) + " ranks of " +
        options_.engine.string());
}

void Supervisor::start_ranks() {
    make_folder(options_.run_dir / "events");
    make_folder(options_.run_dir / "logs");
    memory_kills_before_ = memory_kills();
    const StoreSocket store = open_store_socket();
    const std::vector<std::string> inherited = own_environment();
    RankPlace place;
    place.ranks = options_.ranks;
    place.attempt = state_.attempt;
    place.run_name = state_.name;
    place.store_port = store.port;
    place.agent = ::getpid();
    place.cores = static_cast<int>(std::thread::hardware_concurrency());
    for (int rank = 0; rank < options_.ranks; ++rank) {
        place.rank = rank;
        place.store_fd = rank == 0 ? std::optional(store.listening.get()) : std::nullopt;
        Rank started;
        started.end.rank = rank;
        started.from = offsets_now(options_.run_dir, rank);
        started.pid = start_rank({{options_.engine, "--run", options_.run_dir, "--resume", options_.resume},
                                  rank_environment(place, inherited),
                                  options_.run_dir / "logs" / log_file_name(rank),
                                  place.store_fd});
        started.alive = true;
        ranks_.push_back(started);
        const ProcessId ended_already{state_.writer.host, started.pid, 0, state_.writer.boot_id};
        state_.nodes[0].ranks.push_back({rank, find_process(started.pid).value_or(ended_already)});
    }
}

RunPhase Supervisor::supervise() {
    while (some_alive()) {
        wait_for_signals();
        reap();
        if (deadline_ && Clock::now() >= *deadline_) on_deadline();
    }
    const Verdict end = verdict();
    end_with(end);
    return end.state;
}

void Supervisor::wait_for_signals() {
    int timeout_ms = -1;
    if (deadline_) {
        const auto left = std::chrono::ceil<milliseconds>(*deadline_ - Clock::now());
        timeout_ms = static_cast<int>(std::max(left, milliseconds(0)).count());
    }
    pollfd ready{signals_.get(), POLLIN, 0};
    ::poll(&ready, 1, timeout_ms);
    signalfd_siginfo came{};
    while (::read(signals_.get(), &came, sizeof came) == sizeof came)
        on_signal(static_cast<int>(came.ssi_signo));
}

void Supervisor::on_signal(int signal) {
    if (signal == SIGCHLD) return;  // reaped after every wait
    reap();                         // what happened before the request is not its consequence
    if (trigger_ != Trigger::None || !some_alive()) return;
    if (signal != SIGUSR1 && !stop_requested_) {
        ask_to_stop();
    } else {
        say("asked to stop now");
        begin_end(Trigger::StopNow, milliseconds(0));
    }
}

void Supervisor::ask_to_stop() {
    stop_requested_ = true;
    for (const Rank& rank : ranks_) {
        if (rank.alive) ::kill(rank.pid, SIGTERM);
    }
    say("asked to stop: the ranks finish their step and save");
    set_state(RunPhase::Stopping, "");
}

void Supervisor::begin_end(Trigger trigger, milliseconds grace) {
    if (trigger_ != Trigger::None) return;
    trigger_ = trigger;
    deadline_ = Clock::now() + grace;
}

void Supervisor::reap() {
    for (Rank& rank : ranks_) {
        if (rank.alive) reap(rank);
    }
}

void Supervisor::reap(Rank& rank) {
    siginfo_t info{};
    const auto id = static_cast<id_t>(rank.pid);
    if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    // What it started itself dies with it. The group's number is free for others only after waitpid.
    ::kill(-rank.pid, SIGKILL);
    ::waitpid(rank.pid, &rank.end.wait_status, 0);
    rank.alive = false;
    rank.end.t = unix_now();
    rank.end.killed_by_us =
        killed_ && WIFSIGNALED(rank.end.wait_status) && WTERMSIG(rank.end.wait_status) == SIGKILL;
    if (rank.end.wait_status == 0 || rank.end.killed_by_us) return;
    const bool failed = has_failed(rank.end.wait_status, stop_requested_);
    begin_end(failed ? Trigger::RankFailed : Trigger::StopTooEarly, kGrace);
}

void Supervisor::on_deadline() {
    if (!killed_) {
        kill_ranks();
        deadline_ = Clock::now() + kKillPatience;
        return;
    }
    for (Rank& rank : ranks_) {
        rank.end.unkillable = rank.alive;
        rank.end.killed_by_us = rank.end.killed_by_us || rank.alive;
        rank.alive = false;
    }
}

void Supervisor::kill_ranks() {
    reap();
    killed_ = true;
    for (const Rank& rank : ranks_) {
        if (rank.alive) ::kill(-rank.pid, SIGKILL);
    }
}

bool Supervisor::some_alive() const {
    return std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.alive; });
}

Verdict Supervisor::verdict() {
    Ending ending;
    ending.trigger = trigger_;
    ending.stop_requested = stop_requested_;
    ending.kernel_killed_for_memory = memory_kills() > memory_kills_before_;
    ending.disk_full = is_full(options_.run_dir);
    for (Rank& rank : ranks_) {
        rank.end.record = read_rank_record(options_.run_dir, rank.end.rank, rank.from, rank.end.rank == 0);
        ending.ranks.push_back(rank.end);
    }
    return judge(ending);
}

void Supervisor::set_state(RunPhase phase, const std::string& reason) {
    state_.state = phase;
    state_.reason = reason;
    state_.updated = unix_now();
    try {
        file_.write(state_);
    } catch (const Error& problem) {
        say("run.json: " + problem.text());
    }
}

void Supervisor::end_with(const Verdict& verdict) {
    state_.ended = unix_now();
    set_state(verdict.state, verdict.reason);
    say(std::string(to_string(verdict.state)) + ": " + verdict.reason);
}

}  // namespace ringmaster
