/// Runs on other machines, for the subcommands.
#pragma once

#include <memory>

#include "launcher/cli/commands.h"
#include "launcher/local_node.h"
#include "launcher/nodes/mirror.h"
#include "launcher/prepare.h"

namespace ringmaster {

/// `launch CONFIG --node …`: the exit status.
int launch_on_nodes(const Arguments& arguments, const Session& session, const RunOptions& options);

/// `resume RUN` of a run that lives elsewhere.
int resume_on_nodes(const Arguments& arguments, const Session& session, const RunDirectory& run);

/// Keeps the local directory up to date while it lives; empty for a run of this machine or one that is over.
/// Logs in at once, so that the person can be asked; a node that cannot be reached then is tried again by
/// itself.
std::unique_ptr<RunMirror> mirror_of(const RunDirectory& run);

/// request_stop of launcher/local_node.h, wherever the run lives.
bool stop_anywhere(const RunDirectory& run, StopHow how);

}  // namespace ringmaster
