/// Parses what a user asks of Slurm: `key=value`, the long options of sbatch. Options that Ringmaster must
/// know are interpreted here; all others go into the script unchanged, and Slurm judges them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ringmaster {

struct SlurmOptions {
    std::vector<std::pair<std::string, std::string>> values;  ///< each key once; a flag has an empty value

    std::optional<std::string> value(const std::string& key) const;
    std::optional<int> nodes() const;
    std::optional<int> tasks_per_node() const;
    std::optional<int> gpus_per_node() const;  ///< value of gres=gpu:… or gpus-per-node
    bool asks_for_gpus() const;
    std::optional<long> time_s() const;  ///< nullopt: not requested, or no limit
    /// Returns how many seconds before the time limit Slurm warns the ranks: the value of `signal=`, else a
    /// fifth of the time limit, but at most 120 s.
    long warning_s() const;

    bool operator==(const SlurmOptions&) const = default;
};

/// Parses `key=value` or `key`; a later one replaces an earlier. Throws Error(Usage) for anything but an
/// option of sbatch, for options that the script sets itself, and for control characters in values.
SlurmOptions parse_slurm_options(const std::vector<std::string>& words);

/// Returns `older` with the options of `newer` added or replaced.
SlurmOptions merged(const SlurmOptions& older, const SlurmOptions& newer);

/// Parses Slurm's six forms of a time: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
/// days-hours:minutes, days-hours:minutes:seconds. nullopt for anything else.
std::optional<long> slurm_seconds(const std::string& text);

nlohmann::json to_json(const SlurmOptions& options);
SlurmOptions slurm_options_of(const nlohmann::json& json);  ///< throws nlohmann's exceptions or Error(Usage)

}  // namespace ringmaster
