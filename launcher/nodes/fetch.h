/// Fetches a run's results from its node 0 to this machine: the final model and checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "launcher/nodes/from_node.h"
#include "launcher/nodes/remote_run.h"

namespace ringmaster {

struct Fetched {
    int files = 0;
    int64_t bytes = 0;                       ///< size of all files
    int64_t received = 0;                    ///< bytes received over the network this time
    std::vector<std::string> left_out = {};  ///< some names on the node that belong to no model or checkpoint
};

/// Copies the files directly below a folder on a node to a local folder, which is created if missing. Each
/// file gets a temporary name, is verified by its hash, flushed, and then renamed. Local files with the same
/// content are not sent again; a partial file is resumed. Skips folders and names that belong to no model or
/// checkpoint. Progress counts the bytes of all files. Throws Error(Unreachable) if the connection is lost or
/// the content differs, Error(Refused) if a file cannot be written or the disk is full, and Cancelled.
/// Removes `complete`, config.json and adapter_config.json before another file changes and writes them last,
/// so that a partial folder never looks complete.
Fetched fetch_folder(SshSession& session, const std::string& from, const std::filesystem::path& to,
                     const Progress& progress);

/// Returns the steps of the complete checkpoints on node 0, ascending.
std::vector<int64_t> checkpoints_there(SshSession& first, const RemoteRun& remote);

/// Fetches node 0's newest undamaged checkpoint (or that of `step`) to the local run directory, from which a
/// resume sends it to every node. Newer damaged ones are fetched too, so that the choice of a checkpoint here
/// reports them. Local checkpoints that are newer than all of node 0's belong to an abandoned timeline and
/// are set aside. Call it only after the run's end. Does nothing if node 0 has none.
void fetch_checkpoint(SshSession& first, const RemoteRun& remote, const RunDirectory& run,
                      std::optional<int64_t> step, const Progress& progress);

}  // namespace ringmaster
