/// Lists names and values from ~/.ssh/config and the files that it includes, for all machines at once.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ringmaster {

/// Returns each `Host` name without a wildcard, once, in the order of `file` and the files that it includes.
/// The default is the file that connections use (RINGMASTER_SSH_CONFIG, else ~/.ssh/config). Returns none if
/// there is no file. Skips words that cannot name a machine.
std::vector<std::string> ssh_aliases(const std::filesystem::path& file = {});

/// Returns every word after `keyword` (in lower case) in all Host and Match blocks of the user's file, its
/// included files, and /etc/ssh/ssh_config unless RINGMASTER_SSH_CONFIG is set.
std::vector<std::string> ssh_config_values(const std::string& keyword);

}  // namespace ringmaster
