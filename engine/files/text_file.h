/// Reads small text files as a whole.
#pragma once

#include <filesystem>
#include <string>

namespace ringmaster {

/// Returns the file's text. Throws Error(Usage) with the file's name if it is a folder or cannot be opened.
std::string read_file(const std::filesystem::path& file);

/// Returns the file's text as far as it can be read; an empty text if the file cannot be opened. A file of
/// /proc can disappear between opening and reading, because its process ends.
std::string readable_text(const std::filesystem::path& file);

}  // namespace ringmaster
