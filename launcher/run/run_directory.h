/// Names, makes, finds, lists and deletes run directories. In each, options.json holds the request that the
/// run was made from.
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

/// Throws Error(Usage) if a name is empty, has a slash or a control character, begins with a dot or is longer
/// than 100 bytes.
void check_run_name(const std::string& name);

/// Returns the file's stem and the local date, "llama-2026-11-21"; check_run_name always accepts it.
std::string suggest_run_name(const std::string& config_file);

/// Makes `<runs_dir>/<name>`, or `<name>-2`, `-3`, … if that is taken. Throws Error.
RunDirectory create_run_directory(const std::filesystem::path& runs_dir, const std::string& name);

/// Returns the directory that create_run_directory would make now.
std::filesystem::path next_run_directory(const std::filesystem::path& runs_dir, const std::string& name);

/// Finds a run by name in `runs_dir`, or by path. Throws Error(Usage) with the nearest name that exists.
RunDirectory find_run(const std::string& name_or_path, const std::filesystem::path& runs_dir);

/// Returns true for a run that is recorded as completed but whose events end before its last step. Early
/// stopping ends a run sooner, too, but then an event says that it is done.
bool is_cut_short(RunPhase state, bool is_done, std::optional<int64_t> step,
                  std::optional<int64_t> total_steps);
/// Returns the sentence that says at which step the events of a run that was cut short end.
std::string cut_short_text(int64_t step);

struct RunSummary {
    std::string name;
    std::filesystem::path dir;
    RunState state;
    std::optional<int64_t> step;  ///< last step of rank 0
    std::optional<int64_t> total_steps;
    std::optional<double> loss;
    bool is_done = false;  ///< rank 0's last event says that it completed the run

    bool is_cut_short() const { return ringmaster::is_cut_short(state.state, is_done, step, total_steps); }
};

/// Reads a run's state and progress. A damaged run counts as failed, and the summary says what is damaged.
RunSummary read_summary(const RunDirectory& run);

/// Lists runs, newest first. Skips folders that are not runs.
std::vector<RunSummary> list_runs(const std::filesystem::path& runs_dir);

/// Returns an object with name, dir, state, incomplete (it was cut short), step, total_steps, loss, started
/// and reason.
nlohmann::json summary_to_json(const RunSummary& run);

/// Deletes the run and everything in it. Throws Error(Refused) if it is still active or the folder is not a
/// run directory.
void delete_run(const RunDirectory& run);

/// Returns the steps of the complete checkpoints, ascending.
std::vector<int64_t> complete_checkpoints(const RunDirectory& run);

/// Returns a process of the run that is alive on this machine, if any: its agent or a rank.
std::optional<ProcessId> living_process(const RunState& state);

}  // namespace ringmaster
