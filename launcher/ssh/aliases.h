/// What stands in the files of ~/.ssh/config, whichever machine it is for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ringmaster {

/// Each `Host` without a wildcard, once, in the file's order, Include followed: of `file`, else of the file
/// that connections use (RINGMASTER_SSH_CONFIG, else ~/.ssh/config). Empty where there is none. Names that
/// are none of a machine are left out.
std::vector<std::string> ssh_aliases(const std::filesystem::path& file = {});

/// Every word behind `keyword` (in small letters) in the configuration that connections use,
/// /etc/ssh/ssh_config included, with all Host and Match blocks and Include followed.
std::vector<std::string> ssh_config_values(const std::string& keyword);

}  // namespace ringmaster
