/// Lets one launcher at a time train a run directory. A node's agent claims it, or rank 0 if there is no
/// agent (torchrun, srun). DIR/claim.json stays locked meanwhile and names the holder:
///
///     {"process": {"host", "pid", "start_time", "boot_id"}, "launcher": text that all ranks of one launch
///     share}
#pragma once

#include <filesystem>
#include <string>

#include "engine/events/file_lock.h"

namespace ringmaster {

class RunClaim {
  public:
    /// Waits up to two seconds for a holder that is about to end. Throws Error(Refused) with the process that
    /// holds the claim, or with the file if it cannot be written.
    RunClaim(const std::filesystem::path& run_dir, const std::string& launcher);

  private:
    FileLock lock_;
};

/// Throws Error(Refused) if another launcher holds the run directory. Ranks other than 0 call it before they
/// write there.
void refuse_other_launcher(const std::filesystem::path& run_dir, const std::string& launcher);

}  // namespace ringmaster
