/// Checks which Python of this machine can send to which tracker.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ringmaster {

struct TrackerCheck {
    std::string state = "none";  ///< ready; client: installed but not set up; none: not installed
    std::string store = "server", problem, remedy;
    std::filesystem::path python;  ///< Python that gave the answer; empty: there is no Python at all
};

/// Returns the Pythons to try: those of VIRTUAL_ENV and PATH, then those of Ringmaster's environments and of
/// the LibTorch next to this program. Each exists and is executable.
std::vector<std::filesystem::path> pythons_here();

/// Returns the folder of the Python package that sends to trackers; it does not exist if only the agent was
/// installed.
std::filesystem::path tracking_package();

/// Returns the best answer of all Pythons for each tracker; the first of equally good answers wins.
std::map<std::string, TrackerCheck> check_trackers(const std::filesystem::path& settings);

/// Returns each tracker's state from the output of one Python; skips lines that are not answers.
std::map<std::string, TrackerCheck> parse_checks(const std::string& text,
                                                 const std::filesystem::path& python);

}  // namespace ringmaster
