/// The files that hold host keys: read within limits, and appended to without losing a byte.
#pragma once

#include "launcher/ssh/host_key_verdict.h"

namespace ringmaster {

/// Files that do not exist are left out, except RevokedHostKeys. Throws NodeError "unchecked-host-key" for
/// the machine `host`, naming the setting and the path, for what is no file, cannot be read, or is larger
/// than 16 MiB.
HostKeyFiles read_host_key_files(const HostKeySettings& settings, const std::string& host);

/// Appends a line, after ending the file's last line if that is open. The file keeps its mode, and as it was
/// on an error. A missing file and its folder are made, for the user alone. Throws std::system_error.
void append_known_host(const std::string& path, const std::string& line);

}  // namespace ringmaster
