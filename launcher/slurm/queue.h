/// Asks Slurm about jobs: with one call of squeue per cluster, then with sacct or scontrol for each job that
/// has left the queue.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launcher/slurm/job_id.h"

namespace ringmaster {

class SlurmSite;

struct JobStatus {
    std::string state;   ///< "PENDING", "RUNNING", "TIMEOUT", …; empty: unknown to Slurm
    std::string reason;  ///< why the job waits or ended: "Resources", "TimeLimit"
    std::string nodes;   ///< nodes of the job: "gpu[03-04]"
    /// Exit status and signal of the script; known only after the job has ended.
    int exit_status = 0, exit_signal = 0;

    bool waits() const;    ///< queued, not started
    bool is_over() const;  ///< ended, or unknown to Slurm
};

/// Submits a script and returns the job. Throws Error(Unreachable) with Slurm's message.
JobId submit(SlurmSite& site, const std::string& script_name);

/// Asks Slurm if it would accept the script, without submitting it. Throws like submit.
void try_submission(SlurmSite& site, const std::string& script);

/// Runs squeue; a job that it does not list is over. Throws Error(Unreachable) if Slurm does not answer.
std::map<std::string, JobStatus> look_at(SlurmSite& site, const std::vector<JobId>& jobs);

/// Returns the newest job of this user that was submitted from the site's run directory, as long as Slurm
/// remembers it; nullopt if there is none. `cluster` is empty if there is only one. Throws like look_at.
std::optional<JobId> job_of_folder(SlurmSite& site, const std::string& cluster);

/// Returns how a job ended, from sacct, else scontrol, else Slurm's last lines in the job's log. The state is
/// empty if none of them knows.
JobStatus end_of(SlurmSite& site, const JobId& job);

/// Cancels a job, or sends its ranks a signal ("TERM", "KILL"). Does nothing if the job is over already.
void cancel(SlurmSite& site, const JobId& job);
void signal_ranks(SlurmSite& site, const JobId& job, const std::string& signal);

// Parsers for the outputs of these commands.
JobId parse_job_id(const std::string& out);
std::map<std::string, JobStatus> parse_squeue(const std::string& out);
/// Returns the number of the newest job in `folder`, from lines "number|folder"; empty if there is none.
std::string parse_jobs_of_folder(const std::string& out, const std::string& folder);
JobStatus parse_sacct(const std::string& out);
JobStatus parse_scontrol(const std::string& out);
JobStatus parse_job_log(const std::string& log);

}  // namespace ringmaster
