/// Lists the runs that any machine has launched on another machine by SSH. Starts and stops nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/nodes/remote_run.h"

namespace ringmaster {

struct RunThere {
    std::string id;   ///< distinguishes runs with the same name
    RunSummary run;   ///< `dir` and `step` are those on that machine
    size_t node = 0;  ///< index of the machine among the run's nodes
    bool is_of_slurm = false;
    /// Nodes and ranks from the run's remote.json. Only `node` has paths, which are derived from that
    /// machine's data folder; no node is named. nullopt: the file is damaged, or an older Ringmaster did not
    /// write it.
    std::optional<RemoteRun> remote = {};

    /// Returns the run as followed on the node that was asked. `target` is the user's name for that node,
    /// `host` its name in messages. Throws Error(Refused) if the run cannot be followed.
    RemoteRun followed_at(const std::string& target, const std::string& host) const;

    /// Returns the name by which adopt_run finds this run if several runs have the same name.
    std::string handle() const { return id + "/" + run.name; }
};

struct RunsThere {
    std::string host;             ///< name given by the user
    std::string address;          ///< address at which it was reached
    std::string data_dir;         ///< Ringmaster's data folder there
    bool has_ringmaster = false;  ///< true: the data folder exists
    /// Number of runs started on the machine itself, which only users there can watch
    int own = 0;
    std::vector<std::string> names;  ///< names of all runs launched there by SSH
    std::vector<RunThere> runs;      ///< active runs first, each group from newest to oldest
};

/// Returns all runs in their current state: asks the agents of active runs if they are still alive. Throws
/// Error(Unreachable).
RunsThere runs_there(SshSession& session);

/// Returns only the runs called `name`, in the state that was last recorded; an empty `id` means any.
RunsThere runs_there_called(SshSession& session, const std::string& id, const std::string& name);

/// Parses the machine's answer: at most 10,000 names and 1,000 runs. Skips invalid lines.
RunsThere parse_runs_there(const std::string& text, const std::string& host);

/// Says why there is nothing to follow: no Ringmaster there, no run launched by SSH, or only the machine's
/// own runs. Empty if there are runs.
std::string nothing_there_text(const RunsThere& there);

}  // namespace ringmaster
