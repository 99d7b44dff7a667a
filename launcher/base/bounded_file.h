/// Reads files of run directories, which anybody may have written. A read never returns more bytes than asked
/// for, never reads a pipe or a device, and never blocks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ringmaster {

/// Size and time of the last change of a regular file; both are 0 if there is none.
struct FileStamp {
    int64_t bytes = 0;
    int64_t changed_ns = 0;
    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp stamp_of(const std::filesystem::path& file);

/// Reads at most `bytes` bytes from `offset`, fewer at the end of the file; nullopt if the file is not a
/// readable regular file.
std::optional<std::string> read_part(const std::filesystem::path& file, int64_t offset, int64_t bytes);

/// Returns the whole file. Throws Error(Usage) if it is missing or not a regular file, Error(Refused) if it
/// is longer than `most_bytes`.
std::string read_bounded(const std::filesystem::path& file, int64_t most_bytes);

/// Returns at most the last `bytes` of a file, from the start of a line; empty if it cannot be read.
std::string read_tail(const std::filesystem::path& file, int64_t bytes);

}  // namespace ringmaster
