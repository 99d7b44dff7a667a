/// The way from a press of Launch or Resume to the first step, as phases and as the work behind them.
#pragma once

#include <QString>
#include <QStringList>
#include <atomic>
#include <memory>
#include <vector>

#include "gui/session/job.h"
#include "gui/session/run_keeper.h"
#include "launcher/anywhere/preview.h"

namespace ringmaster {

enum class LaunchPhase { Connect, Check, Prepare, Send, Start, Queue, Meet, FirstStep };

/// Those that a run passes on its way to `to`.
std::vector<LaunchPhase> launchPhases(const Destination& to);
QStringList phaseNames(const std::vector<LaunchPhase>& phases, const Destination& to);

/// What the form asks for, beside the plan's request.
struct LaunchChoice {
    Destination to;
    std::string name;  ///< of the run; empty: suggested
    bool preflight = true;
    int restarts = 0;     ///< after a failure; none in Slurm
    bool shrink = false;  ///< on fewer nodes without asking

    bool operator==(const LaunchChoice&) const = default;
};

/// All that the work needs, so that it outlives the window.
struct LaunchOrder {
    Places places;
    Request request;
    LaunchChoice choice;
    bool overwrite = false;
    SshPerson person;
    AgreeToShrink agree;               ///< to a resume on what is left of the nodes
    std::shared_ptr<Reached> reached;  ///< by the preview; empty: not yet
    std::vector<LaunchPhase> phases;
    // What it leaves behind.
    std::shared_ptr<std::atomic<bool>> in_the_way = std::make_shared<std::atomic<bool>>(false);
    std::shared_ptr<RunKeeper::Sessions> sessions = std::make_shared<RunKeeper::Sessions>();
};

/// The request as the form has it.
Request requestOf(const Request& request, const LaunchChoice& choice);

/// Both give the run's directory. `in_the_way`: output_dir holds something that is not ours.
Job::Work launchWork(const LaunchOrder& order);
Job::Work resumeWork(const LaunchOrder& order, const QString& dir, const ResumeOptions& options);

/// Gives the text that `launch --dry-run` prints; `reached` holds the machines then.
Job::Work previewWork(const LaunchOrder& order, const std::shared_ptr<std::shared_ptr<Reached>>& reached);

}  // namespace ringmaster
