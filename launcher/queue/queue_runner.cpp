#include "launcher/queue/queue_runner.h"

#include <QProcess>
#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/error.h"
#include "engine/events/file_lock.h"
#include "engine/events/output_claim.h"
#include "engine/plan/plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/anywhere/restart.h"
#include "launcher/backends/run_follower.h"
#include "launcher/queue/queue_file.h"
#include "launcher/queue/queue_turn.h"
#include "launcher/run/start_record.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

constexpr auto kLook = 300ms;
constexpr auto kSlurmLook = 10s;   ///< time between two calls of this machine's squeue
constexpr auto kAgain = 15s;       ///< time between two attempts to reach a machine
constexpr auto kPatience = 30min;  ///< silence of a machine after which its run counts as failed
// Number of continuations after which a run whose processes vanish stays failed.
constexpr int kMostResumes = 5;

fs::path runner_lock(const fs::path& folder) {
    return folder / "queue-runner.lock";
}

/// Thrown if a run cannot start now. The run keeps its place in the queue.
struct NotYet {};

class QueueRunner {
  public:
    explicit QueueRunner(const Places& places) : places_(places), folder_(queue_folder(places)) {}

    void run();

  private:
    /// A run whose machines could not be reached.
    struct Silence {
        Clock::time_point since, again;
    };

    void start(const RunDirectory& run, QueueState state);
    void start_waiting(const RunDirectory& run);
    void continue_cut_off(const RunDirectory& run);
    void count_continuation(const RunDirectory& run);
    void connect(const RunDirectory& run, const std::function<void()>& work);
    bool postpone(const RunDirectory& run);
    bool is_postponed(const RunDirectory& run) const;
    void follow(const std::vector<RunDirectory>& active);

    const Places& places_;
    fs::path folder_;
    std::map<fs::path, std::unique_ptr<RunFollower>> followers_;  ///< ordered by run directory
    std::map<fs::path, Silence> silent_;
    Clock::time_point next_slurm_look_;
};

void QueueRunner::run() {
    while (true) {
        const auto begin = Clock::now();
        const Turn turn =
            turn_of(read_queue(folder_), [this](const RunDirectory& run) { return is_postponed(run); });
        if (turn.is_done) return;
        follow(turn.active_elsewhere);
        if (turn.next) {
            start(*turn.next, turn.state);
        } else {  // a long queue uses at most a tenth of a core
            std::this_thread::sleep_for(std::max<Clock::duration>(kLook, 9 * (Clock::now() - begin)));
        }
    }
}

/// Starts the run. A run that cannot start is recorded as failed, so that the next one gets its turn.
void QueueRunner::start(const RunDirectory& run, QueueState state) {
    try {
        record_failed_start(run, [&] {
            if (state == QueueState::Waiting)
                start_waiting(run);
            else
                continue_cut_off(run);
        });
        silent_.erase(run.dir);
    } catch (const Error&) {  // the error is in run.json
    } catch (const NotYet&) {
    }
}

void QueueRunner::start_waiting(const RunDirectory& run) {
    const Plan plan = read_plan(run.plan().string());
    claim_output(plan.config.output_dir, run.dir, run.name());
    std::unique_ptr<RunBackend> at;
    bool has_begun = false;
    connect(run, [&] {
        at = reach(destination_of(run), places_, {}, {});
        has_begun = at->has_begun(run);
    });
    if (has_begun) return;
    at->place(run, plan, places_, {});
    at->start(run, plan, places_);
}

void QueueRunner::continue_cut_off(const RunDirectory& run) {
    PreparedResume resume;
    connect(run, [&] {
        try {
            resume = prepare_restart(run, {}, {}, {}, places_, {}, {});
        } catch (const Error& problem) {
            if (problem.code != "RUN-ACTIVE") throw;
            postpone(run);  // the run's machines have continued it
            throw NotYet();
        }
    });
    count_continuation(run);
    resume.at->place(run, resume.resumed.plan, places_, {});
    resume.at->start_resumed(run, resume.resumed, places_);
}

/// Throws Error(Refused) if the run was continued kMostResumes times already.
void QueueRunner::count_continuation(const RunDirectory& run) {
    bool may = false;
    change_queue(folder_, [&](Queue& queue) {
        for (QueuedRun& one : queue.runs) {
            if (one.run.dir == run.dir && one.resumes < kMostResumes) may = ++one.resumes > 0;
        }
    });
    if (!may)
        throw Error(Failure::Refused, Code("RUN-ABANDONED"),
                    "was cut off " + std::to_string(kMostResumes + 1) + " times", run.name(),
                    "`ringmaster resume " + run.name() + "` continues it");
}

/// Calls `work`, which must not start the run. If a machine or Slurm does not answer, throws NotYet until the
/// run has been postponed for too long.
void QueueRunner::connect(const RunDirectory& run, const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& problem) {
        const bool may_answer_later = problem.failure == Failure::Unreachable && queue_place(run).is_asked();
        if (!may_answer_later || !postpone(run)) throw;
        throw NotYet();
    }
}

/// Returns false if the run has been postponed for too long.
bool QueueRunner::postpone(const RunDirectory& run) {
    const auto now = Clock::now();
    Silence& silence = silent_.try_emplace(run.dir, Silence{now, now}).first->second;
    silence.again = now + kAgain;
    return now - silence.since < kPatience;
}

bool QueueRunner::is_postponed(const RunDirectory& run) const {
    const auto found = silent_.find(run.dir);
    return found != silent_.end() && Clock::now() < found->second.again;
}

/// Keeps the directories of runs on other machines and in Slurm up to date.
void QueueRunner::follow(const std::vector<RunDirectory>& active) {
    std::erase_if(followers_, [&](const auto& follower) {
        return std::none_of(active.begin(), active.end(),
                            [&](const RunDirectory& run) { return run.dir == follower.first; });
    });
    std::vector<RunDirectory> in_slurm_here;
    for (const RunDirectory& run : active) {
        const bool by_ssh = queue_place(run).by_ssh;
        if (!by_ssh) in_slurm_here.push_back(run);
        if (!by_ssh || followers_.contains(run.dir) || is_postponed(run)) continue;
        try {
            followers_[run.dir] = backend_of(run)->follow(run, {}, {});
            silent_.erase(run.dir);
        } catch (const Error&) {  // the run's login node does not answer
            postpone(run);
        }
    }
    if (in_slurm_here.empty() || Clock::now() < next_slurm_look_) return;
    next_slurm_look_ = Clock::now() + kSlurmLook;
    try {
        settle_open_runs(in_slurm_here);
    } catch (const Error&) {  // Slurm does not answer; the next call asks again
    }
}

}  // namespace

void run_queue(const Places& places) {
    if (is_queue_alive(places)) return;
    // Another process may hold the lock for a moment, only to see whether this one is alive.
    const FileLock alone(runner_lock(queue_folder(places)), std::chrono::milliseconds(200));
    if (alone.is_held()) QueueRunner(places).run();
}

bool is_queue_alive(const Places& places) {
    // Takes the lock in shared mode, so that two processes that look at the same time do not take each other
    // for the queue's process.
    const FileLock look(runner_lock(queue_folder(places)), std::chrono::milliseconds(0),
                        FileLock::Mode::WithOthers);
    return look.is_held_by_another();
}

void wake_queue(const Places& places) {
    try {
        const fs::path folder = queue_folder(places);
        if (turn_of(read_queue(folder)).is_done || is_queue_alive(places)) return;
        QProcess runner;
        runner.setProgram(QString::fromStdString((places.programs_dir / "ringmaster").string()));
        runner.setArguments({QStringLiteral("queue"), QStringLiteral("run")});
        runner.setStandardInputFile(QProcess::nullDevice());
        runner.setStandardOutputFile(QProcess::nullDevice());
        runner.setStandardErrorFile(QString::fromStdString((folder / "queue.log").string()));
        runner.startDetached();
    } catch (const Error&) {  // `ringmaster queue` says what is wrong
    }
}

}  // namespace ringmaster
