/// Starts and stops runs on this machine, and lists the commands that start one.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/events/run_state.h"
#include "engine/plan/nccl_settings.h"
#include "engine/plan/plan.h"
#include "launcher/base/places.h"
#include "launcher/machine/machine.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

struct StartCommand {
    std::vector<std::pair<std::string, std::string>> environment;  ///< variables added to the inherited ones
    std::vector<std::string> arguments;                            ///< the program comes first
};

/// The commands that start a run on one node.
struct NodeCommands {
    std::string host;
    StartCommand agent;
    std::vector<StartCommand> ranks;  ///< started by the agent, which chooses the port at the start
    std::vector<NcclSetting> nccl;  ///< settings that the ranks pass to NCCL unless the environment sets them
};

/// The attempt that an agent is asked to run.
struct Attempt {
    int ranks = 1;
    int number = 1;
    std::string resume = "none";  ///< "none", "latest", or a step number
    int restarts = 0;             ///< automatic restarts after a failure, from the newest complete checkpoint
};

NodeCommands local_commands(const RunDirectory& run, const Attempt& attempt, const Places& places, int cores);

/// Returns the command that starts the same run under torchrun.
std::string torchrun_command(const RunDirectory& run, int ranks, const Places& places);

std::string shell_quoted(const std::string& text);
std::string shell_line(const StartCommand& command);  ///< "VARIABLE=value program argument …"
nlohmann::json commands_to_json(const NodeCommands& node);

/// Throws Error if this machine cannot start the plan: no engine or agent, fewer GPUs than CUDA ranks, or
/// several nodes.
void require_startable(const Plan& plan, const Machine& machine, const Places& places);

/// Starts the agent in a new session and waits until it owns run.json. Throws Error(Unreachable) with the end
/// of agent.log if it does not start.
void start_agent(const RunDirectory& run, const Attempt& attempt, const Places& places);

enum class StopHow {
    FinishAndSave,  ///< finish the step and save a checkpoint
    Now,            ///< end without saving
};

/// Asks a run on this machine to stop, and returns at once; false if it is over already. Throws
/// Error(Unreachable) if it runs elsewhere, Error(Refused) if it has not been started or is a Slurm job.
bool request_stop(const RunDirectory& run, StopHow how);

}  // namespace ringmaster
