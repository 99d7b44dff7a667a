/// Small text files, read and written whole.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace ringmaster {

/// Throws Error(Usage) naming the file where it cannot be opened.
std::string read_file(const std::filesystem::path& file);

/// Written aside, flushed to the disk, renamed. Throws Error(Refused) naming the file and the system's
/// reason.
void write_file(const std::filesystem::path& file, std::string_view content);

/// Copies a text file as write_file does. Nobody may read the copy who may not read the original. Throws as
/// both.
void copy_text_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// Takes from a folder what others may not do with `file`: beside a private file everything is private.
void restrict_folder(const std::filesystem::path& folder, const std::filesystem::path& file);

/// Of 64 MiB and 64 levels at most. Throws Error(Usage) missing, Error(Refused) no JSON object.
nlohmann::json read_json_file(const std::filesystem::path& file);

/// Makes the folder and those above it. Throws Error(Refused).
void make_folder(const std::filesystem::path& folder);

}  // namespace ringmaster
