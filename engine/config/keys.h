/// Lists axolotl's complete schema as a table that says how each key of a file is treated, with one reason
/// per group of keys.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/read_config.h"

namespace ringmaster {

enum class Fate {
    Used,
    NoEffect,     ///< no effect with any value
    Unsupported,  ///< an error if the value switches the key on; otherwise without effect
};

struct KeyRule {
    std::string_view key;
    Fate fate = Fate::Used;
    std::string_view why;      ///< NoEffect: reason; Unsupported: what the key would change
    std::string_view hint;     ///< Unsupported: nearest thing that works
    std::string_view part_of;  ///< key without which this key has no effect
};

/// Returns nullptr if neither axolotl's schema nor ours has the key.
const KeyRule* find_key(std::string_view key);

std::vector<std::string> known_keys();  ///< returns all known keys, sorted, for completion

/// Returns whether the value switches something on: not null, false, 0, empty or the word none.
bool is_on(const nlohmann::json& value);

struct Document;

/// Sorts every top-level key into its list, and reports unknown and unsupported keys.
KeyVerdicts judge_keys(const Document& document, Diagnostics& diagnostics);

}  // namespace ringmaster
