/// The run directory: names, making, finding, listing and deleting. Its files are those of the contract;
/// options.json says how the run was asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/events/run_state.h"

namespace ringmaster {

struct RunDirectory {
    std::filesystem::path dir;  ///< absolute

    std::string name() const { return dir.filename().string(); }
    std::filesystem::path config() const { return dir / "config.yaml"; }
    std::filesystem::path accelerate() const { return dir / "accelerate.yaml"; }
    std::filesystem::path plan() const { return dir / "plan.json"; }
    std::filesystem::path options() const { return dir / "options.json"; }
    std::filesystem::path state() const { return dir / "run.json"; }
    std::filesystem::path preflight() const { return dir / "preflight.json"; }
    std::filesystem::path events() const { return dir / "events"; }
    std::filesystem::path logs() const { return dir / "logs"; }
    std::filesystem::path checkpoints() const { return dir / "checkpoints"; }
    std::filesystem::path agent_log() const { return dir / "agent.log"; }
};

/// Throws Error(Usage) where a name is empty, has a slash or control character, begins with a dot or is
/// longer than 100 bytes.
void check_run_name(const std::string& name);

/// The file's stem and the local date: "llama-2026-11-21"; always a name that check_run_name takes.
std::string suggest_run_name(const std::string& config_file);

/// Makes `<runs_dir>/<name>`, or `<name>-2`, `-3`, … where that is taken. Throws Error.
RunDirectory create_run_directory(const std::filesystem::path& runs_dir, const std::string& name);

/// The directory that create_run_directory would make now.
std::filesystem::path next_run_directory(const std::filesystem::path& runs_dir, const std::string& name);

/// By name in `runs_dir`, or by path. Throws Error(Usage), naming the nearest run that there is.
RunDirectory find_run(const std::string& name_or_path, const std::filesystem::path& runs_dir);

struct RunSummary {
    std::string name;
    std::filesystem::path dir;
    RunState state;
    std::optional<int64_t> step;  ///< last of rank 0
    std::optional<int64_t> total_steps;
    std::optional<double> loss;
};

/// Newest first. A folder that is no run is skipped; a damaged run is listed as failed with what is wrong.
std::vector<RunSummary> list_runs(const std::filesystem::path& runs_dir);

/// The contract's object: name, dir, state, step, total_steps, loss, started, reason.
nlohmann::json summary_to_json(const RunSummary& run);

/// Deletes it with everything in it. Throws Error(Refused) where it is still running or the folder is no run
/// directory.
void delete_run(const RunDirectory& run);

/// Steps of the checkpoints that were saved to the end, ascending.
std::vector<int64_t> complete_checkpoints(const RunDirectory& run);

/// A process of the run that still lives here, if any: its agent or a rank.
std::optional<ProcessId> living_process(const RunState& state);

}  // namespace ringmaster
