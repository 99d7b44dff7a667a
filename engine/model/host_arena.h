/// Provides host memory for tensors that are offloaded from a device, counted apart from all other tensors.
/// For a GPU the memory is pinned, in exactly the requested size; LibTorch's pinned allocator would round the
/// size up to a power of two. Training on a CPU uses the same memory in place of a GPU's host memory.
///
/// If the environment variable RINGMASTER_HOST_ARENA names a folder, the memory is mapped from unnamed files
/// in it. This works only on a CPU and is for tests. The memory is inaccessible (HostIsClosed) at times when
/// a GPU's operators could not use it. An operator that touches it then ends the process with a segmentation
/// fault.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "engine/model/parameters.h"

namespace ringmaster {

/// Returns zeros in host memory for tensors of `device`. Throws Error(Refused) if there is no more memory.
at::Tensor host_zeros(at::IntArrayRef sizes, at::ScalarType dtype, at::Device device);

/// Makes a flat tensor of the parameters (Parameters::make_flat) in host memory.
Flat host_flat(const Parameters& parameters, bool sharded, at::ScalarType dtype);

/// Returns whether a tensor lies in this memory.
bool lies_in_host(const at::Tensor& tensor);

/// Returns the peak use of this memory, in bytes, since the start of the process or the last call of
/// reset_host_peak.
int64_t host_peak_bytes();
void reset_host_peak();

/// While an object of this class exists, only copies (HostAccess) may touch the memory, if the memory is
/// mapped from files. At most one object exists at a time.
class HostIsClosed {
  public:
    HostIsClosed();
    HostIsClosed(const HostIsClosed&) = delete;
    HostIsClosed& operator=(const HostIsClosed&) = delete;
    ~HostIsClosed();
};

/// Lets copies use a tensor's memory in the arena as long as this object exists. Does nothing for a tensor
/// outside the arena.
class HostAccess {
  public:
    explicit HostAccess(const at::Tensor& tensor);
    HostAccess(const HostAccess&) = delete;
    HostAccess& operator=(const HostAccess&) = delete;
    ~HostAccess();

  private:
    const void* closes_ = nullptr;
};

}  // namespace ringmaster
