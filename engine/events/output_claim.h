/// Whose output_dir is: ringmaster-run.json in it names the run that writes there, so that two living runs
/// never mix their models.
///
///     {"run": name, "dir": its run directory, "process": {"host", "pid", "start_time", "boot_id"}}
#pragma once

#include <filesystem>
#include <string>

namespace ringmaster {

inline constexpr const char* kOutputMarker = "ringmaster-run.json";

/// Throws Error(Refused) where a living run of another run directory holds the folder: one that is being
/// prepared, runs, or waits in Slurm. One that is over, is gone, or waits for nobody does not.
void refuse_held_output(const std::filesystem::path& output_dir, const std::filesystem::path& run_dir);

/// Makes the folder and puts this run's name into it; of several at once on this machine one succeeds. Throws
/// as refuse_held_output, Error(Refused) where it cannot be written.
void claim_output(const std::filesystem::path& output_dir, const std::filesystem::path& run_dir,
                  const std::string& run_name);

}  // namespace ringmaster
