/// run.json: the state of a run, written whole (aside, then renamed) by node 0's agent, or by rank 0 where there is none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ringmaster {

enum class RunPhase { Queued, Preparing, Running, Stopping, Completed, Failed, Stopped };

const char* to_string(RunPhase phase);  ///< "queued", "preparing", …
bool is_over(RunPhase phase);           ///< completed, failed or stopped

/// A process that cannot be mistaken for a later one with the same pid.
struct ProcessId {
    std::string host;
    int64_t pid = 0;
    int64_t start_time = 0;  ///< field 22 of /proc/<pid>/stat, in clock ticks since boot
    std::string boot_id;     ///< /proc/sys/kernel/random/boot_id
};

ProcessId this_process();
std::optional<ProcessId> find_process(int64_t pid);  ///< of this host; empty: there is none
/// False where the pid is gone or is another process now; true for a process of another host (it cannot be known).
bool is_alive(const ProcessId& process);

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
    std::string reason;  ///< of an end: one sentence; may have further lines (last log lines)
    int attempt = 0;
    int ranks = 0;
    double created = 0, started = 0, ended = 0, updated = 0;  ///< Unix seconds; 0: not yet
    ProcessId writer;
    std::vector<NodeState> nodes;
};

/// Throws Error(Refused) naming the file and why.
void write_run_state(const std::filesystem::path& run_dir, const RunState& state);

/// Throws Error(Usage) where there is no run.json, Error(Refused) where it is damaged. A run that is not over and whose
/// writer is gone reads as failed, with that as its reason.
RunState read_run_state(const std::filesystem::path& run_dir);

}  // namespace ringmaster
