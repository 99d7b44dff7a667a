/// Records when axolotl knew a key and what replaced it, for every top-level key that any release read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

struct KeyHistory {
    std::string_view key;
    std::string_view releases;     ///< "0.1.0-0.4.0 0.6.0": ranges of releases, separated by spaces
    std::string_view replaced_by;  ///< newer key with the same or almost the same meaning; may be empty
};

/// Returns the table of axolotl_keys.tsv, sorted by key.
const std::vector<KeyHistory>& key_histories();

/// Returns nullptr if no release of axolotl knew the key.
const KeyHistory* history_of(std::string_view key);

/// Returns "axolotl 0.1.0-0.4.0 had it; output_dir replaced it", or nothing if the newest release has it.
std::string past_of(std::string_view key);

}  // namespace ringmaster
