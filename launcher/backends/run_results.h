/// Fetches the results of a run that another machine holds, when the user asks for them.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "launcher/nodes/fetch.h"
#include "launcher/nodes/remote_run.h"

namespace ringmaster {

struct FetchOffer {
    RunPhase state = RunPhase::Queued;
    bool has_model = false;            ///< true: the run has completed
    std::vector<int64_t> checkpoints;  ///< steps of the complete checkpoints, ascending
};

struct FetchedRun {
    std::filesystem::path path;
    Fetched what;
};

/// Holds the session with a run's node 0, which has the results. RunBackend::results makes it.
class RunResults {
  public:
    RunResults(RunDirectory run, RemoteRun remote, SshSession first)
        : run_(std::move(run)), remote_(std::move(remote)), first_(std::move(first)) {}

    /// Returns what can be fetched. Throws Error(Unreachable).
    FetchOffer offer();

    /// Fetches the checkpoint of `step` or, without a step, the final model to the folder `to`. If `to` is
    /// empty, fetches to the run directory's checkpoints or to output_dir. Throws like fetch_folder; also
    /// Error(Usage) or Error(Refused), naming what exists, if the wanted model or checkpoint is missing or
    /// damaged.
    FetchedRun fetch(std::optional<int64_t> step, const std::filesystem::path& to, const Progress& progress);

  private:
    struct Wanted;
    Wanted checkpoint(int64_t step, const std::filesystem::path& to);
    Wanted model(const std::filesystem::path& to);

    RunDirectory run_;
    RemoteRun remote_;
    SshSession first_;
};

}  // namespace ringmaster
