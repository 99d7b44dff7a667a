#include "gui/launch/launch_steps.h"

#include <QCoreApplication>
#include <algorithm>

#include "engine/error.h"
#include "launcher/base/example.h"
#include "launcher/base/setup.h"
#include "launcher/machine/machine_figures.h"
#include "launcher/queue/queue_add.h"

namespace ringmaster {

namespace {

struct LaunchSteps {
    Q_DECLARE_TR_FUNCTIONS(LaunchSteps)
};

QString nameOf(LaunchPhase phase, bool queues) {
    switch (phase) {
        case LaunchPhase::Connect:
            return queues ? LaunchSteps::tr("Connect to the login node")
                          : LaunchSteps::tr("Connect to the nodes");
        case LaunchPhase::Check:
            return LaunchSteps::tr("Check the plan");
        case LaunchPhase::Prepare:
            return LaunchSteps::tr("Prepare model and data");
        case LaunchPhase::Send:
            return queues ? LaunchSteps::tr("Send it to the cluster")
                          : LaunchSteps::tr("Send it to the nodes");
        case LaunchPhase::Start:
            return queues ? LaunchSteps::tr("Submit the job") : LaunchSteps::tr("Start the ranks");
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

std::shared_ptr<RunBackend> reachOrTake(const LaunchOrder& order, const Job::Reporter& report) {
    tell(report, order.phases, LaunchPhase::Connect);
    if (order.reached) return order.reached;
    std::shared_ptr<RunBackend> at = reach(order.choice.to, order.places, order.person, report.progress);
    report.progress.stop_if_cancelled();
    return at;
}

Proposal proposeAt(const LaunchOrder& order, const RunBackend& at) {
    return at.propose(requestOf(order.request, order.choice), order.places);
}

RunOptions optionsOf(const LaunchOrder& order) {
    RunOptions options;
    options.name = order.choice.name.empty() ? suggest_run_name(order.request.config) : order.choice.name;
    options.overwrite = order.overwrite;
    return options;
}

void checkOutput(const LaunchOrder& order, const std::string& output_dir) {
    try {
        check_output_dir(output_dir, order.overwrite);
    } catch (const Error&) {
        order.in_the_way->store(true);  // lets the dialog offer to overwrite the folder
        throw;
    }
}

QStringList phaseNames(const std::vector<LaunchPhase>& phases) {
    const bool queues = std::find(phases.begin(), phases.end(), LaunchPhase::Queue) != phases.end();
    QStringList names;
    for (const LaunchPhase phase : phases) names << nameOf(phase, queues);
    return names;
}

Job::Work launchWork(const LaunchOrder& order) {
    return [order](const Job::Reporter& report) {
        check_run_name(optionsOf(order).name);
        const std::shared_ptr<RunBackend> at = reachOrTake(order, report);
        tell(report, order.phases, LaunchPhase::Check);
        const Proposal proposal = proposeAt(order, *at);
        checkOutput(order, proposal.reading.config.output_dir);
        at->require_startable(proposal.plan, order.places);
        at->try_start(proposal, optionsOf(order), order.places);
        tell(report, order.phases, LaunchPhase::Prepare);
        const auto [run, plan, rows] =
            prepare_run(proposal, optionsOf(order), at->machine(), order.places, report.progress);
        tell(report, order.phases, LaunchPhase::Send);
        at->place(run, plan, order.places, report.progress);
        tell(report, order.phases, LaunchPhase::Start);
        at->start(run, plan, order.places);
        *order.sessions = at->take_sessions();
        return QString::fromStdString(run.dir.string());
    };
}

Job::Work queueWork(const LaunchOrder& order) {
    return [order](const Job::Reporter& report) {
        tell(report, order.phases, LaunchPhase::Prepare);
        QueueRequest wanted;
        wanted.request = requestOf(order.request, order.choice);
        wanted.options = optionsOf(order);
        wanted.to = order.choice.to;
        wanted.person = order.person;
        wanted.person.ask = {};
        checkOutput(order, read_request(wanted.request).config.output_dir);
        QString dir;
        add_to_queue(wanted, order.places, report.progress,
                     [&dir](const RunDirectory& run) { dir = QString::fromStdString(run.dir.string()); });
        return dir;
    };
}

Job::Work resumeWork(const LaunchOrder& order, const QString& dir, const ResumeOptions& options) {
    return [order, dir, options](const Job::Reporter& report) {
        const RunDirectory run{dir.toStdString()};
        const bool connects = order.phases.front() == LaunchPhase::Connect;
        tell(report, order.phases, connects ? LaunchPhase::Connect : LaunchPhase::Prepare);
        const auto [at, resumed] =
            prepare_restart(run, options, {}, order.agree, order.places, order.person, report.progress);
        tell(report, order.phases, LaunchPhase::Send);
        at->place(run, resumed.plan, order.places, report.progress);
        tell(report, order.phases, LaunchPhase::Start);
        at->start_resumed(run, resumed, order.places);
        *order.sessions = at->take_sessions();
        return dir;
    };
}

QString notStarted() {
    return LaunchSteps::tr("It did not start.");
}

}  // namespace

std::vector<LaunchPhase> launchPhases(const Destination& to) {
    std::vector<LaunchPhase> phases{LaunchPhase::Check, LaunchPhase::Prepare};
    if (!to.nodes.empty()) {
        phases.insert(phases.begin(), LaunchPhase::Connect);
        phases.push_back(LaunchPhase::Send);
    }
    phases.push_back(LaunchPhase::Start);
    if (backend_for(to)->has_queue()) phases.push_back(LaunchPhase::Queue);
    phases.insert(phases.end(), {LaunchPhase::Meet, LaunchPhase::FirstStep});
    return phases;
}

Request requestOf(const Request& request, const LaunchChoice& choice) {
    Request asked = request;
    asked.preflight = choice.preflight ? Preflight::Before : Preflight::None;
    const Restarter by = backend_for(choice.to)->restarter();
    asked.restarts = by == Restarter::Slurm ? 0 : choice.restarts;
    asked.shrink = by == Restarter::Follower && asked.restarts > 0 && choice.shrink;
    return asked;
}

LaunchJob launchJob(LaunchOrder order, LaunchWhen when) {
    const bool starts = when == LaunchWhen::Now;
    order.phases = starts ? launchPhases(order.choice.to) : std::vector{LaunchPhase::Prepare};
    return {starts ? LaunchSteps::tr("Launch") : LaunchSteps::tr("Add to the queue"),
            starts ? notStarted() : LaunchSteps::tr("It was not queued."), order.phases,
            phaseNames(order.phases), starts ? launchWork(order) : queueWork(order)};
}

LaunchJob resumeJob(LaunchOrder order, const QString& dir, const ResumeOptions& options) {
    Destination to;
    try {
        to = destination_of(RunDirectory{dir.toStdString()});
    } catch (const Error&) {  // the job reports the damage
        to = {};
    }
    order.phases = launchPhases(to);
    QStringList names = phaseNames(order.phases);
    names[to.nodes.empty() ? 0 : 1] = LaunchSteps::tr("Check the checkpoint");
    return {LaunchSteps::tr("Resume"), notStarted(), order.phases, names, resumeWork(order, dir, options)};
}

LaunchJob setUpJob(const Places& places) {
    return {LaunchSteps::tr("Set up"),
            notStarted(),
            {},
            {LaunchSteps::tr("Install PyTorch and the Hugging Face libraries (some GB)")},
            [places](const Job::Reporter& report) {
                set_up(places, report.progress);
                return QString();
            }};
}

LaunchJob measureJob(const Places& places, const Machine& machine) {
    return {LaunchSteps::tr("Measure this machine"),
            LaunchSteps::tr("It was not measured."),
            {},
            {LaunchSteps::tr("Measure matrix products, attention, memory and links")},
            [places, machine](const Job::Reporter& report) {
                const Calibrated what{!machine.gpus.empty(), {}};
                keep_calibration(places, machine, calibrate_here(places, machine, what, report.progress));
                return QString();
            }};
}

LaunchJob exampleJob(const Places& places) {
    return {LaunchSteps::tr("The example"),
            notStarted(),
            {},
            {LaunchSteps::tr("Make the example")},
            [places](const Job::Reporter& report) {
                return QString::fromStdString(make_example(places, report.progress).string());
            }};
}

Job::Work previewWork(const LaunchOrder& order, const std::shared_ptr<std::shared_ptr<RunBackend>>& reached) {
    return [order, reached](const Job::Reporter& report) {
        check_run_name(optionsOf(order).name);
        const std::shared_ptr<RunBackend> at =
            reach(order.choice.to, order.places, order.person, report.progress);
        const Proposal proposal = proposeAt(order, *at);
        at->require_startable(proposal.plan, order.places);
        const LaunchPreview preview = at->preview(proposal, optionsOf(order), order.places);
        *reached = at;
        return QString::fromStdString(preview_text(preview, [](const char* english) {
            return QCoreApplication::translate("LaunchPreview", english).toStdString();
        }));
    };
}

}  // namespace ringmaster
