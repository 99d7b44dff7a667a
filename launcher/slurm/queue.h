/// What Slurm says of jobs: one squeue for all of them, then sacct or scontrol for one that has left the
/// queue.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launcher/slurm/site.h"

namespace ringmaster {

struct JobStatus {
    std::string state;   ///< "PENDING", "RUNNING", "TIMEOUT", …; empty: Slurm does not know it any more
    std::string reason;  ///< why it waits or ended: "Resources", "TimeLimit"
    std::string nodes;   ///< "gpu[03-04]"
    int exit_status = 0, exit_signal = 0;  ///< of the script; known after the end only

    bool waits() const;    ///< in the queue, not started
    bool is_over() const;  ///< ended, or not known any more
};

struct JobId {
    std::string number;
    std::string cluster;  ///< of several; empty: the one there is
};

/// Submits a script; gives the job. Throws Error(Unreachable) with Slurm's own words.
JobId submit(SlurmSite& site, const std::string& script_name);

/// Whether Slurm would take the script; submits nothing. Throws as submit.
void try_submission(SlurmSite& site, const std::string& script);

/// One squeue; a job that is not in it is over. Throws Error(Unreachable) where Slurm does not answer.
std::map<std::string, JobStatus> look_at(SlurmSite& site, const std::vector<JobId>& jobs);

/// Of a job that is over: sacct, else scontrol, else what Slurm wrote to the job's log last; the state is
/// empty where nothing is known.
JobStatus end_of(SlurmSite& site, const JobId& job);

/// "cancel", or a signal to the ranks ("TERM", "KILL"). A job that is over already is left alone.
void cancel(SlurmSite& site, const JobId& job);
void signal_ranks(SlurmSite& site, const JobId& job, const std::string& signal);

// Their outputs, parsed.
JobId parse_job_id(const std::string& out);
std::map<std::string, JobStatus> parse_squeue(const std::string& out);
JobStatus parse_sacct(const std::string& out);
JobStatus parse_scontrol(const std::string& out);
JobStatus parse_job_log(const std::string& log);

}  // namespace ringmaster
