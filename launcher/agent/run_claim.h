/// One run has one agent: taking a run over, and its run.json from then on.
#pragma once

#include <filesystem>

#include "engine/events/run_state.h"
#include "launcher/agent/descriptor.h"

namespace ringmaster {

/// DIR/agent.log, for appending. Throws Error(Refused) where it cannot be written.
Descriptor open_agent_log(const std::filesystem::path& run_dir);

/// Locks the log, for as long as it is open, and returns what run.json says: a new run of the folder's name
/// where there is none or it is damaged. Throws Error(Refused) where another process runs it, naming that.
RunState claim_run(const std::filesystem::path& run_dir, const Descriptor& log);

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
