/// What this machine has to train with: cores, memory and the GPUs that a program may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ringmaster {

struct Gpu {
    int index = 0;     ///< as nvidia-smi counts
    std::string uuid;  ///< "GPU-…"
    std::string name;
    int64_t memory_bytes = 0;  ///< 0: not known
};

struct Machine {
    std::string host;
    std::string processor;  ///< its model; empty: not known
    int cores = 1;          ///< that this process may run on
    int64_t ram_bytes = 0;
    std::vector<Gpu> gpus;  ///< those that CUDA_VISIBLE_DEVICES leaves, in its order
};

/// Asks the system; starts nvidia-smi where the NVIDIA driver is loaded (a few seconds at most).
Machine this_machine();

/// Lines of `nvidia-smi --query-gpu=index,uuid,name,memory.total --format=csv,noheader,nounits` (memory in
/// MiB).
std::vector<Gpu> parse_nvidia_smi(const std::string& text);

/// As CUDA reads the variable: indices or the beginnings of UUIDs, in order, up to the first that names no
/// GPU; unset: all.
std::vector<Gpu> visible_gpus(const std::vector<Gpu>& gpus,
                              const std::optional<std::string>& cuda_visible_devices);

}  // namespace ringmaster
