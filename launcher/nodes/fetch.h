/// Bringing what a run made from its node 0 to this machine: the final model, checkpoints.
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
    int64_t bytes = 0;                       ///< of all files
    int64_t received = 0;                    ///< of them, over the network now
    std::vector<std::string> left_out = {};  ///< names there that are no part of a model or checkpoint; some
};

/// Brings what is below a folder there to one here (made), each file aside, verified by its hash, flushed,
/// then renamed. Files that are here already with the same content are not sent; one that was cut goes on
/// where it ended. Names that are none of a model or checkpoint, and folders, are left out. Progress counts
/// the bytes of all files. Throws Error(Unreachable) where the connection is lost or content does not come as
/// it is there, Error(Refused) where it cannot be written here or the disk has no room for it, Cancelled.
/// `complete`, config.json and adapter_config.json go before another file changes and come last: half of a
/// folder is never taken for a whole one.
Fetched fetch_folder(SshSession& session, const std::string& from, const std::filesystem::path& to,
                     const Progress& progress);

/// Steps of the complete checkpoints on node 0, ascending.
std::vector<int64_t> checkpoints_there(SshSession& first, const RemoteRun& remote);

/// Brings the newest whole checkpoint of node 0 (or that of `step`) to the local run directory, from where a
/// resume sends it to every node; newer damaged ones come too, so that the choice here says what is wrong
/// with them. Copies here that are newer than any there are of another timeline and set aside. Only for a run
/// that has ended. Nothing where there is none.
void fetch_checkpoint(SshSession& first, const RemoteRun& remote, const RunDirectory& run,
                      std::optional<int64_t> step, const Progress& progress);

}  // namespace ringmaster
