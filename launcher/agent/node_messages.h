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

/// Tells node 0 that a node's ranks have started.
struct NodeHere {
    NodeState node;
};

/// Tells node 0 how each of a node's ranks ended.
struct RanksEnded {
    std::vector<RankEnd> ends;
};

/// Tells the other nodes that the run is over, and why.
struct RunOver {
    RunVerdict verdict;
};

/// Tells node 0, and from there the others, that the user wants the run to stop.
struct StopWanted {
    bool now = false;  ///< true: without saving
};

/// Tells node 0, and from there the others, that a rank has failed and all must end.
struct RankFailed {};

/// Says that the peer is gone or cannot be trusted. The receiver creates this message; it is never sent.
struct PeerLost {
    std::string code;                    ///< code of a reason, such as "node-gone"
    std::vector<std::string> with = {};  ///< values of the reason's text after the node's name
};

using NodeMessage = std::variant<NodeHere, RanksEnded, RunOver, StopWanted, RankFailed, PeerLost>;

/// Returns the line for Fleet::send.
std::string line_of(const NodeMessage& message);

/// Reads a message; nullopt if its word is not known. A message that cannot be read is a PeerLost.
std::optional<NodeMessage> read_node_message(const FleetMessage& message);

}  // namespace ringmaster
