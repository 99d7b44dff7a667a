/// Does this engine compute what it should on this machine: in seconds, before a run is trusted to it.
/// (engine/train/selftest.h measures, too, and takes longer.)
#pragma once

#include <string>
#include <vector>

#include "engine/train/calibrate.h"

namespace ringmaster {

struct TrialOptions {
    Device device = Device::Cpu;
    int devices = 0;  ///< GPUs that are tried, of CUDA
};

struct TrialReport {
    std::string libtorch;             ///< its version
    std::vector<std::string> passed;  ///< "attention and gradients", "two ranks", "GPU 0"
    double seconds = 0;
};

/// Attention and its gradients beside plain products in double precision (engine/train/attention_check.h), on
/// the CPU and on each GPU, and two ranks that sum and exchange. Throws Error(Refused) naming what is wrong
/// and by how much, Error(Unreachable) where a device is missing.
TrialReport trial(const TrialOptions& options, const OnPart& on_part);

/// `ringmaster-engine --trial`: {"phase","done","total"} lines on stdout, then
/// {"result":{"libtorch","passed","seconds"}}. Exit status as run_session's. Never throws.
int print_trial(const TrialOptions& options);

}  // namespace ringmaster
