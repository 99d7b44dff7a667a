/// Paths as a configuration writes them: relative to its folder, ~ for the home folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace ringmaster {

/// `~` expanded, relative paths put below `base_dir`, dots resolved without looking at the disk.
std::string absolute_path(const std::string& base_dir, const std::string& path);

/// Whether `path` can only be meant as a path: it starts with /, ./, ../ or ~, or is no `name` or
/// `owner/name`.
bool looks_like_path(const std::string& path);

/// Absolute, from the current folder; as it is where that is gone.
std::string full_path(const std::string& path);
std::string parent_of(const std::string& path);

bool is_folder(const std::string& path);
bool exists(const std::string& path);

/// The first `most` bytes of a file; nullopt where it is a folder or cannot be opened.
std::optional<std::string> read_at_most(const std::string& path, std::size_t most);

}  // namespace ringmaster
