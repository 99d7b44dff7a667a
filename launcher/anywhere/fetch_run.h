/// What a run on other machines has made, brought here because a person asks for it.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "launcher/nodes/fetch.h"

namespace ringmaster {

struct FetchOffer {
    RunPhase state = RunPhase::Queued;
    bool has_model = false;            ///< the final one: it has completed
    std::vector<int64_t> checkpoints;  ///< steps of the complete ones, ascending
};

/// Throws Error(Unreachable), Error(Usage) for a run of this machine.
FetchOffer fetch_offer(SshSession& first, const RunDirectory& run);

/// A session with the machine that holds it. Throws as SshSession does, Error(Usage) for a run of this
/// machine.
SshSession session_with_first(const RunDirectory& run, const SshPerson& person);

struct FetchedRun {
    std::filesystem::path path;
    Fetched what;
};

/// The checkpoint of `step`, else the final model; to `to`, else to the run directory's checkpoints or to
/// output_dir. Throws Error(Usage) and Error(Refused) for what is not there, naming what is, and as
/// fetch_folder does.
FetchedRun fetch_run(SshSession& first, const RunDirectory& run, std::optional<int64_t> step,
                     const std::filesystem::path& to, const Progress& progress);

}  // namespace ringmaster
