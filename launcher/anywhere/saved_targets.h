/// Keeps the targets that the user has named, each with its last check, in nodes.json in the user's data
/// folder. The file holds no secrets.
///
///     [{"kind": "ssh", "host": "ann@gpu2:2222", "checked": …, "report": {as `nodes --json`}, "partitions":
///     […]}, …]
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "launcher/anywhere/targets.h"

namespace ringmaster {

struct SavedTarget {
    Target target;
    std::optional<TargetReport> last;
};

std::filesystem::path saved_targets_file(const Places& places);

/// Reads the list; this machine always comes first. Skips damaged entries; a file without a list counts as
/// missing.
std::vector<SavedTarget> read_saved_targets(const std::filesystem::path& file);

/// Writes the list. Throws Error(Refused).
void write_saved_targets(const std::filesystem::path& file, const std::vector<SavedTarget>& entries);

}  // namespace ringmaster
