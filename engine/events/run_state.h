/// Reads and writes run.json, the state of a run. Node 0's agent writes it, or rank 0 if there is no agent;
/// each write goes to a temporary file that is then renamed.
///
///     {"name", "state", "reason", "why": [[code, value, …]], "code", "failed_rank", "attempt", "ranks",
///     "created", "started", "ended", "updated",
///      "writer": {"host", "pid", "start_time", "boot_id"},
///      "nodes": [{"host", "agent": {as writer}, "ranks": [{"rank", and as writer}]}]}
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/events/process_id.h"
#include "engine/events/run_reason.h"

namespace ringmaster {

enum class RunPhase { Queued, Preparing, Running, Stopping, Completed, Failed, Stopped };

/// Host name of the writer that marks a run submitted to Slurm; the writer's pid is then the number of the
/// job (0: not known yet). Only Slurm knows whether such a run is alive, because there is no process to
/// check.
inline constexpr const char* kSlurmJob = "Slurm job";

const char* to_string(RunPhase phase);  ///< returns "queued", "preparing", …
bool is_over(RunPhase phase);           ///< returns true if completed, failed or stopped

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
    std::string reason;    ///< reason of the end: one sentence, perhaps followed by the last lines of the log
    Reason why;            ///< `reason` as parts, for other languages; empty if the reason has no parts
    std::string code;      ///< the Error's code if the run failed, or "RUN-FAILED", for programs; else empty
    int failed_rank = -1;  ///< rank at which a failure began; -1: none or not known
    int attempt = 0;
    int ranks = 0;
    /// Unix seconds; 0 if the event has not happened yet. `updated` is the time of the last write.
    double created = 0, started = 0, ended = 0, updated = 0;
    ProcessId writer;  ///< pid 0: no process owns this state (a prepared run that waits)
    std::vector<NodeState> nodes;

    bool is_of_slurm() const { return writer.host == kSlurmJob; }
};

/// Sets the reason and its parts.
void give_reason(RunState& state, Reason why);

/// Writes run.json. Throws Error(Refused) naming the file and the reason.
void write_run_state(const std::filesystem::path& run_dir, const RunState& state);

/// Converts a state to run.json's text, of at most 4 MiB. parse_run_state converts back. It cuts a reason
/// that is too long, and leaves out the reason's parts if they are too long. It throws Error(Refused) naming
/// `where` if the text is damaged or a number is outside limits.h.
std::string run_state_text(const RunState& state);
RunState parse_run_state(const std::string& text, const std::string& where);

/// Reads run.json. Throws Error(Usage) if there is none, Error(Refused) if it is damaged. If a run is not
/// over but its writer is gone, returns the run as failed for that reason at the time of the last write. A
/// writer on another host cannot be checked: its state is returned as it is.
RunState read_run_state(const std::filesystem::path& run_dir);

}  // namespace ringmaster
