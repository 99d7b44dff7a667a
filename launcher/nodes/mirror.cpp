#include "launcher/nodes/mirror.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "launcher/files.h"
#include "launcher/format.h"
#include "launcher/nodes/fetch.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

constexpr auto kSilence = 15s;       ///< of a follower there, which says something each second
constexpr auto kProbe = 2s;          ///< between two tries to connect
constexpr auto kRefusedPause = 30s;  ///< after a login that was refused, so that no account is locked
constexpr int kRefusedTries = 3;
constexpr auto kLastEvents = 15s;    ///< of the other nodes, once node 0 says that the run is over
constexpr auto kFirstSilence = 60s;  ///< of node 0, once another node says that the run is over
constexpr size_t kLongestHead = 4096;
constexpr int64_t kLargestPiece = 64 << 20;

int64_t size_of(const fs::path& file) {
    std::error_code none;
    const auto size = fs::file_size(file, none);
    return none ? 0 : static_cast<int64_t>(size);
}

std::string reason_of(const std::string& state) {
    const Json json = Json::parse(state, nullptr, false);
    return json.is_object() ? json.value("reason", "") : "";
}

void rename_host(Json& process, const std::string& name) {
    if (process.is_object() && process.value("host", kSlurmJob) != kSlurmJob) process["host"] = name;
}

}  // namespace

RunMirror::RunMirror(const RunDirectory& run, std::vector<std::unique_ptr<SshSession>> sessions)
    : run_(run), remote_(read_remote_run(run)), nodes_(remote_.nodes.size()) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
        if (i < sessions.size()) nodes_[i].session = std::move(sessions[i]);
    }
    for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i].thread = std::thread([this, i] { watch(i); });
}

RunMirror::~RunMirror() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    ending_.notify_all();
    for (NodeWatch& node : nodes_) node.thread.join();
    if (lock_ >= 0) ::close(lock_);
}

std::string RunMirror::trouble() const {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_[i].trouble.empty()) return remote_.nodes[i].target + ": " + nodes_[i].trouble;
    }
    return {};
}

std::string RunMirror::note() const {
    const std::lock_guard lock(mutex_);
    return note_;
}

/// True where the mirror is to end.
bool RunMirror::wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return ending_.wait_for(lock, time, [this] { return stop_.load(); });
}

/// False where another process holds it.
bool RunMirror::lock() {
    const std::lock_guard guard(mutex_);
    if (lock_ >= 0) return true;
    const int file = ::open((run_.dir / "mirror.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
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
            if (!nodes_[index].session)
                nodes_[index].session =
                    std::make_unique<SshSession>(ssh_settings(parse_target(remote_.nodes[index].target)),
                                                 SshPerson{{}, {}, [this] { return stop_.load(); }});
            refused = 0;
            if (follow(index)) return;
        } catch (
            const std::exception& problem) {  // an Error, or JSON that is none: both may be better next time
            nodes_[index].session.reset();
            const std::lock_guard guard(mutex_);
            nodes_[index].trouble = problem.what();
            if (std::string(problem.what()).find("login") != std::string::npos) {
                pause = kRefusedPause;
                if (++refused >= kRefusedTries) return;
            }
            const auto* own = dynamic_cast<const Error*>(&problem);
            if (own != nullptr && own->failure == Failure::Refused)
                pause = kRefusedPause;  // a full disk here
        }
        if (index == 0 && Clock::now() - nodes_[0].heard > kFirstSilence) give_up_on_first(trouble());
        if (wait(pause)) return;
    }
}

/// True at the run's end.
bool RunMirror::follow(size_t index) {
    const RemoteNode& node = remote_.nodes[index];
    StartCommand command{
        {},
        {node.agent, "--follow", node.run_dir, "--node", std::to_string(index), "--first-rank",
         std::to_string(node.first_rank), "--ranks", std::to_string(node.ranks)}};
    for (const std::string& file : record_files(node, index)) {
        command.arguments.insert(command.arguments.end(),
                                 {"--have", file + "=" + std::to_string(size_of(run_.dir / file))});
    }
    RemoteScript remote(*nodes_[index].session, "exec " + shell_line(command));
    remote.end_of_input();
    std::string came, last_state;
    auto heard = Clock::now();
    while (!stop_) {
        const size_t before = came.size();
        const bool more = remote.read(came, 500ms);
        if (came.size() != before) {
            heard = nodes_[index].heard = Clock::now();
            const std::lock_guard guard(mutex_);
            nodes_[index].trouble.clear();
        }
        for (size_t end; (end = came.find('\n')) != std::string::npos;) {
            const std::string head = came.substr(0, end);
            const int64_t size = head.starts_with("file ") || head.starts_with("state ")
                                     ? std::atoll(head.c_str() + head.rfind(' '))
                                     : 0;
            if (size < 0 || size > kLargestPiece || head.size() > kLongestHead)
                throw Error(Failure::Unreachable, "its follower speaks nonsense", node.target);
            if (came.size() - end - 1 < static_cast<size_t>(size)) break;
            const std::string bytes = came.substr(end + 1, static_cast<size_t>(size));
            came.erase(0, end + 1 + static_cast<size_t>(size));
            if (head.starts_with("file ")) {
                const size_t second = head.rfind(' ', head.rfind(' ') - 1);
                take_bytes(head.substr(5, second - 5), std::atoll(head.c_str() + second), bytes);
            } else if (head.starts_with("state ")) {
                last_state = bytes;
                if (index == 0) take_state(bytes);
            } else if (head == "over") {
                {
                    const std::lock_guard guard(mutex_);
                    nodes_[index].over = true;
                    nodes_[index].last_reason = reason_of(last_state);
                }
                ending_.notify_all();
                if (index == 0) finish(last_state);
                return true;
            }
        }
        if (!more) throw Error(Failure::Unreachable, "its follower ended: " + remote.errors(), node.target);
        if (Clock::now() - heard > kSilence)
            throw Error(Failure::Unreachable, "has been silent for 15 s", node.target);
    }
    return true;
}

void RunMirror::take_bytes(const std::string& file, int64_t offset, const std::string& bytes) const {
    const fs::path target = (run_.dir / file).lexically_normal();
    const fs::path inside = target.lexically_relative(run_.dir);
    if (inside.empty() || *inside.begin() == "..") return;
    make_folder(target.parent_path());
    const int out = ::open(target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    const ssize_t put = out < 0 ? -1 : ::pwrite(out, bytes.data(), bytes.size(), offset);
    if (out >= 0) ::close(out);
    if (put != static_cast<ssize_t>(bytes.size()))
        throw Error(Failure::Refused, "cannot be written: is the disk full?", target.string());
}

/// A run that is over becomes so here once everything has come.
void RunMirror::take_state(const std::string& text) {
    Json state = Json::parse(text, nullptr, false);
    if (!state.is_object()) return;
    const std::string word = state.value("state", "");
    if (word == "completed" || word == "failed" || word == "stopped") return;
    finish(text);
}

void RunMirror::finish(const std::string& text) {
    Json state = Json::parse(text, nullptr, false);
    if (!state.is_object()) return;
    const std::string word = state.value("state", "");
    const bool over = word == "completed" || word == "failed" || word == "stopped";
    if (over) {
        std::unique_lock lock(mutex_);
        ending_.wait_for(lock, kLastEvents, [this] {
            return stop_.load() ||
                   std::all_of(nodes_.begin(), nodes_.end(), [](const NodeWatch& node) { return node.over; });
        });
    }
    if (word == "completed" && !remote_.adopted) fetch_model();
    rename_host(state["writer"], remote_.nodes[0].target);
    for (Json& node : state["nodes"]) {
        const int rank = node["ranks"].empty() ? 0 : node["ranks"][0].value("rank", 0);
        std::string name = remote_.nodes[0].target;
        for (const RemoteNode& known : remote_.nodes) {
            if (rank >= known.first_rank && rank < known.first_rank + known.ranks) name = known.target;
        }
        rename_host(node, name);
        rename_host(node["agent"], name);
        for (Json& one : node["ranks"]) rename_host(one, name);
    }
    write_file(run_.state(), state.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void RunMirror::fetch_model() {
    const auto tell = [this](const std::string& note) {
        const std::lock_guard lock(mutex_);
        note_ = note;
    };
    Progress progress;
    progress.cancelled = [this] { return stop_.load(); };
    progress.step = [&](const ProgressStep& now) {
        tell(now.name +
             (now.total > 0 ? "  " + format_bytes(now.done) + " of " + format_bytes(now.total) : ""));
    };
    fetch_folder(*nodes_[0].session, remote_.output_dir(), read_plan(run_.plan().string()).config.output_dir,
                 progress);
    tell("");
}

/// Node 0 is not to be reached, and another node says that the run has ended.
void RunMirror::give_up_on_first(const std::string& why) {
    std::string told;
    {
        const std::lock_guard guard(mutex_);
        for (size_t i = 1; i < nodes_.size(); ++i) {
            if (nodes_[i].over && told.empty())
                told = remote_.nodes[i].target + " says: " + nodes_[i].last_reason;
        }
    }
    RunState state = read_run_state(run_.dir);
    if (told.empty() || is_over(state.state)) return;
    state.state = RunPhase::Failed;
    state.reason = told + " (" + why + ")";
    state.ended = state.updated = unix_now();
    write_run_state(run_.dir, state);
}

}  // namespace ringmaster
