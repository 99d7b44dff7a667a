/// Writes and reads the messages about nodes that the agents of a run exchange: JSON on one line. The readers
/// limit a line's size, nesting depth, text lengths and value ranges.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/events/run_state.h"
#include "launcher/agent/verdict.h"

namespace ringmaster {

constexpr size_t kLongestLine = 4 << 20;  ///< maximum length of a line between agents, in bytes

/// Returns a line that says how each rank ended; cuts long texts.
std::string rank_ends_to_line(const std::vector<RankEnd>& ends);
/// Returns how each rank ended, read from a line; nullopt if the line is damaged or exceeds a limit.
std::optional<std::vector<RankEnd>> rank_ends_from_line(std::string_view line);

std::string node_to_line(const NodeState& node);
/// Returns a node's state, read from a line; nullopt if the line is damaged or exceeds a limit.
std::optional<NodeState> node_from_line(std::string_view line);

}  // namespace ringmaster
