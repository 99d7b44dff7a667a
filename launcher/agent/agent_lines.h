/// Writes and reads the messages about nodes that the agents of a run exchange: JSON on one line. Readers
/// limit bytes, depth, lengths and ranges.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/events/run_state.h"
#include "launcher/agent/verdict.h"

namespace ringmaster {

constexpr size_t kLongestLine = 4 << 20;  ///< most bytes of a line between agents

/// Returns a line with the ranks' ends; cuts long texts.
std::string rank_ends_to_line(const std::vector<RankEnd>& ends);
/// Returns the ranks' ends from a line; nothing if it is damaged or beyond the limits.
std::optional<std::vector<RankEnd>> rank_ends_from_line(std::string_view line);

std::string node_to_line(const NodeState& node);
/// Returns a node's state from a line; nothing if it is damaged or beyond the limits.
std::optional<NodeState> node_from_line(std::string_view line);

}  // namespace ringmaster
