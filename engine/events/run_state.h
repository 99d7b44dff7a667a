/// run.json: the state of a run, written whole (aside, then renamed) by node 0's agent, or by rank 0 where
/// there is none.
///
///     {"name", "state", "reason", "code", "failed_rank", "attempt", "ranks", "created", "started", "ended",
///     "updated",
///      "writer": {"host", "pid", "start_time", "boot_id"},
///      "nodes": [{"host", "agent": {as writer}, "ranks": [{"rank", and as writer}]}]}
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/events/process_id.h"

namespace ringmaster {

enum class RunPhase { Queued, Preparing, Running, Stopping, Completed, Failed, Stopped };

/// A run that was submitted to Slurm: its writer is this host and the job as pid (0: not known yet). No look
/// at a process says whether it lives, only Slurm does.
inline constexpr const char* kSlurmJob = "Slurm job";

const char* to_string(RunPhase phase);  ///< "queued", "preparing", …
bool is_over(RunPhase phase);           ///< completed, failed or stopped

struct RankProcess {
    int rank = 0;
    ProcessId process;
};

struct NodeState {
    std::string host;
    ProcessId agent;
    std::vector<RankProcess> ranks;
};

struct RunState {
    std::string name;
    RunPhase state = RunPhase::Queued;
    std::string reason;    ///< of an end: one sentence; may have further lines (last log lines)
    std::string code;      ///< of a failure, for programs: that of the Error, or "RUN-FAILED"; else empty
    int failed_rank = -1;  ///< that a failure began with; -1: none, or not known
    int attempt = 0;
    int ranks = 0;
    double created = 0, started = 0, ended = 0,
           updated = 0;  ///< Unix seconds; 0: not yet. updated: the last write
    ProcessId writer;    ///< pid 0: nobody stands behind this state (a run that is prepared and waits)
    std::vector<NodeState> nodes;

    bool is_of_slurm() const { return writer.host == kSlurmJob; }
};

/// Throws Error(Refused) naming the file and why.
void write_run_state(const std::filesystem::path& run_dir, const RunState& state);

/// run.json's text, and a state from it; throws Error(Refused) naming `where` where it is damaged or holds a
/// number outside the ranges of limits.h. At most 4 MiB; a longer reason is cut.
std::string run_state_text(const RunState& state);
RunState parse_run_state(const std::string& text, const std::string& where);

/// Throws Error(Usage) where there is no run.json, Error(Refused) where it is damaged. A run that is not over
/// and whose writer is gone reads as failed, with that as its reason and the last write as its end. A writer
/// on another host cannot be asked: its state is taken as it stands.
RunState read_run_state(const std::filesystem::path& run_dir);

}  // namespace ringmaster
