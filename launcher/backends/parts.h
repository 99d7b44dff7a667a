/// Declares what the backends share. Only backend_for and backend_of choose among the kinds of backend.
#pragma once

#include "launcher/backends/backend.h"
#include "launcher/slurm/site.h"

namespace ringmaster {

std::unique_ptr<RunBackend> here_backend(const Destination& to);
std::unique_ptr<RunBackend> nodes_backend(const Destination& to, std::vector<Node> connected);
std::unique_ptr<RunBackend> slurm_backend(const Destination& to);

/// Returns true if the run is not over; a run with a damaged run.json counts as over.
bool is_open(const RunDirectory& run);

SshSession session_with(const RemoteNode& node, const SshPerson& person);

/// Returns the Slurm site on a login node, whose session stays in `login`, or on this machine if `login` is
/// empty.
std::unique_ptr<SlurmSite> site_at(const std::vector<Node>& login, const std::string& run_dir);

}  // namespace ringmaster
