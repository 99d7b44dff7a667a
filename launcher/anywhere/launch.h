/// Starts a run at its destination: on this machine, on machines reached by SSH, or as a Slurm job submitted
/// here or on a login node. The command line and the app share this code. It takes long; call it off the GUI
/// thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/nodes/fleet.h"
#include "launcher/nodes/libtorch.h"
#include "launcher/nodes/remote_run.h"
#include "launcher/resume.h"
#include "launcher/slurm/slurm_run.h"

namespace ringmaster {

struct Destination {
    std::vector<std::string> nodes;     ///< reached by SSH; for Slurm at most one, a login node; empty: here
    std::optional<SlurmOptions> slurm;  ///< nullopt: no Slurm job
    /// How to install LibTorch on a node that has none; nullopt: do not, so that it cannot train.
    std::optional<LibTorchWay> libtorch = {};

    bool is_here() const { return nodes.empty() && !slurm; }
    bool operator==(const Destination&) const = default;
};

/// A destination whose machines are connected.
struct Reached {
    Destination to;
    std::vector<Node> nodes;  ///< connected nodes that can train
    Machine machine;          ///< the machine to plan for
};

/// Lets the threads of several nodes report, one at a time, and adds up what they have sent.
Progress summed(const Progress& progress);

/// Returns the remedy that installs LibTorch the chosen way; empty if no way was chosen.
Remedy remedy_of(const std::optional<LibTorchWay>& way, const Places& places, const Progress& progress);

/// Returns what a machine must have to run the programs installed here.
ProgramNeeds program_needs(const Places& places);

/// Returns the destination of an existing run. Throws Error.
Destination destination_of(const RunDirectory& run);

/// Connects to the destination. Throws Error(Usage) for invalid or too many names, Error(Unreachable) with
/// every machine that cannot be reached or cannot train.
Reached reach(const Destination& to, const Places& places, const SshPerson& person, const Progress& progress);

/// Completes the request with the destination's ranks, nodes and device, if it does not set them. Throws
/// Error(Usage) if the two disagree.
Request request_at(Request request, const Destination& to, const Machine& machine);

/// The result of starting a run.
struct Started {
    std::optional<JobId> job;  ///< set for Slurm only
};

/// Sends a prepared run to the machines of its destination; does nothing for this machine. A failure is also
/// recorded in run.json. Throws Error, Cancelled.
RemoteRun place_at(Reached& at, const PreparedRun& prepared, const Places& places, const Progress& progress);

/// Starts or submits a run after place_at. A failure is also recorded in run.json. Throws Error.
Started start_at(Reached& at, const RemoteRun& placed, const PreparedRun& prepared, const Places& places);

/// A run that is ready to resume at its destination.
struct Comeback {
    Reached at;
    ResumedRun resumed;
    RemoteRun remote;  ///< its nodes; empty if it is not remote
    RemoteRun before;  ///< nodes of the last attempt, perhaps more than now
    int restarts = 0;  ///< automatic restarts, as requested
};

/// Prepares a resume like prepare_resume; `slurm` are new options of the job. A run on other machines keeps
/// its number of ranks: Error(Usage) otherwise.
Comeback prepare_comeback(const RunDirectory& run, const ResumeOptions& options, const SlurmOptions& slurm,
                          const Places& places, const SshPerson& person, const Progress& progress);

/// Does the same on connected machines, with the ranks of `remote`. Throws Error(Refused) if the run is
/// active, since another machine may have restarted it.
Comeback come_back(Reached at, RemoteRun remote, const RunDirectory& run, const ResumeOptions& options,
                   const Places& places, const Progress& progress);

/// Do what place_at and start_at do, for a resume.
void place_comeback(Comeback& comeback, const RunDirectory& run, const Places& places,
                    const Progress& progress);
Started start_comeback(Comeback& comeback, const RunDirectory& run, const Places& places);

/// Moves the sessions out of `at`, for a RunCompanion.
std::vector<std::unique_ptr<SshSession>> take_sessions(Reached& at);

/// Returns the job of a run; `remote` is its place on a login node, or null if it is submitted here.
SlurmSubmission submission_of(const RunDirectory& run, const RemoteRun* remote, const Plan& plan,
                              const SlurmOptions& options, const Places& places);

/// Returns the cluster of a Slurm destination; it uses the session in `at`.
std::unique_ptr<SlurmSite> site_at(Reached& at, const std::string& run_dir);

}  // namespace ringmaster
