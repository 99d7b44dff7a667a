/// Runs on other machines, for the subcommands.
#pragma once

#include <memory>

#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/local_node.h"
#include "launcher/nodes/mirror.h"
#include "launcher/prepare.h"

namespace ringmaster {

/// Logged in and able to train; throws Error(Unreachable).
std::vector<Node> connect_to(const std::vector<std::string>& names, bool trust, const Session& session,
                             const Interrupts& interrupts);

/// place_run of launcher/nodes/remote_run.h; what it throws is also run.json's reason.
void place_run_or_say(std::vector<Node>& nodes, const RemoteRun& remote, const RunDirectory& run,
                      const Session& session, const Progress& progress);

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
