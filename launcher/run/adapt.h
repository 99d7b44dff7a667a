/// Makes a configuration runnable on this machine: applies the fixes of its errors one by one, then those
/// that make it fit in memory, and reports what each changes. The rest of the text stays the same, byte for
/// byte.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/run/request.h"

namespace ringmaster {

/// A line of the text that a fix removes (`comes` is false) or adds (`comes` is true).
struct ChangedLine {
    /// Line number, from 1: in the old text if the line is removed, in the new text if it is added.
    int number = 0;
    bool comes = false;
    std::string text;  ///< text of the line, without its line end
};

/// The sizes that a plan reports; nullopt if one is unknown. A plan with errors has no memory estimate,
/// because it may lack parts of the configuration.
struct PlanSize {
    std::optional<int64_t> memory_bytes;  ///< estimate for the fullest rank
    std::optional<int64_t> global_batch;
    bool operator==(const PlanSize&) const = default;
};

struct Adaptation {
    Diagnostic finding;  ///< finding that the fix removes
    Fix fix;
    std::vector<ChangedLine> lines;
    PlanSize before, after;
};

struct Adapted {
    std::string text;
    std::vector<Adaptation> steps;
    Diagnostics missing;  ///< findings that stop the run and that no fix removes
    Plan plan;            ///< plan of `text`
    PlanSize before;      ///< sizes of the file before any fix
    PlanSize after;
    bool readable = true;
};

/// Fixes `text` until the run can start. `request.config` is the path of the file that holds the text.
Adapted adapt_text(const std::string& text, const Request& request, const Machine& machine,
                   const Places& places);

/// Fixes the text of `request.config` as adapt_text does. Throws Error(Usage) if the file cannot be read.
Adapted adapt(const Request& request, const Machine& machine, const Places& places);

/// Returns the lines that differ between two texts, in the order of the text.
std::vector<ChangedLine> changed_lines(const std::string& before, const std::string& after);

}  // namespace ringmaster
