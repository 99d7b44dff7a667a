/// Makers of c10d backends: one process group each, on the CPU over Gloo, on CUDA devices over NCCL.
#pragma once

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

namespace ringmaster {

/// Of Gloo's own waits: the thread that waits for a transfer counts how long (transfer.h).
constexpr std::chrono::milliseconds kEndless = std::chrono::hours(24 * 365);

struct BackendRequest {
    c10::intrusive_ptr<c10d::Store> store;        ///< keys of this group only
    std::string name;                             ///< "ring"
    int rank = 0;                                 ///< in the group
    std::vector<int> global_ranks;                ///< of the group's ranks
    std::chrono::milliseconds timeout{};          ///< of one transfer; NCCL's
    std::chrono::milliseconds meeting_timeout{};  ///< of connecting to the others
    std::string interface_address;                ///< Gloo's
    int device_index = 0;                         ///< NCCL's
};

/// Connects to every other rank of the group before it returns. Its transfers' timeout is still that of the
/// meeting.
c10::intrusive_ptr<c10d::Backend> make_gloo_backend(const BackendRequest& request);

/// Loads the CUDA part of this build, once: ringmaster_cuda.so beside the program, and with it LibTorch's
/// kernels. Throws Error(Unreachable) where the build has none, or the machine no device `device_index`.
void load_cuda(int device_index);

/// Connects at the first transfer. After load_cuda.
c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const BackendRequest& request);

}  // namespace ringmaster
