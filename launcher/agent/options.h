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
    bool foreground = false;
};

constexpr int kMaxRanks = 1024;  ///< of one node

extern const char* const kAgentUsage;

/// `arguments` without the program's name. Throws Error(Usage) for arguments that make no sense,
/// Error(Unreachable) where the run directory or the engine is missing or cannot be used.
AgentOptions parse_agent_options(std::span<char* const> arguments);

}  // namespace ringmaster
