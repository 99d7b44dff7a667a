/// One launcher at a time trains a run directory: a node's agent claims it, or rank 0 where there is no agent
/// (torchrun, srun). DIR/claim.json is locked for as long and says who holds it:
///
///     {"process": {"host", "pid", "start_time", "boot_id"}, "launcher": text that all ranks of one launch
///     have}
#pragma once

#include <filesystem>
#include <string>

#include "engine/events/file_lock.h"

namespace ringmaster {

class RunClaim {
  public:
    /// Waits two seconds for a holder that is about to end. Throws Error(Refused) naming the process that
    /// holds it, or the file where it cannot be written.
    RunClaim(const std::filesystem::path& run_dir, const std::string& launcher);

  private:
    FileLock lock_;
};

/// For ranks other than 0, before they write into the run directory: throws Error(Refused) where another
/// launcher holds it.
void refuse_other_launcher(const std::filesystem::path& run_dir, const std::string& launcher);

}  // namespace ringmaster
