#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/calibration.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// Holds the input of a plan besides the config: the user's requests, and facts about this machine.
struct PlanRequest {
    std::optional<int>
        ranks;  ///< --ranks; else the config's (accelerate), else `devices_seen`, else 2 CPU ranks
    std::optional<int> nodes;      ///< --nodes
    std::optional<Device> device;  ///< --device; default: cuda if devices_seen > 0
    std::optional<int64_t>
        device_memory_bytes;  ///< --device-memory; default: the device's, or the machine's RAM ÷ its ranks
    std::optional<int64_t> host_memory_bytes;  ///< --host-memory of a node; default: the machine's RAM
    std::optional<int64_t> disk_memory_bytes;  ///< --disk-memory of a node; default: its disk's free bytes
    int devices_seen = 0;                      ///< GPUs of this machine that CUDA_VISIBLE_DEVICES allows
    int64_t seen_device_bytes = 0;
    int64_t machine_ram_bytes = 0;
    int machine_cores = 0;  ///< cores that this process may use; 0: ask the system
    int threads = 0;  ///< OMP_NUM_THREADS, the threads of a rank; 0: the cores divided by a node's ranks
    std::string hf_cache_dir;
    std::optional<int64_t> rows;  ///< training rows if known (prepared)
    std::optional<int64_t> eval_rows;
    PromptSharing shared_prompts = {};  ///< shares of the prepared rows; `on` is not read
    Preflight preflight = Preflight::Before;
    std::vector<Calibration> calibrations;  ///< one for this machine's CPU, one for its GPUs
    std::vector<Measurement> measurements;  ///< runs on this machine
    // The adviser sets these members, because it makes hundreds of plans of one configuration.
    std::optional<ModelConfig> known_model;  ///< model that an earlier plan read without problems
    bool needs_time = true;
};

/// Returns the cores of a node: from the request, else this machine's.
int cores_of(const PlanRequest& request);

}  // namespace ringmaster
