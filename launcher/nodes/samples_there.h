/// Sends a node the prompts that a run continues while it trains (RUN/samples.json).
#pragma once

#include <string>
#include <vector>

#include "launcher/nodes/fleet.h"
#include "launcher/nodes/remote_run.h"
#include "launcher/nodes/stage.h"

namespace ringmaster {

/// Returns samples.json with the paths of a node, and adds the files to send to `files`. Returns an empty
/// text if the run has no prompts.
std::string samples_there(const RunDirectory& run, const RemoteNode& there, std::vector<StagedFile>& files);

/// Writes samples.json on the node, or removes that of an earlier attempt if `text` is empty.
void place_samples(Node& node, const RemoteNode& there, const RunDirectory& run, const std::string& text);

}  // namespace ringmaster
