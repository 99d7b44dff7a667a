#include "launcher/backends/run_follower.h"

#include "engine/error.h"
#include "launcher/backends/parts.h"
#include "launcher/nodes/mirror.h"
#include "launcher/run/tracking.h"
#include "launcher/slurm/watch.h"

namespace ringmaster {

namespace {

constexpr double kLastWord_s = 40;

}  // namespace

/// Returns true if the run is not over; a run with a damaged run.json counts as over.
bool is_open(const RunDirectory& run) {
    try {
        return !is_over(read_run_state(run.dir).state);
    } catch (const Error&) {
        return false;
    }
}

SshSession session_with(const RemoteNode& node, const SshPerson& person) {
    return {ssh_settings(parse_target(node.target)), person};
}

RunFollower::RunFollower(const RunDirectory& run, Sessions sessions, std::unique_ptr<SlurmWatch> watch)
    : slurm_(std::move(watch)) {
    if (!is_remote(run)) return;
    track_from_here(run, find_places());
    not_contacted_ = read_remote_run(run).not_contacted_text(run.name());
    mirror_ = std::make_unique<RunMirror>(run, std::move(sessions));
}

RunFollower::~RunFollower() = default;

RunNote RunFollower::job_note() const {
    const RunNote note = mirror_ ? mirror_->note() : RunNote();
    return note.text.empty() && slurm_ ? RunNote{slurm_->note(), ""} : note;
}

NodeTrouble RunFollower::trouble() const {
    return mirror_ ? mirror_->trouble() : NodeTrouble();
}

bool RunFollower::is_really_over(const std::function<bool()>& given_up) {
    return !slurm_ || slurm_->is_really_over(given_up);
}

double RunFollower::last_word_s() const {
    return slurm_ ? kLastWord_s : 0;
}

std::unique_ptr<RunFollower> follower_of(const RunDirectory& run, const SshPerson& person,
                                         const std::function<void(const std::string&)>& complain,
                                         Sessions sessions) {
    const auto backend = backend_of(run);
    if (!backend->is_pending(run)) return nullptr;
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
    return backend->follow(run, std::move(sessions), one);
}

}  // namespace ringmaster
