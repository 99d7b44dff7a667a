/// Makes one archive with what a user needs to find out what went wrong with a run. It holds no secrets
/// (launcher/base/secrets.h), weights, rows or notes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "launcher/base/places.h"
#include "launcher/machine/machine_report.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

struct BundledFile {
    std::string name;  ///< path inside the archive
    std::string text;  ///< content, with secrets masked
};

/// Returns the files of the bundle: versions, this machine, plan, configuration, state, options, and for each
/// rank (at most 64) the end of its events and log. README.txt names what is left out because it is missing
/// or cannot be read.
std::vector<BundledFile> diagnostics_of(const RunDirectory& run, const MachineFacts& machine,
                                        const Places& places);

/// Writes the bundle as a .tar.gz under a temporary name, renames it and returns its path (with ".tar.gz"
/// appended if missing). Throws Error. Call it off the GUI thread: it starts the engine to ask its version.
std::filesystem::path save_diagnostics(const RunDirectory& run, const std::filesystem::path& file,
                                       const Machine& machine, const Places& places);

}  // namespace ringmaster
