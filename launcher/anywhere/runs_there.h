/// The runs on another machine that were launched over SSH, from wherever. Asking starts and stops nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/nodes/remote_run.h"

namespace ringmaster {

struct RunThere {
    std::string id;   ///< tells runs of one name apart
    RunSummary run;   ///< its dir is there; its step the last that this machine's ranks told
    size_t node = 0;  ///< which of the run's nodes the machine is
    bool is_of_slurm = false;
    /// Its remote.json: who shares its ranks, and the paths of `node` alone, derived from the machine's own
    /// data folder; no node in it is named. Empty: damaged, or of a Ringmaster that did not say where a run
    /// is.
    std::optional<RemoteRun> remote = {};

    std::string handle() const {
        return id + "/" + run.name;
    }  ///< for adopt_run, where the name is not enough
};

struct RunsThere {
    std::string host;                ///< as the person named it
    std::string address;             ///< at which it was reached
    std::string data_dir;            ///< ours there
    bool has_ringmaster = false;     ///< something of ours is there
    int own = 0;                     ///< runs that were started on the machine itself: they are watched there
    std::vector<std::string> names;  ///< of all runs that were launched there over SSH
    std::vector<RunThere> runs;      ///< those at work first, then the newest first
};

/// All of them, as they are now: what says that it is at work is asked whether it still lives. Throws
/// Error(Unreachable).
RunsThere runs_there(SshSession& session);

/// Those called `name` alone, as they wrote last; `id` empty: any.
RunsThere runs_there_called(SshSession& session, const std::string& id, const std::string& name);

/// What the machine answered, at most 10,000 names and 1,000 runs of it; lines that make no sense are
/// skipped.
RunsThere parse_runs_there(const std::string& text, const std::string& host);

/// Why there is nothing to follow: no Ringmaster there, none launched over SSH, only its own. Empty where
/// there is something.
std::string nothing_there_text(const RunsThere& there);

}  // namespace ringmaster
