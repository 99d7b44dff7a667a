/// Makes c10d backends, one per process group: Gloo on the CPU, NCCL on CUDA devices.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "engine/comm/groups.h"

namespace ringmaster {

/// A timeout of a year, which in effect turns Gloo's timeouts off. The thread that waits for a transfer
/// measures the time itself (transfer.h).
constexpr std::chrono::milliseconds kEndless = std::chrono::hours(24 * 365);

struct BackendRequest {
    c10::intrusive_ptr<c10d::Store> store;        ///< store with the keys of this group only
    std::string name;                             ///< name of the group, such as "ring"
    std::string key;                              ///< key that Gloo's peers must prove to hold (peer_proof.h)
    int rank = 0;                                 ///< rank in the group
    std::vector<int> global_ranks;                ///< global rank of each rank of the group
    std::chrono::milliseconds timeout{};          ///< time limit of one NCCL transfer
    std::chrono::milliseconds meeting_timeout{};  ///< time limit for connecting to the other ranks
    std::string interface_address;                ///< address that Gloo listens on
    int device_index = 0;                         ///< CUDA device that NCCL uses
};

/// Connects to every other rank of the group before it returns; both ends of each connection prove that they
/// belong to the run (peer_proof.h). The transfers' timeout stays `meeting_timeout` until the caller sets it.
c10::intrusive_ptr<c10d::Backend> make_gloo_backend(const BackendRequest& request);

/// Returns true if TORCH_FR_BUFFER_SIZE was in the environment when this program started.
bool flight_recorder_is_given();

/// Loads the CUDA part of this build, once, with LibTorch's kernels: ringmaster_cuda.so next to the program
/// (for tests, in the build's bin). Sets CUBLAS_WORKSPACE_CONFIG first, so that sums are the same in every
/// run. Turns on expandable segments in LibTorch's allocator, because long sequences of changing length would
/// fragment its memory. Environment variables that are already set keep their values. Throws
/// Error(Unreachable) if the build has no CUDA part or the machine has no device `device_index`. Throws
/// Error(Refused) if the process asked LibTorch about CUDA earlier, because LibTorch then sees no device.
void load_cuda(int device_index);

/// Returns how many devices the driver reports, at least one. Call load_cuda first.
int cuda_devices();

/// Returns how many streaming multiprocessors a device has. Call load_cuda first.
int cuda_multiprocessors(int device_index);

/// Returns a function that the CUDA part exports for other folders of the engine. Call load_cuda first.
/// Throws Error(Unreachable) if the CUDA part has no function of that name.
void* cuda_function(const char* name);

/// Returns LibTorch's current stream of a device, a cudaStream_t. Call load_cuda first.
void* current_cuda_stream(int device_index);

/// Returns a backend that connects in eagerConnectSingleDevice or at its first transfer. Call load_cuda
/// first.
c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const BackendRequest& request);

using BackendMaker = std::function<c10::intrusive_ptr<c10d::Backend>(const BackendRequest&, at::Device)>;

/// Makes the groups like make_groups(), but over the backends that `make` returns (for tests).
Groups make_groups_over(const BackendMaker& make, const c10::intrusive_ptr<c10d::Store>& store, int rank,
                        const Mesh& mesh, const GroupOptions& options);

}  // namespace ringmaster
