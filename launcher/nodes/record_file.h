/// Reads and appends to the files of a local run directory that its nodes write. Follows no symbolic link
/// below the run directory, and touches only regular files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ringmaster {

/// Returns the size of the file in bytes; 0 if it does not exist. Throws Error(Refused) if it is a link or
/// not a regular file.
int64_t record_bytes(const std::filesystem::path& run_dir, const std::string& name);

/// Appends to the file, which must end at `offset`; makes the file and its folder if needed. Throws
/// Error(Refused) like record_bytes, for another offset, or if it cannot be written.
void append_record(const std::filesystem::path& run_dir, const std::string& name, int64_t offset,
                   std::string_view bytes);

}  // namespace ringmaster
