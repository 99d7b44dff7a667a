#include "gui/launch/launch_steps.h"

#include <QCoreApplication>
#include <algorithm>

#include "engine/error.h"

namespace ringmaster {

namespace {

struct LaunchSteps {
    Q_DECLARE_TR_FUNCTIONS(LaunchSteps)
};

QString nameOf(LaunchPhase phase, const Destination& to) {
    switch (phase) {
        case LaunchPhase::Connect:
            return to.slurm ? LaunchSteps::tr("Connect to the login node")
                            : LaunchSteps::tr("Connect to the nodes");
        case LaunchPhase::Check:
            return LaunchSteps::tr("Check the plan");
        case LaunchPhase::Prepare:
            return LaunchSteps::tr("Prepare model and data");
        case LaunchPhase::Send:
            return to.slurm ? LaunchSteps::tr("Send it to the cluster")
                            : LaunchSteps::tr("Send it to the nodes");
        case LaunchPhase::Start:
            return to.slurm ? LaunchSteps::tr("Submit the job") : LaunchSteps::tr("Start the ranks");
        case LaunchPhase::Queue:
            return LaunchSteps::tr("Wait in the queue");
        case LaunchPhase::Meet:
            return LaunchSteps::tr("Ranks meet");
        case LaunchPhase::FirstStep:
            break;
    }
    return LaunchSteps::tr("First step");
}

/// Reports a phase as its index among this run's phases.
void tell(const Job::Reporter& report, const std::vector<LaunchPhase>& phases, LaunchPhase phase) {
    const auto at = std::find(phases.begin(), phases.end(), phase);
    if (at != phases.end()) report.phase(int(at - phases.begin()));
    report.progress.stop_if_cancelled();
}

Reached reachOrTake(const LaunchOrder& order, const Job::Reporter& report) {
    tell(report, order.phases, LaunchPhase::Connect);
    if (order.reached) return std::move(*order.reached);
    Reached at = reach(order.choice.to, order.places, order.person, report.progress);
    report.progress.stop_if_cancelled();
    return at;
}

Proposal proposeAt(const LaunchOrder& order, const Reached& at) {
    const Request request = request_at(requestOf(order.request, order.choice), at.to, at.machine);
    const Proposal proposal = propose(request, at.machine, order.places);
    require_launchable(proposal);
    return proposal;
}

RunOptions optionsOf(const LaunchOrder& order) {
    RunOptions options;
    options.name = order.choice.name.empty() ? suggest_run_name(order.request.config) : order.choice.name;
    options.overwrite = order.overwrite;
    return options;
}

void checkOutput(const LaunchOrder& order, const Proposal& proposal) {
    try {
        check_output_dir(proposal.reading.config.output_dir, order.overwrite);
    } catch (const Error&) {
        order.in_the_way->store(true);  // the person can answer this refusal with Overwrite
        throw;
    }
}

}  // namespace

std::vector<LaunchPhase> launchPhases(const Destination& to) {
    std::vector<LaunchPhase> phases{LaunchPhase::Check, LaunchPhase::Prepare};
    if (!to.nodes.empty()) {
        phases.insert(phases.begin(), LaunchPhase::Connect);
        phases.push_back(LaunchPhase::Send);
    }
    phases.push_back(LaunchPhase::Start);
    if (to.slurm) phases.push_back(LaunchPhase::Queue);
    phases.insert(phases.end(), {LaunchPhase::Meet, LaunchPhase::FirstStep});
    return phases;
}

QStringList phaseNames(const std::vector<LaunchPhase>& phases, const Destination& to) {
    QStringList names;
    for (const LaunchPhase phase : phases) names << nameOf(phase, to);
    return names;
}

Request requestOf(const Request& request, const LaunchChoice& choice) {
    Request asked = request;
    asked.preflight = choice.preflight ? Preflight::Before : Preflight::None;
    const Restarter by = restarter_of(choice.to);
    asked.restarts = by == Restarter::Slurm ? 0 : choice.restarts;
    asked.shrink = by == Restarter::Follower && asked.restarts > 0 && choice.shrink;
    return asked;
}

Job::Work launchWork(const LaunchOrder& order) {
    return [order](const Job::Reporter& report) {
        check_run_name(optionsOf(order).name);
        Reached at = reachOrTake(order, report);
        tell(report, order.phases, LaunchPhase::Check);
        const Proposal proposal = proposeAt(order, at);
        checkOutput(order, proposal);
        if (at.to.is_here()) require_startable(proposal.plan, at.machine, order.places);
        if (at.to.slurm) try_launch(at, preview_launch(at, proposal, optionsOf(order), order.places));
        tell(report, order.phases, LaunchPhase::Prepare);
        const PreparedRun prepared =
            prepare_run(proposal, optionsOf(order), at.machine, order.places, report.progress);
        tell(report, order.phases, LaunchPhase::Send);
        const RemoteRun placed = place_at(at, prepared, order.places, report.progress);
        tell(report, order.phases, LaunchPhase::Start);
        start_at(at, placed, prepared, order.places);
        *order.sessions = take_sessions(at);
        return QString::fromStdString(prepared.run.dir.string());
    };
}

Job::Work resumeWork(const LaunchOrder& order, const QString& dir, const ResumeOptions& options) {
    return [order, dir, options](const Job::Reporter& report) {
        const RunDirectory run{dir.toStdString()};
        const bool connects = order.phases.front() == LaunchPhase::Connect;
        tell(report, order.phases, connects ? LaunchPhase::Connect : LaunchPhase::Prepare);
        Comeback comeback = prepare_comeback_or_shrink(run, options, {}, order.agree, order.places,
                                                       order.person, report.progress);
        tell(report, order.phases, LaunchPhase::Send);
        place_comeback(comeback, run, order.places, report.progress);
        tell(report, order.phases, LaunchPhase::Start);
        start_comeback(comeback, run, order.places);
        *order.sessions = take_sessions(comeback.at);
        return dir;
    };
}

Job::Work previewWork(const LaunchOrder& order, const std::shared_ptr<std::shared_ptr<Reached>>& reached) {
    return [order, reached](const Job::Reporter& report) {
        check_run_name(optionsOf(order).name);
        auto at =
            std::make_shared<Reached>(reach(order.choice.to, order.places, order.person, report.progress));
        const Proposal proposal = proposeAt(order, *at);
        if (at->to.is_here()) require_startable(proposal.plan, at->machine, order.places);
        const LaunchPreview preview = preview_launch(*at, proposal, optionsOf(order), order.places);
        *reached = at;
        return QString::fromStdString(preview_text(preview));
    };
}

}  // namespace ringmaster
