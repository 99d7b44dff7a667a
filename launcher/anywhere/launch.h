/// Starting a run wherever it is to be: on this machine, on machines reached by SSH, or as a job of Slurm
/// that is submitted here or on a login node. The same for the command line and the app. Long; call it off
/// the GUI thread.
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
    std::vector<std::string> nodes;     ///< reached by SSH; for Slurm at most one, a login node. Empty: here
    std::optional<SlurmOptions> slurm;  ///< empty: no job of Slurm
    /// How a node that has no LibTorch gets one. Empty: it does not, and cannot train.
    std::optional<LibTorchWay> libtorch = {};

    bool is_here() const { return nodes.empty() && !slurm; }
    bool operator==(const Destination&) const = default;
};

/// A destination whose machines have been reached.
struct Reached {
    Destination to;
    std::vector<Node> nodes;  ///< logged in and able to train
    Machine machine;          ///< that a plan is made for
};

/// Told by the threads of several nodes, one at a time; what they have sent is told as one sum.
Progress summed(const Progress& progress);

/// Of a destination: brings LibTorch the way that was chosen; empty where none was.
Remedy remedy_of(const std::optional<LibTorchWay>& way, const Places& places, const Progress& progress);

/// What a machine has to bring for the programs here.
ProgramNeeds program_needs(const Places& places);

/// Where a run is that there is already. Throws Error.
Destination destination_of(const RunDirectory& run);

/// Throws Error(Usage) for names that are none or too many, Error(Unreachable) naming every machine that is
/// not reached or cannot train.
Reached reach(const Destination& to, const Places& places, const SshPerson& person, const Progress& progress);

/// What the destination says about ranks, nodes and the device, where the request does not. Throws
/// Error(Usage) where the two disagree.
Request request_at(Request request, const Destination& to, const Machine& machine);

/// Where a run stands once it has been started.
struct Started {
    std::optional<JobId> job;  ///< of Slurm
};

/// Brings a prepared run to the machines of its destination: nothing to do for this one. What fails is also
/// run.json's reason. Throws Error, Cancelled.
RemoteRun place_at(Reached& at, const PreparedRun& prepared, const Places& places, const Progress& progress);

/// Starts or submits what has been placed. What fails is also run.json's reason. Throws Error.
Started start_at(Reached& at, const RemoteRun& placed, const PreparedRun& prepared, const Places& places);

/// A run that is ready to go on, wherever it was.
struct Comeback {
    Reached at;
    ResumedRun resumed;
    RemoteRun remote;  ///< of a run that lives on other machines
    RemoteRun before;  ///< the same until now: it may have had more nodes
    int restarts = 0;  ///< by itself, as it was asked for
};

/// As prepare_resume. `slurm` are options of a job that are new. A run on other machines goes on with the
/// ranks that it had: Error(Usage) otherwise.
Comeback prepare_comeback(const RunDirectory& run, const ResumeOptions& options, const SlurmOptions& slurm,
                          const Places& places, const SshPerson& person, const Progress& progress);

/// The same on machines that have been reached, with the ranks of `remote`. Throws Error(Refused) where the
/// run goes on, as another machine may have started it again.
Comeback come_back(Reached at, RemoteRun remote, const RunDirectory& run, const ResumeOptions& options,
                   const Places& places, const Progress& progress);

/// As place_at and start_at.
void place_comeback(Comeback& comeback, const RunDirectory& run, const Places& places,
                    const Progress& progress);
Started start_comeback(Comeback& comeback, const RunDirectory& run, const Places& places);

/// The sessions of the machines, for a RunCompanion; `at` has none any more.
std::vector<std::unique_ptr<SshSession>> take_sessions(Reached& at);

/// What Slurm is told of a run: `remote` where it is submitted on a login node, else null.
SlurmSubmission submission_of(const RunDirectory& run, const RemoteRun* remote, const Plan& plan,
                              const SlurmOptions& options, const Places& places);

/// The cluster at a destination of Slurm; it uses the session of `at`.
std::unique_ptr<SlurmSite> site_at(Reached& at, const std::string& run_dir);

}  // namespace ringmaster
