/// Makes a configuration run here: applies the fixes of its errors one after the other, then those that make
/// it fit, and says of each what it changes. Everything else in the text stays as it is, to the byte.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/request.h"

namespace ringmaster {

/// A line of the text that a fix takes out (`now` is empty) or puts in.
struct ChangedLine {
    int number =
        0;  ///< in the text before the fix for a line that goes, in the text after it for one that comes
    bool comes = false;
    std::string text;  ///< without its line end
};

/// Holds the sizes that a plan gives; nullopt if one is not known. A plan with errors knows no memory:
/// it leaves out what it could not read.
struct Size {
    std::optional<int64_t> memory_bytes;  ///< of the fullest rank
    std::optional<int64_t> global_batch;
    bool operator==(const Size&) const = default;
};

struct Adaptation {
    Diagnostic finding;  ///< what is gone
    Fix fix;
    std::vector<ChangedLine> lines;
    Size before, after;
};

struct Adapted {
    std::string text;
    std::vector<Adaptation> steps;
    Diagnostics missing;  ///< what no fix removes
    Plan plan;            ///< of the text
    Size before;          ///< of the file as it is
    Size after;
    bool readable = true;
};

/// `request.config` is the path that the text belongs to.
Adapted adapt_text(const std::string& text, const Request& request, const Machine& machine,
                   const Places& places);

/// The file's text. Throws Error(Usage) if the file cannot be read.
Adapted adapt(const Request& request, const Machine& machine, const Places& places);

/// The lines that differ, in the order of the text.
std::vector<ChangedLine> changed_lines(const std::string& before, const std::string& after);

}  // namespace ringmaster
