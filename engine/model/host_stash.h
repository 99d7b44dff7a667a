/// Keeps tensors of a device in host memory (host_arena.h) between a forward and its backward: layer l's
/// tensor is copied out while layer l + 1 computes, and copied back during the backward of layer l + 1.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>

#include "engine/model/host_link.h"

namespace ringmaster {

class HostStash {
  public:
    explicit HostStash(at::Device device);

    /// Starts a copy to the host; the device's memory is freed when the copy ends.
    void put(size_t place, const at::Tensor& x);
    /// Starts the copy back to the device.
    void fetch(size_t place);
    /// Returns the tensor on the device, ready for use on the current stream; fetches the tensor first if
    /// needed.
    at::Tensor take(size_t place);

  private:
    struct Place {
        at::Tensor host, back;
    };

    at::Device device_;
    HostLink link_;
    std::map<size_t, Place> places_;
};

}  // namespace ringmaster
