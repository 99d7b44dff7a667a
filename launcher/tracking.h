/// Trackers of a run (Weights & Biases and others): what the processes that send to them are told, in
/// RUN/tracking/settings.json, and when the launching machine runs them itself.
///
///     {"id", "run", "base_dir", "output_dir", "trackers": {"wandb": "node"|"launcher", …}, "keys": {…},
///      "parameters": {…}}
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "engine/config/diagnostic.h"
#include "launcher/places.h"
#include "launcher/request.h"
#include "launcher/run_directory.h"

namespace ringmaster {

/// Whether a machine can send to a tracker, as its ringmaster-agent says.
struct TrackerState {
    std::string state = "none";  ///< ready; client: installed but not set up; none
    bool is_file = false;        ///< what is sent becomes a file of the machine that sends it
    std::string problem;         ///< client, key or password; empty: ready
    std::string remedy;
};
using TrackerStates = std::map<std::string, TrackerState>;  ///< by tracker

/// From the lines of `ringmaster-agent --trackers`, which a node may have sent: those that are none are
/// passed over, texts are cut.
TrackerStates parse_tracker_states(const std::string& text);

/// What this machine can send to. Empty if the agent is missing or says nothing.
TrackerStates tracker_states_here(const std::filesystem::path& settings, const Places& places);

/// Which machine sends to a tracker: "node" or "launcher". Files are written where the person is.
const char* sender_of(const TrackerState& node, const TrackerState& here);

std::filesystem::path tracking_settings(const RunDirectory& run);
bool has_trackers(const RunDirectory& run);

/// Writes the settings if the configuration asks for trackers, else removes them. Secrets are left out.
/// Throws Error(Refused).
void write_tracking(const RunDirectory& run, const Request& request, const Config& config);

/// What is not set up on this machine of the trackers that are asked for, as warnings. Takes some 0.1 s where
/// there are any.
Diagnostics tracker_findings(const Request& request, const Places& places);
/// The same of one tracker.
Diagnostic tracker_finding(const std::string& name, const TrackerState& state);

/// Starts what sends from this machine, if something is missing: of a run on other machines those trackers
/// that its nodes do not send to, as long as this program lives; of a run that is over, all.
void track_from_here(const RunDirectory& run, const Places& places);

}  // namespace ringmaster
