/// Defines the phases from a press of Launch or Resume to the first step, and the work behind them.
#pragma once

#include <QString>
#include <QStringList>
#include <atomic>
#include <memory>
#include <vector>

#include "gui/session/job.h"
#include "gui/session/run_keeper.h"
#include "launcher/anywhere/restart.h"
#include "launcher/backends/preview.h"

namespace ringmaster {

enum class LaunchPhase { Connect, Check, Prepare, Send, Start, Queue, Meet, FirstStep };

/// Returns the phases that a run passes on its way to `to`.
std::vector<LaunchPhase> launchPhases(const Destination& to);

/// Holds what the form asks for, in addition to the plan's request.
struct LaunchChoice {
    Destination to;
    std::string name;  ///< name of the run; empty: suggested
    bool preflight = true;
    int restarts = 0;     ///< restarts after failures; none in Slurm
    bool shrink = false;  ///< restarts on fewer nodes without asking

    bool operator==(const LaunchChoice&) const = default;
};

/// Holds all that the work needs, so that the work can outlive the window.
struct LaunchOrder {
    Places places;
    Request request;
    LaunchChoice choice;
    bool overwrite = false;
    SshPerson person;
    AgreeToShrink agree;                  ///< asks before a resume on the remaining nodes
    std::shared_ptr<RunBackend> reached;  ///< machines that the preview reached; null: not yet
    std::vector<LaunchPhase> phases;
    // Results of the work.
    std::shared_ptr<std::atomic<bool>> in_the_way = std::make_shared<std::atomic<bool>>(false);
    std::shared_ptr<Sessions> sessions = std::make_shared<Sessions>();
};

/// Returns the request with the form's choices applied.
Request requestOf(const Request& request, const LaunchChoice& choice);

enum class LaunchWhen { Now, InTurn };

/// Describes a task of the launch dialog: what the dialog shows, and the work behind it.
struct LaunchJob {
    QString title, refused;           ///< `refused` begins the message of a failure
    std::vector<LaunchPhase> phases;  ///< phases of a run; empty for other tasks
    QStringList names;                ///< names of the phases
    Job::Work work;
};

/// launchJob() and resumeJob() return a job whose result is the run's directory. The job sets `in_the_way` if
/// output_dir holds other files. A job that queues (InTurn) prepares the run, sends it to its machines and
/// queues it there, as `ringmaster queue add` does. That job asks for no password, because nobody may be
/// present when the run starts.
LaunchJob launchJob(LaunchOrder order, LaunchWhen when);
LaunchJob resumeJob(LaunchOrder order, const QString& dir, const ResumeOptions& options);

LaunchJob setUpJob(const Places& places);
/// Returns a job that measures this machine's GPUs, or its processor if it has none, and keeps the figures
/// for Plan.
LaunchJob measureJob(const Places& places, const Machine& machine);
LaunchJob exampleJob(const Places& places);  ///< the job's result is the path of the example's configuration

/// Returns a job whose result is the text that `launch --dry-run` prints. The job stores the machines that it
/// reached in `reached`.
Job::Work previewWork(const LaunchOrder& order, const std::shared_ptr<std::shared_ptr<RunBackend>>& reached);

}  // namespace ringmaster
