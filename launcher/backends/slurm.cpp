// Starts and stops runs that are jobs of Slurm, submitted here or on a login node.
#include "engine/error.h"
#include "launcher/backends/parts.h"
#include "launcher/backends/preview.h"
#include "launcher/backends/run_follower.h"
#include "launcher/base/files.h"
#include "launcher/slurm/queue.h"
#include "launcher/slurm/slurm_run.h"
#include "launcher/slurm/watch.h"

namespace ringmaster {

namespace {

/// Returns true if the ranks recorded a stop or a failure and Slurm has not yet been asked about it: the job
/// may have been preempted, or may continue.
bool awaits_slurm(const RunDirectory& run) {
    try {
        const RunPhase phase = read_run_state(run.dir).state;
        return (phase == RunPhase::Stopped || phase == RunPhase::Failed) && !is_stop_asked(run) &&
               !read_slurm_record(run).settled && !read_slurm_record(run).job.number.empty();
    } catch (const Error&) {
        return false;
    }
}

/// Opens the site of the run's job, with a new session if it is on a login node.
std::unique_ptr<SlurmSite> site_of(const RunDirectory& run, const SshPerson& person) {
    if (!is_remote(run)) return local_site(run.dir);
    const RemoteNode login = read_remote_run(run).nodes.front();
    return ssh_site(std::make_shared<SshSession>(session_with(login, person)), login.run_dir);
}

class SlurmBackend : public RunBackend {
  public:
    using RunBackend::RunBackend;

    Restarter restarter() const override { return Restarter::Slurm; }
    bool has_queue() const override { return true; }

    void reach(const Places& places, const SshPerson& person, const Progress& progress) override {
        if (to_.nodes.size() > 1)
            throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                        "with --slurm names one machine, a login node of the cluster", "--node",
                        "--slurm nodes=N says how many nodes the job gets");
        RunBackend::reach(places, person, progress);
    }

    Request complete(Request request, const Machine&) const override {
        const int nodes = to_.slurm->nodes().value_or(request.nodes.value_or(1));
        if (request.nodes && to_.slurm->nodes() && *request.nodes != nodes)
            throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                        "and --slurm nodes=" + std::to_string(nodes) + " disagree", "--nodes");
        request.nodes = nodes;
        if (!request.device) request.device = to_.slurm->asks_for_gpus() ? Device::Cuda : Device::Cpu;
        if (request.ranks) return request;
        if (const auto tasks = to_.slurm->tasks_per_node())
            request.ranks = *tasks * nodes;
        else if (const auto gpus = to_.slurm->gpus_per_node(); gpus && request.device == Device::Cuda)
            request.ranks = *gpus * nodes;
        else if (nodes > 2)
            request.ranks = nodes;
        return request;
    }

    std::string try_start(const Proposal& proposal, const RunOptions& options,
                          const Places& places) override {
        const LaunchPreview shown = preview(proposal, options, places);
        try_submission(*site_at(nodes_, shown.run_dir_there), shown.script);
        return shown.script;
    }

    void write_script(const RunDirectory& run, const Plan& plan, const Places& places) const override {
        write_file(run.dir / kSubmitScript, submit_script(submission({}, run, plan, places)));
    }

    void record_destination(const RunDirectory& run) const override {
        write_slurm_record(run, {*to_.slurm, {}, false});
    }

    bool has_begun(const RunDirectory& run) override {
        if (is_remote(run)) continue_at(read_remote_run(run));
        const std::string dir = remote_.nodes.empty() ? run.dir.string() : remote_.nodes[0].run_dir;
        return find_submitted_job(*site_at(nodes_, dir), run);
    }

    void continue_run(const RunDirectory& run, const ResumeOptions& options,
                      const SlurmOptions& slurm) override {
        to_.slurm = merged(*to_.slurm, slurm);
        RunBackend::continue_run(run, options, {});
    }

    bool is_pending(const RunDirectory& run) const override { return is_open(run) || awaits_slurm(run); }

    std::unique_ptr<RunFollower> follow(const RunDirectory& run, Sessions sessions,
                                        const SshPerson& person) const override {
        return std::make_unique<RunFollower>(run, std::move(sessions),
                                             std::make_unique<SlurmWatch>(run, site_of(run, person)));
    }

    bool stop(const RunDirectory& run, StopHow how, const SshPerson& person) const override {
        return stop_slurm_run(*site_of(run, person), run, how);
    }

    void settle(const RunDirectory& run, const SshPerson& person) const override {
        if (is_pending(run)) look_and_settle(*site_of(run, person), run);
    }

  protected:
    Started start_attempt(const RunDirectory& run, const Plan& plan, const Attempt& attempt,
                          const Places& places) override {
        SlurmSubmission job = submission(remote_, run, plan, places);
        job.attempt = attempt.number;
        job.resume = attempt.resume;
        return {submit_run(*site_at(nodes_, job.run_dir), run, job)};
    }

    void preview_into(LaunchPreview& preview, const Proposal& proposal, const Places& places) const override {
        const SlurmSubmission job =
            submission(lay_out(preview.run, proposal.plan, places), preview.run, proposal.plan, places);
        preview.script = submit_script(job);
        preview.run_dir_there = job.run_dir;
        preview.nccl = planned_nccl_settings(proposal.plan);
        preview.submit = {"sbatch", "--parsable", job.run_dir + "/" + kSubmitScript};
    }

    RemoteRun lay_out(const RunDirectory& run, const Plan& plan, const Places& places) const override {
        return nodes_.empty() ? RemoteRun() : lay_out_at_login(nodes_[0], run, plan.ranks, places);
    }

    void catch_up(const RunDirectory& run, const Progress& progress) override {
        const std::string dir = nodes_.empty() ? run.dir.string() : remote_.nodes[0].run_dir;
        wait_for_job(*site_at(nodes_, dir), run, progress);
    }

  private:
    /// Returns the job of a run; `remote` is its place on a login node, without nodes if it is submitted
    /// here.
    SlurmSubmission submission(const RemoteRun& remote, const RunDirectory& run, const Plan& plan,
                               const Places& places) const {
        SlurmSubmission job;
        job.run_name = run.name();
        job.run_dir = remote.nodes.empty() ? run.dir.string() : remote.nodes[0].run_dir;
        job.engine = remote.nodes.empty() ? places.engine().string() : remote.engine();
        job.ranks = plan.ranks;
        job.nodes = plan.nodes;
        job.device = plan.device;
        job.options = *to_.slurm;
        return job;
    }
};

}  // namespace

std::unique_ptr<SlurmSite> site_at(const std::vector<Node>& login, const std::string& run_dir) {
    if (login.empty()) return local_site(run_dir);
    return ssh_site({std::shared_ptr<SshSession>(), login.front().session.get()}, run_dir);
}

std::unique_ptr<RunBackend> slurm_backend(const Destination& to) {
    return std::make_unique<SlurmBackend>(to);
}

Destination slurm_destination(const std::vector<std::string>& options, std::vector<std::string> login) {
    SlurmOptions parsed = parse_slurm_options(options);
    std::ignore = parsed.nodes();  // throws if a number is invalid
    return {std::move(login), std::move(parsed)};
}

bool settle_open_runs(const std::vector<RunDirectory>& runs) {
    std::vector<RunDirectory> open;
    for (const RunDirectory& run : runs) {
        if (is_slurm(run) && backend_of(run)->is_pending(run)) open.push_back(run);
    }
    settle_runs(open);
    return !open.empty();
}

}  // namespace ringmaster
