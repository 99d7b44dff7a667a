/// Tensors of a GPU that wait in pinned host memory between a forward and its backward: layer l's leaves
/// behind the computation of layer l + 1, and comes back while the backward of layer l + 1 computes. Copies
/// run on a stream of their own, nothing waits for the host.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <vector>

namespace ringmaster {

class HostStash {
  public:
    /// Of `places` tensors; `device` is not the CPU.
    HostStash(at::Device device, size_t places);

    /// Begins to copy; the device's memory is free once the copy is over.
    void put(size_t place, const at::Tensor& x);
    /// Begins to bring it back.
    void fetch(size_t place);
    /// Back on the device, for the current stream; fetches it where nobody has.
    at::Tensor take(size_t place);

  private:
    struct Place {
        at::Tensor host, back;
    };

    /// Copies on the stash's stream, behind what the current stream has been given so far.
    void copy(const at::Tensor& from, at::Tensor to);

    c10::Stream stream_;
    std::vector<Place> places_;
};

}  // namespace ringmaster
