/// What the agents of a run tell each other about their nodes, as JSON on one line. Reading has limits:
/// bytes, depth, lengths and ranges.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/events/run_state.h"
#include "launcher/agent/verdict.h"

namespace ringmaster {

constexpr size_t kLongestLine = 4 << 20;  ///< bytes, of a line between agents

/// Long texts are cut.
std::string rank_ends_to_line(const std::vector<RankEnd>& ends);
/// Empty: damaged, or beyond the limits.
std::optional<std::vector<RankEnd>> rank_ends_from_line(std::string_view line);

std::string node_to_line(const NodeState& node);
/// Empty: damaged, or beyond the limits.
std::optional<NodeState> node_from_line(std::string_view line);

}  // namespace ringmaster
