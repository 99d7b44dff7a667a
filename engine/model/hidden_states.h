/// Holds the hidden states of a sequence between two layers, one tensor for each chunk, on the device or in
/// host memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

#include "engine/model/host_stash.h"

namespace ringmaster {

class HiddenStates {
  public:
    /// Without a stash, tensors stay on the device. Places of a chunk in the stash begin at chunk · `stride`.
    HiddenStates(size_t chunks, HostStash* stash, size_t stride)
        : on_device_(chunks), stash_(stash), stride_(stride) {}

    size_t chunks() const { return on_device_.size(); }
    /// `place` distinguishes a chunk's tensors in the stash; on the device a chunk has one tensor.
    void put(size_t place, size_t chunk, at::Tensor x_nc) {
        if (stash_ != nullptr)
            stash_->put(chunk * stride_ + place, x_nc);
        else
            on_device_[chunk] = std::move(x_nc);
    }
    /// Starts copying a chunk from host memory to the device.
    void fetch(size_t place, size_t chunk) {
        if (stash_ != nullptr && chunk < chunks()) stash_->fetch(chunk * stride_ + place);
    }
    at::Tensor take(size_t place, size_t chunk) {
        return stash_ != nullptr ? stash_->take(chunk * stride_ + place)
                                 : std::exchange(on_device_[chunk], {});
    }

  private:
    std::vector<at::Tensor> on_device_;
    HostStash* stash_;
    size_t stride_;
};

}  // namespace ringmaster
