/// Measures this machine's speeds with the kernels and groups that training uses. The figures cover matrix
/// products, attention forward and backward, a copy, messages between two ranks of this node, and a disk.
#pragma once

#include <functional>
#include <string>

#include "engine/plan/calibration.h"
#include "engine/plan/plan.h"

namespace ringmaster {

struct CalibrationOptions {
    Device device = Device::Cpu;
    int devices = 0;            ///< number of GPUs available; with two or more, measures their link
    std::string disk;           ///< folder whose disk is also measured; empty to measure no disk
    double seconds_each = 1.2;  ///< seconds for each of the nine figures
};

/// Called before each part with its name, the parts done and the total.
using OnPart = std::function<void(const std::string& name, int done, int total)>;

/// Measures the speeds; on the CPU with all cores that this process may use. Throws Error if the device is
/// missing.
Calibration calibrate(const CalibrationOptions& options, const OnPart& on_part);

/// Runs `ringmaster-engine --calibrate`: prints {"phase","done","total"} lines on stdout, then
/// {"result":{…}}. Returns an exit status as run_session does. Never throws.
int print_calibration(const CalibrationOptions& options);

}  // namespace ringmaster
