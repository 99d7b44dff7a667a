#include "launcher/backends/backend.h"

#include "engine/error.h"
#include "engine/files/checkpoints.h"
#include "launcher/backends/needs.h"
#include "launcher/backends/parts.h"
#include "launcher/backends/preview.h"
#include "launcher/backends/run_follower.h"
#include "launcher/backends/run_results.h"
#include "launcher/backends/runs_there.h"
#include "launcher/nodes/fetch.h"
#include "launcher/run/start_record.h"
#include "launcher/slurm/slurm_run.h"
#include "launcher/slurm/watch.h"

namespace ringmaster {

void RunBackend::reach(const Places& places, const SshPerson& person, const Progress& progress) {
    if (to_.nodes.empty()) {
        machine_ = this_machine();
        return;
    }
    progress.report(to_.nodes.size() == 1 ? ProgressStep{"connect", to_.nodes}
                                          : ProgressStep{"connect-nodes"});
    nodes_ = connect_nodes(parse_targets(to_.nodes), person, program_needs(places),
                           remedy_of(to_.libtorch, places, progress));
    progress.stop_if_cancelled();
    machine_ = machine_of(nodes_);
}

RunsThere RunBackend::list(const Places& places, const SshPerson& person) {
    if (to_.nodes.empty()) {
        RunsThere here;
        for (RunSummary& run : list_runs(places.runs_dir)) here.runs.push_back({"", std::move(run)});
        return here;
    }
    Node node;
    node.target = parse_targets(to_.nodes).front();
    node.settings = ssh_settings(node.target);
    node.session = std::make_unique<SshSession>(node.settings, person);
    nodes_.clear();
    nodes_.push_back(std::move(node));
    return runs_there(*nodes_.front().session);
}

Proposal RunBackend::propose(const Request& request, const Places& places) const {
    Proposal proposal = ringmaster::propose(complete(request, machine_), machine_, places);
    require_launchable(proposal);
    return proposal;
}

LaunchPreview RunBackend::preview(const Proposal& proposal, const RunOptions& options,
                                  const Places& places) const {
    const std::string name = options.name.empty() ? suggest_run_name(proposal.request.config) : options.name;
    LaunchPreview preview;
    preview.run.dir = next_run_directory(options.runs_dir.empty() ? places.runs_dir : options.runs_dir, name);
    preview_into(preview, proposal, places);
    return preview;
}

void RunBackend::place(const RunDirectory& run, const Plan& plan, const Places& places,
                       const Progress& progress) {
    if (nodes_.empty()) return;
    record_failed_start(run, [&] {
        if (remote_.nodes.empty()) remote_ = lay_out(run, plan, places);
        place_run(nodes_, remote_, run, places, summed(progress));
        progress.stop_if_cancelled();
    });
    if (!before_.nodes.empty() && before_.nodes.size() != remote_.nodes.size())
        bring_records(nodes_, remote_, before_, run);
}

Started RunBackend::start(const RunDirectory& run, const Plan& plan, const Places& places) {
    return start_attempt(run, plan, {plan.ranks, 1, "none", restarts_of(run)}, places);
}

Sessions RunBackend::take_sessions() {
    Sessions sessions;
    for (Node& node : nodes_) sessions.push_back(std::move(node.session));
    nodes_.clear();
    return sessions;
}

void RunBackend::continue_run(const RunDirectory& run, const ResumeOptions& options,
                              const SlurmOptions& slurm) {
    if (!slurm.values.empty())
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "is about a run that was submitted to Slurm, and this one was not", "--slurm");
    if (!is_remote(run)) return;
    if (options.ranks)
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "a run on other machines goes on with the ranks that it had", "--ranks",
                    "launch it anew with other --ranks");
    remote_ = read_remote_run(run);
    for (size_t i = 0; i < remote_.nodes.size(); ++i) remote_.require_named(i, "resume", run.name());
    if (remote_.adopted && !options.set.empty())
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "is for the machine that launched the run, which has its data", "--set");
}

ResumedRun RunBackend::prepare(const RunDirectory& run, const ResumeOptions& options, const Places& places,
                               const Progress& progress) {
    catch_up(run, progress);
    if (nodes_.empty()) return prepare_resume(run, options, machine_, places, progress);
    before_ = read_remote_run(run);
    fetch_checkpoint(*nodes_[0].session, remote_, run, options.checkpoint, progress);
    ResumedRun resumed = prepare_resume(run, options, machine_, places, progress);
    abandon_later(run.checkpoints(), resumed.from_step, resumed.attempt);
    return resumed;
}

/// Ranks on other machines get the step that was chosen here; ranks on this machine choose the same step
/// themselves.
Started RunBackend::start_resumed(const RunDirectory& run, const ResumedRun& resumed, const Places& places) {
    const std::string step = resumed.from_step ? std::to_string(*resumed.from_step) : "none";
    return start_attempt(
        run, resumed.plan,
        {resumed.plan.ranks, resumed.attempt, nodes_.empty() ? resumed.wish : step, restarts_of(run)},
        places);
}

std::unique_ptr<RunFollower> RunBackend::follow(const RunDirectory& run, Sessions sessions,
                                                const SshPerson&) const {
    return std::make_unique<RunFollower>(run, std::move(sessions), nullptr);
}

bool RunBackend::has_results_elsewhere(const RunDirectory& run) const {
    return is_remote(run);
}

std::string RunBackend::model_elsewhere(const RunDirectory& run) const {
    if (!has_results_elsewhere(run)) return "";
    const RemoteRun remote = read_remote_run(run);
    const RemoteNode& first = remote.nodes.front();
    return first.is_named() ? first.target + ":" + remote.output_dir() : "";
}

std::unique_ptr<RunResults> RunBackend::results(const RunDirectory& run, const SshPerson& person) const {
    if (!has_results_elsewhere(run))
        throw Error(
            Failure::Usage, Code("ARGUMENT-CONFLICT"),
            "is on this machine: " + run.checkpoints().string() + " and its output_dir hold what it made",
            run.name());
    RemoteRun remote = read_remote_run(run);
    remote.require_named(0, "fetch", run.name());
    SshSession first = session_with(remote.nodes.front(), person);
    return std::make_unique<RunResults>(run, std::move(remote), std::move(first));
}

std::unique_ptr<RunBackend> backend_for(const Destination& to) {
    if (to.slurm) return slurm_backend(to);
    return to.nodes.empty() ? here_backend(to) : nodes_backend(to, {});
}

std::unique_ptr<RunBackend> backend_of(const RunDirectory& run) {
    if (is_slurm(run)) return slurm_backend({});
    return is_remote(run) ? nodes_backend({}, {}) : here_backend({});
}

std::unique_ptr<RunBackend> reach(const Destination& to, const Places& places, const SshPerson& person,
                                  const Progress& progress) {
    std::unique_ptr<RunBackend> backend = backend_for(to);
    backend->reach(places, person, progress);
    return backend;
}

std::unique_ptr<RunBackend> backend_on(std::vector<std::string> names, std::vector<Node> nodes) {
    return nodes_backend({std::move(names), std::nullopt}, std::move(nodes));
}

Destination destination_of(const RunDirectory& run) {
    Destination to;
    if (is_remote(run)) {
        for (const RemoteNode& node : read_remote_run(run).nodes) to.nodes.push_back(node.target);
    }
    if (is_slurm(run)) to.slurm = read_slurm_record(run).options;
    return to;
}

RunPlace place_of(const RunDirectory& run) {
    RunPlace place{destination_of(run).nodes, std::nullopt};
    if (is_slurm(run)) place.job = read_slurm_record(run).job.number;
    return place;
}

}  // namespace ringmaster
