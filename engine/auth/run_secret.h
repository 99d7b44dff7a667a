/// Manages DIR/token: random text that the processes of a run share and nobody else can read (mode 0600).
/// Agents and ranks use it to prove that they belong to the run. The text itself is never sent: mac() derives
/// a separate key for each use.
#pragma once

#include <filesystem>
#include <string>

namespace ringmaster {

/// Returns the secret. Creates it if it is missing; if several processes call this at once, only one creates
/// it. Throws Error(Refused) with the file's name if it cannot be read or written or holds less than 16
/// characters.
std::string run_secret(const std::filesystem::path& run_dir);

/// Returns the secret; unlike run_secret, throws if it is missing.
std::string read_run_secret(const std::filesystem::path& run_dir);

}  // namespace ringmaster
