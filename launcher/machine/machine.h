/// Describes what this machine can train with: cores, memory and the GPUs that a program may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ringmaster {

struct Gpu {
    int index = 0;     ///< nvidia-smi's index
    std::string uuid;  ///< "GPU-…"
    std::string name;
    int64_t memory_bytes = 0;     ///< 0: unknown
    std::string capability = {};  ///< compute capability, "9.0"; empty: unknown
};

struct Machine {
    std::string host;
    std::string processor;  ///< model name; empty: unknown
    int cores = 1;          ///< cores that this process may run on
    int threads = 0;        ///< OMP_NUM_THREADS, which ranks inherit; 0: not set, or not a positive number
    int64_t ram_bytes = 0;
    std::vector<Gpu> gpus;  ///< GPUs that CUDA_VISIBLE_DEVICES allows, in its order
};

/// Describes this machine. Runs nvidia-smi if the NVIDIA driver is loaded, which takes a few seconds at most.
Machine this_machine();

/// Parses the lines of `nvidia-smi --query-gpu=index,uuid,name,memory.total,compute_cap
/// --format=csv,noheader,nounits` (memory in MiB). Old drivers print no compute capability.
std::vector<Gpu> parse_nvidia_smi(const std::string& text);

/// Filters GPUs as CUDA does: the variable lists indices or prefixes of UUIDs, in order, up to the first that
/// names no GPU. All GPUs are visible if it is unset.
std::vector<Gpu> visible_gpus(const std::vector<Gpu>& gpus,
                              const std::optional<std::string>& cuda_visible_devices);

}  // namespace ringmaster
