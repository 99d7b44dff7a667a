// Starts and stops runs on machines reached by SSH.
#include "engine/error.h"
#include "launcher/backends/parts.h"
#include "launcher/backends/preview.h"
#include "launcher/run/start_record.h"

namespace ringmaster {

namespace {

/// Returns a node's NCCL settings: its ranks use the interface by which the node was reached.
std::vector<NcclSetting> nccl_on(const Node& node, const Plan& plan, size_t nodes) {
    if (nodes == 1) return planned_nccl_settings(plan);
    return shown_nccl_settings(plan, {false, node.facts.interface, node.facts.infiniband});
}

std::string torchrun_on_nodes(const RemoteRun& remote, const Plan& plan) {
    return "torchrun --no-python --nnodes " + std::to_string(remote.nodes.size()) + " --nproc-per-node " +
           std::to_string(plan.ranks / static_cast<int>(remote.nodes.size())) +
           " --node-rank N --master-addr " + remote.nodes[0].address + " -- ringmaster-engine --run DIR";
}

class NodesBackend : public RunBackend {
  public:
    NodesBackend(const Destination& to, std::vector<Node> connected) : RunBackend(to) {
        nodes_ = std::move(connected);
        if (!nodes_.empty()) machine_ = machine_of(nodes_);
    }

    Restarter restarter() const override {
        return to_.nodes.size() > 1 ? Restarter::Follower : Restarter::Agent;
    }
    bool can_shrink() const override { return true; }

    Request complete(Request request, const Machine& machine) const override {
        request.nodes = static_cast<int>(to_.nodes.size());
        if (!request.ranks && machine.gpus.empty() && to_.nodes.size() > 2) request.ranks = request.nodes;
        return request;
    }

    bool is_pending(const RunDirectory& run) const override { return is_open(run); }

    bool stop(const RunDirectory& run, StopHow how, const SshPerson& person) const override {
        if (is_over(read_run_state(run.dir).state)) return false;
        const RemoteRun remote = read_remote_run(run);
        remote.require_named(0, "stop", run.name());
        SshSession first = session_with(remote.nodes[0], person);
        return request_remote_stop(first, remote, how);
    }

    /// If only some agents were started, ends them, so that all can start together.
    bool has_begun(const RunDirectory& run) override {
        if (is_remote(run)) continue_at(read_remote_run(run));
        std::vector<size_t> begun;
        for (size_t i = 0; i < remote_.nodes.size(); ++i) {
            if (node_state(*nodes_[i].session, remote_.nodes[i], i)) begun.push_back(i);
        }
        if (!begun.empty() && begun.size() == remote_.nodes.size()) {
            record_running(run, 1, remote_.ranks);
            return true;
        }
        for (const size_t i : begun) end_leftovers(nodes_[i], remote_.nodes[i], i);
        return false;
    }

  protected:
    Started start_attempt(const RunDirectory& run, const Plan& plan, const Attempt& attempt,
                          const Places&) override {
        record_failed_start(
            run, [&] { start_remote(nodes_, remote_, attempt.number, attempt.resume, attempt.restarts); });
        record_running(run, attempt.number, plan.ranks);
        return {};
    }

    void preview_into(LaunchPreview& preview, const Proposal& proposal, const Places& places) const override {
        const Plan& plan = proposal.plan;
        const RemoteRun remote = lay_out(preview.run, plan, places);
        const int restarts = proposal.request.restarts;
        const std::vector<StartCommand> commands = agent_commands(remote, 1, "none", restarts);
        for (size_t i = 0; i < commands.size(); ++i)
            preview.nodes.push_back(
                {remote.nodes[i].target, commands[i], {}, nccl_on(nodes_[i], plan, remote.nodes.size())});
        preview.torchrun = torchrun_on_nodes(remote, plan);
        if (remote.nodes.size() > 1) preview.restarts = {restarts, proposal.request.shrink};
    }

    RemoteRun lay_out(const RunDirectory& run, const Plan& plan, const Places& places) const override {
        return ringmaster::lay_out(nodes_, run, plan, places);
    }

    /// The mirror here may have ended before the run, or another machine may have restarted the run.
    void catch_up(const RunDirectory& run, const Progress&) override {
        std::optional<RunState> there = remote_state(*nodes_[0].session, remote_);
        if (!there) return;
        there = state_here(*there, remote_, run);
        if (!is_over(there->state)) {
            record_running(run, there->attempt, there->ranks);
            refuse_to_resume(run, there->state);
        }
        const RunState here = read_run_state(run.dir);
        if (is_over(here.state) && here.attempt >= there->attempt) return;
        if (there->state == RunPhase::Completed) {
            record_running(run, there->attempt, there->ranks);
            throw Error(Failure::Refused, Code("RUN-ACTIVE"), "has completed meanwhile", run.name(),
                        "`ringmaster watch " + run.name() + "` brings its end and its model here");
        }
        write_run_state(run.dir, *there);
    }
};

}  // namespace

std::unique_ptr<RunBackend> nodes_backend(const Destination& to, std::vector<Node> connected) {
    return std::make_unique<NodesBackend>(to, std::move(connected));
}

}  // namespace ringmaster
