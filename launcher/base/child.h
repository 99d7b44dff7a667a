/// Runs another program to its end as part of a long step, and passes on its output line by line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launcher/base/progress.h"

namespace ringmaster {

struct ChildProgram {
    std::string program;
    std::vector<std::string> arguments;
    std::string what;  ///< name of the step, shown if the program fails
    std::string hint;  ///< advice shown if the program fails
};

/// Callbacks while the program runs; either may be empty.
struct ChildWatch {
    /// Called with each line of stdout and stderr. Returns false if an error message need not quote the line.
    std::function<bool(const std::string&)> line;
    std::function<void()> tick;  ///< called about ten times per second
};

/// Runs the program in a new session; it dies when this process dies. Throws Error(Unreachable) with the end
/// of its output if it cannot be started or fails, and Cancelled if the user cancels.
void run_child(const ChildProgram& child, const ChildWatch& watch, const Progress& progress);

}  // namespace ringmaster
