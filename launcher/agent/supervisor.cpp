#include "launcher/agent/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include "engine/auth/run_secret.h"
#include "engine/error.h"
#include "engine/events/event_log.h"
#include "engine/files/checkpoints.h"
#include "engine/files/durable.h"
#include "launcher/agent/detach.h"
#include "launcher/agent/memory_kills.h"
#include "launcher/agent/rank_process.h"
#include "launcher/agent/say.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

using std::chrono::milliseconds;

/// Time for ranks to end by themselves after a failure. kGrace and kKillPatience together stay well within
/// the 15 s allowed for ending a run.
constexpr milliseconds kGrace(3000);
/// Time for killed ranks to end: a process ends only after its system call.
constexpr milliseconds kKillPatience(8000);
constexpr int kLook_ms = 200;                 ///< time between checks of the other nodes
constexpr std::chrono::seconds kArrival(90);  ///< time for the other nodes' agents to connect
constexpr std::chrono::seconds kLastWord(
    20);  ///< time for other nodes to end; longer than kGrace + kKillPatience
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
    errno = problem.value();
    if (problem) throw_write_error(folder);
}

std::string first_line_of(const RunVerdict& verdict) {
    const std::string reason = english(verdict.why);
    return reason.substr(0, reason.find('\n'));
}

/// Returns true if `ends` covers every rank of the node and no other.
bool are_all_of(const std::vector<RankEnd>& ends, const NodeState& node) {
    std::set<int> ended, started;
    for (const RankEnd& end : ends) ended.insert(end.rank);
    for (const RankProcess& rank : node.ranks) started.insert(rank.rank);
    return ended == started;
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
      file_(options.own_dir(), options.all_ranks()),
      signals_(signal_descriptor()),
      restarts_left_(options.restarts) {
    // The engine reads run.json to decide if there is anything to resume, but run.json says "running" from
    // now on, so the agent decides it here.
    if (options_.resume == "auto" && previous.state == RunPhase::Completed) options_.resume = "none";
    state_.attempt = options.attempt.value_or(previous.attempt + 1);
    state_.ranks = options.all_ranks();
    state_.ended = 0;
    state_.writer = this_process();
    state_.nodes = {{state_.writer.host, state_.writer, {}}};
    if (state_.name.empty() || options_.node > 0) state_.name = options_.run_dir.filename().string();
    others_.resize(static_cast<size_t>(options_.nodes));
}

void Supervisor::start() {
    try {
        state_.started = unix_now();
        state_.state = RunPhase::Running;
        give_reason(state_, {});
        state_.updated = state_.started;
        file_.write(state_);
        leave_timeline();
        open_fleet();
        start_ranks();
        if (fleet_ && options_.node > 0) tell(NodeHere{state_.nodes[0]});
    } catch (const Error& problem) {
        kill_ranks();
        for (Rank& rank : ranks_) {
            if (rank.alive) ::waitpid(rank.pid, nullptr, 0);
        }
        end_with({RunPhase::Failed, {{"text", {problem.text()}}}, problem.code});
        throw;
    }
    set_state(RunPhase::Running, {});
    say("attempt " + std::to_string(state_.attempt) + ": " + std::to_string(options_.ranks) + " ranks of " +
        options_.engine.string());
}

/// Sets aside checkpoints later than the step that was asked for, because they belong to a timeline that the
/// run leaves. This happens before anything can fail, so that no restart resumes from them. Without an agent,
/// rank 0 sets them aside.
void Supervisor::leave_timeline() {
    if (options_.node != 0 || options_.resume == "auto" || options_.resume == "latest") return;
    const fs::path checkpoints = options_.run_dir / "checkpoints";
    restore_folders(checkpoints);
    std::optional<int64_t> from;
    if (options_.resume != "none") {
        for (const int64_t step : complete_checkpoints(checkpoints)) {
            if (std::to_string(step) == options_.resume) from = step;
        }
        if (!from) return;  // the ranks report what is wrong with the step
    }
    for (const std::string& name : abandon_later(checkpoints, from, state_.attempt))
        say("the run goes on from an earlier step: a later checkpoint is set aside as " + name);
    left_at_ = from.value_or(0);
}

/// Returns "latest" if this timeline has a checkpoint after the step that was asked for, otherwise that step.
std::string Supervisor::resume_again() const {
    if (options_.resume == "auto" || options_.resume == "latest") return "latest";
    const std::vector<int64_t> steps = complete_checkpoints(options_.run_dir / "checkpoints");
    return left_at_ && !steps.empty() && steps.back() > *left_at_ ? "latest" : options_.resume;
}

void Supervisor::start_ranks() {
    make_folder(options_.run_dir / "events");
    make_folder(options_.run_dir / "logs");
    memory_kills_before_ = memory_kills();
    std::optional<StoreSocket> store;
    if (options_.node == 0 && options_.all_ranks() > 1)
        store = open_store_socket(options_.has_others() ? options_.listen : "127.0.0.1");
    if (store) store_port_ = store->port;
    const std::vector<std::string> inherited = own_environment();
    RankPlace place;
    place.ranks = options_.all_ranks();
    place.node = options_.node;
    place.local_ranks = options_.ranks;
    place.attempt = state_.attempt;
    place.run_name = state_.name;
    place.store_port = store_port_;
    if (options_.has_others()) {
        place.store_address =
            options_.node == 0 ? options_.listen : options_.meet.substr(0, options_.meet.find(':'));
        place.interface =
            interface_of(options_.node == 0 ? place.store_address : address_towards(place.store_address));
    }
    progress_.emplace(options_.ranks);
    place.progress_fd = progress_->descriptor();
    place.agent = ::getpid();
    place.cores = static_cast<int>(std::thread::hardware_concurrency());
    for (int local = 0; local < options_.ranks; ++local) {
        const int rank = options_.first_rank + local;
        place.rank = rank;
        place.local_rank = local;
        place.store_fd = rank == 0 && store ? std::optional(store->listening.get()) : std::nullopt;
        std::vector<int> kept = {place.progress_fd};
        if (place.store_fd) kept.push_back(*place.store_fd);
        Rank started;
        started.end.rank = rank;
        started.from = offsets_now(options_.run_dir, rank);
        started.pid = start_rank({{options_.engine, "--run", options_.run_dir, "--resume", options_.resume},
                                  rank_environment(place, inherited),
                                  options_.run_dir / "logs" / log_file_name(rank),
                                  kept});
        started.alive = true;
        ranks_.push_back(started);
        const ProcessId ended_already{state_.writer.host, started.pid, 0, state_.writer.boot_id};
        state_.nodes[0].ranks.push_back({rank, find_process(started.pid).value_or(ended_already)});
    }
}

RunPhase Supervisor::supervise() {
    watch_ranks();
    if (fleet_ && options_.node > 0) return end_as_other_node();
    RunVerdict end = verdict();
    tell_ranks(end);
    while (restart_after(end)) {
        watch_ranks();
        end = verdict();
        tell_ranks(end);
    }
    end_with(end);
    tell(RunOver{end});
    return end.state;
}

void Supervisor::watch_ranks() {
    while (some_alive() || waits_for_nodes()) {
        wait_for_signals();
        reap();
        look_for_stopped();
        hear_nodes();
        if (!some_alive()) deadline_.reset();
        if (deadline_ && Clock::now() >= *deadline_) on_deadline();
    }
}

/// Starts the next attempt, if one is left. run.json then says why the run restarted, not that it failed.
bool Supervisor::restart_after(const RunVerdict& verdict) {
    const bool unkillable =
        std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.end.unkillable; });
    if (verdict.state != RunPhase::Failed || stop_requested_ || restarts_left_ == 0 || unkillable)
        return false;
    --restarts_left_;
    const std::string why = first_line_of(verdict);
    say("attempt " + std::to_string(state_.attempt) + " failed: " + why + "; " +
        std::to_string(restarts_left_) + " restarts are left after this one");
    ranks_.clear();
    state_.nodes[0].ranks.clear();
    ++state_.attempt;
    options_.resume = resume_again();
    trigger_ = Trigger::None;
    deadline_.reset();
    killed_ = false;
    try {
        start_ranks();
    } catch (const Error& problem) {
        say("not started again: " + problem.text());
        kill_ranks();
        return false;
    }
    set_state(RunPhase::Running, {{"started-again", {why}}});
    return true;
}

void Supervisor::wait_for_signals() {
    int timeout_ms = -1;
    if (deadline_) {
        const auto left = std::chrono::ceil<milliseconds>(*deadline_ - Clock::now());
        timeout_ms = static_cast<int>(std::max(left, milliseconds(0)).count());
    } else if (trigger_ == Trigger::None) {
        timeout_ms = static_cast<int>(std::chrono::duration_cast<milliseconds>(StopClock::kLook).count());
    }
    std::vector<pollfd> waited = {{signals_.get(), POLLIN, 0}};
    if (fleet_) {
        fleet_->add_to(waited);
        timeout_ms = timeout_ms < 0 ? kLook_ms : std::min(timeout_ms, kLook_ms);
    }
    ::poll(waited.data(), waited.size(), timeout_ms);
    signalfd_siginfo came{};
    while (::read(signals_.get(), &came, sizeof came) == sizeof came)
        on_signal(static_cast<int>(came.ssi_signo));
}

void Supervisor::on_signal(int signal) {
    if (signal == SIGCHLD) return;  // reap() runs after every wait
    reap();                         // ranks that ended before the request did not end because of it
    restarts_left_ = 0;             // a user who stops a run does not want a restart
    if (trigger_ != Trigger::None || !some_alive()) return;
    if (options_.node > 0) tell(StopWanted{signal == SIGUSR1 || stop_requested_});
    if (signal != SIGUSR1 && !stop_requested_) {
        ask_to_stop();
    } else {
        say("asked to stop now");
        if (options_.node == 0) tell(StopWanted{true});
        begin_end(Trigger::StopNow, milliseconds(0));
    }
}

void Supervisor::ask_to_stop() {
    stop_requested_ = true;
    if (options_.node == 0) tell(StopWanted{});
    for (const Rank& rank : ranks_) {
        if (rank.alive) ::kill(rank.pid, SIGTERM);
    }
    say("asked to stop: the ranks finish their step and save");
    set_state(RunPhase::Stopping, {});
}

void Supervisor::begin_end(Trigger trigger, milliseconds grace) {
    if (trigger_ != Trigger::None) return;
    note_places();
    trigger_ = trigger;
    deadline_ = Clock::now() + grace;
    if (fleet_ && options_.node == 0) patience_ = *deadline_ + kLastWord;
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
    // Kills the rank's children too. The group's number stays reserved until waitpid.
    ::kill(-rank.pid, SIGKILL);
    ::waitpid(rank.pid, &rank.end.wait_status, 0);
    rank.alive = false;
    rank.end.t = unix_now();
    rank.end.killed_by_us =
        killed_ && WIFSIGNALED(rank.end.wait_status) && WTERMSIG(rank.end.wait_status) == SIGKILL;
    if (rank.end.wait_status == 0 || rank.end.killed_by_us) return;
    const bool failed = has_failed(rank.end.wait_status, stop_requested_);
    if (trigger_ == Trigger::None) tell(RankFailed{});
    begin_end(failed ? Trigger::RankFailed : Trigger::StopTooEarly, kGrace);
}

void Supervisor::look_for_stopped() {
    if (trigger_ != Trigger::None) return;
    bool stalled = false;
    for (Rank& rank : ranks_) {
        const int signal = rank.alive ? stopped_by(rank.pid) : 0;
        rank.stop_clock.look(signal != 0, Clock::now());
        if (!rank.stop_clock.is_too_long()) continue;
        rank.end.stopped = std::string("SIG") + ::sigabbrev_np(signal);
        say(english({stopped_part(rank.end)}));
        stalled = true;
    }
    if (!stalled) return;
    tell(RankFailed{});
    begin_end(Trigger::RankFailed, milliseconds(0));
}

/// Notes where each rank is before any is killed, including ranks that are stopped or do not answer.
void Supervisor::note_places() {
    for (size_t i = 0; i < ranks_.size(); ++i) {
        const Whereabouts at = progress_->of(static_cast<int>(i));
        const bool is_stopped = ranks_[i].alive && stopped_by(ranks_[i].pid) != 0;
        ranks_[i].end.waits = at.waits && !is_stopped;
        Reason& place = ranks_[i].end.place = as_reason(at);
        if (is_stopped && ranks_[i].end.stopped.empty()) place.insert(place.begin(), {"place-of-stopped"});
    }
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

RunVerdict Supervisor::verdict() {
    Ending ending;
    ending.trigger = trigger_;
    ending.stop_requested = stop_requested_;
    ending.kernel_killed_for_memory = memory_kills() > memory_kills_before_;
    ending.disk_full = is_full(options_.run_dir);
    for (Rank& rank : ranks_) {
        rank.end.record = read_rank_record(options_.run_dir, rank.end.rank, rank.from, rank.end.rank == 0);
        ending.ranks.push_back(rank.end);
    }
    ending.lost_node = lost_node_;
    for (const OtherNode& other : others_)
        ending.ranks.insert(ending.ranks.end(), other.ranks.begin(), other.ranks.end());
    return judge(ending);
}

void Supervisor::open_fleet() {
    if (!options_.has_others()) return;
    FleetPlace place{options_.node, options_.nodes, options_.listen, 0, read_run_secret(options_.run_dir)};
    if (options_.node > 0) {
        const size_t first = options_.meet.find(':'), second = options_.meet.find(':', first + 1);
        if (second == std::string::npos)
            throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "is not ADDRESS:PORT:PORT", "--meet");
        place.address = options_.meet.substr(0, first);
        place.port = std::atoi(options_.meet.c_str() + second + 1);
        store_port_ = std::atoi(options_.meet.c_str() + first + 1);
    }
    fleet_.emplace(place);
    patience_ = Clock::now() + kArrival;
}

std::string Supervisor::meeting_place() const {
    return options_.listen + ":" + std::to_string(store_port_) + ":" +
           std::to_string(fleet_ ? fleet_->port() : 0);
}

std::string Supervisor::name_of(int node) const {
    const std::string& host = options_.node > 0 ? "" : others_[static_cast<size_t>(node)].state.host;
    return std::to_string(node) + (host.empty() ? "" : " (" + host + ")");
}

/// Sends to all other nodes if this is node 0, otherwise to node 0.
void Supervisor::tell(const NodeMessage& message) {
    if (!fleet_) return;
    options_.node == 0 ? fleet_->send_all(line_of(message)) : fleet_->send(0, line_of(message));
}

void Supervisor::hear_nodes() {
    if (!fleet_) return;
    for (const FleetMessage& message : fleet_->take()) {
        const auto said = read_node_message(message);
        if (said) std::visit([&](const auto& what) { hear(message.node, what); }, *said);
    }
    fleet_->beat();
    if (options_.node > 0 || !patience_ || Clock::now() < *patience_) return;
    patience_.reset();
    for (int node = 1; node < options_.nodes; ++node) {
        const OtherNode& other = others_[static_cast<size_t>(node)];
        if (!other.here || (trigger_ != Trigger::None && !other.ended))
            hear(node, PeerLost{other.here ? "node-no-end" : "node-no-start"});
    }
}

void Supervisor::hear(int node, const PeerLost& peer) {
    ReasonPart lost{peer.code, {name_of(node)}};
    lost.with.insert(lost.with.end(), peer.with.begin(), peer.with.end());
    if (options_.node == 0) {
        OtherNode& other = others_[static_cast<size_t>(node)];
        if (other.ended) return;
        other.ended = true;
    }
    say(english({lost}));
    if (!lost_node_ && (options_.node > 0 || trigger_ == Trigger::None)) lost_node_ = lost;
    if (options_.node == 0 && trigger_ == Trigger::None) tell(RankFailed{});
    begin_end(Trigger::OtherNode, kGrace);
}

void Supervisor::hear(int node, const NodeHere& here) {
    if (options_.node > 0) return;
    OtherNode& other = others_[static_cast<size_t>(node)];
    if (other.here) return;
    other.here = true;
    other.state = here.node;
    state_.nodes.push_back(other.state);
    std::sort(state_.nodes.begin(), state_.nodes.end(),
              [](const ringmaster::NodeState& a, const ringmaster::NodeState& b) {
                  return !a.ranks.empty() && !b.ranks.empty() && a.ranks[0].rank < b.ranks[0].rank;
              });
    if (trigger_ != Trigger::None) fleet_->send(node, line_of(RankFailed{}));
    if (stop_requested_) fleet_->send(node, line_of(StopWanted{}));
    set_state(state_.state, {});
    say("node " + name_of(node) + " is here");
}

void Supervisor::hear(int, const RankFailed&) {
    if (options_.node == 0 && trigger_ == Trigger::None) tell(RankFailed{});
    begin_end(Trigger::OtherNode, kGrace);
}

void Supervisor::hear(int, const StopWanted& wanted) {
    if (!some_alive()) return;
    if (!wanted.now) {
        if (trigger_ == Trigger::None && !stop_requested_) ask_to_stop();
    } else if (options_.node == 0) {
        on_signal(SIGUSR1);
    } else {
        begin_end(Trigger::StopNow, milliseconds(0));
    }
}

void Supervisor::hear(int node, const RanksEnded& ended) {
    if (options_.node > 0) return;
    OtherNode& other = others_[static_cast<size_t>(node)];
    if (!other.here || !are_all_of(ended.ends, other.state)) return hear(node, PeerLost{"node-garbled-end"});
    other.ranks = ended.ends;
    other.ended = true;
}

void Supervisor::hear(int, const RunOver& over) {
    if (options_.node > 0) told_ = over.verdict;
}

/// Returns true while node 0 must wait for other nodes, because node 0 ends last.
bool Supervisor::waits_for_nodes() {
    if (!fleet_ || options_.node > 0) return false;
    return std::any_of(others_.begin() + 1, others_.end(),
                       [](const OtherNode& other) { return !other.ended; });
}

RunPhase Supervisor::end_as_other_node() {
    std::vector<RankEnd> ends;
    for (Rank& rank : ranks_) {
        rank.end.record = read_rank_record(options_.run_dir, rank.end.rank, rank.from, false);
        ends.push_back(rank.end);
    }
    tell(RanksEnded{std::move(ends)});
    while (!told_ && !lost_node_) {
        wait_for_signals();
        hear_nodes();
    }
    if (!told_) told_ = RunVerdict{RunPhase::Failed, {*lost_node_}, "NODE-LOST"};
    tell_ranks(*told_);
    end_with(*told_);
    return told_->state;
}

/// Writes to each rank's log why the run ended, because a killed rank could not.
void Supervisor::tell_ranks(const RunVerdict& verdict) const {
    if (verdict.state != RunPhase::Failed || options_.all_ranks() == 1) return;
    const std::string reason = first_line_of(verdict);
    for (const Rank& rank : ranks_) {
        const bool cut_off = rank.end.killed_by_us && !rank.end.place.empty();
        append_to_log(options_.run_dir, rank.end.rank,
                      "the run failed: " + reason + (cut_off ? "; this rank" + english(rank.end.place) : ""));
    }
}

void Supervisor::set_state(RunPhase phase, Reason why) {
    state_.state = phase;
    give_reason(state_, std::move(why));
    state_.updated = unix_now();
    try {
        file_.write(state_);
    } catch (const Error& problem) {
        say("run.json: " + problem.text());
    }
}

void Supervisor::end_with(const RunVerdict& verdict) {
    state_.ended = unix_now();
    state_.code = verdict.code;
    state_.failed_rank = verdict.failed_rank;
    set_state(verdict.state, verdict.why);
    say(std::string(to_string(verdict.state)) + ": " + english(verdict.why));
}

}  // namespace ringmaster
