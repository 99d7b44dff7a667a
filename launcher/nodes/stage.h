/// Sends files to a machine. Each content is identified by its hash and sent only once. A file has a
/// temporary name until it is complete and verified; an interrupted transfer is continued.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "launcher/base/progress.h"
#include "launcher/nodes/fleet.h"

namespace ringmaster {

struct StagedFile {
    std::filesystem::path from;  ///< path here
    std::string to;              ///< absolute path on the node
    bool executable = false;
};

/// Code of the progress step for sending files; the step's value is the node's name.
inline constexpr const char* kSending = "send";

/// Returns the SHA-256 in hexadecimal. Remembers a large file's hash in the cache folder until the file
/// changes, so that a model is not read before every launch. Throws Error(Usage) if unreadable, Cancelled.
std::string content_hash(const std::filesystem::path& file, const Progress& progress);

struct Staged {
    int64_t sent_bytes = 0;  ///< content sent over the network
    int64_t all_bytes = 0;
};

/// Sends files. Throws Error(Refused) if the disk is full, Error(Unreachable) if the connection is lost; a
/// partial file is kept for the next time.
Staged stage_files(Node& node, const std::vector<StagedFile>& files, const Progress& progress);

/// Writes a small text to a file on a node that only this user can read.
void write_remote_file(SshSession& session, const std::string& path, const std::string& content);

}  // namespace ringmaster
