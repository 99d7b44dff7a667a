/// Reads a sweep: the settings of several runs of one configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ringmaster {

/// The keys of one run, with values as one line of YAML.
using SweptKeys = std::map<std::string, std::string>;

/// Returns the runs of `--sweep` options: all combinations of `key=[1, 2, 3]` options with each other and
/// with each mapping in a file's list. Without options, it returns one run without settings. Throws
/// Error(Usage) for a text that is neither, and for more than 1,000 runs.
std::vector<SweptKeys> runs_of_sweep(const std::vector<std::string>& options);

}  // namespace ringmaster
