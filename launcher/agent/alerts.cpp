#include "launcher/agent/alerts.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "engine/control_characters.h"
#include "engine/error.h"
#include "engine/events/event_log.h"
#include "engine/events/run_state.h"
#include "launcher/agent/descriptor.h"
#include "launcher/agent/say.h"
#include "launcher/agent/side_process.h"
#include "launcher/agent/tracker_check.h"
#include "launcher/alerts/detector.h"
#include "launcher/alerts/settings.h"

namespace ringmaster {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

namespace {

constexpr auto kLook = 500ms;
/// Time limits of a delivery. The three attempts of post.py and the pauses between them take at most 40 s.
constexpr auto kCommandLimit = 30s, kWebhookLimit = 75s;
/// Longest time that the message about the run's end waits for earlier alerts, so that it comes last. The
/// script of a Slurm job waits 60 s for all of them.
constexpr auto kEndWaits = 20s;
constexpr auto kWaitForOther = 5s;  ///< time to wait for the process of an attempt that has just ended
constexpr size_t kMostAtOnce = 8;
constexpr int kNice = 10;  ///< lower priority than the ranks
constexpr int kMostRanks = 8192;
constexpr int64_t kBite = 4 << 20;

volatile std::sig_atomic_t asked_to_end = 0;
volatile std::sig_atomic_t ranks_are_gone = 0;  // set by the signal USR1

/// Describes a running program that delivers one alert.
struct Delivery {
    std::string name;
    pid_t pid = 0;
    Clock::time_point deadline;
};

/// Starts a program in its own process group, with `input` on its stdin. Returns -1 if it cannot be started
/// or if `input` does not fit into a pipe.
pid_t start_program(const std::vector<std::string>& words, const std::string& input, const fs::path& log) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
    const Descriptor in(ends[0]);
    Descriptor out(ends[1]);
    ::fcntl(out.get(), F_SETFL, O_NONBLOCK);
    if (::write(out.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) return -1;
    out.close();
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ::setpgid(0, 0);
    become(words, in.get(), open_private_log(log), false);
}

class Deliverer {
  public:
    Deliverer(fs::path run_dir, AlertSettings settings)
        : run_dir_(std::move(run_dir)), settings_(std::move(settings)) {}

    void deliver(const Alert& alert) {
        if (!settings_.kinds.contains(alert.kind)) return;
        const std::string name = without_controls(run_dir_.filename().string());
        const std::string text = "Ringmaster, run " + name + ": " + text_of(alert);
        Json body = to_json(alert);
        body["run"] = name;
        say(text);
        if (!settings_.command.empty()) {
            std::vector<std::string> words = settings_.command;
            words.push_back(text);
            start("command", words, dumped(body) + "\n", kCommandLimit);
        }
        if (settings_.webhook.empty()) return;
        body["text"] = body["content"] = text;  // the names under which chat services look for the message
        const std::vector<fs::path> pythons = pythons_here();
        if (pythons.empty()) return say("webhook: not sent, because this machine has no Python");
        start("webhook", {pythons.front().string(), tracking_package().string(), "post"},
              dumped({{"url", settings_.webhook}, {"body", body}}), kWebhookLimit);
    }

    /// Reports deliveries that have ended, and ends those that take too long. Returns how many are left.
    size_t look() {
        std::erase_if(running_, [](const Delivery& one) {
            int status = 0;
            if (::waitpid(one.pid, &status, WNOHANG) == one.pid) {
                ::kill(-one.pid, SIGKILL);  // also ends processes that the program left behind
                if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                    say(one.name + ": failed, " +
                        (WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                           : "signal " + std::to_string(WTERMSIG(status))));
                return true;
            }
            if (Clock::now() < one.deadline) return false;
            say(one.name + ": ended, because it took too long");
            ::kill(-one.pid, SIGKILL);
            return ::waitpid(one.pid, &status, 0) == one.pid;
        });
        return running_.size();
    }

  private:
    static std::string dumped(const Json& json) {
        return json.dump(-1, ' ', false, Json::error_handler_t::replace);
    }

    void start(const std::string& name, const std::vector<std::string>& words, const std::string& input,
               Clock::duration limit) {
        if (running_.size() >= kMostAtOnce) return say(name + ": left out, because others still run");
        const pid_t pid = start_program(words, input, run_dir_ / "alerts.log");
        if (pid < 0) return say(name + ": no process");
        running_.push_back({name, pid, Clock::now() + limit});
    }

    fs::path run_dir_;
    AlertSettings settings_;
    std::vector<Delivery> running_;
};

/// Reads the events of the ranks whose files this machine has.
class Events {
  public:
    Events(const fs::path& run_dir, int ranks) : detector_(ranks) {
        for (int rank = 0; rank < ranks; ++rank)
            readers_.emplace_back(run_dir / "events" / event_file_name(rank));
    }

    std::vector<Alert> read(bool is_running) {
        std::vector<EventLine> lines;
        for (EventReader& reader : readers_) {
            std::vector<EventLine> of_rank = reader.poll(kBite);
            lines.insert(lines.end(), std::make_move_iterator(of_rank.begin()),
                         std::make_move_iterator(of_rank.end()));
        }
        std::stable_sort(lines.begin(), lines.end(),
                         [](const EventLine& a, const EventLine& b) { return a.t < b.t; });
        for (const EventLine& line : lines) {
            if (const auto* step = std::get_if<StepEvent>(&line.event)) last_step_ = step->step;
            detector_.take(line);
        }
        if (is_running && lines.empty()) detector_.look(unix_now());
        came_ = !lines.empty();
        return detector_.take_alerts();
    }
    bool came() const { return came_; }
    int64_t last_step() const { return last_step_; }

  private:
    std::vector<EventReader> readers_;
    AlertDetector detector_;
    bool came_ = false;
    int64_t last_step_ = 0;
};

RunPhase phase_of(const fs::path& run_dir) {
    try {
        return read_run_state(run_dir).state;
    } catch (const Error&) {
        std::error_code unknown;
        return fs::is_directory(run_dir, unknown) ? RunPhase::Queued : RunPhase::Failed;
    }
}

/// Takes the lock, which the process that delivers this run's alerts holds. Returns false if another process
/// still holds it after kWaitForOther.
bool hold(int lock) {
    for (const auto until = Clock::now() + kWaitForOther; Clock::now() < until;) {
        if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return true;
        std::this_thread::sleep_for(kLook);
    }
    return false;
}

void follow(const fs::path& run_dir, const AlertSettings& settings, int ranks) {
    const double began = unix_now();
    Deliverer deliverer(run_dir, settings);
    Events events(run_dir, ranks);
    bool goes_on = false;          // true once the run was seen running; only then is its end reported
    Clock::time_point end_seen{};  // zero while the run continues
    while (true) {
        const bool ranks_were_gone = ranks_are_gone != 0;
        const RunPhase phase =
            phase_of(run_dir);  // read before the events, so that all events of a run that is over are read
        for (const Alert& alert : events.read(phase == RunPhase::Running)) {
            // The process of an earlier attempt has delivered older alerts.
            if (alert.t >= began - 1) deliverer.deliver(alert);
        }
        const bool ended = (is_over(phase) || ranks_were_gone) && !events.came();
        size_t left = deliverer.look();
        if (ended && end_seen == Clock::time_point{}) end_seen = Clock::now();
        if (ended && goes_on && (left == 0 || Clock::now() >= end_seen + kEndWaits)) {
            goes_on = false;
            if (phase != RunPhase::Stopped)
                deliverer.deliver({phase == RunPhase::Completed ? AlertKind::Completed : AlertKind::Failed,
                                   unix_now(), events.last_step()});
            left = deliverer.look();
        }
        if (!is_over(phase) && !ranks_were_gone) {
            goes_on = true;
            end_seen = {};
        }
        if ((ended || (asked_to_end != 0 && !events.came())) && left == 0) return;
        std::this_thread::sleep_for(kLook);
    }
}

}  // namespace

void start_alerts(const fs::path& run_dir, int ranks) {
    try {
        if (!read_alert_settings(alert_settings_file(run_dir)).is_delivered()) return;
    } catch (const Error& problem) {
        return say(problem.text());
    }
    start_side_process({"--alerts", run_dir.string(), "--ranks", std::to_string(ranks)});
}

int deliver_alerts(const Arguments& given) {
    const fs::path run_dir = fs::absolute(given.text("--alerts")).lexically_normal();
    auto ranks = static_cast<int>(given.whole("--ranks", 0).value_or(0));
    const AlertSettings settings = read_alert_settings(alert_settings_file(run_dir));
    if (!settings.is_delivered()) return 0;
    if (ranks <= 0) ranks = read_run_state(run_dir).ranks;
    const Descriptor log(open_private_log(run_dir / "alerts.log"));
    if (log.get() >= 0) say_into(log.get());
    const Descriptor lock(
        ::open((run_dir / "alerts.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    ::signal(SIGTERM, [](int) { asked_to_end = 1; });
    ::signal(SIGUSR1, [](int) { ranks_are_gone = 1; });
    ::signal(SIGHUP, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);
    if (!hold(lock.get())) return 0;
    ::setpriority(PRIO_PROCESS, 0, kNice);
    follow(run_dir, settings, std::clamp(ranks, 1, kMostRanks));
    return 0;
}

}  // namespace ringmaster
