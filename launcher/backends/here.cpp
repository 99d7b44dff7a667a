// Starts and stops runs on this machine.
#include <cstdlib>

#include "launcher/backends/parts.h"
#include "launcher/backends/preview.h"

namespace ringmaster {

namespace {

/// Returns the NCCL settings of ranks on this machine, which inherit this program's environment.
std::vector<NcclSetting> nccl_here(const Plan& plan) {
    std::vector<NcclSetting> settings = planned_nccl_settings(plan);
    for (NcclSetting& it : settings) {
        if (const char* given = std::getenv(it.name.c_str())) it = {it.name, given, "as given"};
    }
    return settings;
}

class HereBackend : public RunBackend {
  public:
    using RunBackend::RunBackend;

    Restarter restarter() const override { return Restarter::Agent; }

    void require_startable(const Plan& plan, const Places& places) const override {
        ringmaster::require_startable(plan, machine_, places);
    }

    Started start_resumed(const RunDirectory& run, const ResumedRun& resumed, const Places& places) override {
        ringmaster::start_resumed(run, resumed, machine_, places);
        return {};
    }

    bool is_pending(const RunDirectory&) const override { return false; }

    bool stop(const RunDirectory& run, StopHow how, const SshPerson&) const override {
        return request_stop(run, how);
    }

  protected:
    Started start_attempt(const RunDirectory& run, const Plan& plan, const Attempt&,
                          const Places& places) override {
        start_run(run, plan, machine_, places);
        return {};
    }

    void preview_into(LaunchPreview& preview, const Proposal& proposal, const Places& places) const override {
        const int ranks = proposal.plan.ranks;
        preview.nodes = {local_commands(preview.run, {ranks, 1, "none", proposal.request.restarts}, places,
                                        machine_.cores)};
        preview.nodes.front().nccl = nccl_here(proposal.plan);
        preview.torchrun = torchrun_command(preview.run, ranks, places);
    }
};

}  // namespace

std::unique_ptr<RunBackend> here_backend(const Destination& to) {
    return std::make_unique<HereBackend>(to);
}

}  // namespace ringmaster
