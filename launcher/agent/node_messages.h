/// Defines the messages that the agents of a run's nodes exchange. fleet.h sends them as lines, and
/// agent_lines.h limits what a line may hold.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "launcher/agent/fleet.h"
#include "launcher/agent/verdict.h"

namespace ringmaster {

/// To node 0: a node's ranks have started.
struct NodeHere {
    NodeState node;
};

/// To node 0: how each of a node's ranks ended.
struct RanksEnded {
    std::vector<RankEnd> ends;
};

/// From node 0: the run is over, and why.
struct RunOver {
    RunVerdict verdict;
};

/// To and from node 0: the run's owner wants it to stop.
struct StopWanted {
    bool now = false;  ///< true: without saving
};

/// To and from node 0: a rank has failed, so the others must end.
struct RankFailed {};

/// Never sent: the peer is gone, or what it sends cannot be trusted.
struct PeerLost {
    std::string code;  ///< a reason's code, such as "node-gone"
};

using NodeMessage = std::variant<NodeHere, RanksEnded, RunOver, StopWanted, RankFailed, PeerLost>;

/// Returns the line for Fleet::send.
std::string line_of(const NodeMessage& message);

/// Reads a message; nullopt if its word is not known. A message that cannot be read is a PeerLost.
std::optional<NodeMessage> read_node_message(const FleetMessage& message);

}  // namespace ringmaster
