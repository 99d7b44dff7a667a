/// Writes small text files atomically, and reads JSON.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "engine/files/text_file.h"

namespace ringmaster {

/// Writes a temporary file, flushes it to the disk and renames it. Throws Error(Refused) with the file's name
/// and the system's reason.
void write_file(const std::filesystem::path& file, std::string_view content);

/// Copies a text file like write_file. A user who cannot read the original cannot read the copy either.
/// Throws what read_file and write_file throw.
void copy_text_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// Removes a folder's permissions for those who have none on `file`, so that files next to it stay private.
void restrict_folder(const std::filesystem::path& folder, const std::filesystem::path& file);

/// Reads a JSON object of at most 64 MiB and 64 levels. Throws like read_file, and Error(Refused) if invalid.
nlohmann::json read_json_file(const std::filesystem::path& file);

/// Makes the folder and its parents. Throws Error(Refused).
void make_folder(const std::filesystem::path& folder);

}  // namespace ringmaster
