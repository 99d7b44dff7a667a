/// Keeps tensors of a GPU in pinned host memory between a forward and its backward: layer l's tensor is
/// copied out while layer l + 1 computes, and copied back during the backward of layer l + 1. Copies run on
/// their own stream; nothing waits for the host.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <vector>

namespace ringmaster {

class HostStash {
  public:
    /// Makes a stash for `places` tensors; `device` must not be the CPU.
    HostStash(at::Device device, size_t places);

    /// Starts a copy to the host; the device's memory is freed when the copy ends.
    void put(size_t place, const at::Tensor& x);
    /// Starts the copy back to the device.
    void fetch(size_t place);
    /// Returns the tensor on the device, for the current stream; fetches it first if needed.
    at::Tensor take(size_t place);

  private:
    struct Place {
        at::Tensor host, back;
    };

    /// Copies on the stash's stream, after the work given to the current stream so far.
    void copy(const at::Tensor& from, at::Tensor to);

    c10::Stream stream_;
    std::vector<Place> places_;
};

}  // namespace ringmaster
