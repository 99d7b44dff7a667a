/// Defines one interface to the places where a run can live: this machine, machines reached by SSH, and
/// Slurm, used here or on a login node. The launcher and the app list, start, follow, stop, resume and fetch
/// runs through this interface, whichever place it is. Most calls take long, so make them off the GUI thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/nodes/fleet.h"
#include "launcher/nodes/libtorch.h"
#include "launcher/nodes/remote_run.h"
#include "launcher/run/resume.h"
#include "launcher/slurm/job_id.h"
#include "launcher/slurm/options.h"

namespace ringmaster {

struct Destination {
    /// Machines reached by SSH; for Slurm at most one, a login node. Empty: this machine.
    std::vector<std::string> nodes;
    std::optional<SlurmOptions> slurm;  ///< nullopt: no Slurm job
    /// How to install LibTorch on a node that has none; nullopt: LibTorch is not installed, and such a node
    /// cannot train.
    std::optional<LibTorchWay> libtorch = {};

    bool operator==(const Destination&) const = default;
};

/// The program that restarts a failed run.
enum class Restarter {
    Agent,     ///< the run's agent, for a run on a single machine; needs no other program
    Follower,  ///< the program that follows a run over several nodes
    Slurm,     ///< Slurm, by Slurm's rules
};

struct RestartLimits {
    int restarts = 0;         ///< largest number of restarts
    bool may_shrink = false;  ///< true: may restart on fewer nodes without asking
};

/// The result of starting a run.
struct Started {
    std::optional<JobId> job;  ///< set for Slurm only
};

/// One session per node of a run; an empty one is opened when it is needed.
using Sessions = std::vector<std::unique_ptr<SshSession>>;

struct LaunchPreview;
class RunFollower;
class RunResults;
struct RunsThere;

class RunBackend {
  public:
    explicit RunBackend(Destination to) : to_(std::move(to)) {}
    virtual ~RunBackend() = default;
    RunBackend(const RunBackend&) = delete;
    RunBackend& operator=(const RunBackend&) = delete;

    const Destination& destination() const { return to_; }
    const Machine& machine() const { return machine_; }  ///< the machine to plan for; known after reach()
    virtual Restarter restarter() const = 0;
    virtual bool has_queue() const { return false; }   ///< true: a run may wait before it starts
    virtual bool can_shrink() const { return false; }  ///< true: a run can continue without a lost node

    /// Lists the runs of the destination. For this machine, these are the runs in `places.runs_dir`.
    /// Otherwise they are the runs that any machine has launched on the first node; take_sessions() then
    /// returns the session to that node. Throws Error(Unreachable).
    RunsThere list(const Places& places, const SshPerson& person);

    // A launch makes these calls in this order.

    /// Connects to the destination. Throws Error(Usage) for invalid or too many names, Error(Unreachable)
    /// with every machine that cannot be reached or cannot train.
    virtual void reach(const Places& places, const SshPerson& person, const Progress& progress);

    /// Completes the request with the destination's ranks, nodes and device, if it does not set them. Throws
    /// Error(Usage) if the two disagree.
    virtual Request complete(Request request, const Machine&) const { return request; }

    /// Plans the completed request for machine(). Throws like require_launchable of launcher/run/prepare.h.
    Proposal propose(const Request& request, const Places& places) const;

    /// Throws Error if the plan cannot start there, as far as that is known without contacting a machine or
    /// scheduler.
    virtual void require_startable(const Plan&, const Places&) const {}

    /// Returns what a launch would start, without starting or creating anything. Throws Error(Usage) if plan
    /// and destination do not match.
    LaunchPreview preview(const Proposal& proposal, const RunOptions& options, const Places& places) const;

    /// Asks the scheduler whether it would accept the run, and returns the job's script; empty if there is no
    /// scheduler. Throws Error(Unreachable) with the scheduler's message.
    virtual std::string try_start(const Proposal&, const RunOptions&, const Places&) { return ""; }

    /// Leaves the scheduler's script in a prepared run directory, for users who submit it themselves.
    virtual void write_script(const RunDirectory&, const Plan&, const Places&) const {}

    /// Sends a prepared run to the machines of its destination; does nothing for this machine. A failure is
    /// also recorded in run.json. Throws Error, Cancelled.
    void place(const RunDirectory& run, const Plan& plan, const Places& places, const Progress& progress);

    /// Starts or submits a run after place(). A failure is also recorded in run.json. Throws Error.
    Started start(const RunDirectory& run, const Plan& plan, const Places& places);

    // A run that a queue starts later is placed now and starts in another process: that process calls
    // has_begun(), place() and start().

    /// Records the parts of the destination that place() does not record. By default there are none.
    virtual void record_destination(const RunDirectory&) const {}

    /// Returns true if the run has been started although run.json still says that it waits: the process that
    /// started it was killed before it could record that. Records the start now, and takes over the run's
    /// places on other machines. Throws Error(Unreachable).
    virtual bool has_begun(const RunDirectory&) { return false; }

    /// Hands the open sessions over to the caller, who passes them to follow().
    Sessions take_sessions();

    // A resume calls continue_run(), reach(), prepare(), place() and start().

    /// Takes over the places of the run's last attempt, and new options for its job. Throws Error(Usage) if
    /// the run cannot continue with these options.
    virtual void continue_run(const RunDirectory& run, const ResumeOptions& options,
                              const SlurmOptions& slurm);

    /// Continues the run at `remote` in place of the nodes of its last attempt.
    void continue_at(RemoteRun remote) { remote_ = std::move(remote); }

    /// Calls prepare_resume of launcher/run/resume.h after fetching the checkpoint from the last attempt's
    /// nodes. Throws Error(Refused) if the run is active, since another machine may have restarted it.
    ResumedRun prepare(const RunDirectory& run, const ResumeOptions& options, const Places& places,
                       const Progress& progress);

    virtual Started start_resumed(const RunDirectory& run, const ResumedRun& resumed, const Places& places);

    // These calls are about a run that exists, and need no connection.

    /// Returns true if the run may change although no process here changes it: it is not over, or a scheduler
    /// has not yet been asked how it ended.
    virtual bool is_pending(const RunDirectory& run) const = 0;

    /// Keeps the local run directory up to date while the result lives; opens sessions that are missing.
    virtual std::unique_ptr<RunFollower> follow(const RunDirectory& run, Sessions sessions,
                                                const SshPerson& person) const;

    /// Stops the run as request_stop of launcher/run/local_node.h does.
    virtual bool stop(const RunDirectory& run, StopHow how, const SshPerson& person) const = 0;

    /// Returns true if another machine makes the run's results. Then `results` can fetch them.
    bool has_results_elsewhere(const RunDirectory& run) const;

    /// Returns the place of the run's model on another machine, such as "gpu1:/home/ann/…", if the user has
    /// named that machine; else empty.
    std::string model_elsewhere(const RunDirectory& run) const;

    /// Connects to the machine that holds the run's results. Throws what SshSession throws, and Error(Usage)
    /// for a run on this machine.
    std::unique_ptr<RunResults> results(const RunDirectory& run, const SshPerson& person) const;

    /// Updates run.json if a job could not report how it ended but the scheduler knows. Throws
    /// Error(Unreachable).
    virtual void settle(const RunDirectory&, const SshPerson&) const {}

  protected:
    virtual Started start_attempt(const RunDirectory& run, const Plan& plan, const Attempt& attempt,
                                  const Places& places) = 0;
    virtual void preview_into(LaunchPreview& preview, const Proposal& proposal,
                              const Places& places) const = 0;
    virtual RemoteRun lay_out(const RunDirectory&, const Plan&, const Places&) const { return {}; }
    /// Waits for the end of the last attempt, and updates the run here.
    virtual void catch_up(const RunDirectory&, const Progress&) {}

    Destination to_;
    std::vector<Node> nodes_;  ///< connected nodes that can train
    Machine machine_;
    RemoteRun remote_;  ///< the run's places; without nodes if the run is on this machine or not placed yet
    RemoteRun before_;  ///< the last attempt's places; it may have had more nodes than the next one
};

std::unique_ptr<RunBackend> backend_for(const Destination& to);

/// Returns the backend of an existing run, for the calls that need no connection.
std::unique_ptr<RunBackend> backend_of(const RunDirectory& run);

/// Returns a connected backend. Throws like RunBackend::reach.
std::unique_ptr<RunBackend> reach(const Destination& to, const Places& places, const SshPerson& person,
                                  const Progress& progress);

/// Returns the backend of nodes that are connected already, one per name.
std::unique_ptr<RunBackend> backend_on(std::vector<std::string> names, std::vector<Node> nodes);

/// Returns the destination of an existing run. Throws Error.
Destination destination_of(const RunDirectory& run);

/// Returns a destination in Slurm. Each of `options` has the form `key=value`. `login` names at most one
/// login node; without one, Slurm is used on this machine. Throws Error(Usage) for an option that is not
/// valid.
Destination slurm_destination(const std::vector<std::string>& options, std::vector<std::string> login);

/// Tells people where an existing run lives.
struct RunPlace {
    std::vector<std::string> hosts;  ///< empty: this machine
    std::optional<std::string> job;  ///< job number in Slurm, empty before it is submitted; nullopt: no job
};
RunPlace place_of(const RunDirectory& run);  ///< throws Error

}  // namespace ringmaster
