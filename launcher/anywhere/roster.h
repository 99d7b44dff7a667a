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

struct RosterEntry {
    Target target;
    std::optional<TargetReport> last;
};

std::filesystem::path roster_file(const Places& places);

/// Reads the list; this machine always comes first. Skips damaged entries; a file without a list counts as
/// missing.
std::vector<RosterEntry> read_roster(const std::filesystem::path& file);

/// Writes the list. Throws Error(Refused).
void write_roster(const std::filesystem::path& file, const std::vector<RosterEntry>& entries);

}  // namespace ringmaster
