#include "launcher/cli/slurm.h"

#include <mutex>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/person.h"
#include "launcher/cli/plan_text.h"
#include "launcher/cli/remote.h"
#include "launcher/files.h"
#include "launcher/format.h"
#include "launcher/nodes/remote_run.h"
#include "launcher/resume.h"

namespace ringmaster {

namespace {

SlurmOptions slurm_options_of(const Arguments& arguments) {
    return parse_slurm_options(arguments.all("--slurm"));
}

/// This machine, or the login node that --node names.
struct Cluster {
    std::vector<Node> login;  ///< at most one

    bool is_remote() const { return !login.empty(); }
    Machine machine() const { return is_remote() ? machine_of(login) : this_machine(); }
};

Cluster reach(const std::vector<std::string>& names, bool trust, const Session& session,
              const Interrupts& interrupts) {
    if (names.size() > 1)
        throw Error(Failure::Usage, "with --slurm names one machine, a login node of the cluster", "--node",
                    "--slurm nodes=N says how many nodes the job gets");
    if (names.empty()) return {};
    return {connect_to(names, trust, session, interrupts)};
}

std::unique_ptr<SlurmSite> site_at(Cluster& cluster, const std::string& run_dir) {
    if (!cluster.is_remote()) return local_site(run_dir);
    const std::shared_ptr<SshSession> session(cluster.login[0].session.get(), [](SshSession*) {});
    return ssh_site(session, run_dir);
}

/// Of a run in progress, with a session of its own.
std::unique_ptr<SlurmSite> site_of(const RunDirectory& run) {
    if (!is_remote(run)) return local_site(run.dir);
    const RemoteNode login = read_remote_run(run).nodes.front();
    return ssh_site(
        std::make_shared<SshSession>(ssh_settings(parse_target(login.target)), person_at_terminal(false)),
        login.run_dir);
}

SlurmSubmission submission_of(const RunDirectory& run, const RemoteRun* remote, const Plan& plan,
                              const SlurmOptions& options, const Session& session) {
    SlurmSubmission job;
    job.run_name = run.name();
    job.run_dir = remote != nullptr ? remote->nodes[0].run_dir : run.dir.string();
    job.engine = remote != nullptr ? remote->engine() : session.places.engine().string();
    job.ranks = plan.ranks;
    job.nodes = plan.nodes;
    job.device = plan.device;
    job.options = options;
    return job;
}

void print_script(const SlurmSubmission& job, const std::string& script, const RunDirectory& run,
                  const Session& session) {
    if (session.json) {
        print_json({{"dir", run.dir.string()},
                    {"nodes", nlohmann::json::array()},
                    {"script", script},
                    {"submit", {"sbatch", "--parsable", job.run_dir + "/" + kSubmitScript}}});
        return;
    }
    print("run directory: " + printable(run.dir.string()) + " (made by launch or prepare)\n\n" +
          shell_line({{}, {"sbatch", "--parsable", job.run_dir + "/" + kSubmitScript}}) + "\n\n" + script);
}

RemoteRun at_login(Cluster& cluster, const RunDirectory& run, const Plan& plan, const Session& session) {
    return cluster.is_remote() ? lay_out_at_login(cluster.login[0], run, plan.ranks, session.places)
                               : RemoteRun();
}

/// Brings the run there where it has to go, and submits it.
JobId place_and_submit(Cluster& cluster, const RemoteRun& remote, const RunDirectory& run,
                       const SlurmSubmission& job, const Session& session, const Interrupts& interrupts) {
    if (cluster.is_remote()) {
        ProgressPrinter printer(session, interrupts);
        std::mutex turn;
        Progress progress = printer.progress();
        progress.step = [&turn, step = progress.step](const ProgressStep& now) {
            const std::lock_guard lock(turn);
            step(now);
        };
        place_run_or_say(cluster.login, remote, run, session, progress);
    }
    return submit_run(*site_at(cluster, job.run_dir), run, job);
}

int follow(const Arguments& arguments, RunFollower& follower, Cluster& cluster, const Session& session,
           const Interrupts& interrupts) {
    if (arguments.has("--detach")) return 0;
    std::unique_ptr<RunMirror> mirror;
    const auto watch = slurm_watch_of(follower.run());
    if (cluster.is_remote()) {
        std::vector<std::unique_ptr<SshSession>> sessions;
        sessions.push_back(std::move(cluster.login[0].session));
        mirror = std::make_unique<RunMirror>(follower.run(), std::move(sessions));
    }
    return follow_to_end(follower, CtrlC::StopsRun, session, interrupts, companion_of(watch.get()));
}

/// A run whose run.json is damaged is over.
bool is_open(const RunDirectory& run) {
    try {
        return !is_over(read_run_state(run.dir).state);
    } catch (const Error&) {
        return false;
    }
}

void tell_submitted(const RunDirectory& run, const JobId& job, const Session& session) {
    if (session.json) return;
    print("submitted as Slurm job " + job.number + (job.cluster.empty() ? "" : " of " + job.cluster) +
          "; the script is " + printable((run.dir / kSubmitScript).string()) + "\n");
}

}  // namespace

void add_slurm_wishes(Request& request, const Arguments& arguments) {
    const SlurmOptions slurm = slurm_options_of(arguments);
    const int nodes = slurm.nodes().value_or(request.nodes.value_or(1));
    if (request.nodes && slurm.nodes() && *request.nodes != nodes)
        throw Error(Failure::Usage, "and --slurm nodes=" + std::to_string(nodes) + " disagree", "--nodes");
    request.nodes = nodes;
    if (!request.device) request.device = slurm.asks_for_gpus() ? Device::Cuda : Device::Cpu;
    if (request.ranks) return;
    if (const auto tasks = slurm.tasks_per_node())
        request.ranks = *tasks * nodes;
    else if (const auto gpus = slurm.gpus_per_node(); gpus && request.device == Device::Cuda)
        request.ranks = *gpus * nodes;
    else if (nodes > 2)
        request.ranks = nodes;
}

int launch_on_slurm(const Arguments& arguments, const Session& session, const RunOptions& options) {
    const SlurmOptions slurm = slurm_options_of(arguments);
    const Interrupts interrupts;
    Cluster cluster =
        reach(arguments.all("--node"), arguments.has("--trust-on-first-use"), session, interrupts);
    const Machine machine = cluster.machine();
    Request request = request_of(arguments);
    add_slurm_wishes(request, arguments);
    const Proposal proposal = propose(request, machine, session.places);
    require_launchable(proposal);
    check_output_dir(proposal.reading.config.output_dir, options.overwrite);
    const RunDirectory next{next_run_directory(options.runs_dir, options.name)};
    const RemoteRun remote_next = at_login(cluster, next, proposal.plan, session);
    const SlurmSubmission trial =
        submission_of(next, cluster.is_remote() ? &remote_next : nullptr, proposal.plan, slurm, session);
    const std::string script = submit_script(trial);
    if (arguments.has("--dry-run")) {
        print_script(trial, script, next, session);
        return 0;
    }
    try_submission(*site_at(cluster, trial.run_dir), script);
    if (!session.json) print(plan_summary(proposal.plan, session.out) + "\n" + script + "\n");
    ProgressPrinter printer(session, interrupts);
    const PreparedRun prepared = prepare_run(proposal, options, machine, session.places, printer.progress());
    printer.clear();
    const RemoteRun remote = at_login(cluster, prepared.run, prepared.plan, session);
    const SlurmSubmission job =
        submission_of(prepared.run, cluster.is_remote() ? &remote : nullptr, prepared.plan, slurm, session);
    const JobId id = place_and_submit(cluster, remote, prepared.run, job, session, interrupts);
    if (session.json) {
        print_run_line(prepared.run);
    } else {
        print("run directory: " + prepared.run.dir.string() + "\n");
    }
    tell_submitted(prepared.run, id, session);
    RunFollower follower = terminal_follower(prepared.run);
    return follow(arguments, follower, cluster, session, interrupts);
}

void write_submit_script(const Arguments& arguments, const PreparedRun& prepared, const Session& session) {
    const SlurmSubmission job =
        submission_of(prepared.run, nullptr, prepared.plan, slurm_options_of(arguments), session);
    write_file(prepared.run.dir / kSubmitScript, submit_script(job));
}

int resume_on_slurm(const Arguments& arguments, const Session& session, const RunDirectory& run) {
    const Interrupts interrupts;
    const bool remote_run = is_remote(run);
    if (remote_run && arguments.has("--ranks"))
        throw Error(Failure::Usage, "a run on another machine goes on with the ranks that it had", "--ranks",
                    "launch it anew with other --ranks");
    {
        ProgressPrinter printer(session, interrupts);
        wait_for_job(*site_of(run), run, printer.progress());
    }
    const RemoteRun remote = remote_run ? read_remote_run(run) : RemoteRun();
    Cluster cluster = reach(remote_run ? std::vector{remote.nodes[0].target} : std::vector<std::string>(),
                            false, session, interrupts);
    ResumeOptions options;
    options.checkpoint = arguments.whole("--checkpoint", 0);
    if (const auto ranks = arguments.whole("--ranks", 1)) options.ranks = static_cast<int>(*ranks);
    for (const std::string& setting : arguments.all("--set")) options.set.push_back(parse_set(setting));
    ProgressPrinter printer(session, interrupts);
    if (remote_run)
        fetch_checkpoint(*cluster.login[0].session, remote, run, options.checkpoint, printer.progress());
    const ResumedRun resumed =
        prepare_resume(run, options, cluster.machine(), session.places, printer.progress());
    printer.clear();
    SlurmSubmission job =
        submission_of(run, remote_run ? &remote : nullptr, resumed.plan,
                      merged(read_slurm_record(run).options, slurm_options_of(arguments)), session);
    job.attempt = resumed.attempt;
    job.resume = resumed.from_step ? std::to_string(*resumed.from_step) : "none";
    RunFollower follower = terminal_follower(run);
    while (!follower.poll().empty()) {  // what the earlier attempts said is not told again
    }
    const JobId id = place_and_submit(cluster, remote, run, job, session, interrupts);
    tell_resumed(run, resumed, session);
    tell_submitted(run, id, session);
    return follow(arguments, follower, cluster, session, interrupts);
}

std::unique_ptr<SlurmWatch> slurm_watch_of(const RunDirectory& run) {
    if (!is_slurm(run) || is_over(read_run_state(run.dir).state)) return nullptr;
    return std::make_unique<SlurmWatch>(run, site_of(run));
}

Companion companion_of(SlurmWatch* watch) {
    if (watch == nullptr) return {};
    return {[watch] { return watch->note(); },
            [watch](const std::function<bool()>& given_up) { return watch->is_really_over(given_up); }};
}

bool stop_on_slurm(const RunDirectory& run, StopHow how) {
    return stop_slurm_run(*site_of(run), run, how);
}

void settle_slurm_run(const RunDirectory& run) {
    if (is_slurm(run) && is_open(run)) look_and_settle(*site_of(run), run);
}

bool settle_slurm_runs(const std::vector<RunSummary>& runs) {
    std::vector<RunDirectory> open;
    for (const RunSummary& run : runs) {
        if (!is_over(run.state.state) && is_slurm({run.dir})) open.push_back({run.dir});
    }
    try {
        settle_runs(open);
    } catch (const Error& problem) {
        complain("ringmaster: " + printable(problem.text()) + "\n");
    }
    return !open.empty();
}

}  // namespace ringmaster
