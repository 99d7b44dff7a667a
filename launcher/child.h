/// Another program that a long step runs to its end, line by line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launcher/progress.h"

namespace ringmaster {

struct ChildProgram {
    std::string program;
    std::vector<std::string> arguments;
    std::string what;  ///< the step, as a failure names it
    std::string hint;  ///< of a failure
};

/// Both may be empty.
struct ChildWatch {
    /// Each line of its stdout and stderr. False: not worth quoting where the program fails.
    std::function<bool(const std::string&)> line;
    std::function<void()> tick;  ///< about ten times a second
};

/// Runs it in a session of its own; it dies with this process. Throws Error(Unreachable) with the end of what
/// it said where it cannot be started or fails, Cancelled where the person does not want it any more.
void run_child(const ChildProgram& child, const ChildWatch& watch, const Progress& progress);

}  // namespace ringmaster
