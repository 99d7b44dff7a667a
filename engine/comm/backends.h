/// Makers of c10d backends: one process group each, on the CPU over Gloo, on CUDA devices over NCCL.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "engine/comm/groups.h"

namespace ringmaster {

/// Of Gloo's own waits: the thread that waits for a transfer counts how long (transfer.h).
constexpr std::chrono::milliseconds kEndless = std::chrono::hours(24 * 365);

struct BackendRequest {
    c10::intrusive_ptr<c10d::Store> store;        ///< keys of this group only
    std::string name;                             ///< "ring"
    std::string key;                              ///< that peers prove to hold, Gloo's
    int rank = 0;                                 ///< in the group
    std::vector<int> global_ranks;                ///< of the group's ranks
    std::chrono::milliseconds timeout{};          ///< of one transfer; NCCL's
    std::chrono::milliseconds meeting_timeout{};  ///< of connecting to the others
    std::string interface_address;                ///< Gloo's
    int device_index = 0;                         ///< NCCL's
};

/// Connects to every other rank of the group before it returns, and both ends of each connection prove that
/// they belong to the run (peer_proof.h). Its transfers' timeout is still that of the meeting.
c10::intrusive_ptr<c10d::Backend> make_gloo_backend(const BackendRequest& request);

/// Whether TORCH_FR_BUFFER_SIZE was in the environment when this program started.
bool flight_recorder_is_given();

/// Loads the CUDA part of this build, once: ringmaster_cuda.so beside the program (a test's: in the build's
/// bin), and with it LibTorch's kernels. Sets CUBLAS_WORKSPACE_CONFIG before, for sums that are the same in
/// every run, and asks LibTorch's allocator for expandable segments: long sequences of changing length
/// otherwise leave holes. What the environment says already stays. Throws Error(Unreachable) where the build
/// has none, or the machine no device `device_index`; Error(Refused) if the process asked LibTorch about CUDA
/// before: it then sees no device.
void load_cuda(int device_index);

/// Devices that the driver shows, at least one, after load_cuda.
int cuda_devices();

/// Streaming multiprocessors of a device, after load_cuda.
int cuda_multiprocessors(int device_index);

/// A function that the CUDA part exports for rooms above this one, after load_cuda. Throws Error(Unreachable)
/// where it has none of that name.
void* cuda_function(const char* name);

/// LibTorch's current stream of a device, a cudaStream_t, after load_cuda.
void* current_cuda_stream(int device_index);

/// Connects when it is asked to (eagerConnectSingleDevice), else at the first transfer. After load_cuda.
c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const BackendRequest& request);

using BackendMaker = std::function<c10::intrusive_ptr<c10d::Backend>(const BackendRequest&, at::Device)>;

/// make_groups over other backends than Gloo and NCCL, for tests.
Groups make_groups_over(const BackendMaker& make, const c10::intrusive_ptr<c10d::Store>& store, int rank,
                        const Mesh& mesh, const GroupOptions& options);

}  // namespace ringmaster
