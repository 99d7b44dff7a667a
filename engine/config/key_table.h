/// Defines the table in which keys.h looks keys up. It consists of groups of axolotl's keys that are treated
/// alike for the same reason.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/keys.h"

namespace ringmaster {

struct KeyGroup {
    Fate fate = Fate::Used;
    std::string_view why;
    std::string_view hint;
    std::string_view part_of;
    std::string_view keys;  ///< separated by spaces
};

const std::vector<KeyGroup>& key_groups();

struct KeyFault {
    std::string value;    ///< value for the message, such as ": 3"; empty for a mapping or a list
    std::string message;  ///< English
    std::vector<Fix> fixes;
};

/// Returns the edits that replace an Unsupported key as closely as possible, the best first; empty if nothing
/// can replace it.
std::vector<Fix> fixes_for(const KeyRule& rule, const Document& document);

/// Returns the fault in the value of an Unsupported key in `document`; nullopt if the key is switched
/// off.
std::optional<KeyFault> fault_of(const KeyRule& rule, const Document& document);

}  // namespace ringmaster
