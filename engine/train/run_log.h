/// The rank's own text: on stdout, and in logs/rank-00000.log where nobody redirects stdout there already
/// (under torchrun, srun or alone).
#pragma once

#include <filesystem>
#include <string>

namespace ringmaster {

/// Also write to `file` from now on. Throws Error(Refused) where it cannot be opened.
void open_log_file(const std::filesystem::path& file);

/// One line with its time of day, flushed.
void log_line(const std::string& text);

}  // namespace ringmaster
