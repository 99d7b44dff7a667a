/// Reads files of host keys up to a size limit, and appends to them without losing a byte.
#pragma once

#include "launcher/ssh/host_key_verdict.h"

namespace ringmaster {

/// Reads the files; skips those that do not exist, except RevokedHostKeys. Throws NodeError
/// "unchecked-host-key" for the machine `host`, with the setting and the path, if one is not a file, cannot
/// be read, or is larger than 16 MiB.
HostKeyFiles read_host_key_files(const HostKeySettings& settings, const std::string& host);

/// Appends a line, after ending an unfinished last line. The file keeps its mode; after an error its content
/// is unchanged. Makes a missing file and folder for the user alone. Throws std::system_error.
void append_known_host(const std::string& path, const std::string& line);

}  // namespace ringmaster
