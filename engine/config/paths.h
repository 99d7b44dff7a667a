/// Handles paths as a configuration writes them: relative to its folder, with ~ for the home folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace ringmaster {

/// Expands `~`, resolves relative paths against `base_dir`, and removes dots without reading the disk.
std::string absolute_path(const std::string& base_dir, const std::string& path);

/// Returns whether `path` can only be a path: it starts with /, ./, ../ or ~, or is neither `name` nor
/// `owner/name`.
bool looks_like_path(const std::string& path);

/// Returns the absolute path from the current folder; unchanged if that folder is gone.
std::string full_path(const std::string& path);
std::string parent_of(const std::string& path);

bool is_folder(const std::string& path);
bool exists(const std::string& path);

/// Returns the first `most` bytes of a file; nullopt if it is a folder or cannot be opened.
std::optional<std::string> read_at_most(const std::string& path, std::size_t most);

}  // namespace ringmaster
