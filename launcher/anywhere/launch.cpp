#include "launcher/anywhere/launch.h"

#include <ctime>
#include <map>

#include "engine/error.h"
#include "engine/files/checkpoints.h"
#include "launcher/engine_files.h"
#include "launcher/machine.h"
#include "launcher/nodes/fetch.h"
#include "launcher/nodes/stage.h"

namespace ringmaster {

namespace {

/// Records in run.json that the run did not start; no other process would.
void say_not_started(const RunDirectory& run, RunPhase phase, const std::string& reason,
                     const std::string& code = {}) {
    RunState state = read_run_state(run.dir);
    state.state = phase;
    state.reason = reason;
    state.code = code;
    state.ended = state.updated = static_cast<double>(std::time(nullptr));
    state.writer = this_process();
    write_run_state(run.dir, state);
}

void saying_why(const RunDirectory& run, const std::function<void()>& work) {
    try {
        work();
    } catch (const Cancelled&) {
        say_not_started(run, RunPhase::Stopped, "interrupted before it started");
        throw;
    } catch (const Error& problem) {
        say_not_started(run, RunPhase::Failed, problem.text(), problem.code);
        throw;
    }
}

/// Marks the run as running, so that its old state is not mistaken for the end of this attempt.
void mark_running(const RunDirectory& run, int attempt, int ranks) {
    RunState state = read_run_state(run.dir);
    state.state = RunPhase::Running;
    state.reason.clear();
    state.attempt = attempt;
    state.ranks = ranks;
    state.started = state.updated = static_cast<double>(std::time(nullptr));
    state.ended = 0;
    state.writer = {};
    state.nodes.clear();
    write_run_state(run.dir, state);
}

void place(Reached& at, const RemoteRun& remote, const RunDirectory& run, const Places& places,
           const Progress& progress) {
    if (at.nodes.empty()) return;
    saying_why(run, [&] {
        place_run(at.nodes, remote, run, places, summed(progress));
        progress.stop_if_cancelled();
    });
}

void start_on_nodes(Reached& at, const RemoteRun& remote, const RunDirectory& run, int attempt, int ranks,
                    const std::string& resume, int restarts) {
    saying_why(run, [&] { start_remote(at.nodes, remote, attempt, resume, restarts); });
    mark_running(run, attempt, ranks);
}

/// Updates the run here: its mirror may have ended before the run, or another machine may have restarted it.
void catch_up(SshSession& first, const RemoteRun& remote, const RunDirectory& run) {
    std::optional<RunState> there = remote_state(first, remote);
    if (!there) return;
    there = state_here(*there, remote, run);
    if (!is_over(there->state)) {
        mark_running(run, there->attempt, there->ranks);
        throw Error(
            Failure::Refused, Code("RUN-ACTIVE"),
            "is " + std::string(to_string(there->state)) + ": only a run that has ended can be resumed",
            run.name(), "`ringmaster watch " + run.name() + "` shows it");
    }
    const RunState here = read_run_state(run.dir);
    if (is_over(here.state) && here.attempt >= there->attempt) return;
    if (there->state == RunPhase::Completed) {
        mark_running(run, there->attempt, there->ranks);
        throw Error(Failure::Refused, Code("RUN-ACTIVE"), "has completed meanwhile", run.name(),
                    "`ringmaster watch " + run.name() + "` brings its end and its model here");
    }
    write_run_state(run.dir, *there);
}

}  // namespace

Progress summed(const Progress& progress) {
    struct Sum {
        std::mutex turn;
        std::map<std::string, ProgressStep> nodes;
    };
    Progress one = progress;
    if (!progress.step) return one;
    one.step = [sum = std::make_shared<Sum>(), step = progress.step](const ProgressStep& now) {
        const std::lock_guard lock(sum->turn);
        if (!now.name.starts_with(kSendingTo)) return step(now);
        sum->nodes[now.name] = now;
        if (sum->nodes.size() == 1) return step(now);
        ProgressStep all{kSendingTo + std::to_string(sum->nodes.size()) + " nodes", 0, 0, now.is_bytes};
        for (const auto& [name, node] : sum->nodes) {
            all.done += node.done;
            all.total += node.total;
        }
        step(all);
    };
    return one;
}

Remedy remedy_of(const std::optional<LibTorchWay>& way, const Places& places, const Progress& progress) {
    return way ? libtorch_remedy(*way, program_needs(places), places, summed(progress)) : Remedy();
}

ProgramNeeds program_needs(const Places& places) {
    ProgramNeeds needs = needs_of(engine_file(places).string(), RINGMASTER_TORCH_VERSION);
    needs.torch_here = libtorch_dir(places).string();
    return needs;
}

Destination destination_of(const RunDirectory& run) {
    Destination to;
    if (is_remote(run)) {
        for (const RemoteNode& node : read_remote_run(run).nodes) to.nodes.push_back(node.target);
    }
    if (is_slurm(run)) to.slurm = read_slurm_record(run).options;
    return to;
}

Reached reach(const Destination& to, const Places& places, const SshPerson& person,
              const Progress& progress) {
    if (to.slurm && to.nodes.size() > 1)
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "with --slurm names one machine, a login node of the cluster", "--node",
                    "--slurm nodes=N says how many nodes the job gets");
    Reached at{to, {}, {}};
    if (to.nodes.empty()) {
        at.machine = this_machine();
        return at;
    }
    const size_t count = to.nodes.size();
    progress.report({"connecting to " + std::to_string(count) + (count == 1 ? " node" : " nodes"), 0, 0});
    at.nodes = connect_nodes(parse_targets(to.nodes), person, program_needs(places),
                             remedy_of(to.libtorch, places, progress));
    progress.stop_if_cancelled();
    at.machine = machine_of(at.nodes);
    return at;
}

Request request_at(Request request, const Destination& to, const Machine& machine) {
    if (to.is_here()) return request;
    if (!to.slurm) {
        request.nodes = static_cast<int>(to.nodes.size());
        if (!request.ranks && machine.gpus.empty() && to.nodes.size() > 2) request.ranks = request.nodes;
        return request;
    }
    const SlurmOptions& slurm = *to.slurm;
    const int nodes = slurm.nodes().value_or(request.nodes.value_or(1));
    if (request.nodes && slurm.nodes() && *request.nodes != nodes)
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "and --slurm nodes=" + std::to_string(nodes) + " disagree", "--nodes");
    request.nodes = nodes;
    if (!request.device) request.device = slurm.asks_for_gpus() ? Device::Cuda : Device::Cpu;
    if (request.ranks) return request;
    if (const auto tasks = slurm.tasks_per_node())
        request.ranks = *tasks * nodes;
    else if (const auto gpus = slurm.gpus_per_node(); gpus && request.device == Device::Cuda)
        request.ranks = *gpus * nodes;
    else if (nodes > 2)
        request.ranks = nodes;
    return request;
}

SlurmSubmission submission_of(const RunDirectory& run, const RemoteRun* remote, const Plan& plan,
                              const SlurmOptions& options, const Places& places) {
    SlurmSubmission job;
    job.run_name = run.name();
    job.run_dir = remote != nullptr ? remote->nodes[0].run_dir : run.dir.string();
    job.engine = remote != nullptr ? remote->engine() : places.engine().string();
    job.ranks = plan.ranks;
    job.nodes = plan.nodes;
    job.device = plan.device;
    job.options = options;
    return job;
}

std::unique_ptr<SlurmSite> site_at(Reached& at, const std::string& run_dir) {
    if (at.nodes.empty()) return local_site(run_dir);
    const std::shared_ptr<SshSession> session(at.nodes[0].session.get(), [](SshSession*) {});
    return ssh_site(session, run_dir);
}

RemoteRun place_at(Reached& at, const PreparedRun& prepared, const Places& places, const Progress& progress) {
    if (at.nodes.empty()) return {};
    RemoteRun remote;
    saying_why(prepared.run, [&] {
        remote = at.to.slurm ? lay_out_at_login(at.nodes[0], prepared.run, prepared.plan.ranks, places)
                             : lay_out(at.nodes, prepared.run, prepared.plan, places);
    });
    place(at, remote, prepared.run, places, progress);
    return remote;
}

Started start_at(Reached& at, const RemoteRun& placed, const PreparedRun& prepared, const Places& places) {
    const RunDirectory& run = prepared.run;
    const Plan& plan = prepared.plan;
    if (at.to.is_here()) {
        start_run(run, plan, at.machine, places);
        return {};
    }
    if (!at.to.slurm) {
        start_on_nodes(at, placed, run, 1, plan.ranks, "none", restarts_of(run));
        return {};
    }
    const SlurmSubmission job =
        submission_of(run, at.nodes.empty() ? nullptr : &placed, plan, *at.to.slurm, places);
    return {submit_run(*site_at(at, job.run_dir), run, job)};
}

Comeback prepare_comeback(const RunDirectory& run, const ResumeOptions& options, const SlurmOptions& slurm,
                          const Places& places, const SshPerson& person, const Progress& progress) {
    const bool elsewhere = is_remote(run);
    if (elsewhere && options.ranks)
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "a run on other machines goes on with the ranks that it had", "--ranks",
                    "launch it anew with other --ranks");
    RemoteRun remote;
    if (elsewhere) remote = read_remote_run(run);
    for (size_t i = 0; i < remote.nodes.size(); ++i) remote.require_named(i, "resume", run.name());
    if (remote.adopted && !options.set.empty())
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "is for the machine that launched the run, which has its data", "--set");
    Destination to = destination_of(run);
    if (to.slurm) to.slurm = merged(*to.slurm, slurm);
    return come_back(reach(to, places, person, progress), std::move(remote), run, options, places, progress);
}

Comeback come_back(Reached at, RemoteRun remote, const RunDirectory& run, const ResumeOptions& options,
                   const Places& places, const Progress& progress) {
    Comeback comeback{std::move(at), {}, std::move(remote), {}, 0};
    const bool elsewhere = !comeback.remote.nodes.empty();
    const std::string run_dir = elsewhere ? comeback.remote.nodes[0].run_dir : run.dir.string();
    if (comeback.at.to.slurm) wait_for_job(*site_at(comeback.at, run_dir), run, progress);
    if (elsewhere) {
        comeback.before = read_remote_run(run);
        SshSession& first = *comeback.at.nodes[0].session;
        if (!comeback.at.to.slurm) catch_up(first, comeback.remote, run);
        fetch_checkpoint(first, comeback.remote, run, options.checkpoint, progress);
    }
    comeback.resumed = prepare_resume(run, options, comeback.at.machine, places, progress);
    if (elsewhere) abandon_later(run.checkpoints(), comeback.resumed.from_step, comeback.resumed.attempt);
    comeback.restarts = restarts_of(run);
    return comeback;
}

void place_comeback(Comeback& comeback, const RunDirectory& run, const Places& places,
                    const Progress& progress) {
    place(comeback.at, comeback.remote, run, places, progress);
    if (comeback.before.nodes.size() != comeback.remote.nodes.size())
        bring_records(comeback.at.nodes, comeback.remote, comeback.before, run);
}

Started start_comeback(Comeback& comeback, const RunDirectory& run, const Places& places) {
    Reached& at = comeback.at;
    const ResumedRun& resumed = comeback.resumed;
    const std::string from = resumed.from_step ? std::to_string(*resumed.from_step) : "none";
    if (at.to.is_here()) {
        start_resumed(run, resumed, at.machine, places);
        return {};
    }
    if (!at.to.slurm) {
        start_on_nodes(at, comeback.remote, run, resumed.attempt, resumed.plan.ranks, from,
                       comeback.restarts);
        return {};
    }
    SlurmSubmission job =
        submission_of(run, at.nodes.empty() ? nullptr : &comeback.remote, resumed.plan, *at.to.slurm, places);
    job.attempt = resumed.attempt;
    job.resume = at.nodes.empty() ? resumed.wish : from;
    return {submit_run(*site_at(at, job.run_dir), run, job)};
}

std::vector<std::unique_ptr<SshSession>> take_sessions(Reached& at) {
    std::vector<std::unique_ptr<SshSession>> sessions;
    for (Node& node : at.nodes) sessions.push_back(std::move(node.session));
    at.nodes.clear();
    return sessions;
}

}  // namespace ringmaster
