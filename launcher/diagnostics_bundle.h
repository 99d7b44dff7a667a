/// One archive with what somebody needs who is to find out what went wrong with a run. Nothing secret is in
/// it (launcher/secrets.h); weights, rows and notes are not either.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "launcher/machine_report.h"
#include "launcher/places.h"
#include "launcher/run_directory.h"

namespace ringmaster {

struct BundledFile {
    std::string name;  ///< in the archive
    std::string text;  ///< without secrets
};

/// What goes into it: versions, this machine, plan, configuration, state, options, and of every rank (64 at
/// most) the end of its events and log. What is missing or cannot be read is left out and named in
/// README.txt.
std::vector<BundledFile> diagnostics_of(const RunDirectory& run, const MachineFacts& machine,
                                        const Places& places);

/// Writes them as a .tar.gz, made aside and then renamed; returns its path (".tar.gz" is appended where the
/// name does not end so). Throws Error. Off the GUI thread: it asks the engine for its version.
std::filesystem::path save_diagnostics(const RunDirectory& run, const std::filesystem::path& file,
                                       const Machine& machine, const Places& places);

}  // namespace ringmaster
