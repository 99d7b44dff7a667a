/// The agent's files in a run directory: its log, and run.json from the takeover on.
#pragma once

#include <filesystem>

#include "engine/events/run_state.h"
#include "launcher/agent/descriptor.h"

namespace ringmaster {

/// DIR/agent.log, for appending. Throws Error(Refused) where it cannot be written.
Descriptor open_agent_log(const std::filesystem::path& run_dir);

/// What run.json says: a new run of the folder's name where there is none or it is damaged. To be asked by whoever
/// holds the RunClaim. Throws Error(Refused) where run.json names another process that runs it: one of another host,
/// where the file system has no locks.
RunState take_over_run(const std::filesystem::path& run_dir);

/// Writes run.json also on a full disk: room for it is set aside in a file beside it, which goes with this.
class RunFile {
  public:
    RunFile(const std::filesystem::path& run_dir, int ranks);
    RunFile(const RunFile&) = delete;
    RunFile& operator=(const RunFile&) = delete;
    ~RunFile() { free_reserve(); }

    /// Throws Error(Refused).
    void write(const RunState& state);

  private:
    bool free_reserve();

    std::filesystem::path run_dir_;
    std::filesystem::path reserve_;
};

}  // namespace ringmaster
