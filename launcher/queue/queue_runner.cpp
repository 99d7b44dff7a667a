#include "launcher/queue/queue_runner.h"

#include <QProcess>
#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/error.h"
#include "engine/events/file_lock.h"
#include "engine/events/output_claim.h"
#include "engine/plan/plan.h"
#include "launcher/anywhere/restart.h"
#include "launcher/queue/queue_file.h"
#include "launcher/start_record.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds kLook{300};
// Number of continuations after which a run whose processes vanish stays failed.
constexpr int kMostResumes = 5;

fs::path runner_lock(const fs::path& folder) {
    return folder / "queue-runner.lock";
}

/// Counts a continuation of the run. Returns false if the run was continued kMostResumes times already.
bool may_continue(const fs::path& folder, const RunDirectory& run) {
    bool may = false;
    change_queue(folder, [&](Queue& queue) {
        for (QueuedRun& one : queue.runs) {
            if (one.run.dir == run.dir && one.resumes < kMostResumes) may = ++one.resumes > 0;
        }
    });
    return may;
}

void continue_cut_off(const RunDirectory& run, const Places& places) {
    const auto [at, resumed] = prepare_restart(run, {}, {}, {}, places, {}, {});
    at->place(run, resumed.plan, places, {});
    at->start_resumed(run, resumed, places);
}

void start_waiting(const RunDirectory& run, const Places& places) {
    const Plan plan = read_plan(run.plan().string());
    claim_output(plan.config.output_dir, run.dir, run.name());
    const auto at = reach(destination_of(run), places, {}, {});
    at->place(run, plan, places, {});
    at->start(run, plan, places);
}

/// Starts the run. A run that cannot start is recorded as failed, so that the next one gets its turn.
void start(const RunDirectory& run, QueueState state, const fs::path& folder, const Places& places) {
    try {
        record_failed_start(run, [&] {
            if (state == QueueState::Waiting) return start_waiting(run, places);
            if (!may_continue(folder, run))
                throw Error(Failure::Refused, Code("RUN-ABANDONED"),
                            "was cut off " + std::to_string(kMostResumes + 1) + " times", run.name(),
                            "`ringmaster resume " + run.name() + "` continues it");
            continue_cut_off(run, places);
        });
    } catch (const Error&) {  // the error is in run.json
    }
}

bool needs_gpus(const RunDirectory& run) {
    try {
        return read_plan(run.plan().string()).device == Device::Cuda;
    } catch (const Error&) {
        return false;
    }
}

/// Says which run of the queue can start now, if any.
struct Turn {
    std::optional<RunDirectory> next;  ///< the run to start
    QueueState state = QueueState::Waiting;
    bool is_done = false;  ///< nothing waits, nothing runs
};

/// Finds the run whose turn it is. A run on GPUs has the machine to itself: every run uses the first GPUs.
Turn turn_of(const Queue& queue) {
    Turn turn;
    int active = 0;
    bool gpus_taken = false;
    for (const QueuedRun& one : queue.runs) {
        const QueueState state = queue_state(one.run);
        if (state == QueueState::Active) {
            ++active;
            gpus_taken |= needs_gpus(one.run);
        } else if (state != QueueState::Over && !turn.next) {
            turn.next = one.run;
            turn.state = state;
        }
    }
    turn.is_done = active == 0 && !turn.next;
    const bool shares = !turn.next || active == 0 || !(gpus_taken || needs_gpus(*turn.next));
    if (active >= queue.slots || !shares) turn.next.reset();
    return turn;
}

}  // namespace

void run_queue(const Places& places) {
    const fs::path folder = queue_folder(places);
    const FileLock alone(runner_lock(folder), std::chrono::milliseconds(0));
    if (!alone.is_held()) return;
    while (true) {
        const Turn turn = turn_of(read_queue(folder));
        if (turn.is_done) return;
        if (turn.next) {
            start(*turn.next, turn.state, folder, places);
        } else {
            std::this_thread::sleep_for(kLook);
        }
    }
}

void wake_queue(const Places& places) {
    try {
        const fs::path folder = queue_folder(places);
        if (turn_of(read_queue(folder)).is_done) return;
        if (FileLock(runner_lock(folder), std::chrono::milliseconds(0)).is_held_by_another()) return;
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
