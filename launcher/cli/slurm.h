/// Runs as jobs of Slurm, for the subcommands.
#pragma once

#include <memory>

#include "launcher/cli/commands.h"
#include "launcher/cli/live.h"
#include "launcher/local_node.h"
#include "launcher/prepare.h"
#include "launcher/slurm/watch.h"

namespace ringmaster {

/// `launch CONFIG --slurm …`, here or with one --node on that login node: the exit status.
int launch_on_slurm(const Arguments& arguments, const Session& session, const RunOptions& options);

/// `prepare CONFIG --slurm …` leaves the script in the run directory as well.
void write_submit_script(const Arguments& arguments, const PreparedRun& prepared, const Session& session);

/// What --slurm says about ranks, nodes and the device, where the other options do not.
void add_slurm_wishes(Request& request, const Arguments& arguments);

/// `resume RUN` of a run that was submitted: submits it again.
int resume_on_slurm(const Arguments& arguments, const Session& session, const RunDirectory& run);

/// Follows the job while it lives; empty for a run that is none or is over.
std::unique_ptr<SlurmWatch> slurm_watch_of(const RunDirectory& run);

/// What follow_to_end says of the job; nothing where `watch` is empty.
Companion companion_of(SlurmWatch* watch);

bool stop_on_slurm(const RunDirectory& run, StopHow how);

/// Brings run.json up to date where the job is over, asking this machine's Slurm once for all runs; says
/// where it does not answer. False where none of them is in Slurm.
bool settle_slurm_runs(const std::vector<RunSummary>& runs);
/// The same of one run, wherever its Slurm is. Throws Error(Unreachable).
void settle_slurm_run(const RunDirectory& run);

}  // namespace ringmaster
