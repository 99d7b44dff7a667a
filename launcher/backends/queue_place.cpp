#include "launcher/backends/queue_place.h"

#include "engine/error.h"
#include "launcher/base/files.h"
#include "launcher/run/start_record.h"
#include "launcher/slurm/slurm_run.h"

namespace ringmaster {

namespace {

constexpr const char* kAbandoned = "RUN-ABANDONED";  ///< code of a run whose agent is gone

/// Returns the state of a run on other machines or in Slurm, as last recorded on this machine.
QueueState state_elsewhere(const RunDirectory& run, const RunState& state) {
    const bool is_submitted = is_slurm(run) && !read_slurm_record(run).job.number.empty();
    if (state.state == RunPhase::Queued && !is_submitted) return QueueState::Waiting;
    if (backend_of(run)->is_pending(run)) return QueueState::Active;
    return state.code == kAbandoned && !is_slurm(run) ? QueueState::CutOff : QueueState::Over;
}

}  // namespace

QueueState queue_state(const RunDirectory& run) {
    try {
        const RunState state = read_run_state(run.dir);
        if (is_remote(run) || is_slurm(run)) return state_elsewhere(run, state);
        if (is_active(state)) return QueueState::Active;
        if (state.state == RunPhase::Queued) return QueueState::Waiting;
        const RunState written = parse_run_state(read_file(run.state()), run.state().string());
        return is_over(written.state) ? QueueState::Over : QueueState::CutOff;
    } catch (const Error&) {
        return QueueState::Over;
    }
}

QueuePlace queue_place(const Destination& to) {
    QueuePlace place;
    for (const std::string& node : to.nodes) {
        SshTarget target = parse_target(node);
        target.user.clear();
        place.hosts.push_back(target.text());
    }
    place.by_ssh = !to.nodes.empty();
    if (!to.slurm) return place;
    const std::string login = place.hosts.empty() ? "" : place.hosts.front() + ":";
    place.partition = login + to.slurm->value("partition").value_or("");
    place.hosts.clear();
    return place;
}

QueuePlace queue_place(const RunDirectory& run) {
    try {
        return queue_place(destination_of(run));
    } catch (const Error&) {
        return {};
    }
}

}  // namespace ringmaster
