/// The table behind keys.h: groups of axolotl's keys that share a fate and a reason.
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
    std::vector<std::string_view> keys;
};

const std::vector<KeyGroup>& key_groups();

struct KeyFault {
    std::string message;
    std::string hint;
};

/// What is wrong with this value of an Unsupported key; nullopt where the value leaves it switched off.
std::optional<KeyFault> fault_of(const KeyRule& rule, const nlohmann::json& value);

}  // namespace ringmaster
