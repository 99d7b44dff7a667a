/// Starts and resumes runs on this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/run/prepare.h"

namespace ringmaster {

/// Starts a prepared run on this machine and returns when the agent has taken over. If the start fails, the
/// reason is recorded in run.json.
void start_run(const RunDirectory& run, const Plan& plan, const Machine& machine, const Places& places);

struct ResumeOptions {
    std::optional<int64_t> checkpoint;  ///< step to resume from; nullopt: the newest complete checkpoint
    std::optional<int> ranks;           ///< number of ranks; nullopt: as many as before
    std::vector<std::pair<std::string, std::string>> set;
    std::optional<int> nodes = {};  ///< number of nodes that share the ranks; nullopt: as before
};

struct ResumedRun {
    Plan plan;
    int attempt = 1;
    std::optional<int64_t> from_step;  ///< nullopt: no complete checkpoint, the run starts over
    std::string wish = "latest";       ///< resume option with which the ranks choose the same step
    bool replanned = false;
};

/// Prepares a resume and returns what it would start. With other ranks or settings it plans again (and
/// tokenizes if that changes the rows) and rewrites plan.json and options.json. Throws Error(Refused) while
/// the run is active, choose_checkpoint's errors for a missing or damaged checkpoint, PlanRefused, and
/// Cancelled. Reports newer checkpoints that it skips as warnings of `progress`.
ResumedRun prepare_resume(const RunDirectory& run, const ResumeOptions& options, const Machine& machine,
                          const Places& places, const Progress& progress);

/// Starts what prepare_resume returned. Throws Error(Refused) for a run that was submitted to Slurm.
void start_resumed(const RunDirectory& run, const ResumedRun& resumed, const Machine& machine,
                   const Places& places);

/// Returns the request that the run was made from. Throws Error if this machine does not have it.
Request request_of(const RunDirectory& run);

/// Returns the requested number of automatic restarts after a failure; 0 if this machine does not know it.
int restarts_of(const RunDirectory& run);

/// Plans the run as resuming with `options` would. Writes nothing and reads no rows.
Proposal propose_resume(const RunDirectory& run, const ResumeOptions& options, const Machine& machine,
                        const Places& places);

/// Returns true if the run has completed, so that nothing is left to do.
bool is_completed(const RunDirectory& run);

}  // namespace ringmaster
