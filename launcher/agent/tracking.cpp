#include "launcher/agent/tracking.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/events/event_log.h"
#include "engine/events/run_state.h"
#include "launcher/agent/descriptor.h"
#include "launcher/agent/options.h"
#include "launcher/agent/say.h"
#include "launcher/agent/side_process.h"
#include "launcher/agent/tracker_check.h"

namespace ringmaster {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kLook = 200ms;
constexpr auto kLookAtRun = 2s;
constexpr auto kFirstPause = 1s;   ///< pause before a dead process is started again; doubles each time
constexpr auto kLongLife = 10min;  ///< life after which an end does not count as a repeated failure
constexpr int kMostStarts = 6;
constexpr int kNice = 10;  ///< lower priority than the ranks
constexpr int kNotSetUp = 2, kGaveUp = 3;
constexpr size_t kMostSettings = 8 << 20;

volatile std::sig_atomic_t asked_to_end = 0;

fs::path settings_of(const fs::path& run_dir) {
    return run_dir / "tracking" / "settings.json";
}

struct TrackOptions {
    fs::path run_dir;
    std::string sender = "any";
    std::optional<ProcessId> follower;  ///< sending stops when this process ends
};

ProcessId process_of(int64_t pid) {
    // a pid without a process counts as not alive
    return find_process(pid).value_or(ProcessId{this_host(), pid, 0, ""});
}

TrackOptions track_options(const Arguments& given) {
    TrackOptions options;
    options.run_dir = fs::absolute(given.text("--track")).lexically_normal();
    if (given.has("--sender")) options.sender = given.text("--sender");
    if (const auto pid = given.whole("--with", 1)) options.follower = process_of(*pid);
    return options;
}

std::string text_of(const fs::path& file) {
    const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    std::string text;
    char piece[4096];
    for (ssize_t got; text.size() <= kMostSettings && (got = ::read(in.get(), piece, sizeof piece)) > 0;)
        text.append(piece, static_cast<size_t>(got));
    return text;
}

/// Returns the trackers that this machine sends to.
std::vector<std::string> names_for(const TrackOptions& options) {
    const nlohmann::json settings =
        try_bounded_json(text_of(settings_of(options.run_dir)), {kMostSettings, 32, 1 << 18});
    std::vector<std::string> names;
    if (!settings.is_object() || !settings.contains("trackers") || !settings["trackers"].is_object())
        return names;
    for (const auto& [name, sender] : settings["trackers"].items()) {
        if (options.sender == "any" || sender == options.sender) names.push_back(name);
    }
    return names;
}

/// Holds one tracker's process.
struct Sender {
    std::string name;
    fs::path python;
    pid_t pid = 0;  ///< 0: not running
    int starts = 0;
    Clock::time_point started, next;
    bool over = false;
};

void start(Sender& sender, const TrackOptions& options) {
    std::vector<std::string> words = {sender.python, tracking_package(), "send", options.run_dir,
                                      sender.name};
    if (options.sender == "launcher") words.emplace_back("--mirror");
    const fs::path log = options.run_dir / "tracking" / (sender.name + ".log");
    sender.started = Clock::now();
    sender.next = sender.started + kFirstPause * (1 << sender.starts++);
    sender.pid = ::fork();
    // SIGTERM stays blocked until the program can obey it, so that it still sends the rest.
    if (sender.pid == 0)
        become(words, ::open("/dev/null", O_RDONLY | O_CLOEXEC), open_private_log(log), true);
    if (sender.pid < 0) sender.pid = 0;
}

void reap(Sender& sender) {
    int status = 0;
    if (sender.pid == 0 || ::waitpid(sender.pid, &status, WNOHANG) != sender.pid) return;
    sender.pid = 0;
    if (Clock::now() - sender.started > kLongLife) sender.starts = 0;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    sender.over = code == 0 || code == kNotSetUp || code == kGaveUp || sender.starts == kMostStarts ||
                  asked_to_end != 0;
    say(sender.name + (code >= 0 ? ": ended with status " + std::to_string(code)
                                 : ": was killed by signal " + std::to_string(WTERMSIG(status))));
}

/// Returns whether run.json says that the run is over. The processes then send the rest and end.
bool is_said_to_be_over(const fs::path& run_dir) {
    try {
        return is_over(parse_run_state(text_of(run_dir / "run.json"), "run.json").state);
    } catch (const Error&) {
        return false;
    }
}

/// Returns whether the run's agent was killed before it could write the end into run.json.
bool is_abandoned(const fs::path& run_dir) {
    try {
        return is_over(read_run_state(run_dir).state) && !is_said_to_be_over(run_dir);
    } catch (const Error&) {
        std::error_code unknown;
        return !fs::is_directory(run_dir, unknown);
    }
}

/// Returns whether the processes must be told to send the rest and end. If a short run ends before they have
/// started, they still send all of it.
bool is_to_end(const TrackOptions& options) {
    if (asked_to_end != 0 || is_abandoned(options.run_dir)) return true;
    return options.follower && !is_alive(*options.follower) && !is_said_to_be_over(options.run_dir);
}

void tell_to_end(const std::vector<Sender>& senders) {
    asked_to_end = 1;
    for (const Sender& sender : senders) {
        if (sender.pid > 0) ::kill(sender.pid, SIGTERM);
    }
}

void keep(std::vector<Sender>& senders, const TrackOptions& options) {
    bool told = false;
    const auto is_over = [](const Sender& one) { return one.over; };
    for (auto next_look = Clock::now() + kLookAtRun; !std::all_of(senders.begin(), senders.end(), is_over);) {
        for (Sender& sender : senders) {
            reap(sender);
            sender.over = sender.over || (told && sender.pid == 0);
            if (!sender.over && sender.pid == 0 && Clock::now() >= sender.next) start(sender, options);
        }
        if (!told && (asked_to_end != 0 || Clock::now() >= next_look)) {
            next_look = Clock::now() + kLookAtRun;
            told = is_to_end(options);
            if (told) tell_to_end(senders);
        }
        std::this_thread::sleep_for(kLook);
    }
}

void say_no_python(const TrackOptions& options, const std::vector<std::string>& names) {
    say("there is no Python here");
    if (options.sender == "launcher") return;
    EventWriter events(options.run_dir / "events", 0);
    for (const std::string& name : names)
        events.write(WarningEvent{name + " is sent nothing: there is no Python on this machine", "tracking"});
}

}  // namespace

void start_tracking(const fs::path& run_dir) {
    std::error_code unknown;
    if (fs::is_regular_file(settings_of(run_dir), unknown))
        start_side_process({"--track", run_dir.string(), "--sender", "node"});
}

int tell_trackers(const Arguments& given) {
    for (const auto& [name, check] : check_trackers(given.text("--trackers"))) {
        std::printf("%s\t%s\t%s\t%s\t%s\n", name.c_str(), check.state.c_str(), check.store.c_str(),
                    check.problem.c_str(), check.remedy.c_str());
    }
    return 0;
}

int track_run(const Arguments& given) {
    const TrackOptions options = track_options(given);
    const std::vector<std::string> names = names_for(options);
    if (names.empty()) return 0;
    const fs::path log = options.run_dir / "tracking" / "tracking.log";
    const Descriptor out(open_private_log(log));
    if (out.get() >= 0) say_into(out.get());
    ::signal(SIGTERM, [](int) { asked_to_end = 1; });
    ::signal(SIGHUP, SIG_IGN);
    ::setpriority(PRIO_PROCESS, 0, kNice);
    const std::vector<fs::path> pythons = pythons_here();
    if (pythons.empty()) return say_no_python(options, names), kNotSetUp;
    std::map<std::string, TrackerCheck> checks = check_trackers(settings_of(options.run_dir));
    std::vector<Sender> senders;
    for (const std::string& name : names) {
        if (!checks.contains(name)) continue;
        Sender sender;
        sender.name = name;
        sender.python = checks[name].python;
        senders.push_back(sender);
        say(name + ": " + checks[name].state + " in " + checks[name].python.string());
    }
    keep(senders, options);
    return 0;
}

}  // namespace ringmaster
