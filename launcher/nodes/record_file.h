/// The files of a local run directory that its nodes add to. Below the run directory no symbolic link is
/// followed, and nothing but a regular file is read or written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ringmaster {

/// Bytes of the file; 0 where it is not there. Throws Error(Refused) where a link or no regular file is in
/// its place.
int64_t record_bytes(const std::filesystem::path& run_dir, const std::string& name);

/// Adds to the end of the file, which has to be at `offset`; makes it and its folder. Throws Error(Refused):
/// as record_bytes, at another offset, or where it cannot be written.
void append_record(const std::filesystem::path& run_dir, const std::string& name, int64_t offset,
                   std::string_view bytes);

}  // namespace ringmaster
