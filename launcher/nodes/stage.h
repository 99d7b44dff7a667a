/// Bringing files to a machine: each by the hash of its content, once, under a temporary name until it is
/// whole and verified; a transfer that was cut goes on where it ended.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "launcher/nodes/fleet.h"
#include "launcher/progress.h"

namespace ringmaster {

struct StagedFile {
    std::filesystem::path from;  ///< here
    std::string to;              ///< there, absolute
    bool executable = false;
};

/// What Progress calls the sending itself, before the node's name.
inline const std::string kSendingTo = "sending to ";

/// SHA-256, in hexadecimal. Of a large file it is kept in the cache folder until the file changes, so that a
/// model is read once and not before every launch. Throws Error(Usage) where it cannot be read, Cancelled.
std::string content_hash(const std::filesystem::path& file, const Progress& progress);

struct Staged {
    int64_t sent_bytes = 0;  ///< of content, over the network
    int64_t all_bytes = 0;
};

/// Throws Error(Refused) for a full disk, Error(Unreachable) where the connection is lost; what came so far
/// is kept for the next time.
Staged stage_files(Node& node, const std::vector<StagedFile>& files, const Progress& progress);

/// Small content of ours, readable by this user only.
void write_remote_file(SshSession& session, const std::string& path, const std::string& content);

/// Brings what is below a folder there to one here (made), verified by its hash, each file aside and then
/// renamed. Files that are here already with the same content are not sent.
void fetch_folder(SshSession& session, const std::string& from, const std::filesystem::path& to,
                  const Progress& progress);

}  // namespace ringmaster
