/// DIR/token: random text that the processes of a run share and nobody else reads (mode 0600). Agents and
/// ranks prove with it that they belong to the run. It never leaves the machine that holds it: each use has a
/// key of its own, made from it by mac().
#pragma once

#include <filesystem>
#include <string>

namespace ringmaster {

/// Makes it where it is missing; of several processes at once one does. Throws Error(Refused) naming the file
/// where it cannot be read or written, or holds less than 16 characters.
std::string run_secret(const std::filesystem::path& run_dir);

/// As run_secret, but one that is missing is an error.
std::string read_run_secret(const std::filesystem::path& run_dir);

}  // namespace ringmaster
