#include "launcher/nodes/mirror.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "engine/events/output_claim.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/base/format.h"
#include "launcher/nodes/fetch.h"
#include "launcher/nodes/record_file.h"
#include "launcher/run/prepare.h"
#include "launcher/ssh/login_refusals.h"

namespace ringmaster {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

constexpr auto kSilence = 15s;       ///< longest silence of a follower, which sends something every second
constexpr auto kProbe = 2s;          ///< time between two attempts to connect
constexpr auto kRefusedPause = 30s;  ///< pause after a refused login, so that no account gets locked
constexpr int kRefusedTries = 3;
constexpr auto kLastEvents = 15s;    ///< wait for the other nodes after node 0 reported the end
constexpr auto kFirstSilence = 60s;  ///< silence of node 0, after another node reported the end

/// Returns the folder for a completed run's model; empty if plan.json cannot be read, which is reported when
/// the model is fetched.
std::string output_dir_of(const RunDirectory& run) {
    try {
        return read_plan(run.plan().string()).config.output_dir;
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

RunMirror::RunMirror(const RunDirectory& run, std::vector<std::unique_ptr<SshSession>> sessions)
    : run_(run),
      remote_(read_remote_run(run)),
      lead_(remote_.lead()),
      output_dir_(output_dir_of(run)),
      nodes_(remote_.nodes.size()) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
        nodes_[i].over = !remote_.nodes[i].is_named();
        if (i < sessions.size()) nodes_[i].session = std::move(sessions[i]);
        if (nodes_[i].session) nodes_[i].session->give_up_when([this] { return stop_.load(); });
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
        if (remote_.nodes[i].is_named()) nodes_[i].thread = std::thread([this, i] { watch(i); });
    }
}

RunMirror::~RunMirror() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    ending_.notify_all();
    for (NodeWatch& node : nodes_) {
        if (node.thread.joinable()) node.thread.join();
    }
    if (lock_ >= 0) ::close(lock_);
}

/// Returns the trouble of a node that an exception describes.
static NodeTrouble trouble_of(const std::string& host, const std::exception& problem) {
    NodeTrouble trouble{host, problem.what()};
    if (const auto* error = dynamic_cast<const Error*>(&problem)) trouble.code = error->code;
    if (const auto* reach = dynamic_cast<const NodeError*>(&problem)) trouble.finding = reach->finding;
    return trouble;
}

NodeTrouble RunMirror::trouble() const {
    const std::lock_guard lock(mutex_);
    for (const NodeWatch& node : nodes_) {
        if (!node.trouble.empty()) return node.trouble;
    }
    return {};
}

RunNote RunMirror::note() const {
    const std::lock_guard lock(mutex_);
    return note_;
}

/// Waits for `time`, or until the mirror must end. Returns true if it must end.
bool RunMirror::wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return ending_.wait_for(lock, time, [this] { return stop_.load(); });
}

/// Takes the lock of the run directory. Returns false if another process holds it.
bool RunMirror::lock() {
    const std::lock_guard guard(mutex_);
    if (lock_ >= 0) return true;
    const int file =
        ::open((run_.dir / "mirror.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0 || ::flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (file >= 0) ::close(file);
        return false;
    }
    lock_ = file;
    return true;
}

void RunMirror::watch(size_t index) {
    int refused = 0;
    while (!lock()) {
        if (wait(500ms)) return;
    }
    nodes_[index].heard = Clock::now();
    while (!stop_) {
        std::chrono::milliseconds pause = kProbe;
        try {
            if (!nodes_[index].session) {
                const auto given_up = [this] { return stop_.load(); };
                nodes_[index].session = std::make_unique<SshSession>(
                    ssh_settings(parse_target(remote_.nodes[index].target)), SshPerson{{}, {}, given_up});
                nodes_[index].session->give_up_when(given_up);
            }
            refused = 0;
            if (follow(index)) return;
        } catch (
            const std::exception& problem) {  // an Error, or invalid JSON: both may be gone at the next try
            nodes_[index].session.reset();
            const std::lock_guard guard(mutex_);
            nodes_[index].trouble = trouble_of(remote_.nodes[index].target, problem);
            const auto* reach = dynamic_cast<const NodeError*>(&problem);
            if (reach != nullptr && refuses_login(reach->finding)) {
                pause = kRefusedPause;
                if (++refused >= kRefusedTries) return;
            }
            const auto* own = dynamic_cast<const Error*>(&problem);
            if (own != nullptr && own->failure == Failure::Refused)
                pause = kRefusedPause;  // a full disk here, or invalid data from the node
        }
        if (index == lead_ && Clock::now() - nodes_[lead_].heard > kFirstSilence)
            give_up_on_first(trouble().text());
        if (wait(pause)) return;
    }
}

/// Follows a node. Returns true at the run's end.
bool RunMirror::follow(size_t index) {
    const RemoteNode& node = remote_.nodes[index];
    StartCommand command{
        {},
        {node.agent, "--follow", node.run_dir, "--node", std::to_string(index), "--first-rank",
         std::to_string(node.first_rank), "--ranks", std::to_string(node.ranks)}};
    std::map<std::string, int64_t> record;
    for (const std::string& file : record_files(node, index)) {
        const int64_t& bytes = record[file] = record_bytes(run_.dir, file);
        command.arguments.insert(command.arguments.end(), {"--have", file + "=" + std::to_string(bytes)});
    }
    RemoteScript remote(*nodes_[index].session, "exec " + shell_line(command));
    remote.end_of_input();
    FollowFrames frames(std::move(record));
    std::string came;
    std::optional<RunState> last;
    auto heard = Clock::now();
    while (!stop_) {
        const bool more = remote.read(came, 500ms);
        if (!came.empty()) {
            heard = nodes_[index].heard = Clock::now();
            frames.take(std::exchange(came, {}));
            const std::lock_guard guard(mutex_);
            nodes_[index].trouble = {};
        }
        while (!stop_) {
            const std::optional<FollowFrame> frame = frames.next();
            if (!frame) break;
            if (take(index, *frame, last)) return true;
        }
        if (!more)
            throw Error(Failure::Unreachable, Code("NODE-AGENT"), "its follower ended: " + remote.errors(),
                        node.target);
        if (Clock::now() - heard > kSilence)
            throw Error(Failure::Unreachable, Code("NODE-AGENT"),
                        "has been silent for " + std::to_string(kSilence.count()) + " s", node.target);
    }
    return true;
}

/// Handles a node's frame; returns true if it says that the run is over. `last` is the newest state that the
/// node sent.
bool RunMirror::take(size_t index, const FollowFrame& frame, std::optional<RunState>& last) {
    const std::string& target = remote_.nodes[index].target;
    switch (frame.kind) {
        case FollowFrame::Kind::Beat:
            break;
        case FollowFrame::Kind::File:
            append_record(run_.dir, frame.file, frame.offset, frame.bytes);
            break;
        case FollowFrame::Kind::State:
            last = parse_run_state(frame.bytes, target + ": run.json");
            if (index == lead_ && !is_over(last->state)) take_state(*last);
            break;
        case FollowFrame::Kind::Over:
            if (!last || !is_over(last->state))
                throw Error(Failure::Refused, Code("NODE-AGENT"),
                            "says that the run is over, and not how it ended", target);
            {
                const std::lock_guard guard(mutex_);
                nodes_[index].over = true;
                nodes_[index].last_reason = last->reason;
            }
            ending_.notify_all();
            if (index == lead_) finish(*last);
            return true;
    }
    return false;
}

void RunMirror::take_state(const RunState& told) const {
    write_run_state(run_.dir, state_here(told, remote_, run_));
}

void RunMirror::wait_for_others() {
    std::unique_lock lock(mutex_);
    ending_.wait_for(lock, kLastEvents, [this] {
        return stop_.load() ||
               std::all_of(nodes_.begin(), nodes_.end(), [](const NodeWatch& node) { return node.over; });
    });
}

/// Marks the run as over here, after all its files have arrived.
void RunMirror::finish(const RunState& told) {
    wait_for_others();
    if (told.state == RunPhase::Completed && !remote_.adopted) fetch_model();
    take_state(told);
}

void RunMirror::fetch_model() {
    const auto tell = [this](RunNote note) {
        const std::lock_guard lock(mutex_);
        note_ = std::move(note);
    };
    Progress progress;
    progress.cancelled = [this] { return stop_.load(); };
    progress.step = [&](const ProgressStep& now) {
        tell({english(now),
              now.total > 0 ? format_bytes(now.done) + " of " + format_bytes(now.total) : std::string()});
    };
    if (output_dir_.empty())
        throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                    "names no output_dir: the model cannot be brought", run_.plan().string());
    check_output_dir(output_dir_, false);
    claim_output(output_dir_, run_.dir, run_.name());
    fetch_folder(*nodes_[0].session, remote_.output_dir(), output_dir_, progress);
    tell({});
}

/// Marks the run as failed if node 0 cannot be reached and another node says that the run has ended.
void RunMirror::give_up_on_first(const std::string& why) {
    std::string told;
    {
        const std::lock_guard guard(mutex_);
        for (size_t i = 0; i < nodes_.size(); ++i) {
            if (i != lead_ && remote_.nodes[i].is_named() && nodes_[i].over && told.empty())
                told = remote_.nodes[i].target + " says: " + nodes_[i].last_reason;
        }
    }
    RunState state = read_run_state(run_.dir);
    if (told.empty() || is_over(state.state)) return;
    state.state = RunPhase::Failed;
    give_reason(state, {{"text", {told + " (" + why + ")"}}});
    state.ended = state.updated = unix_now();
    write_run_state(run_.dir, state);
}

}  // namespace ringmaster
