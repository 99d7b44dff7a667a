/// The names that a person has given to machines in ~/.ssh/config.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ringmaster {

/// Each `Host` without a wildcard, once, in the file's order, Include followed: of `file`, else of the file
/// that connections use (RINGMASTER_SSH_CONFIG, else ~/.ssh/config). Empty where there is none. Names that
/// are none of a machine are left out.
std::vector<std::string> ssh_aliases(const std::filesystem::path& file = {});

}  // namespace ringmaster
