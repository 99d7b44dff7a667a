/// Reading files of run directories that anybody may have put there: never more than asked for, never a pipe
/// or a device, never waiting.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ringmaster {

/// Size and last change of a regular file; both 0 where there is none.
struct FileStamp {
    int64_t bytes = 0;
    int64_t changed_ns = 0;
    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp stamp_of(const std::filesystem::path& file);

/// From `offset` at most `bytes`; fewer at the end. Empty optional: no regular file, or it cannot be opened.
std::optional<std::string> read_part(const std::filesystem::path& file, int64_t offset, int64_t bytes);

/// The whole file. Throws Error(Usage) where it is missing or no regular file, Error(Refused) where it is
/// longer than `most_bytes`.
std::string read_bounded(const std::filesystem::path& file, int64_t most_bytes);

/// The whole lines at the end of a file, of `bytes` at most.
std::string read_tail(const std::filesystem::path& file, int64_t bytes);

}  // namespace ringmaster
