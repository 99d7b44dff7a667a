/// Files that are either whole or not there: written aside, flushed to the disk, renamed.
#pragma once

#include <filesystem>
#include <string_view>

namespace ringmaster {

/// Throws Error(Refused) naming the file and the system's reason (a full disk, say); the old content stays
/// then.
void write_file_durably(const std::filesystem::path& path, std::string_view content);

/// Flushes a folder's entries (names of files made or renamed in it) to the disk.
void sync_directory(const std::filesystem::path& dir);

/// Error(Refused) "writing PATH: No space left on device", from errno.
[[noreturn]] void throw_write_error(const std::filesystem::path& path);

}  // namespace ringmaster
