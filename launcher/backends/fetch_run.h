/// Fetches the results of a run on other machines when the user asks for them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launcher/nodes/fetch.h"

namespace ringmaster {

struct FetchOffer {
    RunPhase state = RunPhase::Queued;
    bool has_model = false;            ///< true: the run has completed
    std::vector<int64_t> checkpoints;  ///< steps of the complete checkpoints, ascending
};

/// Returns true if the run's results are made on other machines.
bool makes_results_elsewhere(const RunDirectory& run);

/// Returns the place of a run's model on another machine, such as "gpu1:/home/ann/…", if that node is named;
/// else empty.
std::string model_elsewhere(const RunDirectory& run);

/// Returns what can be fetched. Throws Error(Unreachable), or Error(Usage) for a run on this machine.
FetchOffer fetch_offer(SshSession& first, const RunDirectory& run);

/// Opens a session with node 0, which holds the results. Throws what SshSession throws, and Error(Usage) for
/// a run on this machine.
SshSession session_with_first(const RunDirectory& run, const SshPerson& person);

struct FetchedRun {
    std::filesystem::path path;
    Fetched what;
};

/// Fetches the checkpoint of `step` or, without a step, the final model to the folder `to`. If `to` is empty,
/// fetches to the run directory's checkpoints or to output_dir. Throws like fetch_folder; also Error(Usage)
/// or Error(Refused), naming what exists, if the wanted model or checkpoint is missing or damaged.
FetchedRun fetch_run(SshSession& first, const RunDirectory& run, std::optional<int64_t> step,
                     const std::filesystem::path& to, const Progress& progress);

}  // namespace ringmaster
