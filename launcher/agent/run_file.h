/// Manages the agent's files in a run directory: its log, and run.json once the agent has taken over the run.
#pragma once

#include <filesystem>

#include "engine/events/run_state.h"
#include "launcher/agent/descriptor.h"

namespace ringmaster {

/// Opens DIR/agent.log for appending. Throws Error(Refused) if it cannot be written.
Descriptor open_agent_log(const std::filesystem::path& run_dir);

/// Returns what run.json says; if it is missing or damaged, a new run with the folder's name. The caller must
/// hold the RunClaim. Throws Error(Refused) if run.json names another process that runs it, such as one on
/// another host if the file system has no locks.
RunState take_over_run(const std::filesystem::path& run_dir);

/// Writes run.json even on a full disk: deletes a reserve file next to it when a write first fails.
class RunFile {
  public:
    RunFile(const std::filesystem::path& run_dir, int ranks);
    RunFile(const RunFile&) = delete;
    RunFile& operator=(const RunFile&) = delete;
    ~RunFile() { free_reserve(); }

    /// Writes run.json. Throws Error(Refused).
    void write(const RunState& state);

  private:
    bool free_reserve();

    std::filesystem::path run_dir_;
    std::filesystem::path reserve_;
};

}  // namespace ringmaster
