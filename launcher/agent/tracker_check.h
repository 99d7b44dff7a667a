/// Which Python of this machine can send to which tracker.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ringmaster {

struct TrackerCheck {
    std::string state = "none";  ///< ready; client: installed but not set up; none
    std::string store = "server", problem, remedy;
    std::filesystem::path python;  ///< that said so; empty: there is no Python at all
};

/// The Pythons that a person may have: of VIRTUAL_ENV, of PATH, then Ringmaster's own and the one of the
/// LibTorch beside this program. Each is there and executable.
std::vector<std::filesystem::path> pythons_here();

/// The Python package that sends; missing where only the agent was installed.
std::filesystem::path tracking_package();

/// By tracker, the best answer of all Pythons; the first of equal ones.
std::map<std::string, TrackerCheck> check_trackers(const std::filesystem::path& settings);

/// The same from one Python's answer; lines that are none are passed over.
std::map<std::string, TrackerCheck> parse_checks(const std::string& text,
                                                 const std::filesystem::path& python);

}  // namespace ringmaster
