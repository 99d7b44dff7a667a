#include "launcher/anywhere/companion.h"

#include "engine/error.h"
#include "launcher/tracking.h"

namespace ringmaster {

namespace {

/// Returns true if the run is not over; a run with a damaged run.json counts as over.
bool is_open(const RunDirectory& run) {
    try {
        return !is_over(read_run_state(run.dir).state);
    } catch (const Error&) {
        return false;
    }
}

/// Returns true if the ranks recorded a stop or a failure and Slurm has not yet been asked about it: the job
/// may have been preempted, or may continue.
bool awaits_slurm(const RunDirectory& run) {
    try {
        const RunPhase phase = read_run_state(run.dir).state;
        return is_slurm(run) && (phase == RunPhase::Stopped || phase == RunPhase::Failed) &&
               !is_stop_asked(run) && !read_slurm_record(run).settled &&
               !read_slurm_record(run).job.number.empty();
    } catch (const Error&) {
        return false;
    }
}

SshSession session_with(const RemoteNode& node, const SshPerson& person) {
    return {ssh_settings(parse_target(node.target)), person};
}

/// Opens the site of the run's job, with a new session if it is remote.
std::unique_ptr<SlurmSite> site_of(const RunDirectory& run, const SshPerson& person) {
    if (!is_remote(run)) return local_site(run.dir);
    const RemoteNode login = read_remote_run(run).nodes.front();
    return ssh_site(std::make_shared<SshSession>(session_with(login, person)), login.run_dir);
}

}  // namespace

RunCompanion::RunCompanion(const RunDirectory& run, std::vector<std::unique_ptr<SshSession>> sessions,
                           const SshPerson& person)
    : slurm_(is_slurm(run) ? std::make_unique<SlurmWatch>(run, site_of(run, person)) : nullptr) {
    if (!is_remote(run)) return;
    track_from_here(run, find_places());
    not_contacted_ = read_remote_run(run).not_contacted_text(run.name());
    mirror_ = std::make_unique<RunMirror>(run, std::move(sessions));
}

std::string RunCompanion::job_note() const {
    const std::string note = mirror_ ? mirror_->note() : std::string();
    return note.empty() && slurm_ ? slurm_->note() : note;
}

std::string RunCompanion::trouble() const {
    return mirror_ ? mirror_->trouble() : std::string();
}

bool RunCompanion::is_really_over(const std::function<bool()>& given_up) {
    return !slurm_ || slurm_->is_really_over(given_up);
}

bool needs_companion(const RunDirectory& run) {
    return ((is_remote(run) || is_slurm(run)) && is_open(run)) || awaits_slurm(run);
}

std::unique_ptr<RunCompanion> companion_of(const RunDirectory& run, const SshPerson& person,
                                           const std::function<void(const std::string&)>& complain,
                                           std::vector<std::unique_ptr<SshSession>> sessions) {
    if (!needs_companion(run)) return nullptr;
    const SshPerson one = one_at_a_time(person);
    if (is_remote(run)) {
        const RemoteRun remote = read_remote_run(run);
        sessions.resize(remote.nodes.size());
        if (complain && !remote.all_named()) complain(remote.not_contacted_text(run.name()));
        for_each_at_once(sessions.size(), [&](size_t i) {
            if (sessions[i] || !remote.nodes[i].is_named()) return;
            try {
                sessions[i] = std::make_unique<SshSession>(session_with(remote.nodes[i], one));
            } catch (const Error& problem) {
                if (complain) complain(problem.text());
            }
        });
    }
    return std::make_unique<RunCompanion>(run, std::move(sessions), one);
}

bool stop_anywhere(const RunDirectory& run, StopHow how, const SshPerson& person) {
    if (is_slurm(run)) return stop_slurm_run(*site_of(run, person), run, how);
    if (!is_remote(run)) return request_stop(run, how);
    if (is_over(read_run_state(run.dir).state)) return false;
    const RemoteRun remote = read_remote_run(run);
    remote.require_named(0, "stop", run.name());
    SshSession first = session_with(remote.nodes[0], person);
    return request_remote_stop(first, remote, how);
}

void settle_anywhere(const RunDirectory& run, const SshPerson& person) {
    if ((is_slurm(run) && is_open(run)) || awaits_slurm(run)) look_and_settle(*site_of(run, person), run);
}

bool settle_open_runs(const std::vector<RunDirectory>& runs) {
    std::vector<RunDirectory> open;
    for (const RunDirectory& run : runs) {
        if ((is_slurm(run) && is_open(run)) || awaits_slurm(run)) open.push_back(run);
    }
    settle_runs(open);
    return !open.empty();
}

}  // namespace ringmaster
