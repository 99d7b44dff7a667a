/// Claims an output_dir: ringmaster-run.json in it names the run that writes there, so that two living runs
/// never mix their models.
///
///     {"run": name, "dir": its run directory, "process": {"host", "pid", "start_time", "boot_id"}}
#pragma once

#include <filesystem>
#include <string>

namespace ringmaster {

inline constexpr const char* kOutputMarker = "ringmaster-run.json";

/// Throws Error(Refused) if a live run of another run directory holds the folder. A run is alive while it is
/// prepared, runs, or waits in Slurm. It is not alive if it is over or deleted, or if the process that
/// prepared it ended before the run started.
void refuse_held_output(const std::filesystem::path& output_dir, const std::filesystem::path& run_dir);

/// Makes the folder and writes this run's name into it; if several processes of this machine try, one
/// succeeds. Throws as refuse_held_output does, and Error(Refused) if it cannot be written.
void claim_output(const std::filesystem::path& output_dir, const std::filesystem::path& run_dir,
                  const std::string& run_name);

}  // namespace ringmaster
