/// The targets that a person has named, each with its last check: nodes.json in this user's data folder.
/// Nothing secret is in it.
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

/// This machine comes first, always. What is damaged is left out; a file that is none at all is as one that
/// is missing.
std::vector<RosterEntry> read_roster(const std::filesystem::path& file);

/// Throws Error(Refused).
void write_roster(const std::filesystem::path& file, const std::vector<RosterEntry>& entries);

}  // namespace ringmaster
