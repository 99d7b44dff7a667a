/// When axolotl knew a key, and what replaced it: every top-level key that any release of axolotl read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

struct KeyHistory {
    std::string_view key;
    std::string_view releases;     ///< "0.1.0-0.4.0 0.6.0": spans of releases, separated by a space
    std::string_view replaced_by;  ///< a newer key that does the same, or most of it; may be empty
};

/// By key, sorted (axolotl_keys.tsv).
const std::vector<KeyHistory>& key_histories();

/// nullptr: no release of axolotl knew it.
const KeyHistory* history_of(std::string_view key);

/// "axolotl 0.1.0-0.4.0 had it; output_dir replaced it", empty for a key that the newest release has.
std::string past_of(std::string_view key);

}  // namespace ringmaster
