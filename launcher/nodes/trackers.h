/// The trackers of a run on other machines: who sends to each, node 0 or the machine that launched the run.
#pragma once

#include "launcher/nodes/remote_run.h"

namespace ringmaster {

/// Brings what sends to trackers to node 0, asks there and here which trackers are set up, and writes into
/// both tracking/settings.json who sends to which. A tracker that is set up on neither is told as a warning.
/// Does nothing if the run has no trackers. Throws as stage_files.
void place_trackers(Node& node, const RemoteNode& there, const RunDirectory& run, const Places& places,
                    const Progress& progress);

}  // namespace ringmaster
