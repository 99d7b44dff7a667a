/// Runs on this machine: the commands that start one, starting its agent, stopping it.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/events/run_state.h"
#include "engine/plan/nccl_settings.h"
#include "engine/plan/plan.h"
#include "launcher/machine.h"
#include "launcher/places.h"
#include "launcher/run_directory.h"

namespace ringmaster {

struct StartCommand {
    std::vector<std::pair<std::string, std::string>> environment;  ///< beside what is inherited
    std::vector<std::string> arguments;                            ///< the program first
};

/// What starts a run on one node.
struct NodeCommands {
    std::string host;
    StartCommand agent;
    std::vector<StartCommand> ranks;  ///< what the agent starts; its port is chosen at the start
    std::vector<NcclSetting> nccl;    ///< what its ranks tell NCCL, where the environment says nothing
};

/// What an agent is told to do.
struct Attempt {
    int ranks = 1;
    int number = 1;
    std::string resume = "none";  ///< none, latest, or a step
    int restarts = 0;             ///< after a failure, from the newest complete checkpoint
};

NodeCommands local_commands(const RunDirectory& run, const Attempt& attempt, const Places& places, int cores);

/// The same run under torchrun.
std::string torchrun_command(const RunDirectory& run, int ranks, const Places& places);

std::string shell_quoted(const std::string& text);
std::string shell_line(const StartCommand& command);  ///< "VARIABLE=value program argument …"
nlohmann::json commands_to_json(const NodeCommands& node);

/// Throws Error where this machine cannot start the plan: no engine or agent, more CUDA ranks than GPUs,
/// several nodes.
void require_startable(const Plan& plan, const Machine& machine, const Places& places);

/// Starts the agent in a session of its own and waits until run.json is its. Throws Error(Unreachable) with
/// the end of agent.log where it did not come up.
void start_agent(const RunDirectory& run, const Attempt& attempt, const Places& places);

enum class StopHow {
    FinishAndSave,  ///< finish the step, save a checkpoint
    Now,            ///< without saving
};

/// Asks a run of this machine to stop; returns at once. False where it is over already. Throws
/// Error(Unreachable) where it runs elsewhere, Error(Refused) where nothing of it has been started.
bool request_stop(const RunDirectory& run, StopHow how);

}  // namespace ringmaster
