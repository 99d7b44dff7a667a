/// Parses the arguments of ringmaster-agent.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/words/arguments.h"

namespace ringmaster {

struct AgentOptions {
    std::filesystem::path run_dir;  ///< absolute path
    int ranks = 0;
    std::optional<int> attempt;    ///< number of the attempt; unset: one more than run.json's
    std::string resume = "auto";   ///< auto, latest, none or a step; the engine checks it
    std::filesystem::path engine;  ///< absolute path
    /// Number of restarts after failures, each from this timeline's newest checkpoint
    int restarts = 0;
    bool foreground = false;

    // The next members describe a run on several nodes.
    int node = 0;  ///< number of this node; node 0 runs rank 0
    int nodes = 1;
    int first_rank = 0;  ///< first rank of this node
    int world_size = 0;  ///< number of ranks on all nodes; 0: the same as `ranks`
    /// Node 0 only: address on which it listens for the others; the run's token is in DIR/token
    std::string listen;
    std::string meet;  ///< other nodes only: ADDRESS:STORE_PORT:AGENT_PORT, as node 0's agent printed it

    bool has_others() const { return nodes > 1; }
    int all_ranks() const { return world_size > 0 ? world_size : ranks; }
    /// Returns the folder of this agent's run.json and agent.log. Each node has a different one, because the
    /// file system may be shared.
    std::filesystem::path own_dir() const {
        return node == 0 ? run_dir : run_dir / ("node-" + std::to_string(node));
    }
};

constexpr int kMaxRanks = 1024;  ///< maximum number of ranks on one node
constexpr int kMaxNodes = 4096;

/// Returns the command-line options of all modes of ringmaster-agent.
const CommandSpec& agent_command();

/// Returns the options for supervising ranks. Throws Error(Usage) for invalid options, Error(Unreachable) if
/// the run directory or the engine is missing or cannot be used.
AgentOptions agent_options(const Arguments& given);

}  // namespace ringmaster
