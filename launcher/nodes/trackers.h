/// Sets up the trackers of a run on other machines: node 0 or the launching machine sends to each of them.
#pragma once

#include "launcher/nodes/remote_run.h"

namespace ringmaster {

/// Sends the tracker package to node 0, asks both machines which trackers are set up, and writes the sender
/// of each tracker into tracking/settings.json on both. Warns of a tracker that neither has set up. Sends
/// alerts.json too, if node 0 is to deliver alerts. Does nothing if the run has neither trackers nor alerts
/// to deliver. Throws like stage_files.
void place_trackers(Node& node, const RemoteNode& there, const RunDirectory& run, const Places& places,
                    const Progress& progress);

}  // namespace ringmaster
