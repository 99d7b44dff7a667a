/// Measures what this machine's parts do in a second, with the kernels and groups that training uses: matrix
/// products, attention forward and backward, a copy, and a message between two ranks of this node.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "engine/plan/calibration.h"
#include "engine/plan/plan.h"

namespace ringmaster {

struct CalibrationOptions {
    Device device = Device::Cpu;
    int devices = 0;            ///< GPUs that may be used; from two on the link between them is measured
    double seconds_each = 1.2;  ///< of each of the nine figures
};

/// Told before each part what comes, and how many parts there are.
using OnPart = std::function<void(const std::string& name, int done, int total)>;

/// On the CPU with all cores that this process may run on. Throws Error where the device is missing.
Calibration calibrate(const CalibrationOptions& options, const OnPart& on_part);

/// Says on stderr, in one line, what went wrong and what to do. The exit status that goes with it.
int say_failure(const std::exception& problem);

/// `ringmaster-engine --calibrate`: {"phase","done","total"} lines on stdout, then {"result":{…}}. Exit
/// status as run_session's. Never throws.
int print_calibration(const CalibrationOptions& options);

}  // namespace ringmaster
