/// What ringmaster-agent is asked to do.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace ringmaster {

struct AgentOptions {
    std::filesystem::path run_dir;  ///< absolute
    int ranks = 0;
    std::optional<int> attempt;    ///< else one more than run.json's
    std::string resume = "auto";   ///< auto, latest, none or a step; the engine judges it
    std::filesystem::path engine;  ///< absolute
    int restarts = 0;              ///< after a failure, from the newest complete checkpoint
    bool foreground = false;

    // Of a run on several nodes:
    int node = 0;  ///< 0: the node of rank 0
    int nodes = 1;
    int first_rank = 0;  ///< of this node
    int world_size = 0;  ///< 0: `ranks`
    std::string listen;  ///< node 0: its address that the others reach; the run's token is in DIR/token
    std::string meet;    ///< the others: ADDRESS:STORE_PORT:AGENT_PORT, as node 0's agent printed it

    bool has_others() const { return nodes > 1; }
    int all_ranks() const { return world_size > 0 ? world_size : ranks; }
    /// Where this agent's own run.json and agent.log are: beside each other on a shared file system.
    std::filesystem::path own_dir() const {
        return node == 0 ? run_dir : run_dir / ("node-" + std::to_string(node));
    }
};

constexpr int kMaxRanks = 1024;  ///< of one node
constexpr int kMaxNodes = 4096;

extern const char* const kAgentUsage;

/// `arguments` without the program's name. Throws Error(Usage) for arguments that make no sense,
/// Error(Unreachable) where the run directory or the engine is missing or cannot be used.
AgentOptions parse_agent_options(std::span<char* const> arguments);

}  // namespace ringmaster
