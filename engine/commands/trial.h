/// Checks within seconds that this engine computes correctly on this machine, before a run relies on it.
/// (engine/commands/selftest.h also measures, and takes longer.)
#pragma once

#include <string>
#include <vector>

#include "engine/commands/calibrate.h"

namespace ringmaster {

struct TrialOptions {
    Device device = Device::Cpu;
    int devices = 0;  ///< CUDA GPUs to test
};

struct TrialReport {
    std::string libtorch;             ///< version of LibTorch
    std::vector<std::string> passed;  ///< e.g. "attention and gradients", "two ranks", "GPU 0"
    double seconds = 0;
};

/// Compares attention and its gradients with plain products in double precision
/// (engine/check/attention_check.h), on the CPU and each GPU, and sums and exchanges tensors between two
/// ranks. Throws Error(Refused) with the fault and its size, Error(Unreachable) if a device is missing.
TrialReport trial(const TrialOptions& options, const OnPart& on_part);

/// Runs `ringmaster-engine --trial`: prints {"phase","done","total"} lines on stdout, then
/// {"result":{"libtorch","passed","seconds"}}. Returns an exit status as run_session does. Never throws.
int print_trial(const TrialOptions& options);

}  // namespace ringmaster
