/// Does this engine compute what it should on this machine: in two seconds, before a run is trusted to it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace ringmaster {

struct SelfTestOptions {
    Device device = Device::Cpu;
    int devices = 0;  ///< GPUs that are tried, of CUDA
};

struct SelfTestReport {
    std::string libtorch;             ///< its version
    std::vector<std::string> passed;  ///< "attention", "gradients", "two ranks", "GPU 0"
    double seconds = 0;
};

/// Attention and its gradients beside the plain formula in double precision, and two ranks that sum and
/// exchange; of CUDA each GPU's product and attention too. Throws Error(Refused) naming what is wrong and by
/// how much, Error(Unreachable) where a device is missing.
SelfTestReport self_test(const SelfTestOptions& options,
                         const std::function<void(const std::string& name, int done, int total)>& on_part);

/// `ringmaster-engine --selftest`: {"phase","done","total"} lines on stdout, then
/// {"result":{"libtorch","passed","seconds"}}. Exit status as run_session's. Never throws.
int print_self_test(const SelfTestOptions& options);

}  // namespace ringmaster
