/// A run that is a job of Slurm. slurm.json in its run directory says which:
///
///     {"job": "42", "cluster": "", "options": [["partition", "gpu"], …], "settled": false}
///
/// While the job waits run.json is the launcher's, while it runs rank 0's. Where it ended without a last
/// word, whoever looks next asks Slurm why and writes it (settle).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/local_node.h"
#include "launcher/progress.h"
#include "launcher/slurm/queue.h"
#include "launcher/slurm/script.h"
#include "launcher/slurm/site.h"

namespace ringmaster {

constexpr const char* kSubmitScript = "submit.sbatch";

struct SlurmRecord {
    SlurmOptions options;
    JobId job;             ///< without number: not submitted
    bool settled = false;  ///< what Slurm knows of its end is in run.json
};

bool is_slurm(const RunDirectory& run);
bool is_stop_asked(const RunDirectory& run);             ///< by stop_slurm_run, since it was submitted
SlurmRecord read_slurm_record(const RunDirectory& run);  ///< throws Error
void write_slurm_record(const RunDirectory& run, const SlurmRecord& record);

/// Saves the script in the run directory and submits it; run.json says queued before, and why where Slurm
/// does not take it. Throws Error(Unreachable) with Slurm's own words.
JobId submit_run(SlurmSite& site, const RunDirectory& run, const SlurmSubmission& submission);

/// Of the run's job, one squeue. Where it is over or has gone back into the queue, run.json is made to say
/// so; a run that is asked to stop is asked again. Gives the job as it was seen. Throws Error(Unreachable).
JobStatus look_and_settle(SlurmSite& site, const RunDirectory& run);

/// A run that is over may have a job that still cleans up: looks until that is over too, a minute at most.
void wait_for_job(SlurmSite& site, const RunDirectory& run, const Progress& progress);

/// As look_and_settle for all runs of this machine's Slurm that are not over, with one squeue for all.
void settle_runs(const std::vector<RunDirectory>& runs);

/// False where the run is over already. A job that waits is cancelled; of one that runs the ranks save and
/// stop, or end at once.
bool stop_slurm_run(SlurmSite& site, const RunDirectory& run, StopHow how);

}  // namespace ringmaster
