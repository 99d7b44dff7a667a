/// Starting a run, for the first time or again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/prepare.h"

namespace ringmaster {

/// Starts a prepared run on this machine; returns when the agent has taken over. A start that fails is
/// run.json's reason.
void start_run(const RunDirectory& run, const Plan& plan, const Machine& machine, const Places& places);

struct ResumeOptions {
    std::optional<int64_t> checkpoint;  ///< else the newest whole one
    std::optional<int> ranks;           ///< else as before
    std::vector<std::pair<std::string, std::string>> set;
    std::optional<int> nodes = {};  ///< that the ranks are spread over; else as before
};

struct ResumedRun {
    Plan plan;
    int attempt = 1;
    std::optional<int64_t> from_step;  ///< empty: there is no whole checkpoint, it starts from the beginning
    std::string wish = "latest";       ///< what the ranks are told: they choose as this did, and say the same
    bool replanned = false;
};

/// What resuming would start; with other ranks or settings the run is planned (and, where that changes them,
/// tokenized) again, and plan.json and options.json are written anew. Throws Error(Refused) while it runs or
/// when it is completed, as choose_checkpoint for a checkpoint that is not there or damaged, PlanRefused,
/// Cancelled. Newer checkpoints that are passed over, and why, are warnings of `progress`.
ResumedRun prepare_resume(const RunDirectory& run, const ResumeOptions& options, const Machine& machine,
                          const Places& places, const Progress& progress);

/// Starts what prepare_resume said. Throws Error(Refused) for a run that was submitted to Slurm.
void start_resumed(const RunDirectory& run, const ResumedRun& resumed, const Machine& machine,
                   const Places& places);

/// As it was asked for. Throws Error where that is not known here.
Request request_of(const RunDirectory& run);

/// How often it starts again by itself after a failure, as it was asked for; 0 where that is not known here.
int restarts_of(const RunDirectory& run);

/// The plan on other ranks, as resuming with `options` would make it; nothing is written, no row is read.
Proposal propose_resume(const RunDirectory& run, const ResumeOptions& options, const Machine& machine,
                        const Places& places);

/// True for a run that has its final model and nothing left to do.
bool is_completed(const RunDirectory& run);

}  // namespace ringmaster
