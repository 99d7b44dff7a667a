/// Describes a run's trackers (Weights & Biases and others): the settings of the processes that send to them,
/// in RUN/tracking/settings.json, and when the launching machine runs those processes itself.
///
///     {"id", "run", "base_dir", "output_dir", "trackers": {"wandb": "node"|"launcher", …}, "keys": {…},
///      "parameters": {…}}
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "engine/config/diagnostic.h"
#include "launcher/base/places.h"
#include "launcher/run/request.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

/// Says whether a machine can send to a tracker, as that machine's ringmaster-agent found.
struct TrackerState {
    std::string state = "none";  ///< "ready"; "client": installed but not set up; "none"
    bool is_file = false;        ///< true: the tracker writes a file on the sending machine
    std::string problem;         ///< "client", "key" or "password"; empty: ready
    std::string remedy;
};
using TrackerStates = std::map<std::string, TrackerState>;  ///< states by the tracker's name

/// Parses the lines of `ringmaster-agent --trackers`, which a node may have sent: skips invalid lines and
/// cuts long texts.
TrackerStates parse_tracker_states(const std::string& text);

/// Returns the trackers' states on this machine; none if the agent is missing or prints nothing.
TrackerStates tracker_states_here(const std::filesystem::path& settings, const Places& places);

/// Returns which machine sends to a tracker: "node" or "launcher". The node sends if its client is ready,
/// else the launching machine. A tracker that writes a file prefers the launching machine.
const char* sender_of(const TrackerState& node, const TrackerState& here);

std::filesystem::path tracking_settings(const RunDirectory& run);
bool has_trackers(const RunDirectory& run);

/// Writes the settings if the configuration asks for trackers, else removes them. Secrets are left out.
/// Throws Error(Refused).
void write_tracking(const RunDirectory& run, const Request& request, const Config& config);

/// Returns a warning for each tracker that is asked for and not set up on this machine. Takes about 0.1 s if
/// there are any.
Diagnostics tracker_findings(const Request& request, const Places& places);
/// Returns the warning about one tracker.
Diagnostic tracker_finding(const std::string& name, const TrackerState& state);

/// Starts the processes that send from this machine, if steps are missing at a tracker. For a run on other
/// machines, these send to the trackers that no node sends to, and end with this program. For a run that is
/// over, they send to all trackers.
void track_from_here(const RunDirectory& run, const Places& places);

}  // namespace ringmaster
