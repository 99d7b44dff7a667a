/// Describes a run that is a job of Slurm. slurm.json in its run directory identifies the job:
///
///     {"job": "42", "cluster": "", "options": [["partition", "gpu"], …], "settled": false}
///
/// The launcher writes run.json while the job waits, rank 0 while it runs. If the job ended without recording
/// why, the next program that reads the run asks Slurm for the reason and records it (settle).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/base/progress.h"
#include "launcher/run/local_node.h"
#include "launcher/slurm/queue.h"
#include "launcher/slurm/script.h"
#include "launcher/slurm/site.h"

namespace ringmaster {

constexpr const char* kSubmitScript = "submit.sbatch";

struct SlurmRecord {
    SlurmOptions options;
    JobId job;             ///< without a number: not submitted
    bool settled = false;  ///< true: run.json holds what Slurm knows about the end
};

bool is_slurm(const RunDirectory& run);
bool is_stop_asked(const RunDirectory& run);             ///< true: stop_slurm_run was called for this job
SlurmRecord read_slurm_record(const RunDirectory& run);  ///< throws Error
void write_slurm_record(const RunDirectory& run, const SlurmRecord& record);

/// Saves the script in the run directory, sets run.json to queued and submits. If Slurm refuses, run.json
/// says why. Throws Error(Unreachable) with Slurm's message.
JobId submit_run(SlurmSite& site, const RunDirectory& run, const SlurmSubmission& submission);

/// Returns true if the run was submitted. If submit_run was killed before it could record the job, looks for
/// the job and records it. Just after such a submission, waits up to 15 s for the job to appear. Throws
/// Error(Unreachable).
bool find_submitted_job(SlurmSite& site, const RunDirectory& run);

/// Returns the status of the run's job, from one call of squeue. If the job is over or requeued, updates
/// run.json. Repeats a requested stop to the ranks. Throws Error(Unreachable).
JobStatus look_and_settle(SlurmSite& site, const RunDirectory& run);

/// Waits up to a minute for the job to end: a run may be over while its job still cleans up.
void wait_for_job(SlurmSite& site, const RunDirectory& run, const Progress& progress);

/// Updates all runs of this machine's Slurm whose jobs are not settled, with one call of squeue per cluster.
void settle_runs(const std::vector<RunDirectory>& runs);

/// Stops the run. Returns false if it is over already. A waiting job is cancelled; the ranks of a running job
/// save and stop, or end at once.
bool stop_slurm_run(SlurmSite& site, const RunDirectory& run, StopHow how);

}  // namespace ringmaster
