/// What a person asks of Slurm: `key=value`, the long options of sbatch. Those that Ringmaster needs to know
/// are understood here; every other goes into the script as it is, and Slurm judges it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ringmaster {

struct SlurmOptions {
    std::vector<std::pair<std::string, std::string>> values;  ///< each key once; an empty value is a flag

    std::optional<std::string> value(const std::string& key) const;
    std::optional<int> nodes() const;
    std::optional<int> tasks_per_node() const;
    std::optional<int> gpus_per_node() const;  ///< of gres=gpu:… or gpus-per-node
    bool asks_for_gpus() const;
    std::optional<long> time_s() const;  ///< empty: not asked for, or without end
    /// Seconds before the end at which Slurm warns the ranks: `signal=`, else 120, a fifth of a shorter time.
    long warning_s() const;

    bool operator==(const SlurmOptions&) const = default;
};

/// `key=value` or `key`; a later one replaces an earlier. Throws Error(Usage) for what is no option of
/// sbatch, for those that the script sets itself, and for values with a line break.
SlurmOptions parse_slurm_options(const std::vector<std::string>& words);

/// `newer` over `older`.
SlurmOptions merged(const SlurmOptions& older, const SlurmOptions& newer);

/// Slurm's six forms: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes,
/// days-hours:minutes:seconds. Empty where it is none of them.
std::optional<long> slurm_seconds(const std::string& text);

nlohmann::json to_json(const SlurmOptions& options);
SlurmOptions slurm_options_of(const nlohmann::json& json);  ///< throws nlohmann's or Error(Usage)

}  // namespace ringmaster
